"""The real HTTP server around the application."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from fastapi import FastAPI

from tests.api.stub import StubGraphmem
from tests.served import served


@pytest.fixture
def port(app: FastAPI) -> Iterator[int]:
    """The application on a free loopback port; ready when the port is bound."""
    with served(app) as port:
        yield port


def ask(port: int, path: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request("GET", path, headers={"Authorization": "Bearer key-of-acme"})
        told = connection.getresponse()
        return told.status, told.read()
    finally:
        connection.close()


def test_a_search_of_twenty_thousand_chinese_characters_reaches_the_service(port: int, stub: StubGraphmem) -> None:
    query = "我想找一下之前说过的过敏的事情，" * 1250
    assert ask(port, f"/v1/users/alice/memories?q={quote(query)}")[0] == 200
    assert stub.asked[-1][2] == (query, 10, None)


def test_a_slash_inside_a_user_id_survives_the_wire(port: int, stub: StubGraphmem) -> None:
    assert ask(port, "/v1/users/a%2Fb%252F/memories")[0] == 200
    assert stub.asked[-1][1].user == "a/b%2F"
    assert ask(port, "/v1/users//memories")[0] == 422
