"""The judge: nine questions in the order of design section 5, the first that answers decides. Pure: rows in, verdicts and effects out.

Each question is a function of (case, book); it returns a Judgement and has applied its effects to the book, or returns None: ask the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graphmem.book import Book, Case, Judgement, observations_after
from graphmem.memory import Kind, Verdict
from graphmem.placing import displaced, overrule, place, restate
from graphmem.validity import Ms, Pending, Row, counts, last_observed, same_thing


def judge(case: Case, book: Book) -> Judgement:
    """Decide one statement and apply what follows to the book."""
    case = _ends_after_start(case, book)
    for question in QUESTIONS:
        if (judgement := question(case, book)) is not None:
            return judgement
    raise AssertionError("the last question always answers")


def _ends_after_start(case: Case, book: Book) -> Case:
    """An end that names a time at or before the start of the value it ends begins 1 ms after that start."""
    if not case.statement.is_end:
        return case
    held = book.told(case.slot, case.probe)
    if held is None or case.start > held.valid_from:
        return case
    return replace(case, start=held.valid_from + 1)


# --- 1


def refused(case: Case, book: Book) -> Judgement | None:
    """No source, or the calling application's own check failed on a dual key."""
    if not case.trust.sourced:
        return Judgement(Verdict.REFUSED, reason="no_source")
    if case.rule.policy == "dual" and case.trust.verified is False:
        return Judgement(Verdict.REFUSED, reason="refused_by_policy")
    return None


# --- 2


def slip(case: Case, book: Book) -> Judgement | None:
    """ "I misspoke": the version meant is retracted, the new value takes its start; never on dual or review keys."""
    s = case.statement
    if not s.slip or case.rule.policy != "versioned":
        return None
    meant = _meant(case, book)
    later = [] if meant is None else observations_after(book, meant, meant.valid_from, case.said_at)
    if meant is not None:
        book.retract(meant)
        book.slipped[(s.key, s.subject)] = meant.valid_from, meant.ends_at
        if s.polarity == "-" or s.is_end:
            return Judgement(Verdict.RETRACT, mid=meant.mid)
    if (s.key, s.subject) not in book.slipped:
        return None
    start, ends = book.slipped[(s.key, s.subject)]
    taking = replace(case, start=start, ends_at=case.ends_at or ends) if s.start is None else case
    row = place(taking, book)
    if meant is not None and later:
        restate(book, meant, later)
    _overtake(case, book)
    return Judgement(Verdict.SUPERSEDE, row.mid, supersedes=meant.mid if meant is not None else None)


def _meant(case: Case, book: Book) -> Row | None:
    """The version that is taken back: the named value's, else the last one stated of this key and subject."""
    s = case.statement
    named = s.ckey if s.polarity == "-" or s.is_end else s.old
    rows = [
        r
        for r in book.rows.values()
        if (r.key, r.subject) == (s.key, s.subject)
        and counts(r, book.now)
        and r.recorded_at < book.now
        and r.tombstoned_at is None
        and not r.is_end
        and r.said_at <= case.said_at
        and (
            r.ckey == named
            if named
            else not case.same_value(r) and (r.thing == case.thing or book.told(r.slot, book.now) is r or r.slot == case.slot)
        )
    ]
    return max(rows, key=lambda r: (r.said_at, r.recorded_at, r.version), default=None)


# --- 3


def answers_pending(case: Case, book: Book) -> Judgement | None:
    """A later restatement of a pending value confirms it (preferences); of the held value rejects it, and is judged on."""
    s = case.statement
    for pending in book.open_pendings(case.said_at, case.limits.pending_life):
        p = pending.row
        if case.said_at <= p.said_at or s.is_end or s.slip or case.over:
            continue
        if p.slot == case.slot and case.same_value(p) and s.kind is Kind.PREFERENCE:
            start = max(case.said_at, case.start, p.valid_from)
            return confirm(replace(case, start=start, ends_at=case.ends_at or p.ends_at), book, pending, case.said_at)
        if _restates_held(case, book, p):
            book.decide(pending, "rejected", case.said_at)
    return None


def _restates_held(case: Case, book: Book, p: Row) -> bool:
    """The statement repeats what the pending one would have replaced: the opposite of its thing, or the value held in its slot."""
    s = case.statement
    if s.polarity != p.polarity and same_thing(p, case.row("", 0)):
        return True
    held = book.told(p.slot, case.probe)
    return case.slot == p.slot and held is not None and case.same_value(held)


def confirm(case: Case, book: Book, pending: Pending, decided: Ms) -> Judgement:
    """Record a pending memory as a new version, valid from the later of decision and stated start."""
    book.decide(pending, "confirmed", decided)
    before = displaced(case, book)
    row = place(case, book)
    return Judgement(Verdict.SUPERSEDE if before else Verdict.NEW, row.mid, supersedes=before.mid if before else None, reason="confirmed")


# --- 4


def over_when_said(case: Case, book: Book) -> Judgement | None:
    """A period that was over when it was said: a row of its own that ends nothing."""
    if not case.over or case.statement.is_end:
        return None
    row = place(case, book)
    return Judgement(Verdict.BACKFILL, row.mid)


# --- 5


def reinforced(case: Case, book: Book) -> Judgement | None:
    """The value told at said_at (at the start, if that is to come), with no other stated end."""
    held = book.told(case.slot, case.probe)
    if held is None or not case.same_value(held) or (case.ends_at is not None and case.ends_at != held.ends_at):
        return None
    if case.start < held.valid_from:
        earlier = place(case, book)
        if not case.claims:  # a claim has observed it already
            book.observe(held, case)
        return Judgement(Verdict.REINFORCE, held.mid, reason=f"earlier_start:{earlier.mid}")
    again = overrule(case, book, case.row("", 0), gone=False) if case.claims else []
    if not case.claims or held.valid_from < case.start:
        book.observe(held, case)
    for other, later in again:
        restate(book, other, later)
    return Judgement(Verdict.REINFORCE, held.mid)


# --- 6


def backfilled(case: Case, book: Book) -> Judgement | None:
    """Something later is known already, and the statement makes no claim to hold later: one more row (or two), never pending."""
    if not is_late(case, book):
        return None
    row = place(case, book)
    return Judgement(Verdict.BACKFILL, row.mid)


def is_late(case: Case, book: Book) -> bool:
    """A row, an observation of the row held then, or an opposite row of its concept lies after said_at and at or before now."""
    a, now = case.anchor, case.now
    if case.start > a:
        return False
    free = case.rule.policy == "versioned"  # where proofs are asked, a backfill may not change what is told now: only its own slot counts
    other = [r for r in book.ledger.by_thing[case.thing] if free and r.polarity != case.statement.polarity and not r.is_end]
    like = case.row("", 0) if other else None
    rivals = [r for r in other if like is not None and same_thing(r, like)]
    rows = [*book.ledger.by_slot.get(case.slot, ()), *rivals]
    if any(a < r.valid_from <= now and not r.inset and counts(r, now) for r in rows):
        return True
    held = [r for r in (book.standing(case.slot, a), *(book.against(case, a) if free else ())) if r is not None]
    return any(any(a < o.at <= now for o in r.observations) or (r.claims and r.said_at > a) for r in held)


# --- 7


def policy(case: Case, book: Book) -> Judgement | None:
    """Facts that may not change by a word alone: dual and review keys, and denials of what safety depends on."""
    if case.statement.kind is not Kind.FACT:
        return None
    reason = _waits(case, book)
    if reason is None:
        return None
    verdict = Verdict.PENDING if reason in ("dual", "hedged") else Verdict.REVIEW
    return pend(case, book, verdict, reason)


def _waits(case: Case, book: Book) -> str | None:
    s, rule, trust = case.statement, case.rule, case.trust
    if rule.safety and s.hedged and s.polarity == "+" and not s.is_end:
        return "hedged"
    if rule.safety and (s.polarity == "-" or (s.is_end and rule.policy == "review")):
        affirmed = [r for r in book.told_of_key(s.key, s.subject, case.probe) if r.polarity == "+"]
        denied = affirmed if s.whole_key else [r for r in affirmed if r.slot == case.slot]
        return "denial" if denied and s.grounds is None and not trust.vouched else None
    if rule.safety or not _changes(case, book):
        return None
    if rule.policy == "dual" and not trust.verified:
        return "dual"
    return "review" if rule.policy == "review" and not trust.vouched else None


def _changes(case: Case, book: Book) -> bool:
    """Something else is held: another value of the slot, or the opposite of what is said. A first value changes nothing."""
    held = book.told(case.slot, case.probe)
    against = [] if case.statement.is_end else book.against(case, case.probe)
    return bool(against) or (held is not None and not case.same_value(held))


def pend(case: Case, book: Book, verdict: Verdict, reason: str) -> Judgement:
    """Keep the statement as pending: no version, no start, a handle of its own; it ends an older open one of its slot."""
    others = [p for p in book.open_pendings(case.said_at, case.limits.pending_life) if p.row.slot == case.slot]
    _overtake(case, book)
    row = case.row(next(book.mids), 0)
    book.pend(Pending(row, reason, pending_from=case.said_at))
    for newer in [p for p in others if p.row.said_at > case.said_at][:1]:
        book.decide(book.pendings[row.mid], "overtaken", newer.row.said_at)
    return Judgement(verdict, row.mid, reason=reason)


# --- 8


def window(case: Case, book: Book) -> Judgement | None:
    """Preferences in speech: the opposite, or another value without words of change, 0 to 72 hours after the last observation waits."""
    s = case.statement
    if s.kind is not Kind.PREFERENCE or s.deliberate or s.is_end:
        return None
    against = book.against(case, case.probe)
    held = book.told(case.slot, case.probe)
    if held is not None and held.polarity == s.polarity and not case.same_value(held) and not s.change:
        against.append(held)
    fresh = [r for r in against if 0 <= case.said_at - last_observed(r, case.said_at, case.now) <= case.limits.window]
    return pend(case, book, Verdict.PENDING, "reversal_window") if fresh else None


# --- 9


def decided(case: Case, book: Book) -> Judgement:
    """New, end, supersede; schedule if the start is to come. At equal start the later recorded wins."""
    s = case.statement
    if s.claims and case.rule.policy != "versioned" and _changes(case, book):
        case = replace(case, start=max(case.start, case.said_at))  # a proven change starts when it was said
    before = displaced(case, book)
    row = place(case, book)
    _overtake(case, book)
    prior = before.mid if before is not None else None
    if case.scheduled:
        return Judgement(Verdict.SCHEDULE, row.mid, supersedes=prior)
    if book.ledger.answer(case.slot, case.now, case.now) is not book.rows[row.mid]:
        return Judgement(Verdict.BACKFILL, row.mid)
    if s.is_end:
        return Judgement(Verdict.END, row.mid, supersedes=prior)
    return Judgement(Verdict.SUPERSEDE if prior else Verdict.NEW, row.mid, supersedes=prior)


def _overtake(case: Case, book: Book) -> None:
    """A version said at or after an open pending one of its slot ends it."""
    for pending in book.open_pendings(case.said_at, case.limits.pending_life):
        if pending.row.slot == case.slot and pending.row.said_at <= case.said_at:
            book.decide(pending, "overtaken", case.said_at)


QUESTIONS: tuple[Callable[[Case, Book], Judgement | None], ...] = (
    refused,
    slip,
    answers_pending,
    over_when_said,
    reinforced,
    backfilled,
    policy,
    window,
    decided,
)


__all__ = ["QUESTIONS", "confirm", "is_late", "judge"]
