"""Shards of the in-process Qdrant engine: opened at need, a bounded number at once, one process a data home.

A new shard is made aside and renamed, so that a half-made one is never seen. Beside each shard lies `embedders.json`: the names and sizes
it was made for.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import qdrant_edge as edge
from filelock import FileLock, Timeout

from graphmem.errors import GraphmemError, UnavailableError
from graphmem.ports import LEXICAL
from graphmem.stores import qdrant_common as common

_ABOUT = "embedders.json"
_SHARD = "shard"


@dataclass(slots=True)
class _Open:
    """An open shard and how many calls are in it."""

    shard: edge.EdgeShard
    users: int = 0


class Shards:
    """All shards under `root`. Thread safe; the lock between processes is taken at the first use."""

    def __init__(self, root: Path, embedders: Mapping[str, int], max_open: int) -> None:
        self._root = root
        self._embedders = embedders
        self._max_open = max_open
        self._changed = threading.Condition()
        self._process_lock = FileLock(root / "index.lock", thread_local=False)
        self._open: OrderedDict[str, _Open] = OrderedDict()

    @contextmanager
    def existing(self, name: str) -> Iterator[edge.EdgeShard | None]:
        """The shard for the block, None where there is none."""
        with self._changed:
            self.take_root()
            entry = self._enter(name) if name in self._open or (self._root / name).exists() else None
        if entry is None:
            yield None
            return
        with self._inside(name, entry):
            yield entry.shard

    @contextmanager
    def made(self, name: str) -> Iterator[edge.EdgeShard]:
        """The shard for the block, made where it is missing."""
        with self._changed:
            self.take_root()
            if name not in self._open and not (self._root / name).exists():
                with _translated(name):
                    self._make(name)
            entry = self._enter(name)
        with self._inside(name, entry):
            yield entry.shard

    def drop(self, name: str) -> None:
        """Remove the shard with all it holds, after the calls in it have ended."""
        with self._changed:
            self.take_root()
            self._changed.wait_for(lambda: name not in self._open or self._open[name].users == 0)
            if name in self._open:
                self._open.pop(name).shard.close()
            if (self._root / name).exists():
                aside = self._aside(name)
                (self._root / name).rename(aside)
                shutil.rmtree(aside)

    def close(self) -> None:
        """Close every shard once idle and give the root back; the next call opens it again."""
        with self._changed:
            self._changed.wait_for(lambda: all(entry.users == 0 for entry in self._open.values()))
            for entry in self._open.values():
                entry.shard.close()
            self._open.clear()
            self._process_lock.release(force=True)

    def take_root(self) -> None:
        """Hold the root for this process. Raises UnavailableError `index_in_use` while another one has it."""
        with self._changed:
            if self._process_lock.is_locked:
                return
            self._root.mkdir(parents=True, exist_ok=True)
            try:
                self._process_lock.acquire(blocking=False)
            except Timeout as error:
                raise UnavailableError(
                    f"the candidate index at {self._root} is open in another process",
                    store="qdrant",
                    code="index_in_use",
                    hint="ask the service that runs there, stop it, or use a Qdrant server (GRAPHMEM_QDRANT_URL)",
                ) from error

    def verify(self) -> None:
        """Raise ConfigurationError for a shard that was made for other embedders; needs no lock and opens nothing."""
        for about in sorted(self._root.glob(f"*/{_ABOUT}")):
            common.check_embedders(about.parent.name, json.loads(about.read_text("utf-8")), self._embedders)

    def _enter(self, name: str) -> _Open:
        """Under the lock: open it if need be, count one more call in it, close what is idle beyond the bound."""
        entry = self._open.get(name)
        if entry is None:
            with _translated(name):
                common.check_embedders(name, json.loads((self._root / name / _ABOUT).read_text("utf-8")), self._embedders)
                entry = self._open[name] = _Open(edge.EdgeShard.load(str(self._root / name / _SHARD)))
        entry.users += 1
        self._open.move_to_end(name)
        idle = [n for n, e in self._open.items() if e.users == 0]
        for old in idle[: max(0, len(self._open) - self._max_open)]:
            self._open.pop(old).shard.close()
        return entry

    @contextmanager
    def _inside(self, name: str, entry: _Open) -> Iterator[None]:
        try:
            with _translated(name):
                yield
        finally:
            with self._changed:
                entry.users -= 1
                self._changed.notify_all()

    def _make(self, name: str) -> None:
        aside = self._aside(name)
        (aside / _SHARD).mkdir(parents=True)
        shard = edge.EdgeShard.create(str(aside / _SHARD), _config(self._embedders))
        for key in common.KEYWORDS:  # before the first data: an index made later does not shape the vector graph
            shard.update(edge.UpdateOperation.create_field_index(key, edge.KeywordIndexParams(is_tenant=key == "user")))
        shard.close()
        (aside / _ABOUT).write_text(json.dumps(dict(self._embedders), sort_keys=True), "utf-8")
        aside.rename(self._root / name)

    def _aside(self, name: str) -> Path:
        """An empty place for a shard being made or removed; what a dead process left there goes first. No collection is called so."""
        aside = self._root / f".{name}.part"
        shutil.rmtree(aside, ignore_errors=True)
        return aside


def _config(embedders: Mapping[str, int]) -> edge.EdgeConfig:
    return edge.EdgeConfig(
        vectors={name: edge.EdgeVectorParams(size=size, distance=edge.Distance.Cosine) for name, size in embedders.items()},
        sparse_vectors={LEXICAL: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        hnsw_config=edge.HnswIndexConfig(common.HNSW_M, common.HNSW_EF_CONSTRUCT, common.FULL_SCAN),
    )


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """The engine raises plain exceptions with text; input was checked before, so what is left is a fault of the store."""
    try:
        yield
    except GraphmemError:
        raise
    except Exception as error:
        raise UnavailableError(f"the vector engine failed on {name}: {error}", store="qdrant", code="engine_failed") from error
