"""The rules of two proofs: which factor counts when, what a code is bound to, what a device signs, how often one may guess."""

from __future__ import annotations

from dataclasses import replace

import pyotp
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from graphmem import proofs
from graphmem.errors import InvalidInputError
from graphmem.memory import Kind, Standing
from graphmem.proofs import Case, Factor, ProofState, advance, allows, change_hash, missing
from graphmem.scope import Scope
from graphmem.validity import Row

SCOPE = Scope("t-proof", "user-1")
KEY, OTHER_KEY = b"k" * 32, b"o" * 32
NOW = 1_700_000_000_000
ROW = Row("m1", Kind.FACT, "slot", "thing", "phone", "text:138", "self", "138", "+", 0, NOW, NOW, NOW)
CASE = Case("case-a", "m1", change_hash(SCOPE, ROW), "open", 0, NOW + proofs.LIFE_MS, b"")
PAIRS: tuple[tuple[Factor, Factor], ...] = (("code", "channel"), ("channel", "code"))
STATES: tuple[ProofState, ...] = ("open", "code", "channel", "both", "applied", "closed")


def test_only_two_different_factors_lead_to_both_in_either_order() -> None:
    for first, second in PAIRS:
        one = advance("open", first)
        assert one is not None and one != "both"
        assert advance(one, second) == "both"
        assert advance(one, first) is None  # the same factor twice is one factor


@given(st.lists(st.sampled_from(("code", "channel")), max_size=8))
def test_no_row_of_one_factor_alone_ever_reaches_both(shown: list[str]) -> None:
    state: ProofState = "open"
    for factor in shown:
        state = advance(state, "code" if factor == "code" else "channel") or state
    assert (state == "both") == ({"code", "channel"} <= set(shown))


def test_what_is_missing_is_told_until_both_were_shown() -> None:
    assert {s: missing(s) for s in STATES} == {
        "open": ("code", "channel"), "code": ("channel",), "channel": ("code",), "both": (), "applied": (), "closed": (),
    }  # fmt: skip


def test_a_sixth_comparison_a_late_one_and_one_of_no_case_are_not_made() -> None:
    assert [allows(replace(CASE, attempts=n), "code", NOW) for n in range(7)] == [True] * 5 + [False] * 2
    assert allows(CASE, "code", NOW + proofs.LIFE_MS - 1) and not allows(CASE, "code", NOW + proofs.LIFE_MS)
    assert not allows(None, "code", NOW)


def test_a_case_that_is_used_up_allows_nothing_more() -> None:
    for state in ("both", "applied", "closed"):
        assert not allows(replace(CASE, state=state), "code", NOW) and not allows(replace(CASE, state=state), "channel", NOW)
    assert not allows(replace(CASE, state="code"), "code", NOW) and allows(replace(CASE, state="code"), "channel", NOW)


def test_every_part_of_a_change_is_in_its_hash() -> None:
    others = [
        replace(ROW, mid="m2"), replace(ROW, value="139"), replace(ROW, key="id_number"), replace(ROW, subject="father"),
        replace(ROW, polarity="-"),
        replace(ROW, slot="other"), replace(ROW, ckey="text:139"), replace(ROW, is_end=True), replace(ROW, valid_from=NOW + 1),
        replace(ROW, ends_at=NOW + 1),
    ]  # fmt: skip
    strangers = [Scope("t-proof", "user-2"), Scope("t-2", "user-1")]
    hashes = {change_hash(SCOPE, r) for r in (ROW, *others)} | {change_hash(s, ROW) for s in strangers}
    assert len(hashes) == len(others) + 3 and all(len(h) == 64 for h in hashes)
    assert change_hash(SCOPE, replace(ROW, recorded_at=NOW + 5, observed_at=7)) == change_hash(SCOPE, ROW)


def test_a_code_is_worth_something_only_for_its_case_its_change_and_its_tenant() -> None:
    kept = proofs.code_mac(KEY, "case-a", "change-1", "123456")
    assert proofs.same(kept, proofs.code_mac(KEY, "case-a", "change-1", "123456"))
    shown = [
        (KEY, "case-b", "change-1", "123456"), (KEY, "case-a", "change-2", "123456"), (KEY, "case-a", "change-1", "123457"),
        (OTHER_KEY, "case-a", "change-1", "123456"), (KEY, "case-a", "change-1", "０23456"),
    ]  # fmt: skip
    assert not any(proofs.same(kept, proofs.code_mac(*s)) for s in shown)
    assert b"123456" not in kept and len(kept) == 32


def test_a_code_has_six_digits_whatever_the_number() -> None:
    assert [proofs.code_of(n) for n in (0, 42, 999_999)] == ["000000", "000042", "999999"]


def test_a_totp_code_is_taken_once_and_only_near_its_time() -> None:
    secret = pyotp.random_base32()
    step = NOW // 1000 // 30
    code = pyotp.TOTP(secret).at(step * 30)
    assert proofs.accepted_step(secret, code, NOW, -1) == step
    assert proofs.accepted_step(secret, code, NOW, step) is None  # used
    assert proofs.accepted_step(secret, code, NOW + 30_000, -1) == step and proofs.accepted_step(secret, code, NOW - 30_000, -1) == step
    assert proofs.accepted_step(secret, code, NOW + 90_000, -1) is None
    assert proofs.accepted_step(secret, "", NOW, -1) is None and proofs.accepted_step(secret, "１２３４５６", NOW, -1) is None


def test_a_sealed_secret_opens_for_its_own_user_factor_and_tenant_only() -> None:
    sealed = proofs.seal(KEY, SCOPE, "totp", "JBSWY3DPEHPK3PXP", b"n" * proofs.NONCE_BYTES)
    assert proofs.unseal(KEY, SCOPE, "totp", sealed) == "JBSWY3DPEHPK3PXP" and b"JBSWY3DP" not in sealed
    assert proofs.unseal(KEY, Scope("t-proof", "user-2"), "totp", sealed) is None
    assert proofs.unseal(KEY, SCOPE, "totp-2", sealed) is None
    assert proofs.unseal(OTHER_KEY, SCOPE, "totp", sealed) is None
    for broken in (sealed[:-1] + bytes([sealed[-1] ^ 1]), b""):
        assert proofs.unseal(KEY, SCOPE, "totp", broken) is None


def test_a_device_approves_exactly_one_case_and_change() -> None:
    device, stranger = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    public = device.public_key().public_bytes_raw()
    signature = device.sign(proofs.approval_message("case-a", CASE.change))
    assert proofs.approved(public, signature, "case-a", CASE.change)
    assert not proofs.approved(public, signature, "case-b", CASE.change)
    assert not proofs.approved(public, signature, "case-a", "0" * 64)
    assert not proofs.approved(public, stranger.sign(proofs.approval_message("case-a", CASE.change)), "case-a", CASE.change)
    assert not proofs.approved(public, b"short", "case-a", CASE.change) and not proofs.approved(b"no key", signature, "case-a", CASE.change)


def test_a_device_is_known_by_its_key_and_what_is_no_key_is_refused() -> None:
    public = Ed25519PrivateKey.generate().public_key().public_bytes_raw()
    assert proofs.device_id(public) == proofs.device_id(public) and proofs.device_id(public).startswith("device:")
    with pytest.raises(InvalidInputError) as refused:
        proofs.device_id(public + b"x")
    assert refused.value.field == "public_key"


def test_a_first_value_told_as_stated_vouches_for_nothing_until_it_is_proven() -> None:
    assert not proofs.is_proven(ROW, False) and proofs.is_proven(ROW, True)
    assert proofs.is_proven(replace(ROW, standing=Standing.VERIFIED), False)
    assert not proofs.is_proven(replace(ROW, standing=Standing.REPORTED), False) and not proofs.is_proven(None, True)


def test_a_factor_enrolled_with_or_after_the_change_does_not_vouch_for_it() -> None:
    assert [proofs.usable(at, NOW) for at in (NOW - 1, NOW, NOW + 1)] == [True, False, False]
