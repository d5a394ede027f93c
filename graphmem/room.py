"""What every part of the service shares: packs, limits, trust, zones, the short-term cache. No driver."""

from __future__ import annotations

import gc
import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from graphmem.book import Book, Limits, Trust
from graphmem.casework import Spoken
from graphmem.drift import check_environment
from graphmem.errors import InvalidInputError
from graphmem.events import Events, load_events
from graphmem.lexicon import Lexicon, load_lexicon
from graphmem.marks import Marks
from graphmem.memory import MILLISECOND, Heard, Provenance, SourceKind, Statement, Text2, Turn, utc
from graphmem.ontology import Ontology, load_ontology
from graphmem.pipeline.extract import Extractor
from graphmem.pipeline.opinion import Encode
from graphmem.recall.wording import wording
from graphmem.review import cases_of, within_quota
from graphmem.scope import Scope
from graphmem.settings import Settings
from graphmem.telling import caption, label_of
from graphmem.validity import Ms, Row
from graphmem.writing import Changes, Decided, Known, StoredTurn, hear, settle

SESSIONS = 4096
"""Sessions whose last turns are kept in the process; others are read from the graph."""

TURNS = 12
"""Turns of a session that are looked at for pronouns, answers and short-term memory."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Without looking for cycles: packs make a hundred thousand objects that stay, and the search costs a fifth of the load."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class Room:
    """Settings and packs, loaded once; thread safe."""

    def __init__(self, settings: Settings, encode: Encode | None = None) -> None:
        """`encode`: the sentence encoder of the second opinion on a clause; None: the rules alone hear."""
        self.settings, self._encode = settings, encode
        self.ontology: Ontology = load_ontology(settings.packs)
        with uncollected():
            self.lexicon: Lexicon = load_lexicon(settings.packs)
        self.events: Events = load_events(self.ontology, settings.packs)
        self.limits = Limits(settings.window // MILLISECOND, settings.pending_life // MILLISECOND)
        self.skew: Ms = settings.skew // MILLISECOND
        self._extractor: Extractor | None = None
        self._lock = threading.Lock()
        self.marks: Marks | None = None
        """Says when another process of this home forgot something of a user."""
        self._marks: dict[tuple[str, str], int] = {}
        self._sessions: OrderedDict[tuple[str, str, str], tuple[StoredTurn, ...]] = OrderedDict()

    # --- words

    @property
    def extractor(self) -> Extractor:
        with self._lock:
            if self._extractor is None:
                with uncollected():
                    self._extractor = Extractor(self.ontology, self.lexicon, self._encode)
            return self._extractor

    def hear(self, turn: Turn, said_at: datetime, zone: tzinfo, context: Sequence[Turn]) -> Heard:
        return self.extractor.hear(turn, said_at, cast(ZoneInfo, zone), context, threshold=self.settings.store_threshold)

    def ask(self, key: str, value: str) -> Text2:
        """The follow-up question of a key about a value."""
        known = self.ontology.get(key)
        if known is not None:
            return known.ask(value)
        return Text2(zh=f"请确认：{key}是{value}吗？", en=f"Is {key} {value}?")

    def question(self, s: Statement) -> Text2:
        """The question that a pending statement asks: about its value, or its denial."""
        asked = self._asked(s)
        if s.subject == "self":
            return asked
        (zh, zh_name), (en, en_name) = (wording().subject(s.subject, language) for language in ("zh", "en"))
        return Text2(zh=f"关于{zh_name or zh}：{asked.zh}", en=f"About {en_name or 'your ' + en}: {asked.en}")

    def _asked(self, s: Statement) -> Text2:
        if s.polarity == "+" and not s.is_end:
            return self.ask(s.key, s.value or "")
        label = label_of(self.ontology, s.key)
        value = s.value or label.zh
        return Text2(
            zh=f"请确认：{label.zh}「{value}」不再成立，对吗？", en=f"Please confirm: {label.en} '{s.value or ''}' no longer holds?"
        )

    # --- checks

    def check_text(self, text: object) -> None:
        """Refuse what is no text: blank, too long, with lone surrogates or control characters."""
        if not isinstance(text, str) or not text.strip():
            raise InvalidInputError("a turn needs text that is not blank", field="text", code="blank_text")
        if len(text) > self.settings.max_text:
            raise InvalidInputError(f"a turn holds at most {self.settings.max_text} characters", field="text", code="text_too_long")
        check_characters(text, "text")

    def check_turn(self, turn: Turn) -> None:
        """Refuse a turn whose ids, time, source or metadata could not be stored; its text is check_text's."""
        for name, text in (
            ("session_id", turn.session_id),
            ("turn_id", turn.turn_id),
            ("answers", turn.answers),
            ("speaker", turn.speaker),
        ):
            check_id(text, name)
        check_time(turn.at, "at")
        check_source(turn.source)
        check_metadata(turn.metadata)
        check_environment(turn.environment)
        check_id((turn.environment.city if turn.environment is not None else None) or None, "environment/city")

    def zone_of(self, turn: Turn) -> str:
        """The speaker's zone: the request's, else the offset of `at`, else the tenant's."""
        if turn.zone is not None:
            return check_zone(turn.zone)
        offset = turn.at.utcoffset() if turn.at is not None else None
        if not offset:
            return self.settings.zone
        minutes = int(offset.total_seconds() // 60)
        if minutes % 60 == 0 and -12 <= minutes // 60 <= 14:
            return f"Etc/GMT{-(minutes // 60):+d}"
        return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"

    def trust(self, scope: Scope, source: Provenance | None, verified: bool | None, s: Statement) -> Trust:
        """What vouches for a statement: the source, the principal, the calling application's own check where its domain is trusted."""
        if source is None:
            return Trust(sourced=False)
        own = verified if verified is False or (verified and scope.domain in self.settings.trusted_domains) else None
        staff = (source.verified_by or "").startswith("staff:")
        reported = s.subject != "self" or source.kind in (SourceKind.RELATIVE_STATED, SourceKind.AGENT_INFERRED)
        return Trust(sourced=True, verified=own, vouched=source.kind is SourceKind.DOCUMENT or staff, reported=reported)

    def hash_of(self, request: object) -> str:
        """SHA-256 of a request's canonical JSON: the same key with another request is refused."""
        body = asdict(request) if hasattr(request, "__dataclass_fields__") else request  # type: ignore[call-overload]
        return hashlib.sha256(json.dumps(body, default=_plain, sort_keys=True, ensure_ascii=True).encode()).hexdigest()

    # --- a write

    def judge(self, known: Known, spoken: Sequence[Spoken], mids: Sequence[str]) -> tuple[Book, list[Decided]]:
        """Judge the statements of one write; what would open more review cases than a user may have is refused."""
        book, decided = hear(known, spoken, self.limits, self.skew, mids)
        return book, within_quota(book, decided, known.pendings, self.settings.review_quota, self.limits.pending_life)

    def close(
        self,
        known: Known,
        book: Book,
        decided: Sequence[Decided],
        changes: Changes,
        outcome: Mapping[str, object],
        language: str | Callable[[Row], str],
    ) -> Changes:
        """Recache, caption and record what a write decided. language: of the captions, or what says it of each row."""
        settled = settle(known, book, changes)
        rows = [*settled.created, *(p.row for p in settled.pended)]
        spoken = language if callable(language) else lambda _: str(language)
        captions = {r.mid: caption(self.ontology, r, spoken(r), r.value) for r in rows}
        verdicts = [[d.judgement.mid, d.judgement.verdict.value, d.judgement.supersedes, d.judgement.reason] for d in decided]
        return replace(
            settled,
            cases=cases_of(settled, book, self.limits.pending_life),
            captions=captions,
            outcome=json.dumps({**outcome, "verdicts": verdicts, "rules": _rules(decided)}, ensure_ascii=False),
            verdicts=tuple((d.judgement.mid or "", d.judgement.verdict.value) for d in decided),
        )

    # --- short-term memory of the process

    def session_turns(self, scope: Scope, session_id: str, load: Callable[[], list[StoredTurn]]) -> tuple[StoredTurn, ...]:
        """The last turns of a session: from the process, else read once."""
        key = (scope.tenant, scope.user, session_id)
        mark = self._look(scope)
        with self._lock:
            if key in self._sessions:
                self._sessions.move_to_end(key)
                return self._sessions[key]
        found = tuple(load())
        # what was forgotten while it was read is not kept
        if mark == self._look(scope):
            with self._lock:
                self._keep(key, found)
        return found

    def cached_turns(self, scope: Scope, session_id: str) -> tuple[StoredTurn, ...]:
        """What the process holds of a session, without any store call."""
        self._look(scope)
        with self._lock:
            return self._sessions.get((scope.tenant, scope.user, session_id), ())

    def remember_turn(self, scope: Scope, session_id: str, turn: StoredTurn) -> None:
        key = (scope.tenant, scope.user, session_id)
        with self._lock:
            if key in self._sessions:
                self._keep(key, (*self._sessions[key], turn)[-TURNS:])

    def forget_sessions(self, scope: Scope) -> None:
        """Drop what this process and the others of this home hold of a user's sessions."""
        if self.marks is not None:
            self.marks.move(scope)
        self._drop(scope)

    def _look(self, scope: Scope) -> int:
        """The user's mark; where another process moved it, what this one holds of the user goes first."""
        if self.marks is None:
            return 0
        mark = self.marks.of(scope)
        with self._lock:
            moved = self._marks.get((scope.tenant, scope.user), 0) != mark
            if moved:
                self._marks[(scope.tenant, scope.user)] = mark
        if moved:
            self._drop(scope)
        return mark

    def _drop(self, scope: Scope) -> None:
        with self._lock:
            for key in [k for k in self._sessions if k[:2] == (scope.tenant, scope.user)]:
                del self._sessions[key]

    def forget_tenant(self, tenant: str) -> None:
        """Drop what the process holds of a tenant's sessions."""
        with self._lock:
            for key in [k for k in self._sessions if k[0] == tenant]:
                del self._sessions[key]

    def _keep(self, key: tuple[str, str, str], turns: tuple[StoredTurn, ...]) -> None:
        self._sessions[key] = turns
        self._sessions.move_to_end(key)
        while len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)


def tz_of(zone: str) -> tzinfo:
    """The zone of an IANA name or of an offset such as +05:30."""
    if zone[:1] in "+-" and zone[3:4] == ":":
        minutes = int(zone[1:3]) * 60 + int(zone[4:6])
        return timezone(timedelta(minutes=-minutes if zone[0] == "-" else minutes))
    return ZoneInfo(zone)


def _rules(decided: Sequence[Decided]) -> list[list[object]]:
    """Beside each verdict: the rule that made the statement, its confidence and the span it cites; never text."""
    said = [d.statement for d in decided]
    return [[s.rule, round(s.confidence, 4), None if s.span is None else list(s.span)] for s in said]


_WRONG = re.compile("[\ud800-\udfff\x00-\x08\x0b\x0c\x0e-\x1f]")


def check_characters(text: str, field: str) -> None:
    """Refuse lone surrogates and control characters other than line breaks and tabs."""
    if _WRONG.search(text) is None:
        return
    for c in text:
        if "\ud800" <= c <= "\udfff":
            raise InvalidInputError("the text holds a lone surrogate, which is no character", field=field, code="bad_character")
        if c < " " and c not in "\n\r\t":
            raise InvalidInputError("the text holds a control character", field=field, code="bad_character")


ID_MAX = 256
"""Characters of an id a caller gives (api.md); longer ones would not fit an index entry together."""


def check_id(text: str | None, field: str) -> None:
    """Refuse an id that is empty, too long, or holds what check_characters refuses."""
    if text is None:
        return
    if not isinstance(text, str) or not 1 <= len(text) <= ID_MAX:
        raise InvalidInputError(f"{field} is text of 1 to {ID_MAX} characters", field=field)
    check_characters(text, field)


def check_key(key: str | None) -> None:
    """Refuse an idempotency key with characters that are none; its length is the caller's."""
    if key is not None:
        check_characters(key, "idempotency_key")


def check_source(source: Provenance | None) -> None:
    """Refuse a source whose reference or principal could not be stored."""
    if source is not None:
        check_id(source.ref, "source/ref")
        check_id(source.verified_by, "source/verified_by")


def check_time(at: datetime | None, field: str) -> None:
    """Refuse a time without offset, and one that lies outside the years 1 to 9999 in UTC."""
    if at is None:
        return
    if at.tzinfo is None or at.utcoffset() is None:
        raise InvalidInputError(f"{field} needs an offset from UTC", field=field, code="naive_time")
    try:
        at.astimezone(UTC)
    except OverflowError as fault:
        raise InvalidInputError(f"{field} lies outside the years 1 to 9999", field=field) from fault


def check_zone(zone: str) -> str:
    """The zone itself; InvalidInputError when it is no IANA name."""
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as fault:
        raise InvalidInputError(f"'{zone}' is no time zone (IANA name)", field="zone") from fault
    return zone


def check_metadata(metadata: Mapping[str, object]) -> None:
    """Refuse metadata that JSON cannot hold, or that holds lone surrogates."""
    if not metadata:
        return
    try:
        json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as fault:
        raise InvalidInputError("metadata is an object that JSON can hold", field="metadata") from fault


def _plain(value: object) -> str:
    """One instant is one instant, in whatever zone it was written."""
    return utc(value).isoformat() if isinstance(value, datetime) and value.tzinfo is not None else str(value)
