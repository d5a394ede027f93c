"""Review cases in GraphQL: the inbox, both sides of a case, a decision."""

from __future__ import annotations

from api.derived import made, shows
from api.nodes import all_told, maybe
from graphmem import cases


@shows(cases.ReviewItem, "A case as the inbox shows it: no value.")
class ReviewItem: ...


@shows(cases.ReviewPage, "Cases of one state, oldest first; `next` goes into `after`.")
class ReviewPage: ...


@shows(cases.Evidence, "Where a memory of a case comes from. `quote`: the clause of the turn; forgotten parts are blank.")
class CaseEvidence: ...


@shows(cases.ReviewCase, "Both sides of a case: what is held, what waits, and the clauses they were said in.")
class ReviewCase:
    @classmethod
    def of(cls, case: cases.ReviewCase) -> ReviewCase:
        return made(cls, case, held=all_told(case.held), pending=maybe(case.pending))


@shows(cases.ReviewDecided)
class ReviewDecision:
    @classmethod
    def of(cls, done: cases.ReviewDecided) -> ReviewDecision:
        return made(cls, done, memory=maybe(done.memory))
