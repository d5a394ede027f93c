"""The document is current, and its page asks no outside host."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
from starlette.testclient import TestClient

from api import openapi
from api.service import STATIC


def test_the_committed_document_is_current() -> None:
    assert openapi.SNAPSHOT.read_text(encoding="utf-8") == openapi.snapshot(), "run python -m api.openapi --write"
    assert openapi.main([]) == 0


def test_a_stale_document_is_found_and_mended(
    tmp_path: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = STATIC.parent / "openapi.json"
    stale = type(path)(str(tmp_path)) / "openapi.json"
    monkeypatch.setattr(openapi, "SNAPSHOT", stale)
    assert openapi.main([]) == 1
    assert "--write" in capsys.readouterr().err
    assert openapi.main(["--write"]) == 0
    assert stale.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")


def test_every_route_has_an_operation_id_of_its_own_and_the_contracts_names() -> None:
    paths = json.loads(openapi.SNAPSHOT.read_text(encoding="utf-8"))["paths"]
    ids = [operation["operationId"] for operations in paths.values() for operation in operations.values()]
    assert len(ids) == len(set(ids))
    contract = (
        "injectTurn remember recall listMemories getMemory memoryHistory latestMemory forgetMemory confirmMemory rejectMemory getReceipt"
    )
    assert set(contract.split()) <= set(ids)
    assert {f"{name}ForMe" for name in contract.split()} <= set(ids)


def test_every_reference_of_the_document_leads_somewhere() -> None:
    document = json.loads(openapi.SNAPSHOT.read_text(encoding="utf-8"))
    for ref in re.findall(r'"\$ref": "#/components/schemas/([^"]+)"', json.dumps(document)):
        assert ref in document["components"]["schemas"]


def test_the_page_asks_no_outside_host(nobody: TestClient) -> None:
    page = nobody.get("/docs")
    assert page.status_code == 200
    asked = re.findall(r'(?:src|href)="([^"]*)"', page.text) + re.findall(r"url: '([^']*)'", page.text)
    assert len(asked) == 4
    for address in asked:
        assert re.match(r"/(?!/)", address), address
        assert nobody.get(address).status_code == 200
    assert "://" not in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "://" not in policy
    assert "*" not in policy


def test_the_page_works_behind_a_prefix(nobody: TestClient) -> None:
    with TestClient(nobody.app, root_path="/memory") as client:
        page = client.get("/memory/docs").text
    assert 'src="/memory/static/swagger-ui-bundle.js"' in page
    assert "url: '/memory/openapi.json'" in page


def test_vendored_files_are_what_was_vendored() -> None:
    rows = re.findall(r"\| `([^`]+)` \| `([0-9a-f]{64})` \|", (STATIC / "VENDOR.md").read_text(encoding="utf-8"))
    assert {name for name, _ in rows} == {p.name for p in STATIC.iterdir() if p.is_file()} - {"VENDOR.md"}
    for name, digest in rows:
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest
