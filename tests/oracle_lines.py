"""What the oracle is made of: statements as they were said, and a flat list of lines. Times are milliseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

DAY = 86_400_000
HOUR = 3_600_000
WINDOW = 72 * HOUR
PENDING_LIFE = 30 * DAY
SKEW = 5 * 60_000

Slot = tuple[str, str, str]
"""(key, subject, concept); concept is empty where one value holds."""


@dataclass(frozen=True)
class Shape:
    """What the ontology says of a key."""

    kind: Literal["fact", "preference", "context"]
    arity: Literal["one", "many", "pole", "chosen"]
    policy: Literal["versioned", "dual", "review"] = "versioned"
    lifetime: int | None = None
    safety: bool = False


@dataclass(frozen=True)
class Words:
    """One statement as it was said. at None: the clock dates it. claims: the words date it back. deliberate: not speech."""

    key: str
    value: str | None
    at: int | None
    polarity: Literal["+", "-"] = "+"
    start: int | None = None
    ends_at: int | None = None
    claims: bool = False
    is_end: bool = False
    slip: bool = False
    change: bool = False
    hedged: bool = False
    whole_key: bool = False
    grounds: Literal["test", "professional", "document", "outgrown"] | None = None
    deliberate: bool = True
    sourced: bool = True
    verified: bool | None = None
    vouched: bool = False
    subject: str = "self"


@dataclass(frozen=True)
class Told:
    """One thing in an answer."""

    key: str
    subject: str
    polarity: str
    value: str


@dataclass
class Seen:
    """Said again: when, learnt when, and from when on the words claim it (`at` where they date nothing back)."""

    at: int
    recorded: int
    start: int

    @property
    def claims(self) -> bool:
        return self.start < self.at


@dataclass
class Line:
    """One version, or one pending thing (`version` 0)."""

    slot: Slot
    kind: str
    value: str | None
    polarity: str
    version: int
    said: int
    start: int
    recorded: int
    ends_at: int | None = None
    is_end: bool = False
    inset: bool = False
    claims: bool = False
    lifetime: int | None = None
    seen: list[Seen] = field(default_factory=list)
    retracted: int | None = None
    forgotten: int | None = None
    stated_start: int | None = None
    decided: int | None = None
    pending_to: int | None = None
    outcome: str | None = None

    def about(self) -> tuple[str, ...]:
        """What opposition is about: all preference keys together, a fact key by itself."""
        key, subject, _ = self.slot
        return (subject, self.value or "") if self.kind == "preference" else (key, subject, self.value or "")

    def counts(self, k: int) -> bool:
        return self.recorded <= k and (self.retracted is None or self.retracted > k)

    def same(self, other: Line) -> bool:
        return not self.is_end and not other.is_end and (self.value, self.polarity) == (other.value, other.polarity)

    def order(self) -> tuple[int, bool, int]:
        """Greatest answers: by start (an inset by when it was said), a value before an end, the higher version."""
        return (self.said if self.inset else self.start, not self.is_end, self.version)

    def told(self) -> Told:
        return Told(self.slot[0], self.slot[1], self.polarity, "" if self.is_end else self.value or "")


def opposes(a: Line, b: Line) -> bool:
    """Other polarity about the same concept and subject; contexts hold no concepts."""
    return "context" not in (a.kind, b.kind) and a.kind == b.kind and a.about() == b.about() and a.polarity != b.polarity
