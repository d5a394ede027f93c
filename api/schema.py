"""The GraphQL schema: queries, mutations and the subscription put together; its snapshot is api/schema.graphql."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from typing import Any

import strawberry
from graphql import GraphQLError, GraphQLSchema
from pydantic import TypeAdapter, ValidationError
from strawberry.extensions import SchemaExtension
from strawberry.schema.config import StrawberryConfig

from api.mutations import Ending, Hearing, Settling
from api.nodes import CLASSES
from api.proving import Proving
from api.queries import OwnQuery
from api.subscriptions import Subscription
from api.tenantwide import TenantQuery
from api.words import Moment, stamp


@strawberry.type
class Query(OwnQuery, TenantQuery):
    pass


@strawberry.type
class Mutation(Hearing, Settling, Ending, Proving):
    pass


_MOMENT: TypeAdapter[datetime] = TypeAdapter(Moment)


def _moment(value: object) -> datetime:
    try:
        return _MOMENT.validate_python(value)
    except ValidationError:
        raise GraphQLError("a time is ISO 8601 text, as 2024-07-15T10:00:00+08:00") from None


SCALARS: Any = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="ISO 8601. Answers are in UTC with milliseconds; a time without an offset is read in the tenant's zone.",
        serialize=stamp,
        parse_value=_moment,
    )
}


def make_schema(extensions: Iterable[type[SchemaExtension] | Callable[[], SchemaExtension]] = ()) -> strawberry.Schema:
    """The schema, with extensions for tests."""
    return strawberry.Schema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        types=list(CLASSES.values()),
        extensions=list(extensions),
        config=StrawberryConfig(scalar_map=SCALARS, disable_field_suggestions=True),
    )


@cache
def whole() -> GraphQLSchema:
    """The schema that requests run on."""
    return core(make_schema())


def core(schema: strawberry.Schema) -> GraphQLSchema:
    """What graphql-core executes."""
    return schema._schema


__all__ = ["Mutation", "Query", "core", "make_schema", "whole"]
