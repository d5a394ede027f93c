"""What the core asks of the outside world, in our words. At most five small Protocols; the scope-like argument comes first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from graphmem.casework import Reads
from graphmem.memory import Kind, Language
from graphmem.scope import Scope
from graphmem.validity import Ms
from graphmem.writing import Changes, Hydrated, Known, Snapshot, StoredTurn, Written

Collection = Literal["fact", "preference", "context", "turn"]
COLLECTIONS: tuple[Collection, ...] = ("fact", "preference", "context", "turn")

LEXICAL = "lexical"
"""Name of the lexical list among a candidate's scores; no embedder may be called so."""

ACTIVE = "active"
"""The state a point must be in to be found. States are keywords, never booleans (runtime.md 5.1)."""


class Embedder(Protocol):
    """Text to vectors. `languages` None: it speaks all. Any text is accepted: long ones are cut, broken characters replaced."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def languages(self) -> frozenset[Language] | None: ...

    def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """One unit vector of `dimension` numbers a text, in order; [] for []. The same text gives the same vector in any batch."""
        ...

    def calibrate(self, cosine: float) -> float:
        """Probability (0..1, never falling) that two texts of this cosine answer each other: one scale for all embedders."""
        ...


@dataclass(frozen=True, slots=True)
class Point:
    """One entry of the candidate index. It carries vectors and opaque ids; `text` is only hashed into lexical weights, never kept.

    id         UUID (stores.keys.point_id)
    ref        the opaque id in the graph that it stands for: a mid, or a turn's own id; never text of a person
    version    the version it was made from
    vectors    embedder name -> vector; an embedder that does not speak the text's language is left out
    session    pseudonym of the session, for turns
    """

    id: str
    ref: str
    collection: Collection
    pseudonym: str
    version: int
    vectors: Mapping[str, Sequence[float]]
    text: str = field(default="", repr=False)
    state: str = ACTIVE
    session: str = ""


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What to look for among one user's active points: the best `limit` of each list (one a vector, one for the words of `text`)."""

    pseudonym: str
    collections: Sequence[Collection]
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    text: str = field(default="", repr=False)
    limit: int = 100
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """An id that may answer. `scores`: raw cosine by embedder name and BM25 under LEXICAL; a list that did not find it is absent."""

    id: str
    ref: str
    collection: Collection
    version: int
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Held:
    """A point as the index holds it, for comparison with the graph."""

    id: str
    ref: str
    version: int


@dataclass(frozen=True, slots=True)
class HeldPage:
    """Points ordered by id; `after` is the cursor of the next page, None when this is the last."""

    items: tuple[Held, ...]
    after: str | None


class CandidateIndex(Protocol):
    """Ids and vectors of one tenant's memories and turns: derived, rebuildable, never the truth.

    Every method raises UnavailableError when the engine does not answer or another process holds it (`index_in_use`), and
    ConfigurationError when embedders and collections do not fit together. Adapters also have `close()`.
    """

    def ensure(self, tenant: str, *, fresh: bool = False) -> None:
        """Make the tenant's collections where they are missing and check their embedders; `fresh` drops them first (reindex)."""
        ...

    def upsert(self, tenant: str, points: Sequence[Point]) -> None:
        """Write or replace points by id, durable when it returns. InvalidInputError: an id that is no UUID, a ref that is text."""
        ...

    def delete(self, tenant: str, collection: Collection, ids: Sequence[str]) -> None:
        """Remove points; unknown ids are fine."""
        ...

    def search(self, tenant: str, query: IndexQuery) -> list[Candidate]:
        """Candidates of this user alone, unordered among lists (recall.fuse orders them); [] for an unknown tenant."""
        ...

    def ids(self, tenant: str, collection: Collection, pseudonym: str | None = None, after: str | None = None) -> HeldPage:
        """One page of all points in any state, of one user or (None) of the tenant."""
        ...

    def count(self, tenant: str, collection: Collection, pseudonym: str | None = None) -> int:
        """Exact number of points in any state."""
        ...

    def health(self) -> None:
        """Return if the engine answers, else raise."""
        ...


@dataclass(frozen=True, slots=True)
class Operation:
    """One write. op: its id (slot.operation_id); the same op with another hash is refused, with the same one it is answered again."""

    op: str
    request_hash: str
    route: str
    actor: str


class MemoryWriter(Protocol):
    """Writes of one user: lock, read, decide, apply, in one transaction."""

    def write(self, scope: Scope, operation: Operation, reads: Reads, decide: Callable[[Known], Changes]) -> Written:
        """Run `decide` on what is known under the user's lock and store what it asks for, all or nothing.

        An operation that is done already is not decided again: `Written.known.done` says so. `decide` may run more than once.
        ConflictError (`idempotency_key_reused`, `turn_id_taken`), RefusedError (`erased`), UnavailableError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a history: of one key, with what opposes it; and only what decides answers from `since` on, as known now."""

    key: str | None = None
    kind: Kind | None = None
    since: Ms | None = None


class MemoryReader(Protocol):
    """Reads of one user. Each starts at a key that holds tenant and user; each is one statement."""

    def latest(self, scope: Scope, kind: Kind | None = None, key: str | None = None, subject: str | None = None) -> Snapshot:
        """What holds now: current rows, plans that are due, open pending ones, narrowed by index prefix; opposition is the caller's."""
        ...

    def hydrate(self, scope: Scope, mids: Mapping[Kind, Sequence[str]], keys: Sequence[tuple[Kind, str]], fresh: int = 50) -> Hydrated:
        """Candidate ids joined back, the current rows of these keys, due plans, and up to `fresh` writes not projected yet.

        An id is looked for under the kinds it is given under: one whose kind is not known stands under each.
        """
        ...

    def history(self, scope: Scope, known_at: Ms | None = None, part: Part | None = None) -> Snapshot:
        """Every row and pending one of the user recorded by then (None: by now), with observations; or a part of them.

        Costs what it returns: the whole history, that of a key, or (with `since`) what was held then and what came after.
        """
        ...

    def slot_of(self, scope: Scope, mid: str) -> Snapshot | None:
        """All rows of the memory's slot, and those about its things; None when the mid is not this user's."""
        ...

    def turns(self, scope: Scope, session_id: str, limit: int = 12) -> list[StoredTurn]:
        """The last turns of a session, oldest first."""
        ...

    def turns_by_ref(self, scope: Scope, refs: Sequence[str]) -> list[StoredTurn]:
        """Turns by their index refs; foreign and unknown ones are left out."""
        ...

    def receipt(self, scope: Scope, receipt_id: str) -> str | None:
        """The stored JSON of a receipt of this user."""
        ...


class CodeSender(Protocol):
    """Brings one-off codes to people: by text message, mail, letter."""

    def send(self, scope: Scope, key: str, value: str, code: str) -> None:
        """Send the code to the new value of a key (a phone number), or where the deployment reaches the person (an ID number).

        Raises UnavailableError when it cannot be sent: the caller may start again.
        """
        ...
