"""The decision layer: what a task must be warned of, from the message and the user's memories. Pure. It raises flags and clears nothing.

An unverified memory may raise a warning, never clear one: a denial or an end that nobody verified still warns, and so does a pending
affirmation. Knowledge is data (packs/tasks.yaml), general and incomplete; it is not medical advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from graphmem.answers import Check, Memory
from graphmem.lexicon import Lexicon
from graphmem.memory import Kind, Standing, Text2
from graphmem.recall.named import Name, names_in, plain
from graphmem.recall.phrases import phrases
from graphmem.recall.quote import quoted
from graphmem.recall.rank import SELF, about
from graphmem.recall.tasktable import Group, Task, TaskTable, task_table
from graphmem.recall.wording import wording
from graphmem.slot import folded

Severity = Literal["stop", "warn", "info"]

VALUE = 80
"""Characters of a stored value in a check's text."""

_RANK: dict[str, int] = {"stop": 0, "warn": 1, "info": 2}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE = re.compile(r"((?:19|20)\d\d)\D{1,2}(\d{1,2})(?:\D{1,2}(\d{1,2}))?(?!\d)")
_DATE_EN = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th)? )?([a-z]{3})[a-z]* (?:(\d{1,2})(?:st|nd|rd|th)?,? )?((?:19|20)\d\d)")


@dataclass(frozen=True, slots=True)
class Thing:
    """Something named: as written, and every name it goes by."""

    said: str
    names: frozenset[str]

    def groups(self, table: TaskTable, task: str) -> frozenset[str]:
        return frozenset(g.name for g in table.groups.values() if g.task == task and self.names & g.members)


@dataclass(frozen=True, slots=True)
class _Finding:
    text: str
    finding: str
    severity: Severity
    thing: str = ""
    group: Text2 | None = None


@dataclass(frozen=True, slots=True)
class _Case:
    """One question: the checks to run, the people and things the message names."""

    task: Task
    roles: frozenset[str]
    things: tuple[Thing, ...]
    lexicon: Lexicon


def checks(
    task: str | None, message: str, memories: Sequence[Memory], pending: Sequence[Memory], lexicon: Lexicon, now: datetime
) -> tuple[Check, ...]:
    """Warnings of a task, the gravest first; () for tasks without checks. `memories` are told ones, ends of safety keys among them.

    finding: allergy, cross_reaction, condition, interaction, dislike, passport_expiry or id_expiry. About the people named in the message,
    and always about the user, then at most as a warning ("my mother says I should take …").
    """
    known = task_table().tasks.get(task) if task else None
    if known is None:
        return ()
    runs = task_table().tasks[known.checks_as]
    text = plain(message)
    case = _Case(runs, _roles(text), tuple(_things(text, runs.things, lexicon)) if runs.things else (), lexicon)
    found = [
        _check(case, memory, finding, confirmed)
        for memory, confirmed in (*((m, True) for m in memories), *((m, False) for m in pending if m.polarity == "+"))
        if (memory.subject == SELF or about(memory.subject, case.roles)) and not _cleared(memory)
        for finding in (*_findings(case, memory), *_expiry(case, memory, now))
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda c: (_RANK[c.severity], c.memory_ids, c.finding, c.text.en)))


def _denied(memory: Memory) -> bool:
    """It says that a danger is none or is over; a dislike is no denial."""
    return memory.is_end or (memory.polarity == "-" and memory.kind is Kind.FACT)


def _cleared(memory: Memory) -> bool:
    """A denial or end that warns no more: a verified one, and the user's own first word that they never had it (it stood over nothing)."""
    return _denied(memory) and (memory.standing is Standing.VERIFIED or (memory.standing is Standing.STATED and not memory.is_end))


def _roles(text: str) -> frozenset[str]:
    subjects = phrases().subjects
    return frozenset(subjects[name.form] for name in names_in(text, subjects.__contains__))


def _things(text: str, types: Sequence[str], lexicon: Lexicon) -> Iterator[Thing]:
    """Things of the lexicon types or of the table, named in a plain text."""
    table = task_table()

    def known(form: str) -> bool:
        return form in table.names or any(c.type in types for c in lexicon.by_surface.get(form, ()))

    for name in names_in(text, known):
        yield Thing(text[name.start : name.end], _names(name.form, types, lexicon))
        if name.form not in table.names and any(c.type == "food" for c in lexicon.by_surface.get(name.form, ())):
            yield from (Thing(part.form, _names(part.form, types, lexicon)) for part in _parts(name.form, table))


def _parts(dish: str, table: TaskTable) -> Iterator[Name]:
    """What the name of a dish outside the table says it is made of: 三文鱼|刺身. One Chinese character says too little (鱼香肉丝)."""
    return (part for part in names_in(dish, table.names.__contains__) if len(part.form) > 1)


def _names(form: str, types: Sequence[str], lexicon: Lexicon) -> frozenset[str]:
    concepts = [c for c in lexicon.by_surface.get(form, ()) if c.type in types]
    return frozenset((form, *(folded(name) for c in concepts for name in c.names)))


def _of_memory(memory: Memory, case: _Case) -> Thing:
    """What a memory is about: its value, the names found in it, and its concept's names."""
    value = plain(memory.value or "")
    types = (*case.task.things, "allergen", "disease")
    names = {value, *(name for thing in _things(value, types, case.lexicon) for name in thing.names)} - {""}
    concept = case.lexicon.concepts.get(memory.concept or "")
    return Thing(value, frozenset(names | {folded(name) for name in (concept.names if concept else ())}))


def _shown(memory: Memory, lexicon: Lexicon) -> Text2:
    """The memory's own word; where it has none, its concept's names, else its label."""
    if memory.value:
        return Text2(memory.value, memory.value)
    concept = lexicon.concepts.get(memory.concept or "")
    return Text2(concept.zh or concept.en, concept.en or concept.zh) if concept else memory.label


def _findings(case: _Case, memory: Memory) -> Iterator[_Finding]:
    held = _of_memory(memory, case)
    for thing in case.things:
        if memory.key == "allergy":
            yield from _allergy(case.task.name, held, thing)
        elif memory.kind is Kind.FACT:
            yield from _cautions(case.task.name, memory.key, held, thing)
        elif memory.polarity == "-" and held.names & thing.names:
            yield _Finding("dislike", "dislike", "info", thing.said)


def _allergy(task: str, held: Thing, thing: Thing) -> Iterator[_Finding]:
    table = task_table()
    mine, theirs = held.groups(table, task), thing.groups(table, task)
    contains = [g for g in table.groups.values() if g.name in mine and thing.names & g.dishes]
    crossing = [g for g in map(table.groups.__getitem__, sorted(mine)) if theirs & set(g.cross)]
    if held.names & thing.names:
        yield _Finding("allergy", "allergy", "stop", thing.said)
    elif shared := sorted(mine & theirs):
        yield _Finding("allergy_class", "allergy", "stop", thing.said, table.groups[shared[0]].label)
    elif contains:
        yield _Finding("ingredient", "allergy", "stop", thing.said, contains[0].label)
    elif crossing:
        yield _Finding("cross_reaction", "cross_reaction", "warn", thing.said, _crossed(crossing[0], theirs).label)


def _crossed(group: Group, theirs: frozenset[str]) -> Group:
    return next(task_table().groups[name] for name in group.cross if name in theirs)


def _cautions(task: str, key: str, held: Thing, thing: Thing) -> Iterator[_Finding]:
    table = task_table()
    for caution in table.cautions:
        group = table.groups[caution.group]
        if caution.key == key and group.task == task and held.names & caution.names and thing.names & (group.members | group.dishes):
            finding = "condition" if key == "disease" else "interaction"
            yield _Finding(finding, finding, caution.severity, thing.said, caution.text)


def _check(case: _Case, memory: Memory, finding: _Finding, confirmed: bool) -> Check:
    denied, aside = _denied(memory), memory.subject == SELF and bool(case.roles)
    severity: Severity = "warn" if finding.severity == "stop" and (denied or aside or not confirmed) else finding.severity
    addition = "denied" if denied else None if confirmed else "unconfirmed"
    verified = confirmed and memory.standing is Standing.VERIFIED
    text = _text(memory, finding, addition, _shown(memory, case.lexicon))
    return Check(case.task.name, finding.finding, severity, (memory.mid,), verified, text)


def _text(memory: Memory, finding: _Finding, addition: str | None, shown: Text2) -> Text2:
    whole, extra = task_table().texts[finding.text], task_table().texts[addition] if addition else Text2("", "")
    group = finding.group or memory.label
    thing = Text2(quoted(finding.thing, VALUE), quoted(finding.thing, VALUE)) if finding.thing else memory.label
    zh = whole.zh.format(who=_who(memory, zh=True), value=quoted(shown.zh, VALUE), thing=thing.zh, group=group.zh)
    en = whole.en.format(who=_who(memory, zh=False), value=quoted(shown.en, VALUE), thing=thing.en, group=group.en)
    return Text2(zh + extra.zh, en + extra.en)


def _who(memory: Memory, *, zh: bool) -> str:
    role, name = wording().subject(memory.subject, "zh" if zh else "en")
    if name:
        return f"{role} {quoted(name, VALUE)}"
    return role if zh else f"the {role}"


def _expiry(case: _Case, memory: Memory, now: datetime) -> Iterator[_Finding]:
    """A document that is over, or will be sooner than the task needs."""
    needed, ends = case.task.expiries.get(memory.key), _date(memory.value or "")
    if needed is None or ends is None or memory.polarity == "-" or memory.is_end:
        return
    left = datetime(ends.year, ends.month, ends.day, tzinfo=UTC) + timedelta(days=1) - now
    if left <= timedelta():
        yield _Finding("expired", memory.key, "stop")
    elif left <= timedelta(days=needed):
        yield _Finding("expires_soon", memory.key, "warn")


def _date(value: str) -> date | None:
    """The day a value names: 2027-05-01, 2027年5月(1日), 1 May 2027, May 2027; a month counts to its last day. None where it names none."""
    text = plain(value)
    if m := _DATE.search(text):
        return _day(int(m[1]), int(m[2]), m[3])
    m = _DATE_EN.search(text)
    if m and m[2] in _MONTHS:
        return _day(int(m[4]), _MONTHS.index(m[2]) + 1, m[1] or m[3])
    return None


def _day(year: int, month: int, day: str | None) -> date | None:
    try:
        if day is not None:
            return date(year, month, int(day))
        return (date(year, month, 28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    except ValueError:
        return None
