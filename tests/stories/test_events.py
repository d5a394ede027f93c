"""An application's events on the real stores: typed memories, once, deliberate, under the change policies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.errors import ConflictError, InvalidInputError
from graphmem.events import Event
from graphmem.memory import SourceKind, Standing, Turn, Verdict
from graphmem.scope import Scope

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def values(graphmem: Graphmem, scope: Scope, key: str, at: datetime | None = None) -> list[str | None]:
    return [m.value for m in graphmem.latest(scope, key, as_of=at).items]


def test_a_booked_appointment_is_told_until_it_is_over(graphmem: Graphmem, scope: Scope) -> None:
    data = {"appointment": "dentist", "until": (AT + timedelta(days=2)).isoformat()}
    done = graphmem.record(scope, Event("appointment_booked", AT, data, "a-1"))
    memory = done.stored[0].memory
    assert (memory.source.kind, memory.source.ref, memory.standing) == (SourceKind.EVENT, "a-1", Standing.STATED)
    assert values(graphmem, scope, "appointment", AT + timedelta(days=1)) == ["dentist"]
    assert values(graphmem, scope, "appointment", AT + timedelta(days=3)) == []


def test_a_cancelled_appointment_is_told_no_more_and_the_others_are(graphmem: Graphmem, scope: Scope) -> None:
    for what in ("dentist", "eye test"):
        graphmem.record(scope, Event("appointment_booked", AT, {"appointment": what}))
    graphmem.record(scope, Event("appointment_cancelled", AT + timedelta(hours=1), {"appointment": "dentist"}))
    assert values(graphmem, scope, "appointment") == ["eye test"]


def test_an_event_that_comes_twice_is_one_event_and_another_under_its_id_is_refused(graphmem: Graphmem, scope: Scope) -> None:
    event = Event("seat_chosen", AT, {"seat": "靠窗"}, "order-7")
    first, again = graphmem.record(scope, event), graphmem.record(scope, event)
    assert (first.replayed, again.replayed) == (False, True)
    assert [s.memory.mid for s in again.stored] == [s.memory.mid for s in first.stored]
    assert [m.version for m in graphmem.latest(scope, "seat_preference", as_of=AT + timedelta(days=1)).items] == [1]
    with pytest.raises(ConflictError):
        graphmem.record(scope, Event("seat_chosen", AT, {"seat": "过道"}, "order-7"))


def test_a_chosen_seat_passes_the_reversal_window_in_which_speech_would_wait(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.inject(scope, Turn("我喜欢靠窗的座位", session_id="s", at=AT))
    done = graphmem.record(scope, Event("seat_chosen", AT + timedelta(hours=1), {"seat": "过道"}))
    assert [s.verdict for s in done.stored] == [Verdict.SUPERSEDE]


def test_a_new_phone_number_by_event_still_needs_its_proofs(graphmem: Graphmem, scope: Scope) -> None:
    graphmem.record(scope, Event("phone_changed", AT, {"phone": "13900001111"}))
    done = graphmem.record(scope, Event("phone_changed", AT + timedelta(days=1), {"phone": "13900002222"}))
    assert [(p.reason, p.memory.value) for p in done.pending] == [("dual", "13900002222")]
    assert values(graphmem, scope, "phone") == ["13900001111"]


def test_an_event_with_several_statements_is_one_write(graphmem: Graphmem, scope: Scope) -> None:
    done = graphmem.record(scope, Event("address_changed", AT, {"address": "12 Mill Lane", "city": "York"}, verified_by="staff:17"))
    assert [(s.memory.key, s.memory.standing) for s in done.stored] == [
        ("home_address", Standing.VERIFIED),
        ("home_city", Standing.VERIFIED),
    ]
    assert len({s.memory.recorded_at for s in done.stored}) == 1


def test_an_unknown_event_stores_nothing(graphmem: Graphmem, scope: Scope) -> None:
    with pytest.raises(InvalidInputError, match="known: appointment_booked"):
        graphmem.record(scope, Event("teleported", AT, {"city": "York"}))
    assert graphmem.memories(scope).total == 0
