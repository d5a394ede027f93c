"""What a Qdrant server can do wrong, told by class and status: a small HTTP server plays it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

import pytest

from graphmem.errors import ConfigurationError, GraphmemError, UnavailableError
from graphmem.ports import IndexQuery, Point
from graphmem.stores.qdrant_server import ServerIndex

SIZES = {"use": 4}
ANN = "a" * 32


class Played:
    """A server that answers every request with one status and remembers the requests."""

    def __init__(self) -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.hang = threading.Event()
        self.silent = False
        self.seen: list[tuple[str, str]] = []
        played = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                played.seen.append((self.command, self.path))
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if played.silent:
                    played.hang.wait(20)
                body = json.dumps({"status": {"error": "played"}, "time": 0, "result": None}).encode()
                self.send_response(played.status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **played.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT = do_POST = do_DELETE = answer  # noqa: N815 - the base class looks for these names

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.hang.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def played() -> Iterator[Played]:
    made = Played()
    yield made
    made.stop()


def calls(index: ServerIndex) -> list[GraphmemError]:
    """The error of each method, called once."""
    point = Point(str(uuid4()), "mid-1", "fact", ANN, 1, {"use": [1, 0, 0, 0]}, "tea")
    found = []
    for call in (
        index.health,
        lambda: index.ensure("t1"),
        lambda: index.upsert("t1", [point]),
        lambda: index.delete("t1", "fact", [point.id]),
        lambda: index.search("t1", IndexQuery(ANN, ["fact"], {}, "tea")),
        lambda: index.ids("t1", "fact"),
        lambda: index.count("t1", "fact"),
    ):
        with pytest.raises(GraphmemError) as caught:
            call()
        found.append(caught.value)
    return found


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_failing_server_is_a_store_that_is_unavailable(played: Played, status: int) -> None:
    played.status = status
    index = ServerIndex(played.url, None, SIZES)
    assert {(type(e), getattr(e, "store", None)) for e in calls(index)} == {(UnavailableError, "qdrant")}
    index.close()


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_a_matter_of_configuration(played: Played, status: int) -> None:
    played.status = status
    index = ServerIndex(played.url, "wrong", SIZES)
    assert {(type(e), "GRAPHMEM_QDRANT_API_KEY" in (e.hint or "")) for e in calls(index)} == {(ConfigurationError, True)}
    index.close()


def test_a_refused_request_is_a_matter_of_configuration(played: Played) -> None:
    played.status = 400
    index = ServerIndex(played.url, None, SIZES)
    assert {type(e) for e in calls(index)} == {ConfigurationError}
    index.close()


def test_a_server_that_limits_our_rate_says_when_to_come_back(played: Played) -> None:
    played.status, played.headers = 429, {"Retry-After": "7"}
    index = ServerIndex(played.url, None, SIZES)
    assert {getattr(e, "retry_after", None) for e in calls(index)} == {7}
    index.close()


def test_a_server_that_is_gone_is_unavailable() -> None:
    gone = Played()
    gone.stop()
    index = ServerIndex(gone.url, None, SIZES)
    assert {type(e) for e in calls(index)} == {UnavailableError}
    index.close()


def test_a_frozen_server_is_given_up_after_the_timeout(played: Played) -> None:
    played.silent = True
    index = ServerIndex(played.url, None, SIZES, timeout=1)
    with pytest.raises(UnavailableError):
        index.health()
    index.close()


def test_a_collection_that_is_not_there_holds_nothing(played: Played) -> None:
    played.status = 404
    index = ServerIndex(played.url, None, SIZES)
    assert index.search("t1", IndexQuery(ANN, ["fact", "turn"], {}, "tea")) == []
    assert (index.count("t1", "fact"), index.ids("t1", "fact").items) == (0, ())
    index.delete("t1", "fact", [str(uuid4())])
    assert {path.split("?")[0] for _, path in played.seen[:2]} == {
        "/collections/tenant_t1_memory_fact_vectors/points/query/batch",
        "/collections/tenant_t1_turn_vectors/points/query/batch",
    }
    index.close()


def test_opening_an_index_asks_the_server_nothing(played: Played) -> None:
    ServerIndex(played.url, None, SIZES).close()
    assert played.seen == []


def test_the_in_process_index_does_not_load_the_servers_client() -> None:
    code = "import sys, graphmem.stores.qdrant_edge; assert 'qdrant_client' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
