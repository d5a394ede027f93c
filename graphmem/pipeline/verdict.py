"""A clause that only judges what those before it named: …，我从小就烦它; …，每回都这样点; …，确诊过敏的. packs/verdicts.yaml. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphmem.memory import Span
from graphmem.ontology import PACKS
from graphmem.pipeline.classify import Classifier, Part
from graphmem.pipeline.normal import is_han
from graphmem.pipeline.prefix import Before
from graphmem.pipeline.recognise import Mention
from graphmem.pipeline.routes import route
from graphmem.pipeline.rules import Rule, lines, one_of, sections
from graphmem.pipeline.said import Found, Hit, Refused, Said
from graphmem.pipeline.slice import Clause
from graphmem.pipeline.talk import Talk
from graphmem.pipeline.values import Value
from graphmem.pipeline.whom import blocked, certainty, subjects

CERTAIN = 0.95
"""Certainty of a verdict: a rule of one clause says 0.97. Own choice."""

VERDICT_MAX = 64
"""Longest clause that is only a verdict, characters."""

HINTS = ("", "eat", "drink", "wear", "watch", "listen", "read", "sit", "stay", "play")
"""What may be done with a thing whose clause has no verb: tried until the whole name fits."""

AFTER_TOPIC = "，,、?？就这那呢嘛吧我他她也都先可"
"""What follows a name of one character that is no part of a longer word."""

LOOK_BACK = 3
"""Clauses that a verdict reaches back."""
ALONE = 12
"""Longest clause, characters, of a sentence of its own that a verdict reaches back to."""

ASIDE_LEFT = 1
"""Unexplained characters before a person that make him one of an aside: 药盒我妈摆的."""

NUMBER = r"[一二三四五六七八九十百两几\d]{1,4}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a clause that matches says of a thing named before it. `types`: which names of the lexicon it may be about; () for a taste."""

    rule: Rule
    types: tuple[str, ...]
    whole: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Verdicts:
    """packs/verdicts.yaml."""

    all: tuple[Verdict, ...]
    single: re.Pattern[str]
    asked: re.Pattern[str]
    passed_over: frozenset[str]

    def of(self, text: str) -> Iterator[tuple[Verdict, re.Match[str]]]:
        """The verdicts that a clause is, from its first to its last word."""
        for verdict in self.all:
            if (m := verdict.whole.fullmatch(text)) is not None:
                yield verdict, m


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, where it matched and what it is about: key, value and types."""

    verdict: Verdict
    match: re.Match[str]
    thing: tuple[str, Value, tuple[str, ...]]


@functools.lru_cache(maxsize=1)
def load_verdicts() -> Verdicts:
    """Read the pack once. PackError on mistakes."""
    fields = sections(PACKS / "verdicts.yaml", ("words", "single", "asked", "passed_over", "verdicts"))
    words = {name: entry.text() for name, entry in fields["words"].fields().items()} | {"num": NUMBER}
    out: list[Verdict] = []
    for entry in fields["verdicts"].items():
        got = entry.fields(("key", "flags", "types", "ends"), required=("key", "ends"))
        key, flags = got["key"].text(), got["flags"].text().split() if "flags" in got else []
        for n, text in lines(got["ends"]):
            source = re.sub(r"\{s2\}", ".{0,4}?", text).replace("{s}", "(?P<s>.{0,14}?)")
            for name, pattern in words.items():
                source = source.replace(f"{{{name}}}", pattern)
            try:
                whole = re.compile(source)
            except re.error as error:
                raise entry.fail(f"line {n}: the expression does not compile: {error}") from error
            rule = Rule(f"{key}.verdicts.{n}", key, "", (), flags=frozenset(flags), options={"conf": str(CERTAIN)})
            out.append(Verdict(rule, tuple(got["types"].text().split()) if "types" in got else (), whole))
    return Verdicts(tuple(out), one_of(fields["single"]), one_of(fields["asked"]), frozenset(fields["passed_over"].text().split()))


def looked_back(clauses: Sequence[Clause], i: int) -> list[Clause]:
    """The clauses of a sentence before its i-th; before its first the sentence before, when that is one clause (花粉？不过敏的)."""
    back: list[Clause] = []
    for clause in reversed(clauses[max(0, i - LOOK_BACK) : i]):
        short = len(clause.text) <= (ALONE if any(map(is_han, clause.text)) else 4 * ALONE)
        alone = clause.first and clause.sentence == clauses[i].sentence - 1 and (not back or back[0].first) and short
        if clause.quoted or not (clause.sentence == clauses[i].sentence or alone):
            break
        back.insert(0, clause)
    return back


def judge(c: Classifier, said: Said, spans: Sequence[Span], talk: Talk) -> Found | None:
    """What the last of the clauses at `spans` of the text says of a thing that one before it names; None when it is no verdict."""
    start, end = spans[-1]
    for verdict, m in (verdicts := load_verdicts()).of(said.text[start:end]):
        said = said if said.mentions else replace(said, mentions=c.recogniser.find(said.text))
        thing = _named(c, verdicts, verdict, said, spans[:-1])
        found = _judged(c, said, spans, talk, Judged(verdict, m, thing)) if thing is not None else None
        if found is not None:
            return found
    return None


def _judged(c: Classifier, said: Said, spans: Sequence[Span], talk: Talk, judged: Judged) -> Found | None:
    """The statement of a verdict; None when it is nobody's, or when words before it are not understood."""
    (start, end), verdict, m = spans[-1], judged.verdict, judged.match
    key, value, types = judged.thing
    a, b = m.span("s")
    before = _before(c, said, (start + a, start + b), (value.start, value.end), spans)
    if before.left or before.left_head:
        return None
    whom = subjects(verdict.rule, before, talk)
    known = c.ontology.get(key)
    if isinstance(whom, Refused) or known is None or blocked(verdict.rule, before, known) is not None:
        return None
    minus = ("neg" in verdict.rule.flags) != (before.tags.get("neg", 0) % 2 == 1)
    part = Part(key, value, types, whom[0], minus, CERTAIN * certainty(before, known.safety) * said.hedge)
    return c.found(said, replace(verdict.rule, key=key), Hit(start, end, {}), before, part)


def _named(
    c: Classifier, verdicts: Verdicts, verdict: Verdict, said: Said, spans: Sequence[Span]
) -> tuple[str, Value, tuple[str, ...]] | None:
    """Key and value of the likeliest thing: the topic of its clause before other names, longer names and nearer clauses first."""
    best: tuple[float, str, Value, tuple[str, ...]] | None = None
    for n, (a, b) in enumerate(spans):
        inside = [m for m in said.mentions if a <= m.start and m.end <= b]
        for m in inside:
            if verdicts.single.search(said.text, a, m.start) or any(_covers(x, m) for x in inside):
                continue
            thing = _typed(verdict, m) if verdict.types else _tasted(c, verdicts, said, m)
            if thing is None:
                continue
            topic = c.reader.is_filler(said.text[a : m.start]) or verdicts.asked.search(said.text, a, m.start) is not None
            whole = said.text[m.end : m.end + 1] in AFTER_TOPIC
            if (m.end - m.start == 1 and not (whole and (topic or verdict.types))) or (
                thing[0] == "likes" and is_han(said.text[m.start]) and not whole
            ):
                continue
            weight = 3 * topic + (m.end - m.start > 1) + 4 * (thing[0] != "likes") + n * (4 if verdict.types else 0.5) - (m.start - a) / 100
            if best is None or weight > best[0]:
                best = (weight, *thing)
    return None if best is None else best[1:]


def _covers(longer: Mention, m: Mention) -> bool:
    return longer is not m and longer.start <= m.start and m.end <= longer.end and longer.end - longer.start > m.end - m.start


def _typed(verdict: Verdict, m: Mention) -> tuple[str, Value, tuple[str, ...]] | None:
    concept = m.of(verdict.types)
    return None if concept is None else (verdict.rule.key, Value(m.start, m.end, concept), verdict.types)


def _tasted(c: Classifier, verdicts: Verdicts, said: Said, m: Mention) -> tuple[str, Value, tuple[str, ...]] | None:
    if all(x.type in verdicts.passed_over for x in m.concepts) or m.of(("device",)) is not None:
        return None
    for verb in HINTS:
        routed = route(said.text, (m.start, m.end), said.mentions, c.matcher.routes, c.matcher.trims, verb)
        if routed is not None and routed.certain and (routed.value.start, routed.value.end) == (m.start, m.end):
            return routed.key, routed.value, routed.types
    return None


def _before(c: Classifier, said: Said, own: Span, value: Span, spans: Sequence[Span]) -> Before:
    """The words before the verdict; where they name nobody, the last person that the clauses since the thing name, or the one before it."""
    before = c.reader.read(said.text, own[1], said.masked, said.original, own[0], said.mentions)
    if before.people:
        return before
    first, aside = next(a for a, b in spans if a <= value[0] < b), ""
    rest = next((b for a, b in spans if a <= value[0] < b), value[1])  # what follows the thing in its own clause is no aside
    for a, b in ((rest, spans[-1][0]), (value[1], rest), (first, value[0]), (spans[0][0], first)):
        named = c.reader.read(said.text, b, said.masked, said.original, a)
        people = [p for p in named.people if p.subject not in ("you", "it")]
        if people and len(named.left_head) < ASIDE_LEFT:
            return replace(before, people=(people[-1],))
        aside = aside or named.left_head if people else aside
    return replace(before, left=before.left + aside)
