"""What every write of a user does with its operation: refuse what may not be, record who did it by which route."""

from __future__ import annotations

from graphmem.errors import ConflictError, RefusedError
from graphmem.ports import Operation
from graphmem.relations import Standing
from graphmem.scope import Scope
from graphmem.writing import Known


def admit(operation: Operation, found: Known | Standing) -> None:
    """RefusedError for a user who was erased, ConflictError where the operation's key has served another request."""
    if found.erased:
        raise RefusedError("this user was erased; nothing is remembered any more", code="erased")
    if found.done is not None and found.done.request_hash != operation.request_hash:
        raise ConflictError("the idempotency key was used for another request", code="idempotency_key_reused")


def recorded(scope: Scope, operation: Operation) -> dict[str, object]:
    """Parameters of the record of a write."""
    return {
        "tenant_id": scope.tenant,
        "user_id": scope.user,
        "op": operation.op,
        "request_hash": operation.request_hash,
        "route": operation.route,
        "actor": operation.actor,
    }
