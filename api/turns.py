"""Hear turns: one, or up to 500 in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from pydantic import ValidationError

from api.answers import BatchItemOut, BatchOut, InjectedOut
from api.call import NO_QUERY, Call, Called, Door, Key
from api.envelope import reader
from api.errors import Problem, Reader, invalid, problem_of
from api.told import failed, injected_out
from api.types import BatchIn, TurnIn
from graphmem.answers import BatchItem
from graphmem.errors import GraphmemError
from graphmem.memory import Turn

router = APIRouter(route_class=Door, tags=["turns"], dependencies=NO_QUERY)


@router.post("/turns", name="injectTurn")
def inject_turn(call: Called, body: TurnIn, key: Key) -> InjectedOut:
    """Hear one turn: says what was stored, what is pending, what was not stored and why."""
    done = call.graphmem.inject(call.scope, body.turn(call.zone, call.max_text), key=key)
    return injected_out(done, call.base)


@router.post("/turns:batch", name="injectTurns")
def inject_turns(call: Called, body: BatchIn, request: Request) -> BatchOut:
    """Hear up to 500 turns of one user, in order; the answer is per turn, and a bad one does not lose the others."""
    read = [_read(raw, call) for raw in body.turns]
    good = [turn for turn in read if isinstance(turn, Turn)]
    done = iter(call.graphmem.inject_batch(call.scope, good) if good else ())
    to = replace(reader(request.scope), instance=f"{call.base}/turns:batch")
    items = []
    for index, (raw, turn) in enumerate(zip(body.turns, read, strict=True)):
        if isinstance(turn, Problem):
            items.append(failed(index, _turn_id(raw), turn, to))
        else:
            items.append(_item(index, next(done), call.base, to))
    return BatchOut(items=items)


def _read(raw: object, call: Call) -> Turn | Problem:
    try:
        return TurnIn.model_validate(raw).turn(call.zone, call.max_text)
    except ValidationError as error:
        return invalid(error.errors(include_url=False, include_input=False, include_context=False))
    except GraphmemError as error:
        return problem_of(error)


def _turn_id(raw: Any) -> str | None:
    given = raw.get("turn_id") if isinstance(raw, dict) else None
    return given.encode("utf-8", "replace").decode()[:256] if isinstance(given, str) else None


def _item(index: int, item: BatchItem, base: str, to: Reader) -> BatchItemOut:
    if item.result is not None:
        return BatchItemOut(index=index, turn_id=item.turn_id, outcome="done", result=injected_out(item.result, base))
    error = item.error or GraphmemError("neither a result nor an error")
    return failed(index, item.turn_id, problem_of(error), to, retry=item.retry)
