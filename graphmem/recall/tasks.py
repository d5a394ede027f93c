"""The decision layer: what a task must be warned of, from the message and the user's memories. Pure. It raises flags and clears nothing.

An unverified memory may raise a warning, never clear one: a denial or an end that nobody verified still warns, and so does a pending
affirmation. Knowledge is data (packs/tasks.yaml), general and incomplete; it is not medical advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from graphmem.answers import Check, Memory
from graphmem.lexicon import Lexicon
from graphmem.memory import Standing, Text2
from graphmem.recall.named import names_in, plain
from graphmem.recall.phrases import phrases
from graphmem.recall.rank import SELF, about
from graphmem.recall.tasktable import Group, TaskTable, task_table
from graphmem.recall.wording import said, wording
from graphmem.slot import folded

Severity = Literal["stop", "warn", "info"]

PASSPORT_LEFT = timedelta(days=183)
"""Half a year: what many countries ask of a passport at entry."""

_EXPIRIES = ("passport_expiry", "id_expiry")
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
    thing: str
    group: Text2


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
    if runs.name == "travel":
        return tuple(check for memory in memories if (check := _expiry(memory, runs.name, now)))
    text = plain(message)
    roles = _roles(text)
    things = list(_things(text, runs.things, lexicon))
    found = [
        _check(runs.name, memory, finding, confirmed, only=SELF in memory.subject and bool(roles))
        for memory, confirmed in (*((m, True) for m in memories), *((m, False) for m in pending if m.polarity == "+"))
        if memory.subject == SELF or about(memory.subject, roles)
        for finding in _findings(runs.name, runs.things, memory, things, lexicon)
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda c: (_RANK[c.severity], c.memory_ids, c.finding, c.text.en)))


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


def _names(form: str, types: Sequence[str], lexicon: Lexicon) -> frozenset[str]:
    concepts = [c for c in lexicon.by_surface.get(form, ()) if c.type in types]
    return frozenset((form, *(folded(name) for c in concepts for name in c.names)))


def _of_memory(memory: Memory, types: Sequence[str], lexicon: Lexicon) -> Thing:
    """What a memory is about: its value, the names found in it, and its concept's names."""
    value = memory.value or ""
    names = {plain(value)} if value else set()
    for thing in _things(plain(value), types, lexicon):
        names |= thing.names
    concept = lexicon.concepts.get(memory.concept) if memory.concept else None
    names |= {folded(name) for name in concept.names} if concept else set()
    shown = value or (said(Text2(concept.zh, concept.en), "zh") if concept else memory.key)
    return Thing(shown, frozenset(names))


def _findings(task: str, types: Sequence[str], memory: Memory, things: Iterable[Thing], lexicon: Lexicon) -> Iterator[_Finding]:
    if memory.key not in ("allergy", "disease", "medication", "food_preference", "drink_preference"):
        return
    held = _of_memory(memory, (*types, "allergen", "disease"), lexicon)
    for thing in things:
        if memory.key == "allergy":
            yield from _allergy(task, held, thing)
        elif memory.key in ("disease", "medication"):
            yield from _cautions(task, memory.key, held, thing)
        elif memory.polarity == "-" and held.names & thing.names:
            yield _Finding("dislike", "dislike", "info", thing.said, Text2("", ""))


def _allergy(task: str, held: Thing, thing: Thing) -> Iterator[_Finding]:
    table = task_table()
    mine, theirs = held.groups(table, task), thing.groups(table, task)
    contains = [g for g in table.groups.values() if g.name in mine and thing.names & g.dishes]
    crossing = [g for g in map(table.groups.__getitem__, sorted(mine)) if theirs & set(g.cross)]
    if held.names & thing.names:
        yield _Finding("allergy", "allergy", "stop", thing.said, Text2("", ""))
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


def _check(task: str, memory: Memory, finding: _Finding, confirmed: bool, *, only: bool) -> Check:
    cleared = memory.is_end or (memory.polarity == "-" and memory.key not in ("food_preference", "drink_preference"))
    severity: Severity = "warn" if finding.severity == "stop" and (cleared or not confirmed or only) else finding.severity
    addition = "denied" if cleared else None if confirmed else "unconfirmed"
    verified = confirmed and memory.standing is Standing.VERIFIED
    return Check(task, finding.finding, severity, (memory.mid,), verified, _text(memory, finding, addition))


def _text(memory: Memory, finding: _Finding, addition: str | None) -> Text2:
    texts = task_table().texts
    extra = texts[addition] if addition else Text2("", "")
    whole = texts[finding.text]
    return Text2(
        zh=whole.zh.format(who=_who(memory, zh=True), value=memory.value, thing=finding.thing, group=finding.group.zh) + extra.zh,
        en=whole.en.format(who=_who(memory, zh=False), value=memory.value, thing=finding.thing, group=finding.group.en) + extra.en,
    )


def _who(memory: Memory, *, zh: bool) -> str:
    role, name = wording().subject(memory.subject, "zh" if zh else "en")
    if name:
        return f"{role} {name}"
    return role if zh else f"the {role}"


def _expiry(memory: Memory, task: str, now: datetime) -> Check | None:
    """A passport or ID that is over, or a passport with less than half a year left."""
    ends = _date(memory.value or "")
    if memory.key not in _EXPIRIES or ends is None or memory.polarity == "-" or memory.is_end:
        return None
    left = datetime(ends.year, ends.month, ends.day, tzinfo=UTC) + timedelta(days=1) - now
    if left > PASSPORT_LEFT or (left > timedelta() and memory.key != "passport_expiry"):
        return None
    over = left <= timedelta()
    finding = _Finding("expired" if over else "expires_soon", memory.key, "stop" if over else "warn", "", Text2("", ""))
    text = task_table().texts[finding.text]
    zh = text.zh.format(who=_who(memory, zh=True), value=memory.value, thing=memory.label.zh, group="")
    en = text.en.format(who=_who(memory, zh=False), value=memory.value, thing=memory.label.en, group="")
    return Check(task, memory.key, finding.severity, (memory.mid,), memory.standing is Standing.VERIFIED, Text2(zh, en))


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
