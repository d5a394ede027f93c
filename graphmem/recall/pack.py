"""The prompt-ready block, zh or en: memories as data, one line each, never an instruction; unconfirmed ones never as true. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timezone
from zoneinfo import ZoneInfo

from graphmem.answers import Check, Hit, Instruction, Memory, ShortTurn
from graphmem.memory import Kind, Language, Standing
from graphmem.recall.named import names_in, plain
from graphmem.recall.quote import inline, quoted
from graphmem.recall.wording import said, wording

STYLE_KEYS = frozenset({"answer_style_preference", "language_preference"})
"""Keys whose values say how to answer."""


def pack(
    language: Language,
    hits: Sequence[Hit],
    pending: Sequence[Memory] = (),
    short_term: Sequence[ShortTurn] = (),
    checks: Sequence[Check] = (),
    instructions: Sequence[Instruction] = (),
) -> str:
    """The block; "" when there is nothing to say. Parts without content have no heading.

    Every stored text is quoted (recall.quote): it stays on its line and can neither close the block nor open another.
    """
    parts = [
        _part("checks", language, (_check(check, language) for check in checks)),
        _part("memories", language, (_memory(hit.memory, language) for hit in hits if not hit.memory.is_end)),
        _part("pending", language, (_pending(memory, language) for memory in pending)),
        _part("instructions", language, (_bullet(said_instruction(i, language)) for i in instructions)),
        _part("short_term", language, (_turn(turn, language) for turn in short_term)),
    ]
    told = [part for part in parts if part]
    return "\n".join([_word("open", language), _word("notice", language), *told, _word("close", language)]) if told else ""


def _part(heading: str, language: Language, lines: Iterable[str]) -> str:
    body = list(lines)
    return "\n".join([_word(heading, language), *body]) if body else ""


def _word(name: str, language: Language) -> str:
    return said(wording().words[name], language)


def _bullet(text: str) -> str:
    return f"- {text}"


def said_instruction(instruction: Instruction, language: Language) -> str:
    return inline(instruction.zh if language == "zh" else instruction.en)


def _memory(memory: Memory, language: Language) -> str:
    words = wording()
    standing = _word(memory.standing.value, language)
    source = said(words.sources[memory.source.kind.value], language) if memory.standing is not Standing.STATED else None
    since = memory.valid_from or memory.said_at
    notes = [_dated("since", since, memory.zone, language)]
    if memory.valid_to is not None:
        notes.append(_dated("until", memory.valid_to, memory.zone, language))
    notes.append(", ".join(filter(None, (standing, source))))
    return _bullet(f"{_about(memory, language)} ({'; '.join(notes)})")


def _pending(memory: Memory, language: Language) -> str:
    notes = (_dated("mentioned", memory.said_at, memory.zone, language), _word("unconfirmed", language))
    return _bullet(f"? {_about(memory, language)} ({'; '.join(notes)})")


def _about(memory: Memory, language: Language) -> str:
    """`user · coffee: "oat latte"`; the polarity of a denial or dislike stands before the value."""
    role, name = wording().subject(memory.subject, language)
    who = f"{role} {quoted(name)}" if name else role
    negative = "disliked" if memory.kind is Kind.PREFERENCE else "denied"
    sign = f"{_word(negative, language)} " if memory.polarity == "-" else ""
    return f"{who} · {inline(said(memory.label, language))}: {sign}{quoted(memory.value or '')}"


def _check(check: Check, language: Language) -> str:
    unverified = "" if check.verified else f" ({_word('unverified', language)})"
    return _bullet(f"{_word(check.severity, language)}: {inline(said(check.text, language))}{unverified}")


def _turn(turn: ShortTurn, language: Language) -> str:
    roles = wording().roles
    return _bullet(f"{said(roles.get(turn.role, roles['other']), language)}: {quoted(turn.text, longest=1200)}")


def _dated(word: str, at: datetime, zone: str, language: Language) -> str:
    return _word(word, language).format(date=_local(at, zone).strftime("%Y-%m-%d"))


def _local(at: datetime, zone: str) -> datetime:
    """The instant in the speaker's zone: an IANA name or an offset such as +08:00; UTC where it is neither."""
    try:
        return at.astimezone(ZoneInfo(zone))
    except (ValueError, OSError, KeyError):
        pass
    try:
        offset = datetime.strptime(zone, "%z").utcoffset()
    except ValueError:
        offset = None
    return at.astimezone(timezone(offset) if offset is not None else UTC)


def instructions(hits: Sequence[Hit]) -> tuple[Instruction, ...]:
    """How to answer this person, from what they said of answer style and language; one a trait, the first hit decides.

    The words are those of packs/prompt.yaml: a stored text is looked up there, never repeated as an instruction.
    """
    styles = wording().styles
    found: dict[str, Instruction] = {}
    for hit in hits:
        memory = hit.memory
        if memory.key not in STYLE_KEYS or memory.subject != "self" or memory.is_end or not memory.value:
            continue
        for name in names_in(plain(memory.value), styles.__contains__):
            style = styles[name.form]
            text = style.unless if memory.polarity == "-" else style.say
            found.setdefault(style.trait, Instruction(style.trait, text.zh, text.en))
    return tuple(found.values())
