"""Deliberate statements for property tests: keys of every arity, dated by when they were said."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace

from graphmem.book import Limits, Rule, Trust
from graphmem.casework import Spoken, reads
from graphmem.ids import many
from graphmem.memory import Kind, Statement, from_ms
from graphmem.ports import Operation
from graphmem.scope import Scope
from graphmem.slot import ckey_of_text
from graphmem.validity import Ms
from graphmem.writing import Changes, Decided, Known, Origin, hear, settle
from tests.fakes import ListGraph

DAY: Ms = 86_400_000
SCOPE = Scope("t", "u")
LIMITS = Limits(3 * DAY, 30 * DAY)
RULES = {
    "home_city": (Kind.FACT, Rule("one", "versioned", None)),
    "age": (Kind.FACT, Rule("one", "versioned", 365 * DAY)),
    "coffee_preference": (Kind.PREFERENCE, Rule("chosen", "versioned", 180 * DAY, taste=True)),
    "tea_preference": (Kind.PREFERENCE, Rule("chosen", "versioned", 180 * DAY, taste=True)),
    "food_preference": (Kind.PREFERENCE, Rule("pole", "versioned", 180 * DAY)),
    "hobby": (Kind.FACT, Rule("many", "versioned", None)),
    "current_city": (Kind.CONTEXT, Rule("one", "versioned", 7 * DAY)),
}
BY_ARITY = {
    "one": ("home_city", "age"),
    "chosen": ("coffee_preference", "tea_preference"),
    "pole": ("food_preference",),
    "many": ("hobby",),
    "mixed": tuple(RULES),
}


@dataclass(frozen=True)
class Said:
    key: str
    value: str
    polarity: str
    at: Ms
    is_end: bool = False
    start: Ms | None = None
    claims: bool = False

    @property
    def whole(self) -> bool:
        """An end of a key that holds one value names no value: it ends the slot."""
        return self.is_end and RULES[self.key][1].arity in ("one", "chosen")

    def statement(self) -> Statement:
        kind = RULES[self.key][0]
        polarity = "-" if self.polarity == "-" else "+"
        start = None if self.start is None else from_ms(self.start)
        value = None if self.whole else self.value
        ckey = "" if value is None else ckey_of_text(value)
        return Statement(
            kind, self.key, value, ckey, polarity=polarity, is_end=self.is_end,  # type: ignore[arg-type]
            start=start, claims=self.claims, deliberate=True,
        )  # fmt: skip


def spoken(said: Said, *, at: Ms | None = None) -> Spoken:
    return Spoken(SCOPE, said.statement(), RULES[said.key][1], Trust(vouched=True), said.at if at is None else at)


def tell(graph: ListGraph, said: Said) -> list[Decided]:
    """One deliberate statement through the same road as the product's, against the list graph."""
    sp = [spoken(said)]
    mids = many(12)
    out: list[Decided] = []

    def decide(known: Known) -> Changes:
        book, decided = hear(known, sp, LIMITS, 5 * 60_000, mids)
        out[:] = decided
        return settle(known, book, Changes(json.dumps({}), Origin("s", "user_stated", None, None, "default", "UTC")))

    graph.clock += 1
    graph.write(SCOPE, Operation(mids[-1], "h", "test", "user"), reads(sp), decide)
    return out


def random_set(rng: random.Random, arity: str, *, ends: bool = True, claims: bool = True) -> list[Said]:
    """3 to 7 statements of different moments over two or three values."""
    keys = BY_ARITY[arity]
    count = rng.randint(3, 7)
    moments = sorted(rng.sample(range(1, 400), count))
    found = []
    for day in moments:
        key = rng.choice(keys)
        value = rng.choice(("latte", "mocha", "decaf"))
        at = day * DAY
        said = Said(key, value, "-" if rng.random() < 0.25 and RULES[key][1].arity != "many" else "+", at)
        roll = rng.random()
        if ends and roll < 0.12 and said.polarity == "+":
            said = replace(said, is_end=True)
        elif claims and roll < 0.25 and said.polarity == "+" and day > 5:
            said = replace(said, start=(day - rng.randint(1, day - 1)) * DAY, claims=True)
        found.append(said)
    return found
