"""The one table of error codes → HTTP, and the problem details (RFC 9457) every refusal is told in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from graphmem.errors import (
    ConfigurationError,
    ConflictError,
    GraphmemError,
    InvalidInputError,
    NotFoundError,
    OverloadedError,
    PackError,
    QueryFileError,
    RefusedError,
    UnauthorizedError,
    UnavailableError,
)

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Row:
    """One code: HTTP status, title, and what the caller can do where the error itself gives no hint."""

    status: int
    title: str
    hint: str | None = None


TABLE: Mapping[str, Row] = {
    "malformed_json": Row(400, "The body is not JSON", "Send one JSON object, UTF-8, without NaN or Infinity."),
    "unauthorized": Row(401, "No valid credential", "Send `Authorization: Bearer <api key or token>`."),
    "refused_by_policy": Row(403, "Refused by policy"),
    "forbidden": Row(403, "Not allowed with this credential"),
    "not_owner": Row(403, "Another domain owns this memory"),
    "verification_required": Row(
        403, "A fresh proof of identity is needed", "Let the user prove who they are and send the proof in `proof`."
    ),
    "erased": Row(403, "This user was erased"),
    "not_found": Row(404, "Not found", "Check the id: foreign and unknown ids look the same."),
    "method_not_allowed": Row(405, "Method not allowed", "See the Allow header and /docs."),
    "conflict": Row(409, "Conflict", "Read the current state and decide again."),
    "version_conflict": Row(409, "The memory has another version by now", "Read it again and send the version you saw."),
    "idempotency_key_reused": Row(409, "The key was used for another request", "Take a new Idempotency-Key or turn_id."),
    "decided": Row(409, "Already decided"),
    "key_shape": Row(409, "The key has another kind or arity", "Use the kind and arity of its first use."),
    "precondition_failed": Row(412, "If-Match does not hold", "Read the memory again and send its new ETag."),
    "precondition_required": Row(428, "If-Match is needed", "Read the memory and send its ETag in If-Match."),
    "too_large": Row(413, "The body is too large", "Send less at once."),
    "text_too_long": Row(413, "The text is too long", "Split it into several turns."),
    "unsupported_media_type": Row(415, "The body must be JSON", "Send `Content-Type: application/json`."),
    "invalid_input": Row(422, "The input is not valid", "Correct the fields named in `errors`."),
    "no_source": Row(422, "No source, no memory", "Say where the statement comes from in `source`."),
    "error": Row(500, "Unexpected error", "Report the traceId."),
    "internal": Row(500, "Unexpected error", "Report the traceId."),
    "configuration": Row(500, "The service is not set up right", "Tell the operator the traceId; `graphmem doctor` says what to mend."),
    "bad_pack": Row(500, "The service is not set up right", "Tell the operator the traceId; `graphmem doctor` says what to mend."),
    "bad_query_file": Row(500, "The service is not set up right", "Tell the operator the traceId; `graphmem doctor` says what to mend."),
    "unavailable": Row(503, "A store does not answer", "Try again after the seconds of Retry-After."),
    "overloaded": Row(503, "Too much work at once", "Try again after the seconds of Retry-After; nothing was done."),
}
"""Every code that may be answered. A code of no row is answered as its class (CLASSES)."""

CLASSES: Sequence[tuple[type[GraphmemError], str]] = (
    (PackError, "bad_pack"),
    (QueryFileError, "bad_query_file"),
    (InvalidInputError, "invalid_input"),
    (NotFoundError, "not_found"),
    (ConflictError, "conflict"),
    (UnauthorizedError, "unauthorized"),
    (RefusedError, "refused_by_policy"),
    (ConfigurationError, "configuration"),
    (OverloadedError, "overloaded"),
    (UnavailableError, "unavailable"),
    (GraphmemError, "error"),
)
"""Special before general: the first class that fits gives the row of a code the table does not know."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that is wrong: its path with slashes (`source/ref`), a stable code, words."""

    field: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One refusal, ready to be told.

    page is the row of the table behind `type`; more are extension members (`maximum`, `current`); headers go beside the body.
    """

    code: str
    page: str
    status: int
    title: str
    detail: str
    errors: tuple[FieldError, ...] = ()
    hint: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, object] = field(default_factory=dict)

    def body(self, instance: str, trace: str) -> dict[str, Any]:
        """The members of api.md, in its order."""
        return {
            "type": f"/errors/{self.page}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": instance,
            "code": self.code,
            "errors": [{"field": e.field, "code": e.code, "message": e.message} for e in self.errors],
            "hint": self.hint,
            "traceId": trace,
            **self.more,
        }


def row_code(error: GraphmemError) -> str:
    """The code of the error's row: its own where the table has it, else its class's."""
    if error.code in TABLE:
        return error.code
    return next(code for kind, code in CLASSES if isinstance(error, kind))


def problem_of(error: GraphmemError) -> Problem:
    """A deliberate error in HTTP words. What is wrong with the service itself (5xx but 503) is told without its text."""
    page = row_code(error)
    row = TABLE[page]
    masked = row.status == 500
    return Problem(
        code=page if masked else error.code,
        page=page,
        status=row.status,
        title=row.title,
        detail=row.title if masked else error.detail,
        errors=_fields(error),
        hint=row.hint if masked else error.hint or row.hint,
        headers=_headers(error),
        more=_more(error),
    )


def problem(code: str, detail: str, *, errors: Iterable[FieldError] = (), headers: Mapping[str, str] | None = None) -> Problem:
    """A problem of the door itself, by its code in the table."""
    row = TABLE[code]
    return Problem(code, code, row.status, row.title, detail, tuple(errors), row.hint, headers or {})


def too_long(field: str, length: int, maximum: int) -> InvalidInputError:
    """413 with the documented maximum; nothing was stored."""
    return TextTooLongError(f"{field} has {length} characters; the maximum is {maximum}", field=field, maximum=maximum)


class TextTooLongError(InvalidInputError):
    """A text above the service's maximum (characters)."""

    code = "text_too_long"

    def __init__(self, detail: str, *, field: str, maximum: int) -> None:
        super().__init__(detail, field=field)
        self.maximum = maximum


def _fields(error: GraphmemError) -> tuple[FieldError, ...]:
    if isinstance(error, InvalidInputError) and error.field is not None:
        return (FieldError(error.field, error.code, error.detail),)
    return ()


def _headers(error: GraphmemError) -> dict[str, str]:
    if isinstance(error, UnavailableError):
        return {"Retry-After": str(max(1, error.retry_after))}
    if isinstance(error, UnauthorizedError):
        return {"WWW-Authenticate": "Bearer"}
    return {}


def _more(error: GraphmemError) -> dict[str, object]:
    if isinstance(error, ConflictError) and error.current is not None:
        return {"current": error.current}
    if isinstance(error, TextTooLongError):
        return {"maximum": error.maximum}
    return {}


_PYDANTIC = {
    "missing": "missing",
    "extra_forbidden": "unknown_field",
    "string_type": "wrong_type",
    "string_unicode": "lone_surrogate",
    "list_type": "wrong_type",
    "dict_type": "wrong_type",
    "model_type": "wrong_type",
    "model_attributes_type": "wrong_type",
    "bool_type": "wrong_type",
    "int_type": "wrong_type",
    "float_type": "wrong_type",
    "enum": "unknown_value",
    "literal_error": "unknown_value",
    "string_too_long": "too_long",
    "string_too_short": "too_short",
    "too_long": "too_long",
}
_PLACES = frozenset({"body", "query", "path", "header"})


def field_errors(errors: Iterable[Mapping[str, Any]]) -> tuple[FieldError, ...]:
    """Validation errors of pydantic as fields; what was sent is not repeated."""
    told = []
    for error in errors:
        loc = tuple(error["loc"])
        loc = loc[1:] if loc and loc[0] in _PLACES else loc
        path = "/".join(str(part)[:128] for part in loc)
        told.append(FieldError(path, _PYDANTIC.get(error["type"], error["type"]), error["msg"]))
    return tuple(told)


def invalid(errors: Iterable[Mapping[str, Any]]) -> Problem:
    """422 of a request that does not fit the contract, field by field."""
    fields = field_errors(errors)
    names = ", ".join(f.field or "the body" for f in fields[:5])
    return problem("invalid_input", f"not valid: {names}", errors=fields)


def response(told: Problem, *, instance: str, trace: str) -> Response:
    """The problem as an answer. Characters that UTF-8 cannot hold are replaced, so that a refusal never fails itself."""
    text = json.dumps(told.body(instance, trace), ensure_ascii=False)
    return Response(text.encode("utf-8", "replace"), told.status, headers=dict(told.headers), media_type=MEDIA_TYPE)
