"""Which rows are old enough to leave the graph for the archive, and may: nothing that stays is told otherwise without them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphmem.memory import Kind
from graphmem.purge import gone, precede, silences
from graphmem.validity import Ledger, Ms, Row, lapses


@dataclass(frozen=True, slots=True)
class Ages:
    """How long after its end a superseded row, and after its expiry an expired one, stays in the graph."""

    superseded: Ms
    expired: Ms


def movable(rows: Sequence[Row], now: Ms, ages: Ages) -> list[Row]:
    """The rows that may leave: the lowest versions of a slot, old enough, before everything that stays, silencing nothing.

    rows: all of a user, or of some slots and everything about their things.
    """
    ledger = Ledger(rows)
    found: list[Row] = []
    for slot in sorted(ledger.by_slot):
        ordered = sorted(ledger.by_slot[slot], key=lambda r: r.version)
        cut = next((n for n in range(len(ordered)) if not _old(ordered[n], ledger, now, ages)), len(ordered))
        found += next((ordered[:n] for n in range(cut, 0, -1) if _apart(ordered[:n], ordered[n:], ledger, now)), [])
    return found


def _apart(first: Sequence[Row], rest: Sequence[Row], ledger: Ledger, now: Ms) -> bool:
    """Without these rows nothing else is answered otherwise: they come before the rest of their slot and silence no other memory."""
    leaving = {r.mid for r in first}
    return precede(first, rest) and not any(silences(r, [x for x in ledger.by_thing[r.thing] if x.mid not in leaving], now) for r in first)


def _old(row: Row, ledger: Ledger, now: Ms, ages: Ages) -> bool:
    """Whether a row was over long enough ago. What holds or is planned is not, and no fact ever is."""
    if row.kind is Kind.FACT or row.current or row.planned or row.valid_from > now:
        return False
    if row.tombstoned_at is not None:
        return gone(row, now)
    if row.retracted_at is not None:
        return row.retracted_at <= now - ages.superseded
    until, _ = ledger.end(row, now)
    end = lapses(row, now)
    return until <= now - ages.superseded or (end is not None and end <= now - ages.expired)


__all__ = ["Ages", "movable"]
