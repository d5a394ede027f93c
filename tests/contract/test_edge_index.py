"""What only the in-process engine has to promise: death, a second process, files on disk, open shards."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID, uuid4, uuid5

import pytest
import qdrant_edge

from graphmem.errors import UnavailableError
from graphmem.ports import COLLECTIONS, IndexQuery, Point
from graphmem.stores import edge_shards
from graphmem.stores import qdrant_edge as adapter
from graphmem.stores.qdrant_common import KEYWORDS, collection_name
from graphmem.stores.qdrant_edge import EdgeIndex

SIZES = {"use": 4}
ANN, BOB = "a" * 32, "b" * 32

WRITER = """
import sys
from pathlib import Path
from uuid import UUID, uuid5
from graphmem.ports import Point
from graphmem.stores.qdrant_edge import EdgeIndex
index = EdgeIndex(Path(sys.argv[1]), {"use": 4})
n = int(sys.argv[2])
while True:
    index.upsert("t1", [Point(str(uuid5(UUID(int=9), str(n))), f"mid-{n}", "fact", "a" * 32, n, {"use": [1, n, 0, 0]}, f"tea {n}")])
    print(n, flush=True)
    n += 1
"""

SECOND = """
import sys
from pathlib import Path
from graphmem.errors import UnavailableError
from graphmem.stores.qdrant_edge import EdgeIndex
index = EdgeIndex(Path(sys.argv[1]), {"use": 4})
try:
    index.ensure("t1")
except UnavailableError as error:
    print(error.store, error.code, error.hint, sep="|")
"""


def point(ref: str, user: str = ANN, text: str = "tea") -> Point:
    return Point(str(uuid5(UUID(int=8), ref)), ref, "fact", user, 1, {"use": [1, 0, 0, 0]}, text)


def test_kill_9_of_the_process_loses_no_acknowledged_point(tmp_path: Path) -> None:
    acknowledged = 0
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(acknowledged)], stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(150):
                acknowledged = int(child.stdout.readline()) + 1
            child.kill()
            acknowledged = max([acknowledged, *(int(n) + 1 for n in child.stdout.read().split())])
        index = EdgeIndex(tmp_path, SIZES)
        held, after = set(), None
        while True:
            page = index.ids("t1", "fact", ANN, after)
            held |= {h.version for h in page.items}
            if (after := page.after) is None:
                break
        found = index.search("t1", IndexQuery(ANN, ["fact"], {}, f"{acknowledged - 1}"))
        index.close()
        assert held >= set(range(acknowledged))
        assert [c.version for c in found] == [acknowledged - 1]


def test_a_second_process_is_told_that_the_index_is_in_use_and_the_first_is_unharmed(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, SIZES)
    index.upsert("t1", [point("mid-1")])
    done = subprocess.run([sys.executable, "-c", SECOND, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("qdrant|index_in_use|")
    assert "Qdrant server" in done.stdout
    with pytest.raises(UnavailableError, match="another process"):
        EdgeIndex(tmp_path, SIZES).health()
    assert index.count("t1", "fact") == 1
    index.close()
    free = EdgeIndex(tmp_path, SIZES)
    assert free.count("t1", "fact") == 1
    free.close()


def test_no_text_of_a_memory_reaches_the_disk(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, SIZES)
    index.upsert("t1", [point(f"mid-{n}", text="canaryword 我对金丝雀词过敏") for n in range(300)])
    index.close()
    files = [f for f in tmp_path.rglob("*") if f.is_file()]
    content = b"".join(f.read_bytes() for f in files)
    assert b"mid-299" in content
    for canary in ("canaryword", "金丝雀", "canary"):
        assert canary.encode() not in content
        assert canary.encode("utf-16-le") not in content


def test_a_foreign_or_retired_hit_is_dropped_even_when_the_engines_filter_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = EdgeIndex(tmp_path, SIZES)
    retired = Point(str(uuid4()), "old", "fact", ANN, 1, {"use": [1, 0, 0, 0]}, "tea", state="retired")
    index.upsert("t1", [point("ann"), point("bob", BOB), retired])
    monkeypatch.setattr(adapter, "_filter", lambda equal: qdrant_edge.Filter())
    found = index.search("t1", IndexQuery(ANN, COLLECTIONS, {"use": [1, 0, 0, 0]}, "tea"))
    index.close()
    assert [c.ref for c in found] == ["ann"]


def test_every_filtered_field_has_its_index_before_the_first_point(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, SIZES)
    index.ensure("t1")
    index.close()
    for collection in COLLECTIONS:
        shard = qdrant_edge.EdgeShard.load(str(tmp_path / collection_name("t1", collection) / "shard"))
        info = shard.info()
        shard.close()
        assert info.points_count == 0
        assert set(info.payload_schema) == set(KEYWORDS)


def test_names_of_collections_are_those_of_the_design() -> None:
    assert [collection_name("acme_1", c) for c in COLLECTIONS] == [
        "tenant_acme_1_memory_fact_vectors",
        "tenant_acme_1_memory_preference_vectors",
        "tenant_acme_1_memory_context_vectors",
        "tenant_acme_1_turn_vectors",
    ]


def test_more_tenants_than_open_shards_are_served_by_many_threads_at_once(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, SIZES, max_open=3)
    tenants = [f"t{n}" for n in range(4)]

    def work(n: int) -> int:
        tenant = tenants[n % len(tenants)]
        index.upsert(tenant, [point(f"{tenant}-{n}")])
        return len(index.search(tenant, IndexQuery(ANN, ["fact"], {"use": [1, 0, 0, 0]})))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(80)))
    assert min(found) >= 1
    assert [index.count(t, "fact") for t in tenants] == [20] * 4
    assert len(index._shards._open) <= 3
    index.close()


def test_a_shard_in_use_is_not_closed_for_others(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, SIZES, max_open=1)
    index.upsert("t0", [point("mid-1")])
    with index._shards.made(collection_name("t0", "fact")) as shard:
        for n in range(1, 4):
            index.upsert(f"t{n}", [point("mid-1")])
        assert shard.count(qdrant_edge.CountRequest(exact=True)) == 1
    index.upsert("t9", [point("mid-1")])
    assert list(index._shards._open) == [collection_name("t9", "fact")]
    index.close()


def test_a_shard_that_died_while_being_made_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = EdgeIndex(tmp_path, SIZES)

    def dies(embedders: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(edge_shards, "_config", dies)
        with pytest.raises(UnavailableError, match="no space left"):
            index.ensure("t1")
    index.upsert("t1", [point("mid-1")])
    assert index.count("t1", "fact") == 1
    index.close()


def test_a_damaged_shard_is_a_store_that_is_unavailable_until_it_is_rebuilt(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, SIZES)
    index.upsert("t1", [point("mid-1")])
    index.close()
    (tmp_path / collection_name("t1", "fact") / "embedders.json").write_text("{", "utf-8")
    with pytest.raises(UnavailableError, match="memory_fact_vectors"):
        index.count("t1", "fact")
    index.ensure("t1", fresh=True)
    assert index.count("t1", "fact") == 0
    index.close()


def test_optimizing_changes_no_answer(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, SIZES)
    index.upsert("t1", [point("ann"), point("bob", BOB), point("gone")])
    index.delete("t1", "fact", [point("gone").id])
    index.optimize("t1")
    assert [c.ref for c in index.search("t1", IndexQuery(ANN, ["fact"], {"use": [1, 0, 0, 0]}, "tea"))] == ["ann"]
    index.close()
