"""Every kind of evaluation line, asked of the real stores in a throw-away tenant."""

from __future__ import annotations

import json
from pathlib import Path

from graphmem.app import Graphmem
from graphmem.commands.frame import Exit
from graphmem.evalfile import Suite, parse
from graphmem.evalreport import Report
from graphmem.evaltarget import StoredTarget, evaluated, merged
from tests.conftest import Neo4jServer
from tests.terminal import Terminal, environment


def _suite(*lines: dict[str, object]) -> Suite:
    return parse([json.dumps(line) for line in lines], "lines")


def _report(graphmem: Graphmem, *lines: dict[str, object]) -> Report:
    with StoredTarget(graphmem) as target:
        return evaluated(_suite(*lines), target)


def test_labels_predict_what_is_stored_and_none_where_nothing_is(graphmem: Graphmem) -> None:
    said: dict[str, object] = {"kind": "label", "domain": "medical", "subject": "self", "polarity": "+", "memory_type": "fact"}
    report = _report(
        graphmem,
        {**said, "id": "a", "lang": "en", "text": "I'm allergic to penicillin.", "predicate": "allergy", "value": "penicillin"},
        {**said, "id": "b", "lang": "zh", "text": "我住在杭州。", "predicate": "home_city", "value": "杭州"},
        {"kind": "label", "id": "c", "lang": "en", "text": "What time is it?", "memory_type": "none"},
    )
    assert report.score("label", "all right").hits == 3
    assert report.predictions[2] == {"id": "c", "memory_type": "none"}
    assert report.score("label", "safety recall").hits == 1


def test_a_dialogue_is_answered_as_of_the_moment_asked(graphmem: Graphmem) -> None:
    def asked(qid: str, as_of: str, **more: object) -> dict[str, object]:
        return {"qid": qid, "as_of": as_of, "predicate": "seat_preference", **more}

    report = _report(
        graphmem,
        {
            "dialogue": "d",
            "lang": "en",
            "sessions": [
                {"session": "S1", "time": "2026-03-01T09:00:00+01:00", "turns": [{"text": "I always take the aisle seat."}]},
                {"session": "S2", "time": "2026-05-02T18:00:00+02:00", "turns": [{"text": "From now on I'd like a window seat, please."}]},
            ],
            "queries": [
                asked("before", "2026-02-01T12:00:00+00:00", answer=None),
                asked("past", "2026-04-01T12:00:00+02:00", answer="aisle", answer_any=["aisle seat"]),
                asked("now", "2026-06-01T12:00:00+02:00", answer="window", answer_any=["window seat"], stale=["aisle", "aisle seat"]),
                asked("about", "2026-06-01T12:00:00+02:00", about="window seat", answer="like"),
            ],
        },
    )
    assert (report.score("dialogue", "exact").hits, report.score("dialogue", "stale told").hits) == (4, 0)


def test_a_case_lists_edges_of_every_status_at_the_last_turn(graphmem: Graphmem) -> None:
    def edge(polarity: str, status: str) -> dict[str, object]:
        return {"subject": "user", "kind": ["preference"], "object_any": ["fondue"], "polarity": polarity, "status": status}

    report = _report(
        graphmem,
        {
            "id": "c",
            "lang": "en",
            "turns": [
                {"at": "2026-01-12T18:00:00+00:00", "text": "I really enjoy fondue."},
                {"at": "2026-02-25T18:00:00+00:00", "text": "I can't stand fondue any more."},
            ],
            "expect": {"must": [edge("-", "active"), edge("+", "superseded")], "must_not": [edge("+", "active")]},
        },
    )
    assert report.score("case", "right").hits == 1, report.misses


def test_evidence_is_ranked_by_the_turns_own_ids(graphmem: Graphmem) -> None:
    said = ["I went hiking on the ridge with my cousin.", "The boiler was repaired yesterday.", "Her wedding is in Lyon."]
    turns: list[dict[str, object]] = [
        {"kind": "turn", "user": "u", "id": f"D{n}", "session": "D", "time": "2026-05-08T13:56:00+00:00", "speaker": "Ann", "text": text}
        for n, text in enumerate(said)
    ]
    asked: dict[str, object] = {"kind": "question", "user": "u", "qid": "q", "text": "Who repaired the boiler?", "gold": ["D1"]}
    report = _report(graphmem, *turns, asked)
    assert report.score("retrieval", "MRR").rate == 1


def test_updates_follow_the_declared_operation_alone(graphmem: Graphmem) -> None:
    def update(id_: str, at: str, op: str, value: str | None, old: str | None = None, polarity: str = "+") -> dict[str, object]:
        fields = {"id": id_, "time": f"2024-{at}T00:00:00+00:00", "op": op, "value": value, "old_value": old, "polarity": polarity}
        return {"kind": "update", "user": "u", "key": "drink_preference", **fields}

    def state(qid: str, at: str, *current: tuple[str, str]) -> dict[str, object]:
        fields = {"qid": qid, "as_of": f"2024-{at}T00:00:00+00:00", "current": [list(pair) for pair in current]}
        return {"kind": "state", "user": "u", "key": "drink_preference", **fields}

    report = _report(
        graphmem,
        update("1", "01-01", "add", "cold brew"),
        update("2", "01-02", "add", "cola", polarity="-"),
        update("3", "02-01", "modify", "matcha", "cold brew"),
        update("4", "03-01", "delete", None, "cola"),
        update("5", "03-02", "add", "matcha", polarity="-"),
        state("january", "01-15", ("+", "cold brew"), ("-", "cola")),
        state("february", "02-15", ("+", "matcha"), ("-", "cola")),
        state("march", "03-01", ("+", "matcha")),
        state("a year later, nothing lapses", "12-30", ("-", "matcha")),
    )
    assert report.score("update", "exact set").hits == 4, report.misses


def test_nothing_of_an_evaluation_stays_behind(graphmem: Graphmem) -> None:
    target = StoredTarget(graphmem)
    with target:
        evaluated(_suite({"kind": "label", "id": "a", "lang": "en", "text": "I live in Leeds.", "memory_type": "none"}), target)
        assert _nodes(graphmem, target.tenant) > 3
    assert _nodes(graphmem, target.tenant) == 0


def _nodes(graphmem: Graphmem, tenant: str) -> int:
    """Of any label: a new one that a wipe does not know is found here."""
    found = graphmem.neo4j.text("MATCH (n {tenant_id: $tenant}) RETURN count(n) AS nodes", {"tenant": tenant})
    return int(found[0]["nodes"])


def test_the_command_prints_scores_and_writes_predictions(graphmem: Graphmem, neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    label = {
        "kind": "label",
        "id": "a",
        "lang": "en",
        "text": "I live in Leeds.",
        "memory_type": "fact",
        "predicate": "home_city",
        "value": "York",
    }
    lines.write_text(json.dumps({**label, "predicate": "home_city", "value": "York"}), encoding="utf-8")
    terminal = Terminal(environment(neo4j_server, tmp_path), "eval")
    told = terminal.run("eval", str(lines), "--predictions", str(tmp_path / "out.jsonl"), "--misses", "1", "-o", "json")
    assert told.code == Exit.OK
    answer = json.loads(told.data)
    assert [s["hits"] for s in answer["scores"] if (s["name"], s["group"]) == ("all right", "all")] == [0]
    assert answer["misses"][0]["id"] == "a"
    assert json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8"))["value"] == "Leeds"


def test_several_files_are_one_suite() -> None:
    one = _suite({"kind": "label", "id": "a", "lang": "en", "text": "Hello", "memory_type": "none"})
    assert [label.id for label in merged([one, one]).labels] == ["a", "a"]
