"""How often an operation goes to the graph, counted at the socket: the promise behind the milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from graphmem.answers import Ask, MemoryFilter, Remember, ShortTurn
from graphmem.app import Graphmem
from graphmem.memory import Kind, Turn
from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from tests.conftest import Neo4jServer
from tests.fakes_index import FakeIndex
from tests.graph_view import ago
from tests.wire import WireProxy


@pytest.fixture(scope="module")
def wire(neo4j_server: Neo4jServer) -> Iterator[WireProxy]:
    at = urlsplit(neo4j_server.uri)
    assert at.hostname is not None and at.port is not None
    with WireProxy(at.hostname, at.port) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def index() -> FakeIndex:
    return FakeIndex({"none": 1})


@pytest.fixture(scope="module")
def service(neo4j_server: Neo4jServer, wire: WireProxy, index: FakeIndex, graphmem: Graphmem) -> Iterator[Graphmem]:
    """A façade that reaches the graph through the proxy, its plans warm and one connection open."""
    neo4j = Neo4j(wire.uri, neo4j_server.user, neo4j_server.password)
    with Graphmem(graphmem.settings, neo4j, index, (), bytes(32)) as made:
        made.neo4j.ping()
        yield made


def counted(wire: WireProxy) -> tuple[int, tuple[int, int], int]:
    return wire.statements, wire.transactions, wire.flights


@pytest.mark.parametrize(
    "values",
    [["Hangzhou"], ["Hangzhou", "Nanjing"], ["Hangzhou", "Hangzhou"], ["Hangzhou", None]],
    ids=["new", "supersede", "reinforce", "end"],
)
def test_remember_is_two_statements_in_one_transaction_and_four_turns(
    service: Graphmem, wire: WireProxy, scope: Scope, values: list[str | None]
) -> None:
    *before, last = values
    for n, value in enumerate(before):
        service.remember(scope, Remember("home_city", value, said_at=ago(days=9 - n)))
    wire.reset()
    service.remember(scope, Remember("home_city", last, said_at=ago(days=1)))
    statements, transactions, flights = counted(wire)
    assert (statements, transactions) == (2, (1, 1)) and flights <= 4


def test_a_turn_with_several_memories_is_still_two_statements_in_one_transaction(service: Graphmem, wire: WireProxy, scope: Scope) -> None:
    service.inject(scope, Turn("你好。", session_id="s-1", turn_id="t-0"))
    service.inject(scope, Turn("你好呀。", session_id="s-1", turn_id="t-1"))
    wire.reset()
    done = service.inject(scope, Turn("我住在杭州，我对花生过敏，我喜欢喝拿铁。", session_id="s-1", turn_id="t-2"))
    statements, transactions, flights = counted(wire)
    assert len(done.stored) >= 2 and (statements, transactions) == (2, (1, 1)) and flights <= 4


def test_a_replayed_request_writes_nothing(service: Graphmem, wire: WireProxy, scope: Scope) -> None:
    service.remember(scope, Remember("home_city", "Hangzhou"), key="k")
    wire.reset()
    assert service.remember(scope, Remember("home_city", "Hangzhou"), key="k").replayed
    assert wire.statements == 2 and wire.flights <= 5  # the locked look, and the memory as it is now


def test_latest_is_one_statement_and_two_turns(service: Graphmem, wire: WireProxy, scope: Scope) -> None:
    service.remember(scope, Remember("coffee_preference", "latte"))
    for read in (
        lambda: service.latest(scope, "coffee_preference"),
        lambda: service.memories(scope),
        lambda: service.memories(scope, MemoryFilter(kind=Kind.PREFERENCE)),
        lambda: service.reader.latest(scope),
    ):
        wire.reset()
        assert read()
        assert wire.statements == 1 and wire.flights <= 2


def test_hydrate_is_one_statement_and_two_turns_for_fifty_candidates(service: Graphmem, wire: WireProxy, scope: Scope) -> None:
    mids = [m.memory.mid for n in range(3) if (m := service.remember(scope, Remember("hobby", f"puzzle {n}"))).memory]
    asked = mids + [f"mid-of-nobody-{n}" for n in range(47)]
    wire.reset()
    found = service.reader.hydrate(scope, {Kind.FACT: asked}, [(Kind.FACT, "hobby"), (Kind.PREFERENCE, "coffee_preference")])
    assert {r.mid for r in found.rows} == set(mids)
    assert wire.statements == 1 and wire.flights <= 2


def test_one_memory_and_its_history_are_one_statement_each(service: Graphmem, wire: WireProxy, scope: Scope) -> None:
    done = service.remember(scope, Remember("home_city", "Hangzhou"))
    assert done.memory is not None
    mid = done.memory.mid
    for read in (lambda: service.memory(scope, mid), lambda: service.history(scope, mid)):
        wire.reset()
        read()
        assert wire.statements == 1 and wire.flights <= 2


@pytest.mark.parametrize("message", ["Repeat the third point.", "请再说一遍第三点。", "Thanks!", "谢谢"])
def test_what_the_session_answers_makes_no_store_call(
    service: Graphmem, wire: WireProxy, index: FakeIndex, scope: Scope, message: str
) -> None:
    service.remember(scope, Remember("coffee_preference", "latte"))
    service.inject(scope, Turn("一、先热身。二、慢跑。三、拉伸。", session_id="s-1", turn_id="t-1"))
    history = (ShortTurn("assistant", "1. Warm up. 2. Jog. 3. Stretch."),)
    index.calls.clear()
    wire.reset()
    for ask in (Ask(message, session_id="s-1", history=history), Ask(message, session_id="s-1"), Ask(message)):
        recalled = service.recall(scope, ask)
        assert recalled.tier == "L1" and recalled.memories == () and recalled.receipt_id is None
    service._after.flush()
    assert (wire.sent, wire.flights, index.calls) == (0, 0, [])


def test_a_recall_from_the_graph_is_one_statement_beside_its_receipt(service: Graphmem, wire: WireProxy, scope: Scope) -> None:
    service.remember(scope, Remember("coffee_preference", "latte"))
    service._after.flush()
    wire.reset()
    recalled = service.recall(scope, Ask("what coffee do I usually drink?", tier="L2"))
    assert [h.memory.value for h in recalled.memories] == ["latte"]
    service._after.flush()
    assert wire.statements == 2
