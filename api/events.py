"""Events of the calling application: what happened, as typed memories."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from fastapi import APIRouter, Response
from pydantic import Field

from api.answers import RecordedOut
from api.auth import vouches
from api.call import NO_QUERY, Called, Door, Key
from api.told import recorded_out
from api.types import Body
from api.words import Metadata, Moment, Name, aware
from graphmem.events import Event

router = APIRouter(route_class=Door, tags=["memories"])


class EventIn(Body):
    """Something that happened: its name and the fields of `data` are those of the service's table of events."""

    name: Name
    at: Moment | None = None
    data: Metadata = Field(default_factory=dict)
    ref: Name | None = None
    verified_by: Name | None = None

    def event(self, zone: str) -> Event:
        return Event(self.name, aware(self.at, ZoneInfo(zone)), self.data, self.ref, self.verified_by)


@router.post(
    "/events",
    name="recordEvent",
    status_code=201,
    dependencies=NO_QUERY,
    responses={200: {"model": RecordedOut}, 202: {"model": RecordedOut}},
)
def record_event(call: Called, body: EventIn, key: Key, response: Response) -> RecordedOut:
    """Record an event: 201 stored, 200 replayed, 202 when a policy lets part of it wait or refuses it.

    Name and `ref` are its idempotency key where no header is one.
    """
    vouches(call.scope, body.verified_by)
    done = call.graphmem.record(call.scope, body.event(call.zone), key=key)
    if done.replayed:
        response.status_code = 200
    elif done.pending or not done.stored:
        response.status_code = 202
    return recorded_out(done, call.base)
