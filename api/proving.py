"""Mutations of the two proofs of a change: start, the codes, a device's approval, enrolling."""

from __future__ import annotations

import strawberry

from api.inputs import ApprovalInput, CodeInput, DeviceInput, ProofInput
from api.nodes import Info, as_is, field
from api.outcomes import DeviceFactor, Proof, TotpFactor
from api.payloads import DevicePayload, ProofPayload, TotpPayload, tried
from api.reviews import ApprovalIn, CodeIn, DeviceIn, ProofIn, bytes_of


@strawberry.type
class Proving:
    @field("Begin the two proofs of a pending change, or of the value that is held; a code goes out.")
    def start_proof(self, info: Info, input: ProofInput) -> ProofPayload:  # noqa: A002
        c = info.context
        done, errors = tried(lambda: Proof.of(c.graphmem.start_proof(c.scope, ProofIn(mid=input.mid).mid)))
        return ProofPayload(proof=done, user_errors=errors)

    @field("Factor one: the code that was sent.")
    def submit_code(self, info: Info, input: CodeInput) -> ProofPayload:  # noqa: A002
        c = info.context
        done, errors = tried(lambda: Proof.of(c.graphmem.submit_code(c.scope, input.case_id, CodeIn(code=input.code).code)))
        return ProofPayload(proof=done, user_errors=errors)

    @field("Factor two: a code of the authenticator.")
    def submit_totp(self, info: Info, input: CodeInput) -> ProofPayload:  # noqa: A002
        c = info.context
        done, errors = tried(lambda: Proof.of(c.graphmem.submit_totp(c.scope, input.case_id, CodeIn(code=input.code).code)))
        return ProofPayload(proof=done, user_errors=errors)

    @field("Factor two: a device's signature.")
    def submit_approval(self, info: Info, input: ApprovalInput) -> ProofPayload:  # noqa: A002
        def act() -> Proof:
            signature = bytes_of(ApprovalIn(signature=input.signature).signature, "signature")
            return Proof.of(info.context.graphmem.submit_approval(info.context.scope, input.case_id, signature))

        done, errors = tried(act)
        return ProofPayload(proof=done, user_errors=errors)

    @field("A new authenticator secret, shown this once; needs a fresh proof of identity.")
    def enrol_totp(self, info: Info) -> TotpPayload:
        def act() -> TotpFactor:
            made: TotpFactor = as_is(info.context.graphmem.enrol_totp(info.context.scope))
            return made

        done, errors = tried(act)
        return TotpPayload(factor=done, user_errors=errors)

    @field("A device that may approve changes; needs a fresh proof of identity.")
    def enrol_device(self, info: Info, input: DeviceInput) -> DevicePayload:  # noqa: A002
        def act() -> DeviceFactor:
            key = bytes_of(DeviceIn(public_key=input.public_key).public_key, "public_key")
            made: DeviceFactor = as_is(info.context.graphmem.enrol_device(info.context.scope, key))
            return made

        done, errors = tried(act)
        return DevicePayload(factor=done, user_errors=errors)


__all__ = ["Proving"]
