"""New ids: UUIDv7, sortable by time, made before a transaction so that a retry takes the same ones."""

from __future__ import annotations

import secrets
import time


def uuid7(ms: int | None = None) -> str:
    """A UUIDv7 (RFC 9562) of this millisecond: 48 bits of time, 74 random bits."""
    ms = time.time_ns() // 1_000_000 if ms is None else ms
    number = (ms & (1 << 48) - 1) << 80 | secrets.randbits(80)
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def many(count: int) -> list[str]:
    """`count` ids in rising order."""
    return sorted(uuid7() for _ in range(count))
