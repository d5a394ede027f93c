"""Who may ask for whom."""

from __future__ import annotations

import hmac
import json
import time
from base64 import urlsafe_b64encode
from typing import Any
from urllib.parse import quote

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.auth import Credential, Keyring, key_id, vouches
from graphmem.errors import ConfigurationError, InvalidInputError, RefusedError, UnauthorizedError
from graphmem.settings import Settings
from tests.api.conftest import SECRET
from tests.api.stub import StubGraphmem

STATEMENT = {"key": "coffee_preference", "value": "latte"}


def token(secret: Any = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    base = {"tenant": "acme", "user": "alice", "exp": time.time() + 60}
    return jwt.encode({k: v for k, v in {**base, **claims}.items() if v is not None}, secret, algorithm=algorithm)


def signed_as_hs256_with(secret: str) -> str:
    """What a forger makes of a public key; the library itself refuses to."""
    parts = [{"alg": "HS256", "typ": "JWT"}, {"tenant": "acme", "user": "alice", "exp": int(time.time()) + 60}]
    signed = b".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    return (signed + b"." + urlsafe_b64encode(hmac.digest(secret.encode(), signed, "sha256")).rstrip(b"=")).decode()


def as_(credential: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {credential}"}


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic a2V5", "Bearer wrong", "Bearer key-of-acm", "key-of-acme", "Bearer ключ"]
)
def test_without_a_valid_credential_nothing_is_answered(nobody: TestClient, stub: StubGraphmem, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header.encode()}
    told = nobody.get("/v1/users/alice/memories", headers=headers)  # type: ignore[arg-type]
    assert told.status_code == 401
    assert told.headers["www-authenticate"] == "Bearer"
    assert told.json()["code"] == "unauthorized"
    assert stub.asked == []


def test_the_credential_is_asked_for_before_the_body_is_looked_at(nobody: TestClient) -> None:
    assert nobody.post("/v1/users/alice/turns", content=b"{").status_code == 401


def test_a_key_reaches_only_its_own_tenant(nobody: TestClient, stub: StubGraphmem) -> None:
    for key, tenant in (("key-of-acme", "acme"), ("key-of-blue", "blue")):
        assert nobody.get("/v1/users/alice/memories", headers=as_(key)).status_code == 200
        _, scope, _ = stub.asked[-1]
        assert (scope.tenant, scope.user, scope.principal) == (tenant, "alice", f"service:{key_id(key.encode())}")


def test_a_key_names_its_user_in_the_path(client: TestClient) -> None:
    assert client.get("/v1/me/memories").status_code == 403


def test_a_user_token_reaches_its_own_memories_and_no_one_elses(nobody: TestClient, stub: StubGraphmem) -> None:
    mine = as_(token(domain="clinic", purpose="care"))
    assert nobody.get("/v1/me/memories", headers=mine).status_code == 200
    _, scope, _ = stub.asked[-1]
    assert (scope.tenant, scope.user, scope.domain, scope.purpose, scope.principal) == ("acme", "alice", "clinic", "care", "user")
    assert nobody.get("/v1/users/alice/memories", headers=mine).status_code == 200
    asked = len(stub.asked)
    for other in ("bob", "nobody-at-all", "Alice", "alice%20"):
        told = nobody.get(f"/v1/users/{other}/memories", headers=mine)
        assert (told.status_code, told.json()["code"], told.json()["detail"]) == (403, "forbidden", "the token is for one user only")
    assert len(stub.asked) == asked


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": time.time() - 3600},
        {"exp": None},
        {"tenant": None},
        {"tenant": "Not A Tenant"},
        {"tenant": ["acme"]},
        {"user": None},
        {"user": ""},
        {"user": ["alice", "bob"]},
        {"user": "a\x00"},
        {"domain": 7},
        {"aud": "another-service"},
        {"act": {"sub": "user"}},
        {"act": "staff:17"},
        {"nbf": time.time() + 3600},
    ],
    ids=lambda claims: "-".join(claims),
)
def test_a_token_with_a_wrong_claim_is_no_credential(nobody: TestClient, claims: dict[str, Any]) -> None:
    assert nobody.get("/v1/me/memories", headers=as_(token(**claims))).status_code == 401


def test_a_token_of_another_secret_or_algorithm_is_no_credential(nobody: TestClient) -> None:
    unsigned = jwt.encode({"tenant": "acme", "user": "alice", "exp": time.time() + 60}, "", algorithm="none")
    for forged in (token("another-secret-of-thirty-two-bytes-or-more"), token("x" * 64, "HS512"), unsigned, token()[:-4] + "AAAA", "a.b.c"):
        assert nobody.get("/v1/me/memories", headers=as_(forged)).status_code == 401


def test_an_eddsa_token_is_checked_with_the_public_key_and_that_key_is_no_secret() -> None:
    private = Ed25519PrivateKey.generate()
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    ring = Keyring(Settings(token_public_key=public))
    assert ring.credential(f"Bearer {token(private, 'EdDSA')}").user == "alice"
    for forged in (token(Ed25519PrivateKey.generate(), "EdDSA"), signed_as_hs256_with(public)):
        with pytest.raises(UnauthorizedError):
            ring.credential(f"Bearer {forged}")


def test_a_delegation_names_who_acts() -> None:
    ring = Keyring(Settings(token_secret=SecretStr(SECRET)))
    assert ring.credential(f"Bearer {token(act={'sub': 'staff:17'})}").principal == "staff:17"


def test_a_proof_is_fresh_for_five_minutes() -> None:
    ring = Keyring(Settings(token_secret=SecretStr(SECRET)))
    now = time.time()
    for proved, rights in (
        (now - 60, {"fresh_proof"}),
        (now - 3600, set()),
        (now + 3600, set()),
        (None, set()),
        (True, set()),
        ("now", set()),
    ):
        assert ring.credential(f"Bearer {token(auth_time=proved)}").rights == rights


@pytest.mark.parametrize(
    "settings",
    [
        Settings(token_secret=SecretStr("short")),
        Settings(token_public_key="-----BEGIN PUBLIC KEY-----\nnone\n-----END PUBLIC KEY-----"),
        Settings(api_keys={" ": "acme"}),
        Settings(api_keys={"key": "Not A Tenant"}),
    ],
    ids=["weak secret", "no public key", "blank key", "no tenant"],
)
def test_bad_keys_refuse_the_start(settings: Settings) -> None:
    with pytest.raises(ConfigurationError):
        Keyring(settings)


def test_only_a_service_key_may_let_staff_or_the_user_vouch(nobody: TestClient, stub: StubGraphmem) -> None:
    me = f"service:{key_id(b'key-of-acme')}"
    for who, status in (
        ("staff:17", 201),
        ("user", 201),
        (me, 201),
        ("service:0000", 403),
        ("root", 403),
        ("staff:", 403),
        ("staff: 1", 403),
    ):
        told = nobody.post("/v1/users/alice/memories", json={**STATEMENT, "verified_by": who}, headers=as_("key-of-acme"))
        assert told.status_code == status, who
    for who, status in (("user", 201), ("staff:17", 403), (me, 403)):
        told = nobody.post("/v1/me/memories", json={**STATEMENT, "verified_by": who}, headers=as_(token()))
        assert told.status_code == status, who


def test_who_acts_for_the_user_vouches_for_itself_alone() -> None:
    scope = Credential("acme", "staff:17", "alice").scope(None)
    vouches(scope, "staff:17")
    with pytest.raises(RefusedError):
        vouches(scope, "staff:18")


@pytest.mark.parametrize(
    "user", ["*", "%", "alice ", " ", "a.b@example.org", "小李", "null", "a/b", "../bob", "a%2Fb", "a:confirm", "?x=1#y", "👍🏽", "x" * 256]
)
def test_user_ids_are_exact_and_plain(client: TestClient, stub: StubGraphmem, user: str) -> None:
    assert client.get(f"/v1/users/{quote(user, safe='')}/memories").status_code == 200
    assert stub.asked[-1][1].user == user


@pytest.mark.parametrize("sent", ["", "x" * 257, "x" * 10_000, quote("人" * 5_000), "a%00", "a%0Ab", "%C2%85", "%ED%A0%BC", "%FF"])
def test_a_user_id_that_is_none_is_refused_and_nothing_is_asked(client: TestClient, stub: StubGraphmem, sent: str) -> None:
    told = client.post(f"/v1/users/{sent}/turns", json={"text": "hi", "role": "user"})
    assert told.status_code == 422
    assert [e["field"] for e in told.json()["errors"]] == ["user_id"]
    assert stub.asked == []


def test_a_slash_that_is_not_encoded_never_reaches_another_user(client: TestClient, stub: StubGraphmem) -> None:
    assert client.get("/v1/users/a/b/memories").status_code == 404
    assert stub.asked == []


@pytest.mark.parametrize(
    "more", [{"user": "bob"}, {"user_id": "bob"}, {"tenant": "blue"}, {"filters": {"user": "bob"}}, {"user": {"ne": ""}}]
)
def test_no_field_or_filter_widens_the_scope(client: TestClient, stub: StubGraphmem, more: dict[str, object]) -> None:
    name = next(iter(more))
    for path, body in (("turns", {"text": "hi", "role": "user"}), ("memories", STATEMENT), ("recall", {"message": "hi"})):
        told = client.post(f"/v1/users/alice/{path}", json={**body, **more})
        assert (told.status_code, told.json()["errors"][0]["field"]) == (422, name)
    assert client.get("/v1/users/alice/memories", params={name: "bob"}).status_code == 422
    assert client.delete("/v1/users/alice/memories/m-1", params={name: "bob"}).status_code == 422
    assert stub.asked == []


def test_a_scope_of_a_credential_still_checks_the_user() -> None:
    with pytest.raises(InvalidInputError):
        Credential("acme", "service:1").scope("")
