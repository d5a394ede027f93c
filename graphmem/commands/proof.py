"""Commands of the two proofs: proof start, code, totp, approve, and enrolling what gives the second one."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.commands.frame import Out, Who, command, graphmem, say, short
from graphmem.commands.options import MidArgument, ProvedOption
from graphmem.commands.rows import named
from graphmem.errors import InvalidInputError

if TYPE_CHECKING:
    from graphmem.cases import Proof

CaseArgument = Annotated[str, typer.Argument(help="Id of the proof, as proof start gives it.")]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    proofs = typer.Typer(help="Two independent proofs of a change of a phone or ID number.", no_args_is_help=True)
    for act in (start, code, totp, approve):
        command(proofs)(act)
    command(proofs, "enrol-totp")(enrol_totp)
    command(proofs, "enrol-device")(enrol_device)
    app.add_typer(proofs, name="proof")


def start(mid: MidArgument, who: Who, out: Out) -> None:
    """Begin the two proofs of a pending change, or of the value that is held; a code goes out."""
    with graphmem() as g:
        _shown(g.start_proof(who.scope, mid), out)


def code(case_id: CaseArgument, value: Annotated[str, typer.Argument(help="The code that was sent.")], who: Who, out: Out) -> None:
    """Factor one: the code that was sent."""
    with graphmem(project=True) as g:
        _shown(g.submit_code(who.scope, case_id, value), out)


def totp(case_id: CaseArgument, value: Annotated[str, typer.Argument(help="A code of the authenticator.")], who: Who, out: Out) -> None:
    """Factor two: a code of the authenticator."""
    with graphmem(project=True) as g:
        _shown(g.submit_totp(who.scope, case_id, value), out)


def approve(case_id: CaseArgument, signature: Annotated[str, typer.Argument(help="Ed25519, base64.")], who: Who, out: Out) -> None:
    """Factor two: a device's signature over `graphmem approve`, NUL, case id, NUL, change."""
    with graphmem(project=True) as g:
        _shown(g.submit_approval(who.scope, case_id, _bytes(signature, "signature")), out)


def enrol_totp(who: Who, proved: ProvedOption = False, *, out: Out) -> None:
    """A new authenticator secret, shown this once; needs --proved."""
    with graphmem() as g:
        made = g.enrol_totp(who.proved(proved))
    out(made, [made], ("factor", "secret", "uri"), lambda m: (m.factor_id, m.secret, m.uri))


def enrol_device(
    public_key: Annotated[str, typer.Argument(help="Ed25519 public key, 32 bytes, base64.")],
    who: Who,
    proved: ProvedOption = False,
    *,
    out: Out,
) -> None:
    """A device that may approve changes; needs --proved."""
    with graphmem() as g:
        made = g.enrol_device(who.proved(proved), _bytes(public_key, "public_key"))
    out(made, [made], ("factor", "enrolled"), lambda m: (m.factor_id, short(m.enrolled_at)))


def _shown(proof: Proof, out: Out) -> None:
    missing = ", ".join(proof.missing)
    row = (proof.state, missing, short(proof.expires_at), named(proof.applied)[0], proof.change, proof.case_id)
    out(proof, [proof], ("state", "missing", "until", "applied", "change", "case"), lambda _: row)
    if missing:
        say(f"still needed: {missing}")


def _bytes(text: str, name: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInputError(f"{name} is no base64", field=name, code="bad_base64") from error
