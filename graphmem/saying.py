"""One paragraph, in Chinese and in English, that says why a memory is held and (not) told: sentences of packs/explain.yaml. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from graphmem.explain import Entry, Policy, Rival, Waiting
from graphmem.memory import Language, Text2
from graphmem.ontology import PACKS
from graphmem.recall.phrases import root
from graphmem.recall.wording import said, wording

_HELD = ("subject", "label", "value", "version", "source", "said", "since")
SENTENCES: Mapping[str, tuple[str, ...]] = {
    "held": _HELD, "denied": _HELD, "end": _HELD, "waiting": _HELD,
    "rule": ("rule", "confidence", "verdict"), "verdict": ("verdict",), "evidence": ("count", "last"),
    "replaced": ("since", "value"), "opposes": ("since", "value"), "actor": ("actor", "route"),
    "policy_versioned": (), "policy_dual": (), "policy_review": (), "safety": (), "expires": ("until",),
}  # fmt: skip
TOLD = (
    "told", "scheduled", "superseded", "closed", "opposed", "ended", "over", "expired", "retracted", "overruled",
    "pending", "confirmed", "rejected", "overtaken", "lapsed",
)  # fmt: skip
"""The names explain.because and explain.because_pending give."""


@dataclass(frozen=True, slots=True)
class Sayings:
    sentences: Mapping[str, Text2]
    told: Mapping[str, Text2]
    verdicts: Mapping[str, Text2]
    reasons: Mapping[str, Text2]


@lru_cache(maxsize=1)
def sayings() -> Sayings:
    """The sentences that ship with graphmem."""
    return load_sayings(PACKS / "explain.yaml")


def load_sayings(path: Path) -> Sayings:
    """The sentences of a pack. PackError with file and line on any mistake."""
    sections = ("sentences", "told", "verdicts", "reasons")
    got = root(path).fields(sections, required=sections)
    sentences = got["sentences"].fields(tuple(SENTENCES), required=tuple(SENTENCES))
    told = got["told"].fields(TOLD, required=TOLD)
    return Sayings(
        {name: e.text2(SENTENCES[name]) for name, e in sentences.items()},
        {name: e.text2(("since", "until", "other")) for name, e in told.items()},
        {name: e.text2() for name, e in got["verdicts"].fields().items()},
        {name: e.text2() for name, e in got["reasons"].fields().items()},
    )


@dataclass(frozen=True, slots=True)
class Told:
    """What the paragraph is about: the reason, from when the memory begins and until when it was told, and the rest of the answer."""

    entry: Entry
    because: str
    since: datetime
    until: datetime | None
    rivals: tuple[Rival, ...]
    policy: Policy | None
    waiting: Waiting | None


def paragraph(told: Told) -> Text2:
    """The whole explanation in both languages."""
    return Text2(zh="".join(_sentences(told, "zh")), en=" ".join(_sentences(told, "en")))


def _sentences(told: Told, language: Language) -> list[str]:
    words, entry = sayings(), told.entry
    found = [_fill(words.sentences[_opening(told)], language, **_held(told, language))]
    found += _ruled(entry, language)
    made = entry.touches[0] if entry.touches else None
    if made is not None and made.actor is not None:
        found.append(_fill(words.sentences["actor"], language, actor=made.actor, route=made.route or ""))
    if len(entry.sources) > 1:
        last = max(e.said_at for e in entry.sources)
        found.append(_fill(words.sentences["evidence"], language, count=str(len(entry.sources)), last=_day(last)))
    for rival in told.rivals:
        if rival.value is not None and (name := {"superseded": "replaced", "opposes": "opposes"}.get(rival.did)):
            found.append(_fill(words.sentences[name], language, since=_day(rival.valid_from), value=rival.value))
    if told.policy is not None:
        found.append(_fill(words.sentences[f"policy_{told.policy.policy}"], language))
        found += [_fill(words.sentences["safety"], language)] if told.policy.safety else []
    if entry.memory.expires_at is not None and told.because == "told":
        found.append(_fill(words.sentences["expires"], language, until=_day(entry.memory.expires_at)))
    other = next((r.value for r in told.rivals if r.did in ("superseded_by", "opposed_by") and r.value is not None), "…")
    found.append(_fill(words.told[told.because], language, since=_day(told.since), until=_day(told.until), other=other))
    return found


def _opening(told: Told) -> str:
    if told.waiting is not None:
        return "waiting"
    memory = told.entry.memory
    return "end" if memory.is_end else "denied" if memory.polarity == "-" else "held"


def _held(told: Told, language: Language) -> dict[str, str]:
    memory, wordings = told.entry.memory, wording()
    role, name = wordings.subject(memory.subject, language)
    source = wordings.sources.get(memory.source.kind.value)
    return {
        "subject": f"{role} {name}" if name else role,
        "label": said(memory.label, language),
        "value": memory.value if memory.value is not None else "—",
        "version": str(memory.version or "?"),
        "source": said(source, language) if source is not None else memory.source.kind.value,
        "said": _day(memory.said_at),
        "since": _day(told.since),
    }


def _ruled(entry: Entry, language: Language) -> list[str]:
    if entry.verdict is None:
        return []
    words = sayings()
    verdict = said(words.verdicts[entry.verdict], language) if entry.verdict in words.verdicts else entry.verdict
    if entry.reason is not None and entry.reason in words.reasons:
        verdict += f" ({words.reasons[entry.reason].en})" if language == "en" else f"（{words.reasons[entry.reason].zh}）"
    if entry.rule is None:
        return [_fill(words.sentences["verdict"], language, verdict=verdict)]
    return [_fill(words.sentences["rule"], language, rule=entry.rule, confidence=f"{entry.certainty or 0:.2f}", verdict=verdict)]


def _fill(text: Text2, language: Language, **parts: str) -> str:
    return said(text, language).format(**parts)


def _day(at: datetime | None) -> str:
    return "…" if at is None else at.strftime("%Y-%m-%d")


__all__ = ["Sayings", "Told", "load_sayings", "paragraph", "sayings"]
