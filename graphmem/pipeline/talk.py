"""What a conversation is about just now: the last subject and who he and she are. Mutable within one turn only."""

from __future__ import annotations

from dataclasses import dataclass

from graphmem.pipeline.words import People


@dataclass(slots=True)
class Talk:
    """State of one turn, started from the turns before it. `lost`: the clause before had a subject nobody knows.

    `thing`: something that has a name of its own was introduced last (a pet, a shop).
    """

    people: People
    topic: str | None = None
    he: str | None = None
    she: str | None = None
    they: str | None = None
    lost: bool = False
    thing: bool = False

    def heard(self, subject: str) -> None:
        """Somebody was named."""
        if subject in ("you",):
            return
        if subject == "self":
            return
        role = subject.partition(":")[0]
        if role not in self.people.female:
            self.he = subject
        if role not in self.people.male:
            self.she = subject
        self.they = subject

    def resolve(self, pronoun: str) -> str | None:
        """Whom a pronoun means; None when nobody fits."""
        if pronoun == "own":
            return self.topic or "self"
        if pronoun == "you":
            return "you"
        return {"he": self.he, "she": self.she, "they": self.they}.get(pronoun)
