"""What people decide: review cases, and two proofs of a change."""

from __future__ import annotations

from graphmem.cases import DeviceEnrolled, Proof, ReviewCase, ReviewDecided, ReviewPage, TotpEnrolled
from graphmem.proving import Proving
from graphmem.reviewing import Reviewing
from graphmem.scope import Scope


class Deciding:
    """The façade's door for reviewers and for proofs of identity."""

    _reviewing: Reviewing
    proving: Proving

    def reviews(self, scope: Scope, state: str | None = None, *, limit: int = 20, cursor: str | None = None) -> ReviewPage:
        """A page of the tenant's review cases; see Reviewing.page."""
        return self._reviewing.page(scope, state, limit, cursor)

    def review(self, scope: Scope, case_id: str) -> ReviewCase:
        """Both sides of a case with their evidence; see Reviewing.case."""
        return self._reviewing.case(scope, case_id)

    def decide_review(self, scope: Scope, case_id: str, decision: str, note: str | None = None) -> ReviewDecided:
        """approve, reject or keep_both; see Reviewing.decide."""
        return self._reviewing.decide(scope, case_id, decision, note)

    def start_proof(self, scope: Scope, mid: str) -> Proof:
        """Begin two proofs of a pending change, or of the value held; a code goes out. See Proving.start."""
        return self.proving.start(scope, mid)

    def submit_code(self, scope: Scope, case_id: str, code: str) -> Proof:
        """Factor one: the code that was sent."""
        return self.proving.submit_code(scope, case_id, code)

    def submit_totp(self, scope: Scope, case_id: str, code: str) -> Proof:
        """Factor two: a code of the authenticator."""
        return self.proving.submit_totp(scope, case_id, code)

    def submit_approval(self, scope: Scope, case_id: str, signature: bytes) -> Proof:
        """Factor two: a device's signature over proofs.approval_message."""
        return self.proving.submit_approval(scope, case_id, signature)

    def enrol_totp(self, scope: Scope) -> TotpEnrolled:
        """A new authenticator secret, shown this once."""
        return self.proving.enrol_totp(scope)

    def enrol_device(self, scope: Scope, public_key: bytes) -> DeviceEnrolled:
        """A device that may approve changes."""
        return self.proving.enrol_device(scope, public_key)
