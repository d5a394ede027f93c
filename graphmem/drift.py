"""Sensed context and its drift: a position too far from the last one waits and silences what was held (design section 5, Context). Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from graphmem.book import Book, Case, Judgement, Limits
from graphmem.casework import Reads, Spoken
from graphmem.casework import reads as read_for
from graphmem.conflict import confirm, is_late, judge
from graphmem.errors import InvalidInputError
from graphmem.memory import Environment, Kind, Statement, Verdict
from graphmem.slot import ckey_of_text, slot
from graphmem.validity import Ms, Pending, last_observed, shown

DRIFT = "drift"
"""Reason of a pending context that was sensed too far away."""

FAR_KM = 500.0
"""A sensed position farther than this from the last one waits (design section 5)."""

WITHIN_MS: Ms = 24 * 3600 * 1000
"""… if the last one was sensed at most this long before (design section 5)."""

EARTH_KM = 6371.0088
"""Mean radius of the Earth (IUGG)."""

LOCATION, CITY = "current_location", "current_city"
PLACES = (LOCATION, CITY)
"""Keys that say where the user is: the user's own word about one settles a drift of both."""

DIGITS = 3
"""Decimals of a stored position: about 100 metres."""

Position = tuple[float, float]
"""Latitude and longitude in degrees."""


def distance_km(a: Position, b: Position) -> float:
    """Great circle distance by the haversine formula."""
    (lat1, lon1), (lat2, lon2) = ((math.radians(x), math.radians(y)) for x, y in (a, b))
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(h)))


def check_environment(environment: Environment | None) -> None:
    """Refuse a position that no place on Earth has, and half a position."""
    if environment is None:
        return
    position = {"latitude": (environment.latitude, 90.0), "longitude": (environment.longitude, 180.0)}
    for name, (degrees, most) in position.items():
        if degrees is None:
            if environment.latitude is not None or environment.longitude is not None:
                raise InvalidInputError("a position has a latitude and a longitude", field=f"environment/{name}", code="bad_position")
        elif isinstance(degrees, bool) or not math.isfinite(degrees) or abs(degrees) > most:
            words = f"{name} lies between -{most:.0f} and {most:.0f} degrees"
            raise InvalidInputError(words, field=f"environment/{name}", code="bad_position")


def value_of(position: Position) -> str:
    """A position as it is stored: `31.230,121.470`."""
    return ",".join(f"{degrees + 0.0:.{DIGITS}f}" for degrees in position)


def position_of(value: str | None) -> Position | None:
    """The position that a stored value is, None for any other words."""
    parts = (value or "").split(",")
    if len(parts) != 2:
        return None
    try:
        latitude, longitude = float(parts[0]), float(parts[1])
    except ValueError:
        return None
    return (latitude, longitude) if abs(latitude) <= 90 and abs(longitude) <= 180 else None


def sensed(environment: Environment | None, city_ckey: str) -> tuple[Statement, ...]:
    """What the environment of a turn says about where the user is; the position first, it decides about the city too."""
    if environment is None:
        return ()
    found = []
    if environment.latitude is not None and environment.longitude is not None:
        place = value_of((environment.latitude, environment.longitude))
        found.append(_sensed(LOCATION, place, ckey_of_text(place), "environment.position"))
    if environment.city is not None and environment.city.strip():
        found.append(_sensed(CITY, environment.city, city_ckey, "environment.city"))
    return tuple(found)


def _sensed(key: str, value: str, ckey: str, rule: str) -> Statement:
    return Statement(Kind.CONTEXT, key, value, ckey, sensed=True, deliberate=True, rule=rule)


def reads(spoken: Sequence[Spoken]) -> Reads:
    """What the judge may look at; a word about a place concerns both keys of places."""
    found = read_for(spoken)
    places = {slot(sp.scope, Kind.CONTEXT, key, sp.statement.subject) for sp in spoken if sp.statement.key in PLACES for key in PLACES}
    if not places:
        return found
    slots: Mapping[Kind, tuple[str, ...]] = {**found.slots, Kind.CONTEXT: tuple(sorted({*found.slots.get(Kind.CONTEXT, ()), *places}))}
    return replace(found, slots=slots)


# --- the judge of sensed places


def judged(case: Case, book: Book) -> Judgement:
    """The judge's verdict; before it a sensed place that is too far away waits, after it the user's own word settles what waited."""
    s = case.statement
    if s.kind is not Kind.CONTEXT or s.key not in PLACES:
        return judge(case, book)
    if s.sensed:
        return _waiting(case, book) if _drifts(case, book) else judge(case, book)
    waiting = _open(case, book)
    judgement = judge(case, book)
    for pending in waiting:
        if book.pendings[pending.row.mid].open():
            _settle(case, book, pending, stayed=judgement.verdict is Verdict.REINFORCE)
    return judgement


def _drifts(case: Case, book: Book) -> bool:
    """Too far from the last sensed position; of a city: its position is waiting and it is not the city that is held."""
    if is_late(case, book):
        return False
    held = book.ledger.answer(case.slot, case.said_at, book.now)
    if case.statement.key == CITY:
        moving = any(p.row.key == LOCATION for p in _open(case, book))
        return moving and held is not None and not case.same_value(held)
    here, there = position_of(case.statement.value), position_of(held.value if held is not None else None)
    if held is None or here is None or there is None:
        return False
    age = case.said_at - last_observed(held, case.said_at, book.now)
    return 0 <= age <= WITHIN_MS and distance_km(here, there) > FAR_KM


def _open(case: Case, book: Book) -> list[Pending]:
    """Drifts of this subject that wait, said before."""
    found = book.open_pendings(case.said_at, case.limits.pending_life)
    return [p for p in found if p.reason == DRIFT and p.row.subject == case.statement.subject and p.row.said_at <= case.said_at]


def _waiting(case: Case, book: Book) -> Judgement:
    """A pending row that blocks its slot; places near each other wait once, another one takes its turn."""
    for other in _open(case, book):
        if other.row.slot != case.slot:
            continue
        if case.same_value(other.row) or _near(case.statement.value, other.row.value):
            return Judgement(Verdict.PENDING, other.row.mid, reason=DRIFT)
        book.decide(other, "overtaken", case.said_at)
    row = case.row(next(book.mids), 0)
    book.pend(Pending(row, DRIFT, pending_from=case.said_at, blocks=True))
    return Judgement(Verdict.PENDING, row.mid, reason=DRIFT)


def _near(a: str | None, b: str | None) -> bool:
    here, there = position_of(a), position_of(b)
    return here is not None and there is not None and distance_km(here, there) <= FAR_KM


def _settle(case: Case, book: Book, pending: Pending, *, stayed: bool) -> None:
    """The user says where they are: still at the place that was held, or gone from it, then what was sensed there holds."""
    row = pending.row
    if stayed or row.slot == case.slot:
        book.decide(pending, "rejected", case.said_at)
        return
    word = Statement(row.kind, row.key, row.value, row.ckey, row.subject, deliberate=True, sensed=True, rule=DRIFT)
    start = max(case.said_at, row.valid_from)
    confirm(replace(case, statement=word, slot=row.slot, thing=row.thing, start=start, ends_at=row.ends_at), book, pending, case.said_at)


def blocked(pendings: Iterable[Pending], t: Ms, k: Ms, limits: Limits) -> frozenset[str]:
    """Slots whose held value may not be told at (t, k): something that waits there says that it may be wrong."""
    return frozenset(p.row.slot for p in pendings if p.blocks and shown(p, t, k, limits.pending_life))
