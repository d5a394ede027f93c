"""Reading a pack from disk so that every mistake names its file and line. Pure but for the one read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Formatter

import yaml

from graphmem.errors import PackError
from graphmem.memory import Text2

YAML_SUFFIXES = (".yaml", ".yml")
TABLE_SUFFIXES = (".tsv", ".csv")
SECTIONS = ("keys", "concepts", "events")
"""Top-level fields of a YAML pack: ontology keys, lexicon concepts, events of the application."""

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def fail(file: str, line: int, detail: str, hint: str | None = None) -> PackError:
    """A PackError at that place, ready to raise. Lines count from 1."""
    return PackError(detail, file=file, line=line, hint=hint)


def read_text(path: Path) -> str:
    """The whole pack as text without a byte order mark. PackError: no such file, an unknown ending, not UTF-8, empty."""
    file = str(path)
    if path.suffix.lower() not in YAML_SUFFIXES + TABLE_SUFFIXES:
        raise fail(file, 1, f"a pack ends in one of {', '.join(YAML_SUFFIXES + TABLE_SUFFIXES)}")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise fail(file, 1, f"the pack cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise fail(file, line, "the pack is not UTF-8", hint="save the file as UTF-8") from error
    if not text.strip():
        raise fail(file, 1, "the pack is empty")
    return text


class Entry:
    """One YAML node with its place. Each reader returns the plain value or raises a PackError that says what is allowed."""

    __slots__ = ("file", "line", "node", "what")

    def __init__(self, file: str, node: yaml.Node, what: str) -> None:
        self.file = file
        self.node = node
        self.what = what
        self.line: int = node.start_mark.line + 1

    @property
    def short(self) -> str:
        """`what` without the things it is part of."""
        return self.what.partition(" of ")[0]

    def fail(self, detail: str, hint: str | None = None) -> PackError:
        return fail(self.file, self.line, detail, hint)

    def fields(self, allowed: Sequence[str] | None = None, required: Sequence[str] = ()) -> dict[str, Entry]:
        """A mapping's entries by name; refuses other shapes, unknown names, names given twice and missing ones."""
        if not isinstance(self.node, yaml.MappingNode):
            raise self.fail(f"{self.what} must be a mapping (name: value)")
        found: dict[str, Entry] = {}
        for name_node, value_node in self.node.value:
            name = Entry(self.file, name_node, f"a field name of {self.what}")
            key = name.text()
            if allowed is not None and key not in allowed:
                raise name.fail(f"unknown field {key!r} in {self.what}; allowed: {', '.join(allowed)}")
            if key in found:
                raise name.fail(f"{key!r} stands twice in {self.what}; keep one of them")
            found[key] = Entry(self.file, value_node, f"{key!r} of {self.short}")
        missing = [name for name in required if name not in found]
        if missing:
            raise self.fail(f"{self.what} lacks {', '.join(missing)}")
        return found

    def items(self) -> list[Entry]:
        """A list's entries in order."""
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.fail(f"{self.what} must be a list")
        return [Entry(self.file, node, f"entry {i} of {self.short}") for i, node in enumerate(self.node.value, 1)]

    def text(self) -> str:
        """A scalar as it is written, trimmed, never empty."""
        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value.strip():
            raise self.fail(f"{self.what} must be one piece of text")
        return str(self.node.value).strip()

    def texts(self) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(item.text() for item in self.items())

    def choice(self, allowed: Sequence[str]) -> str:
        value = self.text()
        if value not in allowed:
            raise self.fail(f"{self.what} is {value!r}; allowed: {', '.join(allowed)}")
        return value

    def flag(self) -> bool:
        return self.choice(("true", "false")) == "true"

    def text2(self, placeholders: Sequence[str] = ()) -> Text2:
        """`{zh: …, en: …}`; the placeholders in braces are checked."""
        fields = self.fields(("zh", "en"), required=("zh", "en"))
        for entry in fields.values():
            entry._check_placeholders(placeholders)
        return Text2(zh=fields["zh"].text(), en=fields["en"].text())

    def _check_placeholders(self, allowed: Sequence[str]) -> None:
        try:
            names = [name for _, name, _, _ in Formatter().parse(self.text()) if name is not None]
        except ValueError as error:
            raise self.fail(f"{self.what} has unbalanced braces") from error
        other = [name for name in names if name not in allowed]
        if other:
            said = ", ".join("{" + name + "}" for name in allowed) or "none"
            raise self.fail(f"{self.what} has the placeholder {{{other[0]}}}; allowed: {said}")


def read_yaml(path: Path) -> dict[str, Entry]:
    """The sections of a YAML pack. PackError: syntax, an unknown section, no section at all."""
    text = read_text(path)
    file = str(path)
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise fail(file, mark.line + 1 if mark else 1, f"this is not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise fail(file, 1, "this is not YAML that a pack can hold (control characters or too deep a nesting)") from error
    if node is None:
        raise fail(file, 1, "the pack is empty", hint=f"it needs one of {', '.join(SECTIONS)}")
    sections = Entry(file, node, "the pack").fields(SECTIONS)
    if not sections:
        raise fail(file, 1, "the pack is empty", hint=f"it needs one of {', '.join(SECTIONS)}")
    return sections
