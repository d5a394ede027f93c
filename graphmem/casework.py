"""From a statement to the judge's cases: which slots it concerns, which rows must be read, when it was said. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from graphmem.book import Book, Case, Limits, Rule, Trust
from graphmem.memory import MILLISECOND, Kind, Statement, to_ms
from graphmem.ontology import Key
from graphmem.scope import Scope
from graphmem.slot import slot, slot_prefix
from graphmem.validity import Ms, Row

ANY = "*"
"""Concept of a denial or an end of a whole `many` key."""

CLASSES = frozenset({"analyte", "product_class"})
"""Concept types that are only a class of values: one slot a class, values compared by their text."""


def rule_of(key: Key) -> Rule:
    """What the judge must know of an ontology key."""
    return Rule(
        arity=key.arity,
        policy=key.policy,
        lifetime=_ms(key.lifetime),
        safety=key.safety,
        taste=key.taste,
        classed=key.concept_type in CLASSES,
    )


def _ms(life: timedelta | None) -> Ms | None:
    return None if life is None else life // MILLISECOND


def thing(scope: Scope, s: Statement, ckey: str) -> str:
    """What opposition is about: a concept of a subject, over all preference keys together, within one key for the other kinds."""
    return slot(scope, s.kind, "" if s.kind is Kind.PREFERENCE else s.key, s.subject, ckey)


@dataclass(frozen=True, slots=True)
class Spoken:
    """One statement with the rule of its key, in the scope of its user. `at` None: the database clock dates it."""

    scope: Scope
    statement: Statement
    rule: Rule
    trust: Trust
    at: Ms | None = None

    @property
    def chosen(self) -> str:
        s = self.statement
        return slot(self.scope, s.kind, s.key, s.subject)

    def concept(self, ckey: str) -> str:
        s = self.statement
        return slot(self.scope, s.kind, s.key, s.subject, ckey)

    @property
    def prefix(self) -> str:
        s = self.statement
        return slot_prefix(self.scope, s.kind, s.key, s.subject)

    @property
    def wide(self) -> bool:
        """It may concern other current slots of its key: ends and denials of a whole key, replacements, words taken back."""
        s = self.statement
        many = self.rule.arity in ("many", "pole")
        return s.slip or s.whole_key or (many and (s.ckey == "" or s.replaces or s.old is not None))


@dataclass(frozen=True, slots=True)
class Reads:
    """What a write must read under the lock: slots, things and key prefixes by kind; `since` bounds the rows (None: from now)."""

    slots: Mapping[Kind, tuple[str, ...]]
    things: Mapping[Kind, tuple[str, ...]]
    prefixes: Mapping[Kind, tuple[str, ...]]
    since: Ms | None
    whole: bool = False
    mids: tuple[str, ...] = field(default=())


def reads(spoken: Sequence[Spoken]) -> Reads:
    """Everything the judge of these statements may look at."""
    slots: dict[Kind, set[str]] = {k: set() for k in Kind}
    things: dict[Kind, set[str]] = {k: set() for k in Kind}
    prefixes: dict[Kind, set[str]] = {k: set() for k in Kind}
    times: list[Ms] = []
    for sp in spoken:
        s = sp.statement
        slots[s.kind] |= {sp.chosen} if sp.rule.arity in ("one", "chosen") else set()
        for ckey in (s.ckey, s.old or ""):
            if ckey:
                slots[s.kind].add(sp.concept(ckey))
                things[s.kind].add(thing(sp.scope, s, ckey))
        if sp.rule.safety and sp.rule.arity == "many":
            slots[s.kind].add(sp.concept(ANY))
        if sp.wide:
            prefixes[s.kind].add(sp.prefix)
            slots[s.kind].add(sp.concept(ANY))
        times += [sp.at] if sp.at is not None else []
        times += [to_ms(s.start)] if s.start is not None else []
    return Reads(
        {k: tuple(sorted(v)) for k, v in slots.items()},
        {k: tuple(sorted(v)) for k, v in things.items()},
        {k: tuple(sorted(v)) for k, v in prefixes.items()},
        since=min(times) - 1 if times else None,
        whole=any(sp.statement.slip for sp in spoken),
    )


@dataclass(frozen=True, slots=True)
class Clock:
    """now of the write (database, after the lock) and how far ahead an `at` may lie and still be now."""

    now: Ms
    skew: Ms

    def heard(self, at: Ms | None) -> tuple[Ms, Ms, bool]:
        """(said_at, default start, whether the `at` lay too far ahead): design section 5, two times."""
        if at is None or at <= self.now:
            return at if at is not None else self.now, at if at is not None else self.now, False
        if at <= self.now + self.skew:
            return self.now, self.now, False
        return self.now, at, True


def cases(sp: Spoken, book: Book, clock: Clock, limits: Limits) -> list[Case]:
    """The cases of one statement against what the book holds: usually one; an end or a replacement of a `many` key may be more."""
    said, start, _ = clock.heard(sp.at)
    found = []
    given = sp.statement.start
    for s in _expanded(sp, book, max(said, start if given is None else to_ms(given))):
        begins = to_ms(s.start) if s.start is not None else start
        dated = s.deliberate and s.start is not None and not s.claims and sp.at is None and begins <= clock.now
        ckey = s.ckey or (ANY if sp.rule.arity in ("many", "pole") else "")
        many = sp.rule.arity in ("many", "pole")
        case = Case(
            statement=s,
            rule=sp.rule,
            trust=sp.trust,
            limits=limits,
            slot=sp.concept(s.ckey or ANY) if many else sp.chosen,
            thing=thing(sp.scope, s, ckey),
            said_at=said,
            start=begins,
            ends_at=to_ms(s.ends_at) if s.ends_at is not None else None,
            now=clock.now,
            anchor=begins if dated else said,
        )
        found.append(case if many else _seated(sp if s is sp.statement else replace(sp, statement=s), case, book))
    return found


def _expanded(sp: Spoken, book: Book, at: Ms) -> list[Statement]:
    """Ends without a value, replacements and changes of `many` keys, one statement a slot; the end before the beginning."""
    s = sp.statement
    if sp.rule.arity not in ("many", "pole"):
        return [s]
    if s.is_end and not s.ckey:
        return [_end_of(s, row) for row in _affirmed(s, book, at)] or [s]
    if s.whole_key and s.polarity == "-" and (s.grounds is not None or sp.trust.vouched or not sp.rule.safety):
        return [*(replace(s, value=row.value, ckey=row.ckey, whole_key=False) for row in _affirmed(s, book, at)), s]
    if s.polarity == "-" or s.is_end:
        return [s]
    # "no allergies" does not outlive the first one that is affirmed
    none = book.told(sp.concept(ANY), at)
    affirms = none is not None and not s.hedged and s.ends_at is None
    before = [replace(_end_of(s, none), value=None, ckey="", slip=False, claims=False)] if none is not None and affirms else []
    if s.replaces or s.old:
        given = [r for r in _affirmed(s, book, at) if (r.ckey == s.old if s.old else r.ckey != s.ckey)]
        before += [_end_of(s, given[0])] if len(given) == 1 else []
    return [*before, s]


def _affirmed(s: Statement, book: Book, at: Ms) -> list[Row]:
    """What the key of a statement affirms at a time; it looks at every slot of the key."""
    return [r for r in book.told_of_key(s.key, s.subject, at) if r.polarity == "+"]


def _end_of(s: Statement, row: Row) -> Statement:
    return replace(s, is_end=True, value=row.value, ckey=row.ckey, old=None, replaces=False, ends_at=None, polarity="+")


def _seated(sp: Spoken, case: Case, book: Book) -> Case:
    """The case in its slot (design section 4, arity): chosen values share one slot (its own so far), the rest has one a concept."""
    s, arity = sp.statement, sp.rule.arity
    if s.polarity == "-" and not s.is_end:
        return replace(case, slot=sp.concept(s.ckey or ANY))
    held = book.told(sp.chosen, case.probe)
    if s.is_end and s.ckey and (held is None or held.ckey != s.ckey):
        return _ended_elsewhere(sp, case, book, held)
    beside = arity == "chosen" and sp.rule.taste and not (s.choose or s.change or s.deliberate or s.is_end)
    if beside and ((held is not None and held.ckey != s.ckey) or book.told(sp.concept(s.ckey), case.probe) is not None):
        return replace(case, slot=sp.concept(s.ckey))
    return case


def _ended_elsewhere(sp: Spoken, case: Case, book: Book, held: Row | None) -> Case:
    """The end of a value that is not the one held: of the liking beside it, of the empty slot, else only a denial of that value."""
    beside = book.told(sp.concept(sp.statement.ckey), case.probe)
    if beside is not None:
        return replace(case, slot=sp.concept(sp.statement.ckey))
    if held is None:
        return case
    denied = replace(sp.statement, is_end=False, polarity="-")
    return replace(case, statement=denied, slot=sp.concept(sp.statement.ckey))
