"""The rejects file: each row that was not imported, with line, column and reason, in the format of the import.

It is a template: correct the rows and import the file itself; the remarks (`_line`, `_column`, `_reason`) are not read.
"""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

from graphmem.importing.columns import column_of
from graphmem.importing.statements import Reject

REMARKS = ("_line", "_column", "_reason")


class Rejects:
    """Counts rejects, and writes them where a file is named; the file appears with the first one. Thread safe.

    columns: the header of a CSV file; without one the rejects are JSON lines. mapped: folded column → field, as the caller's --map.
    """

    def __init__(self, path: Path | None, columns: Sequence[str] = (), mapped: Mapping[str, str] | None = None) -> None:
        self._mapped = mapped or {}
        self._path = path
        self._columns = [c for c in columns if c not in REMARKS]
        self._stream: IO[str] | None = None
        self._lock = threading.Lock()
        self.count = 0

    @property
    def place(self) -> str | None:
        """Where the rejects are, None when there are none or no file was named."""
        return str(self._path) if self._path is not None and self.count else None

    def __enter__(self) -> Rejects:
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def add(self, found: Iterable[Reject]) -> None:
        """Note some rejects."""
        with self._lock:
            for reject in found:
                self.count += 1
                if self._path is not None:
                    self._write(self._path, reject)

    def flush(self) -> None:
        """What was noted so far is on its way to the disk."""
        if self._stream is not None:
            self._stream.flush()

    def _write(self, path: Path, reject: Reject) -> None:
        original = {k: v for k, v in reject.original.items() if k not in REMARKS}
        column = column_of(reject.column, original, self._mapped) if reject.column else ""
        remarks: Mapping[str, object] = dict(zip(REMARKS, (reject.line, column, reject.reason), strict=True))
        if self._stream is None:
            self._stream = path.open("w", encoding="utf-8", newline="")
            if self._columns:
                csv.writer(self._stream, lineterminator="\n").writerow([*REMARKS, *self._columns])
        row = {**remarks, **original}
        if self._columns:
            csv.writer(self._stream, lineterminator="\n").writerow([row.get(c, "") for c in (*REMARKS, *self._columns)])
        else:
            self._stream.write(json.dumps(row, ensure_ascii=False) + "\n")
