"""Step three: one clause into statements, or the reason why there is none. Rules propose; subject, polarity and value decide. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from graphmem.memory import Kind, Polarity, Reason, Statement
from graphmem.ontology import Key, Ontology
from graphmem.pipeline.matching import Matcher
from graphmem.pipeline.normal import visible
from graphmem.pipeline.phones import standing
from graphmem.pipeline.prefix import Before, PrefixReader
from graphmem.pipeline.recognise import Mention, Recogniser
from graphmem.pipeline.rules import Rule
from graphmem.pipeline.said import Found, Hit, Refused, Said
from graphmem.pipeline.shapes import SMALL, Shapes
from graphmem.pipeline.talk import Talk
from graphmem.pipeline.values import Value
from graphmem.pipeline.whom import HEDGE_MILD, UNKNOWN, blocked, certainty, hedged, negations, nominal, relative_clause, subjects, unsure

ELDERS = frozenset({"father", "mother", "grandfather", "grandmother"})
"""Whose disease is family history (vocabulary.md)."""


DENIABLE = frozenset({"current_location", "current_city", "health_state"})
"""Contexts whose denial says something: I'm not at the office; the fever is gone."""

MISREAD = 0.9
"""Factor of an ID number whose check digit is wrong: it is told back for a look. Own choice."""

NO_NUMBER = 0.8
"""Factor of digits that are no telephone number anywhere: asked, never stored. Own choice."""

HEADED = "headed"
"""Flag of a match before whose person stand unexplained words: the guy I share an office with."""

ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
"""Weights of the check digit of Chinese ID numbers (GB 11643)."""


def id_checks(number: str) -> bool:
    """Whether the check digit of an 18-character Chinese ID number is right."""
    if len(number) != 18 or not number[:17].isdigit():
        return False
    return "10x98765432"[sum(int(d) * w for d, w in zip(number, ID_WEIGHTS, strict=False)) % 11] == number[17].lower()


@dataclass(frozen=True, slots=True)
class Classifier:
    """All that reading a clause needs, built once. `marks`, `over`, `choosing`: words of change, of what has ended, of choosing."""

    ontology: Ontology
    matcher: Matcher
    reader: PrefixReader
    recogniser: Recogniser
    marks: re.Pattern[str]
    over: re.Pattern[str]
    choosing: re.Pattern[str]
    replacing: re.Pattern[str]
    reaction: re.Pattern[str]
    rules: tuple[Rule, ...]
    shapes: Shapes
    index: dict[str, dict[str, tuple[Rule, ...]]] = field(default_factory=dict, repr=False)
    by_type: dict[str, tuple[Rule, ...]] = field(default_factory=dict, repr=False)

    def triggers(self, text: str, mentions: Sequence[Mention]) -> list[Rule]:
        """Rules with a needed word, or a name of a needed type, in the text, in pack order."""
        found: dict[int, Rule] = {}
        for type_ in {c.type for m in mentions for c in m.concepts}:
            for rule in self.by_type.get(type_, ()):
                found[rule.order] = rule
        for first in set(text):
            for word, rules in self.index.get(first, {}).items():
                if word in text:
                    for rule in rules:
                        found[rule.order] = rule
        return [found[k] for k in sorted(found)]

    def read(self, said: Said, rules: Sequence[Rule], talk: Talk) -> tuple[list[Found], list[Refused]]:
        """The statements of a clause, without overlap, best first where they compete."""
        found: list[Found] = []
        refused: list[Refused] = []
        for rule in rules:
            for hit in self.matcher.hits(said, rule):
                for one in self._try(said, rule, hit, talk):
                    if isinstance(one, Found):
                        found.append(one)
                    else:
                        refused.append(one)
        return _best(found), refused

    def _try(self, said: Said, rule: Rule, m: Hit, talk: Talk) -> Iterator[Found | Refused]:
        if relative_clause(said.text, m):
            yield Refused(Reason.CHATTER, f"{rule.id}.relative_clause")
            return
        values = list(self.matcher.values(said, rule, m))
        starts = [v.start for _, v, _, _ in values if v is not None]
        slot = m.groups.get("v") or m.groups.get("o")
        first = slot is not None and slot[0] == m.start
        if "s" in m.groups:
            m, before = self.matcher.after_value(said, m)
            values = list(self.matcher.values(said, rule, m))
            if not before.people:
                before = self._with_people(said, m, before)
            if not before.people and first and values:
                before = self._owner_inside(said, m, before, min((v.start for _, v, _, _ in values if v is not None), default=m.start))
        else:
            end = min(starts, default=m.start) if first else self.matcher.past_people(said, rule, m, min(starts, default=m.end))
            before = self.reader.read(said.text, end, said.masked, said.original, 0, said.mentions)
        if "compound" in rule.flags and before.left:
            before, values = self.matcher.compound(said, before, values)
        whom, held = _whom(rule, before, talk)
        held = held or (nominal(said.text, m) and not before.people and talk.topic is None)
        if isinstance(whom, Refused):
            yield whom
            return
        stopped = blocked(rule, before, self.ontology.get(rule.key))
        if stopped is not None:
            yield stopped
            return
        known = self.ontology.get(rule.key)
        grave = (known is not None and known.safety) or (bool(rule.flags & {"change", "end", "past_event"}) and not rule.routed)
        inside = self.reader.read(said.text, min(starts, default=m.start), said.masked, said.original, m.start) if grave else Before()
        confidence = rule.confidence * certainty(before if unsure(before) else hedged(before, inside), grave) * said.hedge
        minus = negations(rule, m, before) % 2 == 1
        if "like" in rule.flags and not minus and before.tags.get("would"):
            yield Refused(Reason.CHATTER, "modality.would")
            return
        if "v" in m.groups:
            confidence *= _credible(rule, said.text[slice(*m.groups["v"])])
        for key, value, types, sure in values:
            if minus and key != "taste" and self.ontology.key(key).kind is Kind.CONTEXT and key not in DENIABLE:
                yield Refused(Reason.CHATTER, f"{rule.id}.denied_context")
                continue
            if key == "disease" and value is not None and self.reaction.search(said.text[value.start : value.end]):
                yield Refused(Reason.CHATTER, f"{rule.id}.reaction")  # hives are what an allergy does
                continue
            if value is not None and self._nameless(said, rule, value):
                yield Refused(Reason.UNKNOWN_VALUE, f"{rule.id}.no_name")
                continue
            if value is None and not rule.flags & {"whole", "bare", "end"}:
                yield Refused(Reason.UNKNOWN_VALUE, rule.id)
                continue
            for subject in whom:
                one = self.found(said, rule, m, before, Part(key, value, types, subject, minus, confidence * sure))
                yield Refused(Reason.THIRD_PARTY, UNKNOWN, None if grave and _somebody(said.text, before) else one) if held else one

    def _nameless(self, said: Said, rule: Rule, value: Value) -> bool:
        """Whether a value is not written as the name that its rule asks for."""
        people, text = self.reader.people, said.text[value.start : value.end]
        return (
            ("titled" in rule.flags and value.concept is None and not _titled(said.original(value.start, value.end)))
            or ("given" in rule.flags and text not in people.given)
            or ("surname" in rule.flags and text[0] not in people.surnames)
        )

    def _with_people(self, said: Said, m: Hit, after: Before) -> Before:
        """Nobody stands after the value: the words before it say who is meant."""
        before = self.reader.read(said.text, m.start, said.masked, said.original, 0, said.mentions)
        if not before.people:
            return replace(after, tags=after.tags | {t: n for t, n in before.tags.items() if t in ("generic", "clinician")})
        tags = {t: before.tags.get(t, 0) + after.tags.get(t, 0) for t in before.tags.keys() | after.tags.keys()}
        return replace(before, tags=tags, left=before.left + after.left)

    def _owner_inside(self, said: Said, m: Hit, before: Before, value: int) -> Before:
        """我妈香菜从来不吃: the slot that opens the clause begins with the one who is meant, right before its value."""
        inside = self.reader.read(said.text, value, said.masked, said.original, m.start)
        nearby = inside.people and not (inside.left or inside.left_head or inside.glued or inside.tags.get("verb"))
        if nearby:
            return replace(before, people=inside.people, joined=inside.joined)
        return replace(before, tags=before.tags | {t: n for t, n in inside.tags.items() if t == "generic"}) if not inside.people else before

    def stated(self, key: Key, value: str, rule: str) -> Found:
        """A statement of a key and a value as a caller knows them."""
        statement = Statement(
            kind=key.kind, key=key.name, value=value, ckey=self.recogniser.ckey(value, key.types), confidence=0.97, rule=rule
        )
        return Found(statement, 0, 0, 0, 0, 1.0)

    def _over(self, text: str, before: Before) -> bool:
        """不再, no longer, 不…了, not … any more: it was so and has ended."""
        return bool(before.tags.get("ended")) or self.over.search(text) is not None

    def found(self, said: Said, rule: Rule, m: Hit, before: Before, part: Part) -> Found:
        name = "family_history" if part.key == "disease" and part.subject.partition(":")[0] in ELDERS else part.key
        key = self.ontology.key(name)
        value, minus = part.value, part.minus
        ended = minus and key.kind is Kind.FACT and (not key.safety or name == "medication") and self._over(said.text, before)
        end = "end" in rule.flags or ended
        change = "change" in rule.flags or self.marks.search(said.text) is not None
        choose = "like" not in rule.flags and not (minus and key.kind is Kind.PREFERENCE)
        if end:
            choose = True
        elif "choose" in rule.flags and not minus:
            choose = True
        elif "like" in rule.flags and not minus and (before.tags.get("choose") or self.choosing.search(said.text, m.start, m.end)):
            choose = True
        polarity: Polarity = "-" if minus else "+"
        statement = Statement(
            kind=key.kind,
            key=key.name,
            value=None if value is None else visible(said.original(value.start, value.end)),
            ckey=self.matcher.ckey(said, self.matcher.about(said, name, m) or value),
            subject=part.subject,
            polarity="+" if end else polarity,
            choose=choose,
            change=change or end,
            hedged=part.confidence < rule.confidence * HEDGE_MILD,
            is_end=end,
            slip="slip" in rule.flags,
            replaces=not end and not minus and "change" in rule.flags and self.replacing.search(said.text) is not None,
            grounds="outgrown" if rule.options.get("grounds") == "outgrown" else "professional" if "grounds" in rule.options else None,
            whole_key="whole" in rule.flags,
            old=self.matcher.old(said, rule, m, part.types),
            confidence=round(part.confidence, 4),
            rule=rule.id,
        )
        a, b = (value.start, value.end) if value is not None else (m.start, m.end)
        score = (
            part.confidence
            + (0.3 if not rule.routed else 0.0)
            + (0.2 if value is not None and value.concept is not None else 0.0)
            + (b - a) / 1000
            - rule.order / 1e6
        )
        score += 0.1 * (end or "whole" in rule.flags or "w" in m.groups) + 0.3 * ("c" in m.groups)
        score += 0.2 * rule.exact - 0.5 * ("weak" in rule.flags)
        future = bool(before.tags.get("future")) and key.kind is Kind.FACT
        return Found(statement, m.start, m.end, a, b, score, "past_event" in rule.flags, rule.flags | ({"future"} if future else set()))


@dataclass(frozen=True, slots=True)
class Part:
    key: str
    value: Value | None
    types: tuple[str, ...]
    subject: str
    minus: bool
    confidence: float


def _credible(rule: Rule, value: str) -> float:
    """The factor of a number that may be misread: an ID number by its check digit, a telephone number by the numbering plans."""
    if rule.options.get("check") == "id":
        return 1.0 if id_checks(value) else MISREAD
    if rule.key == "phone":
        return {"valid": 1.0, "possible": MISREAD, None: NO_NUMBER}[standing(value)]
    return 1.0


def _whom(rule: Rule, before: Before, talk: Talk) -> tuple[list[str] | Refused, bool]:
    """Whom a match is about. True: words before it are unexplained, so that only a second opinion may let it hold."""
    whom = subjects(rule, before, talk)
    strict = "strict" in rule.flags and (before.left or before.left_head or (not before.people and talk.topic is None))
    clean = "clean" in rule.flags and (before.left or before.left_head)
    if not isinstance(whom, Refused):
        return whom, bool(strict or clean)
    if whom.rule != UNKNOWN:
        return whom, False
    return subjects(replace(rule, flags=rule.flags | {"loose"}), before, talk), True


def _somebody(text: str, before: Before) -> bool:
    """The patient is allergic to latex: the words before a match name somebody who is none of the user's."""
    return not before.people and not before.tags.get("doctor") and text.startswith(("the ", "a ", "an ", "another ", "every ", "each "))


def _titled(text: str) -> bool:
    """Names as English writes them: every longer word begins with a capital."""
    words = text.split()
    return bool(words) and words[0][:1].isupper() and all(w[:1].isupper() or w in SMALL or w[:1].isdigit() for w in words)


def _best(found: list[Found]) -> list[Found]:
    """Drop what overlaps something better; identical statements once; in text order."""
    out: list[Found] = []
    for f in sorted(found, key=lambda f: -f.score):
        if any(_clash(f, g) or ("weak" in f.flags and not _listed(f, g) and f.start < g.end and g.start < f.end) for g in out):
            continue
        out.append(f)
    if any(f.statement.key == "allergy" for f in out):
        out = [f for f in out if f.statement.key != "health_state"]  # the hives of an allergy are no news of today
    if any(f.statement.key == "family_history" and f.statement.subject == "self" for f in out):
        out = [f for f in out if f.statement.key != "disease"]  # what runs in the family is not what one has
    return sorted(out, key=lambda f: (f.value_start, f.start))


def _listed(f: Found, g: Found) -> bool:
    """Whether two statements are of one rule and one list: hypertension, diabetes and gout, we have them all."""
    return f.statement.rule == g.statement.rule and f.end == g.end


def _clash(f: Found, g: Found) -> bool:
    s, t = f.statement, g.statement
    if s.subject == t.subject and s.key == t.key and (s.value is None or t.value is None):
        return True
    if s.subject == t.subject and s.key == t.key and s.ckey == t.ckey and s.value == t.value:
        return True
    if s.subject != t.subject and s.rule == t.rule and f.start == g.start:
        return False
    return f.value_start < g.value_end and g.value_start < f.value_end
