"""The task table: packs/tasks.yaml, read once and checked. What a task loads, what it guards, which things count as each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast

from graphmem.memory import Text2
from graphmem.ontology import PACKS
from graphmem.packfile import Entry
from graphmem.recall.named import plain
from graphmem.recall.phrases import root

Severity = Literal["stop", "warn"]

TEXTS = (
    "allergy", "allergy_class", "ingredient", "cross_reaction", "condition", "interaction", "dislike", "expired", "expires_soon",
    "denied", "unconfirmed",
)  # fmt: skip
"""Texts a pack must have: one a finding, and two additions."""
TEXT_PLACES = ("who", "value", "thing", "group")


@dataclass(frozen=True, slots=True)
class Task:
    """keys are slot matches of the task; guard are never cut by its budget; things are lexicon types whose names in a message it checks;
    expiries are keys of documents with the days they must still run; checks_as names the task whose checks it runs.
    """

    name: str
    keys: tuple[str, ...]
    guard: frozenset[str]
    things: tuple[str, ...]
    expiries: Mapping[str, int]
    checks_as: str


@dataclass(frozen=True, slots=True)
class Group:
    """Things that count as each other: a drug class, an ingredient. Names in plain form."""

    name: str
    task: str
    label: Text2
    members: frozenset[str] = field(repr=False)
    dishes: frozenset[str] = field(repr=False)
    cross: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Caution:
    """A memory under `key` with one of these names (or one of a group's) against things of `group`."""

    key: str
    names: frozenset[str] = field(repr=False)
    group: str
    severity: Severity
    text: Text2


@dataclass(frozen=True, slots=True)
class TaskTable:
    tasks: Mapping[str, Task]
    groups: Mapping[str, Group] = field(repr=False)
    cautions: tuple[Caution, ...] = field(repr=False)
    names: frozenset[str] = field(repr=False)
    """Every member and dish, to find them in a message."""
    texts: Mapping[str, Text2] = field(repr=False)


@lru_cache(maxsize=1)
def task_table() -> TaskTable:
    """The table that ships with graphmem."""
    return load_tasks(PACKS / "tasks.yaml")


def load_tasks(path: Path) -> TaskTable:
    """The task table of a pack. PackError with file and line on any mistake."""
    got = root(path).fields(("tasks", "groups", "cautions", "texts"), required=("tasks", "texts"))
    groups = {name: _group(name, entry) for name, entry in (got["groups"].fields() if "groups" in got else {}).items()}
    for name, entry in (got["groups"].fields() if "groups" in got else {}).items():
        for other in groups[name].cross:
            if other not in groups:
                raise entry.fail(f"group {name!r} crosses with {other!r}, which is no group")
    tasks = {name: _task(name, entry) for name, entry in got["tasks"].fields().items()}
    for name, entry in got["tasks"].fields().items():
        if tasks[name].checks_as not in tasks:
            raise entry.fail(f"task {name!r} checks as {tasks[name].checks_as!r}, which is no task")
    cautions = tuple(_caution(entry, groups) for entry in (got["cautions"].items() if "cautions" in got else ()))
    names = frozenset(word for group in groups.values() for word in group.members | group.dishes)
    texts = {name: entry.text2(TEXT_PLACES) for name, entry in got["texts"].fields(TEXTS, required=TEXTS).items()}
    return TaskTable(tasks, groups, cautions, names, texts)


def _task(name: str, entry: Entry) -> Task:
    got = entry.fields(("keys", "guard", "things", "expiries", "as"), required=("keys",))
    keys = got["keys"].texts()
    guard = got["guard"].texts() if "guard" in got else ()
    if not set(guard) <= set(keys):
        raise got["guard"].fail(f"task {name!r} guards keys that it does not load: {', '.join(sorted(set(guard) - set(keys)))}")
    things = got["things"].texts() if "things" in got else ()
    expiries = {key: _days(days) for key, days in (got["expiries"].fields() if "expiries" in got else {}).items()}
    return Task(name, keys, frozenset(guard), things, expiries, got["as"].text() if "as" in got else name)


def _days(entry: Entry) -> int:
    if not entry.text().isdecimal():
        raise entry.fail(f"{entry.what} must be a number of days")
    return int(entry.text())


def _group(name: str, entry: Entry) -> Group:
    got = entry.fields(("task", "label", "members", "dishes", "cross"), required=("task", "label", "members"))
    return Group(
        name=name,
        task=got["task"].text(),
        label=got["label"].text2(),
        members=_names(got["members"]),
        dishes=_names(got["dishes"]) if "dishes" in got else frozenset(),
        cross=got["cross"].texts() if "cross" in got else (),
    )


def _caution(entry: Entry, groups: Mapping[str, Group]) -> Caution:
    got = entry.fields(("key", "names", "in_group", "group", "severity", "text"), required=("key", "group", "severity", "text"))
    for name in ("group", "in_group"):
        if name in got and got[name].text() not in groups:
            raise got[name].fail(f"{got[name].text()!r} is no group; define it under `groups`")
    if ("names" in got) == ("in_group" in got):
        raise entry.fail("a caution has either `names` or `in_group`")
    names = _names(got["names"]) if "names" in got else groups[got["in_group"].text()].members
    severity = cast(Severity, got["severity"].choice(("stop", "warn")))
    return Caution(got["key"].text(), names, got["group"].text(), severity, got["text"].text2())


def _names(entry: Entry) -> frozenset[str]:
    return frozenset(plain(name) for name in entry.texts())
