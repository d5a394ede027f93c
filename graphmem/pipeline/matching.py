"""Where rules match in a clause, and which values they catch there. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from graphmem.memory import Span
from graphmem.ontology import Key, Ontology
from graphmem.pipeline.normal import simplified, visible
from graphmem.pipeline.prefix import Before, PrefixReader
from graphmem.pipeline.recognise import Mention, Recogniser
from graphmem.pipeline.routes import Route, Routed, narrowed, open_route, route
from graphmem.pipeline.rules import Rule
from graphmem.pipeline.said import Choice, Hit, Said
from graphmem.pipeline.values import Trims, Value, items, named, open_value, runs, trimmed
from graphmem.slot import ckey_of_text

JESTS = frozenset(
    {
        "activity",
        "topic",
        "job",
        "hobby",
        "sport",
        "school_subject",
        "mood",
        "city",
        "country",
        "person",
        "travel_style",
        "investment",
        "weekday",
    }
)
"""Kinds of names that are no allergen and no drug."""

_WORD_BEFORE = re.compile(r"\b([a-z][a-z-]+) $")

MATCHES_MAX = 3
"""Places one rule is tried at in one clause."""

VERBS = ("eat", "drink", "listen", "watch", "read", "sit", "stay", "wear", "use", "ride", "buy", "pay", "play", "do", "invest")
"""Verb hints: named groups of the trigger packs."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """Finds matches and reads their values; built once."""

    ontology: Ontology
    routes: tuple[Route, ...]
    classes: Mapping[str, str]
    trims: Trims
    reader: PrefixReader
    recogniser: Recogniser

    def hits(self, said: Said, rule: Rule) -> list[Hit]:
        """Where a rule matches: around names of the lexicon first, then as its expression stands."""
        hits: list[Hit] = []
        if rule.left is not None and rule.right is not None:
            mentions = _without_preposition(said) if rule.key == "allergy" else said.mentions
            for a, b, values in runs(said.text, mentions, self._types(rule), self.trims):
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

    def compound(self, said: Said, before: Before, values: list[Choice]) -> tuple[Before, list[Choice]]:
        """牛奶|蛋白: unexplained characters right before a name are its first part."""
        for n, (key, value, types, sure) in enumerate(values):
            a = value.start - len(before.left) if value is not None else -1
            if (
                value is not None
                and a >= 0
                and len(before.left) <= 4
                and said.text[a : value.start] == before.left
                and self.reader.names_nobody(before.left)
            ):
                values[n] = (key, Value(a, value.end), types, sure)
                return replace(before, left=""), values
        return before, values

    def past_people(self, said: Said, rule: Rule, m: Hit, value: int) -> int:
        """Where the words before a match end: a person inside the match, before its value, belongs to them."""
        end, i = m.start, m.start
        if "subject" in rule.options:
            return end
        while i < min(m.end, value):
            person = self.reader.person_at(said.text, i, said.original)
            inside = person is not None and any(
                x.start <= i and person.end <= x.end for x in said.mentions if x.end - x.start > person.end - i
            )
            if person is not None and (
                (i > m.start and said.text[i - 1] in "跟和与同") or self.reader.splits_word(said.text, i, person.end)
            ):
                i = person.end  # with whom is not about whom; 我念给你 is nobody
            elif person is not None and person.subject not in ("it", "you") and not inside and person.end <= value:
                end = i = person.end
            else:
                i += 1
        return end

    def after_value(self, said: Said, m: Hit) -> tuple[Hit, Before]:
        """The subject that follows the value: the value reaches up to the first place from which every word is explained."""
        a, b = m.groups["s"]
        slot = "o" if "o" in m.groups else "v"
        m = self._past_person(said, m, slot)
        fixed = bool(m.values) or slot not in m.groups or m.groups[slot][1] != a
        low = m.groups[slot][0] if slot in m.groups else a
        cuts = [i for i in range(a, b + 1) if not any(low <= n.start < i < n.end for n in said.mentions)]
        for i in (a,) if fixed else cuts:
            before = self.reader.read(said.text, b, said.masked, said.original, i, said.mentions)
            if not (before.left or before.left_head):
                break
        if not fixed:
            m = replace(m, groups={**m.groups, slot: (m.groups[slot][0], i), "s": (i, b)})
        return m, before

    def _past_person(self, said: Said, m: Hit, slot: str) -> Hit:
        """An open object that begins with somebody begins after them: 我弟|打乒乓球上瘾."""
        if m.values or slot not in m.groups or m.groups[slot][0] != m.start:
            return m
        person = self.reader.person_at(said.text, m.start, said.original, m.groups[slot][1])
        if person is None or person.end >= m.groups[slot][1]:
            return m
        return replace(m, start=person.end, groups={**m.groups, slot: (person.end, m.groups[slot][1])})

    def _types(self, rule: Rule) -> tuple[str, ...]:
        if rule.types is not None:
            return rule.types
        key = self.ontology.get(rule.key)
        return key.types if key is not None else ()

    def values(self, said: Said, rule: Rule, m: Hit) -> Iterator[tuple[str, Value | None, tuple[str, ...], float]]:
        if rule.routed:
            yield from self._routed(said, rule, m)
            return
        types = self._types(rule)
        if m.values:
            for known in m.values:
                yield rule.key, self._titled_head(said, known) if rule.key == "job_title" else known, types, 1.0
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

    def _titled_head(self, said: Said, value: Value) -> Value:
        """Store manager, deputy head: the word before a title belongs to it."""
        m = _WORD_BEFORE.search(said.text, 0, value.start)
        if m is None or not self.reader.is_noun(said.text, m.start(1), m.end(1), said.original):
            return value
        return Value(m.start(1), value.end, value.concept)

    def _jest(self, said: Said, key: str, x: int, y: int) -> bool:
        """Nobody is allergic to overtime: the open value of a safety key is a name of another kind."""
        known = self.ontology.get(key)
        if known is None or not known.safety:
            return False
        if self.reader.people.words.at(said.text, x) is not None or any(a <= x and y <= b for a, b in said.masked):
            return True
        return any(m.start >= x and m.end <= y and all(c.type in JESTS for c in m.concepts) for m in said.mentions)

    def _exact(self, said: Said, a: int, b: int, types: tuple[str, ...]) -> Value:
        a, b = a + len(said.text[a:b]) - len(said.text[a:b].lstrip()), a + len(said.text[a:b].rstrip())
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
        if "c" in m.groups and (key := self.ontology.get(self.classes.get(said.text[slice(*m.groups["c"])], ""))) is not None:
            yield from self._of_class(said, m, key)
            return
        got = False
        for x, y in items(said.text, *m.groups["o"], said.mentions, self.trims):
            routed: Routed | None = route(said.text, (x, y), said.mentions, self.routes, self.trims, verb)
            if (routed is None or not routed.certain) and (end := _before_time(said, x, y)) < y:
                y = end
                routed = route(said.text, (x, y), said.mentions, self.routes, self.trims, verb)
            if routed is not None and routed.key == "likes" and "any" not in rule.flags:
                routed = None
            if routed is None and ("any" in rule.flags or verb in ("eat", "drink", "listen", "watch", "invest")):
                routed = open_route(said.text, (x, y), self.trims, verb)
                if routed is not None and (
                    self._no_object(said.text, routed.value)
                    or (not verb and said.text[routed.value.start : routed.value.end] in self.classes)
                ):
                    routed = None
            if routed is not None:
                got = True
                yield routed.key, routed.value, routed.types, 1.0 if routed.certain else 0.95
        if not got:
            yield rule.key, None, (), 1.0

    def _no_object(self, text: str, value: Value) -> bool:
        return self.reader.is_filler(text[value.start : value.end]) or self.reader.splits_word(text, value.start, value.end)

    def _of_class(self, said: Said, m: Hit, key: Key) -> Iterator[Choice]:
        """My favourite tea is jasmine: the word names the key."""
        for x, y in items(said.text, *m.groups["o"], said.mentions, self.trims):
            value = named(said.text, x, y, key.types, said.mentions, self.trims)
            whole = value if value is None else narrowed(said.text, x, value, key.types, said.mentions, self.trims)
            yield key.name, whole or open_value(said.text, x, y, self.trims), key.types, 1.0

    def about(self, said: Said, key: str, m: Hit) -> Value | None:
        """Where the slot's concept is not the value: the analyte of a reading, the product class of a brand."""
        if key == "lab_reading" and "a" in m.groups:
            a, b = m.groups["a"]
            return next(
                (Value(x.start, x.end, c) for x in said.mentions if (x.start, x.end) == (a, b) and (c := x.of(("analyte",)))), Value(a, b)
            )
        if key == "brand_preference":
            return next((Value(x.start, x.end, c) for x in said.mentions if (c := x.of(("product_class",)))), None)
        return None

    def ckey(self, said: Said, value: Value | None) -> str:
        if value is None:
            return ""
        return value.concept.cid if value.concept is not None else ckey_of_text(simplified(visible(said.original(value.start, value.end))))

    def old(self, said: Said, rule: Rule, m: Hit, types: tuple[str, ...]) -> str | None:
        if "w" not in m.groups:
            return None
        a, b = trimmed(said.text, *m.groups["w"], self.trims)
        return self.ckey(said, named(said.text, a, b, types, said.mentions, self.trims) or Value(a, b))


def _without_preposition(said: Said) -> tuple[Mention, ...]:
    """虾 and not 对虾 in 对虾过敏: the preposition is no part of the allergen."""
    return tuple(
        m for m in said.mentions if said.text[m.start] != "对" or not any(n.start == m.start + 1 and n.end == m.end for n in said.mentions)
    )


def _before_time(said: Said, x: int, y: int) -> int:
    """Where an object ends that a time follows: alcohol | last year."""
    text = said.text[:y].rstrip()
    return min((len(said.text[:a].rstrip()) for a, b in said.masked if x < a and b >= len(text)), default=y)


def _groups(*matches: re.Match[str]) -> dict[str, Span]:
    return {k: m.span(k) for m in matches for k, v in m.groupdict().items() if v is not None}


def _after_generic(text: str, b: int, trims: Trims) -> tuple[int, ...]:
    """Where a rule may go on after a generic tail (磺胺|类药)."""
    m = trims.generic.match(text, b)
    return (m.end(),) if m is not None else ()
