"""Which characters a regular expression can begin with: at each place of a text only the patterns that can match there are tried."""

from __future__ import annotations

_LOOKS = ("(?=", "(?!", "(?<=", "(?<!")


def first_characters(pattern: str) -> frozenset[str] | None:
    """Every character a match can begin with; None where it may be empty or begin with a shape this reader does not know.

    Knows literals, escapes of punctuation, classes with ranges, groups, alternatives, `?` and lookarounds.
    """
    found: set[str] = set()
    for branch in _branches(pattern):
        one = _first_of_branch(branch)
        if one is None:
            return None
        found |= one
    return frozenset(found)


def _branches(pattern: str) -> list[str]:
    """Cut at the `|` of the outermost level."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(pattern):
        c = pattern[i]
        if c == "\\":
            i += 1
        elif c == "[":
            i = _class_end(pattern, i)
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
        elif c == "|" and depth == 0:
            parts.append(pattern[start:i])
            start = i + 1
        i += 1
    return [*parts, pattern[start:]]


def _class_end(pattern: str, i: int) -> int:
    i += 2 if pattern[i + 1 : i + 2] == "^" else 1
    i += 1 if pattern[i : i + 1] == "]" else 0
    while pattern[i] != "]":
        i += 2 if pattern[i] == "\\" else 1
    return i


def _group_end(pattern: str, i: int) -> int:
    depth = 0
    while True:
        c = pattern[i]
        if c == "\\":
            i += 1
        elif c == "[":
            i = _class_end(pattern, i)
        elif c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth == 0:
                return i
        i += 1


def _first_of_branch(branch: str) -> set[str] | None:
    found: set[str] = set()
    i = 0
    while i < len(branch):
        piece, end = _piece(branch, i)
        if piece is None:
            if end < 0:
                return None
            i = end
            continue
        found |= piece
        if branch[end : end + 1] not in ("?", "*"):
            return found
        i = end + 1
    return None


def _piece(branch: str, i: int) -> tuple[set[str] | None, int]:
    """First characters of the piece at i and where it ends; (None, end) for a lookaround, (None, -1) for an unknown shape."""
    c = branch[i]
    if c == "(":
        end = _group_end(branch, i) + 1
        if branch.startswith(_LOOKS, i):
            return None, end
        inner = branch[branch.index(">", i) + 1 : end - 1] if branch.startswith("(?P<", i) else branch[i + 3 : end - 1]
        if all(b.startswith(_LOOKS) and _group_end(b, 0) == len(b) - 1 for b in _branches(inner)):
            return None, end
        first = first_characters(inner) if branch.startswith(("(?:", "(?P<"), i) else None
        return (None, -1) if first is None else (set(first), end)
    if c == "[":
        end = _class_end(branch, i)
        return (None, -1) if branch[i + 1] == "^" else (_class(branch[i + 1 : end]), end + 1)
    if c == "\\":
        return (None, -1) if branch[i + 1].isalnum() else ({branch[i + 1]}, i + 2)
    return (None, -1) if c in ".^$*+?" else ({c}, i + 1)


def _class(body: str) -> set[str]:
    found: set[str] = set()
    i = 0
    while i < len(body):
        if body[i] == "\\":
            i += 1
        if body[i + 1 : i + 2] == "-" and i + 2 < len(body):
            found |= {chr(c) for c in range(ord(body[i]), ord(body[i + 2]) + 1)}
            i += 3
        else:
            found.add(body[i])
            i += 1
    return found
