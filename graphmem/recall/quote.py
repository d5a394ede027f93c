"""Stored text as data in a prompt: one line, no fences, tags or invisible signs, so that it cannot close its block. Pure."""

from __future__ import annotations

import unicodedata

LONGEST = 300
"""Characters of one quoted text; values are short, turns may not be."""

_UNSAFE = frozenset("<>`[]{}|\u2028\u2029")
_UNSAFE_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
_JOINERS = frozenset("\u200d\ufe0f")
"""Inside emoji; harmless and needed to keep a value as it was said."""


def inline(text: str) -> str:
    r"""The text on one line; every sign that could open or close something, or hide, as `\uXXXX`; line breaks as one blank."""
    text = " ".join(text.split())
    return "".join(_escaped(c) if _unsafe(c) else c for c in text)


def quoted(text: str, longest: int = LONGEST) -> str:
    """The text as a string literal in double quotes, as in JSON; longer text is cut and ends in …"""
    text = " ".join(text.split())
    if len(text) > longest:
        text = text[:longest] + "…"
    return '"' + inline(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _unsafe(c: str) -> bool:
    return c in _UNSAFE or (c not in _JOINERS and unicodedata.category(c) in _UNSAFE_CATEGORIES)


def _escaped(c: str) -> str:
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"
