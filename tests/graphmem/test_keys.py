"""Keys outside the graph."""

from __future__ import annotations

import base64
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from uuid import UUID

import pytest

from graphmem.errors import ConfigurationError
from graphmem.stores.keys import load_master, point_id, pseudonym, tenant_key

MASTER = bytes(range(32))


def test_a_point_id_is_a_uuid_that_depends_on_the_memory_and_the_embedders_alone() -> None:
    made = point_id("张三-1", ["use", "e5"])
    assert UUID(made).version == 5
    assert made == point_id("张三-1", ["e5", "use", "use"])
    assert len({made, point_id("张三-2", ["use", "e5"]), point_id("张三-1", ["use"])}) == 3


def test_a_pseudonym_depends_on_tenant_and_exact_user_and_tells_neither() -> None:
    one, two = tenant_key(MASTER, "one"), tenant_key(MASTER, "two")
    made = {pseudonym(key, user) for key in (one, two) for user in ("alice", "alice ", "Alice", "张三", "*")}
    assert len(made) == 10
    assert all(len(p) == 32 and int(p, 16) >= 0 for p in made)
    assert pseudonym(one, "alice") == pseudonym(tenant_key(MASTER, "one"), "alice")
    assert tenant_key(bytes(32), "one") != one


def test_the_master_key_is_made_once_and_only_its_owner_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHMEM_MASTER_KEY", raising=False)
    home = tmp_path / "home"
    key = load_master(home)
    assert len(key) == 32
    assert load_master(home) == key
    assert stat.S_IMODE((home / "master.key").stat().st_mode) == 0o600


def test_processes_that_start_at_once_share_one_master_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHMEM_MASTER_KEY", raising=False)
    code = "import sys; from pathlib import Path; from graphmem.stores.keys import load_master; print(load_master(Path(sys.argv[1])).hex())"
    children = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert len({child.communicate()[0] for child in children}) == 1
    assert all(child.returncode == 0 for child in children)


def test_threads_that_ask_at_once_share_one_master_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHMEM_MASTER_KEY", raising=False)
    made: list[bytes] = []

    def slow(count: int) -> bytes:
        Event().wait(0.2)  # long enough for the others to come to the same place
        made.append(bytes([len(made)]) * count)
        return made[-1]

    monkeypatch.setattr("graphmem.stores.keys.os.urandom", slow)
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(load_master, [tmp_path] * 4))) == 1


def test_a_key_from_the_environment_goes_first_and_a_bad_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_MASTER_KEY", base64.b64encode(MASTER).decode())
    assert load_master(tmp_path) == MASTER
    assert not (tmp_path / "master.key").exists()
    for bad in ("not base64!", base64.b64encode(b"short").decode()):
        monkeypatch.setenv("GRAPHMEM_MASTER_KEY", bad)
        with pytest.raises(ConfigurationError, match="GRAPHMEM_MASTER_KEY"):
            load_master(tmp_path)


def test_a_damaged_key_file_is_refused_and_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHMEM_MASTER_KEY", raising=False)
    (tmp_path / "master.key").write_bytes(b"cut")
    with pytest.raises(ConfigurationError, match="3 bytes"):
        load_master(tmp_path)
    assert (tmp_path / "master.key").read_bytes() == b"cut"
