"""How memories end: forgotten, retracted, expired, archived; and bringing them back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from graphmem.answers import History, Memory
from graphmem.archive import Archive, Archived, Segment
from graphmem.forgetting import Forgetting
from graphmem.lifecycle import Lifecycle, Swept
from graphmem.memory import to_ms, utc
from graphmem.ports import MemoryReader, MemoryWriter
from graphmem.reading import Reading
from graphmem.repeating import Route, done_before, operation_of
from graphmem.scope import Scope


class Ending:
    """The façade's door for ends of life."""

    reader: MemoryReader
    writer: MemoryWriter
    _reading: Reading
    _forgetting: Forgetting
    _lifecycle: Lifecycle
    _archive: Archive

    def forget(self, scope: Scope, mid: str, *, if_match: str | None = None, key: str | None = None) -> None:
        """Make one memory unreadable at once on every path."""
        self._forgetting.forget(scope, mid, if_match=if_match, key=key)

    def forget_all(self, scope: Scope) -> int:
        """Forget every memory of the user, archived ones too; returns how many were in the graph. See Forgetting.forget_all."""
        return self._forgetting.forget_all(scope)

    def retract(self, scope: Scope, mid: str, *, key: str | None = None) -> Memory:
        """It was never so; see Lifecycle.retract."""
        return self._lifecycle.retract(scope, mid, key=key)

    def undelete(self, scope: Scope, mid: str, *, key: str | None = None) -> Memory:
        """Bring a forgotten memory back within 72 h; see Lifecycle.undelete."""
        return self._lifecycle.undelete(scope, mid, key=key)

    def repeated(self, scope: Scope, route: Route, mid: str, key: str | None) -> bool:
        """Whether the caller's key has done this already; ConflictError `idempotency_key_reused` when it was about something else."""
        return key is not None and done_before(self.writer, scope, operation_of(scope, route, mid, key, mid)) is not None

    def sweep(self, tenant: str | None = None, progress: Callable[[int], None] | None = None) -> Swept:
        """Tidy what reads already know, of one tenant or of all; see Lifecycle.sweep."""
        return self._lifecycle.sweep(tenant, progress)

    def archive_run(self, tenant: str, progress: Callable[[int], None] | None = None) -> Archived:
        """Sweep the tenant, then move what is old enough into encrypted files; see Archive.run."""
        self._lifecycle.sweep(tenant)
        return self._archive.run(tenant, to_ms(utc(datetime.now(UTC))), progress)

    def archive_list(self, tenant: str) -> list[Segment]:
        """The segments of a tenant's archive, oldest first."""
        return self._archive.segments(tenant)

    def archive_restore(self, tenant: str, segment: str | None = None) -> int:
        """Bring archived rows back; see Archive.restore."""
        return self._archive.restore(tenant, segment)

    def archived(self, scope: Scope, mid: str) -> int:
        """How many older versions of a memory's slot lie in the archive."""
        found = self.reader.slot_of(scope, mid)
        return 0 if found is None else self._archive.count(scope, found.slot)

    def versions(self, scope: Scope, mid: str) -> History:
        """All versions of a memory's slot, oldest first, and how many older ones lie in the archive."""
        return History(self._reading.history(scope, mid), self.archived(scope, mid))
