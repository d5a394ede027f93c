"""Two proofs: start a case, show a code and the old channel, apply the change once. Enrol the channels."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, cast

import pyotp

from graphmem import proofs
from graphmem.answers import Memory
from graphmem.book import Rule, Trust
from graphmem.cases import DeviceEnrolled, Proof, TotpEnrolled
from graphmem.casework import rule_of
from graphmem.conflict import confirm
from graphmem.errors import ConflictError, NotFoundError, RefusedError
from graphmem.ids import many, uuid7
from graphmem.memory import SourceKind, from_ms
from graphmem.pipeline.normal import language_of
from graphmem.ports import CodeSender, MemoryReader, MemoryWriter, Operation
from graphmem.proofs import Case, Factor, ProofState, advance, change_hash, failed
from graphmem.remember import whole
from graphmem.review import case_to_confirm
from graphmem.room import Room, check_id
from graphmem.scope import Scope
from graphmem.slot import operation_id
from graphmem.telling import Teller
from graphmem.validity import Ledger, Ms, Pending, Row
from graphmem.writing import Changes, Decided, Known, Origin, Snapshot, book_of

TOTP = "totp"
"""Factor id of the one TOTP secret a user has."""

FRESH = "fresh_proof"
"""The right of a scope whose identity was just proven: only then a channel is enrolled."""

ISSUER = "graphmem"
NOBODY = proofs.code_mac(b"", "", "", "")
"""Compared where there is nothing to compare: the work is the same."""


@dataclass(frozen=True, slots=True)
class Enrolled:
    """A factor as it is stored. secret: the sealed TOTP secret, or the device's public key."""

    factor_id: str
    kind: Literal["totp", "device"]
    secret: bytes
    enrolled_at: Ms = 0
    last_step: int = -1


@dataclass(frozen=True, slots=True)
class Attempt:
    """What is known under the user's lock; `counted`: this comparison may be made and is counted already."""

    case: Case | None
    counted: bool
    now: Ms
    proposed_at: Ms
    factors: tuple[Enrolled, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A factor that was right: the state it leads to; of TOTP the step that is used up."""

    state: ProofState
    factor_id: str = ""
    step: int = 0


@dataclass(frozen=True, slots=True)
class Grounds:
    """Cases of a memory that only wait to be applied, and whether the value held now was proven."""

    ready: tuple[Case, ...]
    proven: bool


Compare = Callable[[Attempt], Shown | None]
"""Looks at what was shown; None when it is not right."""


class Cases(Protocol):
    """Verification cases and factors, scope first."""

    def grounds(self, scope: Scope, mid: str, held: Sequence[str]) -> Grounds:
        """See Grounds; `held`: the memories told now in the slot."""
        ...

    def start(self, scope: Scope, case: Case, proposed_at: Ms) -> Ms | None:
        """Open a case; when it expires, None when the user had too many today."""
        ...

    def attempt(self, scope: Scope, case_id: str, factor: Factor, compare: Compare) -> tuple[Attempt, Shown | None]:
        """Lock, count, compare, keep what was shown; one transaction, committed also when the comparison fails."""
        ...

    def applied(self, scope: Scope, case_id: str) -> bool:
        """Use a case up that changes no memory; False unless it was in state `both`."""
        ...

    def enrol(self, scope: Scope, factor: Enrolled) -> Ms | None:
        """Enrol a factor; when it counts from, None when the user has too many."""
        ...


class Proving:
    """Proofs of one user at a time. Thread safe. tenant_key: a tenant's own 32-byte key."""

    def __init__(self, room: Room, writer: MemoryWriter, reader: MemoryReader, cases: Cases, tenant_key: Callable[[str], bytes]) -> None:
        self._room, self._writer, self._reader, self._cases, self._key = room, writer, reader, cases, tenant_key
        self.sender: CodeSender | None = None

    # --- start

    def start(self, scope: Scope, mid: str) -> Proof:
        """Open a case for a pending change of a `dual` key, or for the value held now (so that it can vouch for a change later).

        A code goes out. RefusedError `verification_required`: the held value was never proven; `too_many_proofs`: ten a day.
        """
        snapshot = self._snapshot(scope, mid)
        row, kind, held = _target(snapshot, mid, self._room.limits.pending_life)
        if self._rule(row).policy != "dual":
            raise NotFoundError("no memory of that id needs two proofs")
        grounds = self._cases.grounds(scope, mid, [held.mid] if held is not None else [])
        if grounds.ready:
            return self._apply(scope, grounds.ready[0])
        if kind == "change" and not proofs.is_proven(held, grounds.proven):
            raise RefusedError(
                "the value that is held was never proven, so it cannot vouch for another",
                code="verification_required",
                hint="prove the held value first: start a proof with its own id",
            )
        return self._open(scope, row, kind, snapshot.now)

    def _open(self, scope: Scope, row: Row, kind: Literal["change", "held"], now: Ms) -> Proof:
        code, case_id, change = proofs.code_of(secrets.randbelow(10**proofs.CODE_DIGITS)), uuid7(), change_hash(scope, row)
        case = Case(case_id, row.mid, change, "open", 0, 0, proofs.code_mac(self._key(scope.tenant), case_id, change, code), kind)
        # the value held now is vouched for by whatever is enrolled when its case opens
        expires = self._cases.start(scope, case, row.recorded_at if kind == "change" else now)
        if expires is None:
            raise RefusedError("too many proofs were started today", code="too_many_proofs", hint="try again tomorrow")
        if self.sender is not None:
            self.sender.send(scope, row.key, row.value or "", code)
        return self._proof(replace(case, expires_at=expires))

    # --- show

    def submit_code(self, scope: Scope, case_id: str, code: str) -> Proof:
        """Factor one: the one-off code. RefusedError `proof_failed` for whatever does not fit."""

        def compare(attempt: Attempt) -> Shown | None:
            case, known = attempt.case, attempt.case is not None and attempt.counted
            shown = proofs.code_mac(self._key(scope.tenant), case_id, case.change if case is not None else "", code)
            right = proofs.same(case.code_mac if case is not None and known else NOBODY, shown)
            return _next(case, "code") if right and known else None

        return self._attempt(scope, case_id, code, "code", compare)

    def submit_totp(self, scope: Scope, case_id: str, code: str) -> Proof:
        """Factor two by an authenticator that was enrolled before the change was proposed."""

        def compare(attempt: Attempt) -> Shown | None:
            usable = [f for f in attempt.factors if f.kind == "totp" and proofs.usable(f.enrolled_at, attempt.proposed_at)]
            key = self._key(scope.tenant)
            secret = proofs.unseal(key, scope, usable[0].factor_id, usable[0].secret) if usable else None
            step = proofs.accepted_step(secret or _NO_SECRET, code, attempt.now, usable[0].last_step if usable else 0)
            if secret is None or step is None or not attempt.counted:
                return None
            shown = _next(attempt.case, "channel")
            return replace(shown, factor_id=usable[0].factor_id, step=step) if shown is not None else None

        return self._attempt(scope, case_id, code, "channel", compare)

    def submit_approval(self, scope: Scope, case_id: str, signature: bytes) -> Proof:
        """Factor two by a device that was enrolled before the change was proposed: its signature over this case and this change."""

        def compare(attempt: Attempt) -> Shown | None:
            change = attempt.case.change if attempt.case is not None else ""
            for f in attempt.factors:
                fits = f.kind == "device" and proofs.usable(f.enrolled_at, attempt.proposed_at)
                if fits and proofs.approved(f.secret, signature, case_id, change) and attempt.counted:
                    shown = _next(attempt.case, "channel")
                    return replace(shown, factor_id=f.factor_id) if shown is not None else None
            return None

        return self._attempt(scope, case_id, "", "channel", compare)

    def _attempt(self, scope: Scope, case_id: str, code: str, factor: Factor, compare: Compare) -> Proof:
        check_id(case_id, "case_id")
        check_id(code or None, "code")
        attempt, shown = self._cases.attempt(scope, case_id, factor, compare)
        if shown is None or attempt.case is None:
            raise failed()
        case = replace(attempt.case, state=shown.state, attempts=attempt.case.attempts + 1)
        return self._apply(scope, case) if shown.state == "both" else self._proof(case)

    # --- apply

    def _apply(self, scope: Scope, case: Case) -> Proof:
        """Record the proven change as verified: once, and only the change that was proven."""
        if case.kind == "held":
            if not self._cases.applied(scope, case.case_id):
                raise ConflictError("this proof was used already", code="decided")
            return self._proof(replace(case, state="applied"), self._memory(scope, case.mid))
        row, _, _ = _target(self._snapshot(scope, case.mid), case.mid, self._room.limits.pending_life)
        operation = Operation(operation_id(scope, "proof", case.case_id), case.change, "proof", scope.principal)
        zone = str(row.more.get("zone", "UTC"))
        origin = Origin(f"op:{operation.op}", SourceKind.USER_STATED.value, row.mid, scope.principal, scope.domain, zone)
        mids = many(6)

        def decide(known: Known) -> Changes:
            book = book_of(known, iter(mids))
            pending = book.pendings.get(case.mid)
            if pending is None or change_hash(scope, pending.row) != case.change:
                raise ConflictError("the change this proof was for waits no more", code="decided")
            confirming = case_to_confirm(pending.row, self._rule(row), Trust(verified=True), self._room.limits, book.now)
            decided = [Decided(confirming.statement, confirm(confirming, book, pending, book.now))]
            changes = self._room.close(known, book, decided, Changes("", origin), {}, language_of(row.value or ""))
            return replace(changes, proof=case.case_id)

        written = self._writer.write(scope, operation, whole(row), decide)
        mid = written.changes.created[0].mid if written.changes is not None else case.mid
        return self._proof(replace(case, state="applied"), self._memory(scope, mid))

    # --- enrol

    def enrol_totp(self, scope: Scope) -> TotpEnrolled:
        """A new TOTP secret, shown this once; the old one counts no more. Needs a fresh proof of identity."""
        _check_fresh(scope)
        secret = pyotp.random_base32()
        sealed = proofs.seal(self._key(scope.tenant), scope, TOTP, secret, secrets.token_bytes(proofs.NONCE_BYTES))
        at = self._enrol(scope, Enrolled(TOTP, "totp", sealed))
        uri = pyotp.TOTP(secret, digits=proofs.CODE_DIGITS, interval=proofs.STEP_S).provisioning_uri(name=scope.user, issuer_name=ISSUER)
        return TotpEnrolled(TOTP, secret, uri, from_ms(at))

    def enrol_device(self, scope: Scope, public_key: bytes) -> DeviceEnrolled:
        """A device that may approve changes by signing them (Ed25519, 32 bytes). Needs a fresh proof of identity."""
        _check_fresh(scope)
        factor_id = proofs.device_id(public_key)
        return DeviceEnrolled(factor_id, from_ms(self._enrol(scope, Enrolled(factor_id, "device", public_key))))

    def _enrol(self, scope: Scope, factor: Enrolled) -> Ms:
        at = self._cases.enrol(scope, factor)
        if at is None:
            raise RefusedError("this user has as many factors as one may have", code="too_many_factors")
        return at

    # --- inside

    def _proof(self, case: Case, memory: Memory | None = None) -> Proof:
        state, needs = cast(ProofState, case.state), proofs.missing(case.state)
        return Proof(case.case_id, case.mid, state, needs, from_ms(case.expires_at), case.change, memory)

    def _memory(self, scope: Scope, mid: str) -> Memory | None:
        snapshot = self._snapshot(scope, mid)
        teller = Teller(self._room.ontology, Ledger(snapshot.rows), snapshot.now, snapshot.now)
        return next((teller.memory(r) for r in snapshot.rows if r.mid == mid and r.tombstoned_at is None), None)

    def _snapshot(self, scope: Scope, mid: str) -> Snapshot:
        check_id(mid, "mid")
        snapshot = self._reader.slot_of(scope, mid)
        if snapshot is None:
            raise NotFoundError("no memory of that id")
        return snapshot

    def _rule(self, row: Row) -> Rule:
        known = self._room.ontology.get(row.key)
        return rule_of(known) if known is not None else Rule("one", "versioned", row.lifetime)


_NO_SECRET = "A" * 32


def _next(case: Case | None, factor: Factor) -> Shown | None:
    state = advance(case.state, factor) if case is not None else None
    return Shown(state) if state is not None else None


def _check_fresh(scope: Scope) -> None:
    if FRESH not in scope.rights:
        raise RefusedError(
            "enrolling a factor needs a fresh proof of identity",
            code="verification_required",
            hint="ask again with a token whose proof is at most 5 minutes old",
        )


def _target(snapshot: Snapshot, mid: str, life: Ms) -> tuple[Row, Literal["change", "held"], Row | None]:
    """The row a proof is about, whether it is a change or what is held, and what is held."""
    ledger = Ledger(snapshot.rows)
    pending: Pending | None = next((p for p in snapshot.pendings if p.row.mid == mid and p.row.tombstoned_at is None), None)
    if pending is not None:
        if not pending.open() or snapshot.now >= pending.row.said_at + life:
            raise ConflictError("this change waits no more", code="decided")
        return pending.row, "change", ledger.told(pending.row.slot, snapshot.now, snapshot.now)
    held = next((r for r in snapshot.rows if r.mid == mid and ledger.tells(r, snapshot.now, snapshot.now)), None)
    if held is None:
        raise NotFoundError("no memory of that id waits or holds")
    return held, "held", held
