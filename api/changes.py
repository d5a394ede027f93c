"""Change a memory, take it back, bring it back, forget everything."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import quote
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Header, Query, Response
from pydantic import Field, StrictBool, StrictFloat

from api.answers import ForgottenOut, MemoryOut, RememberedOut
from api.auth import vouches
from api.call import NO_QUERY, Called, Door, Key, Segment
from api.memories import accepted, mark, precondition, tag_of
from api.told import remembered_out, remembered_status
from api.types import Body, SourceIn, fits
from api.words import Metadata, Moment, Name, Said, Zone, aware
from graphmem.change import Change
from graphmem.errors import InvalidInputError
from graphmem.memory import Polarity

router = APIRouter(route_class=Door, tags=["memories"])


class ChangeIn(Body):
    """What changes; what is not named stays. In `metadata` named entries replace, null removes, others stay."""

    value: Said | None = None
    polarity: Polarity | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    zone: Zone | None = None
    confidence: Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)] | None = None
    source: SourceIn = Field(default_factory=SourceIn)
    verified_by: Name | None = None
    verified: StrictBool | None = None
    metadata: Metadata = Field(default_factory=dict)

    def change(self, zone: str, max_text: int) -> Change:
        """The change in the core's words; 422 where a null would have to mean something, 413 above `max_text` characters."""
        for name in sorted(self.model_fields_set):
            if getattr(self, name) is None:
                raise InvalidInputError("is null; leave out what stays as it is", field=name, code="null")
        fits("value", self.value or "", max_text)
        local = ZoneInfo(self.zone or zone)
        return Change(
            value=self.value,
            polarity=self.polarity,
            valid_from=aware(self.valid_from, local),
            valid_to=aware(self.valid_to, local),
            zone=self.zone,
            confidence=self.confidence,
            source=self.source.provenance(self.verified_by),
            verified=self.verified,
            metadata=self.metadata,
        )


class AllQuery(Body):
    """The word that has to be said, so that no slip of a path forgets a person."""

    confirm: Literal["all"]


IfMatch = Annotated[str | None, Header(description='The ETag that was read, as "v2-7"')]


@router.patch("/memories/{mid:segment}", name="changeMemory", dependencies=NO_QUERY, responses={202: {"model": RememberedOut}})
def change_memory(call: Called, mid: Segment, body: ChangeIn, response: Response, if_match: IfMatch = None) -> RememberedOut:
    """A new version; another concept ends the old memory and opens the new one. 428 without If-Match, 412 when it does not hold."""
    if if_match is None:
        raise InvalidInputError("a change names the version it is of", field="If-Match", code="precondition_required")
    ask, tag = body.change(call.zone, call.max_text), tag_of(if_match)
    vouches(call.scope, body.verified_by)
    with precondition(tag):
        done = accepted(call.graphmem.change(call.scope, mid, ask, if_match=tag))
    response.status_code = 202 if remembered_status(done) == 202 else 200
    if done.memory is not None:
        mark(response, done.memory)
        response.headers["Content-Location"] = f"{call.base}/memories/{quote(done.memory.mid, safe='')}"
    return remembered_out(done, call.base)


@router.post("/memories/{mid:segment}:retract", name="retractMemory", dependencies=NO_QUERY)
def retract_memory(call: Called, mid: Segment, key: Key) -> MemoryOut:
    """It was never so: what was held before counts again."""
    return MemoryOut.model_validate(call.graphmem.retract(call.scope, mid, key=key))


@router.post("/memories/{mid:segment}:undelete", name="undeleteMemory", dependencies=NO_QUERY)
def undelete_memory(call: Called, mid: Segment, key: Key) -> MemoryOut:
    """Bring a forgotten memory back within 72 hours: the same row and version, current only if nothing newer holds."""
    return MemoryOut.model_validate(call.graphmem.undelete(call.scope, mid, key=key))


@router.delete("/memories", name="forgetAll")
def forget_all(call: Called, query: Annotated[AllQuery, Query()]) -> ForgottenOut:
    """Forget every memory of this user, archived ones too; `confirm=all` has to be said. Reaches no other user."""
    return ForgottenOut(forgotten=call.graphmem.forget_all(call.scope))
