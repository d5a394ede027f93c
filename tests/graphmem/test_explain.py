"""Explanations, pure: the reason by name, what other versions did, what happened when, and one paragraph in two languages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from graphmem.errors import PackError
from graphmem.explain import Evidence, Policy, Waiting, because, because_pending, change_of, entry, moments, pending_entry, rivals, until
from graphmem.memory import Kind, from_ms
from graphmem.ontology import PACKS, load_ontology
from graphmem.saying import TOLD, Told, load_sayings, paragraph, sayings
from graphmem.telling import Teller
from graphmem.validity import Ledger, Observation, Pending, Row

ONTOLOGY = load_ontology()
DAY = 24 * 3600 * 1000
NOW = 100 * DAY


def row(mid: str, day: int, value: str | None = "Hangzhou", **given: object) -> Row:
    """A value of home_city said and recorded on a day."""
    said = Row(
        mid=mid, kind=Kind.FACT, slot="s", thing=f"t:{value}", key="home_city", ckey=f"city:{value}", subject="self", value=value,
        polarity="+", version=day, said_at=day * DAY, valid_from=day * DAY, recorded_at=day * DAY,
    )  # fmt: skip
    return replace(said, **given)  # type: ignore[arg-type]


def teller(*rows: Row, t: int = NOW, k: int = NOW) -> Teller:
    return Teller(ONTOLOGY, Ledger(rows), t, k)


ONE = row("m1", 1)
NEXT = row("m2", 5, "Nanjing")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ((ONE,), "told"),
        ((ONE, NEXT), "superseded"),
        ((ONE, row("m2", 5, None, is_end=True)), "closed"),
        ((ONE, row("m2", 5, polarity="-", slot="other")), "opposed"),
        ((replace(ONE, ends_at=9 * DAY),), "over"),
        ((replace(ONE, lifetime=9 * DAY),), "expired"),
        ((replace(ONE, retracted_at=9 * DAY),), "retracted"),
        ((replace(ONE, retracted_at=9 * DAY, overruled=True),), "overruled"),
        ((replace(ONE, valid_from=200 * DAY),), "scheduled"),
        ((replace(ONE, is_end=True),), "ended"),
    ],
)
def test_every_way_of_being_told_or_not_has_a_name(rows: tuple[Row, ...], reason: str) -> None:
    assert because(teller(*rows), rows[0]) == reason


def test_what_was_known_before_a_change_is_explained_without_it() -> None:
    assert because(teller(ONE, NEXT, t=4 * DAY, k=4 * DAY), ONE) == "told"
    gone = replace(ONE, retracted_at=9 * DAY)
    assert because(teller(gone, t=8 * DAY, k=8 * DAY), gone) == "told"


PENDING = Pending(row("p", 90, "Ningbo", version=0), "reversal_window", 90 * DAY)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "pending"),
        ({"decided_at": 95 * DAY, "outcome": "confirmed"}, "confirmed"),
        ({"decided_at": 95 * DAY, "outcome": "rejected"}, "rejected"),
        ({"decided_at": 95 * DAY, "outcome": "overtaken"}, "overtaken"),
        ({"decided_at": 101 * DAY, "outcome": "confirmed"}, "pending"),
    ],
)
def test_a_pending_memory_says_what_it_waits_for_or_what_was_decided(given: dict[str, object], reason: str) -> None:
    assert because_pending(replace(PENDING, **given), NOW, NOW, 30 * DAY) == reason  # type: ignore[arg-type]


def test_a_pending_memory_lapses_after_its_days() -> None:
    assert because_pending(PENDING, NOW, NOW, 10 * DAY) == "lapsed"


# --- rivals


def test_a_rival_is_named_by_what_it_did() -> None:
    denial = row("d", 9, "Nanjing", polarity="-", slot="other")
    found = teller(ONE, NEXT, denial)
    assert [(r.mid, r.did) for r in rivals(found, NEXT)] == [("m1", "superseded"), ("d", "opposed_by")]
    assert [(r.mid, r.did) for r in rivals(found, ONE)] == [("m2", "superseded_by")]
    assert [(r.mid, r.did) for r in rivals(found, denial)] == [("m2", "opposes")]


def test_a_forgotten_rival_has_no_value() -> None:
    gone = replace(NEXT, tombstoned_at=50 * DAY)
    (rival,) = rivals(teller(ONE, gone), ONE)
    assert (rival.did, rival.value) == ("superseded_by", None)


# --- what happened when


def outcome(verdict: list[object], rule: list[object] | None = None) -> str:
    return json.dumps({"verdicts": [verdict], **({} if rule is None else {"rules": [rule]})})


def test_an_entry_names_who_wrote_it_by_which_rule_and_who_changed_it() -> None:
    changes = {
        DAY: change_of("o1", "turn", "user", DAY, outcome(["m1", "new", None, None], ["home_city.en.3", 0.97, [0, 5]])),
        5 * DAY: change_of("o2", "remember", "staff:7", 5 * DAY, outcome(["m2", "supersede", "m1", None])),
    }
    seen = replace(ONE, observations=(Observation(3 * DAY, 3 * DAY),))
    found = entry(teller(seen, NEXT), seen, (), changes)
    assert (found.verdict, found.rule, found.certainty, found.superseded_by) == ("new", "home_city.en.3", 0.97, "m2")
    assert [(t.what, t.actor, t.route, t.by) for t in found.touches] == [
        ("recorded", "user", "turn", None),
        ("observed", None, None, None),
        ("superseded", "staff:7", "remember", "m2"),
    ]


def test_an_entry_of_an_earlier_knowledge_ends_there() -> None:
    seen = replace(ONE, observations=(Observation(8 * DAY, 8 * DAY),))
    then = teller(seen, NEXT, t=4 * DAY, k=4 * DAY)
    late = Evidence("m1", "turn", "s/t", from_ms(8 * DAY), from_ms(8 * DAY), first=False)
    found = entry(then, seen, (late,), {})
    assert [t.what for t in found.touches] == ["recorded"] and found.sources == () and found.superseded_by is None
    assert moments(then, [seen], []) == [DAY]


def test_the_moments_of_a_memory_are_those_of_every_write_that_touched_it() -> None:
    seen = replace(ONE, observations=(Observation(3 * DAY, 4 * DAY),), retracted_at=20 * DAY)
    assert moments(teller(seen), [seen], []) == [DAY, 4 * DAY, 20 * DAY]
    assert moments(teller(ONE, NEXT), [ONE], [replace(PENDING, decided_at=95 * DAY)]) == [DAY, 5 * DAY, 90 * DAY, 95 * DAY]


def test_a_record_without_rules_is_read_too() -> None:
    change = change_of("o", "turn", "user", DAY, outcome(["m1", "new", None, None]))
    assert (change.rulings[0].verdict, change.rulings[0].rule) == ("new", None)
    assert change_of("o", "relate", "user", DAY, json.dumps({"relation": {}})).rulings == ()


def test_a_lifetime_ends_what_nothing_follows() -> None:
    assert until(teller(replace(ONE, lifetime=9 * DAY)), replace(ONE, lifetime=9 * DAY)) == 10 * DAY
    assert until(teller(ONE, NEXT), ONE) == 5 * DAY


# --- the paragraph


def told(*rows: Row) -> Told:
    found = teller(*rows)
    one, reason, ends = rows[0], because(found, rows[0]), until(found, rows[0])
    made = {one.recorded_at: change_of("o", "turn", "staff:7", one.recorded_at, outcome([one.mid, "new", None, None]))}
    policy = Policy("one", "versioned", False, None)
    over = None if ends is None else from_ms(ends)
    return Told(entry(found, one, (), made), reason, from_ms(one.valid_from), over, rivals(found, one), policy, None)


def test_the_paragraph_names_value_writer_verdict_and_reason_in_both_languages() -> None:
    text = paragraph(told(ONE, NEXT))
    for language in (text.zh, text.en):
        assert "Hangzhou" in language and "staff:7" in language and "Nanjing" in language and "1970-01-06" in language
    assert "取代" in text.zh and "took its place" in text.en and "{" not in text.zh + text.en


def test_a_pending_memory_is_never_worded_as_held() -> None:
    found = teller(ONE)
    waiting = Waiting("reversal_window", from_ms(90 * DAY), None, None)
    text = paragraph(Told(pending_entry(found, PENDING, (), {}), "pending", from_ms(90 * DAY), None, (), None, waiting))
    assert "尚待确认" in text.zh and "not confirmed" in text.en


def test_a_forgotten_value_is_in_no_paragraph() -> None:
    text = paragraph(told(ONE, replace(NEXT, tombstoned_at=50 * DAY)))
    assert "Nanjing" not in text.zh + text.en


def test_every_reason_has_a_sentence_and_every_policy_too() -> None:
    assert set(sayings().told) == set(TOLD)
    assert {f"policy_{k.policy}" for k in ONTOLOGY.keys} <= set(sayings().sentences)


def test_a_pack_with_an_unknown_placeholder_or_a_missing_sentence_is_refused(tmp_path: Path) -> None:
    good = (PACKS / "explain.yaml").read_text(encoding="utf-8")
    for old, new in (("{verdict}。", "{verdikt}。"), ("  lapsed:", "  gone:")):
        bad = tmp_path / "explain.yaml"
        bad.write_text(good.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(PackError):
            load_sayings(bad)
