"""The table of events: what an application's event says of the user, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.errors import InvalidInputError, PackError
from graphmem.events import Event, asks, load_events
from graphmem.memory import Kind, SourceKind
from graphmem.ontology import load_ontology

ONTOLOGY = load_ontology()
EVENTS = load_events(ONTOLOGY)


def test_a_booking_becomes_a_fact_that_ends_when_it_is_over_and_has_the_event_as_its_source() -> None:
    (ask,) = asks(Event("appointment_booked", data={"appointment": "牙科复诊", "until": "2026-12-03T11:00:00+08:00"}, ref="a-1"), EVENTS)
    assert (ask.key, ask.value, ask.kind, ask.subject) == ("appointment", "牙科复诊", Kind.FACT, "self")
    assert ask.valid_to == datetime(2026, 12, 3, 3, tzinfo=UTC)
    assert ask.source is not None and (ask.source.kind, ask.source.ref) == (SourceKind.EVENT, "a-1")


def test_an_unknown_event_is_refused_by_a_message_that_names_the_known_ones() -> None:
    with pytest.raises(InvalidInputError) as refused:
        asks(Event("appointment_boked", data={}), EVENTS)
    assert [name for name in EVENTS if name not in refused.value.detail] == []
    assert (refused.value.field, refused.value.code) == ("name", "unknown_event")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"appointment": "x", "when": "y"}, "data/when"),
        ({}, "data/appointment"),
        ({"appointment": ["x"]}, "data/appointment"),
        ({"appointment": True}, "data/appointment"),
        ({"appointment": "x", "until": "soon"}, "data/until"),
        ({"appointment": "x", "until": "2026-12-03T11:00:00"}, "data/until"),
    ],
)
def test_a_field_that_is_missing_misspelt_or_of_another_shape_is_named(data: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        asks(Event("appointment_booked", data=data), EVENTS)
    assert refused.value.field == field


def test_an_event_without_any_of_its_optional_fields_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="address, city"):
        asks(Event("address_changed"), EVENTS)
    assert [a.key for a in asks(Event("address_changed", data={"city": "Leeds"}), EVENTS)] == ["home_city"]


def test_a_pack_of_ones_own_adds_an_event(tmp_path: Path) -> None:
    pack = tmp_path / "gym.yaml"
    pack.write_text(
        "events:\n  class_joined:\n    label: {zh: 报名, en: joined}\n    writes:\n      - {key: hobby, value: class}\n", encoding="utf-8"
    )
    found = load_events(ONTOLOGY, [pack])
    assert set(found) == {*EVENTS, "class_joined"}
    assert [(a.key, a.value) for a in asks(Event("class_joined", data={"class": "yoga"}), found)] == [("hobby", "yoga")]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("{key: hobby}", "lacks value"),
        ("{key: hobby, value: x, kind: context}", "leave out its kind and arity"),
        ("{key: gym_class, value: x}", "name its kind and arity"),
        ("{key: hobby, value: x, colour: y}", "unknown field 'colour'"),
        ("{key: hobby, value: 'X y'}", "must be a-z"),
    ],
)
def test_a_wrong_row_is_refused_with_file_and_line(tmp_path: Path, row: str, words: str) -> None:
    pack = tmp_path / "bad.yaml"
    pack.write_text(f"events:\n  joined:\n    label: {{zh: 报名, en: joined}}\n    writes:\n      - {row}\n", encoding="utf-8")
    with pytest.raises(PackError, match=words) as refused:
        load_events(ONTOLOGY, [pack])
    assert (refused.value.file, refused.value.line) == (str(pack), 5)
