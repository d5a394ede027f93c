"""Short-term memory: the last turns, what this session confirmed, the point that is asked for, older turns by likeness. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from graphmem.answers import Memory, ShortTurn
from graphmem.memory import Kind
from graphmem.recall.lexical import lexical_scores
from graphmem.recall.named import has_han
from graphmem.recall.phrases import phrases
from graphmem.recall.wording import wording

LAST = 3
"""Turns kept word for word (design section 6.2)."""
CONFIRMED = 3
"""Confirmed facts of the session at most (design section 6.2)."""
ALIKE = 2
"""Older turns brought back at most: the share of a prompt they are worth beside the last three."""

_ZH = "一二三四五六七八九十"
_START = r"(?:^|(?<=[\s。；;！!？?，,：:]))"
_DIGITS = re.compile(r"(?:[（(\[](\d{1,2})[)）\]]|" + _START + r"(\d{1,2})(?:[.．](?!\d)|[、)）:：]))[ \t]*", re.MULTILINE)
_CIRCLED = re.compile(r"([①-⑳])[ \t]*")
_NUMERALS = re.compile(
    rf"(?:[（(]([{_ZH}])[)）]|{_START}([{_ZH}])[、.．]|{_START}第([{_ZH}])(?:点|条|步|个|项|种)?(?:是|[，,：:、]))[ \t]*",
    re.MULTILINE,
)
_BULLETS = re.compile(r"^[ \t]*(?:[-*•·‣–—+]|[◦▪●○■])[ \t]+", re.MULTILINE)
_END = re.compile(r"\n\s*\n")


def short_term(message: str, history: Sequence[ShortTurn], confirmed: Sequence[Memory], nth: int | None = None) -> tuple[ShortTurn, ...]:
    """What of this session belongs in the prompt: the point asked for, confirmed facts, older turns alike, the last turns.

    `why` says which it is: point, confirmed, alike, last_turns. `history` is oldest first; the message itself at its end is left out.
    """
    turns = list(history)
    if turns and turns[-1].role == "user" and turns[-1].text.strip() == message.strip():
        turns.pop()
    point = _point(turns, nth) if nth else None
    facts = sorted(confirmed, key=lambda m: (m.observed_at, m.mid))[-CONFIRMED:]
    last = [replace(turn, why="last_turns") for turn in turns[-LAST:]]
    return (*([point] if point else []), *map(_fact, facts), *_alike(message, turns[:-LAST]), *last)


def _fact(memory: Memory) -> ShortTurn:
    zh = has_han(memory.value or memory.label.en)
    label = memory.label.zh if zh else memory.label.en
    negative = wording().words["disliked" if memory.kind is Kind.PREFERENCE else "denied"]
    denied = f"{negative.zh if zh else negative.en} " if memory.polarity == "-" else ""
    return ShortTurn("memory", f"{label}: {denied}{memory.value or ''}".strip(), memory.observed_at, None, "confirmed")


def _alike(message: str, older: Sequence[ShortTurn]) -> list[ShortTurn]:
    scores = lexical_scores(message, [turn.text for turn in older])
    best = sorted((i for i, score in enumerate(scores) if score > 0), key=lambda i: (-scores[i], -i))[:ALIKE]
    return [replace(older[i], why="alike") for i in sorted(best)]


def _point(turns: Sequence[ShortTurn], nth: int) -> ShortTurn | None:
    """The point of the newest list that has it; the assistant's lists before the user's own."""
    for role in ("assistant", "user"):
        for turn in reversed(turns):
            found = points(turn.text) if turn.role == role else ()
            index = nth - 1 if nth > 0 else len(found) + nth
            if 0 <= index < len(found):
                return ShortTurn(turn.role, found[index], turn.at, turn.turn_id, "point")
    return None


def points(text: str) -> tuple[str, ...]:
    """The points of the list in a text, without their marks; () where it holds none. Numbered, bulleted, First/Second, 第一/首先/其次/最后.

    Numbers must rise by one from 1, so that years and amounts are no points. The longest list wins.
    """
    lists = (_numbered(text), _bulleted(text), _worded(text))
    best: list[tuple[int, int]] = max(lists, key=len)
    if len(best) < 2:
        return ()
    ends = [start for start, _ in best[1:]] + [len(text)]
    bodies = [text[begin:end] for (_, begin), end in zip(best, ends, strict=True)]
    tail = _END.search(bodies[-1].lstrip())
    if tail:
        bodies[-1] = bodies[-1].lstrip()[: tail.start()]
    return tuple(body.strip().rstrip("；;，,") for body in bodies)


def _numbered(text: str) -> list[tuple[int, int]]:
    found = [
        _rising((m.start(), m.end(), int(m[1] or m[2])) for m in _DIGITS.finditer(text)),
        _rising((m.start(), m.end(), ord(m[1]) - ord("①") + 1) for m in _CIRCLED.finditer(text)),
        _rising((m.start(), m.end(), _ZH.index(m[1] or m[2] or m[3]) + 1) for m in _NUMERALS.finditer(text)),
    ]
    return max(found, key=len)


def _rising(marks: Iterator[tuple[int, int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end, number in marks:
        if number == len(found) + 1:
            found.append((start, end))
    return found


def _bulleted(text: str) -> list[tuple[int, int]]:
    return [(m.start(), m.end()) for m in _BULLETS.finditer(text)]


def _worded(text: str) -> list[tuple[int, int]]:
    """Lists in running text, by the words of each language that open one and go on with it (rule `enumeration`)."""
    lists: list[list[tuple[int, int]]] = [[]]
    for pattern in phrases().rules.get("enumeration", {}).values():
        found: list[tuple[int, int]] = []
        for m in pattern.finditer(text):
            if (m[1] is not None) != bool(found):
                found.append((m.start(), m.end()))
        lists.append(found)
    return max(lists, key=len)
