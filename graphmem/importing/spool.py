"""Rows put in order of their users without holding a file in memory: parted by user into unnamed files that no crash leaves behind."""

from __future__ import annotations

import marshal
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO

from graphmem.importing.reading import Raw

PART_BYTES = 12 << 20
"""Bytes of the imported file that one part stands for: about 50,000 rows, a hundred megabytes while they are worked on."""

PARTS_MAX = 200

LENGTH = 4
"""Bytes that say how long a row is."""


class Spool:
    """Parts of a file, each with all rows of its users in file order. Use as a context manager."""

    def __init__(self, size: int) -> None:
        self.parts = min(PARTS_MAX, size // PART_BYTES + 1)
        self.rows = 0
        self._stack = ExitStack()
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> Spool:
        self._files = [self._stack.enter_context(tempfile.TemporaryFile("w+b")) for _ in range(self.parts)]
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def fill(self, rows: Iterable[tuple[str, Raw]]) -> None:
        """Put each row into the part of its user."""
        for user, raw in rows:
            self.rows += 1
            row = marshal.dumps((raw.number, raw.line, dict(raw.fields), dict(raw.original)))
            part = zlib.crc32(user.encode(errors="surrogatepass")) % self.parts
            self._files[part].write(len(row).to_bytes(LENGTH) + row)

    def part(self, index: int) -> Iterator[Raw]:
        """The rows of one part."""
        stream = self._files[index]
        stream.seek(0)
        while head := stream.read(LENGTH):
            yield Raw(*marshal.loads(stream.read(int.from_bytes(head))))  # noqa: S302 - written above, by this process
