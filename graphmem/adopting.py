"""What somebody wrote into the graph past the service becomes memories by the judge's rules, or is named with what is still to be said.

A stray is an edge from a user (or a memory node without one) that lacks an id, a slot, a version or a time of recording. Its properties
are read by the names of import columns (packs/columns.yaml). It is known from the moment it is adopted on: nothing told it before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic, time
from typing import Protocol

from graphmem.errors import InvalidInputError
from graphmem.ids import uuid7
from graphmem.importing.batch import Batch, Hand, prepared, write
from graphmem.importing.columns import names
from graphmem.importing.load import BATCH, sources
from graphmem.importing.reading import Raw, object_row
from graphmem.importing.rejects import Rejects
from graphmem.importing.statements import Arity, Defaults, Entry, Reject, entry
from graphmem.memory import Kind
from graphmem.scope import Scope
from graphmem.validity import fold_value

PAGE = 5_000
"""Strays of a user that are looked at together; several values for one place are found among these."""

LISTED = 1_000
"""Questions that are listed; the count goes on."""

SOURCE = "adopted"
"""The source of what names none."""

_OURS = frozenset(
    "tenant_id user_id mid slot version status thing owner until ckey current_slot planned_slot pending_slot recorded_at observed_at"
    " expires_at retracted_at tombstoned_at decided_at outcome caption evidence prev_mid next_mid lifetime standing rowrev label"
    " owner_domain verified_by pending_from pending_to stated_from inset claims classed overruled".split()
)
"""Properties that the service works out itself: what somebody wrote there says nothing."""


@dataclass(frozen=True, slots=True)
class Stray:
    """One element written past the service: its element id, its user and kind where an edge says them, its properties."""

    ref: str
    user: str | None
    kind: Kind | None
    said: Mapping[str, object]


class Strays(Protocol):
    """Where strays are found and taken away."""

    def users(self, tenant: str) -> Iterator[tuple[str, int]]:
        """Users that have strays, and how many."""
        ...

    def page(self, scope: Scope, after: str, limit: int) -> list[Stray]: ...

    def homeless(self, tenant: str, after: str, limit: int) -> list[Stray]: ...

    def house(self, scope: Scope, homes: Sequence[tuple[str, Kind]]) -> None: ...

    def open(self, scope: Scope, refs: Sequence[str]) -> None:
        """Take the handles that somebody wrote from strays, so that none stands where a true one must."""
        ...

    def remove(self, scope: Scope, refs: Sequence[str], now: int) -> None: ...

    def drop(self, tenant: str, refs: Sequence[str]) -> None: ...


@dataclass(frozen=True, slots=True)
class AdoptAsk:
    """What the caller knows. user: of memories without one. arities: of keys outside the ontology. chosen: element ids that count where
    several values claim one place. zone: of times without offset. reject: what is still a question goes, into the file `rejects`.
    """

    user: str | None = None
    arities: Mapping[str, Arity] = field(default_factory=dict)
    chosen: frozenset[str] = frozenset()
    zone: str = "UTC"
    dry_run: bool = False
    reject: bool = False
    rejects: Path | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A stray that cannot be adopted yet: why, and the option that settles it."""

    ref: str
    user: str | None
    key: str
    value: str
    reason: str
    option: str


@dataclass(frozen=True, slots=True)
class Adopted:
    """What became of the strays. found = sum of the verdicts + asked + rejected; in a dry run `ready` ones have no verdict yet."""

    found: int
    verdicts: Mapping[str, int]
    asked: int
    rejected: int
    questions: tuple[Question, ...]
    seconds: float
    users: int = 0
    ready: int = 0
    dry_run: bool = False
    rejects: str | None = None


@dataclass(frozen=True, slots=True)
class Tools:
    """What adoption works with. keys: a tenant's open keys (key, kind, arity)."""

    hand: Hand
    strays: Strays
    keys: Callable[[str], Sequence[Mapping[str, object]]]


class Adopting:
    """One adoption; `run` once. Killed anywhere, the next one goes on: a stray leaves in the transaction that judges it."""

    def __init__(self, tools: Tools, ask: AdoptAsk, progress: Callable[[str, int, int, float], None] | None = None) -> None:
        self._t, self._ask, self._tell = tools, ask, progress or (lambda *_: None)
        self._tenant = tools.hand.tenant
        room = tools.hand.room
        self._known = {key.name: key.kind for key in room.ontology.keys}
        self._one = {key.name for key in room.ontology.keys if key.arity in ("one", "chosen")}
        self._arities: dict[str, Arity] = {**_shapes(tools.keys(self._tenant)), **ask.arities}
        self._verdicts: dict[str, int] = {}
        self._questions: list[Question] = []
        self._found = self._asked = self._rejected = self._ready = self._users = 0
        self._began = monotonic()

    def run(self) -> Adopted:
        """Adopt what can be, ask about or reject the rest."""
        with Rejects(self._ask.rejects) as rejects:
            self._homeless(rejects)
            for user, _ in list(self._t.strays.users(self._tenant)):
                self._users += 1
                self._user(self._t.hand.scope(user), rejects)
            place = rejects.place
        return Adopted(
            self._found, dict(sorted(self._verdicts.items())), self._asked, self._rejected, tuple(self._questions),
            round(monotonic() - self._began, 3), self._users, self._ready, self._ask.dry_run, place,
        )  # fmt: skip

    # --- memories without a user

    def _homeless(self, rejects: Rejects) -> None:
        after = ""
        while page := self._t.strays.homeless(self._tenant, after, PAGE):
            after = page[-1].ref
            homes = [(s.ref, kind) for s in page if self._ask.user and (kind := self._kind(s)) is not None]
            housed = {ref for ref, _ in homes}
            if homes and self._ask.user and not self._ask.dry_run:
                self._t.strays.house(self._t.hand.scope(self._ask.user), homes)
            elif homes:
                self._found += len(homes)
                self._ready += len(homes)
            left = [(s, self._homeless_why(s)) for s in page if s.ref not in housed]
            self._found += len(left)
            self._settle(left, rejects, lambda refs: self._t.strays.drop(self._tenant, refs))

    def _kind(self, stray: Stray) -> Kind | None:
        said = _fields(stray)
        named = str(said.get("kind") or "").casefold()
        return Kind(named) if named in tuple(Kind) else self._known.get(str(said.get("key") or ""))

    def _homeless_why(self, stray: Stray) -> tuple[str, str]:
        if self._kind(stray) is None:
            return "it hangs on no user, and neither its key nor a `kind` says what it is", "draw the edge from its user, or --reject"
        return "it hangs on no user", "--user NAME"

    # --- the strays of one user

    def _user(self, scope: Scope, rejects: Rejects) -> None:
        after = ""
        while page := self._t.strays.page(scope, after, PAGE):
            after = page[-1].ref
            self._found += len(page)
            ready, left = self._sorted(page)
            if self._ask.dry_run:
                self._ready += len(ready)
            else:
                left += self._adopt(scope, ready)
            self._settle(left, rejects, lambda refs: self._t.strays.remove(scope, refs, int(time() * 1000)))
            self._tell("writing", self._found, 0, monotonic() - self._began)

    def _sorted(self, page: Sequence[Stray]) -> tuple[list[tuple[Stray, Entry]], list[tuple[Stray, tuple[str, str]]]]:
        """Those that may be judged, and the others with reason and option."""
        ready: list[tuple[Stray, Entry]] = []
        left: list[tuple[Stray, tuple[str, str]]] = []
        for number, stray in enumerate(page, 1):
            made = self._entry(stray, number)
            found = made if isinstance(made, Reject) else self._unclear(made)
            if isinstance(found, Reject):
                left.append((stray, (found.reason, _option(found, stray))))
            elif isinstance(made, Entry):
                ready.append((stray, made))
        rivals = self._rivals(ready)
        left += [(s, rivals[s.ref]) for s, _ in ready if s.ref in rivals]
        return [pair for pair in ready if pair[0].ref not in rivals], left

    def _entry(self, stray: Stray, number: int) -> Entry | Reject:
        """A stray as a row of an import; a key whose arity nobody knows is a question."""
        said = _fields(stray)
        key = str(said.get("key") or "").strip()
        kind = stray.kind or Kind.FACT
        if key and key not in self._known and not said.get("arity"):
            if key not in self._arities:
                return Reject(number, "arity", f"'{key}' is outside the ontology, and nothing says how many of it may hold", said)
            said = {**said, "arity": self._arities[key]}
        row = object_row(number, number, {**said, "kind": kind.value}, {})
        return entry(replace(row, fields={**row.fields, "user_id": stray.user}), Defaults(None, self._ask.zone, SOURCE), self._known)

    def _unclear(self, made: Entry) -> Entry | Reject:
        """What the ontology or the shape of an open key forbids, found out without fixing a shape."""
        dry = replace(self._t.hand, keeper=self._t.hand.keeper.dry())
        found = prepared(dry, made)
        return found if isinstance(found, Reject) else made

    def _rivals(self, ready: Sequence[tuple[Stray, Entry]]) -> dict[str, tuple[str, str]]:
        """Several values that claim one place at one time: none of them, unless one is chosen; then the others."""
        groups: dict[tuple[object, ...], list[tuple[Stray, Entry]]] = {}
        for stray, e in ready:
            ask = e.ask
            if ask.polarity == "+" and not ask.ends and (ask.key in self._one or ask.arity == "one"):
                groups.setdefault((ask.key, ask.subject, ask.said_at, ask.valid_from), []).append((stray, e))
        found: dict[str, tuple[str, str]] = {}
        for (key, *_), held in groups.items():
            values = {fold_value(e.ask.value) for _, e in held}
            chosen = [s for s, _ in held if s.ref in self._ask.chosen]
            if len(values) < 2 or (len(chosen) == 1 and len(held) == 1):
                continue
            told = ", ".join(sorted({str(e.ask.value) for _, e in held})[:5])
            if len(chosen) == 1:
                why = f"another value of '{key}' was chosen", "--reject"
                found |= {s.ref: why for s, _ in held if s.ref != chosen[0].ref}
            else:
                many = f"several values of '{key}' at one time: {told}"
                found |= {s.ref: (many, f"--choose {s.ref}, or give each its `at`") for s, _ in held}
        return found

    def _adopt(self, scope: Scope, ready: Sequence[tuple[Stray, Entry]]) -> list[tuple[Stray, tuple[str, str]]]:
        """Judge and store a page, batch by batch; returns what the judge refused."""
        strays = {e.raw.number: s for s, e in ready}
        refused: list[tuple[Stray, tuple[str, str]]] = []
        for chunk in sources([e for _, e in ready], BATCH):
            refs = {e.raw.number: strays[e.raw.number].ref for e in chunk}
            self._t.strays.open(scope, list(refs.values()))
            outcome = write(self._t.hand, Batch(scope.user, uuid7(), tuple(chunk), refs))
            for verdict, count in outcome.verdicts.items():
                self._verdicts[verdict] = self._verdicts.get(verdict, 0) + count
            refused += [(strays[r.line], (r.reason, "--reject")) for r in outcome.rejects]
        return refused

    # --- what is left

    def _settle(self, left: Sequence[tuple[Stray, tuple[str, str]]], rejects: Rejects, gone: Callable[[list[str]], None]) -> None:
        if self._ask.reject and not self._ask.dry_run:
            if left:
                # first into the file: a kill in between leaves the row in both places, never in none
                rejects.add([Reject(0, "", why, _template(s)) for s, (why, _) in left])
                rejects.flush()
                gone([s.ref for s, _ in left])
            self._rejected += len(left)
            return
        self._asked += len(left)
        for stray, (why, option) in left[: max(0, LISTED - len(self._questions))]:
            said = _fields(stray)
            key, value = (str(said.get(name) or "") for name in ("key", "value"))
            self._questions.append(Question(stray.ref, stray.user, key, value, why, option))


def _fields(stray: Stray) -> dict[str, object]:
    """The properties that say something, by the fields they fill; a clause beside a value is only its words."""
    fields: dict[str, object] = {}
    for name, value in stray.said.items():
        if name.casefold() in _OURS or value is None or (name == "text" and "value" in stray.said):
            continue
        fields[names().get(name.casefold(), name)] = value
    return fields


def _template(stray: Stray) -> dict[str, object]:
    """A rejected stray as a row of an import file."""
    return {**_fields(stray), "user_id": stray.user, "kind": None if stray.kind is None else stray.kind.value, "_ref": stray.ref}


def _option(found: Reject, stray: Stray) -> str:
    if found.column == "arity":
        return f"--arity {_fields(stray).get('key')}=one|many|pole"
    return "correct the edge" + (f"'s {found.column}" if found.column else "") + ", or --reject"


def _shapes(keys: Sequence[Mapping[str, object]]) -> dict[str, Arity]:
    return {str(k["key"]): _arity(str(k["arity"])) for k in keys}


def _arity(text: str) -> Arity:
    return "many" if text == "many" else "pole" if text == "pole" else "one"


def arities(pairs: Sequence[str]) -> dict[str, Arity]:
    """`KEY=one|many|pole` pairs. InvalidInputError for any other text."""
    found: dict[str, Arity] = {}
    for pair in pairs:
        key, sign, arity = pair.rpartition("=")
        if not sign or not key.strip() or arity not in ("one", "many", "pole"):
            raise InvalidInputError(f"'{pair}' gives no key an arity", field="arity", hint="write --arity KEY=one, many or pole.")
        found[key.strip()] = _arity(arity)
    return found


__all__ = ["AdoptAsk", "Adopted", "Adopting", "Question", "Raw", "Stray", "Strays", "Tools", "arities"]
