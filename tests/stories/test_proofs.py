"""A phone number changes by two proofs and nothing less: the code to the new one, the channel that was there before. On the real store."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pyotp
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from graphmem.answers import Remember
from graphmem.app import Graphmem
from graphmem.cases import Proof
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError, RefusedError
from graphmem.memory import Provenance, SourceKind, Standing
from graphmem.proofs import approval_message
from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from tests.conftest import Neo4jServer, new_tenant, settings_for
from tests.counting import at_once
from tests.fakes_index import FakeIndex
from tests.graph_view import ago, edges
from tests.guessing import MASTER, Guessers, guessers

DOCUMENT = Provenance(SourceKind.DOCUMENT, "contract-9")
OLD, NEW = "13800138000", "13900139000"


@dataclass
class Sent:
    """A sender that keeps what it was asked to send."""

    codes: list[tuple[str, str, str]] = field(default_factory=list)

    def send(self, scope: Scope, key: str, value: str, code: str) -> None:
        self.codes.append((key, value, code))

    @property
    def last(self) -> str:
        return self.codes[-1][2]


@pytest.fixture(scope="module")
def g(neo4j_server: Neo4jServer, graphmem: Graphmem, crowd: Guessers) -> Iterator[Graphmem]:
    """A façade that can prove; `graphmem` has migrated the server, the processes of `crowd` open meanwhile."""
    with proving_only(neo4j_server) as made:
        yield made


@contextmanager
def proving_only(server: Neo4jServer) -> Iterator[Graphmem]:
    """A façade without index and embedders; its home is not used."""
    settings = settings_for(server, Path(tempfile.gettempdir()))
    with Graphmem(settings, Neo4j(server.uri, server.user, server.password), FakeIndex({"none": 1}), (), MASTER) as made:
        yield made


@pytest.fixture(scope="module")
def crowd(neo4j_server: Neo4jServer) -> Iterator[Guessers]:
    with guessers(neo4j_server.uri, neo4j_server.user, neo4j_server.password) as ready:
        yield ready


@pytest.fixture
def sent(g: Graphmem) -> Sent:
    g.proving.sender = kept = Sent()
    return kept


@pytest.fixture
def me() -> Scope:
    return Scope(new_tenant(), "user-1", rights=frozenset({"fresh_proof"}))


def held(g: Graphmem, me: Scope, key: str = "phone", value: str = OLD, source: Provenance | None = DOCUMENT) -> str:
    done = g.remember(me, Remember(key, value, source=source, said_at=ago(days=2)))
    assert done.memory is not None
    return done.memory.mid


def change(g: Graphmem, me: Scope, key: str = "phone", value: str = NEW) -> str:
    """A change that waits for two proofs; the id of the pending memory."""
    done = g.remember(me, Remember(key, value, said_at=ago(hours=1)))
    assert done.pending is not None and done.pending.reason == "dual" and done.memory is not None
    return done.memory.mid


def ready(g: Graphmem, me: Scope) -> tuple[Proof, pyotp.TOTP]:
    """A verified number, an authenticator that was there before, and a case of a change."""
    held(g, me)
    totp = pyotp.TOTP(g.enrol_totp(me).secret)
    return g.start_proof(me, change(g, me)), totp


def told(g: Graphmem, me: Scope, key: str = "phone") -> list[tuple[str | None, Standing]]:
    return [(m.value, m.standing) for m in g.latest(me, key).items]


def stored(g: Graphmem, me: Scope, case_id: str) -> dict[str, object]:
    text = "MATCH (p:Proof {tenant_id: $tenant, user_id: $user, case_id: $case}) RETURN properties(p) AS p"
    return dict(g.neo4j.text(text, {"tenant": me.tenant, "user": me.user, "case": case_id})[0]["p"])


def over(g: Graphmem, me: Scope) -> None:
    g.neo4j.text("MATCH (p:Proof {tenant_id: $tenant}) SET p.expires_at = datetime.realtime()", {"tenant": me.tenant})


def other(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06d}"


def refused(act: object, *args: object) -> str:
    assert callable(act)
    with pytest.raises(RefusedError) as fault:
        act(*args)
    return fault.value.code


# --- the way


def test_a_number_changes_after_the_code_to_the_new_one_and_the_old_channel(g: Graphmem, me: Scope, sent: Sent) -> None:
    case, totp = ready(g, me)
    assert case.missing == ("code", "channel") and sent.codes[-1][:2] == ("phone", NEW)
    half = g.submit_code(me, case.case_id, sent.last)
    assert (half.state, half.missing) == ("code", ("channel",)) and told(g, me) == [(OLD, Standing.VERIFIED)]
    done = g.submit_totp(me, case.case_id, totp.now())
    assert done.state == "applied" and done.applied is not None and done.applied.value == NEW
    assert told(g, me) == [(NEW, Standing.VERIFIED)]
    assert stored(g, me, case.case_id)["state"] == "applied"


def test_the_factors_may_come_in_either_order_and_neither_alone_changes_anything(g: Graphmem, me: Scope, sent: Sent) -> None:
    case, totp = ready(g, me)
    assert g.submit_totp(me, case.case_id, totp.now()).state == "channel" and told(g, me) == [(OLD, Standing.VERIFIED)]
    assert refused(g.submit_totp, me, case.case_id, totp.now()) == "proof_failed"
    assert g.submit_code(me, case.case_id, sent.last).state == "applied"
    review = g.neo4j.text("MATCH (v:Review {tenant_id: $t}) RETURN v.state AS state", {"t": me.tenant})
    assert [r["state"] for r in review] == ["approved"]


def test_a_device_enrolled_before_approves_this_case_by_its_signature(g: Graphmem, me: Scope, sent: Sent) -> None:
    device, stranger = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    held(g, me)
    g.enrol_device(me, device.public_key().public_bytes_raw())
    case = g.start_proof(me, change(g, me))
    assert refused(g.submit_approval, me, case.case_id, stranger.sign(approval_message(case.case_id, case.change))) == "proof_failed"
    assert refused(g.submit_approval, me, case.case_id, device.sign(approval_message("another", case.change))) == "proof_failed"
    assert g.submit_approval(me, case.case_id, device.sign(approval_message(case.case_id, case.change))).state == "channel"
    assert g.submit_code(me, case.case_id, sent.last).state == "applied" and told(g, me) == [(NEW, Standing.VERIFIED)]


def test_a_code_is_stored_only_as_a_keyed_hash_and_a_secret_only_sealed(g: Graphmem, me: Scope, sent: Sent) -> None:
    held(g, me)
    secret = g.enrol_totp(me).secret
    case = g.start_proof(me, change(g, me))
    kept = g.neo4j.text("MATCH (n) WHERE n.tenant_id = $t AND (n:Proof OR n:Factor) RETURN properties(n) AS n", {"t": me.tenant})
    words = [str(v) for r in kept for v in r["n"].values()]
    assert len(kept) == 2 and sent.last not in words and not any(secret in w or NEW in w or OLD in w for w in words)
    assert len(str(stored(g, me, case.case_id)["code_mac"])) == 64


def test_a_service_that_died_before_it_applied_what_was_proven_applies_it_when_asked_again(g: Graphmem, me: Scope, sent: Sent) -> None:
    case, _ = ready(g, me)
    g.neo4j.text("MATCH (p:Proof {tenant_id: $t}) SET p.state = 'both'", {"t": me.tenant})
    again = g.start_proof(me, case.mid)
    assert (again.case_id, again.state) == (case.case_id, "applied") and told(g, me) == [(NEW, Standing.VERIFIED)]
    assert len(sent.codes) == 1


# --- what vouches for what


def test_a_first_value_told_as_stated_vouches_for_no_other_until_it_is_proven_itself(g: Graphmem, me: Scope, sent: Sent) -> None:
    first = held(g, me, source=Provenance())
    totp = pyotp.TOTP(g.enrol_totp(me).secret)
    waiting = change(g, me)
    assert refused(g.start_proof, me, waiting) == "verification_required" and sent.codes == []
    own = g.start_proof(me, first)
    assert sent.codes[-1][:2] == ("phone", OLD)
    g.submit_code(me, own.case_id, sent.last)
    proven = g.submit_totp(me, own.case_id, totp.now())
    assert proven.state == "applied" and len([e for e in edges(g, me) if e.version]) == 1
    assert g.start_proof(me, waiting).missing == ("code", "channel") and sent.codes[-1][:2] == ("phone", NEW)


def test_an_authenticator_enrolled_after_the_change_was_proposed_is_no_old_channel(g: Graphmem, me: Scope, sent: Sent) -> None:
    held(g, me)
    device = Ed25519PrivateKey.generate()
    waiting = change(g, me)
    totp = pyotp.TOTP(g.enrol_totp(me).secret)
    g.enrol_device(me, device.public_key().public_bytes_raw())
    case = g.start_proof(me, waiting)
    assert refused(g.submit_totp, me, case.case_id, totp.now()) == "proof_failed"
    assert refused(g.submit_approval, me, case.case_id, device.sign(approval_message(case.case_id, case.change))) == "proof_failed"
    assert told(g, me) == [(OLD, Standing.VERIFIED)]


def test_a_channel_is_enrolled_only_with_a_fresh_proof_of_identity(g: Graphmem, me: Scope) -> None:
    stale = replace(me, rights=frozenset())
    assert refused(g.enrol_totp, stale) == refused(g.enrol_device, stale, bytes(32)) == "verification_required"
    with pytest.raises(InvalidInputError):
        g.enrol_device(me, b"no key")


def test_proofs_are_for_changes_that_need_them(g: Graphmem, me: Scope, sent: Sent) -> None:
    city = g.remember(me, Remember("home_city", "Hangzhou")).memory
    assert city is not None
    for mid in (city.mid, "no-such-memory"):
        with pytest.raises(NotFoundError):
            g.start_proof(me, mid)
    waiting = (held(g, me), change(g, me))[1]
    with pytest.raises(NotFoundError):
        g.start_proof(replace(me, user="user-2"), waiting)
    g.reject(me, waiting)
    with pytest.raises(ConflictError):
        g.start_proof(me, waiting)
    assert sent.codes == []


# --- what is refused


def test_a_code_of_one_case_is_worth_nothing_for_another(g: Graphmem, me: Scope, sent: Sent) -> None:
    held(g, me)
    held(g, me, "id_number", "110101199001011237")
    g.enrol_totp(me)
    a = g.start_proof(me, change(g, me))
    code_a = sent.last
    b = g.start_proof(me, change(g, me, "id_number", "11010119900101123X"))
    code_b = sent.last
    if code_a != code_b:
        assert refused(g.submit_code, me, b.case_id, code_a) == "proof_failed"
    assert g.submit_code(me, b.case_id, code_b).state == "code" and g.submit_code(me, a.case_id, code_a).state == "code"


def test_a_totp_code_that_opened_one_case_opens_no_other(g: Graphmem, me: Scope, sent: Sent) -> None:
    a, totp = ready(g, me)
    held(g, me, "id_number", "110101199001011237")
    b = g.start_proof(me, change(g, me, "id_number", "11010119900101123X"))
    code = totp.now()
    assert g.submit_totp(me, a.case_id, code).state == "channel"
    assert refused(g.submit_totp, me, b.case_id, code) == "proof_failed"


def test_five_wrong_codes_close_a_case_to_the_right_one_and_a_restart_of_the_service_forgets_none(
    g: Graphmem, me: Scope, sent: Sent, neo4j_server: Neo4jServer
) -> None:
    case, totp = ready(g, me)
    for _ in range(3):
        assert refused(g.submit_code, me, case.case_id, other(sent.last)) == "proof_failed"
    with proving_only(neo4j_server) as restarted:
        for _ in range(2):
            assert refused(restarted.submit_code, me, case.case_id, other(sent.last)) == "proof_failed"
        assert refused(restarted.submit_code, me, case.case_id, sent.last) == "proof_failed"
    assert refused(g.submit_totp, me, case.case_id, totp.now()) == "proof_failed"  # the count is of the case, not of the factor
    assert stored(g, me, case.case_id)["attempts"] == 5


def test_after_ten_minutes_a_case_is_over(g: Graphmem, me: Scope, sent: Sent) -> None:
    case, _ = ready(g, me)
    over(g, me)
    assert refused(g.submit_code, me, case.case_id, sent.last) == "proof_failed" and stored(g, me, case.case_id)["attempts"] == 0


def test_an_unknown_case_and_another_users_look_like_a_wrong_code(g: Graphmem, me: Scope, sent: Sent) -> None:
    case, _ = ready(g, me)
    stranger = replace(me, user="user-2")
    held(g, stranger)
    said = set()
    for who, case_id, code in ((me, case.case_id, other(sent.last)), (me, "unknown", sent.last), (stranger, case.case_id, sent.last)):
        with pytest.raises(RefusedError) as fault:
            g.submit_code(who, case_id, code)
        said.add((fault.value.code, fault.value.detail, fault.value.hint))
    assert len(said) == 1 and stored(g, me, case.case_id)["attempts"] == 1


def test_a_new_case_of_the_same_change_closes_the_one_before(g: Graphmem, me: Scope, sent: Sent) -> None:
    first, _ = ready(g, me)
    code = sent.last
    g.start_proof(me, first.mid)
    assert refused(g.submit_code, me, first.case_id, code) == "proof_failed" and stored(g, me, first.case_id)["state"] == "closed"


def test_the_eleventh_case_of_a_day_is_refused(g: Graphmem, me: Scope, sent: Sent) -> None:
    first, _ = ready(g, me)
    for _ in range(9):
        g.start_proof(me, first.mid)
    assert refused(g.start_proof, me, first.mid) == "too_many_proofs" and len(sent.codes) == 10
    yesterday = "MATCH (p:Proof {tenant_id: $t, case_id: $c}) SET p.opened_at = p.opened_at - duration('P1D')"
    g.neo4j.text(yesterday, {"t": me.tenant, "c": first.case_id})
    assert g.start_proof(me, first.mid).state == "open"


def test_a_change_that_waits_no_more_is_not_applied_by_its_proofs(g: Graphmem, me: Scope, sent: Sent) -> None:
    case, totp = ready(g, me)
    g.submit_code(me, case.case_id, sent.last)
    g.reject(me, case.mid)
    with pytest.raises(ConflictError):
        g.submit_totp(me, case.case_id, totp.now())
    assert told(g, me) == [(OLD, Standing.VERIFIED)]


# --- many at once


def test_a_thousand_guesses_from_four_processes_are_five_comparisons(g: Graphmem, me: Scope, sent: Sent, crowd: Guessers) -> None:
    case, _ = ready(g, me)
    wrong = [f"{n:06d}" for n in range(1_001) if f"{n:06d}" != sent.last][:1_000]
    found = crowd.show(me, case.case_id, wrong)
    assert (found.accepted, found.wrongs) == (0, 1_000) and found.compared == 5
    assert refused(g.submit_code, me, case.case_id, sent.last) == "proof_failed"


def test_the_right_code_a_hundred_times_from_four_processes_is_accepted_once(g: Graphmem, me: Scope, sent: Sent, crowd: Guessers) -> None:
    case, _ = ready(g, me)
    found = crowd.show(me, case.case_id, [sent.last] * 100)
    assert (found.accepted, found.wrongs, found.compared) == (1, 99, 1)
    assert stored(g, me, case.case_id)["state"] == "code"


def test_the_last_factor_shown_twenty_times_at_once_applies_the_change_once(g: Graphmem, me: Scope, sent: Sent) -> None:
    case, totp = ready(g, me)
    g.submit_code(me, case.case_id, sent.last)
    code = totp.now()
    found = at_once([partial(g.submit_totp, me, case.case_id, code)] * 20, 10)
    assert sum(isinstance(f, Proof) for f in found) == 1
    assert all(isinstance(f, Proof) or (isinstance(f, RefusedError) and f.code == "proof_failed") for f in found)
    assert [e.version for e in edges(g, me) if e.version] == [1, 2] and told(g, me) == [(NEW, Standing.VERIFIED)]
