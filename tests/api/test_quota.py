"""Limits of requests per user and per tenant, over REST and GraphQL alike; what is refused was not done."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import jwt
import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.main import create_app
from api.quota import Rates
from graphmem.errors import ConfigurationError
from graphmem.settings import Settings
from tests.api.conftest import KEYS, SECRET
from tests.api.stub import StubGraphmem

if TYPE_CHECKING:
    from graphmem.app import Graphmem

ACME = {"Authorization": "Bearer key-of-acme"}
BLUE = {"Authorization": "Bearer key-of-blue"}
Opened = Callable[[str, str], tuple[StubGraphmem, TestClient]]


@pytest.fixture
def limited() -> Opened:
    """A service with these limits (user, tenant); its counters are its own."""

    def opened(user: str, tenant: str) -> tuple[StubGraphmem, TestClient]:
        stub = StubGraphmem(Settings(rate_user=user, rate_tenant=tenant, token_secret=SecretStr(SECRET)))
        return stub, TestClient(create_app(cast("Graphmem", stub), keys=KEYS))

    return opened


def test_a_user_above_the_limit_is_told_when_to_come_back_and_nothing_was_done(limited: Opened) -> None:
    stub, client = limited("2/hour", "100/hour")
    answers = [client.get("/v1/users/ann/memories", headers=ACME) for _ in range(3)]
    assert [a.status_code for a in answers] == [200, 200, 429]
    assert len(stub.asked) == 2
    last = answers[2]
    assert last.json()["code"] == "rate_limited" and last.json()["type"] == "/errors/rate_limited"
    assert 1 <= int(last.headers["retry-after"]) <= 3600
    assert client.get("/v1/users/bob/memories", headers=ACME).status_code == 200


def test_every_answer_says_what_is_left_of_the_limits(limited: Opened) -> None:
    _, client = limited("5/minute", "9/hour")
    told = client.get("/v1/users/ann/memories", headers=ACME)
    assert told.headers["ratelimit-policy"] == '"user";q=5;w=60, "tenant";q=9;w=3600'
    found = re.fullmatch(r'"user";r=4;t=(\d+), "tenant";r=8;t=(\d+)', told.headers["ratelimit"])
    assert found is not None and int(found[1]) <= 60 and int(found[2]) <= 3600


def test_a_tenant_above_its_limit_takes_nothing_from_another(limited: Opened) -> None:
    _, client = limited("", "3/hour")
    assert [client.get(f"/v1/users/u{n}/memories", headers=ACME).status_code for n in range(4)] == [200, 200, 200, 429]
    assert client.get("/v1/users/u0/memories", headers=BLUE).status_code == 200


def test_a_user_above_the_limit_takes_nothing_from_the_tenant(limited: Opened) -> None:
    _, client = limited("1/hour", "3/hour")
    assert [client.get("/v1/users/ann/memories", headers=ACME).status_code for _ in range(5)] == [200, 429, 429, 429, 429]
    assert [client.get(f"/v1/users/{u}/memories", headers=ACME).status_code for u in ("bob", "cat", "dan")] == [200, 200, 429]


def test_the_same_person_is_counted_once_through_token_key_and_graphql(limited: Opened) -> None:
    _, client = limited("3/hour", "")
    token = jwt.encode({"tenant": "acme", "user": "ann li", "exp": 4_000_000_000}, SECRET, "HS256")
    query = {"query": "{ __typename }"}
    statuses = [
        client.get("/v1/me/memories", headers={"Authorization": f"Bearer {token}"}).status_code,
        client.get("/v1/users/ann%20li/memories", headers=ACME).status_code,
        client.post("/graphql", json=query, headers={**ACME, "X-Graphmem-User": "ann%20li"}).status_code,
        client.post("/graphql", json=query, headers={**ACME, "X-Graphmem-User": "ann%20li"}).status_code,
    ]
    assert statuses[:2] == [200, 200] and statuses[2] != 429 and statuses[3] == 429


def test_no_user_id_can_stand_for_another_ones_counter(limited: Opened) -> None:
    _, client = limited("1/hour", "")
    for user in ("a%2Fb", "a", "a%252Fb", "a%00b", "%FF", "%ED%A0%80"):
        assert client.get(f"/v1/users/{user}/memories", headers=ACME).status_code != 429, user


def test_who_has_no_credential_is_turned_away_and_uses_up_nobodys_limit(limited: Opened) -> None:
    _, client = limited("1/hour", "1/hour")
    for _ in range(3):
        assert client.get("/v1/users/ann/memories").status_code == 401
        assert client.get("/v1/users/ann/memories", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert client.get("/v1/users/ann/memories", headers=ACME).status_code == 200


def test_limits_hold_behind_a_prefix_and_what_is_personal_is_kept_by_no_cache_there(limited: Opened) -> None:
    _, plain = limited("1/hour", "")
    client = TestClient(plain.app, root_path="/memory")
    answers = [client.get("/memory/v1/users/ann/memories", headers=ACME) for _ in range(2)]
    assert [a.status_code for a in answers] == [200, 429]
    assert answers[0].headers["cache-control"] == "no-store"


def test_the_services_own_pages_are_not_counted(limited: Opened) -> None:
    _, client = limited("1/hour", "1/hour")
    assert {client.get("/livez", headers=ACME).status_code for _ in range(4)} == {200}


def test_without_limits_nothing_is_counted_and_no_header_is_sent(limited: Opened) -> None:
    _, client = limited("", "")
    answers = [client.get("/v1/users/ann/memories", headers=ACME) for _ in range(5)]
    assert {a.status_code for a in answers} == {200}
    assert "ratelimit" not in answers[0].headers


def test_many_at_once_do_not_pass_the_limit(limited: Opened) -> None:
    _, client = limited("10/hour", "")
    client.get("/v1/users/bob/memories", headers=ACME)  # the application builds itself at its first request
    found: list[int] = []

    def ask() -> None:
        for _ in range(5):
            found.append(client.get("/v1/users/ann/memories", headers=ACME).status_code)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (found.count(200), found.count(429)) == (10, 10)


@pytest.mark.parametrize("text", ["many", "5", "5/fortnight", "-1/minute", "0/0/minute"])
def test_a_limit_that_is_none_refuses_the_start(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is no limit") as refused:
        Rates.of(Settings(rate_user=text))
    assert "GRAPHMEM_RATE_USER" in (refused.value.hint or "")
