"""Where the rules are silent or doubtful: the second opinion (opinion.py), held to the checks of subject, modality and value. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphmem.memory import Kind, Reason
from graphmem.pipeline.classify import HEADED, Classifier, Part
from graphmem.pipeline.opinion import Opinion
from graphmem.pipeline.prefix import Before
from graphmem.pipeline.rules import Rule
from graphmem.pipeline.said import Found, Hit, Refused, Said
from graphmem.pipeline.talk import Talk
from graphmem.pipeline.values import runs
from graphmem.pipeline.whom import blocked, certainty, subjects

ID = "opinion"
"""How its rules are named in explanations: opinion.KEY."""

DISSENT, DISSENT_SAFETY, DISSENT_NOBODY = 0.02, 0.002, 0.05
"""Chances of a rule's reading under which it is not believed: of a key; of a safety key, which is asked about instead; in a clause that
names nobody and may be true of anybody. Own choice, on 2,700 lines of authors not learned from: under 0.02 one statement of a rule in
fourteen was right, of safety keys every second one."""
ASSENT = 0.3
"""Chance at which a match whose words before it are unexplained holds after all: rule and opinion agree. Own choice."""
ASK, STORE, STORE_NOBODY = 0.3, 0.45, 0.9
"""Chances at which a reading that no rule found is worth a question, and is stored: where somebody is named, where nobody is (it may be
true of anybody). A safety key is never stored on an opinion alone: it asks. The head is fitted to far more clauses that state
nothing than it is asked about here, so its chances are low: own choice, on families held out."""

SURE, TOP = 0.85, 0.97
"""Confidence at STORE (the usual threshold of design.md section 5), and the most that an opinion is sure: as much as a plain rule."""

DOUBTED = ".doubted"
"""Ends the name of a rule whose statement was not believed."""

OPEN_DOORS = frozenset({Reason.UNKNOWN_VALUE, Reason.CHATTER})
"""Refusals of rules that leave room for an opinion: the others know why nothing may be stored."""


def sure(chance: float, store: float) -> float:
    """Confidence of a reading with this chance: SURE at `store`, in straight lines to 0 and to TOP."""
    return SURE + (chance - store) / (1 - store) * (TOP - SURE) if chance >= store else SURE * chance / store


def believed(c: Classifier, found: Sequence[Found], opinion: Opinion, nobody: bool, beside: frozenset[str] = frozenset()) -> list[Found]:
    """What rules found without what the opinion holds for all but impossible; of safety keys that is left to a question.

    An opinion is of one reading: where it lets one statement of a clause stand it says nothing against the others, but of tastes. It says
    nothing either against what goes on with a key that the sentence has just stated (`beside`): capsules please, no powder; nor against
    firm rules.
    """
    chances = [_chance(c, f, opinion) for f in found]
    stands = any(chance is not None and chance >= DISSENT for chance in chances)
    out: list[Found] = []
    for f, chance in zip(found, chances, strict=True):
        s = f.statement
        safety = c.ontology.key(s.key).safety
        least = DISSENT_NOBODY if nobody else DISSENT_SAFETY if safety else DISSENT
        free = s.whole_key or s.key in beside or (stands and not s.rule.startswith("taste.")) or ("firm" in f.flags and not safety)
        if chance is None or chance >= least or free or s.confidence < SURE:  # a hedged one is asked anyway
            out.append(f)
        elif safety:
            out.append(_asked(f))
    return out


def _chance(c: Classifier, f: Found, opinion: Opinion) -> float | None:
    """The chance of its reading; of a liking that has no key of its own, that of any other taste with its polarity."""
    name, polarity, chance = opinion.best()
    known = c.ontology.get(name)
    if f.statement.key == "likes" and polarity == f.statement.polarity and known and (known.kind is Kind.PREFERENCE or name == "hobby"):
        return chance
    return opinion.of(f.statement.key, "-" if f.statement.is_end else f.statement.polarity)


def agreed(c: Classifier, refused: Iterable[Refused], opinion: Opinion) -> list[Found]:
    """The match with unexplained words before it that the opinion agrees with most."""
    held = [r.held for r in refused if r.held is not None]
    rated = [(_chance(c, f, opinion) or 0.0, f.score, -i) for i, f in enumerate(held)]
    best = max(rated, default=(0.0, 0.0, 0))
    if best[0] < ASSENT:
        return []
    one = held[-best[2]]
    return [_asked(one)] if HEADED in one.flags and c.ontology.key(one.statement.key).safety else [one]


def _asked(f: Found) -> Found:
    """The same, too unsure to be stored."""
    return replace(f, statement=replace(f.statement, confidence=min(f.statement.confidence, SURE - 0.01)))


def wished(whole: Before) -> bool:
    """Whether a clause says what would be: I'd love broccoli (if …)."""
    return any(tags.get(t) for tags in (whole.tags, whole.head) for t in ("would", "future", "plan"))


def propose(c: Classifier, opinion: Opinion, said: Said, talk: Talk, refused: Sequence[Refused]) -> list[Found] | Refused | None:
    """The likeliest statement of a clause in which no rule found one, why it may not be one, or None when nothing is likely."""
    name, polarity, chance = opinion.best()
    key = c.ontology.get(name)
    doubted = any(r.rule.endswith(DOUBTED) for r in refused)
    if chance < ASK or key is None or any(r.reason not in OPEN_DOORS for r in refused if r.held is None and not r.rule.endswith(DOUBTED)):
        return None
    # against a rule only a name of the key's own type stands
    parts = runs(said.text, said.mentions, key.types[:1] if doubted else key.types, c.matcher.trims)
    if not parts:
        shaped = c.shapes.find(key.name, said)
        if shaped is None or shaped.end - shaped.start == len(said.text):
            return None  # a bare name or number answers a question or says nothing
        parts = [(shaped.start, shaped.end, (shaped,))]
    start, end, values = max(parts, key=lambda p: (said.text[p[0] : p[1]] not in c.matcher.classes, p[1] - p[0]))
    whole = c.reader.read(said.text, len(said.text), said.masked, said.original, 0)
    whole = replace(whole, people=tuple(p for p in whole.people if not start <= p.start < end))  # a name is not said of itself
    if whole.tags.get("generic") or whole.head.get("generic"):
        return Refused(Reason.THIRD_PARTY, "subject.general")
    flags = frozenset({"loose", "like"} if key.kind is Kind.PREFERENCE else {"loose"})
    rule = Rule(f"{ID}.{key.name}", key.name, "", (), flags=flags, options={"conf": str(TOP)})
    before = _before(c, said, start, whole)
    whom = subjects(rule, before, talk)
    if isinstance(whom, Refused):
        return whom
    stopped = blocked(rule, before, key)
    if stopped is not None:
        return stopped
    if polarity == "+" and before.tags.get("neg", 0) % 2:
        return Refused(Reason.LOW_CONFIDENCE, f"{rule.id}.denied")
    store = STORE if whole.people else STORE_NOBODY
    confidence = min(sure(chance, store), SURE - 0.01 if key.safety else TOP) * certainty(before, key.safety) * said.hedge
    return [
        c.found(said, rule, Hit(0, len(said.text), {}, values), before, Part(name, value, key.types, subject, polarity == "-", confidence))
        for value in values
        for subject in whom
    ]


def _before(c: Classifier, said: Said, start: int, whole: Before) -> Before:
    """The words before the value; where they name nobody, those of the whole clause (flat white's my usual)."""
    before = c.reader.read(said.text, start, said.masked, said.original, 0, said.mentions)
    if before.people or not whole.people:
        return before
    return replace(whole, left="", left_head="")
