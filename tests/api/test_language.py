"""Messages are in the language the caller prefers; every code has its words in both, and a page that says them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.errors import CLASSES, TABLE
from api.language import language_of
from api.words_zh import SAID
from graphmem import errors
from graphmem.errors import ConfigurationError, GraphmemError, InvalidInputError, NotFoundError, PackError
from graphmem.memory import Text2
from graphmem.refusals import PACK, field_words, refusals
from tests.api.stub import StubGraphmem

ROOT = Path(__file__).parents[2]
HAN = re.compile(r"[一-鿿]")
USER = "/v1/users/alice"


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("zh", "zh"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("ZH-Hant-TW", "zh"),
        ("en-GB,zh;q=0.9", "en"),
        ("en;q=0.2, zh;q=0.3", "zh"),
        ("en;q=0.5,zh;q=0.5", "en"),
        ("zh;q=0.5,en;q=0.5", "zh"),
        ("fr,de;q=0.9", "en"),
        ("fr,*;q=0.5", "en"),
        ("en;q=0,*", "zh"),
        ("en;q=0", "en"),
        ("zh;q=0", "en"),
        ("zh;q=2", "en"),
        ("zh;q=abc,;;,en;q=0.1", "en"),
        ("zh-CN;q=0.1,zh;q=0.9,en;q=0.5", "zh"),
        ("x" * 10_000, "en"),
    ],
)
def test_the_language_with_the_higher_weight_is_chosen(header: str | None, language: str) -> None:
    assert language_of(header) == language


def test_a_refusal_is_told_in_chinese_to_who_prefers_it(client: TestClient, stub: StubGraphmem) -> None:
    stub.fault = NotFoundError("no memory of that id")
    zh = client.get(f"{USER}/memories/x", headers={"Accept-Language": "zh-CN,en;q=0.5"})
    en = client.get(f"{USER}/memories/x", headers={"Accept-Language": "en"})
    assert (zh.headers["content-language"], en.headers["content-language"]) == ("zh", "en")
    assert zh.headers["vary"] == "Accept-Language"
    assert zh.json()["title"] == "没有找到" and HAN.search(zh.json()["hint"])
    assert zh.json()["detail"] == "没有找到：no memory of that id"
    assert not HAN.search("".join(str(v) for v in en.json().values()))
    assert zh.json()["code"] == en.json()["code"] == "not_found"


def test_each_wrong_field_is_explained_in_chinese(client: TestClient) -> None:
    told = client.post(f"{USER}/turns", json={"text": " ", "role": "user", "colour": 1}, headers={"Accept-Language": "zh"}).json()
    assert {(e["field"], e["code"], e["message"]) for e in told["errors"]} == {
        ("text", "blank", "是空白的"),
        ("colour", "unknown_field", "没有这个字段"),
    }


def test_what_is_wrong_with_the_service_is_masked_in_both_languages(client: TestClient, stub: StubGraphmem) -> None:
    stub.fault = ConfigurationError("bolt://db.internal: password", code="embedders_changed", hint="set the password")
    for language in ("zh", "en"):
        told = client.get(f"{USER}/memories", headers={"Accept-Language": language})
        assert told.status_code == 500
        assert "db.internal" not in told.text and "password" not in told.text


def test_a_turn_of_a_batch_is_refused_in_the_callers_language(client: TestClient) -> None:
    told = client.post(f"{USER}/turns:batch", json={"turns": [{"text": "", "role": "user"}]}, headers={"Accept-Language": "zh"}).json()
    assert told["items"][0]["error"]["title"] == "输入无效"


def _raised() -> dict[str, set[str]]:
    """Code → classes it is raised with, wherever the source says `SomethingError(…, code="…")` or a class holds its `code`."""
    found: dict[str, set[str]] = {}
    for folder in ("graphmem", "api"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id.endswith("Error"):
                    for word in node.keywords:
                        if word.arg == "code" and isinstance(word.value, ast.Constant) and isinstance(word.value.value, str):
                            found.setdefault(word.value.value, set()).add(node.func.id)
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, GraphmemError) and "code" in vars(kind):
            found.setdefault(str(vars(kind)["code"]), set()).add(kind.__name__)
    return found


def test_every_code_that_is_raised_has_words_in_both_languages_and_the_status_of_its_class() -> None:
    raised = _raised()
    assert {"version_conflict", "unknown_event", "not_found"} <= set(raised)
    assert sorted(set(raised) - set(refusals())) == []
    rows = {kind.__name__: code for kind, code in CLASSES}
    for code, classes in raised.items():
        for name in classes & set(rows):
            of = code if code in TABLE else rows[name]
            assert TABLE[refusals()[code].of].status == TABLE[of].status, (code, name)


def test_every_code_of_the_table_is_one_of_the_pack_and_says_so_in_both_languages() -> None:
    assert set(TABLE) == {text.of for text in refusals().values()} == set(SAID)
    for text in refusals().values():
        for words in (text.title, text.when, text.do):
            assert isinstance(words, Text2)
            assert HAN.search(words.zh) and not HAN.search(words.en) and words.en, text.code
    assert all(HAN.search(words) for words in field_words().values())


@pytest.mark.parametrize("code", sorted(refusals()))
def test_every_code_leads_to_its_page(nobody: TestClient, code: str) -> None:
    told = nobody.get(f"/errors/{code}")
    assert (told.status_code, told.json()["code"]) == (200, code)
    page = nobody.get(f"/errors/{code}", headers={"Accept": "text/html,*/*;q=0.8"})
    text = refusals()[code]
    assert page.headers["content-type"].startswith("text/html") and page.headers["content-security-policy"].startswith("default-src 'none'")
    assert text.title.zh in page.text and code in page.text
    for name in ("docs/reference/errors.md", "docs/reference/errors.zh-CN.md"):
        assert re.search(rf"^## {code}$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)


def test_a_pack_of_errors_with_a_mistake_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "errors.yaml"
    wrong.write_text(PACK.read_text(encoding="utf-8").replace("    of: conflict\n", "    of: nothing\n", 1), encoding="utf-8")
    monkeypatch.setattr("graphmem.refusals.PACK", wrong)
    with pytest.raises(PackError, match="'turn_id_taken' is of 'nothing'"):
        refusals.__wrapped__()  # the function itself, past its cache


def test_a_code_without_a_page_of_its_own_leads_to_the_one_of_its_class(client: TestClient, stub: StubGraphmem) -> None:
    stub.fault = InvalidInputError("is new", code="brand_new")
    assert client.get(f"{USER}/memories").json()["type"] == "/errors/invalid_input"
