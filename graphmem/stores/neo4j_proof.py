"""Verification cases and factors on Neo4j. Counters are written before a comparison is made, in its transaction, under the user's lock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, cast

from neo4j import ManagedTransaction

from graphmem.proofs import A_DAY_MS, CASES_A_DAY, LIFE_MS, Case, Factor, allows
from graphmem.proving import Attempt, Compare, Enrolled, Grounds, Shown
from graphmem.scope import Scope
from graphmem.stores.neo4j_base import Neo4j
from graphmem.validity import Ms

FACTORS = 10
"""Factors one user may enrol."""


class Neo4jProofs:
    """See proving.Cases."""

    def __init__(self, neo4j: Neo4j) -> None:
        self._neo4j = neo4j

    def grounds(self, scope: Scope, mid: str, held: Sequence[str]) -> Grounds:
        found = self._neo4j.read_one("proof_grounds", {**_scope(scope), "mid": mid, "held": list(held)})
        if found is None:
            return Grounds((), False)
        return Grounds(tuple(_case(p) for p in found["ready"]), found["proven"] > 0)

    def start(self, scope: Scope, case: Case, proposed_at: Ms) -> Ms | None:
        found = self._neo4j.write_one(
            "proof_start",
            {
                **_scope(scope), "case_id": case.case_id, "mid": case.mid, "change": case.change,
                "kind": case.kind, "proposed_at": proposed_at, "code_mac": case.code_mac.hex(),
                "life_ms": LIFE_MS, "day_ms": A_DAY_MS, "most": CASES_A_DAY,
            },
        )  # fmt: skip
        return None if found is None or not found["opened"] else cast(int, found["expires_at"])

    def attempt(self, scope: Scope, case_id: str, factor: Factor, compare: Compare) -> tuple[Attempt, Shown | None]:
        def work(tx: ManagedTransaction) -> tuple[Attempt, Shown | None]:
            named = {**_scope(scope), "case_id": case_id}
            found = self._neo4j.run(tx, "proof_lock", named)
            case = None if found["found"] is None else _case(found["found"])
            proposed = found["now"] if case is None else found["found"]["proposed_at"]
            counted = allows(case, factor, found["now"])
            # before the comparison; a case that allows none is counted under no id: the same work
            self._neo4j.run(tx, "proof_count", named if counted else {**named, "case_id": ""})
            attempt = Attempt(case, counted, found["now"], proposed, tuple(_factor(f) for f in found["factors"]))
            shown = compare(attempt)
            if shown is None or case is None or not counted:
                return attempt, None
            kept = self._neo4j.run(
                tx,
                "proof_shown",
                {**named, "before": case.state, "after": shown.state, "factor_id": shown.factor_id, "step": shown.step},
            )
            return attempt, shown if kept["shown"] else None

        return self._neo4j.transact(work)

    def applied(self, scope: Scope, case_id: str) -> bool:
        found = self._neo4j.write_one("proof_applied", {**_scope(scope), "case_id": case_id})
        return found is not None and bool(found["applied"])

    def enrol(self, scope: Scope, factor: Enrolled) -> Ms | None:
        found = self._neo4j.write_one(
            "factor_enrol",
            {
                **_scope(scope), "factor_id": factor.factor_id, "kind": factor.kind, "most": FACTORS,
                "secret": factor.secret.hex() if factor.kind == "totp" else None,
                "public_key": factor.secret.hex() if factor.kind == "device" else None,
            },
        )  # fmt: skip
        return None if found is None or not found["enrolled"] else cast(int, found["enrolled"][0])


def _scope(scope: Scope) -> dict[str, object]:
    return {"tenant_id": scope.tenant, "user_id": scope.user}


def _case(p: Mapping[str, object]) -> Case:
    return Case(
        case_id=str(p["case_id"]),
        mid=str(p["mid"]),
        change=str(p["change"]),
        state=str(p["state"]),
        attempts=cast(int, p["attempts"]),
        expires_at=cast(int, p["expires_at"]),
        code_mac=bytes.fromhex(str(p["code_mac"])),
        kind=cast(Literal["change", "held"], p["kind"]),
    )


def _factor(f: Mapping[str, object]) -> Enrolled:
    stored = str(f.get("secret") or f.get("public_key") or "")
    return Enrolled(
        str(f["factor_id"]),
        cast(Literal["totp", "device"], f["kind"]),
        bytes.fromhex(stored),
        cast(int, f["enrolled_at"]),
        cast(int, f["last_step"]),
    )
