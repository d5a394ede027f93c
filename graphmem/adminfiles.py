"""A tenant or a user as CSV files with typed headers for `neo4j-admin database import`: the fastest way into an empty database.

Every file has a header of its own; `import.args` names them all, so that in their folder
`neo4j-admin database import full neo4j @import.args` reads them. What stands in them is what canonical JSON lines hold (exporting.py).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from graphmem.errors import InvalidInputError
from graphmem.exporting import TIME, Person, Record, Transfer, people
from graphmem.slot import part

ARRAY = "\x1f"
"""Between the items of a list; no text that the service takes holds it."""

ARGUMENTS = "import.args"

OPTIONS = ("--delimiter=,", "--array-delimiter=U+001F", "--multiline-fields=true", "--skip-duplicate-nodes=true")
"""Concepts and sources stand once a user; the importer keeps the first."""

NODES = {
    "users": "User", "memories": "Memory", "concepts": "Concept", "sources": "Source", "turns": "Turn:Source", "sessions": "Session",
    "reviews": "Review", "changes": "Change", "keys": "Key",
}  # fmt: skip
"""File → labels."""

LINKS = {
    "facts": ("User", "FACT", "Memory"), "preferences": ("User", "PREFERENCE", "Memory"), "contexts": ("User", "CONTEXT", "Memory"),
    "about": ("Memory", "ABOUT", "Concept"), "evidence": ("Memory", "FROM_SOURCE", "Source"),
    "supersedes": ("Memory", "SUPERSEDES", "Memory"), "conditions": ("Memory", "HAS_CONDITION", "Memory"),
    "medications": ("Memory", "AFFECTS_MEDICATION", "Memory"), "contradictions": ("Memory", "CONTRADICTS", "Memory"),
    "origins": ("Memory", "DERIVED_FROM", "Memory"), "opened": ("User", "OPENED", "Session"), "said": ("Session", "SAID", "Source"),
    "concerns": ("Review", "CONCERNS", "Memory"),
}  # fmt: skip
"""File → what it joins. Turns are sources too and share their ids."""

_GROUPS = {"turns": "Source"}
_BY_TYPE = {kind: name for name, (_, kind, _) in LINKS.items()}


@dataclass
class _Sheet:
    """One file while it is gathered: rows wait in an unnamed file until all columns and their types are known."""

    ids: tuple[str, ...]
    rows: IO[str]
    count: int = 0
    types: dict[str, str] = field(default_factory=dict)

    def add(self, ids: Sequence[str], properties: Record) -> None:
        for name, value in properties.items():
            if (found := _type(value)) is not None:
                self.types[name] = _wider(self.types.get(name, found), found)
        self.rows.write(json.dumps([ids, properties], ensure_ascii=False) + "\n")
        self.count += 1

    def lines(self) -> Iterator[str]:
        """The header, then a line a row."""
        names = sorted(self.types)
        yield ",".join([*self.ids, *(f"{name}:{self.types[name]}" for name in names)]) + "\n"
        self.rows.seek(0)
        for row in self.rows:
            ids, properties = json.loads(row)
            yield ",".join([*map(_quoted, ids), *(_cell(properties.get(name), self.types[name]) for name in names)]) + "\n"


def write_files(transfer: Transfer, tenant: str, folder: Path, user: str | None = None) -> dict[str, int]:
    """Write the files into a folder that has none yet; file → rows. InvalidInputError where the folder is not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidInputError(f"{folder} is there and not empty", field="to", hint="name a new folder.")
    with ExitStack() as stack:
        sheets = {
            name: _Sheet(ids, stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8"))) for name, ids in _columns().items()
        }
        for key in transfer.keys(tenant):
            sheets["keys"].add([str(key["key"])], {**key, "tenant_id": tenant})
        for person in people(transfer, tenant, user):
            _Filling(sheets, tenant, person).run()
        folder.mkdir(parents=True, exist_ok=True)
        filled = {name: sheet for name, sheet in sheets.items() if sheet.count}
        for name, sheet in filled.items():
            with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
                stream.writelines(sheet.lines())
        (folder / ARGUMENTS).write_text("".join(f"{line}\n" for line in (*OPTIONS, *_arguments(filled))), encoding="utf-8")
        return {name: sheet.count for name, sheet in filled.items()}


def _columns() -> dict[str, tuple[str, ...]]:
    nodes = {name: (f":ID({_GROUPS.get(name, label)})",) for name, label in NODES.items()}
    links = {name: (f":START_ID({start})", f":END_ID({end})") for name, (start, _, end) in LINKS.items()}
    return {**nodes, **links}


def _arguments(filled: Mapping[str, object]) -> list[str]:
    nodes = [f"--nodes={label}={name}.csv" for name, label in NODES.items() if name in filled]
    return nodes + [f"--relationships={kind}={name}.csv" for name, (_, kind, _) in LINKS.items() if name in filled]


@dataclass(frozen=True, slots=True)
class _Filling:
    """One person into the sheets."""

    sheets: Mapping[str, _Sheet]
    tenant: str
    person: Person

    def run(self) -> None:
        user = self.person.user_id
        self.sheets["users"].add([user], self._own(self.person.properties))
        for session in self.person.sessions:
            self._session(session)
        for memory in self.person.memories:
            self._memory(memory)
        for review in self.person.reviews:
            node = _map(review["node"])
            case = str(node["case_id"])
            self.sheets["reviews"].add([case], self._own(node))
            for mid in _list(review["concerns"]):
                self.sheets["concerns"].add([case, str(mid)], {})
        for change in self.person.changes:
            node = _map(change["node"])
            self.sheets["changes"].add([self._id(node["op"])], self._own(node))

    def _session(self, session: Record) -> None:
        node = _map(session["node"])
        mine = self._id(node["session_id"])
        self.sheets["sessions"].add([mine], self._own(node))
        self.sheets["opened"].add([self.person.user_id, mine], {})
        for said in _list(session["turns"]):
            turn = _map(_map(said)["node"])
            self.sheets["turns"].add([self._id(turn["source_id"])], self._own(turn))
            self.sheets["said"].add([mine, self._id(turn["source_id"])], {"seq": _map(said)["seq"]})

    def _memory(self, memory: Record) -> None:
        edge, node = self._placed(_map(memory["edge"])), _map(memory["node"])
        mid = str(node["mid"])
        self.sheets["memories"].add([mid], self._own(node))
        self.sheets[_BY_TYPE[str(memory["kind"])]].add([self.person.user_id, mid], edge)
        for ckey in _list(memory["about"]):
            self.sheets["concepts"].add([str(ckey)], {"tenant_id": self.tenant, "ckey": ckey})
            self.sheets["about"].add([mid, str(ckey)], {})
        for source in _list(memory["sources"]):
            made = _map(_map(source)["node"])
            if set(made) - {"source_id"}:  # of a turn only its name stands here
                self.sheets["sources"].add([self._id(made["source_id"])], self._own(made))
            self.sheets["evidence"].add([mid, self._id(made["source_id"])], _map(_map(source)["link"]))
        for link in map(_map, _list(memory["links"])):
            self.sheets[_BY_TYPE[str(link["type"])]].add([str(link["from_mid"]), str(link["to_mid"])], _map(link["properties"]))

    def _id(self, name: object) -> str:
        """Ids that are one's own only within a user."""
        return f"{self.person.user_id}{ARRAY}{name}"

    def _own(self, node: Record) -> dict[str, object]:
        return {**self._placed(node), "tenant_id": self.tenant, "user_id": self.person.user_id}

    def _placed(self, properties: Record) -> dict[str, object]:
        """Places get their tenant back."""
        start = f"1|{part(self.tenant)}|"
        return {k: start + v[4:] if isinstance(v, str) and v.startswith("1|*|") else v for k, v in properties.items()}


def _type(value: object) -> str | None:
    """The type of a column that holds this value."""
    if value is None:
        return None
    if isinstance(value, list):
        items = {_type(v) or "string" for v in value}
        return (items.pop() if len(items) == 1 else "string") + "[]"
    if isinstance(value, Mapping):
        return "datetime"
    return (
        "boolean" if isinstance(value, bool) else "long" if isinstance(value, int) else "double" if isinstance(value, float) else "string"
    )


def _wider(held: str, found: str) -> str:
    if held == found:
        return held
    return "double" if {held, found} == {"long", "double"} else "string[]" if held.endswith("[]") and found.endswith("[]") else "string"


def _cell(value: object, kind: str) -> str:
    """Nothing where nothing is; text in quotes, so that an empty one is not nothing."""
    if value is None:
        return ""
    if isinstance(value, list):
        return _quoted(ARRAY.join(_plain(v) for v in value)) if value else ""
    return _quoted(_plain(value)) if kind == "string" else _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return str(value[TIME])
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _map(value: object) -> Mapping[str, object]:
    return cast(Mapping[str, object], value)


def _list(value: object) -> list[object]:
    return cast(list[object], value)


__all__ = ["ARGUMENTS", "LINKS", "NODES", "write_files"]
