"""Events at the door: words, statuses and refusals."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from starlette.testclient import TestClient

from graphmem.errors import InvalidInputError
from graphmem.events import Event
from tests.api.stub import StubGraphmem

PATH = "/v1/users/alice/events"
BODY = {"name": "appointment_booked", "at": "2024-07-15T10:00:00", "data": {"appointment": "牙科"}, "ref": "a-1", "verified_by": "staff:17"}


def test_an_event_is_recorded_with_every_word_of_the_contract(client: TestClient, stub: StubGraphmem) -> None:
    told = client.post(PATH, json=BODY, headers={"Idempotency-Key": "once"})
    assert told.status_code == 202  # the stub lets part of it wait
    event, key = cast(tuple[Event, str], stub.asked[-1][2])
    assert event.at is not None
    assert (event.name, event.data, event.ref, event.verified_by, key) == (
        "appointment_booked",
        {"appointment": "牙科"},
        "a-1",
        "staff:17",
        "once",
    )
    assert event.at.astimezone(UTC) == datetime(2024, 7, 15, 2, tzinfo=UTC)
    assert set(told.json()) == {"name", "replayed", "stored", "pending", "not_stored", "revision"}


def test_an_unknown_event_is_a_422_that_names_the_known_ones(client: TestClient, stub: StubGraphmem) -> None:
    stub.fault = InvalidInputError("'x' is no event of this service; known: seat_chosen", field="name", code="unknown_event")
    told = client.post(PATH, json={"name": "x"})
    assert told.status_code == 422
    assert "known: seat_chosen" in told.text
    assert told.json()["errors"][0]["field"] == "name"


def test_a_misspelt_field_of_an_event_is_refused(client: TestClient) -> None:
    assert client.post(PATH, json={**BODY, "reff": "a"}).status_code == 422
