"""What is kept with a row so that bounded reads need not see its neighbours: made anew at each write from the ledger. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from graphmem.memory import Status
from graphmem.slot import part
from graphmem.validity import OPEN, Ledger, Ms, Observation, Row, counts, lapses, last_observed, lives, opposers, spans


def recached(ledger: Ledger, slots: Iterable[str], now: Ms) -> list[Row]:
    """The rows of these slots with their caches as they must be now (design section 3: caches may be rewritten in place)."""
    fresh = {row.mid: _cached(ledger, row, now) for slot in slots for row in ledger.by_slot.get(slot, ())}
    needed = _needed(ledger, fresh, now)
    return [replace(row, until=until) if (until := needed.get(row.mid, row.until)) > row.until else row for row in fresh.values()]


def _needed(ledger: Ledger, fresh: Mapping[str, Row], now: Ms) -> dict[str, Ms]:
    """Until when a write must read a row because it ends another that is still read: without it the older one would seem to hold."""
    needed: dict[str, Ms] = {}
    rivals = {r.mid: r for thing in {row.thing for row in fresh.values() if row.ckey} for r in ledger.by_thing[thing]}
    for row in sorted({**rivals, **fresh}.values(), key=lambda r: (r.valid_from, not r.is_end, r.recorded_at, r.version)):
        if not counts(row, now) or row.inset:
            continue
        until = max(fresh.get(row.mid, row).until, needed.get(row.mid, row.valid_from))
        for ender in (ledger.follower(row, now), *opposers(row, ledger.by_thing[row.thing], now)[:1]):
            if ender is not None and ender.valid_from < until:
                needed[ender.mid] = max(until, needed.get(ender.mid, until))
    return needed


def rival_cached(ledger: Ledger, row: Row, now: Ms) -> Row | None:
    """The caches of a row of another slot that is free again, for what opposed it was retracted; None: they stand.

    It was read only because it is a rival; that nothing follows it is known where a slot holds one concept: all of it was read then.
    """
    if row.retracted_at is not None or not row.slot.endswith(f"|{part(row.ckey)}"):
        return None
    seen = row if row.observations else replace(row, observations=(Observation(row.observed_at, now),))
    free = _cached(Ledger([seen if r is row else r for r in ledger.rows]), seen, now)
    return replace(free, observations=row.observations) if free.until > row.until else None


def _claimed(row: Row) -> Ms:
    """End of what its words claim: until then what was said before it may still arrive and be overruled."""
    return max([row.valid_from, *(at + 1 for _, at in spans(row))])


def _shades(row: Row) -> Ms:
    """End of what an inset hides of its slot: opposed before it is over, it is not told, and nothing older is told in its place."""
    return row.ends_at if row.inset and row.ends_at is not None else row.valid_from


def _cached(ledger: Ledger, row: Row, now: Ms) -> Row:
    observed = last_observed(row, OPEN, now)
    if row.retracted_at is not None:
        return replace(
            row,
            until=_claimed(row) if row.overruled else row.valid_from,
            valid_to=row.valid_from,
            current=False,
            planned=False,
            observed_at=observed,
            expires_at=None,
            status=Status.RETRACTED,
        )
    until, by = ledger.end(row, now)
    opposed = ledger.opposed_from(row, now)
    holds = ledger.answer(row.slot, now, now) is row and (opposed is None or opposed > now)
    current = holds and (row.is_end or row.tombstoned_at is not None or lives(row, now, now))
    before = ledger.predecessor(row, now)
    return replace(
        row,
        until=OPEN if current or row.valid_from > now else max(until, _claimed(row), _shades(row)),
        valid_to=until if until != OPEN else None,
        prev_mid=before.mid if before is not None else row.prev_mid,
        observed_at=observed,
        expires_at=lapses(row, now) if current else None,
        current=current,
        planned=row.valid_from > now,
        next_mid=by.mid if by is not None else None,
        status=ledger.status(row, now, now),
    )


__all__ = ["recached", "rival_cached"]
