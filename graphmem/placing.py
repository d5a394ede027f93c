"""The rows a statement makes: put among the others, with what it overrules and what was said again after it. Pure, like the judge."""

from __future__ import annotations

from dataclasses import replace

from graphmem.book import Book, Case, Copied, begins, observations_after
from graphmem.validity import Observation, Row, counts, same_thing, spans


def place(case: Case, book: Book) -> Row:
    """Record the statement as a row: overrule what its words claim, restate what was observed later, link what it replaces."""
    row = case.row(next(book.mids), book.next_version(case.slot))
    gone = _claimed_by_another(case, book, row)
    again = overrule(case, book, row, gone=gone) if case.claims else []
    before = None if gone else displaced(case, book)
    if gone:
        row = replace(row, retracted_at=case.now, overruled=True)
    elif not row.inset:
        again += _observed_later(case, book, row)
    book.create(row, before.mid if before is not None and not row.inset else None)
    for held, later in again:
        restate(book, held, later)
    return row


def overrule(case: Case, book: Book, row: Row, *, gone: bool) -> list[tuple[Row, list[Observation]]]:
    """Retract what the claimed span overrules; return what was stated again after it. Rows of its value inside it are observed."""
    again = []
    for other in _overruled(case, book, row):
        later = observations_after(book, other, row.valid_from, case.said_at)
        again += [(other, later)] if later else []
        book.retract(other, overruled=True)
    if gone:
        return again
    standing = [r for r in book.ledger.by_slot.get(case.slot, ()) if case.same_value(r) and not r.inset and counts(r, book.now)]
    for same in [r for r in standing if row.valid_from <= r.valid_from <= case.said_at]:
        book.observe(same, case)
    return again


def _related(case: Case, book: Book, row: Row, *, every: bool = True) -> list[Row]:
    """Rows of the slot with another value and rows of the other polarity about the same thing, counting or overruled.

    Without `every` only those whose words, or whose observations' words, may claim a span.
    """
    found = {r.mid: r for r in book.ledger.by_slot.get(case.slot, ()) if (every or r.claims or r.observations) and not case.same_value(r)}
    against = [r for r in book.ledger.by_thing[case.thing] if r.polarity != row.polarity and (every or r.claims or r.observations)]
    found |= {r.mid: r for r in against if same_thing(r, row)}
    return [r for r in found.values() if (counts(r, book.now) or r.overruled) and r.mid != row.mid]


def _claimed_by_another(case: Case, book: Book, row: Row) -> bool:
    """A later statement of another value already claims the time at which this one begins: it is overruled as it arrives."""
    if case.rule.policy != "versioned":
        return False
    claiming = (other for other in _related(case, book, row, every=False))
    return any(since <= row.valid_from <= at and at > case.said_at for other in claiming for since, at in spans(other))


def _overruled(case: Case, book: Book, row: Row) -> list[Row]:
    """Rows of other values that begin inside the claimed span and were said earlier; never on dual or review keys."""
    if case.rule.policy != "versioned":
        return []
    related = [r for r in _related(case, book, row) if counts(r, book.now)]
    return [r for r in related if row.valid_from <= r.valid_from <= case.said_at and r.said_at < case.said_at]


def displaced(case: Case, book: Book) -> Row | None:
    """What is told just where the statement begins: of its slot, else of the opposite polarity."""
    held = book.told(case.slot, case.start)
    if held is not None:
        return held
    opposed = [] if case.statement.is_end else book.against(case, case.start)
    return opposed[0] if opposed else None


def _observed_later(case: Case, book: Book, row: Row) -> list[tuple[Row, list[Observation]]]:
    """The rows it follows or opposes that were stated again later (outside what it claims): they come back from there."""
    follows = book.standing(case.slot, row.valid_from)
    opposed = [] if row.is_end else book.opposites(row, row.valid_from)
    found = []
    for held in {r.mid: r for r in (follows, *opposed) if r is not None and not r.is_end and not case.same_value(r)}.values():
        later = observations_after(book, held, row.valid_from, case.said_at if case.claims else row.valid_from)
        if later:
            found.append((held, later))
    return found


def restate(book: Book, held: Row, later: list[Observation]) -> None:
    """That row's value again from the observation that came after a late arrival, with the observations that follow it."""
    first = later[0]
    start = begins(first)
    again = replace(
        held,
        mid=next(book.mids),
        version=book.next_version(held.slot),
        said_at=first.at,
        valid_from=start,
        recorded_at=book.now,
        observations=tuple(later[1:]),
        retracted_at=None,
        overruled=False,
        claims=start < first.at,
        inset=False,
        prev_mid=None,
        next_mid=None,
        more={**held.more, "restated": held.mid},
    )
    book.create(again)
    book.copied.append(Copied(again.mid, held.mid, min(o.at for o in later), max(o.at for o in later)))


__all__ = ["displaced", "overrule", "place", "restate"]
