"""What is said goes in: turns, statements, events, and the user's answer to what waits."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.answers import BatchItem, Injected, Memory, Remember, Remembered
from graphmem.change import Change, Changer
from graphmem.errors import GraphmemError, InvalidInputError, UnavailableError
from graphmem.events import Event, Recorded
from graphmem.memory import Turn
from graphmem.pipeline.inject import Injector
from graphmem.recording import Recorder
from graphmem.remember import Keeper
from graphmem.room import Room, check_key
from graphmem.scope import Scope

BATCH_MAX = 500
"""Turns of one batch (api.md)."""


class Hearing:
    """The façade's door for what is said."""

    room: Room
    _injector: Injector
    _keeper: Keeper
    _recorder: Recorder
    _changer: Changer

    def inject(self, scope: Scope, turn: Turn, *, key: str | None = None, explain: bool = False) -> Injected:
        """Hear one turn; see Injector.inject."""
        check_key(key)
        self.room.check_turn(turn)
        return self._injector.inject(scope, turn, key=key, explain=explain)

    def inject_batch(self, scope: Scope, turns: Sequence[Turn]) -> tuple[BatchItem, ...]:
        """Hear up to 500 turns in order, each its own operation: a bad one does not lose the others."""
        if not 1 <= len(turns) <= BATCH_MAX:
            raise InvalidInputError(f"a batch holds 1 to {BATCH_MAX} turns", field="turns")
        return tuple(self._one_of_batch(scope, turn) for turn in turns)

    def _one_of_batch(self, scope: Scope, turn: Turn) -> BatchItem:
        try:
            done = self.inject(scope, turn)
        except UnavailableError as fault:
            return BatchItem(turn.turn_id, None, fault, retry=True)
        except GraphmemError as fault:
            return BatchItem(turn.turn_id, None, fault)
        return BatchItem(done.turn_id, done)

    def remember(self, scope: Scope, ask: Remember, *, key: str | None = None) -> Remembered:
        """Store one deliberate statement; see Keeper.remember."""
        return self._keeper.remember(scope, ask, key=key)

    def record(self, scope: Scope, event: Event, *, key: str | None = None) -> Recorded:
        """Store what an event of the calling application says; see Recorder.record."""
        return self._recorder.record(scope, event, key=key)

    def confirm(self, scope: Scope, mid: str, *, key: str | None = None) -> Remembered:
        """The user's yes to a pending memory."""
        return self._keeper.confirm(scope, mid, key=key)

    def reject(self, scope: Scope, mid: str, *, key: str | None = None) -> Memory:
        """The user's no to a pending memory."""
        return self._keeper.reject(scope, mid, key=key)

    def change(self, scope: Scope, mid: str, ask: Change, *, if_match: str | None = None) -> Remembered:
        """A new version of a memory; see Changer.change."""
        return self._changer.change(scope, mid, ask, if_match=if_match)
