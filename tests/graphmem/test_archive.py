"""What may leave for the archive and what a purge may take, decided over plain rows; and segments on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.ages import Ages, movable
from graphmem.archive import Record
from graphmem.caches import recached
from graphmem.errors import ConfigurationError
from graphmem.memory import Kind, Polarity
from graphmem.purge import UNDELETE_MS, purge_of
from graphmem.scope import Scope
from graphmem.stores.archive_files import FileVault
from graphmem.validity import Ledger, Ms, Row

DAY: Ms = 86_400_000
NOW: Ms = 2_000 * DAY
AGES = Ages(365 * DAY, 30 * DAY)
SCOPE = Scope("acme", "ann")


def row(version: int, day: int, value: str = "latte", **given: Any) -> Row:
    made = Row(
        mid=f"m{version}-{given.get('slot', 'coffee')}",
        kind=Kind.PREFERENCE,
        slot="coffee",
        thing=f"thing:{value}",
        key="coffee_preference",
        ckey=value,
        subject="self",
        value=value,
        polarity="+",
        version=version,
        said_at=day * DAY,
        valid_from=day * DAY,
        recorded_at=day * DAY,
        lifetime=180 * DAY,
    )
    return replace(made, **given)


def as_now(*rows: Row) -> list[Row]:
    ledger = Ledger(rows)
    return recached(ledger, ledger.by_slot, NOW)


def moved(*rows: Row) -> list[int]:
    return [r.version for r in movable(as_now(*rows), NOW, AGES)]


def test_superseded_a_year_ago_or_expired_a_month_ago_may_leave_and_no_fact_ever_does() -> None:
    long: dict[str, Any] = {"lifetime": 5000 * DAY}
    assert moved(row(1, 100, **long), row(2, 1634, "mocha", **long), row(3, 1990, "flat white", **long)) == [1]
    assert moved(row(1, 100, **long), row(2, 1636, "mocha", **long)) == []
    assert moved(row(1, 1789)) == [1]
    assert moved(row(1, 1791)) == []
    assert moved(row(1, 100, kind=Kind.FACT), row(2, 200, "mocha", kind=Kind.FACT)) == []


def test_only_the_lowest_versions_leave_so_that_the_rest_has_no_gap() -> None:
    # version 1 is the newest by start: a late arrival was recorded after it
    assert moved(row(1, 1990), row(2, 100, "mocha")) == []
    assert moved(row(1, 100), row(2, 1990, "mocha"), row(3, 200, "flat white")) == [1]


def test_a_row_that_silences_an_opposite_one_stays_until_that_one_has_left() -> None:
    disliked = row(1, 50, polarity="-", slot="coffee:latte", lifetime=None)
    liked = row(1, 100)
    assert [r.mid for r in movable(as_now(disliked, liked), NOW, AGES)] == [disliked.mid]
    assert [r.mid for r in movable(as_now(liked), NOW, AGES)] == [liked.mid]


def test_what_holds_what_is_planned_and_what_may_still_be_undeleted_stays() -> None:
    assert moved(row(1, 100, lifetime=None)) == []
    assert moved(row(1, 100), row(2, 2100, "mocha")) == [1]
    assert moved(row(1, 100, tombstoned_at=NOW - UNDELETE_MS + 1), row(2, 1990, "mocha")) == []
    assert moved(row(1, 100, tombstoned_at=NOW - UNDELETE_MS), row(2, 1990, "mocha")) == [1]


DAYS = st.integers(1, 2020)


@given(st.lists(st.tuples(DAYS, st.sampled_from(["a", "b", "c"]), st.sampled_from("+-"), st.booleans()), max_size=12), DAYS)
def test_without_what_left_every_other_row_is_answered_as_before(said: list[tuple[int, str, Polarity, bool]], day: int) -> None:
    tops: dict[str, int] = {}
    rows = []
    for n, (start, value, polarity, end) in enumerate(said):
        slot = f"not:{value}" if polarity == "-" else "coffee"
        tops[slot] = tops.get(slot, 0) + 1
        given_row: dict[str, Any] = {
            "mid": f"m{n}",
            "slot": slot,
            "polarity": polarity,
            "recorded_at": min(NOW, start * DAY + n),
            "is_end": end,
        }
        rows.append(row(tops[slot], start, value, **given_row))
    whole = as_now(*rows)
    leaving = {r.mid for r in movable(whole, NOW, AGES)}
    left = Ledger([r for r in whole if r.mid not in leaving])
    for slot in left.by_slot:
        before = Ledger(whole).told(slot, day * DAY, NOW)
        if before is None or before.mid not in leaving:
            assert left.told(slot, day * DAY, NOW) == before
        versions = sorted(r.version for r in left.by_slot[slot])
        assert versions == list(range(versions[0], tops[slot] + 1))


# --- purge

GONE: dict[str, Any] = {"tombstoned_at": NOW - UNDELETE_MS}


def test_the_oldest_forgotten_rows_go_whole_and_one_between_others_loses_its_name() -> None:
    plan = purge_of(as_now(row(1, 10, **GONE), row(2, 20, "mocha")), {"coffee"}, NOW)
    assert (plan.emptied, plan.stripped, plan.dropped) == (("m1-coffee",), (), ("m1-coffee",))
    plan = purge_of(as_now(row(1, 10), row(2, 20, "mocha", **GONE), row(3, 30, "tea")), {"coffee"}, NOW)
    assert (plan.emptied, plan.stripped, plan.dropped) == (("m2-coffee",), ("m2-coffee",), ())


def test_a_forgotten_row_that_silences_a_remembered_one_keeps_its_name() -> None:
    disliked = row(1, 5, polarity="-", slot="coffee:latte")
    plan = purge_of(as_now(disliked, row(1, 10, **GONE)), {"coffee"}, NOW)
    assert (plan.emptied, plan.stripped, plan.dropped) == (("m1-coffee",), (), ())
    forgotten = replace(disliked, **GONE)
    assert purge_of(as_now(forgotten, row(1, 10, **GONE)), {"coffee"}, NOW).dropped == ("m1-coffee",)


def test_what_may_still_be_undeleted_is_not_purged() -> None:
    assert purge_of(as_now(row(1, 10, tombstoned_at=NOW - UNDELETE_MS + 1)), {"coffee"}, NOW).emptied == ()


# --- segments on disk


def records(count: int) -> list[Record]:
    said = {"$time": "2024-07-15T02:00:00.000000000+00:00"}
    return [{"edge": {"mid": f"m{n}", "slot": f"s{n}", "said_at": said}, "node": {"value": "燕麦拿铁"}} for n in range(count)]


def test_a_segment_reads_back_in_another_process_and_only_under_its_own_name_tenant_and_key(tmp_path: Path) -> None:
    vault = FileVault(tmp_path, b"k" * 32)
    with vault.lock("acme"):
        made = vault.write(SCOPE, "seg-1", records(3))
    again = FileVault(tmp_path, b"k" * 32)
    assert again.segments("acme") == [made]
    assert again.read("acme", "seg-1") == ("ann", records(3))
    assert (tmp_path / "archive" / "acme" / "seg-1.jsonl.gz.aes").stat().st_mode & 0o077 == 0
    with pytest.raises(ConfigurationError):
        FileVault(tmp_path, b"x" * 32).read("acme", "seg-1")
    folder = tmp_path / "archive"
    (folder / "blue").mkdir()
    for name in ("manifest.json", "seg-1.jsonl.gz.aes"):
        (folder / "blue" / name).write_bytes((folder / "acme" / name).read_bytes())
    with pytest.raises(ConfigurationError):
        vault.read("blue", "seg-1")


def test_a_lost_or_cut_file_is_named_and_files_that_nothing_lists_go(tmp_path: Path) -> None:
    vault = FileVault(tmp_path, b"k" * 32)
    with vault.lock("acme"):
        for name in ("seg-1", "seg-2"):
            vault.write(SCOPE, name, records(2))
        stray = tmp_path / "archive" / "acme" / "seg-3.jsonl.gz.aes.part"
        stray.write_bytes(b"half")
        vault.drop("acme", ["seg-1"])
    assert not stray.exists()
    assert [s.id for s in vault.segments("acme")] == ["seg-2"]
    path = tmp_path / "archive" / "acme" / "seg-2.jsonl.gz.aes"
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ConfigurationError, match="seg-2"):
        vault.read("acme", "seg-2")
    path.unlink()
    with pytest.raises(ConfigurationError, match="seg-2"):
        vault.read("acme", "seg-2")
