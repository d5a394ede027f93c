"""Times of options: ISO 8601, in the zone of the settings where they name none."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from graphmem.errors import InvalidInputError


def moment(text: str | None, name: str) -> datetime | None:
    """A time of an option: ISO 8601; a date is its first instant; without an offset it is in GRAPHMEM_ZONE."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError as error:
        hint = "write 2026-03-01 or 2026-03-01T09:00+08:00."
        raise InvalidInputError(f"--{name}: '{text}' is no ISO 8601 time", field=name, hint=hint) from error
    return (at if at.tzinfo is not None else at.replace(tzinfo=_zone())).astimezone(UTC)


def _zone() -> ZoneInfo:
    from graphmem.settings import Settings

    return ZoneInfo(Settings().zone)
