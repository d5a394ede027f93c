"""Points in time reach the server as what they are, whichever way they are packed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphmem.app import Graphmem
from graphmem.memory import from_ms, to_ms
from graphmem.stores.neo4j_times import instant, instant_of

MOMENTS = [
    "0001-01-01T00:00:00.000",
    "1969-12-31T23:59:59.999",
    "1970-01-01T00:00:00.000",
    "2026-02-28T12:30:00.007",
    "9999-12-31T23:59:59.999",
]


@pytest.mark.parametrize("text", MOMENTS)
def test_an_instant_is_the_same_value_as_the_datetime_of_its_milliseconds(graphmem: Graphmem, text: str) -> None:
    ms = to_ms(datetime.fromisoformat(f"{text}+00:00"))
    asked = "RETURN $a = $b AND toString($a) = toString($b) AS same, $a.epochMillis AS ms, $a.offset AS offset"
    found = graphmem.neo4j.text(asked, {"a": instant(ms), "b": from_ms(ms)})[0]
    assert (found["same"], found["ms"], found["offset"]) == (True, ms, "Z")
    assert instant_of(from_ms(ms).astimezone(UTC).isoformat(timespec="microseconds").replace("+", "000+")) == instant(ms)


@pytest.mark.parametrize("text", ["2024-07-15T02:00:00.123456789+00:00", "2024-07-15T02:00:00.000000000+08:00"])
def test_an_archived_time_comes_back_to_the_nanosecond_and_in_its_offset(graphmem: Graphmem, text: str) -> None:
    found = graphmem.neo4j.text("RETURN $a AS a", {"a": instant_of(text)})[0]["a"]
    assert found.iso_format() == text
