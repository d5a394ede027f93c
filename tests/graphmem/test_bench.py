"""The bench's arithmetic: what holds, what a plan costs, how arms are compared."""

from __future__ import annotations

import json
import socket
import threading
from functools import partial
from pathlib import Path

import pytest

from bench.rig import hits_of
from bench.rows import row, summary, table, write
from bench.timing import Arm, Effort, p50, rates, ratio
from bench.wire import Relay, relay


@pytest.mark.parametrize(
    ("value", "target", "holds"),
    [(4.5, "<= 4.5", True), (4.6, "<= 4.5", False), (300, "< 300", False), (0.4, ">= 0.4", True), (3, "= 2", False), (9.9, "", None)],
)
def test_a_row_says_whether_its_target_is_held(value: float, target: str, holds: bool | None) -> None:
    assert row("x", value, "ms", target).holds is holds


def test_what_could_not_be_measured_does_not_hold() -> None:
    missing = row("help", None, "ms", "< 300")
    assert missing.holds is False
    assert "not measured" in table([missing])


def test_results_are_rows_of_five_fields_and_the_summary_counts_only_rows_with_a_target(tmp_path: Path) -> None:
    rows = [row("a", 1.23456, "x", "<= 2"), row("b", 3, "x", "<= 2"), row("c", 7, "ms")]
    write(rows, tmp_path / "results.json")
    read = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert read[0] == {"name": "a", "value": 1.235, "unit": "x", "target": "<= 2", "holds": True}
    assert summary(rows) == "1 of 2 rows with a target hold"


def test_db_hits_of_a_plan_are_those_of_all_its_operators() -> None:
    plan = {"dbHits": 1, "children": [{"dbHits": 20, "children": [{"dbHits": 300}]}, {"operatorType": "Argument"}]}
    assert hits_of(plan) == 321


def test_every_arm_is_asked_as_often_as_every_other_and_ratios_compare_the_same_round() -> None:
    asked: list[str] = []
    found = p50({name: Arm(partial(asked.append, name)) for name in ("a", "b", "c")}, Effort(rounds=2, requests=4))
    assert {name: asked.count(name) for name in found} == {"a": 10, "b": 10, "c": 10}
    assert ratio({"a": [2.0, 30.0, 4.0], "b": [1.0, 10.0, 4.0]}, "a", "b") == 2.0


def test_with_many_clients_each_works_under_its_own_number() -> None:
    seen: set[int] = set()
    found = rates({"arm": seen.add}, Effort(rounds=1, requests=5), clients=4)
    assert seen == {0, 1, 2, 3}
    assert len(found["arm"]) == 1


def test_a_wire_turn_is_counted_when_the_client_speaks_after_the_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            peer, _ = door.accept()
            with peer:
                while data := peer.recv(64):
                    peer.sendall(data.upper())

        server = threading.Thread(target=serve)
        server.start()
        made = Relay("127.0.0.1", door.getsockname()[1])
        with socket.create_connection(("127.0.0.1", made.port)) as client:

            def ask() -> None:
                client.sendall(b"ping")
                assert client.recv(64) == b"PING"

            def twice() -> None:
                ask()
                ask()

            assert made.counted(ask) == 1
            assert made.counted(twice) == 2
        made.close()
        server.join(10)
    with relay("neo4j://somewhere:7687") as nothing:
        assert nothing is None
