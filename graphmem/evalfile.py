"""Evaluation files (JSON lines, five kinds told by their fields): untrusted lines in, frozen models out, every refusal with its line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from graphmem.errors import InvalidInputError
from graphmem.memory import Language, Polarity

MemoryType = Literal["fact", "preference", "context", "none"]
Answer = str | tuple[str, ...] | None
"""A value, the values where several hold, `like` `dislike` `yes` `no` `pending` about a concept, or None: nothing valid is known."""

Pair = tuple[Polarity, str]


class EvalFileError(InvalidInputError):
    """A line of an evaluation file is wrong; the message starts with `file:line`."""

    code = "bad_eval_file"

    def __init__(self, detail: str, *, file: str, line: int) -> None:
        super().__init__(f"{file}:{line}: {detail}", hint="the five kinds of lines are described in the evaluation guide")
        self.file = file
        self.line = line


def _zoned(at: datetime) -> datetime:
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


Instant = Annotated[datetime, AfterValidator(_zoned)]
"""Aware, with the offset it was written with; without one it is UTC, the default zone of a throw-away tenant."""


class _Line(BaseModel):
    """A null field is an absent one."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, fields: object) -> object:
        return {name: value for name, value in fields.items() if value is not None} if isinstance(fields, dict) else fields


class Label(_Line):
    """Kind 1: one utterance and what it should be heard as. `predicate_any` and `value_any` are accepted besides the first ones.

    Without a value any is right. `family` names the construction, where the file says it.
    """

    id: str
    lang: Language
    text: str = Field(min_length=1)
    memory_type: MemoryType
    domain: str = ""
    family: str = ""
    predicate: str = ""
    predicate_any: tuple[str, ...] = ()
    value: str = ""
    value_any: tuple[str, ...] = ()
    polarity: Polarity = "+"
    subject: str = "self"

    @model_validator(mode="after")
    def _complete(self) -> Label:
        if self.memory_type != "none" and not self.predicate:
            raise ValueError("a label that is not none has a predicate")
        return self


class SpokenTurn(_Line):
    text: str
    role: Literal["user", "assistant", "system", "tool"] = "user"
    verified: bool | None = None


class Session(_Line):
    session: str
    time: Instant
    turns: tuple[SpokenTurn, ...]


class Query(_Line):
    qid: str
    as_of: Instant
    predicate: str
    subject: str = "self"
    category: str = ""
    about: str | None = None
    answer: Answer = None
    answer_any: tuple[Answer, ...] = ()
    stale: tuple[str, ...] = ()


class Dialogue(_Line):
    """Kind 2: sessions in their order of arrival, then questions."""

    dialogue: str
    lang: Language
    sessions: tuple[Session, ...]
    queries: tuple[Query, ...]
    domain: str = ""


class CaseTurn(_Line):
    at: Instant
    text: str
    role: Literal["user", "assistant", "system", "tool"] = "user"
    user: str | None = None
    session: str | None = None


class Expected(_Line):
    """An edge that must (not) be there. Empty fields match anything; `count` is exact, without it one is enough."""

    subject: str | None = None
    kind: tuple[str, ...] = ()
    object_any: tuple[str, ...] = ()
    polarity: Polarity | None = None
    status: Literal["active", "superseded", "pending", "any"] = "any"
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    version: int | None = None
    count: int | None = None


class Expectations(_Line):
    must: tuple[Expected, ...] = ()
    must_not: tuple[Expected, ...] = ()


class Case(_Line):
    """Kind 3: turns and the edges that must or must not be there at the last turn's time."""

    id: str
    turns: tuple[CaseTurn, ...] = Field(min_length=1)
    expect: Expectations
    lang: Language | None = None
    kind: str = ""


class EvidenceTurn(_Line):
    user: str
    id: str
    text: str
    session: str | None = None
    time: Instant | None = None
    speaker: str | None = None
    role: Literal["user", "assistant", "system", "tool"] = "user"


class Question(_Line):
    user: str
    qid: str
    text: str
    gold: tuple[str, ...] = ()
    as_of: Instant | None = None
    category: str = ""
    answerable: bool = True


class Update(_Line):
    user: str
    id: str
    time: Instant
    key: str
    op: Literal["add", "modify", "delete"]
    value: str | None = None
    old_value: str | None = None
    polarity: Polarity = "+"
    text: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> Update:
        if self.op != "delete" and not self.value:
            raise ValueError("add and modify name a value")
        if self.op != "add" and not self.old_value and not (self.op == "delete" and self.value):
            raise ValueError("modify and delete name the old value")
        return self


class State(_Line):
    user: str
    qid: str
    key: str
    as_of: Instant
    current: tuple[Pair, ...]
    stale: tuple[Pair | str, ...] = ()


Parsed = Label | Dialogue | Case | EvidenceTurn | Question | Update | State

_BY_KIND: dict[str, type[Parsed]] = {"label": Label, "turn": EvidenceTurn, "question": Question, "update": Update, "state": State}
_BY_FIELD: dict[str, type[Parsed]] = {"dialogue": Dialogue, "expect": Case}
_GROUPS: tuple[type[Parsed], ...] = (Label, Dialogue, Case, EvidenceTurn, Question, Update, State)


@dataclass(frozen=True, slots=True)
class Suite:
    """A whole file, grouped by kind, each group in file order."""

    labels: tuple[Label, ...] = ()
    dialogues: tuple[Dialogue, ...] = ()
    cases: tuple[Case, ...] = ()
    turns: tuple[EvidenceTurn, ...] = ()
    questions: tuple[Question, ...] = ()
    updates: tuple[Update, ...] = ()
    states: tuple[State, ...] = ()


def parse(lines: Iterable[str], file: str) -> Suite:
    """The file's lines by kind. Blank lines are passed over. EvalFileError: no JSON object, unknown kind, a wrong field."""
    groups: dict[type[Parsed], list[Parsed]] = {model: [] for model in _GROUPS}
    for number, text in enumerate(lines, 1):
        if text.strip():
            item = _line(text, file, number)
            groups[type(item)].append(item)
    return Suite(*(tuple(groups[model]) for model in _GROUPS))  # type: ignore[arg-type]  # one group per field, in their order


def _line(text: str, file: str, number: int) -> Parsed:
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise EvalFileError("not JSON", file=file, line=number) from error
    if not isinstance(fields, dict):
        raise EvalFileError("a line is one JSON object", file=file, line=number)
    model = _model(fields)
    if model is None:
        raise EvalFileError("unknown kind: its fields fit none of the five", file=file, line=number)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(map(str, first["loc"])) or "line"
        raise EvalFileError(f"{place}: {first['msg']}", file=file, line=number) from error


def _model(fields: dict[str, object]) -> type[Parsed] | None:
    for field, model in _BY_FIELD.items():
        if field in fields:
            return model
    kind = fields.get("kind")
    return _BY_KIND.get(kind) if isinstance(kind, str) else None
