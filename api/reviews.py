"""Review cases of a tenant, and the two proofs of a user's change."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from api.answers import Answer, MemoryOut, Text2Out
from api.call import NO_QUERY, Call, Called, Door, Segment
from api.links import link_next
from api.types import Body, Cursor, Limit
from api.words import Name, Sound, Told
from graphmem.errors import InvalidInputError
from graphmem.memory import Kind
from graphmem.proofs import Factor, ProofState
from graphmem.review import NOTE_MAX, Decision, State

PAGE = 20

router = APIRouter(route_class=Door, tags=["reviews"])
proofs = APIRouter(route_class=Door, tags=["proofs"], dependencies=NO_QUERY)


class ReviewOut(Answer):
    case_id: str
    user_id: str
    state: State
    reason: str
    kind: Kind
    key: str
    label: Text2Out
    subject: str
    pending_mid: str
    proposed_by: str
    opened_at: Told
    due_at: Told
    decided_at: Told | None
    decided_by: str | None
    decision: Decision | None
    note: str | None


class ReviewPageOut(Answer):
    items: list[ReviewOut]
    next: str | None
    has_next: bool


class EvidenceOut(Answer):
    mid: str
    source: str
    kind: str
    at: Told
    quote: str | None
    turn_id: str | None
    session_id: str | None


class ReviewCaseOut(Answer):
    """Both sides: what is held, what waits, and the clauses they were said in."""

    item: ReviewOut
    held: list[MemoryOut]
    pending: MemoryOut | None
    question: Text2Out | None
    evidence: list[EvidenceOut]
    decisions: list[Decision]


class ReviewDecidedOut(Answer):
    item: ReviewOut
    memory: MemoryOut | None
    supersedes: str | None
    replayed: bool
    revision: int


class ReviewQuery(Body):
    state: State | None = None
    limit: Limit | None = None
    cursor: Cursor | None = None


class DecisionIn(Body):
    decision: Decision
    note: Annotated[Sound, Field(max_length=NOTE_MAX)] | None = None


class ProofOut(Answer):
    """`change` is the SHA-256 of the proposed change: a device signs it together with the case id."""

    case_id: str
    mid: str
    state: ProofState
    missing: list[Factor]
    expires_at: Told
    change: str
    applied: MemoryOut | None


class ProofIn(Body):
    mid: Name


class CodeIn(Body):
    code: Annotated[Sound, Field(min_length=1, max_length=64)]


class ApprovalIn(Body):
    signature: Annotated[Sound, Field(min_length=1, max_length=256, description="Ed25519 signature, base64")]


class DeviceIn(Body):
    public_key: Annotated[Sound, Field(min_length=1, max_length=256, description="Ed25519 public key, 32 bytes, base64")]


class TotpOut(Answer):
    factor_id: str
    secret: str
    uri: str
    enrolled_at: Told


class DeviceOut(Answer):
    factor_id: str
    enrolled_at: Told


# --- review cases: of the whole tenant, with the right `review`


@router.get("/reviews", name="listReviews")
def list_reviews(call: Called, query: Annotated[ReviewQuery, Query()], request: Request, response: Response) -> ReviewPageOut:
    """The tenant's cases of one state (open unless asked otherwise), oldest first."""
    page = call.graphmem.reviews(call.scope, query.state, limit=query.limit or PAGE, cursor=query.cursor)
    link_next(response, request, f"{_root(call)}/reviews", page.next)
    return ReviewPageOut.model_validate(page)


@router.get("/reviews/{case_id:segment}", name="getReview", dependencies=NO_QUERY)
def get_review(call: Called, case_id: Segment) -> ReviewCaseOut:
    """One case: both sides with their evidence."""
    return ReviewCaseOut.model_validate(call.graphmem.review(call.scope, case_id))


@router.post("/reviews/{case_id:segment}:decide", name="decideReview", dependencies=NO_QUERY)
def decide_review(call: Called, case_id: Segment, body: DecisionIn) -> ReviewDecidedOut:
    """Approve, reject or keep both. The same decision of the same reviewer again gives the same answer."""
    return ReviewDecidedOut.model_validate(call.graphmem.decide_review(call.scope, case_id, body.decision, body.note))


def _root(call: Call) -> str:
    return call.base.removesuffix("/me")


# --- two proofs: of one user


@proofs.post("/proofs", name="startProof", status_code=201)
def start_proof(call: Called, body: ProofIn) -> ProofOut:
    """Begin the two proofs of a pending change, or of the value that is held; a code goes out."""
    return ProofOut.model_validate(call.graphmem.start_proof(call.scope, body.mid))


@proofs.post("/proofs/{case_id:segment}:code", name="submitCode")
def submit_code(call: Called, case_id: Segment, body: CodeIn) -> ProofOut:
    """Factor one: the code that was sent."""
    return ProofOut.model_validate(call.graphmem.submit_code(call.scope, case_id, body.code))


@proofs.post("/proofs/{case_id:segment}:totp", name="submitTotp")
def submit_totp(call: Called, case_id: Segment, body: CodeIn) -> ProofOut:
    """Factor two: a code of the authenticator."""
    return ProofOut.model_validate(call.graphmem.submit_totp(call.scope, case_id, body.code))


@proofs.post("/proofs/{case_id:segment}:approve", name="submitApproval")
def submit_approval(call: Called, case_id: Segment, body: ApprovalIn) -> ProofOut:
    """Factor two: a device's signature over `graphmem approve`, NUL, case id, NUL, change."""
    return ProofOut.model_validate(call.graphmem.submit_approval(call.scope, case_id, bytes_of(body.signature, "signature")))


@proofs.post("/factors/totp", name="enrolTotp", status_code=201)
def enrol_totp(call: Called) -> TotpOut:
    """A new authenticator secret, shown this once; needs a fresh proof of identity."""
    return TotpOut.model_validate(call.graphmem.enrol_totp(call.scope))


@proofs.post("/factors/devices", name="enrolDevice", status_code=201)
def enrol_device(call: Called, body: DeviceIn) -> DeviceOut:
    """A device that may approve changes; needs a fresh proof of identity."""
    return DeviceOut.model_validate(call.graphmem.enrol_device(call.scope, bytes_of(body.public_key, "public_key")))


def bytes_of(text: str, field: str) -> bytes:
    """What base64 text holds; InvalidInputError `bad_base64` for anything else."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as fault:
        raise InvalidInputError("is no base64", field=field, code="bad_base64") from fault
