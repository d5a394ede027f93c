"""Cases and proofs over REST: one façade call a route, the right from the credential, the user from the path."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import jwt
import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.main import create_app
from graphmem.cases import DeviceEnrolled, Evidence, Proof, ReviewCase, ReviewDecided, ReviewItem, ReviewPage, TotpEnrolled
from graphmem.errors import ConflictError, RefusedError
from graphmem.memory import Kind, Text2
from graphmem.scope import Scope
from graphmem.settings import Settings
from tests.api.stub import AT, MEMORY, StubGraphmem

if TYPE_CHECKING:
    from graphmem.app import Graphmem

SECRET = "a-secret-of-thirty-two-bytes-and-more"
ITEM = ReviewItem("case/1", "user-1", "open", "review", Kind.FACT, "birthday", Text2("生日", "birthday"), "self", "m-9", "user", AT, AT)
CASE = ReviewCase(
    ITEM, (MEMORY,), replace(MEMORY, mid="m-9"), Text2("?", "?"), (Evidence("m-9", "s/t", "turn", AT, "我改了"),), ("approve", "reject")
)
PROOF = Proof("p-1", "m-9", "open", ("code", "channel"), AT, "ab" * 32)


class ReviewStub(StubGraphmem):
    """The stub with cases and proofs."""

    def reviews(self, scope: Scope, state: str | None = None, *, limit: int = 20, cursor: str | None = None) -> ReviewPage:
        self._note("reviews", scope, (state, limit, cursor))
        return ReviewPage((ITEM,), "next-place", True)

    def review(self, scope: Scope, case_id: str) -> ReviewCase:
        self._note("review", scope, case_id)
        return CASE

    def decide_review(self, scope: Scope, case_id: str, decision: str, note: str | None = None) -> ReviewDecided:
        self._note("decide_review", scope, (case_id, decision, note))
        return ReviewDecided(replace(ITEM, state="approved"), MEMORY, "m-0", False, 7)

    def start_proof(self, scope: Scope, mid: str) -> Proof:
        self._note("start_proof", scope, mid)
        return PROOF

    def submit_code(self, scope: Scope, case_id: str, code: str) -> Proof:
        self._note("submit_code", scope, (case_id, code))
        return PROOF

    def submit_totp(self, scope: Scope, case_id: str, code: str) -> Proof:
        self._note("submit_totp", scope, (case_id, code))
        return PROOF

    def submit_approval(self, scope: Scope, case_id: str, signature: bytes) -> Proof:
        self._note("submit_approval", scope, (case_id, signature))
        return replace(PROOF, state="applied", missing=(), applied=MEMORY)

    def enrol_totp(self, scope: Scope) -> TotpEnrolled:
        self._note("enrol_totp", scope, None)
        return TotpEnrolled("totp", "SECRET", "otpauth://totp/x", AT)

    def enrol_device(self, scope: Scope, public_key: bytes) -> DeviceEnrolled:
        self._note("enrol_device", scope, public_key)
        return DeviceEnrolled("device:1", AT)


@pytest.fixture(scope="module")
def desk() -> ReviewStub:
    return ReviewStub(Settings(token_secret=SecretStr(SECRET)))


@pytest.fixture(scope="module")
def door(desk: ReviewStub) -> Iterator[TestClient]:
    with TestClient(create_app(cast("Graphmem", desk), keys={"key-of-acme": "acme"})) as client:
        yield client


@pytest.fixture(autouse=True)
def _as_new(desk: ReviewStub) -> None:
    desk.reset()


def token(**claims: Any) -> dict[str, str]:
    body = {"tenant": "acme", "user": "staff-17", "act": {"sub": "staff:17"}, "exp": time.time() + 3600, **claims}
    return {"Authorization": f"Bearer {jwt.encode(body, SECRET, 'HS256')}"}


REVIEWER = token(rights=["review"])
SERVICE = {"Authorization": "Bearer key-of-acme"}


def test_the_right_to_review_comes_from_the_token_and_an_unknown_right_is_no_right(door: TestClient, desk: ReviewStub) -> None:
    for headers in (REVIEWER, token(rights=["review", "everything"]), token()):
        assert door.get("/v1/reviews", headers=headers).status_code == 200
    assert [scope.rights for _, scope, _ in desk.asked] == [{"review"}, {"review"}, frozenset()]
    assert desk.asked[0][1].principal == "staff:17" and desk.asked[0][1].tenant == "acme"
    assert door.get("/v1/reviews", headers=token(rights="review")).status_code == 401


def test_an_api_key_names_no_reviewer_and_nobody_reads_cases_without_a_credential(door: TestClient) -> None:
    assert door.get("/v1/reviews", headers=SERVICE).status_code == 403
    assert door.get("/v1/reviews").status_code == 401


def test_the_inbox_is_paged_and_names_its_next_page(door: TestClient, desk: ReviewStub) -> None:
    told = door.get("/v1/reviews?state=rejected&limit=2", headers=REVIEWER)
    assert desk.asked[-1][2] == ("rejected", 2, None)
    assert told.headers["Link"] == '</v1/reviews?state=rejected&limit=2&cursor=next-place>; rel="next"'
    assert told.json()["items"][0] == {
        "case_id": "case/1", "user_id": "user-1", "state": "open", "reason": "review", "kind": "fact", "key": "birthday",
        "label": {"zh": "生日", "en": "birthday"}, "subject": "self", "pending_mid": "m-9", "proposed_by": "user",
        "opened_at": "2024-07-15T02:00:00.000+00:00", "due_at": "2024-07-15T02:00:00.000+00:00", "decided_at": None, "decided_by": None,
        "decision": None, "note": None,
    }  # fmt: skip
    for query in ("state=none", "limit=0", "limit=101", "user=other"):
        assert door.get(f"/v1/reviews?{query}", headers=REVIEWER).status_code == 422


def test_a_case_is_shown_and_decided_by_its_exact_id(door: TestClient, desk: ReviewStub) -> None:
    shown = door.get("/v1/reviews/case%2F1", headers=REVIEWER).json()
    assert (shown["pending"]["mid"], shown["evidence"][0]["quote"], shown["decisions"]) == ("m-9", "我改了", ["approve", "reject"])
    done = door.post("/v1/reviews/case%2F1:decide", json={"decision": "approve", "note": "seen"}, headers=REVIEWER)
    assert done.status_code == 200 and done.json()["item"]["state"] == "approved" and done.json()["supersedes"] == "m-0"
    assert [(name, what) for name, _, what in desk.asked] == [("review", "case/1"), ("decide_review", ("case/1", "approve", "seen"))]
    for body in ({}, {"decision": "maybe"}, {"decision": "approve", "force": True}, {"decision": "approve", "note": "x" * 2_001}):
        assert door.post("/v1/reviews/c:decide", json=body, headers=REVIEWER).status_code == 422


def test_refusals_of_cases_and_proofs_keep_their_code(door: TestClient, desk: ReviewStub) -> None:
    said = []
    for fault in (ConflictError("moved", code="overtaken"), RefusedError("own", code="four_eyes"), RefusedError("no", code="proof_failed")):
        desk.fault = fault
        told = door.post("/v1/reviews/c:decide", json={"decision": "approve"}, headers=REVIEWER)
        said.append((told.status_code, told.json()["code"]))
    assert said == [(409, "overtaken"), (403, "four_eyes"), (403, "proof_failed")]


def test_proofs_are_of_the_user_of_the_path_or_of_the_token(door: TestClient, desk: ReviewStub) -> None:
    signature, key = b"s" * 64, b"k" * 32
    coded = {"signature": base64.b64encode(signature).decode(), "public_key": base64.b64encode(key).decode()}
    calls = [
        ("/proofs", {"mid": "m-9"}, 201), ("/proofs/p%2F1:code", {"code": "123456"}, 200), ("/proofs/p-1:totp", {"code": "654321"}, 200),
        ("/proofs/p-1:approve", {"signature": coded["signature"]}, 200), ("/factors/devices", {"public_key": coded["public_key"]}, 201),
    ]  # fmt: skip
    for base, headers in (("/v1/users/user-1", SERVICE), ("/v1/me", token())):
        desk.reset()
        for path, body, status in calls:
            assert door.post(base + path, json=body, headers=headers).status_code == status
        assert door.post(f"{base}/factors/totp", headers=headers).json()["secret"] == "SECRET"
        assert [(name, what) for name, _, what in desk.asked] == [
            ("start_proof", "m-9"), ("submit_code", ("p/1", "123456")), ("submit_totp", ("p-1", "654321")),
            ("submit_approval", ("p-1", signature)), ("enrol_device", key), ("enrol_totp", None),
        ]  # fmt: skip
        assert {scope.user for _, scope, _ in desk.asked} == {"user-1" if headers is SERVICE else "staff-17"}


def test_what_is_no_base64_is_refused_by_the_name_of_its_field(door: TestClient) -> None:
    for path, field in (("proofs/p:approve", "signature"), ("factors/devices", "public_key")):
        told = door.post(f"/v1/users/u/{path}", json={field: "not base64!"}, headers=SERVICE)
        assert (told.status_code, told.json()["errors"][0]["field"]) == (422, field)
