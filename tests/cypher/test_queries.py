"""Every query of cypher/ against the real planner, and every way the loader refuses a bad file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from graphmem.app import Graphmem
from graphmem.errors import QueryFileError
from graphmem.stores import cypher

QUERIES = cypher.load()
SCANS = ("AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "RelationshipTypeScan", "AllRelationshipsScan")
WITHIN_A_TENANT = sorted(q.name for q in QUERIES.values() if q.reach in ("user", "tenant"))
READS_OF_A_USER = sorted(q.name for q in QUERIES.values() if q.reach == "user" and q.mode == "read")


@pytest.fixture(scope="module")
def plans(graphmem: Graphmem) -> dict[str, Mapping[str, Any]]:
    """The plan of every query, as the real server makes it."""
    found: dict[str, Mapping[str, Any]] = {}
    with graphmem.neo4j.driver.session(database=graphmem.neo4j.database) as session:
        for query in QUERIES.values():
            explained = session.run(f"EXPLAIN {query.text}", {"in": {}}).consume()
            found[query.name] = cast(Mapping[str, Any], explained.plan)
    return found


def operators(plan: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Every operator with whether it is a leaf, the first to run first."""
    children = plan.get("children", [])
    for child in children:
        yield from operators(child)
    yield plan["operatorType"].partition("@")[0], not children


def test_every_query_is_understood_by_the_server(plans: dict[str, Mapping[str, Any]]) -> None:
    assert set(plans) == set(QUERIES) and all(plan is not None for plan in plans.values())


@pytest.mark.parametrize("name", WITHIN_A_TENANT)
def test_a_query_of_a_user_or_tenant_scans_no_label_and_no_store(plans: dict[str, Mapping[str, Any]], name: str) -> None:
    assert [op for op, _ in operators(plans[name]) if op.endswith(SCANS)] == []


@pytest.mark.parametrize("name", READS_OF_A_USER)
def test_a_read_of_a_user_starts_at_an_index(plans: dict[str, Mapping[str, Any]], name: str) -> None:
    leaves = [op for op, leaf in operators(plans[name]) if leaf and op not in ("Argument", "Unwind")]
    assert "IndexSeek" in leaves[0] and all("IndexSeek" in leaf for leaf in leaves)


@pytest.mark.parametrize("name", sorted(q.name for q in QUERIES.values() if q.mode == "read"))
def test_a_read_changes_nothing(plans: dict[str, Mapping[str, Any]], name: str) -> None:
    kinds = {op for op, _ in operators(plans[name])}
    assert not {
        op for op in kinds if op.startswith(("Create", "Merge", "Delete", "DetachDelete", "SetP", "SetNode", "SetRel", "Set", "Remove"))
    }


@pytest.mark.parametrize("name", sorted(q.name for q in QUERIES.values() if q.mode == "write" and q.reach == "user"))
def test_a_write_of_a_user_starts_at_the_users_key_or_at_a_key_of_theirs(plans: dict[str, Mapping[str, Any]], name: str) -> None:
    first = next(op for op, leaf in operators(plans[name]) if leaf and op not in ("Argument", "Unwind"))
    assert "IndexSeek" in first


# --- the loader

GOOD = """// A file.

// name: one_thing
// mode: read
// scope: user
// params: tenant_id STRING, user_id STRING
// purpose: a sample.
MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})
RETURN u.rev AS rev;
"""


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


BAD = {
    "unknown mode": (changed("mode: read", "mode: maybe"), 3, "maybe"),
    "unknown scope": (changed("scope: user", "scope: world"), 3, "world"),
    "header without purpose": (changed("// purpose: a sample.\n", ""), 3, "purpose"),
    "header line twice": (changed("// mode: read", "// mode: read\n// mode: write"), 5, "mode"),
    "declared and not used": (changed("user_id STRING", "user_id STRING, limit INTEGER"), 3, "limit"),
    "used and not declared": (changed("u.rev AS rev", "u.rev + $more AS rev"), 3, "more"),
    "unknown type": (changed("tenant_id STRING", "tenant_id TEXT"), 3, "TEXT"),
    "no name in snake case": (changed("one_thing", "OneThing"), 3, "OneThing"),
    "two statements": (changed("RETURN u.rev AS rev;", "RETURN u.rev AS rev; MATCH (n) RETURN n;"), 3, "second statement"),
    "no end": (changed("AS rev;", "AS rev"), 3, "';'"),
    "no reach to the user": (changed("{tenant_id: $tenant_id, user_id: $user_id}", "{tenant_id: $tenant_id, id: $user_id}"), 3, "reach"),
    "no reach to the tenant": (
        changed("scope: user", "scope: tenant").replace("tenant_id STRING, ", "").replace("tenant_id: $tenant_id, ", ""),
        3,
        "tenant_id",
    ),
    "reach in a comment only": (
        changed(
            "MATCH (u:User {tenant_id: $tenant_id, user_id: $user_id})", "// {tenant_id: $tenant_id, user_id: $user_id}\nMATCH (u:User)"
        ),
        3,
        "tenant_id",
    ),
    "statement without a header": ("MATCH (n) RETURN n;\n" + GOOD, 1, "header"),
}


def test_the_sample_itself_is_taken(tmp_path: Path) -> None:
    (tmp_path / "a.cypher").write_text(GOOD, encoding="utf-8")
    assert cypher.load(tmp_path)["one_thing"].params == {"tenant_id", "user_id"}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_query_file_is_refused_with_file_line_and_reason(tmp_path: Path, name: str) -> None:
    text, line, reason = BAD[name]
    (tmp_path / "bad.cypher").write_text(text, encoding="utf-8")
    with pytest.raises(QueryFileError) as refused:
        cypher.load(tmp_path)
    assert (refused.value.file, refused.value.line) == ("bad.cypher", line)
    assert str(refused.value).startswith(f"bad.cypher:{line}: ") and reason in refused.value.detail


def test_a_name_that_stands_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.cypher").write_text(GOOD, encoding="utf-8")
    (tmp_path / "b.cypher").write_text(GOOD, encoding="utf-8")
    with pytest.raises(QueryFileError) as refused:
        cypher.load(tmp_path)
    assert refused.value.file == "b.cypher" and "a.cypher:3" in refused.value.detail


def test_a_folder_without_queries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QueryFileError):
        cypher.load(tmp_path)
