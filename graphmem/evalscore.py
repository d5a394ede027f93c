"""How predictions are compared with what a file expects. Pure; every rule of the evaluation format in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from graphmem.evalfile import Answer, Expected, Label, MemoryType, Pair, Query, State
from graphmem.memory import MILLISECOND, Heard, Polarity, Statement
from graphmem.slot import folded

Canonical = Callable[[str], str]
"""One name for all spellings of an object: the alias packs, or `folded` alone."""

STRENGTH: tuple[MemoryType, ...] = ("fact", "preference", "context", "none")
"""If several statements are found, the first of the strongest type counts."""

TOP = 10
"""Depth of recall@10 and any@10."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One statement found in an utterance, or (memory_type none) the reason why nothing was. `rule` is what fired."""

    memory_type: MemoryType
    predicate: str = ""
    value: str = ""
    polarity: Polarity = "+"
    subject: str = "self"
    rule: str = ""


NOTHING = Prediction("none")


def heard_predictions(heard: Heard) -> list[Prediction]:
    """What the pipeline heard, as `EvalTarget.label` wants it: statements first, else the reasons why nothing is stored."""
    if heard.statements:
        return [_predicted(statement) for statement in heard.statements]
    asked = [Prediction("none", rule=f"follow_up:{f.statement.rule}") for f in heard.follow_ups]
    return asked + [Prediction("none", rule=f"{n.reason}:{n.rule}") for n in heard.not_stored]


def _predicted(said: Statement) -> Prediction:
    polarity: Polarity = "-" if said.is_end else said.polarity
    return Prediction(said.kind.value, said.key, said.value or "", polarity, said.subject, said.rule)


@dataclass(frozen=True, slots=True)
class Edge:
    """One memory of a user as a case sees it: historical and expired are superseded, a start still to come is scheduled."""

    subject: str
    kind: str
    attribute: str
    object: str
    polarity: Polarity
    status: Literal["active", "superseded", "pending", "scheduled"]
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far one prediction agrees with its label."""

    type: bool
    predicate: bool
    value: bool
    polarity: bool
    subject: bool

    @property
    def all_right(self) -> bool:
        return self.type and self.predicate and self.value and self.polarity and self.subject

    @property
    def wrong(self) -> tuple[str, ...]:
        """Names of the fields that differ, in order of weight."""
        return tuple(name for name in ("type", "predicate", "polarity", "subject", "value") if not getattr(self, name))


def strongest(predictions: Sequence[Prediction]) -> Prediction:
    """The one that counts; NOTHING when there is none."""
    return min(predictions, key=lambda p: STRENGTH.index(p.memory_type), default=NOTHING)


def role_of(subject: str) -> str:
    """`friend:小李` → friend; the user's own names for themself → self."""
    role = folded(subject).split(":", 1)[0]
    return "self" if role == "user" else role


def label_verdict(gold: Label, got: Prediction) -> Verdict:
    """Type, key, value (NFKC, case folded), polarity and subject. Of a none line only the type is asked."""
    same_type = gold.memory_type == got.memory_type
    if gold.memory_type == "none":
        return Verdict(same_type, True, True, True, True)
    return Verdict(
        type=same_type or _accepted_otherwise(gold, got),
        predicate=got.predicate in (gold.predicate, *gold.predicate_any),
        value=not gold.value or folded(got.value) in {folded(v) for v in (gold.value, *gold.value_any)},
        polarity=gold.polarity == got.polarity,
        subject=role_of(gold.subject) == role_of(got.subject),
    )


def _accepted_otherwise(gold: Label, got: Prediction) -> bool:
    """An accepted other key may belong to another type (a hobby said as a liking): its type is accepted with it."""
    return got.memory_type != "none" and got.predicate in gold.predicate_any


def values(answer: Answer) -> tuple[str, ...]:
    """The values of an answer, folded, without doubles and in order; empty when nothing is known."""
    if answer is None:
        return ()
    return tuple(sorted({folded(v) for v in ((answer,) if isinstance(answer, str) else answer)}))


def answer_right(query: Query, got: Answer) -> bool:
    """Exactly the answer, or an accepted other one: a whole answer, or other names of its values, as many values as expected."""
    said = values(got)
    if said == values(query.answer) or any(said == values(other) for other in query.answer_any):
        return True
    names = {v for other in query.answer_any if isinstance(other, str) for v in values(other)}
    expected = values(query.answer)
    return bool(expected) and len(said) == len(expected) and set(said) <= names | set(expected)


def stale_told(query: Query, got: Answer) -> bool:
    """A value that had ended is in the answer. Another name of the right answer is never stale."""
    right = {v for answer in (query.answer, *query.answer_any) for v in values(answer)}
    return bool(set(values(got)) & {folded(v) for v in query.stale} - right)


def edge_matches(expected: Expected, edge: Edge, canonical: Canonical = folded) -> bool:
    """Every field that is given agrees; instants to the millisecond."""
    return (
        _subject_matches(expected.subject, edge.subject)
        and (not expected.kind or edge.kind in expected.kind)
        and (not expected.object_any or canonical(edge.object) in {canonical(o) for o in expected.object_any})
        and expected.polarity in (None, edge.polarity)
        and expected.status in ("any", edge.status)
        and _instant_matches(expected.valid_from, edge.valid_from)
        and _instant_matches(expected.valid_to, edge.valid_to)
        and expected.version in (None, edge.version)
    )


def _subject_matches(expected: str | None, got: str) -> bool:
    if expected is None:
        return True
    names = {role_of(got), folded(got), *folded(got).split(":", 1)[1:]}
    return role_of(expected) in names if ":" not in expected else folded(expected) in names


def _instant_matches(expected: datetime | None, got: datetime | None) -> bool:
    return expected is None or (got is not None and abs(expected - got) < MILLISECOND)


def must_holds(expected: Expected, edges: Iterable[Edge], canonical: Canonical = folded) -> bool:
    """At least one edge, or exactly `count`."""
    found = sum(edge_matches(expected, edge, canonical) for edge in edges)
    return found >= 1 if expected.count is None else found == expected.count


def must_not_holds(expected: Expected, edges: Iterable[Edge], canonical: Canonical = folded) -> bool:
    return not any(edge_matches(expected, edge, canonical) for edge in edges)


def recall_at_top(gold: Sequence[str], ranked: Sequence[str]) -> float:
    """Share of the gold turns among the first ten."""
    return len(set(gold) & set(ranked[:TOP])) / len(set(gold))


def reciprocal_rank(gold: Sequence[str], ranked: Sequence[str]) -> float:
    """1 / place of the first gold turn, 0 when there is none."""
    return next((1 / place for place, turn in enumerate(ranked, 1) if turn in gold), 0.0)


def pairs(current: Iterable[Pair]) -> frozenset[Pair]:
    return frozenset((polarity, folded(value)) for polarity, value in current)


def state_stale(state: State, got: Iterable[Pair]) -> bool:
    """A retired value is told as current (with its polarity where the file gives one)."""
    told = pairs(got) - pairs(state.current)
    retired = pairs(s for s in state.stale if not isinstance(s, str))
    names = {folded(s) for s in state.stale if isinstance(s, str)}
    return bool(told & retired) or any(value in names for _, value in told)
