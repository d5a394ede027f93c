"""`where`, `orderBy` and the cursors of a list of memories: pure, over what the façade told."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

import strawberry

from api.nodes import Kind, Standing
from graphmem.answers import Memory
from graphmem.cursors import decode_key, encode
from graphmem.errors import InvalidInputError
from graphmem.memory import from_ms, to_ms
from graphmem.validity import Ms

CLAUSES = 100
"""Comparisons of one `where`."""


@strawberry.enum(description="By event: when it began to be so. By recorded: when it was heard.")
class MemoryOrder(Enum):
    EVENT_DESC = "event-"
    EVENT_ASC = "event+"
    RECORDED_DESC = "recorded-"
    RECORDED_ASC = "recorded+"


@strawberry.input(description="All that are given must hold; null is never equal and never before or after anything.")
class StringIs:
    eq: str | None = strawberry.UNSET
    in_: list[str] | None = strawberry.field(name="in", default=strawberry.UNSET)
    starts_with: str | None = strawberry.UNSET


@strawberry.input(description="Without an offset a time is read in the tenant's zone.")
class TimeIs:
    lt: datetime | None = strawberry.UNSET
    lte: datetime | None = strawberry.UNSET
    gt: datetime | None = strawberry.UNSET
    gte: datetime | None = strawberry.UNSET


@strawberry.input
class FloatIs:
    lt: float | None = strawberry.UNSET
    lte: float | None = strawberry.UNSET
    gt: float | None = strawberry.UNSET
    gte: float | None = strawberry.UNSET


@strawberry.input
class KindIs:
    eq: Kind | None = strawberry.UNSET
    in_: list[Kind] | None = strawberry.field(name="in", default=strawberry.UNSET)


@strawberry.input
class StandingIs:
    eq: Standing | None = strawberry.UNSET
    in_: list[Standing] | None = strawberry.field(name="in", default=strawberry.UNSET)


@strawberry.input(description="Narrows a list; fields, AND, OR and NOT must all hold. It can never reach beyond the user.")
class MemoryWhere:
    mid: StringIs | None = strawberry.UNSET
    kind: KindIs | None = strawberry.UNSET
    key: StringIs | None = strawberry.UNSET
    subject: StringIs | None = strawberry.UNSET
    value: StringIs | None = strawberry.UNSET
    concept: StringIs | None = strawberry.UNSET
    polarity: StringIs | None = strawberry.UNSET
    standing: StandingIs | None = strawberry.UNSET
    owner_domain: StringIs | None = strawberry.UNSET
    valid_from: TimeIs | None = strawberry.UNSET
    valid_to: TimeIs | None = strawberry.UNSET
    recorded_at: TimeIs | None = strawberry.UNSET
    observed_at: TimeIs | None = strawberry.UNSET
    confidence: FloatIs | None = strawberry.UNSET
    weight: FloatIs | None = strawberry.UNSET
    and_: list[MemoryWhere] | None = strawberry.field(name="AND", default=strawberry.UNSET)
    or_: list[MemoryWhere] | None = strawberry.field(name="OR", default=strawberry.UNSET)
    not_: MemoryWhere | None = strawberry.field(name="NOT", default=strawberry.UNSET)


Utc = Callable[[datetime | None], datetime | None]
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda held, given: bool(held == given),
    "in_": lambda held, given: held in given,
    "starts_with": lambda held, given: held.startswith(given),
    "lt": lambda held, given: bool(held < given),
    "lte": lambda held, given: bool(held <= given),
    "gt": lambda held, given: bool(held > given),
    "gte": lambda held, given: bool(held >= given),
}
_NAMES = [n for n in MemoryWhere.__annotations__ if not n.endswith("_")]


def _given(value: object) -> bool:
    return value is not None and value is not strawberry.UNSET


def matching(where: MemoryWhere | None, utc: Utc) -> Callable[[Memory], bool]:
    """Whether a memory answers `where`; InvalidInputError above CLAUSES comparisons."""
    if not _given(where) or where is None:
        return lambda _: True
    tests = list(_tests(where, utc))
    if _count(where) > CLAUSES:
        raise InvalidInputError(f"where holds more than {CLAUSES} comparisons", field="where")
    return lambda memory: all(test(memory) for test in tests)


def _tests(where: MemoryWhere, utc: Utc) -> Iterable[Callable[[Memory], bool]]:
    for name in _NAMES:
        clause = getattr(where, name)
        if _given(clause):
            for operator, test in _OPERATORS.items():
                given = getattr(clause, operator, None)
                if _given(given):
                    yield _test(name, test, utc(given) if isinstance(given, datetime) else given)
    if _given(where.and_) and where.and_:
        every = [matching(w, utc) for w in where.and_]
        yield lambda memory: all(test(memory) for test in every)
    if _given(where.or_) and where.or_ is not None:
        some = [matching(w, utc) for w in where.or_]
        yield lambda memory: any(test(memory) for test in some)
    if _given(where.not_):
        never = matching(where.not_, utc)
        yield lambda memory: not never(memory)


def _test(name: str, test: Callable[[Any, Any], bool], given: object) -> Callable[[Memory], bool]:
    def holds(memory: Memory) -> bool:
        held = getattr(memory, name)
        return held is not None and test(held, given)

    return holds


def _count(where: MemoryWhere) -> int:
    inner = [w for group in (where.and_, where.or_) if _given(group) and group for w in group]
    if _given(where.not_) and where.not_ is not None:
        inner.append(where.not_)
    clauses = [getattr(where, name) for name in _NAMES if _given(getattr(where, name))]
    own = sum(len(c.in_) if operator == "in_" else 1 for c in clauses for operator in _OPERATORS if _given(getattr(c, operator, None)))
    return max(1, own) + sum(_count(w) for w in inner)


# --- cursors


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended: the order, the moment of the first page, and the last memory. Later pages are read for the same moment."""

    order: MemoryOrder
    as_of: Ms
    known_at: Ms
    at: Ms
    mid: str

    def cursor(self) -> str:
        """An opaque word."""
        return encode(f"{self.order.value}|{self.as_of}|{self.known_at}|{self.at}|{self.mid}")

    def moment(self) -> tuple[datetime, datetime]:
        return from_ms(self.as_of), from_ms(self.known_at)


def place_of(cursor: str | None, order: MemoryOrder) -> Place | None:
    """The place of a cursor; InvalidInputError for a foreign one, or one of another order."""
    key = decode_key(cursor)
    if key is None:
        return None
    try:
        said, as_of, known_at, at, mid = key.split("|", 4)
        found = Place(MemoryOrder(said), int(as_of), int(known_at), int(at), mid)
        found.moment()
    except (ValueError, OverflowError) as fault:
        raise InvalidInputError("that is no cursor of this list", field="after") from fault
    if found.order is not order:
        raise InvalidInputError("the cursor belongs to another order", field="after")
    return found


def sorted_after(found: Iterable[Memory], order: MemoryOrder, after: Place | None) -> list[Memory]:
    """In order, from behind the place."""
    descending = order.value.endswith("-")
    rows = sorted(found, key=lambda m: position(m, order), reverse=descending)
    if after is None:
        return rows
    end = (after.at, after.mid)
    return [m for m in rows if (position(m, order) < end if descending else position(m, order) > end)]


def position(memory: Memory, order: MemoryOrder) -> tuple[Ms, str]:
    """What a list is sorted by: the time, then the id."""
    at = memory.recorded_at if order.value.startswith("recorded") else memory.valid_from or memory.said_at
    return to_ms(at), memory.mid


__all__ = ["MemoryOrder", "MemoryWhere", "Place", "matching", "place_of", "position", "sorted_after"]
