"""GraphQL at /graphql: credential first, then the limits, then the request in a thread of its own; what went wrong is masked."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import AsyncGenerator, Mapping
from inspect import isawaitable
from typing import Annotated, Any, cast
from urllib.parse import unquote_to_bytes

from fastapi import APIRouter, Header, Request
from fastapi.routing import APIRoute
from graphql import (
    DocumentNode,
    ExecutionResult,
    Executor,
    GraphQLError,
    GraphQLSchema,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
    OperationType,
    create_source_event_stream,
    execute,
    parse,
    specified_rules,
    validate,
)
from pydantic import Field, ValidationError
from starlette.responses import HTMLResponse, Response
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from api.auth import Credential
from api.call import CREDENTIAL, NO_QUERY, Door, State, state_of
from api.cost import NESTING, TOKENS, check, nested
from api.envelope import REQUEST_ID
from api.errors import Problem, invalid, problem, problem_of
from api.loading import Context
from api.schema import whole
from api.service import STATIC
from api.types import Body
from api.words import Sound
from api.words_zh import SAID, said
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


def live(settings: Settings) -> WebSocketRoute:
    """The web socket at /graphql, for subscriptions: graphql-transport-ws."""

    async def serve(socket: WebSocket) -> None:
        from api.sockets import Socket

        await Socket(socket, socket.app.state.graphmem, settings.graphql_introspection).serve()

    return WebSocketRoute("/graphql", serve)


def page() -> HTMLResponse:
    """GraphiQL from our own files; it needs no credential and tells nothing, each request it sends carries one."""
    return HTMLResponse(PAGE.read_text(encoding="utf-8"), headers={"Content-Security-Policy": PAGE_POLICY})


def _context(request: Request, named: str | None) -> Context:
    """Who asks, for whom. A header that names another user than the token's is refused before anything is read."""
    context = context_of(state_of(request), request.scope[CREDENTIAL], named)
    if named is not None:
        context.scope  # noqa: B018 - refuses now
    return context


def context_of(state: State, credential: Credential, named: str | None) -> Context:
    """One request of this credential; `named` is the user of X-Graphmem-User as it was sent, percent-encoded."""
    user = None if named is None else unquote_to_bytes(named.encode("latin-1", "replace")).decode("utf-8", "surrogateescape")
    return Context(state.opener.graphmem(), credential, user, state.zone, state.max_text, state.live)


def prepared(
    schema: GraphQLSchema, query: str, variables: Mapping[str, Any], name: str | None, introspection: bool, *, live: bool = False
) -> DocumentNode:
    """The document, within every limit and valid; Refused with the reasons, before any resolver.

    live: only subscriptions are taken (web socket), else none of them (POST).
    """
    if nested(variables):
        raise Refused([GraphQLError(f"the variables hold more than {NESTING} levels")])
    try:
        document = parse(query, max_lexical_tokens=TOKENS, max_comments=TOKENS, max_source_length=SOURCE)
        _by_its_door(document, live)
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


def _by_its_door(document: DocumentNode, live: bool) -> None:
    for operation in document.definitions:
        if isinstance(operation, OperationDefinitionNode) and (operation.operation is OperationType.SUBSCRIPTION) is not live:
            here = "a subscription needs a web socket (graphql-transport-ws)" if not live else "queries and mutations go by POST /graphql"
            raise GraphQLError(here, operation)


async def events_of(
    schema: GraphQLSchema, document: DocumentNode, context: Context, variables: Mapping[str, Any], name: str | None
) -> AsyncGenerator[Any, None]:
    """The events of a prepared subscription, in this loop; Refused where variables do not fit."""
    built = Executor.build(
        schema, document, context_value=context, raw_variable_values=dict(variables), operation_name=name, hide_suggestions=True
    )
    if isinstance(built, list):
        raise Refused(built)
    found = create_source_event_stream(built)
    stream = await found if isawaitable(found) else found
    if isinstance(stream, ExecutionResult):
        raise Refused(stream.errors or [])
    return cast("AsyncGenerator[Any, None]", stream)


def run(
    schema: GraphQLSchema,
    document: DocumentNode,
    context: Context,
    variables: Mapping[str, Any] | None = None,
    name: str | None = None,
    introspection: bool = False,
    event: object = None,
) -> ExecutionResult:
    """Executes a prepared document in this thread, which has no event loop: its own one serves the loaders alone.

    event: what a subscription is about to tell.
    """

    async def within() -> ExecutionResult:
        found = execute(
            schema,
            document,
            root_value=event,
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
        return _error(error, error.message, {"code": "invalid_query", "status": 400, "messageZh": SAID["invalid_query"]}, trace)
    found = _problem(cause, trace)
    fields = [{"field": e.field, "code": e.code, "message": e.message} for e in found.errors]
    more = {"code": found.code, "status": found.status, "messageZh": said(found), "hint": found.hint, "errors": fields}
    return _error(error, found.detail, more, trace)


def _error(error: GraphQLError, message: str, more: Mapping[str, object], trace: str) -> dict[str, Any]:
    return {**_place(error), "message": message, "extensions": {**more, "traceId": trace}}


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


__all__ = ["QueryIn", "Refused", "context_of", "events_of", "prepared", "routes", "run", "told"]
