"""The same twenty steps through REST, GraphQL and the command line give the same graph; what one door refuses, all refuse."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path
from typing import Any

import jwt
import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.main import create_app
from graphmem.app import Graphmem
from tests.conftest import Neo4jServer, new_tenant
from tests.doors import CommandLine, Door, DoorRefusedError, Graph, Rest
from tests.graph_view import ago
from tests.terminal import Terminal, environment

USER = "宁"
SECRET = "a-secret-of-thirty-two-bytes-and-more"
OLD = {
    name: ago(days=days).isoformat(timespec="milliseconds")
    for name, days in {"month": 40, "weeks": 20, "week": 9, "days": 2, "day": 1}.items()
}
"""When things were said: the same instants for every door."""


def _steps() -> list[tuple[str, Callable[[Door, dict[str, str]], str | None]]]:
    """(name, act): what was made before is named by its step."""

    def said(text: str, at: str, turn: str) -> Callable[[Door, dict[str, str]], str | None]:
        return lambda door, _: door.inject(turn, text, OLD[at])

    def stated(key: str, value: str, **more: Any) -> Callable[[Door, dict[str, str]], str | None]:
        return lambda door, _: door.remember(key, value, **dict(more))

    def settled(act: str, step: str) -> Callable[[Door, dict[str, str]], str | None]:
        return lambda door, made: door.settle(act, made[step])

    return [
        ("coffee", said("我平时喝美式。", "month", "t-1")),
        ("home", said("I live in Leeds.", "month", "t-2")),
        ("question", said("Is it raining?", "month", "t-3")),
        ("moved", said("I've moved to Hull.", "weeks", "t-4")),
        ("allergy", said("我对青霉素过敏。", "weeks", "t-5")),
        ("other coffee", said("我改喝燕麦拿铁了。", "week", "t-6")),
        ("loved", said("I love sushi.", "days", "t-7")),
        ("hated", said("I hate sushi.", "day", "t-8")),
        ("confirmed", settled("confirm", "hated")),
        ("heard again", said("我对青霉素过敏。", "weeks", "t-5")),
        ("work", stated("employer", "Kiln and Sons", source="document", ref="form-7")),
        ("other work", stated("employer", "Harbour Works", expected_version=1, op="k-1")),
        ("stated again", stated("employer", "Harbour Works", expected_version=1, op="k-1")),
        ("changed work", lambda door, made: door.change(made["other work"], "Mill Lane", "north")),
        ("medication", stated("medication", "metformin", valid_from=OLD["week"])),
        ("disease", stated("disease", "diabetes")),
        ("related", lambda door, made: door.relate("HAS_CONDITION", made["medication"], made["disease"])),
        ("retracted", settled("retract", "other coffee")),
        ("event", lambda door, _: door.event("address_changed", {"city": "York"}, "c-1")),
        ("forgotten", settled("forget", "confirmed")),
    ]


STEPS = _steps()


@contextmanager
def doors(graphmem: Graphmem, server: Neo4jServer, folder: Path) -> Iterator[list[tuple[str, Door]]]:
    """(tenant, door): each door into a tenant of its own, for the same user."""
    settings = graphmem.settings.model_copy(update={"token_secret": SecretStr(SECRET)})
    rest, graph, line = (new_tenant() for _ in range(3))
    app = create_app(graphmem, settings)
    with ExitStack() as stack:

        def client(tenant: str) -> TestClient:
            token = jwt.encode({"tenant": tenant, "user": USER, "exp": int(time.time()) + 3600}, SECRET, "HS256")
            return stack.enter_context(TestClient(app, headers={"Authorization": f"Bearer {token}"}))

        terminal = Terminal(environment(server, folder / "home"), line, USER)
        yield [(rest, Rest(client(rest))), (graph, Graph(client(graph))), (line, CommandLine(terminal, folder))]


def walk(door: Door) -> None:
    made: dict[str, str] = {}
    for name, act in STEPS:
        found = act(door, made)
        if found is not None:
            made[name] = found
    assert made["heard again"] == made["allergy"] and made["stated again"] == made["other work"] and "question" not in made


# --- two dumps beside each other

IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?:\.[0-9a-f]{12})?")
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:\d{3})?\+00:00|\b1[789]\d{11}\b")
OF_IDS = ("change", "relate", "retract", "confirm", "forget")
"""Routes whose request names a memory: its hash differs from tenant to tenant."""


def dump(graphmem: Graphmem, tenant: str) -> list[str]:
    """The canonical export; ids by their first appearance, times that a clock gave by their order; what was said when stays as it is."""
    text = "".join(_line(line) for line in graphmem.export(tenant))
    ids = {found: f"id-{n}" for n, found in enumerate(dict.fromkeys(IDS.findall(text)))}
    known = {_ms(datetime.fromisoformat(at).astimezone(UTC)) for at in OLD.values()}
    clock = sorted({_instant(found) for found in TIMES.findall(text)} - known)
    rank = {at: f"clock-{n}" for n, at in enumerate(clock)}
    text = TIMES.sub(lambda m: rank.get(_instant(m[0]), str(_instant(m[0]))), text)
    return IDS.sub(lambda m: ids[m[0]], text).splitlines()


def _line(line: str) -> str:
    record = json.loads(line)
    if record.get("type") == "change" and record["node"]["route"] in OF_IDS:
        del record["node"]["request_hash"]
    return json.dumps(record, ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def _instant(text: str) -> int:
    return int(text) if text.isdigit() else _ms(datetime.fromisoformat(text))


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def test_twenty_steps_through_each_door_give_the_same_graph(graphmem: Graphmem, neo4j_server: Neo4jServer, tmp_path: Path) -> None:
    assert len(STEPS) == 20
    with doors(graphmem, neo4j_server, tmp_path) as opened:
        for _, door in opened:
            walk(door)
    dumps = {door.name: dump(graphmem, tenant) for tenant, door in opened}
    first = dumps.pop("REST")
    assert sum('"type": "memory"' in line for line in first) >= 12
    for name, lines in dumps.items():
        assert "\n".join(unified_diff(first, lines, "REST", name, lineterm="", n=8)) == ""
    for tenant, _ in opened:
        assert [b for report in graphmem.check(tenant) for b in report.breaks if "point" not in b.kind] == []


UNKNOWN = "01900000-0000-7000-8000-000000000000"
REFUSED: dict[str, tuple[str, Callable[[Door], object]]] = {
    "an unknown memory": ("not_found", lambda door: door.settle("retract", UNKNOWN)),
    "a relation to nothing": ("not_found", lambda door: door.relate("CONTRADICTS", UNKNOWN, UNKNOWN.replace("7000", "7001"))),
    "a version nobody saw": ("version_conflict", lambda door: door.remember("employer", "Mill", expected_version=7)),
    "an unknown event": ("unknown_event", lambda door: door.event("parcel_lost", {}, "p-1")),
    "an open key without a kind": ("invalid_input", lambda door: door.remember("shade", "blue")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_one_door_refuses_all_refuse_with_the_same_code(
    case: str, graphmem: Graphmem, neo4j_server: Neo4jServer, tmp_path: Path
) -> None:
    code, act = REFUSED[case]
    with doors(graphmem, neo4j_server, tmp_path) as opened:
        for tenant, door in opened:
            with pytest.raises(DoorRefusedError) as refused:
                act(door)
            assert refused.value.code == code, (door.name, refused.value)
            assert not list(graphmem.export(tenant))[1:]
