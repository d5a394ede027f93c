"""Step one: a text into sentences and clauses; what is quoted, pasted or fenced is cut out. Pure, linear.

Offsets are into the normal form (normal.py).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from graphmem.ontology import PACKS
from graphmem.pipeline.normal import BREAK, Normal, is_han, normalise
from graphmem.pipeline.rules import one_of, sections

CLAUSE_MAX = 240
"""A longer run without punctuation is cut here, so that every rule works on a bounded text."""


@dataclass(frozen=True, slots=True)
class Clause:
    """norm[start:end], without blanks and punctuation at its ends. `sentence` counts from 0; `end_mark` is what closes it."""

    text: str
    start: int
    end: int
    sentence: int
    end_mark: str = ""
    quoted: str = ""
    first: bool = False


@dataclass(frozen=True, slots=True)
class Sliced:
    """A text, its normal form and its clauses in order."""

    normal: Normal
    clauses: tuple[Clause, ...]


PATTERNS = (
    "fence",
    "tag",
    "reply",
    "data",
    "forwarded",
    "quote_line",
    "transcript",
    "quotes",
    "speech_before",
    "speech_after",
    "sentence_like",
    "paste",
    "abbreviation",
    "unfinished",
    "goes_on",
    "goes_on_before",
    "zh_join",
    "en_join",
    "comma_head",
    "asking",
    "own",
    "tag_end",
)


@functools.lru_cache(maxsize=1)
def _patterns() -> dict[str, re.Pattern[str]]:
    """packs/slice.yaml, compiled once. PackError on mistakes."""
    fields = sections(PACKS / "slice.yaml", PATTERNS)
    return {name: one_of(fields[name], re.S if name in ("fence", "tag") else re.M) for name in PATTERNS}


_BREAKS = re.compile(f"[ {BREAK}]*{BREAK}[ {BREAK}]*")
_SENT_END = "。！？!?；;\n"


def cut(text: str) -> Sliced:
    """Slice one text. Linear in its length."""
    normal = _gone_on(normalise(text))
    quoted = _quoted_spans(normal.norm)
    clauses: list[Clause] = []
    sentence = 0
    for a, b, tag in _regions(normal.norm, quoted):
        if tag:
            clauses.append(Clause(normal.norm[a:b], a, b, sentence, quoted=tag, first=True))
            continue
        sentence = _cut_region(normal.norm, a, b, sentence, clauses)
    return Sliced(normal, tuple(clauses))


def _gone_on(normal: Normal) -> Normal:
    """Without breaks inside a sentence: an emoji after a word that wants another one; words of Chinese written apart."""
    norm = normal.norm
    if BREAK not in norm:
        return normal
    chars: list[str] = []
    kept: list[int] = []
    at = 0
    for m in _BREAKS.finditer(norm):
        a, b = m.span()
        if not (0 < a and b < len(norm) and _goes_on(norm, a, b)):
            continue
        kept.extend(range(at, a))
        chars.extend(norm[at:a])
        if not (is_han(norm[a - 1]) or is_han(norm[b])):
            kept.append(a)
            chars.append(" ")
        at = b
    kept.extend(range(at, len(norm)))
    chars.extend(norm[at:])
    return Normal(normal.text, "".join(chars), tuple(normal.starts[k] for k in kept), tuple(normal.ends[k] for k in kept))


def _goes_on(norm: str, a: int, b: int) -> bool:
    """Whether a sentence goes on over the break norm[a:b]: by the word before it, by the one after it, by single characters all along."""
    if _patterns()["goes_on_before"].match(norm, b):
        return True
    if is_han(norm[a - 1]) and is_han(norm[b]) and norm[a - 2 : a - 1] in ("", BREAK) and norm[b + 1 : b + 2] in ("", BREAK, "。"):
        return True
    return _patterns()["goes_on"].search(norm[max(0, a - 16) : a]) is not None and norm[b] not in "我你他她咱您俺"


def _quoted_spans(norm: str) -> list[tuple[int, int, str]]:
    """Spans that are not the speaker's own present words, in order, without overlap."""
    found: list[tuple[int, int, str]] = []
    if "```" in norm or "~~~" in norm:
        found += [(m.start(), m.end(), "fence") for m in _patterns()["fence"].finditer(norm)]
    if "<" in norm:
        found += [(m.start(), m.end(), "tag") for m in _patterns()["tag"].finditer(norm)]
    if "[" in norm or "【" in norm:
        found += [(m.start(), m.end(), "reply") for m in _patterns()["reply"].finditer(norm)]
    if "{" in norm:
        found += [(m.start(), m.end(), "data") for m in _patterns()["data"].finditer(norm)]
    found += [(m.end(), _paste_end(norm, m.end()), "forwarded") for m in _patterns()["forwarded"].finditer(norm) if m.end() < len(norm)]
    if ">" in norm or "|" in norm:
        found += [(m.start(), m.end(), "quote_line") for m in _patterns()["quote_line"].finditer(norm)]
    if ":" in norm or "：" in norm:
        lines = list(_patterns()["transcript"].finditer(norm))
        found += [(m.start(), m.end(), "transcript") for m in lines]
        found += [(m.end(), _paste_end(norm, m.end()), "pasted") for m in _patterns()["paste"].finditer(norm) if m.end() < len(norm)]
    if '"' in norm or "'" in norm:
        found += [(m.start(), m.end(), "quotes") for m in _patterns()["quotes"].finditer(norm) if _is_speech(norm, m)]
    return _disjoint(found)


def _paste_end(norm: str, at: int) -> int:
    """What follows "translate this:" is quoted up to an empty line, or to the end."""
    end = norm.find("\n\n", at + 1)
    return len(norm) if end < 0 else end


def _is_speech(norm: str, m: re.Match[str]) -> bool:
    inner = m[1] if m[1] is not None else m[2]
    if _patterns()["speech_before"].search(norm[max(0, m.start() - 30) : m.start()]):
        return True
    if _patterns()["speech_after"].match(norm, m.end()):
        return True
    if inner.count(" ") > 4 or (". " in inner and inner.count(" ") > 2):
        return True
    return bool(_patterns()["sentence_like"].search(inner))


def _disjoint(found: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    out: list[tuple[int, int, str]] = []
    for a, b, tag in sorted(found, key=lambda f: (f[0], -f[1])):
        if a < b and (not out or a >= out[-1][1]):
            out.append((a, b, tag))
    return out


def _regions(norm: str, quoted: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    out: list[tuple[int, int, str]] = []
    at = 0
    for a, b, tag in quoted:
        if at < a:
            out.append((at, a, ""))
        out.append((a, b, tag))
        at = b
    if at < len(norm):
        out.append((at, len(norm), ""))
    return out


def _cut_region(norm: str, a: int, b: int, sentence: int, out: list[Clause]) -> int:
    for s, e, mark in _sentences(norm, a, b):
        first = True
        pieces = list(_pieces(norm, s, e, mark == "?"))
        for k, (x, y) in enumerate(pieces):
            end_mark = mark if k == len(pieces) - 1 else ","
            while y > x and norm[y - 1] in " \t,，.。、:：;；-—–~!?" + BREAK:
                y -= 1
            while x < y and norm[x] in " \t,，.。、:：;；!?)）" + BREAK:
                x += 1
            if x < y:
                out.append(Clause(norm[x:y], x, y, sentence, end_mark, first=first))
                first = False
        if not first:
            sentence += 1
    return sentence


def _sentences(norm: str, a: int, b: int) -> list[tuple[int, int, str]]:
    out: list[tuple[int, int, str]] = []
    start = i = a
    while i < b:
        c = norm[i]
        if c in _SENT_END or (c == "." and _full_stop(norm, i, b)):
            j = i + 1
            while j < b and norm[j] in "。！？!?~…. \n":
                j += 1
            mark = "?" if "?" in norm[i:j] else "!" if "!" in norm[i:j] else norm[i]
            out.append((start, i, mark))
            start = i = j
            continue
        i += 1
    if start < b:
        out.append((start, b, ""))
    return out


def _full_stop(norm: str, i: int, b: int) -> bool:
    after = norm[i + 1] if i + 1 < b else " "
    if after == ".":
        return False
    if i and norm[i - 1] == "." and after not in " \n" and _patterns()["unfinished"].search(norm[max(0, i - 8) : i].rstrip(".")):
        return False
    if not (after in " \n\"')" or is_han(after)):
        return False
    if i and is_han(norm[i - 1]):
        return True
    return not _patterns()["abbreviation"].search(norm[max(0, i - 8) : i]) or i + 1 >= b


def _pieces(norm: str, a: int, b: int, asked: bool) -> list[tuple[int, int]]:
    """Clauses of one sentence. `asked`: it ends with a question mark; then what stands before its last comma may state something."""
    cuts: list[int] = []
    open_ended = asked and not any(map(is_han, norm[a:b]))
    begun = not asked and _patterns()["asking"].match(norm, a, b) is not None
    for i in range(a, b):
        c = norm[i]
        if (
            (c in ",，" and (_splits(norm, i, a, b) or (c == "," and _parts(norm, i, b, open_ended, begun))))
            or c == BREAK
            or (c in "()（）" and _long_bracket(norm, i, b))
        ):
            cuts.append(i)
        elif _dash(norm, i, b) or (c == ":" and _introduces(norm, i, a, b)):
            cuts.append(i + 1)
        elif c in ":：" and i + 1 < b and not norm[i + 1].isdigit() and is_han(norm[i - 1] if i else " ") and i - a > 8:
            cuts.append(i)
    text = norm[a:b]
    cuts += [a + m.start() for m in _patterns()["zh_join"].finditer(text) if m.start() > 1]
    if " " in text:
        cuts += [a + m.start() for m in _patterns()["en_join"].finditer(text) if m.start() > 1]
    out: list[tuple[int, int]] = []
    at = a
    for cut_at in sorted(set(cuts)):
        if cut_at > at:
            out.append((at, cut_at))
        at = cut_at
    out.append((at, b))
    return [piece for x, y in out for piece in _bounded(x, y)]


def _bounded(a: int, b: int) -> list[tuple[int, int]]:
    return [(x, min(x + CLAUSE_MAX, b)) for x in range(a, b, CLAUSE_MAX)]


def _long_bracket(norm: str, i: int, b: int) -> bool:
    """A bracket of more than a few characters is an aside; a short one belongs to a name (维生素(C))."""
    if norm[i] in ")）":
        return False
    end = min((k for k in (norm.find(")", i, b), norm.find("）", i, b)) if k >= 0), default=b)
    return end - i > 8


def _dash(norm: str, i: int, b: int) -> bool:
    """Whether a dash parts clauses: it stands between blanks."""
    return norm[i] in "-—–" and i + 2 < b and norm[i + 1] == " " and i > 0 and norm[i - 1] == " "


def _introduces(norm: str, i: int, a: int, b: int) -> bool:
    """Whether an English colon follows a clause of its own: after years of being told it's stress: endometriosis."""
    if not norm.startswith(" ", i + 1) or i + 2 >= b or not norm[i + 2].isalpha():
        return False
    words = norm[a:i].split()
    return len(words) > 3 and words[-1] not in ("is", "are", "to", "as", "at", "number", "address", "name")


def _parts(norm: str, i: int, b: int, asked: bool, begun: bool) -> bool:
    """Whether an English comma parts a statement from a question or a request: pouring here, any indoor options?"""
    if not (asked or begun) or not norm.startswith(" ", i + 1):
        return False
    comma = norm.find(",", i + 1, b)
    rest = norm[i + 1 : b if comma < 0 else comma].strip()
    if _patterns()["tag_end"].match(rest):
        return False
    return asked or (" " in rest and _patterns()["own"].search(rest) is not None)


def _splits(norm: str, i: int, a: int, b: int) -> bool:
    before = norm[i - 1] if i > a else " "
    after = norm[i + 1] if i + 1 < b else " "
    if before.isdigit() and after.isdigit():
        return False
    if norm[max(a, i - 7) : i].endswith((" please", " pls")):
        return True
    rest = norm[i + 1 : min(b, i + 24)]
    if is_han(after) or is_han(before):
        return True
    return bool(_patterns()["comma_head"].match(rest))
