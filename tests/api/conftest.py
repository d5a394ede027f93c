"""One application over the stub, reached through Starlette's own client; a key for each of two tenants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from starlette.testclient import TestClient

from api.main import create_app
from graphmem.settings import Settings
from tests.api.stub import StubGraphmem

if TYPE_CHECKING:
    from graphmem.app import Graphmem

KEYS = {"key-of-acme": "acme", "key-of-blue": "blue"}
SECRET = "a-secret-of-thirty-two-bytes-and-more"


@pytest.fixture(scope="session")
def whole() -> tuple[StubGraphmem, FastAPI]:
    """One application for all tests of translation; building it takes longer than most of them."""
    stub = StubGraphmem(Settings(zone="Asia/Shanghai", token_secret=SecretStr(SECRET), max_text=1000))
    return stub, create_app(cast("Graphmem", stub), keys=KEYS)


@pytest.fixture
def stub(whole: tuple[StubGraphmem, FastAPI]) -> StubGraphmem:
    """The façade behind the application, as new."""
    whole[0].reset()
    return whole[0]


@pytest.fixture
def app(whole: tuple[StubGraphmem, FastAPI], stub: StubGraphmem) -> FastAPI:
    return whole[1]


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, headers={"Authorization": "Bearer key-of-acme"}) as client:
        yield client


@pytest.fixture
def nobody(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app) as client:
        yield client
