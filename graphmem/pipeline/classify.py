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
from graphmem.pipeline.values import Trims, Value, items, named, open_value, runs, trimmed
from graphmem.slot import ckey_of_text

HEDGE_SAFETY, HEDGE_STRONG, HEDGE_MILD, ASIDE = 0.6, 0.89, 0.9, 0.96
"""Factors on a rule's certainty: "maybe" of a safety key or of a change; "maybe" of another; "I think"; words between subject and trigger.
Own choice, checked on the develop half: with 0.97 and one hedge, only safety keys and changes fall under 0.85."""

ELDERS = frozenset({"father", "mother", "grandfather", "grandmother"})
"""Whose disease is family history (vocabulary.md)."""

JESTS = frozenset({"activity", "topic", "job", "hobby", "sport", "school_subject", "mood", "city", "country", "person", "travel_style", "investment", "weekday"})
"""Kinds of names that are no allergen and no drug."""

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
class Hit:
    """A place where a rule matched: its named groups as spans, and the names of the lexicon it was tried with."""

    start: int
    end: int
    groups: dict[str, Span]
    values: tuple[Value, ...] = ()


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
    by_type: dict[str, tuple[Rule, ...]] = field(default_factory=dict, repr=False)

    def triggers(self, text: str, mentions: Sequence[Mention]) -> list[Rule]:
        """Rules with a needed word, or a name of a needed type, in the text, in pack order."""
        found: dict[int, Rule] = {}
        for type_ in {c.type for m in mentions for c in m.concepts}:
            for rule in self.by_type.get(type_, ()):
                found[rule.order] = rule
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
            for hit in self._hits(said, rule):
                for one in self._try(said, rule, hit, talk):
                    if isinstance(one, Found):
                        found.append(one)
                    else:
                        refused.append(one)
        return _best(found), refused

    def _hits(self, said: Said, rule: Rule) -> list[Hit]:
        """Where a rule matches: around names of the lexicon first, then as its expression stands."""
        hits: list[Hit] = []
        if rule.left is not None and rule.right is not None:
            for a, b, values in runs(said.text, said.mentions, self._types(rule), self.trims):
                left = rule.left.search(said.text, 0, a)
                for end in (b, *_after_generic(said.text, b, self.trims)):
                    right = rule.right.match(said.text, end) if left is not None else None
                    if left is not None and right is not None:
                        hits.append(Hit(left.start(), right.end(), _groups(left, right), values))
                        break
            if hits or not rule.open:
                return hits
        for n, m in enumerate(rule.regex.finditer(said.text)):
            if n >= MATCHES_MAX:
                break
            hits.append(Hit(m.start(), m.end(), {k: m.span(k) for k, v in m.groupdict().items() if v is not None}))
        return hits

    def _compound(self, said: Said, before: Before, values: list[Choice]) -> tuple[Before, list[Choice]]:
        """牛奶|蛋白: unexplained characters right before a name are its first part."""
        for n, (key, value, types, sure) in enumerate(values):
            a = value.start - len(before.left) if value is not None else -1
            if value is not None and a >= 0 and len(before.left) <= 4 and said.text[a : value.start] == before.left:
                values[n] = (key, Value(a, value.end), types, sure)
                return replace(before, left=""), values
        return before, values

    def _after_value(self, said: Said, m: Hit) -> tuple[Hit, Before]:
        """The subject that follows the value: the value reaches up to the first place from which every word is explained."""
        a, b = m.groups["s"]
        slot = "o" if "o" in m.groups else "v"
        fixed = bool(m.values) or slot not in m.groups or m.groups[slot][1] != a
        for i in (a,) if fixed else range(a, b + 1):
            before = self.reader.read(said.text, b, said.masked, said.original, i, said.mentions)
            if not (before.left or before.left_head):
                break
        if not fixed:
            m = replace(m, groups={**m.groups, slot: (m.groups[slot][0], i), "s": (i, b)})
        return m, before

    def _types(self, rule: Rule) -> tuple[str, ...]:
        if rule.types is not None:
            return rule.types
        key = self.ontology.get(rule.key)
        return key.types if key is not None else ()

    def _try(self, said: Said, rule: Rule, m: Hit, talk: Talk) -> Iterator[Found | Refused]:
        if _relative_clause(said.text, m):
            yield Refused(Reason.CHATTER, f"{rule.id}.relative_clause")
            return
        values = list(self._values(said, rule, m))
        starts = [v.start for _, v, _, _ in values if v is not None]
        slot = m.groups.get("v") or m.groups.get("o")
        first = slot is not None and slot[0] == m.start
        if "s" in m.groups:
            m, before = self._after_value(said, m)
            values = list(self._values(said, rule, m))
        else:
            before = self.reader.read(said.text, min(starts, default=m.start) if first else m.start, said.masked, said.original, 0, said.mentions)
        if "compound" in rule.flags and before.left:
            before, values = self._compound(said, before, values)
        subjects = _subjects(rule, before, talk)
        if isinstance(subjects, Refused):
            yield subjects
            return
        if "strict" in rule.flags and (before.left or before.left_head or (not before.people and talk.topic is None)):
            yield Refused(Reason.THIRD_PARTY, "subject.unknown")
            return
        blocked = _blocked(rule, before, self.ontology.get(rule.key))
        if blocked is not None:
            yield blocked
            return
        known = self.ontology.get(rule.key)
        grave = (known is not None and known.safety) or bool(rule.flags & {"change", "end", "past_event"}) and not rule.routed
        confidence = rule.confidence * _certainty(before, grave) * said.hedge
        minus = _negations(rule, m, before) % 2 == 1
        if "like" in rule.flags and not minus and before.tags.get("would"):
            yield Refused(Reason.CHATTER, "modality.would")
            return
        for key, value, types, sure in values:
            if minus and self.ontology.key(key).kind is Kind.CONTEXT if key != "taste" else False:
                yield Refused(Reason.CHATTER, f"{rule.id}.denied_context")
                continue
            if value is not None and value.concept is None and "titled" in rule.flags and not _titled(said.original(value.start, value.end)):
                yield Refused(Reason.UNKNOWN_VALUE, f"{rule.id}.no_name")
                continue
            if value is not None and "surname" in rule.flags and said.text[value.start] not in self.reader.people.surnames:
                yield Refused(Reason.UNKNOWN_VALUE, f"{rule.id}.no_name")
                continue
            if value is None and not rule.flags & {"whole", "bare", "end"}:
                yield Refused(Reason.UNKNOWN_VALUE, rule.id)
                continue
            for subject in subjects:
                yield self._found(said, rule, m, before, _Part(key, value, types, subject, minus, confidence * sure))

    def _values(self, said: Said, rule: Rule, m: Hit) -> Iterator[tuple[str, Value | None, tuple[str, ...], float]]:
        if rule.routed:
            yield from self._routed(said, rule, m)
            return
        types = self._types(rule)
        if m.values:
            for value in m.values:
                yield rule.key, value, types, 1.0
            return
        if "v" not in m.groups:
            yield rule.key, None, types, 1.0
            return
        a, b = m.groups["v"]
        if rule.exact:
            yield rule.key, self._exact(said, a, b, types), types, 1.0
            return
        got = False
        for x, y in items(said.text, a, b, said.mentions, self.trims):
            value = named(said.text, x, y, types, said.mentions, self.trims) or self._slip(said, x, y, types)
            if value is None and rule.open and not self._jest(said, rule.key, x, y):
                value = open_value(said.text, x, y, self.trims)
            if value is not None:
                got = True
                yield rule.key, value, types, 1.0
        if not got:
            yield rule.key, None, types, 1.0

    def _jest(self, said: Said, key: str, x: int, y: int) -> bool:
        """Nobody is allergic to overtime: the open value of a safety key is a name of another kind."""
        known = self.ontology.get(key)
        if known is None or not known.safety:
            return False
        return any(m.start >= x and m.end <= y and all(c.type in JESTS for c in m.concepts) for m in said.mentions)

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

    def _routed(self, said: Said, rule: Rule, m: Hit) -> Iterator[tuple[str, Value | None, tuple[str, ...], float]]:
        verb = rule.options.get("verb", "") or next((n for n in m.groups if n in VERBS), "")
        got = False
        for x, y in items(said.text, *m.groups["o"], said.mentions, self.trims):
            routed: Routed | None = route(said.text, (x, y), said.mentions, self.routes, self.trims, verb)
            if routed is not None and routed.key == "likes" and "any" not in rule.flags:
                routed = None
            if routed is None and ("any" in rule.flags or verb in ("eat", "drink")):
                routed = open_route(said.text, (x, y), self.trims, verb)
                if routed is not None and self._no_object(said.text, routed.value):
                    routed = None
            if routed is not None:
                got = True
                yield routed.key, routed.value, routed.types, 1.0 if routed.certain else 0.95
        if not got:
            yield rule.key, None, (), 1.0

    def _no_object(self, text: str, value: Value) -> bool:
        return self.reader.is_filler(text[value.start : value.end]) or self.reader.splits_word(text, value.start, value.end)

    def stated(self, key: Key, value: str, rule: str) -> Found:
        """A statement of a key and a value as a caller knows them."""
        statement = Statement(kind=key.kind, key=key.name, value=value, ckey=self.recogniser.ckey(value, key.types), confidence=0.97, rule=rule)
        return Found(statement, 0, 0, 0, 0, 1.0)

    def _found(self, said: Said, rule: Rule, m: Hit, before: Before, part: _Part) -> Found:
        name = "family_history" if part.key == "disease" and part.subject.partition(":")[0] in ELDERS else part.key
        key = self.ontology.key(name)
        value, minus = part.value, part.minus
        end = "end" in rule.flags
        change = "change" in rule.flags or self.marks.search(said.text) is not None
        choose = "like" not in rule.flags and not (minus and key.kind is Kind.PREFERENCE)
        if end:
            choose = True
        elif "choose" in rule.flags and not minus:
            choose = True
        elif "like" in rule.flags and before.tags.get("choose") and not minus:
            choose = True
        polarity: Polarity = "-" if minus else "+"
        statement = Statement(
            kind=key.kind, key=key.name, value=None if value is None else said.original(value.start, value.end), ckey=self._ckey(said, self._about(said, name, m) or value),
            subject=part.subject, polarity="+" if end else polarity, choose=choose, change=change or end, hedged=part.confidence < rule.confidence * HEDGE_MILD,
            is_end=end, slip="slip" in rule.flags, grounds=_grounds(rule, minus), whole_key="whole" in rule.flags, old=self._old(said, rule, m, part.types),
            confidence=round(part.confidence, 4), rule=rule.id,
        )  # fmt: skip
        a, b = (value.start, value.end) if value is not None else (m.start, m.end)
        score = part.confidence + (0.3 if not rule.routed else 0.0) + (0.2 if value is not None and value.concept is not None else 0.0) + (b - a) / 1000 - rule.order / 1e6
        score += 0.2 * rule.exact - 0.5 * ("weak" in rule.flags)
        return Found(statement, m.start, m.end, a, b, score, "past_event" in rule.flags, rule.flags)

    def _about(self, said: Said, key: str, m: Hit) -> Value | None:
        """Where the slot's concept is not the value: the analyte of a reading, the product class of a brand."""
        if key == "lab_reading" and "a" in m.groups:
            a, b = m.groups["a"]
            return next((Value(x.start, x.end, c) for x in said.mentions if (x.start, x.end) == (a, b) and (c := x.of(("analyte",)))), Value(a, b))
        if key == "brand_preference":
            return next((Value(x.start, x.end, c) for x in said.mentions if (c := x.of(("product_class",)))), None)
        return None

    def _ckey(self, said: Said, value: Value | None) -> str:
        if value is None:
            return ""
        return value.concept.cid if value.concept is not None else ckey_of_text(said.original(value.start, value.end))

    def _old(self, said: Said, rule: Rule, m: Hit, types: tuple[str, ...]) -> str | None:
        if "w" not in m.groups:
            return None
        a, b = trimmed(said.text, *m.groups["w"], self.trims)
        return self._ckey(said, named(said.text, a, b, types, said.mentions, self.trims) or Value(a, b))


def _groups(*matches: re.Match[str]) -> dict[str, Span]:
    return {k: m.span(k) for m in matches for k, v in m.groupdict().items() if v is not None}


def _after_generic(text: str, b: int, trims: Trims) -> tuple[int, ...]:
    """Where a rule may go on after a generic tail (磺胺|类药)."""
    m = trims.generic.match(text, b)
    return (m.end(),) if m is not None else ()


def _titled(text: str) -> bool:
    """Names as English writes them: every longer word begins with a capital."""
    words = text.split()
    return bool(words) and words[0][:1].isupper() and all(w[:1].isupper() or w in ("of", "and", "the", "de", "van", "von", "&", "for", "la", "bin", "al") or w[:1].isdigit() for w in words)


Choice = tuple[str, Value | None, tuple[str, ...], float]
"""Key, value, types and certainty factor of one reading of a match."""

VERBS = ("eat", "drink", "listen", "watch", "read", "sit", "stay", "wear", "use", "ride", "buy", "pay", "play", "do", "invest")
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


RECORDS = re.compile(r"的(?:纪录|记录|病史|历史|经历|毛病|问题|情况|习惯|体质|症状|遗传|老毛病|家族史|病)(?:$|[，。,了])")
"""Nouns that keep a statement one: 有过敏的记录."""


def _relative_clause(text: str, m: Hit) -> bool:
    """对花生过敏的人: the match only describes a noun."""
    end = m.end
    if RECORDS.match(text, end):
        return False
    return text.startswith("的", end) and end + 1 < len(text) and text[end + 1] not in "，。,!！?？ 呢啊吧话\u241e" or text.startswith(("的人", "者"), end)


def _negations(rule: Rule, m: Hit, before: Before) -> int:
    count = sum(1 for name in m.groups if name[0] == "n" and name[1:].isdigit())
    return count + before.tags.get("neg", 0) + ("neg" in rule.flags)


def _certainty(before: Before, grave: bool) -> float:
    factor = 1.0
    if before.tags.get("hedge_strong") or before.head.get("hedge_strong"):
        factor *= HEDGE_SAFETY if grave else HEDGE_STRONG
    if before.tags.get("hedge_mild") or before.head.get("hedge_mild"):
        factor *= HEDGE_MILD
    if before.left and before.people:
        factor *= ASIDE
    return factor


def _blocked(rule: Rule, before: Before, key: Key | None) -> Refused | None:
    if before.tags.get("hearsay") or before.head.get("hearsay"):
        return Refused(Reason.THIRD_PARTY, "subject.hearsay")
    if before.tags.get("doubt") or before.head.get("doubt"):
        return Refused(Reason.LOW_CONFIDENCE, "modality.doubt")
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
    if before.left and not (before.tags.get("verb") or before.tags.get("doctor")) and "loose" not in rule.flags:
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
    if before.left and not (before.tags.get("doctor") or "loose" in rule.flags):
        return Refused(Reason.THIRD_PARTY, "subject.unknown")
    if before.tags.get("say") and not before.tags.get("doctor"):
        return Refused(Reason.THIRD_PARTY, "subject.reported")
    if talk.lost:
        return Refused(Reason.THIRD_PARTY, "subject.carried_over")
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
