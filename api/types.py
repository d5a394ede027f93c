"""Bodies and queries of api.md. Unknown fields are refused; nothing is trimmed, coerced or guessed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt

from api.errors import too_long
from api.words import Metadata, Moment, Name, Role, Said, Sound, Zone, aware
from graphmem.answers import Ask, MemoryFilter, Remember, ShortTurn
from graphmem.errors import InvalidInputError
from graphmem.memory import Environment, Kind, Language, Polarity, Provenance, SourceKind, Status, Turn

BATCH_MAX = 500
"""Turns of one batch (api.md)."""

PAGE_MAX = 100
"""Items of one page, hits of one recall (api.md)."""

HISTORY_MAX = 200
"""Turns of the caller's own history in one recall."""

Limit = Annotated[int, Field(ge=1, le=PAGE_MAX)]
Cursor = Annotated[Sound, Field(min_length=1, max_length=2048)]


class Body(BaseModel):
    """What comes in: frozen, nothing unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SourceIn(Body):
    kind: SourceKind = SourceKind.USER_STATED
    ref: Name | None = None

    def provenance(self, verified_by: str | None = None) -> Provenance:
        return Provenance(self.kind, self.ref, verified_by)


class EnvironmentIn(Body):
    city: Name | None = None
    latitude: Annotated[StrictFloat, Field(ge=-90, le=90, allow_inf_nan=False)] | None = None
    longitude: Annotated[StrictFloat, Field(ge=-180, le=180, allow_inf_nan=False)] | None = None
    device: Name | None = None
    network: Name | None = None

    def environment(self) -> Environment:
        return Environment(self.city, self.latitude, self.longitude, self.device, self.network)


class TurnIn(Body):
    """One utterance. `at` without an offset is read in `zone`, else in the tenant's zone."""

    text: Said
    role: Role
    session_id: Name | None = None
    turn_id: Name | None = None
    at: Moment | None = None
    zone: Zone | None = None
    language: Language | None = None
    answers: Name | None = None
    environment: EnvironmentIn | None = None
    verified: StrictBool | None = None
    source: SourceIn | None = Field(default_factory=SourceIn)
    metadata: Metadata = Field(default_factory=dict)

    def turn(self, zone: str, max_text: int) -> Turn:
        """The turn in the core's words; 413 above `max_text` characters.

        An `at` keeps its own offset, which tells the speaker's zone where none is named; one without is read in that of the tenant.
        """
        fits("text", self.text, max_text)
        bare = self.at is not None and self.at.tzinfo is None
        return Turn(
            text=self.text,
            role=self.role,
            session_id=self.session_id,
            turn_id=self.turn_id,
            at=aware(self.at, ZoneInfo(self.zone or zone)) if bare else self.at,
            zone=self.zone or (zone if bare else None),
            language=self.language,
            answers=self.answers,
            environment=self.environment.environment() if self.environment else None,
            verified=self.verified,
            source=self.source.provenance() if self.source else None,
            metadata=self.metadata,
        )


class BatchIn(Body):
    """Up to 500 turns of one user, in order. Each is checked by itself: a bad one does not lose the others."""

    turns: Annotated[
        list[Any], Field(min_length=1, max_length=BATCH_MAX, json_schema_extra={"items": {"$ref": "#/components/schemas/TurnIn"}})
    ]


class MemoryIn(Body):
    """A deliberate statement. `value: null` ends what the slot holds; it must be said, not left out."""

    key: Name
    value: Said | None
    kind: Kind | None = None
    arity: Literal["one", "many", "pole"] | None = None
    subject: Name = "self"
    polarity: Polarity = "+"
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    zone: Zone | None = None
    confidence: Annotated[StrictFloat, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0
    source: SourceIn | None = Field(default_factory=SourceIn)
    verified_by: Name | None = None
    verified: StrictBool | None = None
    expected_version: Annotated[StrictInt, Field(ge=0, le=2**31)] | None = None
    metadata: Metadata = Field(default_factory=dict)

    def remember(self, zone: str, max_text: int) -> Remember:
        """The statement in the core's words; 413 above `max_text` characters, 422 where the end is not after the start."""
        fits("value", self.value or "", max_text)
        local = ZoneInfo(self.zone or zone)
        start, end = aware(self.valid_from, local), aware(self.valid_to, local)
        if start is not None and end is not None and end <= start:
            raise InvalidInputError("valid_to is not after valid_from", field="valid_to", code="bad_time")
        return Remember(
            key=self.key,
            value=self.value,
            kind=self.kind,
            arity=self.arity,
            subject=self.subject,
            polarity=self.polarity,
            valid_from=start,
            valid_to=end,
            zone=self.zone,
            confidence=self.confidence,
            source=self.source.provenance(self.verified_by) if self.source else None,
            verified=self.verified,
            expected_version=self.expected_version,
            metadata=self.metadata,
        )


class ShortTurnIn(Body):
    role: Role
    text: Sound
    at: Moment | None = None
    turn_id: Name | None = None


class RecallIn(Body):
    message: Said
    session_id: Name | None = None
    history: Annotated[list[ShortTurnIn], Field(max_length=HISTORY_MAX)] = Field(default_factory=list)
    task: Name | None = None
    tier: Literal["auto", "L1", "L2", "L3"] = "auto"
    mode: Literal["memories", "evidence"] = "memories"
    as_of: Moment | None = None
    known_at: Moment | None = None
    environment: EnvironmentIn | None = None
    limit: Annotated[StrictInt, Field(ge=1, le=PAGE_MAX)] = 10
    token_budget: Annotated[StrictInt, Field(ge=1, le=1_000_000)] | None = None
    language: Language | None = None
    proof: Annotated[Sound, Field(min_length=1, max_length=4096)] | None = None
    explain: StrictBool = False

    def ask(self, zone: str, max_text: int) -> Ask:
        """The question in the core's words; 413 above `max_text` characters."""
        fits("message", self.message, max_text)
        local = ZoneInfo(zone)
        for i, turn in enumerate(self.history):
            fits(f"history/{i}/text", turn.text, max_text)
        return Ask(
            message=self.message,
            session_id=self.session_id,
            history=tuple(ShortTurn(t.role, t.text, aware(t.at, local), t.turn_id) for t in self.history),
            task=self.task,
            tier=self.tier,
            mode=self.mode,
            as_of=aware(self.as_of, local),
            known_at=aware(self.known_at, local),
            environment=self.environment.environment() if self.environment else None,
            limit=self.limit,
            token_budget=self.token_budget,
            language=self.language,
            proof=self.proof,
            explain=self.explain,
        )


class ListQuery(Body):
    """Filters narrow what the scope holds. With `q` it is a search, which takes only `kind` and `limit` beside it."""

    q: Sound | None = None
    kind: Kind | None = None
    key: Name | None = None
    subject: Name | None = None
    status: Status | None = None
    as_of: Moment | None = None
    known_at: Moment | None = None
    order: Literal["event", "recorded"] = "event"
    limit: Limit | None = None
    cursor: Cursor | None = None

    def where(self, zone: str) -> MemoryFilter:
        local = ZoneInfo(zone)
        return MemoryFilter(
            self.kind, self.key, self.subject, self.status, aware(self.as_of, local), aware(self.known_at, local), self.order
        )

    def search_only(self) -> None:
        """Refuses what a search does not take, so that no filter is silently ignored."""
        unused = sorted(self.model_fields_set - {"q", "kind", "limit"})
        if unused:
            raise InvalidInputError(f"a search takes no {unused[0]}", field=unused[0], code="not_with_q")


class MomentQuery(Body):
    as_of: Moment | None = None
    known_at: Moment | None = None

    def moment(self, zone: str) -> tuple[datetime | None, datetime | None]:
        """(as_of, known_at) in UTC; what names no offset is read in the zone."""
        local = ZoneInfo(zone)
        return aware(self.as_of, local), aware(self.known_at, local)


class LatestQuery(MomentQuery):
    subject: Name | None = None


def fits(field: str, text: str, maximum: int) -> None:
    """413 with the maximum (characters) when the text is above it."""
    if len(text) > maximum:
        raise too_long(field, len(text), maximum)
