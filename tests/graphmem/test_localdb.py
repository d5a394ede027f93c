"""One long-lived server per data home, whatever happens to it."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from graphmem import browserhost, localdb, localstate
from graphmem.errors import ConfigurationError, UnavailableError
from graphmem.localdb import Server
from graphmem.loopback import free_ports
from graphmem.stores.neo4j_probe import probe

ANOTHER_PROCESS = """
import sys
from graphmem import localdb
from graphmem.stores.neo4j_probe import probe
print(localdb.up(sys.argv[1], probe=probe, profile="test").pid)
"""


def _up(home: Path) -> Server:
    return localdb.up(home, probe=probe, profile="test")


def _count(server: Server, query: str) -> int:
    with GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as driver:
        return int(driver.execute_query(query, database_="neo4j").records[0][0])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data home whose server the tests of this file may start, stop and kill."""
    folder = tmp_path_factory.mktemp("home")
    yield folder
    localdb.down(folder)


def test_two_commands_at_once_start_one_server(home: Path) -> None:
    commands = [
        subprocess.Popen(
            [sys.executable, "-c", ANOTHER_PROCESS, str(home)], stdout=subprocess.PIPE, text=True, cwd=Path(localdb.__file__).parents[1]
        )
        for _ in range(2)
    ]
    pids = {int(command.communicate(timeout=120)[0]) for command in commands}
    assert len(pids) == 1
    assert _up(home).pid == pids.pop()


def test_the_server_outlives_its_starter_and_is_found_again(home: Path) -> None:
    server = _up(home)
    assert _up(home) == server == localdb.status(home)
    assert _count(server, "RETURN 1") == 1
    assert os.getsid(server.pid) == server.pid != os.getsid(0)


def test_password_and_state_are_for_the_owner_only(home: Path) -> None:
    server = _up(home)
    modes = {name: stat.S_IMODE((home / "neo4j" / name).stat().st_mode) for name in (".", "password", "server.json")}
    assert modes == {".": 0o700, "password": 0o600, "server.json": 0o600}
    assert server.password not in repr(server)
    assert probe(server.uri, "not the password") == "refused"


def test_the_browser_answers(home: Path) -> None:
    server = _up(home)
    connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=30)
    connection.request("GET", "/browser/")
    answer = connection.getresponse()
    page = answer.read()
    connection.close()
    assert (answer.status, b"<html" in page.lower()) == (200, True)
    assert server.browser_url.endswith(f":{server.http_port}/browser/")


def test_style_and_guide_are_served_beside_the_browser_and_to_its_preflight(home: Path) -> None:
    server = _up(home)
    assert browserhost.serves_kit(server.http_port)
    connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=30)
    for name, content in browserhost.files().items():
        connection.request("GET", f"/browser/graphmem/{name}")
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, content)
    asks = {"Origin": "http://localhost", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "cache-control,pragma"}
    connection.request("OPTIONS", f"/browser/graphmem/{browserhost.GUIDE}", headers=asks)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.getheader("Access-Control-Allow-Headers") == "cache-control,pragma"
    conf = (home / "neo4j" / "conf" / "neo4j.conf").read_text(encoding="utf-8")
    assert f"play http://127.0.0.1:{server.http_port}/browser/graphmem/guide.html\n" in conf


def test_a_damaged_state_file_does_not_lose_the_running_server(home: Path) -> None:
    server = _up(home)
    (home / "neo4j" / "server.json").write_text('{"pid": ', encoding="utf-8")
    assert localdb.status(home) == server
    assert _up(home) == server
    (home / "neo4j" / "run" / "neo4j.pid").unlink()
    assert localdb.status(home) == server, "up has written the note anew"


def test_a_wrong_stored_password_is_told_and_the_running_server_left_alone(home: Path) -> None:
    server, path = _up(home), home / "neo4j" / "password"
    path.write_text("another-password\n", encoding="utf-8")
    try:
        with pytest.raises(ConfigurationError, match="is not the one of the data in") as wrong:
            _up(home)
    finally:
        path.write_text(server.password + "\n", encoding="utf-8")
    assert "Put the right password into that file" in (wrong.value.hint or "")
    assert _up(home) == server


def test_after_kill_9_a_new_start_has_the_data_and_passes_a_taken_port(home: Path) -> None:
    old = _up(home)
    assert _count(old, "CREATE (:Kept) RETURN 1") == 1
    os.kill(old.pid, signal.SIGKILL)
    _await_end(old)
    assert localdb.status(home) is None
    with socket.create_server(("127.0.0.1", old.http_port)):
        new = _up(home)
    assert new.pid != old.pid
    assert new.bolt_port == old.bolt_port, "a free port is kept, so that drivers find the server again"
    assert new.http_port != old.http_port
    assert _count(new, "MATCH (k:Kept) RETURN count(k)") == 1


def test_down_stops_it_once(home: Path) -> None:
    server = _up(home)
    assert localdb.down(home) is True
    assert localdb.down(home) is False
    assert localdb.status(home) is None
    assert "Stopped." in (home / "neo4j" / "console.log").read_text(encoding="utf-8")
    assert probe(server.uri, server.password) == "starting"


def test_a_port_taken_between_look_and_start_is_passed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        looks = iter([(free_ports(0)[0], other.getsockname()[1])])
        monkeypatch.setattr(localdb, "free_ports", lambda *wanted: next(looks, None) or free_ports(0, 0))
        server = _up(home)
        assert server.http_port != other.getsockname()[1]
    assert "PortBindException" in (home / "neo4j" / "console.log").read_text(encoding="utf-8")
    localdb.down(home)


def test_a_setting_that_neo4j_refuses_is_named(home: Path) -> None:
    with pytest.raises(
        UnavailableError, match=r"starting: Error evaluating value for setting 'server\.memory\.pagecache\.size'"
    ) as refused:
        localdb.up(home, probe=probe, profile="test", extra_conf={"server.memory.pagecache.size": "plenty"})
    assert "console.log" in (refused.value.hint or "")
    assert localdb.status(home) is None


def test_looking_and_stopping_make_no_home(tmp_path: Path) -> None:
    assert localdb.status(tmp_path / "none") is None
    assert localdb.down(tmp_path / "none") is False
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_took_over_the_number_is_not_taken_for_the_server(tmp_path: Path) -> None:
    folder = tmp_path / "neo4j"
    folder.mkdir()
    localstate.write_state(folder, localstate.State(os.getpid(), "another start", 1, 2))
    assert localdb.status(tmp_path) is None
    assert localdb.down(tmp_path) is False


def test_the_data_home_is_the_given_one_then_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_HOME", str(tmp_path / "variable"))
    assert localdb.data_home(tmp_path / "given") == tmp_path / "given"
    assert localdb.data_home() == tmp_path / "variable"
    monkeypatch.delenv("GRAPHMEM_HOME")
    assert localdb.data_home().name == "graphmem"


def _await_end(server: Server) -> None:
    while localdb.status(server.home) is not None:
        os.sched_yield()
