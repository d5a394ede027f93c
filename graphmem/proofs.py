"""Two proofs for keys that a word may not change (phone, ID number): rules, codes, keys. Pure: time and chance are arguments."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Literal

import pyotp
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from graphmem.errors import InvalidInputError, RefusedError
from graphmem.memory import Standing
from graphmem.scope import Scope
from graphmem.validity import Ms, Row

ATTEMPTS = 5
"""Comparisons a case allows, of all its factors together (reliability T12)."""

LIFE_MS: Ms = 10 * 60 * 1000
"""A case is over after ten minutes (reliability T12)."""

A_DAY_MS: Ms = 24 * 3600 * 1000
CASES_A_DAY = 10
"""Cases a user may start in 24 hours (reliability T12)."""

CODE_DIGITS = 6
STEP_S = 30
"""Seconds of a TOTP step (RFC 6238)."""

DRIFT_STEPS = 1
"""Steps before and after now that a TOTP code may be of: clocks differ, people type."""

NONCE_BYTES = 12

Factor = Literal["code", "channel"]
"""code: the one-off code to the new value; channel: TOTP or a device's approval, the old channel."""

ProofState = Literal["open", "code", "channel", "both", "applied", "closed"]
"""`code` and `channel` name the one factor that was shown; closed: another case took its place."""

_NEXT: dict[tuple[str, Factor], ProofState] = {
    ("open", "code"): "code",
    ("open", "channel"): "channel",
    ("code", "channel"): "both",
    ("channel", "code"): "both",
}


def advance(state: str, factor: Factor) -> ProofState | None:
    """The state after a factor was shown; None where it counts no more: shown before, used up, closed."""
    return _NEXT.get((state, factor))


def missing(state: str) -> tuple[Factor, ...]:
    """The factors a case still needs."""
    return tuple(f for f in ("code", "channel") if advance(state, f) is not None)


@dataclass(frozen=True, slots=True)
class Case:
    """A verification case as it is stored, read under the user's lock. `change`: SHA-256 of the proposed change, hex."""

    case_id: str
    mid: str
    change: str
    state: str
    attempts: int
    expires_at: Ms
    code_mac: bytes
    kind: Literal["change", "held"] = "change"


def allows(case: Case | None, factor: Factor, now: Ms) -> bool:
    """Whether one more comparison may be made. The answer is written (attempts + 1) before the comparison is."""
    if case is None or now >= case.expires_at or case.attempts >= ATTEMPTS:
        return False
    return advance(case.state, factor) is not None


def change_hash(scope: Scope, row: Row) -> str:
    """SHA-256 of everything a change says, hex: a proof holds for this change and no other."""
    said = {
        "tenant": scope.tenant, "user": scope.user, "mid": row.mid, "slot": row.slot, "key": row.key, "subject": row.subject,
        "value": row.value, "ckey": row.ckey, "polarity": row.polarity, "is_end": row.is_end,
        "start": row.valid_from, "ends_at": row.ends_at,
    }  # fmt: skip
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def derived(tenant_key: bytes, use: str) -> bytes:
    """A 32-byte key of a tenant for one use (HKDF-Expand, RFC 5869, one block)."""
    return hmac.digest(tenant_key, b"proof\x00" + use.encode() + b"\x01", hashlib.sha256)


# --- factor one: a one-off code


def code_of(number: int) -> str:
    """Six digits of a number below a million."""
    return f"{number:0{CODE_DIGITS}d}"


def code_mac(tenant_key: bytes, case_id: str, change: str, code: str) -> bytes:
    """What is kept of a code: bound to its case and change, worth nothing without the tenant's key."""
    return hmac.digest(derived(tenant_key, "code"), "\x1f".join((case_id, change, code)).encode(), hashlib.sha256)


def same(stored: bytes, shown: bytes) -> bool:
    """Constant-time comparison: the only one a code goes through."""
    return hmac.compare_digest(stored, shown)


# --- factor two: TOTP


def accepted_step(secret: str, code: str, now: Ms, last_step: int) -> int | None:
    """The step a TOTP code is of, within the window and after the last one used; None for a wrong or used code. All steps are compared."""
    totp = pyotp.TOTP(secret, digits=CODE_DIGITS, interval=STEP_S)
    step, found = now // 1000 // STEP_S, None
    shown = code.encode("utf-8", "replace")
    for candidate in range(step - DRIFT_STEPS, step + DRIFT_STEPS + 1):
        if hmac.compare_digest(totp.at(candidate * STEP_S).encode(), shown) and candidate > last_step:
            found = candidate
    return found


def seal(tenant_key: bytes, scope: Scope, factor_id: str, secret: str, nonce: bytes) -> bytes:
    """A secret as it is stored: AES-256-GCM, bound to tenant, user and factor. nonce: NONCE_BYTES fresh random bytes."""
    return nonce + AESGCM(derived(tenant_key, "totp")).encrypt(nonce, secret.encode(), _bound(scope, factor_id))


def unseal(tenant_key: bytes, scope: Scope, factor_id: str, sealed: bytes) -> str | None:
    """The secret again; None when the ciphertext is not this factor's."""
    try:
        opened = AESGCM(derived(tenant_key, "totp")).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], _bound(scope, factor_id))
    except (InvalidTag, ValueError):
        return None
    return opened.decode()


def _bound(scope: Scope, factor_id: str) -> bytes:
    return "\x1f".join(("totp/1", scope.tenant, scope.user, factor_id)).encode()


# --- factor two: a device's approval


def approval_message(case_id: str, change: str) -> bytes:
    """What a device signs: this case and this change."""
    return f"graphmem approve\x00{case_id}\x00{change}".encode()


def device_id(public_key: bytes) -> str:
    """The factor id of a device: the fingerprint of its key. InvalidInputError when it is no Ed25519 public key."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key)
    except ValueError as fault:
        raise InvalidInputError("a device key is the 32 bytes of an Ed25519 public key", field="public_key") from fault
    return f"device:{hashlib.sha256(public_key).hexdigest()[:32]}"


def approved(public_key: bytes, signature: bytes, case_id: str, change: str) -> bool:
    """Whether this device signed exactly this case and change."""
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, approval_message(case_id, change))
    except (InvalidSignature, ValueError):
        return False
    return True


# --- old channels


def is_proven(held: Row | None, proven_before: bool) -> bool:
    """Whether the held value may be the old channel of a proof: verified, or proven itself. A first value told as stated is not."""
    return held is not None and (held.standing is Standing.VERIFIED or proven_before)


def usable(enrolled_at: Ms, proposed_at: Ms) -> bool:
    """A factor vouches for a change only if it was there before the change was proposed."""
    return enrolled_at < proposed_at


def failed() -> RefusedError:
    """The one answer to a wrong code, a used one, another case's, a case that is over, unknown or another user's."""
    return RefusedError("this proof was not accepted", code="proof_failed", hint="start a new proof if the code is older than ten minutes")
