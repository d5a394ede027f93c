"""GraphQL subscriptions over a real web socket: the protocol, who may listen, what is refused before anything runs. Over the stub."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from threading import Event
from typing import Any

import jwt
import pytest
from fastapi import FastAPI
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from api import sockets
from api.live import LIVE_USER
from graphmem.errors import UnavailableError
from graphmem.scope import Scope
from graphmem.watching import Changed, Mark, UserKey
from tests.api.conftest import SECRET
from tests.api.stub import StubGraphmem
from tests.api.test_graphql_limits import ATTACKS
from tests.served import live, served

ACME = {"Authorization": "Bearer key-of-acme", "X-Graphmem-User": "alice"}
CHANGES = "subscription($since: Int) { memoryChanged(since: $since) { mid verdict revision memory { mid value } } }"


class Watched:
    """What the stub's façade tells of changes: those a test puts in. `asked` counts reads."""

    def __init__(self) -> None:
        self.written: list[tuple[UserKey, Changed]] = []
        self.erased: set[UserKey] = set()
        self.fault: Exception | None = None
        self.asked = 0

    def write(self, user: str = "alice", mid: str = "m-1", tenant: str = "acme") -> None:
        person = (tenant, user)
        revision = 1 + sum(p == person for p, _ in self.written)
        at = datetime(2024, 7, 15, 2, 0, tzinfo=UTC)
        self.written.append((person, Changed(mid, "new", None, None, "remember", "user", at, revision)))

    def marks(self, people: Sequence[UserKey]) -> Mapping[UserKey, Mark]:
        if self.fault is not None:
            raise self.fault
        known = {p for p, _ in self.written} | self.erased
        return {p: Mark(sum(q == p for q, _ in self.written), p in self.erased) for p in people if p in known}

    def since(self, scope: Scope, revision: int) -> tuple[list[Changed], int, bool]:
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        told = [c for p, c in self.written if p == (scope.tenant, scope.user) and c.revision > revision]
        return told, told[-1].revision if told else revision, False


@pytest.fixture
def watched(stub: StubGraphmem, monkeypatch: pytest.MonkeyPatch) -> Watched:
    made = Watched()
    monkeypatch.setattr(stub, "watching", made, raising=False)
    return made


@pytest.fixture
def port(app: FastAPI, watched: Watched, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(app.state.graphmem.live, "_seconds", 0.05)
    with served(app) as port:
        yield port
    assert app.state.graphmem.live.count() == 0, "a subscription outlived its socket"


def token(user: str = "alice", seconds: float = 60, **more: object) -> dict[str, str]:
    claims = {"exp": time.time() + seconds, "tenant": "acme", "user": user, **more}
    return {"Authorization": f"Bearer {jwt.encode(claims, SECRET, 'HS256')}"}


def told(heard: dict[str, Any]) -> dict[str, Any]:
    assert heard["type"] == "next", heard
    found: dict[str, Any] = heard["payload"]["data"]["memoryChanged"]
    return found


# --- the protocol


def test_a_subscriber_is_told_each_write_in_order_and_the_memory_as_it_is(port: int, watched: Watched) -> None:
    with live(port) as wire:
        wire.begin(ACME).subscribe(CHANGES)
        wait_for_reads(watched)
        watched.write()
        watched.write(mid="m-gone")
        first, second = wire.heard(), wire.heard()
    assert told(first) == {"mid": "m-1", "verdict": "new", "revision": 1, "memory": {"mid": "m-1", "value": "燕麦拿铁"}}
    assert told(second) == {"mid": "m-gone", "verdict": "new", "revision": 2, "memory": None} and first["id"] == "1"


def wait_for_reads(watched: Watched, count: int = 1) -> None:
    until = time.monotonic() + 20
    while watched.asked < count:
        assert time.monotonic() < until
        with_a_pause()


def with_a_pause() -> None:
    """Lets the server's thread work."""
    Event().wait(0.01)


@pytest.mark.parametrize("protocols", [("graphql-ws",), ("graphql-ws", "soap"), ()])
def test_the_legacy_protocol_and_no_protocol_are_refused(protocols: tuple[str, ...], port: int) -> None:
    with live(port, protocols=protocols, headers=ACME) as wire:
        assert wire.wire.subprotocol is None and wire.closed() == 4406


def test_a_client_that_offers_both_protocols_gets_the_living_one(port: int) -> None:
    with live(port, protocols=("graphql-ws", "graphql-transport-ws"), headers=ACME) as wire:
        assert wire.wire.subprotocol == "graphql-transport-ws"
        wire.begin()


def test_pings_are_answered_before_and_after_the_start(port: int) -> None:
    with live(port, headers=ACME) as wire:
        wire.send({"type": "ping"})
        assert wire.heard() == {"type": "pong"}
        wire.begin().send({"type": "ping", "payload": {"n": 1}})
        assert wire.heard() == {"type": "pong"}
        wire.send({"type": "pong"})
        wire.send({"type": "complete", "id": "unknown"})
        wire.send({"type": "ping"})
        assert wire.heard() == {"type": "pong"}


@pytest.mark.parametrize(
    ("first", "then", "code"),
    [
        ([], "no json", 4400),
        ([], "[]", 4400),
        ([], '{"type": 7}', 4400),
        ([], b"\x00\x01", 4400),
        ([], "[" * 100_000, 4400),
        ([], {"type": "start", "id": "1", "payload": {"query": CHANGES}}, 4400),
        ([], {"type": "connection_init", "payload": "x"}, 4400),
        ([], {"type": "connection_init", "payload": {"Authorization": 7}}, 4400),
        ([], {"type": "subscribe", "id": "1", "payload": {"query": CHANGES}}, 4401),
        (["init"], {"type": "connection_init"}, 4429),
        (["init"], {"type": "subscribe", "payload": {"query": CHANGES}}, 4400),
        (["init"], {"type": "subscribe", "id": "", "payload": {"query": CHANGES}}, 4400),
        (["init"], {"type": "subscribe", "id": "x" * 200, "payload": {"query": CHANGES}}, 4400),
        (["init"], {"type": "subscribe", "id": "1", "payload": {"queri": CHANGES}}, 4400),
        (["init"], {"type": "subscribe", "id": "1"}, 4400),
        (["init"], {"type": "gql_start"}, 4400),
        (["init", "subscribe"], {"type": "subscribe", "id": "1", "payload": {"query": CHANGES}}, 4409),
    ],
)
def test_what_is_not_the_protocol_ends_the_socket_with_its_code(first: list[str], then: object, code: int, port: int) -> None:
    with live(port, headers=ACME) as wire:
        if "init" in first:
            wire.begin()
        if "subscribe" in first:
            wire.subscribe(CHANGES)
        wire.send(then)
        assert wire.closed() == code


def test_a_socket_that_says_nothing_is_closed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "INIT_SECONDS", 0.1)
    with live(port, headers=ACME) as wire:
        assert wire.closed() == 4408


def test_a_message_above_the_size_is_refused(port: int) -> None:
    with live(port, headers=ACME) as wire:
        wire.begin().send("x" * 2**21)
        assert wire.closed() == 1009


# --- who listens


@pytest.mark.parametrize(
    "payload",
    [
        None,
        {},
        {"Authorization": "Bearer nobody", "X-Graphmem-User": "alice"},
        {"Authorization": "Bearer key-of-acme"},
        {"Authorization": "Bearer key-of-acme", "X-Graphmem-User": ""},
        {"Authorization": "Bearer key-of-acme", "X-Graphmem-User": "%00"},
        {**token("bob"), "X-Graphmem-User": "alice"},
        token(seconds=-60),
    ],
)
def test_without_a_valid_credential_for_one_user_nothing_is_told(payload: dict[str, object] | None, port: int, watched: Watched) -> None:
    with live(port) as wire:
        wire.send({"type": "connection_init", **({} if payload is None else {"payload": payload})})
        assert wire.closed() == 4403 and watched.asked == 0


def test_two_credentials_that_differ_are_refused(port: int) -> None:
    with live(port, headers=ACME) as wire:
        wire.send({"type": "connection_init", "payload": {"Authorization": "Bearer key-of-blue"}})
        assert wire.closed() == 4403


@pytest.mark.parametrize("where", ["headers", "payload", "both"])
def test_a_token_listens_for_its_own_user_by_header_or_by_payload(where: str, port: int, watched: Watched) -> None:
    mine = token("小李")
    with live(port, headers=mine if where != "payload" else None) as wire:
        wire.begin(mine if where != "headers" else None).subscribe(CHANGES)
        wait_for_reads(watched)
        watched.write("alice")
        watched.write("小李", tenant="blue")
        watched.write("小李", mid="m-li")
        assert told(wire.heard())["mid"] == "m-li"


def test_a_subscription_ends_when_its_token_expires(port: int, watched: Watched) -> None:
    with live(port) as wire:
        wire.begin(token(seconds=-29)).subscribe(CHANGES)
        heard = wire.heard()
        assert (heard["id"], heard["type"], heard["payload"][0]["extensions"]["code"]) == ("1", "error", "unauthorized")
        assert wire.closed() == 4403


def test_a_subscription_ends_when_its_user_is_erased(port: int, watched: Watched) -> None:
    watched.write()
    with live(port, headers=ACME) as wire:
        wire.begin().subscribe(CHANGES)
        wait_for_reads(watched)
        watched.erased.add(("acme", "alice"))
        heard = wire.heard()
        assert (heard["type"], heard["payload"][0]["extensions"]["code"]) == ("error", "erased")
        wire.subscribe(CHANGES, "2")
        assert wire.heard()["payload"][0]["extensions"]["code"] == "erased"


def test_a_user_whose_node_is_gone_is_gone(port: int, watched: Watched) -> None:
    watched.write()
    with live(port, headers=ACME) as wire:
        wire.begin().subscribe(CHANGES)
        wait_for_reads(watched)
        watched.written.clear()
        assert wire.heard()["payload"][0]["extensions"]["code"] == "erased"


def test_a_user_has_a_limited_number_of_subscriptions_over_all_sockets(port: int, app: FastAPI, watched: Watched) -> None:
    with live(port, headers=ACME) as one, live(port, headers=ACME) as two:
        one.begin()
        two.begin()
        for n in range(LIVE_USER):
            (one if n % 2 else two).subscribe(CHANGES, f"s{n}")
        wait_for_reads(watched, LIVE_USER)
        one.subscribe(CHANGES, "more")
        heard = one.heard()
        assert (heard["id"], heard["type"], heard["payload"][0]["extensions"]["code"]) == ("more", "error", "rate_limited")
        one.send({"type": "complete", "id": "s1"})
        one.subscribe(CHANGES, "again")
        wait_for_reads(watched, LIVE_USER + 1)
        assert app.state.graphmem.live.count(("acme", "alice")) == LIVE_USER
    with live(port, headers={**ACME, "X-Graphmem-User": "bob"}) as other:
        other.begin().subscribe(CHANGES)
        wait_for_reads(watched, LIVE_USER + 2)


# --- refused before anything runs


@pytest.mark.parametrize(
    "query",
    [
        "{ health { ready } }",
        'mutation { forget(input: {mid: "m-1"}) { forgottenMid } }',
        "subscription { memoryChanged { mid } health { ready } }",
        "subscription { a: memoryChanged { mid } b: memoryChanged { mid } }",
        "subscription { memoryChanged { mid } } query q { health { ready } }",
        "subscription { __schema { types { name } } }",
        "subscription { memoryChange { mid } }",
        "subscription { memoryChanged { memory { relations(first: 100) { memory { sources(first: 100) { quote } } } } } }",
        "subscription { memoryChanged { memory { relations { memory { mid } } } } }",
        "subscription($since: Int!) { memoryChanged(since: $since) { mid } }",
        "subscription { ...a } fragment a on Subscription { ...a }",
        *[query for name, (query, _) in ATTACKS.items() if name != "no first inside"][:6],
    ],
)
def test_what_is_no_bounded_subscription_is_refused_and_the_socket_lives(query: str, port: int, stub: StubGraphmem) -> None:
    with live(port, headers=ACME) as wire:
        wire.begin().subscribe(query)
        heard = wire.heard()
        assert heard["type"] == "error" and "did you mean" not in str(heard).lower()
        assert stub.asked == []
        wire.send({"type": "ping"})
        assert wire.heard() == {"type": "pong"}


def test_a_subscription_by_post_is_refused_with_the_way_to_go(client: Any, stub: StubGraphmem) -> None:
    answer = client.post("/graphql", json={"query": CHANGES}, headers={"X-Graphmem-User": "alice"})
    assert answer.status_code == 400 and "graphql-transport-ws" in answer.json()["errors"][0]["message"] and stub.asked == []


def test_a_socket_that_begins_without_end_is_closed(port: int) -> None:
    with live(port, headers=ACME) as wire:
        wire.begin()
        with suppress(ConnectionClosed):  # the service may close before the last is sent
            for n in range(sockets.OPERATIONS * 4):
                wire.subscribe(CHANGES, f"s{n}")
        assert wire.closed() == 4400


# --- faults


def test_a_store_that_is_away_only_delays(port: int, watched: Watched) -> None:
    with live(port, headers=ACME) as wire:
        wire.begin().subscribe(CHANGES)
        wait_for_reads(watched)
        watched.fault = UnavailableError("Neo4j does not answer", store="neo4j")
        watched.write()
        with pytest.raises(TimeoutError):
            wire.heard(0.3)
        watched.fault = None
        assert told(wire.heard())["mid"] == "m-1"


def test_a_service_that_has_no_store_yet_says_try_again(port: int, app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise UnavailableError("the service is starting", store="neo4j")

    monkeypatch.setattr(app.state.graphmem.opener, "graphmem", away)
    with live(port, headers=ACME) as wire:
        wire.send({"type": "connection_init"})
        assert wire.closed() == 1013


def test_a_fault_is_masked(port: int, watched: Watched) -> None:
    watched.fault = RuntimeError("bolt://secret-host and 青霉素")
    with live(port, headers=ACME) as wire:
        wire.begin().subscribe(CHANGES)
        heard = wire.heard()
    assert heard["payload"][0]["message"] == "Unexpected error" and "secret" not in str(heard)


def test_other_addresses_have_no_web_socket(port: int) -> None:
    with pytest.raises((InvalidHandshake, ConnectionClosed)), connect(f"ws://127.0.0.1:{port}/v1/me", proxy=None) as wire:
        wire.recv(timeout=5)
