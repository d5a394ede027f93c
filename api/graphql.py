"""GraphQL at /graphql: credential first, then the limits, then the request in a thread of its own; what went wrong is masked."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Header, Request
from fastapi.routing import APIRoute
from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    NoSchemaIntrospectionCustomRule,
    execute,
    parse,
    specified_rules,
    validate,
)
from pydantic import Field, ValidationError
from starlette.responses import HTMLResponse, Response

from api.auth import Credential
from api.call import CREDENTIAL, NO_QUERY, Door, state_of
from api.cost import NESTING, TOKENS, check, nested
from api.envelope import REQUEST_ID
from api.errors import Problem, invalid, problem, problem_of
from api.loading import Context
from api.schema import whole
from api.service import STATIC
from api.types import Body
from api.words import Sound
from graphmem.errors import GraphmemError
from graphmem.settings import Settings

SOURCE = 1_000_000
"""Characters of a document."""

ERRORS = 20
"""Mistakes of one document that are told."""

PAGE = STATIC / "graphiql" / "page.html"
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Nothing may come from or go to another host; the page's style is partly inline."""

_log = logging.getLogger("graphmem.api")


class QueryIn(Body):
    """A GraphQL request over HTTP. Batches (lists) are refused, `extensions` are not looked at."""

    query: Annotated[Sound, Field(min_length=1)]
    variables: dict[str, Any] | None = None
    operationName: Sound | None = None  # noqa: N815 - the name GraphQL over HTTP gives it
    extensions: dict[str, Any] | None = None


class Refused(Exception):  # noqa: N818 - never leaves this module
    """A request of which nothing ran."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__("refused")
        self.errors = errors


def routes(settings: Settings) -> APIRouter:
    """POST /graphql. Introspection, suggestions and the page /graphiql only where the settings say so."""
    router = APIRouter(route_class=Door, include_in_schema=False)
    open_ = settings.graphql_introspection
    if open_:
        router.add_api_route("/graphiql", page, route_class_override=APIRoute)

    @router.post("/graphql", dependencies=NO_QUERY)
    def graphql(request: Request, body: QueryIn, x_graphmem_user: Annotated[str | None, Header()] = None) -> Response:
        context = _context(request, x_graphmem_user)
        trace = str(request.scope[REQUEST_ID])
        try:
            document = prepared(whole(), body.query, body.variables or {}, body.operationName, open_)
            result = run(whole(), document, context, body.variables, body.operationName, open_)
        except Refused as refused:
            return _answer({"errors": [told(e, trace) for e in refused.errors]}, 400)
        answer: dict[str, Any] = {"data": result.data}
        if result.errors:
            answer["errors"] = [told(e, trace) for e in result.errors]
        return _answer(answer, 200)

    return router


def page() -> HTMLResponse:
    """GraphiQL from our own files; it needs no credential and tells nothing, each request it sends carries one."""
    return HTMLResponse(PAGE.read_text(encoding="utf-8"), headers={"Content-Security-Policy": PAGE_POLICY})


def _context(request: Request, named: str | None) -> Context:
    """Who asks, for whom. A header that names another user than the token's is refused before anything is read."""
    state = state_of(request)
    credential: Credential = request.scope[CREDENTIAL]
    user = None if named is None else unquote_to_bytes(named.encode("latin-1", "replace")).decode("utf-8", "surrogateescape")
    context = Context(state.opener.graphmem(), credential, user, state.zone, state.max_text)
    if user is not None:
        context.scope  # noqa: B018 - refuses now
    return context


def prepared(schema: GraphQLSchema, query: str, variables: Mapping[str, Any], name: str | None, introspection: bool) -> DocumentNode:
    """The document, within every limit and valid; Refused with the reasons, before any resolver."""
    if nested(variables):
        raise Refused([GraphQLError(f"the variables hold more than {NESTING} levels")])
    try:
        document = parse(query, max_lexical_tokens=TOKENS, max_comments=TOKENS, max_source_length=SOURCE)
        check(schema, document, variables, name)
        rules = [*specified_rules, *([] if introspection else [NoSchemaIntrospectionCustomRule])]
        errors = validate(schema, document, rules, max_errors=ERRORS, hide_suggestions=not introspection)
    except GraphQLError as error:
        raise Refused([error]) from None
    except RecursionError:
        raise Refused([GraphQLError("the document is nested too deeply")]) from None
    if errors:
        raise Refused(errors)
    return document


def run(
    schema: GraphQLSchema,
    document: DocumentNode,
    context: Context,
    variables: Mapping[str, Any] | None = None,
    name: str | None = None,
    introspection: bool = False,
) -> ExecutionResult:
    """Executes a prepared document in this thread, which has no event loop: its own one serves the loaders alone."""

    async def within() -> ExecutionResult:
        found = execute(
            schema,
            document,
            context_value=context,
            variable_values=dict(variables or {}),
            operation_name=name,
            hide_suggestions=not introspection,
        )
        return found if isinstance(found, ExecutionResult) else await found

    result = asyncio.run(within())
    # variables that do not fit, an operation that is not there: nothing ran, and no data is promised
    if result.data is None and result.errors and all(e.path is None for e in result.errors):
        raise Refused(result.errors)
    return result


def told(error: GraphQLError, trace: str) -> dict[str, Any]:
    """An error as the caller may see it: deliberate ones with code and hint, the document's own as they are, all else masked."""
    cause = error.original_error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    if cause is None:
        return {**_place(error), "message": error.message, "extensions": {"code": "invalid_query", "traceId": trace}}
    found = _problem(cause, trace)
    fields = [{"field": e.field, "code": e.code, "message": e.message} for e in found.errors]
    extensions = {"code": found.code, "status": found.status, "hint": found.hint, "errors": fields, "traceId": trace}
    return {**_place(error), "message": found.detail, "extensions": extensions}


def _problem(cause: BaseException, trace: str) -> Problem:
    if isinstance(cause, GraphmemError):
        return problem_of(cause)
    if isinstance(cause, ValidationError):
        return invalid(cause.errors(include_url=False, include_input=False, include_context=False))
    lines = "".join(traceback.format_tb(cause.__traceback__))
    _log.error("request %s failed: %s\n%s", trace, type(cause).__name__, lines)
    return problem("internal", "Unexpected error")


def _place(error: GraphQLError) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if error.locations:
        found["locations"] = [{"line": at.line, "column": at.column} for at in error.locations]
    if error.path:
        found["path"] = error.path
    return found


def _answer(body: dict[str, Any], status: int) -> Response:
    """Characters that UTF-8 cannot hold are replaced: an error that repeats what was sent never fails itself."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    return Response(text.encode("utf-8", "replace"), status, headers={"Cache-Control": "no-store"}, media_type="application/json")


__all__ = ["QueryIn", "Refused", "prepared", "routes", "run", "told"]
