"""One text in the form that rules read, with a map back to the text as it was sent. Pure.

NFKC a cluster at a time (a base and its combining marks), lower case, traditional to simplified Chinese, no blanks beside Han
characters. Nothing is ever stored in this form: values and spans are cut from the text as sent.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from opencc import OpenCC

from graphmem.memory import Language, Span

BREAK = "\u241e"
"""Stands for an emoji, a symbol or a blank between Han characters: it separates and means nothing."""

ZH_SHARE = 0.2
"""A text is Chinese where a fifth of its letters are Han (design section 6.2)."""

_IGNORED = {"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\ufe0f", "\ufe0e", "\u20e3"}
_UNSEEN = re.compile("[\u200b\u2060\ufeff\u00ad]|(?<=[A-Za-z\u4e00-\u9fff])[\u200c\u200d]")
_SAME = {
    "’": "'",
    "‘": "'",
    "`": "`",
    "“": '"',
    "”": '"',
    "「": '"',
    "」": '"',
    "『": '"',
    "』": '"',
    "＂": '"',
    "–": "-",
    "—": "-",
    "−": "-",
    "‐": "-",
    "‑": "-",
    "～": "~",
    "…": "…",
    "。": "。",
    "、": "、",
    "·": "·",
}
_ZHU = ("著名", "著作", "显著", "名著", "原著", "土著", "编著", "著称", "著者", "专著", "卓著", "遗著", "巨著", "合著", "著书", "著有")
_SYMBOLS_KEPT = set("+<>=|~$^`")


@dataclass(frozen=True, slots=True)
class Normal:
    """`norm[i]` comes from `text[starts[i]:ends[i]]`."""

    text: str
    norm: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, a: int, b: int) -> Span:
        """Offsets into the text as sent of norm[a:b]."""
        if a >= b:
            at = self.starts[a] if a < len(self.starts) else len(self.text)
            return at, at
        return self.starts[a], self.ends[b - 1]

    def original(self, a: int, b: int) -> str:
        """The text as sent of norm[a:b]."""
        i, j = self.span(a, b)
        return self.text[i:j]


@functools.lru_cache(maxsize=1)
def _t2s() -> OpenCC:
    return OpenCC("t2s")


def is_han(c: str) -> bool:
    """A Chinese character (unified ideographs, extensions and 〇)."""
    if "\u4e00" <= c <= "\u9fff" or c in "〇々":
        return True
    return "\u3400" <= c <= "\u4dbf" or "\U00020000" <= c <= "\U0003ffff" or "\uf900" <= c <= "\ufaff"


def language_of(text: str) -> Language:
    """zh where at least a fifth of the letters are Han, else en."""
    letters = [c for c in text if c.isalpha()]
    return "zh" if letters and sum(map(is_han, letters)) >= ZH_SHARE * len(letters) else "en"


def simplified(text: str) -> str:
    """Traditional characters made simple; the length never changes. 著 as a particle becomes 着."""
    if text.isascii():
        return text
    out: str = _t2s().convert(text)
    if len(out) != len(text):
        return text
    if "著" in out:
        keep = {out.find(w, 0) + w.index("著") for w in _ZHU if w in out}
        out = "".join("着" if c == "著" and i not in keep else c for i, c in enumerate(out))
    return out


def visible(text: str) -> str:
    """Text without characters that nobody sees: zero-width spaces, soft hyphens, joiners between letters that do not join."""
    return text if text.isascii() else _UNSEEN.sub("", text)


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    at, n = 0, len(text)
    while at < n:
        end = at + 1
        while end < n and unicodedata.combining(text[end]):
            end += 1
        yield at, end
        at = end


@functools.lru_cache(maxsize=8192)
def _fold(cluster: str) -> str:
    if cluster in _IGNORED:
        return ""
    if cluster in _SAME:
        return _SAME[cluster]
    if len(cluster) == 1 and is_han(cluster):
        return unicodedata.normalize("NFKC", cluster)
    category = unicodedata.category(cluster[0])
    if category in ("Cs", "Co", "Cn"):
        return BREAK
    if category in ("So", "Sk") and cluster not in _SYMBOLS_KEPT and not unicodedata.normalize("NFKC", cluster).isalnum():
        return BREAK if category == "So" else ""
    if category in ("Cc", "Cf") and cluster not in "\n\t\r":
        return ""
    folded = unicodedata.normalize("NFKC", cluster).lower()
    return "".join(_SAME.get(c, c) for c in folded)


def normalise(text: str) -> Normal:
    """The reading form of a text. Never fails, whatever the code points. Linear."""
    if text.isascii():
        plain = range(len(text))
        return Normal(text, text.lower(), tuple(plain), tuple(i + 1 for i in plain))
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for a, b in _clusters(text):
        for c in _fold(text[a:b]):
            chars.append(c)
            starts.append(a)
            ends.append(b)
    return _tightened(text, simplified("".join(chars)), starts, ends)


def _tightened(text: str, norm: str, starts: list[int], ends: list[int]) -> Normal:
    """Blanks beside one Han character go; a blank between two becomes a break."""
    if " " not in norm and "\t" not in norm:
        return Normal(text, norm, tuple(starts), tuple(ends))
    keep: list[int] = []
    out: list[str] = []
    n, i = len(norm), 0
    while i < n:
        if norm[i] not in " \t":
            keep.append(i)
            out.append(norm[i])
            i += 1
            continue
        j = i
        while j < n and norm[j] in " \t":
            j += 1
        left = is_han(norm[i - 1]) if i else True
        right = is_han(norm[j]) if j < n else True
        if not left and not right:
            keep.append(i)
            out.append(" ")
        elif left and right and i and j < n:
            keep.append(i)
            out.append(BREAK)
        i = j
    return Normal(text, "".join(out), tuple(starts[k] for k in keep), tuple(ends[k] for k in keep))
