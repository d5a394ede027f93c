"""Which words must stand in a text for an expression to match: the index that keeps most rules from being tried. Pure."""

from __future__ import annotations

import functools
import re

_PLAIN = re.compile(r"[^\\\[\](){}.^$|?*+]+")
_COUNTS = frozenset("?*+{")
_BORDER = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|[()]")


def required(source: str) -> tuple[str, ...]:
    """Literals of which at least one stands in every text the expression matches; () when there is none."""
    found, _ = _alternatives(source, 0)
    return tuple(sorted(found)) if found and all(found) else ()


Needs = frozenset[str] | None


def _alternatives(s: str, i: int) -> tuple[Needs, int]:
    branches: list[Needs] = []
    best: Needs = None
    run = ""
    size = len(s)
    while i <= size:
        plain = _PLAIN.match(s, i)
        if plain is not None:  # many letters at once; the last one may be optional or repeated
            end = plain.end() - (s[plain.end() : plain.end() + 1] in _COUNTS)
            if end > i:
                run += s[i:end]
                i = end
                continue
        c = s[i] if i < size else ")"
        if c in "|)":
            branches.append(_better(best, run))
            best, run = None, ""
            if c == ")":
                break
            i += 1
            continue
        piece, literal, i = _piece(s, i)
        optional = i < len(s) and (s[i] in "?*" or s.startswith("{0", i))
        repeated = i < len(s) and (s[i] in "+{")
        if i < len(s) and (s[i] in "?*+{"):
            i = s.index("}", i) + 1 if s[i] == "{" else i + 1
            if i < len(s) and s[i] == "?":
                i += 1
        if literal and not optional:
            run += literal
            if repeated:
                best, run = _better(best, run), ""
            continue
        best, run = _better(best, run), ""
        if piece and not optional:
            best = piece if _worth(piece) > _worth(best) else best
    if any(not b for b in branches):
        return None, i + 1
    merged: set[str] = set()
    for b in branches:
        merged |= b or set()
    return frozenset(merged), i + 1


def _closed(s: str, i: int) -> int:
    """Where the group that opens at i ends."""
    depth = 0
    for m in _BORDER.finditer(s, i):
        depth += {"(": 1, ")": -1}.get(m[0], 0)
        if depth == 0:
            return m.end()
    return len(s)


@functools.lru_cache(maxsize=4096)
def _group(s: str) -> Needs:
    """What one group needs: the macros of a pack stand in hundreds of rules, and each is read once."""
    head = re.match(r"\((?:\?:|\?P<\w+>|\?=|\?!|\?<=|\?<!)?", s)
    start = head[0] if head else "("
    return None if start in ("(?=", "(?!", "(?<=", "(?<!") else _alternatives(s, len(start))[0]


def _piece(s: str, i: int) -> tuple[Needs, str, int]:
    c = s[i]
    if c == "(":
        end = _closed(s, i)
        return _group(s[i:end]), "", end
    if c == "[":
        j = s.index("]", i + 2)
        return None, "", j + 1
    if c == "\\":
        literal = s[i + 1] if not s[i + 1].isalnum() else ""
        return None, literal, i + 2
    if c in ".^$":
        return None, "", i + 1
    return None, c, i + 1


def _worth(needs: Needs) -> int:
    return min(map(len, needs)) * 100 - len(needs) if needs else -1


def _better(best: Needs, run: str) -> Needs:
    run = run.strip()
    if not run:
        return best
    mine = frozenset({run})
    return mine if _worth(mine) > _worth(best) else best
