"""Step: what a clause does: states, asks, orders, supposes, greets, confirms (packs/speech.yaml). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from graphmem.memory import Reason
from graphmem.pipeline.rules import one_of, sections
from graphmem.pipeline.slice import Clause
from graphmem.pipeline.words import Phrases, load_words

ACTS = (
    "question",
    "question_word",
    "not_question",
    "hypothetical",
    "condition",
    "command",
    "instruction",
    "greeting",
    "smalltalk",
    "yes",
    "no",
    "about_user",
    "advice",
    "over",
    "choosing",
    "jest",
    "adjunct",
    "fiction",
    "replaces",
    "kidding",
    "slip",
    "somebody",
    "introduces",
    "relative",
    "denied_twice",
    "once",
    "order",
    "standing",
    "test",
    "document",
    "outgrown",
    "professional",
    "reaction",
    "taken_back",
    "undone",
    "strange_word",
    "strange_ours",
    "for_name",
    "for_head",
    "not_self",
    "own_mark",
    "aside_self",
    "late_name",
    "late_rest",
)


@dataclass(frozen=True, slots=True)
class Speech:
    """The compiled speech pack."""

    words: Phrases
    acts: dict[str, re.Pattern[str]]

    def is_(self, act: str, text: str) -> bool:
        """Whether an act's expressions match somewhere in the text."""
        return self.acts[act].search(text) is not None

    def asks(self, clause: Clause) -> bool:
        """A question: by its mark or by its words."""
        if clause.end_mark == "?":
            return True
        if self.is_("question", clause.text):
            return True
        return self.is_("question_word", clause.text) and not self.is_("not_question", clause.text)

    def act_of(self, clause: Clause) -> tuple[Reason, str] | None:
        """Why a clause as a whole is no statement, or None. A command may still hold a standing wish: the caller asks rules first."""
        if clause.quoted:
            return Reason.QUOTED, f"speech_act.{clause.quoted}"
        if self.is_("instruction", clause.text):
            return Reason.COMMAND, "speech_act.instruction"
        if self.asks(clause):
            return Reason.QUESTION, "speech_act.question"
        if self.is_("smalltalk", clause.text):
            return Reason.CHATTER, "speech_act.smalltalk"
        if self.is_("hypothetical", clause.text):
            return Reason.HYPOTHETICAL, "speech_act.hypothetical"
        return None

    def rest_of(self, clause: Clause) -> tuple[Reason, str]:
        """The reason for a clause in which no rule found a statement."""
        if self.is_("command", clause.text):
            return Reason.COMMAND, "speech_act.command"
        if self.is_("greeting", clause.text):
            return Reason.CHATTER, "speech_act.greeting"
        return Reason.CHATTER, "no_statement"


def load_speech(path: Path) -> Speech:
    """Read packs/speech.yaml. PackError on mistakes."""
    fields = sections(path, ("words", *ACTS))
    return Speech(load_words(fields["words"]), {act: one_of(fields[act]) for act in ACTS})
