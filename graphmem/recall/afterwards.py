"""What is done after the answer: receipts are stored by one thread, and read back. A crash may lose the last second of them."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime

from graphmem.answers import Receipt, ReceiptLine, Trigger
from graphmem.scope import Scope

RECEIPTS_QUEUED = 10_000
"""Receipts that wait to be stored; more are dropped (a crash may lose them too: design section 6)."""


class Afterwards:
    """The queue and its thread, which starts with the first receipt."""

    def __init__(self, store: Callable[[Scope, Receipt, str], None]) -> None:
        self._store = store
        self._queue: queue.Queue[tuple[Scope, Receipt, str] | None] = queue.Queue(RECEIPTS_QUEUED)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def put(self, scope: Scope, receipt: Receipt, query_type: str) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="graphmem-receipts", daemon=True)
                self._thread.start()
        try:
            self._queue.put_nowait((scope, receipt, query_type))
        except queue.Full:
            return

    def waiting(self) -> int:
        return self._queue.qsize()

    def flush(self) -> None:
        """Wait until everything put so far is stored."""
        if self._thread is not None:
            self._queue.join()

    def stop(self) -> None:
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join()

    def _run(self) -> None:
        while True:
            item = self._queue.get()
            try:
                if item is None:
                    return
                self._store(*item)
            except Exception:  # noqa: S110 - a receipt is an explanation, its loss must never hurt an answer
                pass
            finally:
                self._queue.task_done()


def receipt_json(found: Receipt) -> str:
    """A receipt as it is stored: ids and scores only."""
    body = asdict(replace(found, trigger=replace(found.trigger, phrase=None), at=None, lines=()))
    body["at"] = None if found.at is None else found.at.isoformat()
    body["lines"] = [{"mid": x.mid, "scores": dict(x.scores), "told": x.told, "reason": x.reason} for x in found.lines]
    return json.dumps(body, ensure_ascii=False)


def receipt_of(stored: str) -> Receipt:
    """A stored receipt as it was told, without the phrase that chose its tier."""
    body = json.loads(stored)
    lines = tuple(ReceiptLine(x["mid"], x["scores"], x["told"], x["reason"]) for x in body["lines"])
    at = None if body["at"] is None else datetime.fromisoformat(body["at"])
    return Receipt(
        body["receipt_id"], body["tier"], Trigger(body["trigger"]["rule"]), lines, at, tuple(body["degraded"]), body["session_id"]
    )
