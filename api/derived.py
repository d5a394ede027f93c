"""Types of the GraphQL schema from what declares their fields already: the façade's answers, and the bodies that REST reads.

What a schema type calls otherwise, leaves out or works out is written in the class; its snapshot is api/schema.graphql.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from inspect import get_annotations
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Optional,
    Protocol,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import strawberry
from pydantic import BaseModel
from strawberry.scalars import JSON

T = TypeVar("T")


class Decorate(Protocol):
    """A decorator of any class."""

    def __call__(self, cls: type[T], /) -> type[T]: ...


TYPES: dict[Any, Any] = {}
"""What a value of the façade, or a body, is called in the schema. Parts come before the wholes that hold them."""


@dataclass_transform(kw_only_default=True)
def shows(value: type, description: str | None = None, leave: tuple[str, ...] = (), make: Any = strawberry.type) -> Decorate:
    """An object type with the fields of a frozen value in their order, but for those of `leave`; the class adds its own behind them."""

    def decorate(cls: type[T]) -> type[T]:
        hints = get_type_hints(value)
        _declare(cls, {f.name: _graphql(hints[f.name]) for f in fields(cast(Any, value)) if f.name not in leave})
        return _named(value, make(cls, description=description))

    return decorate


@dataclass_transform(kw_only_default=True)
def takes(body: type[BaseModel], description: str | None = None) -> Decorate:
    """An input type with the fields of a body in their order; what need not be sent may be left out, which is not the same as null."""

    def decorate(cls: type[T]) -> type[T]:
        declared: dict[str, Any] = {}
        for name, given in body.model_fields.items():
            kind = _graphql(given.annotation)
            needed = given.is_required() and type(None) not in get_args(kind)
            declared[name] = kind if needed else Optional[kind]  # noqa: UP045 - the kind is known only now
            if not needed:
                setattr(cls, name, strawberry.UNSET)
        _declare(cls, declared)
        return _named(body, strawberry.input(cls, description=description))

    return decorate


def made(cls: type[T], value: object, **other: Any) -> T:
    """A `cls` of the attributes of a value that carry its field names; `other` gives those that do not."""
    found = {f.name: getattr(value, f.name) for f in fields(cast(Any, cls)) if f.init and f.name not in other}
    return cls(**found, **other)


def _declare(cls: type, declared: dict[str, Any]) -> None:
    cls.__annotations__ = {**declared, **get_annotations(cls)}


def _named(value: Any, cls: type[T]) -> type[T]:
    TYPES[value] = cls
    return cls


def _graphql(hint: Any) -> Any:
    """A type of Python in the words of the schema: literals are texts, tuples lists, mappings JSON."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _graphql(parts[0])
    if origin is Literal:
        return str
    if origin in (Union, UnionType):
        return Union[tuple(map(_graphql, parts))]  # noqa: UP007 - of parts that are known only now
    if origin in (list, tuple):
        return list[_graphql(parts[0])]  # type: ignore[misc]
    if origin in (dict, Mapping):
        return JSON
    return TYPES.get(hint, hint)


__all__ = ["made", "shows", "takes"]
