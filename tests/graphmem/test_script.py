"""A script is cut where the language cuts it: not in texts, names or comments."""

from __future__ import annotations

import pytest

from graphmem.errors import InvalidInputError
from graphmem.importing.script import Statement, statements


def texts(script: str) -> list[str]:
    return [s.text for s in statements(script)]


def test_semicolons_in_texts_names_and_comments_end_nothing() -> None:
    script = """CREATE (:A {x: 'one; "two"; it\\'s'}); // a; b
    /* c; d
    */ CREATE (:`B;` {y: "three; 'four'"}) ;
    // the end;
    RETURN 1"""
    assert texts(script) == ["CREATE (:A {x: 'one; \"two\"; it\\'s'})", "CREATE (:`B;` {y: \"three; 'four'\"})", "RETURN 1"]


def test_an_address_in_a_text_is_no_comment() -> None:
    assert texts("CREATE (:A {x: 'http://a/b'});\nRETURN 2;") == ["CREATE (:A {x: 'http://a/b'})", "RETURN 2"]


def test_each_statement_knows_its_line_and_whether_it_commits_by_itself() -> None:
    batched = ":auto MATCH (n)\nCALL (n) { DELETE n } IN 2 CONCURRENT TRANSACTIONS OF 10 ROWS;\n"
    script = "// first\n\nCREATE (:A);\n" + batched + "RETURN 'IN TRANSACTIONS';"
    found = statements(script)
    assert [(s.line, s.batched) for s in found] == [(3, False), (4, True), (6, False)]
    assert found[1].text.startswith("MATCH (n)")


def test_param_lines_give_values_with_or_without_a_semicolon() -> None:
    script = ":param tenant => 'default'\n:param rows => [{a: 1}];\nUNWIND $rows AS row RETURN row;"
    assert statements(script)[:2] == [Statement("RETURN 'default' AS value", 1, "tenant"), Statement("RETURN [{a: 1}] AS value", 2, "rows")]


@pytest.mark.parametrize("script", ["", "// nothing\n", " ;; \n"])
def test_an_empty_script_has_no_statement(script: str) -> None:
    assert statements(script) == []


def test_other_commands_of_a_shell_are_refused_with_their_line() -> None:
    with pytest.raises(InvalidInputError, match="line 2: ':use'"):
        statements("RETURN 1;\n:use neo4j;")
