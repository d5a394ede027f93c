"""Relations, cohorts, timeline and why over REST: what is asked of the façade, who may ask, how it is told."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

import jwt
import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.main import create_app
from graphmem.cohorts import Cohort, CohortQuery, CohortUser, Member
from graphmem.errors import RefusedError
from graphmem.explain import Entry, Evidence, Policy, Rival, Timeline, Touch, Waiting, Why
from graphmem.memory import Standing, Status, Text2
from graphmem.relations import Hop, Related, RelatedPage, Relation, RelationType
from graphmem.scope import Scope, TenantScope
from graphmem.settings import Settings
from graphmem.timeline import TimelineQuery
from tests.api.stub import AT, MEMORY

if TYPE_CHECKING:
    from graphmem.app import Graphmem

SECRET = "a-secret-of-thirty-two-bytes-and-more"
RELATION = Relation("m-1.a", RelationType.HAS_CONDITION, "m-1", "m-2", 0.5, AT)
HOP = Hop(RelationType.HAS_CONDITION, "m-1", "m-2", 0.5, "m-1.a")
CITED = Evidence("m-1", "turn", "s/t", AT, AT, True, "s", "t", (0, 4), "燕麦拿铁")
ENTRY = Entry(MEMORY, "new", None, "coffee.zh.1", 0.97, (CITED,), (Touch("recorded", AT, "user", "turn"),), "m-0", None)
RIVAL = Rival("m-0", "superseded", "美式", "+", 1, AT, Status.SUPERSEDED)
POLICY = Policy("chosen", "versioned", False, 180.0)
WHY = Why(ENTRY, True, "told", (RIVAL,), POLICY, Waiting("dual", AT, None, None), Text2("因为", "because"))
MEMBER = Member("alice", "m-1", "self", "青霉素", Standing.STATED, AT, "1|acme|alice|F|allergy|self|drug:penicillin")


class Explaining:
    """A façade that notes what it was asked."""

    def __init__(self) -> None:
        self.settings = Settings(zone="Asia/Shanghai", token_secret=SecretStr(SECRET))
        self.asked: list[tuple[object, ...]] = []
        self.made = RELATION

    def relate(self, scope: Scope, kind: RelationType, a: str, b: str, weight: float = 1.0, *, key: str | None = None) -> Relation:
        self.asked.append((scope.user, kind, a, b, weight, key))
        return self.made

    def unrelate(self, scope: Scope, rid: str) -> Relation:
        self.asked.append((scope.user, rid))
        return replace(RELATION, valid_to=AT)

    def related(
        self, scope: Scope, mid: str, *, depth: int, as_of: datetime | None, known_at: datetime | None,
        types: Collection[RelationType] | None, limit: int,
    ) -> RelatedPage:  # fmt: skip
        self.asked.append((mid, depth, as_of, known_at, types, limit))
        return RelatedPage(mid, True, (Related(MEMORY, 1, 0.5, (HOP,)),), (), 42)

    def why(self, scope: Scope, mid: str) -> Why:
        self.asked.append((scope.user, mid))
        return WHY

    def timeline(self, scope: Scope, query: TimelineQuery) -> Timeline:
        self.asked.append((scope.user, query))
        return Timeline((ENTRY,), "next-one", True, 2, 42)

    def cohort(self, scope: TenantScope, query: CohortQuery) -> Cohort:
        self.asked.append((scope, query))
        if "cohort" not in scope.rights:
            raise RefusedError("no", code="forbidden")
        return Cohort(query.key, "drug:penicillin", (CohortUser("alice", (MEMBER,)),), "k", True, False)


@pytest.fixture
def facade() -> Explaining:
    return Explaining()


@pytest.fixture
def client(facade: Explaining) -> Iterator[TestClient]:
    app = create_app(cast("Graphmem", facade), keys={"key-of-acme": "acme"})
    with TestClient(app, headers={"Authorization": "Bearer key-of-acme"}) as opened:
        yield opened


def token(**claims: Any) -> dict[str, str]:
    base = {"tenant": "acme", "user": "carol", "exp": time.time() + 60}
    return {"Authorization": f"Bearer {jwt.encode({**base, **claims}, SECRET, algorithm='HS256')}"}


BODY = {"type": "HAS_CONDITION", "from_mid": "m-1", "to_mid": "m-2", "weight": 0.5}


def test_one_that_stood_already_is_told_with_200_and_a_new_one_with_201(client: TestClient, facade: Explaining) -> None:
    first = client.post("/v1/users/alice/relations", json=BODY, headers={"Idempotency-Key": "k"})
    assert (first.status_code, first.json()["rid"], first.json()["valid_from"]) == (201, "m-1.a", "2024-07-15T02:00:00.000+00:00")
    assert facade.asked == [("alice", RelationType.HAS_CONDITION, "m-1", "m-2", 0.5, "k")]
    facade.made = replace(RELATION, created=False)
    assert client.post("/v1/users/alice/relations", json=BODY).status_code == 200


@pytest.mark.parametrize(
    "wrong",
    [{"type": "TEMPORAL_NEXT"}, {"type": "A`) DETACH DELETE n //"}, {"weight": 0}, {"weight": 1.1}, {"to_mid": ""}, {"tenant": "blue"}],
)
def test_other_types_weights_and_fields_never_reach_the_core(client: TestClient, facade: Explaining, wrong: dict[str, object]) -> None:
    assert client.post("/v1/users/alice/relations", json={**BODY, **wrong}).status_code == 422 and facade.asked == []


def test_a_relation_is_ended_by_its_id(client: TestClient, facade: Explaining) -> None:
    ended = client.delete("/v1/users/alice/relations/m-1.a")
    assert ended.json()["valid_to"] is not None and facade.asked == [("alice", "m-1.a")]


def test_related_memories_come_with_their_path(client: TestClient, facade: Explaining) -> None:
    found = client.get("/v1/users/alice/memories/m-1/related", params={"depth": 3, "types": "HAS_CONDITION, DERIVED_FROM", "limit": 5})
    (item,) = found.json()["items"]
    assert (item["depth"], item["memory"]["mid"], item["path"]) == (1, "m-1", [
        {"type": "HAS_CONDITION", "from_mid": "m-1", "to_mid": "m-2", "weight": 0.5, "rid": "m-1.a"}
    ])  # fmt: skip
    assert facade.asked == [("m-1", 3, None, None, frozenset({RelationType.HAS_CONDITION, RelationType.DERIVED_FROM}), 5)]
    for wrong in ({"depth": 4}, {"depth": 0}, {"types": "KNOWS"}, {"hops": 1}):
        assert client.get("/v1/users/alice/memories/m-1/related", params=wrong).status_code == 422


def test_why_is_told_whole(client: TestClient) -> None:
    told = client.get("/v1/users/alice/memories/m-1/why").json()
    assert (told["told"], told["because"], told["text"]) == (True, "told", {"zh": "因为", "en": "because"})
    assert told["entry"]["sources"][0]["quote"] == "燕麦拿铁" and told["entry"]["touches"][0]["actor"] == "user"
    assert told["rivals"][0]["did"] == "superseded" and told["waiting"]["reason"] == "dual" and told["policy"]["lifetime_days"] == 180.0


def test_a_timeline_is_paged_by_a_link_and_its_times_are_the_tenants(client: TestClient, facade: Explaining) -> None:
    asked = {"key": "coffee_preference", "order": "recorded", "as_of": "2024-07-15T10:00:00"}
    found = client.get("/v1/users/alice/timeline", params=asked)
    assert found.json()["total"] == 2 and 'rel="next"' in found.headers["link"] and "cursor=next-one" in found.headers["link"]
    assert facade.asked == [("alice", TimelineQuery("coffee_preference", None, "recorded", AT, None, 20, None))]
    assert client.get("/v1/users/alice/timeline", params={"order": "random"}).status_code == 422


def test_a_cohort_needs_its_right_from_the_credential_alone(client: TestClient, facade: Explaining) -> None:
    asked = {"key": "allergy", "concept": "penicillin"}
    assert client.get("/v1/cohorts", params=asked).status_code == 403
    assert client.get("/v1/cohorts", params=asked, headers=token()).status_code == 403
    assert client.get("/v1/cohorts", params={**asked, "tenant": "blue"}, headers=token(rights=["cohort"])).status_code == 422
    found = client.get("/v1/cohorts", params=asked, headers=token(rights=["cohort"]))
    assert found.status_code == 200 and found.json()["items"][0]["user_id"] == "alice" and "place" not in found.text
    assert 'rel="next"' in found.headers["link"] and "/v1/cohorts?" in found.headers["link"]
    assert facade.asked[-1][0] == TenantScope("acme", "user:carol", frozenset({"cohort"}))


def test_a_reviewer_who_asks_for_a_cohort_is_named(client: TestClient, facade: Explaining) -> None:
    headers = token(rights=["cohort"], act={"sub": "staff:17"})
    client.get("/v1/cohorts", params={"key": "allergy", "concept": "penicillin"}, headers=headers)
    assert cast(TenantScope, facade.asked[-1][0]).principal == "staff:17"
