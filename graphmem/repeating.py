"""A request with a key of the caller's own is the same operation each time, also where the first one used up what it was about."""

from __future__ import annotations

from typing import Literal

from graphmem.casework import Reads
from graphmem.ports import MemoryWriter, Operation
from graphmem.room import check_key
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.writing import Changes, Done, Known

Route = Literal["confirm", "reject", "retract", "forget", "undelete"]
"""What can be asked of one memory and uses it up."""


class _NotDone(Exception):  # noqa: N818 - ends a write without a trace, never leaves this module
    """Nothing was done under this key."""


def operation_of(scope: Scope, route: Route, mid: str, key: str | None, name: str) -> Operation:
    """The operation of a request about one memory: named by the caller's key where there is one, else by what it is about."""
    check_key(key)
    return Operation(operation_id(scope, route, name if key is None else f"key\x1f{key}"), mid, route, scope.principal)


def done_before(writer: MemoryWriter, scope: Scope, operation: Operation) -> Done | None:
    """What the operation did when it was done; ConflictError `idempotency_key_reused` when it was another request."""

    def undecided(_: Known) -> Changes:
        raise _NotDone

    try:
        return writer.write(scope, operation, Reads({}, {}, {}, since=None), undecided).known.done
    except _NotDone:
        return None


__all__ = ["Route", "done_before", "operation_of"]
