"""Bare answers: "拿铁" after "想喝点什么？", "yes" after a yes-no question about the user. After advice nothing is confirmed. Pure.

The question becomes the statement that its answer makes (packs/answers.yaml), and the ordinary rules read that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphmem.memory import Polarity, Turn
from graphmem.ontology import Ontology
from graphmem.pipeline.classify import Classifier
from graphmem.pipeline.normal import Normal, normalise
from graphmem.pipeline.rules import lines, sections
from graphmem.pipeline.said import Found, Said
from graphmem.pipeline.slice import Sliced, cut
from graphmem.pipeline.speech import Speech
from graphmem.pipeline.talk import Talk

ANSWER_MAX = 60
"""Characters of a bare answer; a longer text speaks for itself."""

ANSWERED = 0.95
"""Certainty factor of a statement put together from a question and its answer. Own choice."""

QUESTION_MAX = 300
"""Characters of the other side's turn, from its end, in which the question is looked for."""


@dataclass(frozen=True, slots=True)
class Turned:
    """One way a question becomes a statement."""

    question: re.Pattern[str]
    statements: tuple[str, ...]


def load_turns(path: Path) -> dict[str, tuple[Turned, ...]]:
    """Read packs/answers.yaml. PackError on mistakes."""
    out: dict[str, tuple[Turned, ...]] = {}
    for name, entry in sections(path, ("yes_no", "open")).items():
        found: list[Turned] = []
        for line, text in lines(entry):
            pattern, arrow, statement = text.partition(" => ")
            if not arrow:
                raise entry.fail(f"line {line}: a rule is written `expression => statement`")
            try:
                found.append(Turned(re.compile(pattern), tuple(s.strip() for s in statement.split(" | "))))
            except re.error as error:
                raise entry.fail(f"line {line}: the expression does not compile: {error}") from error
        out[name] = tuple(found)
    return out


class Answers:
    """Completes a bare answer with the question it answers."""

    def __init__(self, ontology: Ontology, classifier: Classifier, speech: Speech, path: Path) -> None:
        self._classifier, self._speech = classifier, speech
        self._turns = load_turns(path)
        self._follow_ups = [(key, _template(text)) for key in ontology.keys for text in (key.question.zh, key.question.en)]

    def answer(self, sliced: Sliced, context: Sequence[Turn], talk: Talk) -> list[Found]:
        """What a turn of a few words says as the answer to the last turn before it; nothing when that asked nothing of the user."""
        own = [c for c in sliced.clauses if not c.quoted]
        if not own or len(own) > 2 or len(sliced.normal.norm.strip()) > ANSWER_MAX or not context or context[-1].role == "user":
            return []
        asked = cut(context[-1].text[-QUESTION_MAX:])
        question = self._question(asked)
        if question is None:
            return []
        first = own[0].text
        yes, no = self._speech.is_("yes", first), self._speech.is_("no", first)
        if yes or no:
            return self._confirmed(question, asked.normal, sliced.normal, talk, minus=no)
        if len(own) > 1 or own[0].end_mark == "?" or self._speech.is_("greeting", first):
            return []
        return self._completed(question, first, asked.normal, sliced.normal, talk)

    def _question(self, asked: Sliced) -> str | None:
        """The last sentence, when it asks the user about the user and gives no advice."""
        last = [c for c in asked.clauses if not c.quoted]
        if not last or not self._speech.asks(last[-1]):
            return None
        whole = asked.normal.norm[next(c.start for c in last if c.sentence == last[-1].sentence) : last[-1].end]
        if self._speech.is_("advice", whole) or not self._speech.is_("about_user", whole):
            return None
        return whole.strip(" ?？")

    def _confirmed(self, question: str, asked: Normal, given: Normal, talk: Talk, *, minus: bool) -> list[Found]:
        if (found := self._follow_up(question, asked)) is not None:
            return [] if minus else [found]
        for text in self._turned("yes_no", question, ""):
            found_all = [f for f in self._read(text, asked, given, talk) if not (minus and f.statement.is_end)]
            if found_all:
                return [_minus(f) if minus else f for f in found_all]
        return []

    def _follow_up(self, question: str, asked: Normal) -> Found | None:
        """Our own follow-up question, by its template."""
        for key, template in self._follow_ups:
            m = template.fullmatch(question)
            if m is not None:
                at = asked.norm.find(m["value"])
                value = asked.original(at, at + len(m["value"]))
                return self._classifier.stated(key, value, "answer.follow_up")
        return None

    def _completed(self, question: str, answer: str, asked: Normal, given: Normal, talk: Talk) -> list[Found]:
        for text in self._turned("open", question, answer):
            found = [
                f for f in self._read(text, asked, given, talk) if f.statement.value is not None and given.text.find(f.statement.value) >= 0
            ]
            if found:
                return found
        return []

    def _turned(self, name: str, question: str, answer: str) -> Iterator[str]:
        for _ in range(3):
            for turned in self._turns[name]:
                m = turned.question.fullmatch(question)
                if m is None:
                    continue
                if turned.statements == ("\\1",):
                    question = m[1]
                    break
                for statement in turned.statements:
                    yield m.expand(statement.replace("{a}", "\x00")).replace("\x00", answer)
                return
            else:
                return

    def _read(self, text: str, asked: Normal, given: Normal, talk: Talk) -> list[Found]:
        c = self._classifier
        mentions = c.recogniser.find(text)
        said = Said(text, mentions, (), lambda a, b: _cut(text[a:b], given, asked), ANSWERED)
        found, _ = c.read(said, [r for r in c.triggers(text, mentions) if "two" not in r.flags], Talk(talk.people))
        return [replace(f, statement=replace(f.statement, rule=f"answer.{f.statement.rule}")) for f in found]


def _cut(phrase: str, given: Normal, asked: Normal) -> str:
    """The phrase as it was sent: in the answer, else in the question."""
    for normal in (given, asked):
        at = normal.norm.find(phrase)
        if at >= 0:
            return normal.original(at, at + len(phrase))
    return phrase


def _minus(found: Found) -> Found:
    polarity: Polarity = "+" if found.statement.polarity == "-" else "-"
    return replace(found, statement=replace(found.statement, polarity=polarity, choose=False))


def _template(question: str) -> re.Pattern[str]:
    before, _, after = normalise(question.replace("{value}", "\x00").replace("\x00", "vvvv")).norm.rstrip("?？ ").partition("vvvv")
    return re.compile(re.escape(before.lstrip()) + "(?P<value>.{1,80})" + re.escape(after))
