"""Step three: one clause into statements, or the reason why there is none. Rules propose; subject, polarity and value decide. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from graphmem.memory import Kind, Polarity, Reason, Span, Statement
from graphmem.ontology import Key, Ontology
from graphmem.pipeline.prefix import Before, PrefixReader
from graphmem.pipeline.recognise import Mention, Recogniser
from graphmem.pipeline.routes import Route, Routed, open_route, route
from graphmem.pipeline.rules import Rule
from graphmem.pipeline.talk import Talk
from graphmem.pipeline.values import Trims, Value, items, named, open_value, trimmed
from graphmem.slot import ckey_of_text

HEDGE_STRONG, HEDGE_MILD, ASIDE = 0.6, 0.9, 0.96
"""Factors on a rule's certainty: "maybe"; "I think"; words between subject and trigger. Own choice, checked on the develop half."""

MATCHES_MAX = 3
"""Places one rule is tried at in one clause."""


@dataclass(frozen=True, slots=True)
class Found:
    """A statement with its place in the clause, before times are bound."""

    statement: Statement
    start: int
    end: int
    value_start: int
    value_end: int
    score: float
    past_event: bool = False
    flags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a match stored nothing."""

    reason: Reason
    rule: str


@dataclass(frozen=True, slots=True)
class Said:
    """One clause as the classifier reads it. `original` cuts text as sent; `masked` are times and places that prefixes may hold."""

    text: str
    mentions: tuple[Mention, ...]
    masked: tuple[Span, ...]
    original: Callable[[int, int], str]
    hedge: float = 1.0
    standing: bool = False


@dataclass(frozen=True, slots=True)
class Classifier:
    """All that reading a clause needs, built once."""

    ontology: Ontology
    rules: tuple[Rule, ...]
    routes: tuple[Route, ...]
    trims: Trims
    reader: PrefixReader
    recogniser: Recogniser
    marks: re.Pattern[str]
    index: dict[str, tuple[Rule, ...]] = field(default_factory=dict, repr=False)

    def triggers(self, text: str) -> list[Rule]:
        """Rules with a needed word in the text, in pack order."""
        found: dict[int, Rule] = {}
        for word, rules in self.index.items():
            if word in text:
                for rule in rules:
                    found[rule.order] = rule
        return [found[k] for k in sorted(found)]

    def read(self, said: Said, rules: Sequence[Rule], talk: Talk) -> tuple[list[Found], list[Refused]]:
        """The statements of a clause, without overlap, best first where they compete."""
        found: list[Found] = []
        refused: list[Refused] = []
        for rule in rules:
            for n, m in enumerate(rule.regex.finditer(said.text)):
                if n >= MATCHES_MAX:
                    break
                for one in self._try(said, rule, m, talk):
                    (found if isinstance(one, Found) else refused).append(one)  # type: ignore[arg-type]
        return _best(found), refused

    def _try(self, said: Said, rule: Rule, m: re.Match[str], talk: Talk) -> Iterator[Found | Refused]:
        if _relative_clause(said.text, m):
            yield Refused(Reason.CHATTER, f"{rule.id}.relative_clause")
            return
        before = self.reader.read(said.text, m.start(), said.masked, said.original)
        subjects = _subjects(rule, before, talk)
        if isinstance(subjects, Refused):
            yield subjects
            return
        blocked = _blocked(rule, before, self.ontology.get(rule.key))
        if blocked is not None:
            yield blocked
            return
        confidence = rule.confidence * _certainty(before) * said.hedge
        minus = _negations(rule, m, before) % 2 == 1
        for key, value, types, sure in self._values(said, rule, m):
            if value is None and not rule.flags & {"whole", "bare", "end"}:
                yield Refused(Reason.UNKNOWN_VALUE, rule.id)
                continue
            for subject in subjects:
                yield self._found(said, rule, m, before, _Part(key, value, types, subject, minus, confidence * sure))

    def _values(self, said: Said, rule: Rule, m: re.Match[str]) -> Iterator[tuple[str, Value | None, tuple[str, ...], float]]:
        if rule.routed:
            yield from self._routed(said, rule, m)
            return
        key = self.ontology.get(rule.key)
        types = rule.types if rule.types is not None else key.types if key else ()
        if "v" not in m.groupdict() or m["v"] is None:
            yield rule.key, None, types, 1.0
            return
        a, b = m.span("v")
        if rule.exact:
            yield rule.key, self._exact(said, a, b, types), types, 1.0
            return
        got = False
        for x, y in items(said.text, a, b, said.mentions, self.trims):
            value = named(said.text, x, y, types, said.mentions, self.trims) or self._slip(said, x, y, types)
            if value is None and rule.open:
                value = open_value(said.text, x, y, self.trims)
            if value is not None:
                got = True
                yield rule.key, value, types, 1.0
        if not got:
            yield rule.key, None, types, 1.0

    def _exact(self, said: Said, a: int, b: int, types: tuple[str, ...]) -> Value:
        a, b = a + len(said.text[a:b]) - len(said.text[a:b].lstrip()), b
        for m in said.mentions:
            if m.start == a and m.end == b and (concept := m.of(types)) is not None:
                return Value(a, b, concept)
        return Value(a, b)

    def _slip(self, said: Said, x: int, y: int, types: tuple[str, ...]) -> Value | None:
        if "drug" not in types:
            return None
        for w in re.finditer(r"[a-z]{7,}", said.text[x:y]):
            concept = self.recogniser.drug_like(w.group())
            if concept is not None:
                return Value(x + w.start(), x + w.end(), concept)
        return None

    def _routed(self, said: Said, rule: Rule, m: re.Match[str]) -> Iterator[tuple[str, Value | None, tuple[str, ...], float]]:
        verb = rule.options.get("verb", "") or next((n for n, v in m.groupdict().items() if v and n in VERBS), "")
        got = False
        for x, y in items(said.text, *m.span("o"), said.mentions, self.trims):
            routed: Routed | None = route(said.text, (x, y), said.mentions, self.routes, self.trims, verb)
            if routed is None and ("any" in rule.flags or verb in ("eat", "drink")):
                routed = open_route(said.text, (x, y), self.trims, verb)
            if routed is not None:
                got = True
                yield routed.key, routed.value, routed.types, 1.0 if routed.certain else 0.95
        if not got:
            yield rule.key, None, (), 1.0

    def _found(self, said: Said, rule: Rule, m: re.Match[str], before: Before, part: _Part) -> Found:
        key = self.ontology.key(part.key)
        value, minus = part.value, part.minus
        change = "change" in rule.flags or self.marks.search(said.text) is not None
        choose = "like" not in rule.flags and not (minus and key.kind is Kind.PREFERENCE)
        if "choose" in rule.flags and not minus:
            choose = True
        elif "like" in rule.flags and before.tags.get("choose") and not minus:
            choose = True
        polarity: Polarity = "-" if minus else "+"
        end = "end" in rule.flags
        statement = Statement(
            kind=key.kind, key=key.name, value=None if value is None else said.original(value.start, value.end), ckey=self._ckey(said, value),
            subject=part.subject, polarity="+" if end else polarity, choose=choose, change=change or end, hedged=part.confidence < rule.confidence * HEDGE_MILD,
            is_end=end, slip="slip" in rule.flags, grounds=_grounds(rule, minus), whole_key="whole" in rule.flags, old=self._old(said, rule, m, part.types),
            confidence=round(part.confidence, 4), rule=rule.id,
        )  # fmt: skip
        a, b = (value.start, value.end) if value is not None else m.span()
        score = part.confidence + (0.3 if not rule.routed else 0.0) + (0.2 if value is not None and value.concept is not None else 0.0) + (b - a) / 1000 - rule.order / 1e6
        if rule.exact:
            score += 0.2
        return Found(statement, m.start(), m.end(), a, b, score, "past_event" in rule.flags, rule.flags)

    def _ckey(self, said: Said, value: Value | None) -> str:
        if value is None:
            return ""
        return value.concept.cid if value.concept is not None else ckey_of_text(said.original(value.start, value.end))

    def _old(self, said: Said, rule: Rule, m: re.Match[str], types: tuple[str, ...]) -> str | None:
        if "w" not in m.groupdict() or m["w"] is None:
            return None
        a, b = trimmed(said.text, *m.span("w"), self.trims)
        return self._ckey(said, named(said.text, a, b, types, said.mentions, self.trims) or Value(a, b))


VERBS = ("eat", "drink", "listen", "watch", "read", "sit", "stay", "wear", "use", "ride", "buy", "pay", "play", "do")
"""Verb hints: named groups of the trigger packs."""


@dataclass(frozen=True, slots=True)
class _Part:
    key: str
    value: Value | None
    types: tuple[str, ...]
    subject: str
    minus: bool
    confidence: float


def _grounds(rule: Rule, minus: bool) -> str | None:  # noqa: ARG001
    return rule.options.get("grounds")


def _relative_clause(text: str, m: re.Match[str]) -> bool:
    """对花生过敏的人: the match only describes a noun."""
    end = m.end()
    return text.startswith("的", end) and end + 1 < len(text) and text[end + 1] not in "，。,!！?？ 呢啊吧话\u241e" or text.startswith(("的人", "者"), end)


def _negations(rule: Rule, m: re.Match[str], before: Before) -> int:
    count = sum(1 for name, v in m.groupdict().items() if name[0] == "n" and name[1:].isdigit() and v)
    return count + before.tags.get("neg", 0) + ("neg" in rule.flags)


def _certainty(before: Before) -> float:
    factor = 1.0
    if before.tags.get("hedge_strong") or before.head.get("hedge_strong"):
        factor *= HEDGE_STRONG
    if before.tags.get("hedge_mild") or before.head.get("hedge_mild"):
        factor *= HEDGE_MILD
    if before.left and before.people:
        factor *= ASIDE
    return factor


def _blocked(rule: Rule, before: Before, key: Key | None) -> Refused | None:
    if before.tags.get("hearsay") or before.head.get("hearsay"):
        return Refused(Reason.THIRD_PARTY, "subject.hearsay")
    if before.tags.get("past") and not rule.flags & {"past", "past_event"}:
        return Refused(Reason.LOW_CONFIDENCE, "time.over")
    kind = key.kind if key is not None else Kind.PREFERENCE
    if before.tags.get("plan") and kind is not Kind.PREFERENCE and "past" not in rule.flags and "plan" not in rule.options:
        return Refused(Reason.HYPOTHETICAL, "modality.plan")
    return None


def _subjects(rule: Rule, before: Before, talk: Talk) -> list[str] | Refused:
    """Whom the match is about, or why it is about nobody we may remember."""
    if "subject" in rule.options:
        return [rule.options["subject"]]
    if not before.people:
        return _without_person(rule, before, talk)
    last = before.people[-1]
    reported = before.head.get("say", 0)
    subject = talk.resolve(last.subject) if last.pronoun else last.subject
    if last.pronoun and last.subject == "own":
        subject = before.people[-2].subject if len(before.people) > 1 else talk.topic or "self"
    if subject is None or subject == "you":
        return Refused(Reason.CHATTER, "subject.unknown" if subject is None else "subject.addressee")
    if before.left and not (before.tags.get("verb") or before.tags.get("doctor")) and "any" not in rule.flags:
        return Refused(Reason.THIRD_PARTY, "subject.unknown")
    if before.tags.get("generic") or before.glued and before.left:
        return Refused(Reason.THIRD_PARTY, "subject.general")
    if subject == "self" and reported and not before.head.get("doctor"):
        others = [p for p in before.people[:-1] if p.subject != "self"]
        if others or before.left_head or before.head.get("generic"):
            return Refused(Reason.THIRD_PARTY, "subject.reported_by_other")
    if before.joined > 1:
        joined = [p.subject for p in before.people[-before.joined :]]
        return [s for s in dict.fromkeys(joined) if s != "you"]
    return _spread(subject)


def _spread(subject: str) -> list[str]:
    return ["father", "mother"] if subject == "parents" else ["child"] if subject == "children" else [subject]


def _without_person(rule: Rule, before: Before, talk: Talk) -> list[str] | Refused:
    if before.tags.get("generic"):
        return Refused(Reason.THIRD_PARTY, "subject.general")
    if before.left and not (before.tags.get("doctor") or "any" in rule.flags):
        return Refused(Reason.THIRD_PARTY, "subject.unknown")
    if before.tags.get("say") and not before.tags.get("doctor"):
        return Refused(Reason.THIRD_PARTY, "subject.reported")
    return _spread(talk.topic or "self")


def _best(found: list[Found]) -> list[Found]:
    """Drop what overlaps something better; identical statements once; in text order."""
    out: list[Found] = []
    for f in sorted(found, key=lambda f: -f.score):
        if any(_clash(f, g) for g in out):
            continue
        out.append(f)
    return sorted(out, key=lambda f: (f.value_start, f.start))


def _clash(f: Found, g: Found) -> bool:
    s, t = f.statement, g.statement
    if s.subject == t.subject and s.key == t.key and s.ckey == t.ckey and s.value == t.value:
        return True
    if s.subject != t.subject and s.rule == t.rule and f.start == g.start:
        return False
    return f.value_start < g.value_end and g.value_start < f.value_end


def with_span(found: Found, statement: Statement) -> Found:
    """The same finding with another statement."""
    return replace(found, statement=statement)
