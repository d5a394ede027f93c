"""The class path is exactly what the lock says, wherever it comes from."""

from __future__ import annotations

import hashlib
import http.server
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import jars
from graphmem.errors import ConfigurationError
from graphmem.jars import Jar


def _jar(name: str, content: bytes) -> Jar:
    return Jar(f"org.example:{name}:1.0", hashlib.sha256(content).hexdigest(), len(content))


def _put(repository: Path, jar: Jar, content: bytes) -> None:
    path = repository / jar.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository of Maven layout, the only one in reach; no local Maven cache."""
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("M2_REPO", raising=False)
    monkeypatch.setenv("GRAPHMEM_MAVEN_URL", folder.as_uri())
    monkeypatch.setattr(jars, "BACKOFF_S", 0.0)
    return folder


def test_jars_are_fetched_checked_and_counted(repository: Path, tmp_path: Path) -> None:
    contents = {f"part-{number}": f"bytes {number}".encode() * 20_000 for number in range(12)}
    lock = [_jar(name, content) for name, content in contents.items()]
    for jar, content in zip(lock, contents.values(), strict=True):
        _put(repository, jar, content)
    seen: list[tuple[int, int]] = []
    jars.fetch(lock, tmp_path / "lib", lambda done, total: seen.append((done, total)))
    assert {path.name: path.read_bytes() for path in (tmp_path / "lib").iterdir()} == {
        jar.name: content for jar, content in zip(lock, contents.values(), strict=True)
    }
    total = sum(jar.size for jar in lock)
    assert seen[-1] == (total, total)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_jar_with_another_sha256_is_refused_and_not_kept(repository: Path, tmp_path: Path) -> None:
    jar = _jar("tool", b"what was locked")
    _put(repository, jar, b"what was forged")
    with pytest.raises(
        ConfigurationError, match=r"org\.example:tool:1\.0 is refused: its SHA-256 is [0-9a-f]{64}, the lock says"
    ) as refused:
        jars.fetch([jar], tmp_path / "lib")
    assert refused.value.hint is not None
    assert list((tmp_path / "lib").iterdir()) == []


def test_a_damaged_jar_is_fetched_again_and_a_stale_one_removed(repository: Path, tmp_path: Path) -> None:
    jar, lib = _jar("tool", b"right"), tmp_path / "lib"
    _put(repository, jar, b"right")
    lib.mkdir()
    (lib / jar.name).write_bytes(b"wrong")
    (lib / "tool-0.9.jar").write_bytes(b"stale")
    (lib / f"{jar.name}.part99").write_bytes(b"half")
    jars.fetch([jar], lib)
    assert {path.name: path.read_bytes() for path in lib.iterdir()} == {jar.name: b"right"}


def test_what_is_complete_is_not_asked_for_again(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = _jar("tool", b"right")
    _put(repository, jar, b"right")
    jars.fetch([jar], tmp_path / "lib")
    monkeypatch.setenv("GRAPHMEM_MAVEN_URL", (tmp_path / "nowhere").as_uri())
    seen: list[int] = []
    jars.fetch([jar], tmp_path / "lib", lambda done, total: seen.append(done))
    assert seen == []


def test_the_local_maven_cache_comes_first_unless_its_file_is_another(repository: Path, tmp_path: Path) -> None:
    cache = tmp_path / "home" / ".m2" / "repository"
    good, forged = _jar("good", b"good"), _jar("forged", b"right")
    _put(cache, good, b"good")
    _put(cache, forged, b"wrong")
    _put(repository, forged, b"right")
    jars.fetch([good, forged], tmp_path / "lib")
    assert (tmp_path / "lib" / good.name).samefile(cache / good.path)
    assert (tmp_path / "lib" / forged.name).read_bytes() == b"right"


def test_without_a_network_the_words_say_how_to_get_it(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as closed:
        port = closed.server_address[1]
    monkeypatch.setenv("GRAPHMEM_MAVEN_URL", f"http://127.0.0.1:{port}/maven/")
    with pytest.raises(ConfigurationError, match=r"org\.example:tool:1\.0 could not be fetched") as missing:
        jars.fetch([_jar("tool", b"right")], tmp_path / "lib")
    assert "GRAPHMEM_MAVEN_URL" in (missing.value.hint or "")


class _Faulty(http.server.BaseHTTPRequestHandler):
    """Breaks off the first answer in the middle, and answers the second with 503; from then on it works."""

    content = b"x" * 100_000
    asked: list[str] = []  # noqa: RUF012 - shared by the handlers of one test server

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if len(self.asked) == 2:
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content if len(self.asked) > 2 else self.content[:70_000])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        pass


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Faulty]]:
    _Faulty.asked.clear()
    with http.server.HTTPServer(("127.0.0.1", 0), _Faulty) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setenv("GRAPHMEM_MAVEN_URL", f"http://127.0.0.1:{server.server_port}/maven/")
        yield _Faulty
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("repository")
def test_a_broken_transfer_is_tried_again_and_not_counted_twice(faulty: type[_Faulty], tmp_path: Path) -> None:
    jar, seen = _jar("tool", faulty.content), [0]
    jars.fetch([jar], tmp_path / "lib", lambda done, total: seen.append(done))
    assert (tmp_path / "lib" / jar.name).read_bytes() == faulty.content
    assert seen[-1] == jar.size
    assert faulty.asked == [f"/maven/{jar.path}"] * 3


def test_the_address_comes_from_mavens_own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GRAPHMEM_MAVEN_URL", raising=False)
    (tmp_path / ".m2").mkdir()
    (tmp_path / ".m2" / "settings.xml").write_text(
        """<settings xmlns="urn:example"><mirrors>
        <mirror><id>a</id><mirrorOf>snapshots</mirrorOf><url>http://a.example/m2</url></mirror>
        <mirror><id>b</id><mirrorOf>other, external:*</mirrorOf><url>http://b.example/m2/</url></mirror>
        </mirrors></settings>""",
        encoding="utf-8",
    )
    assert jars.base_url() == "http://b.example/m2"
    monkeypatch.setenv("GRAPHMEM_MAVEN_URL", "https://c.example/m2/")
    assert jars.base_url() == "https://c.example/m2"


@pytest.mark.parametrize("text", ["javascript:alert(1)", "mirror.example/m2"])
def test_an_address_of_another_kind_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_MAVEN_URL", text)
    with pytest.raises(ConfigurationError, match="not an address of a Maven repository"):
        jars.base_url()


def test_a_bad_lock_line_is_named_by_its_number() -> None:
    with pytest.raises(ConfigurationError, match=r"x\.lock:2: not `group:artifact:version sha256 size`: nonsense"):
        jars.parse_lock([f"org.example:tool:1.0 {'0' * 64} 12", "nonsense"], source="x.lock")


@pytest.mark.parametrize(("name", "count"), [("neo4j-5.26.30.lock", 214), ("models.lock", 1)])
def test_the_shipped_locks_are_whole_and_hold_no_address(name: str, count: int) -> None:
    lock = jars.read_lock(name)
    assert len(lock) == len({jar.name for jar in lock}) == count
    assert not [jar for jar in lock if "/" in jar.coordinate]
    assert lock[0].path.endswith(lock[0].name)
