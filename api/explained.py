"""Why a memory is held and (not) told, and the entries of a timeline, in GraphQL."""

from __future__ import annotations

from api.derived import made, shows
from api.nodes import told
from graphmem import explain


@shows(explain.Touch, "Something that happened to a memory: who, when, by which route.")
class Touch: ...


@shows(explain.Entry, "One version in a timeline, with what made it and what became of it.")
class Entry:
    @classmethod
    def of(cls, entry: explain.Entry) -> Entry:
        return made(cls, entry, memory=told(entry.memory))


@shows(explain.Rival, "Another version of the slot or of the opposite, and what it did. A forgotten one has no value.")
class Rival: ...


@shows(explain.Policy, "How the key may change, and how long a memory of it lives.")
class Policy: ...


@shows(explain.Waiting, "Why a memory waits, what was decided, and the review case it has.")
class Waiting: ...


@shows(explain.Why, "Why a memory is held and (not) told now. `because` names the reason, `text` says all of it in one paragraph.")
class Why:
    @classmethod
    def of(cls, found: explain.Why) -> Why:
        return made(cls, found, entry=Entry.of(found.entry))
