"""Relations between memories of one user: their types, what a write does to them, which paths may be told. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

from graphmem.answers import Memory
from graphmem.errors import NotFoundError
from graphmem.memory import Kind
from graphmem.ontology import PACKS
from graphmem.recall.phrases import root
from graphmem.scope import Scope
from graphmem.slot import slot_prefix
from graphmem.validity import Ms, Row
from graphmem.writing import Changes, Done, Known

DEPTH_MAX = 3
"""Hops of a traversal (design section 3)."""

PATHS = 1_000
"""Paths of one traversal that are looked at, the shortest first."""


RELATED = "related"
"""Mark of an edge whose memory has, or had, a relation."""


class RelationType(StrEnum):
    """How one memory stands to another. The last two are worked out when they are asked for and never stored."""

    HAS_CONDITION = "HAS_CONDITION"
    AFFECTS_MEDICATION = "AFFECTS_MEDICATION"
    CONTRADICTS = "CONTRADICTS"
    DERIVED_FROM = "DERIVED_FROM"
    TEMPORAL_NEXT = "TEMPORAL_NEXT"
    SEMANTIC_SIMILAR = "SEMANTIC_SIMILAR"


STORED = frozenset({RelationType.HAS_CONDITION, RelationType.AFFECTS_MEDICATION, RelationType.CONTRADICTS, RelationType.DERIVED_FROM})
"""Kept in the graph, with weight and interval."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A stored relation. `valid_from` / `valid_to` are true in the world, half-open; `created` False: it stood already."""

    rid: str
    type: RelationType
    from_mid: str
    to_mid: str
    weight: float
    valid_from: datetime
    valid_to: datetime | None = None
    created: bool = True
    replayed: bool = False
    revision: int = 0


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a path, as it is stored: from → to, whichever way it was walked. Derived hops have no rid."""

    type: RelationType
    from_mid: str
    to_mid: str
    weight: float
    rid: str | None = None


@dataclass(frozen=True, slots=True)
class Related:
    """A memory that is reached, by its best path: the fewest hops, then the greatest product of weights."""

    memory: Memory
    depth: int
    weight: float
    path: tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class RelatedPage:
    """What is related to a memory. `told` False: the memory itself is not told then, so nothing stored leads on from it."""

    mid: str
    told: bool
    items: tuple[Related, ...]
    degraded: tuple[str, ...]
    revision: int


@dataclass(frozen=True, slots=True)
class Path:
    """A path of the graph: the mids in the order they are walked, and its hops."""

    mids: tuple[str, ...]
    hops: tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class Walked:
    """What a traversal found: the database's now, and whether the memory it began at is this user's."""

    now: Ms
    rev: int
    owned: bool
    paths: tuple[Path, ...]


# --- what a write of memories does to relations


@dataclass(frozen=True, slots=True)
class Carry:
    """`new` takes the place of `old` at a moment; `keep`: what is carried goes over, else it only ends."""

    old: str
    new: str
    at: Ms
    keep: bool


def carried(known: Known, changes: Changes) -> list[Carry]:
    """Pairs whose relations change hands: only rows that hold or are planned; restated and backfilled ones carry nothing.

    An edge that was ever related is marked so: one without relations costs nothing. Where one write ends a memory and puts another in its
    place (a change of concept), the other takes over.
    """
    before = {r.mid: r for r in (*known.rivals, *known.rows, *changes.patched, *changes.created)}
    created = {r.mid: r for r in changes.created}
    found: dict[str, Carry] = {}
    for new, old in changes.links:
        row, prior = created.get(new), before.get(old)
        if row is None or prior is None or not prior.more.get(RELATED) or not (row.current or row.planned):
            continue
        carry = Carry(old, new, row.valid_from, not row.is_end and row.polarity == prior.polarity)
        if old not in found or carry.keep:
            found[old] = carry
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Link:
    """Of a pack: facts of one key about a concept are related to those of another key about the same one."""

    type: RelationType
    from_key: str
    to_key: str
    of: str


@dataclass(frozen=True, slots=True)
class Linking:
    """A new row and where its partners are found: by concept, among the current slots that begin with `prefix`."""

    type: RelationType
    mid: str
    ckey: str
    prefix: str
    outward: bool
    at: Ms
    weight: float


@lru_cache(maxsize=1)
def links() -> tuple[Link, ...]:
    """The links that ship with graphmem. PackError with file and line on any mistake."""
    found = []
    for entry in root(PACKS / "relations.yaml").fields(("links",), required=("links",))["links"].items():
        got = entry.fields(("type", "from", "to", "of"), required=("type", "from", "to", "of"))
        kind = RelationType(got["type"].choice(sorted(STORED)))
        found.append(Link(kind, got["from"].text(), got["to"].text(), got["of"].text()))
    return tuple(found)


def linked(scope: Scope, created: Iterable[Row], table: Sequence[Link]) -> list[Linking]:
    """What the new rows of a write are to be related to, in either order of arrival."""
    found = []
    for row in created:
        if not row.current or row.is_end or row.polarity != "+" or not row.ckey or row.kind is not Kind.FACT:
            continue
        for link in table:
            if row.key == link.from_key:
                prefix = slot_prefix(scope, Kind.FACT, link.to_key, link.of)
                found.append(Linking(link.type, row.mid, row.ckey, prefix, True, row.valid_from, row.confidence))
            elif row.key == link.to_key and row.subject == link.of:
                prefix = slot_prefix(scope, Kind.FACT, link.from_key)
                found.append(Linking(link.type, row.mid, row.ckey, prefix, False, row.valid_from, row.confidence))
    return found


# --- what a caller asks for by name


@dataclass(frozen=True, slots=True)
class End:
    """One end of a relation as it is held: None stands for a memory that is not this user's."""

    mid: str
    valid_from: Ms | None
    alive: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """What the graph says of a relation under the user's lock. `open`: the one that stands already, or the one named."""

    now: Ms
    rev: int
    erased: bool
    done: Done | None
    start: End | None
    target: End | None
    open: Relation | None


@dataclass(frozen=True, slots=True)
class Relating:
    """What is asked: a relation of this type between these two, or the end of the one named by `rid`."""

    type: RelationType | None
    from_mid: str
    to_mid: str | None
    weight: float
    rid: str | None = None


@dataclass(frozen=True, slots=True)
class RelationChange:
    """What is stored: at most one relation ends, at most one begins; `answer` is what the caller is told."""

    answer: Relation
    closed: Relation | None = None
    new: Relation | None = None


DecideRelation = Callable[[Standing], RelationChange]


def related_as(ask: Relating, standing: Standing, when: Callable[[Ms], datetime]) -> RelationChange:
    """The relation that is asked for: the open one again when its weight is the same, else a new one from when both memories held.

    NotFoundError when an end is not this user's, is forgotten, was never so, is pending, or is the end of something.
    """
    starts = [end.valid_from for end in (standing.start, standing.target) if end is not None and end.alive and end.valid_from is not None]
    if len(starts) < 2 or ask.type is None or ask.to_mid is None:
        raise NotFoundError("no memory of that id")
    held = standing.open
    if held is not None and held.weight == ask.weight:
        return RelationChange(_again(held))
    begins = max(starts) if held is None else max(*starts, standing.now)
    new = Relation(new_rid(ask.from_mid), ask.type, ask.from_mid, ask.to_mid, ask.weight, when(begins))
    return RelationChange(new, _ended(held, when(standing.now)), new)


def unrelated(standing: Standing, when: Callable[[Ms], datetime]) -> RelationChange:
    """The end of an open relation. NotFoundError when there is none of that id."""
    ended = _ended(standing.open, when(standing.now))
    if ended is None:
        raise NotFoundError("no open relation of that id")
    return RelationChange(ended, ended)


def _again(held: Relation) -> Relation:
    return Relation(held.rid, held.type, held.from_mid, held.to_mid, held.weight, held.valid_from, held.valid_to, created=False)


def _ended(held: Relation | None, at: datetime) -> Relation | None:
    if held is None:
        return None
    return Relation(held.rid, held.type, held.from_mid, held.to_mid, held.weight, held.valid_from, max(at, held.valid_from), created=False)


def new_rid(from_mid: str) -> str:
    """An id that says where the relation starts, so that it is found by key: relations have no index of their own."""
    return f"{from_mid}.{secrets.token_hex(6)}"


def start_of(rid: str) -> str:
    """The mid a relation starts at."""
    return rid.partition(".")[0]


# --- which paths may be told


def best_paths(start: str, paths: Iterable[Path], told: Mapping[str, Memory], limit: int) -> tuple[Related, ...]:
    """One path a memory, every memory on it told: fewest hops first, then the greatest weight, then the id."""
    best: dict[str, Related] = {}
    for path in paths:
        if len(set(path.mids)) != len(path.mids) or not all(mid in told for mid in path.mids):
            continue
        end = path.mids[-1]
        weight = 1.0
        for hop in path.hops:
            weight *= hop.weight
        found = Related(told[end], len(path.hops), round(weight, 6), path.hops)
        if end != start and (end not in best or _order(found) < _order(best[end])):
            best[end] = found
    return tuple(sorted(best.values(), key=_order)[:limit])


def _order(found: Related) -> tuple[int, float, str, tuple[str, ...]]:
    return found.depth, -found.weight, found.memory.mid, tuple(h.rid or "" for h in found.path)


__all__ = ["STORED", "Hop", "Related", "RelatedPage", "Relation", "RelationType", "best_paths", "carried", "linked", "links"]
