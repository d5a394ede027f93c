"""Strays, the nouns of adoption: what somebody wrote past the service, what the caller knows of it, what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from graphmem.errors import InvalidInputError
from graphmem.importing.columns import names
from graphmem.importing.statements import Arity
from graphmem.memory import Kind
from graphmem.scope import Scope

_OURS = frozenset(
    "tenant_id user_id mid slot version status thing owner until ckey current_slot planned_slot pending_slot recorded_at observed_at"
    " expires_at retracted_at tombstoned_at decided_at outcome caption evidence prev_mid next_mid lifetime standing rowrev label"
    " owner_domain verified_by pending_from pending_to stated_from inset claims classed overruled".split()
)
"""Properties that the service works out itself: what somebody wrote there says nothing."""


@dataclass(frozen=True, slots=True)
class Stray:
    """One element written past the service: its element id, its user and kind where an edge says them, its properties."""

    ref: str
    user: str | None
    kind: Kind | None
    said: Mapping[str, object]


class Strays(Protocol):
    """Where strays are found and taken away."""

    def users(self, tenant: str) -> Iterator[tuple[str, int]]:
        """Users that have strays, and how many."""
        ...

    def page(self, scope: Scope, after: str, limit: int) -> list[Stray]: ...

    def homeless(self, tenant: str, after: str, limit: int) -> list[Stray]: ...

    def house(self, scope: Scope, homes: Sequence[tuple[str, Kind]]) -> None: ...

    def open(self, scope: Scope, refs: Sequence[str]) -> None:
        """Take the handles that somebody wrote from strays, so that none stands where a true one must."""
        ...

    def remove(self, scope: Scope, refs: Sequence[str], now: int) -> None: ...

    def drop(self, tenant: str, refs: Sequence[str]) -> None: ...


@dataclass(frozen=True, slots=True)
class AdoptAsk:
    """What the caller knows. user: of memories without one. arities: of keys outside the ontology. chosen: element ids that count where
    several values claim one place. zone: of times without offset. reject: what is still a question goes, into the file `rejects`.
    """

    user: str | None = None
    arities: Mapping[str, Arity] = field(default_factory=dict)
    chosen: frozenset[str] = frozenset()
    zone: str = "UTC"
    dry_run: bool = False
    reject: bool = False
    rejects: Path | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A stray that cannot be adopted yet: why, and the option that settles it."""

    ref: str
    user: str | None
    key: str
    value: str
    reason: str
    option: str


@dataclass(frozen=True, slots=True)
class Adopted:
    """What became of the strays. found = sum of the verdicts + asked + rejected; in a dry run `ready` ones have no verdict yet."""

    found: int
    verdicts: Mapping[str, int]
    asked: int
    rejected: int
    questions: tuple[Question, ...]
    seconds: float
    users: int = 0
    ready: int = 0
    dry_run: bool = False
    rejects: str | None = None


def fields_of(stray: Stray) -> dict[str, object]:
    """The properties that say something, by the fields they fill; a clause beside a value is only its words."""
    fields: dict[str, object] = {}
    for name, value in stray.said.items():
        if name.casefold() in _OURS or value is None or (name == "text" and "value" in stray.said):
            continue
        fields[names().get(name.casefold(), name)] = value
    return fields


def template(stray: Stray) -> dict[str, object]:
    """A rejected stray as a row of an import file."""
    return {**fields_of(stray), "user_id": stray.user, "kind": None if stray.kind is None else stray.kind.value, "_ref": stray.ref}


def arity_of(text: str) -> Arity:
    return "many" if text == "many" else "pole" if text == "pole" else "one"


def arities(pairs: Sequence[str]) -> dict[str, Arity]:
    """`KEY=one|many|pole` pairs. InvalidInputError for any other text."""
    found: dict[str, Arity] = {}
    for pair in pairs:
        key, sign, arity = pair.rpartition("=")
        if not sign or not key.strip() or arity not in ("one", "many", "pole"):
            raise InvalidInputError(f"'{pair}' gives no key an arity", field="arity", hint="write --arity KEY=one, many or pole.")
        found[key.strip()] = arity_of(arity)
    return found
