"""What a purge may take of forgotten memories once they cannot come back any more. Pure.

A forgotten row keeps its place and its opposition. Once purged, its content is gone, and its slot and concept are named by it only while a
memory that was not forgotten names the same: a slot's oldest forgotten rows that silence nothing else go as a whole; of the others a row
that stands alone with its concept loses that name.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graphmem.validity import Ledger, Ms, Row, counts, same_thing
from graphmem.writing import Purge

UNDELETE_MS: Ms = 72 * 3600 * 1000
"""How long a forgotten memory may be brought back (design section 5)."""


def gone(row: Row, now: Ms) -> bool:
    """Forgotten so long ago that it cannot come back."""
    return row.tombstoned_at is not None and now >= row.tombstoned_at + UNDELETE_MS


def purge_of(rows: Sequence[Row], slots: Collection[str], now: Ms) -> Purge:
    """The purge of these slots. rows: all of the slots and everything about their things."""
    ledger = Ledger(rows)
    kept = [r for r in rows if not gone(r, now)]
    emptied = [r for slot in sorted(slots) for r in ledger.by_slot.get(slot, ()) if gone(r, now)]
    dropped = {r.mid for slot in sorted(slots) for r in _oldest(ledger.by_slot.get(slot, []), kept, now)}
    named = {r.thing for r in kept}
    stripped = [r.mid for r in emptied if r.mid not in dropped and r.ckey and r.thing not in named]
    return Purge(tuple(r.mid for r in emptied), tuple(stripped), tuple(sorted(dropped)))


def _oldest(rows: Sequence[Row], kept: Sequence[Row], now: Ms) -> Sequence[Row]:
    """The most of a slot's lowest versions that may go as a whole: all gone, before everything else, silencing nothing that is kept."""
    ordered = sorted(rows, key=lambda r: r.version)
    return next((ordered[:n] for n in range(len(ordered), 0, -1) if _may_go(ordered[:n], ordered[n:], kept, now)), [])


def _may_go(first: Sequence[Row], rest: Sequence[Row], kept: Sequence[Row], now: Ms) -> bool:
    return all(gone(r, now) for r in first) and precede(first, rest) and not any(silences(r, kept, now) for r in first)


def precede(first: Sequence[Row], rest: Sequence[Row]) -> bool:
    """Every row of `first` comes before every row of `rest` in the slot's order: without them no answer of the rest changes."""
    return not rest or max(r.place for r in first) < min(r.place for r in rest)


def silences(row: Row, kept: Sequence[Row], now: Ms) -> bool:
    """The row is the opposite, said later, of a kept memory about the same thing: without it that one would be told again."""
    if row.is_end or row.inset or not row.ckey or not counts(row, now):
        return False
    others = (r for r in kept if r.mid != row.mid and r.polarity != row.polarity and not r.is_end)
    return any(r.turn < row.turn and counts(r, now) and same_thing(r, row) for r in others)


__all__ = ["UNDELETE_MS", "gone", "precede", "purge_of", "silences"]
