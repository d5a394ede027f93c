"""Every error graphmem raises on purpose, drawn as one tree. Each says what the caller can do; `code` is the stable name in answers.

GraphmemError
├── InvalidInputError            the caller's input is wrong: correct the named field
│   ├── PackError                a pack file is wrong: file and line
│   └── QueryFileError           a .cypher file is wrong: file and line
├── NotFoundError                no such thing in this scope (foreign and unknown look the same)
├── ConflictError                the state moved, or the key was used for another request
├── RefusedError                 a policy forbids it
├── ConfigurationError           settings or stores do not fit together; the start is refused
└── UnavailableError             a store does not answer: try again later
    └── OverloadedError          queues are full: try again later
"""

from __future__ import annotations


class GraphmemError(Exception):
    """Root of all deliberate errors. `code` is stable, `hint` says what to do next."""

    code = "error"

    def __init__(self, detail: str, *, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint
        if code is not None:
            self.code = code


class InvalidInputError(GraphmemError):
    """A field is wrong. `field` is its path (`text`, `turns/3/at`), None when it is the whole body."""

    code = "invalid_input"

    def __init__(self, detail: str, *, field: str | None = None, code: str | None = None, hint: str | None = None) -> None:
        super().__init__(detail, code=code, hint=hint)
        self.field = field


class _FileError(InvalidInputError):
    """A data file is wrong; the message starts with `file:line`."""

    def __init__(self, detail: str, *, file: str, line: int, hint: str | None = None) -> None:
        super().__init__(f"{file}:{line}: {detail}", hint=hint)
        self.file = file
        self.line = line


class PackError(_FileError):
    """A pack (ontology, lexicon, phrases) is wrong: the start is refused."""

    code = "bad_pack"


class QueryFileError(_FileError):
    """A .cypher file is wrong: the start is refused."""

    code = "bad_query_file"


class NotFoundError(GraphmemError):
    """Nothing of that id in this scope. Foreign and unknown ids look the same."""

    code = "not_found"


class ConflictError(GraphmemError):
    """`version_conflict` (read again), `idempotency_key_reused` (take a new key), `decided`, `key_shape`."""

    code = "conflict"

    def __init__(self, detail: str, *, code: str | None = None, hint: str | None = None, current: str | None = None) -> None:
        super().__init__(detail, code=code, hint=hint)
        self.current = current


class RefusedError(GraphmemError):
    """A policy forbids it: `not_owner`, `verification_required`, `erased`, `forbidden`."""

    code = "refused_by_policy"


class UnauthorizedError(RefusedError):
    """No valid credential was shown."""

    code = "unauthorized"


class ConfigurationError(GraphmemError):
    """Settings, migrations or dimensions do not fit together; says both sides and the command that mends it."""

    code = "configuration"


class UnavailableError(GraphmemError):
    """A store does not answer. `store` names it, `retry_after` is in seconds."""

    code = "unavailable"

    def __init__(self, detail: str, *, store: str, retry_after: int = 2, hint: str | None = None, code: str | None = None) -> None:
        super().__init__(detail, hint=hint, code=code)
        self.store = store
        self.retry_after = retry_after


class OverloadedError(UnavailableError):
    """Too much work at once; nothing was done."""

    code = "overloaded"
