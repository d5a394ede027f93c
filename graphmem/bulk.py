"""Import and export of the façade: files into a tenant, a tenant into text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, cast

from graphmem.adminfiles import write_files
from graphmem.adopting import PAGE, Adopting, Tools
from graphmem.errors import InvalidInputError
from graphmem.exporting import Listed, Transfer, canonical, people, script, table
from graphmem.importing.batch import Hand
from graphmem.importing.columns import mapping
from graphmem.importing.files import Opened, look
from graphmem.importing.load import BATCH, WORKERS, Imported, Loading, Progress, Wish
from graphmem.importing.restore import restore
from graphmem.importing.script import Statement, statements
from graphmem.importing.statements import Defaults
from graphmem.memory import from_ms, to_ms, utc
from graphmem.ports import MemoryReader, MemoryWriter
from graphmem.remember import Keeper
from graphmem.room import Room, check_zone
from graphmem.scope import Scope, TenantScope, check_user_id
from graphmem.slot import operation_id
from graphmem.strays import AdoptAsk, Adopted, Strays
from graphmem.telling import Teller
from graphmem.validity import Ledger

ADOPT = "adopt"

FORMATS = ("jsonl", "csv", "cypher")


@dataclass(frozen=True, slots=True)
class ImportAsk:
    """A file to import. mapped: `column=field` pairs. user: of rows without one. zone: of times without offset (None: the tenant's).

    format: auto, jsonl, csv, mem0, mcp-memory, graphmem (a canonical export) or cypher (a script).
    encoding: where the file has no mark and is no UTF-8.
    """

    path: Path
    format: str = "auto"
    mapped: Sequence[str] = ()
    encoding: str | None = None
    user: str | None = None
    zone: str | None = None
    dry_run: bool = False
    rejects: Path | None = None
    workers: int = WORKERS
    batch: int = BATCH


class Script(Protocol):
    """Where the statements of a script run."""

    def value(self, statement: Statement) -> object: ...

    def explain(self, statement: Statement, given: Mapping[str, object]) -> None: ...

    def run(self, tenant: str, op: str, statement: Statement, given: Mapping[str, object]) -> bool:
        """Run it unless it was run before (False)."""
        ...


@dataclass(frozen=True, slots=True)
class Doors:
    """What bulk work is done with."""

    room: Room
    writer: MemoryWriter
    reader: MemoryReader
    keeper: Keeper
    transfer: Transfer
    strays: Strays
    script: Script
    refill: Callable[[str], int] = field(default=lambda tenant: 0)


class Bulk:
    """Imports and exports. Thread safe; one import of one file at a time is enough."""

    def __init__(self, doors: Doors) -> None:
        self._d = doors

    def load(self, tenant: str, ask: ImportAsk, progress: Progress | None = None) -> Imported:
        """Import a file; see Loading.run. A canonical export comes back exactly; see restore."""
        TenantScope(tenant, "import")
        if ask.user is not None:
            check_user_id(ask.user)
        zone = self._d.room.settings.zone if ask.zone is None else check_zone(ask.zone)
        file = look(ask.path, ask.format, ask.encoding)
        if file.format == "graphmem":
            return self._restore(tenant, ask, progress)
        if file.format == "cypher":
            return self._run(tenant, ask, file, zone)
        wish = Wish(
            file,
            tenant,
            mapping(ask.mapped),
            Defaults(ask.user, zone, ask.path.name[-200:]),
            ask.dry_run,
            ask.rejects,
            ask.workers,
            ask.batch,
        )
        keeper = self._d.keeper if not ask.dry_run else self._d.keeper.dry()
        hand = Hand(self._d.room, self._d.writer, keeper, tenant)
        return Loading(wish, hand, self._d.transfer.done, progress).run()

    def _restore(self, tenant: str, ask: ImportAsk, progress: Progress | None) -> Imported:
        if ask.mapped or ask.rejects is not None:
            raise InvalidInputError("a canonical export is brought back whole: no --map, no --rejects", field="map")
        done = restore(self._d.transfer, tenant, look(ask.path, "graphmem", ask.encoding), progress, dry_run=ask.dry_run)
        if not ask.dry_run:
            self._d.refill(tenant)
        return Imported(done.memories, done.users, {"restored": done.memories}, 0, 0, done.seconds, dry_run=ask.dry_run)

    def _run(self, tenant: str, ask: ImportAsk, file: Opened, zone: str) -> Imported:
        """Run the statements of a script, each once, and adopt what they wrote; `$tenant` has the tenant's name."""
        if ask.mapped or ask.rejects is not None:
            raise InvalidInputError("a script is run as it stands: no --map, no --rejects", field="map")
        given: dict[str, object] = {"tenant": tenant}
        whole = Scope(tenant, "script", principal="import")
        ran = 0
        for number, statement in enumerate(statements(file.path.read_text(encoding=file.encoding))):
            if statement.param is not None:
                given.setdefault(statement.param, self._d.script.value(statement))
            elif ask.dry_run:
                self._d.script.explain(statement, given)
            else:
                ran += self._d.script.run(tenant, operation_id(whole, "cypher", f"{file.sha256}\x1f{number}"), statement, given)
        done = self.adopt(tenant, AdoptAsk(ask.user, zone=zone, dry_run=ask.dry_run))
        if ran:
            self._d.refill(tenant)  # whole rows of an export's script are in no outbox
        rows, where = done.found, "graphmem adopt --dry-run" if done.asked else None
        return Imported(rows, done.users, done.verdicts, 0, done.asked, done.seconds, dry_run=ask.dry_run, rejects=where)

    def adopt(self, tenant: str, ask: AdoptAsk, progress: Progress | None = None) -> Adopted:
        """Make memories of what was written past the service; see adopting.Adopting."""
        TenantScope(tenant, ADOPT)
        if ask.user is not None:
            check_user_id(ask.user)
        check_zone(ask.zone)
        hand = Hand(self._d.room, self._d.writer, self._d.keeper, tenant, principal=ADOPT, route=ADOPT)
        return Adopting(Tools(hand, self._d.strays, self._d.transfer.keys), ask, progress).run()

    def forget(self, scope: Scope) -> None:
        """What was written past the service about a user goes unread: forgotten, it must not be adopted later."""
        after = ""
        while page := self._d.strays.page(scope, after, PAGE):
            after = page[-1].ref
            self._d.strays.remove(scope, [s.ref for s in page], to_ms(utc(datetime.now(UTC))))

    def export(self, tenant: str, form: str = "jsonl", user: str | None = None, *, versions: bool = False) -> Iterator[str]:
        """The text of a tenant or user, piece by piece. csv: what is told now, or with `versions` every row."""
        TenantScope(tenant, "export")
        if form not in FORMATS:
            raise InvalidInputError(f"'{form}' is no format of an export", field="format", hint=", ".join(FORMATS))
        if form == "jsonl":
            return canonical(self._d.transfer, tenant, user)
        if form == "cypher":
            return script(self._d.transfer, tenant, user)
        arity: Mapping[str, str] = {str(k["key"]): str(k["arity"]) for k in self._d.transfer.keys(tenant)}
        return table(self._memories(tenant, user, versions=versions), arity)

    def export_files(self, tenant: str, folder: Path, user: str | None = None) -> dict[str, int]:
        """CSV files for `neo4j-admin database import`; see adminfiles.write_files."""
        TenantScope(tenant, "export")
        return write_files(self._d.transfer, tenant, folder, user)

    def _memories(self, tenant: str, user: str | None, *, versions: bool) -> Iterator[Listed]:
        for person in people(self._d.transfer, tenant, user):
            snapshot = self._d.reader.history(Scope(tenant, person.user_id))
            teller = Teller(self._d.room.ontology, Ledger(snapshot.rows), snapshot.now, snapshot.now)
            told = teller.ledger.all_told(snapshot.now, snapshot.now)
            rows = [r for r in snapshot.rows if r.tombstoned_at is None and r.retracted_at is None] if versions else told
            named = {str(_map(m["edge"])["mid"]): _map(m["node"]).get("value") for m in person.memories}
            for row in sorted(rows, key=lambda r: (r.kind.value, r.key, r.slot, r.version)):
                own_end = None if row.ends_at is None else from_ms(row.ends_at)
                yield Listed(person.user_id, teller.memory(row), None if (v := named.get(row.mid)) is None else str(v), own_end)


def _map(value: object) -> Mapping[str, object]:
    return cast(Mapping[str, object], value)


__all__ = ["Bulk", "Doors", "ImportAsk", "Imported"]
