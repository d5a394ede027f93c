"""The one table of error codes → HTTP, and the problem details (RFC 9457) every refusal is told in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from api.language import Language
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
from graphmem.refusals import Refusal, field_words, refusals

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Row:
    """One code: its HTTP status, and what it says to people (packs/errors.yaml)."""

    status: int
    text: Refusal

    @property
    def title(self) -> str:
        return self.text.title.en

    @property
    def hint(self) -> str:
        """What the caller can do where the error itself gives no hint."""
        return self.text.do.en


STATUSES: Mapping[str, int] = {
    "malformed_json": 400,
    "invalid_query": 400,
    "unauthorized": 401,
    "refused_by_policy": 403,
    "forbidden": 403,
    "not_owner": 403,
    "verification_required": 403,
    "erased": 403,
    "not_found": 404,
    "method_not_allowed": 405,
    "conflict": 409,
    "version_conflict": 409,
    "idempotency_key_reused": 409,
    "decided": 409,
    "key_shape": 409,
    "precondition_failed": 412,
    "too_large": 413,
    "text_too_long": 413,
    "unsupported_media_type": 415,
    "invalid_input": 422,
    "no_source": 422,
    "precondition_required": 428,
    "rate_limited": 429,
    "error": 500,
    "internal": 500,
    "configuration": 500,
    "bad_pack": 500,
    "bad_query_file": 500,
    "unavailable": 503,
    "overloaded": 503,
}

TABLE: Mapping[str, Row] = {code: Row(status, refusals()[code]) for code, status in STATUSES.items()}
"""Every code with a status of its own. Another code is answered as its class (CLASSES); its words are its own where it has some."""

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

    def said(self, language: Language) -> str:
        """The words in that language; a code without Chinese ones keeps its own."""
        return field_words().get(self.code, self.message) if language == "zh" else self.message


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom a problem is told to: which request it answers, and in which language."""

    instance: str
    trace: str
    language: Language = "en"


@dataclass(frozen=True, slots=True)
class Problem:
    """One refusal, ready to be told.

    page is the documented code behind `type`; more are extension members (`maximum`, `current`); headers go beside the body.
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

    def body(self, to: Reader) -> dict[str, Any]:
        """The members of api.md, in its order."""
        zh = to.language == "zh"
        text = refusals()[self.page]
        return {
            "type": f"/errors/{self.page}",
            "title": text.title.zh if zh else self.title,
            "status": self.status,
            "detail": self._detail(text) if zh else self.detail,
            "instance": to.instance,
            "code": self.code,
            "errors": [{"field": e.field, "code": e.code, "message": e.said(to.language)} for e in self.errors],
            "hint": text.do.zh if zh else self.hint,
            "traceId": to.trace,
            **self.more,
        }

    def _detail(self, text: Refusal) -> str:
        """In Chinese: the sentence of the code, then the detail as the service words it."""
        return text.title.zh if self.detail == self.title else f"{text.title.zh}：{self.detail}"


def row_code(error: GraphmemError) -> str:
    """The code of the error's row: its own where the table has it, else its class's."""
    if error.code in TABLE:
        return error.code
    return next(code for kind, code in CLASSES if isinstance(error, kind))


def problem_of(error: GraphmemError) -> Problem:
    """A deliberate error in HTTP words. What is wrong with the service itself (5xx but 503) is told without its text."""
    known = row_code(error)
    row = TABLE[known]
    masked = row.status == 500
    page = error.code if error.code in refusals() and not masked else known
    return Problem(
        code=known if masked else error.code,
        page=page,
        status=row.status,
        title=refusals()[page].title.en,
        detail=row.title if masked else error.detail,
        errors=_fields(error),
        hint=row.hint if masked else error.hint or refusals()[page].do.en,
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


def response(told: Problem, to: Reader) -> Response:
    """The problem as an answer. Characters that UTF-8 cannot hold are replaced, so that a refusal never fails itself."""
    text = json.dumps(told.body(to), ensure_ascii=False)
    headers = {**told.headers, "Content-Language": to.language, "Vary": "Accept-Language"}
    return Response(text.encode("utf-8", "replace"), told.status, headers=headers, media_type=MEDIA_TYPE)
