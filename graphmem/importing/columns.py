"""Which field a column fills: by its own name, a known other name (packs/columns.yaml) or the caller's `--map`. Pure but for the pack."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import yaml

from graphmem.errors import InvalidInputError

PACK = Path(__file__).resolve().parent.parent / "packs" / "columns.yaml"

NOTE = "_"
"""Columns that begin so are remarks of an earlier rejects file and are not read."""


@cache
def names() -> Mapping[str, str]:
    """Folded column name → field."""
    found: dict[str, str] = {}
    for field, others in yaml.safe_load(PACK.read_text(encoding="utf-8")).items():
        for name in (field, *others):
            found[folded(str(name))] = str(field)
    return found


def fields() -> tuple[str, ...]:
    """The fields a column can fill."""
    return tuple(dict.fromkeys(names().values()))


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """How names are compared: no byte-order mark, no case, no space around, inner spaces and dashes as '_'."""
    text = unicodedata.normalize("NFKC", name).replace("\ufeff", "").strip().casefold()
    return re.sub(r"[\s\-]+", "_", text)


@dataclass(frozen=True, slots=True)
class Mapped:
    """Where each column goes: `targets` has a field, "" for what is not read, or `+name` for what is kept as metadata."""

    targets: tuple[str, ...]
    kept: tuple[str, ...]


def mapping(pairs: Sequence[str]) -> dict[str, str]:
    """`column=field` pairs → folded column → field. InvalidInputError for what is no pair or no field."""
    found: dict[str, str] = {}
    for pair in pairs:
        column, sign, field = pair.rpartition("=")
        field = field.strip()
        if not sign or not column.strip() or field not in fields():
            hint = f"write --map COLUMN=FIELD with FIELD one of {', '.join(fields())}."
            raise InvalidInputError(f"'{pair}' maps no column to a field", field="map", hint=hint)
        found[folded(column)] = field
    return found


def column_of(field: str, written: Iterable[str], given: Mapping[str, str]) -> str:
    """What a row calls the column that fills a field; the field itself where it has none."""
    for column in written:
        name = folded(column)
        if (given.get(name) or names().get(name)) == field:
            return column.strip()
    return field


def header(columns: Sequence[str], given: Mapping[str, str]) -> Mapped:
    """What each column of a header fills. A name twice, or two columns for one field, is refused by name: one would silently win."""
    seen: dict[str, str] = {}
    for column in columns:
        name = folded(column)
        if name and name in seen:
            raise InvalidInputError(
                f"the column '{column.strip()}' stands twice in the header ('{seen[name]}' and '{column}')",
                field=column.strip(),
                code="repeated_column",
                hint="rename one of them; nothing was imported.",
            )
        seen[name] = column
    if missing := [name for name in given if name not in seen]:
        raise InvalidInputError(f"--map names the column '{missing[0]}', which is not in the header", field="map")
    return _targets(columns, given)


def _targets(columns: Sequence[str], given: Mapping[str, str]) -> Mapped:
    chosen = set(given.values())
    targets: list[str] = []
    for column in columns:
        name = folded(column)
        if not name or name.startswith(NOTE):
            targets.append("")
        elif name in given:
            targets.append(given[name])
        elif (field := names().get(name)) is not None and field not in chosen:
            targets.append(field)
        else:
            targets.append(f"+{column.strip()}")
    for field in fields():
        rivals = [c.strip() for c, t in zip(columns, targets, strict=True) if t == field]
        if len(rivals) > 1:
            raise InvalidInputError(
                f"the columns {', '.join(repr(r) for r in rivals)} both mean {field}",
                field=rivals[1],
                code="repeated_column",
                hint=f"say which one with --map COLUMN={field}; nothing was imported.",
            )
    return Mapped(tuple(targets), tuple(t[1:] for t in targets if t.startswith("+")))
