"""GraphQL subscriptions over a web socket: the protocol graphql-transport-ws, and no other. Queries and mutations go by POST."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any
from uuid import uuid4

import anyio.to_thread
from graphql import ExecutionResult, GraphQLError
from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from api.auth import LEEWAY_SECONDS, Credential
from api.call import State
from api.graphql import QueryIn, Refused, context_of, events_of, prepared, run, told
from api.loading import Context
from api.schema import whole
from graphmem.errors import GraphmemError, UnauthorizedError, UnavailableError

PROTOCOL = "graphql-transport-ws"

INIT_SECONDS = 10.0
"""How long a socket may stay without `connection_init`."""

MESSAGE = 1_000_000
"""Characters of one message."""

ID_MAX = 128
"""Characters of an operation's id."""

OPERATIONS = 30
"""Operations that have begun on one socket and not ended; those above LIVE_USER are about to be refused."""

BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, UNACCEPTABLE, LATE, DOUBLE, TWICE = 4400, 4401, 4403, 4406, 4408, 4409, 4429
"""Close codes of the protocol."""

AWAY = 1013
"""A store is away."""


class Closing(Exception):  # noqa: N818 - never leaves this module
    """The socket is to be closed with this code and these words."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class Socket:
    """One connection: its credential and the operations that run on it."""

    def __init__(self, socket: WebSocket, state: State, introspection: bool) -> None:
        self._socket, self._state, self._introspection = socket, state, introspection
        self._sending = asyncio.Lock()
        self._operations: dict[str, asyncio.Task[None]] = {}
        self._credential: Credential | None = None
        self._user: str | None = None

    async def serve(self) -> None:
        """Until either side ends it. Nothing runs on after it."""
        if PROTOCOL not in self._socket.scope.get("subprotocols", ()):
            await self._socket.accept()
            await self._socket.close(UNACCEPTABLE, "Subprotocol not acceptable")
            return
        await self._socket.accept(subprotocol=PROTOCOL)
        try:
            await self._listen()
        except Closing as closing:
            await self._end()
            await self._socket.close(closing.code, closing.reason)
        except WebSocketDisconnect:
            pass
        finally:
            await self._end()

    async def _listen(self) -> None:
        try:
            async with asyncio.timeout(INIT_SECONDS):
                while self._credential is None:
                    await self._before(await self._message())
        except TimeoutError:
            raise Closing(LATE, "Connection initialisation timeout") from None
        try:
            async with asyncio.timeout(self._left()):
                while True:
                    await self._after(await self._message())
        except TimeoutError:
            await self._expired()
            raise Closing(FORBIDDEN, "Forbidden: the token has expired") from None

    def _left(self) -> float | None:
        """Seconds until the token expires; None for an API key."""
        until = self._credential.expires_at if self._credential is not None else None
        return None if until is None else max(0.0, until + LEEWAY_SECONDS - time.time())

    async def _message(self) -> dict[str, Any]:
        try:
            text = await self._socket.receive_text()
        except KeyError:
            raise Closing(BAD_REQUEST, "Messages are text") from None
        try:
            found = json.loads(text) if len(text) <= MESSAGE else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or not isinstance(found.get("type"), str):
            raise Closing(BAD_REQUEST, "Invalid message")
        return found

    async def _before(self, message: Mapping[str, Any]) -> None:
        match message["type"]:
            case "connection_init":
                await self._admit(message.get("payload"))
                await self._send({"type": "connection_ack"})
            case "ping":
                await self._send({"type": "pong"})
            case "pong":
                pass
            case "subscribe":
                raise Closing(UNAUTHORIZED, "Unauthorized")
            case _:
                raise Closing(BAD_REQUEST, "Invalid message")

    async def _after(self, message: Mapping[str, Any]) -> None:
        match message["type"]:
            case "connection_init":
                raise Closing(TWICE, "Too many initialisation requests")
            case "ping":
                await self._send({"type": "pong"})
            case "pong":
                pass
            case "subscribe":
                self._begin(message)
            case "complete":
                await self._cancel(message.get("id"))
            case _:
                raise Closing(BAD_REQUEST, "Invalid message")

    # --- who asks

    async def _admit(self, payload: object) -> None:
        """The credential of the handshake's headers or of `payload`, and the user it is for; two that differ are refused."""
        if payload is not None and not isinstance(payload, dict):
            raise Closing(BAD_REQUEST, "Invalid message")
        given = {str(k).lower(): v for k, v in (payload or {}).items()}
        authorization = self._named("authorization", given)
        user = self._named("x-graphmem-user", given)
        try:
            credential = self._state.keyring.credential(authorization)
            # in a thread: the façade may have to be opened first
            await anyio.to_thread.run_sync(lambda: context_of(self._state, credential, user).scope)
        except UnavailableError:
            raise Closing(AWAY, "Try again later") from None
        except GraphmemError:
            raise Closing(FORBIDDEN, "Forbidden") from None
        self._credential, self._user = credential, user

    def _named(self, name: str, given: Mapping[str, object]) -> str | None:
        sent = self._socket.headers.get(name)
        said = given.get(name)
        if said is not None and not isinstance(said, str):
            raise Closing(BAD_REQUEST, "Invalid message")
        if sent is not None and said is not None and sent != said:
            raise Closing(FORBIDDEN, "Forbidden")
        return sent if said is None else said

    def _context(self) -> Context:
        if self._credential is None:
            raise UnauthorizedError("no bearer credential was sent")
        return context_of(self._state, self._credential, self._user)

    # --- operations

    def _begin(self, message: Mapping[str, Any]) -> None:
        name = message.get("id")
        if not isinstance(name, str) or not 1 <= len(name) <= ID_MAX:
            raise Closing(BAD_REQUEST, "Invalid message")
        try:
            body = QueryIn.model_validate(message.get("payload"))
        except ValidationError:
            raise Closing(BAD_REQUEST, "Invalid message") from None
        if name in self._operations:
            raise Closing(DOUBLE, "Subscriber for this id already exists")
        if len(self._operations) >= OPERATIONS:
            raise Closing(BAD_REQUEST, "Too many operations")
        self._operations[name] = asyncio.create_task(self._operate(name, body))

    async def _operate(self, name: str, body: QueryIn) -> None:
        trace = uuid4().hex
        try:
            await self._stream(name, body, trace)
        except Refused as refused:
            await self._error(name, refused.errors, trace)
        except Exception as fault:
            await self._error(name, [GraphQLError("ended", original_error=fault)], trace)
        finally:
            self._operations.pop(name, None)

    async def _stream(self, name: str, body: QueryIn, trace: str) -> None:
        variables, schema = body.variables or {}, whole()

        def read() -> Any:
            return prepared(schema, body.query, variables, body.operationName, self._introspection, live=True)

        document = await anyio.to_thread.run_sync(read)
        context = await anyio.to_thread.run_sync(self._context)
        async with aclosing(await events_of(schema, document, context, variables, body.operationName)) as events:
            async for event in events:

                def tell(event: Any = event) -> ExecutionResult:
                    return run(schema, document, self._context(), variables, body.operationName, self._introspection, event)

                await self._next(name, await anyio.to_thread.run_sync(tell), trace)
        await self._send({"id": name, "type": "complete"})

    async def _next(self, name: str, result: ExecutionResult, trace: str) -> None:
        payload: dict[str, Any] = {"data": result.data}
        if result.errors:
            payload["errors"] = [told(e, trace) for e in result.errors]
        await self._send({"id": name, "type": "next", "payload": payload})

    async def _error(self, name: str, errors: list[GraphQLError], trace: str) -> None:
        await self._send({"id": name, "type": "error", "payload": [told(e, trace) for e in errors]})

    async def _expired(self) -> None:
        """Each operation is told why it ends."""
        names = list(self._operations)
        await self._end()
        fault = GraphQLError("ended", original_error=UnauthorizedError("the token has expired", hint="Connect again with a new token."))
        for name in names:
            await self._error(name, [fault], uuid4().hex)

    async def _cancel(self, name: object) -> None:
        if isinstance(name, str) and (task := self._operations.pop(name, None)) is not None:
            await _stopped([task])

    async def _end(self) -> None:
        tasks = list(self._operations.values())
        self._operations.clear()
        await _stopped(tasks)

    async def _send(self, message: Mapping[str, Any]) -> None:
        """Characters that UTF-8 cannot hold are replaced. A socket that is gone takes nothing more."""
        text = json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace").decode()
        async with self._sending:
            try:
                await self._socket.send_text(text)
            except (RuntimeError, WebSocketDisconnect):
                return


async def _stopped(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


__all__ = ["PROTOCOL", "Socket"]
