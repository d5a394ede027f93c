"""The façade behind the doors: opened, kept, closed; and away for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import anyio.to_thread
import pytest
from starlette.testclient import TestClient

from api import main
from api.opener import Opener
from graphmem.errors import ConfigurationError, UnavailableError
from graphmem.settings import Settings
from tests.api.conftest import KEYS
from tests.api.stub import StubGraphmem

if TYPE_CHECKING:
    from graphmem.app import Graphmem


class Lived(StubGraphmem):
    """A façade that notes its life."""

    def __init__(self) -> None:
        super().__init__(Settings())
        self.life: list[str] = []

    def start_background(self) -> None:
        self.life.append("start")

    def stop_background(self) -> None:
        self.life.append("stop")

    def close(self) -> None:
        self.life.append("close")


def opens(*outcomes: Lived | Exception) -> tuple[list[int], Opener]:
    """An opener whose attempts come out as listed, and the second hand of its clock."""
    left, clock = list(outcomes), [0]

    def attempt() -> Graphmem:
        outcome = left.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return cast("Graphmem", outcome)

    return clock, Opener(None, attempt, lambda: float(clock[0]))


def test_what_was_opened_here_is_projected_and_closed_here(monkeypatch: pytest.MonkeyPatch) -> None:
    lived = Lived()
    monkeypatch.setattr(main, "open_by", lambda settings: lambda: lived)
    with TestClient(main.create_app(settings=Settings(), keys=KEYS), headers={"Authorization": "Bearer key-of-acme"}) as client:
        assert client.get("/v1/users/alice/memories").status_code == 200
        assert lived.life == ["start"]
    assert lived.life == ["start", "stop", "close"]


def test_what_was_given_stays_its_owners() -> None:
    lived = Lived()
    with TestClient(main.create_app(cast("Graphmem", lived), keys=KEYS)) as client:
        assert client.get("/readyz").status_code == 200
    assert lived.life == []


def test_while_the_store_is_away_the_service_answers_503_and_opens_when_it_is_back() -> None:
    lived, away = Lived(), UnavailableError("no answer", store="neo4j")
    clock, opener = opens(away, lived)
    opener.start()
    clock[0] = 1
    with pytest.raises(UnavailableError):
        opener.graphmem()
    assert lived.life == []
    clock[0] = 3
    assert opener.graphmem() is cast("Graphmem", lived)
    assert opener.graphmem() is cast("Graphmem", lived)
    assert lived.life == ["start"]


def test_a_service_that_is_not_set_up_right_does_not_start() -> None:
    _, opener = opens(ConfigurationError("dimensions differ"))
    with pytest.raises(ConfigurationError):
        opener.start()


def test_with_the_store_away_the_doors_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def dead() -> Graphmem:
        raise UnavailableError("no answer", store="neo4j", retry_after=4)

    monkeypatch.setattr(main, "open_by", lambda settings: dead)
    with TestClient(main.create_app(settings=Settings(), keys=KEYS), headers={"Authorization": "Bearer key-of-acme"}) as client:
        assert client.get("/livez").status_code == 200
        assert client.get("/readyz").json()["checks"] == [{"name": "neo4j", "ok": False, "detail": "no answer"}]
        told = client.get("/v1/users/alice/memories")
        assert (told.status_code, told.headers["retry-after"], told.json()["code"]) == (503, "4", "unavailable")


def test_eighty_requests_may_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    async def tokens() -> dict[str, bool]:
        seen.append(anyio.to_thread.current_default_thread_limiter().total_tokens)
        return {}

    app = main.create_app(cast("Graphmem", Lived()), keys=KEYS)
    app.add_api_route("/tokens", tokens)
    with TestClient(app) as client:
        client.get("/tokens")
    assert seen == [80]
