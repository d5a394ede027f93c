"""A Cypher script as an import: run once, statement by statement, and what it wrote is judged."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphmem.app import Graphmem
from graphmem.bulk import ImportAsk
from graphmem.check import STRAY
from graphmem.errors import InvalidInputError
from graphmem.scope import Scope
from tests.stories.test_import import dump, lived

SCRIPT = """// two people of a clinic
:param city => 'Oslo';
MERGE (u:User {tenant_id: $tenant, user_id: 'Maya'})
CREATE (u)-[:FACT {key: 'home_city', at: datetime('2025-01-01T00:00:00Z')}]->(:Memory {value: $city});
:auto UNWIND ['tea', 'rain'] AS liked
CALL (liked) {
  MERGE (u:User {tenant_id: $tenant, user_id: 'Li'})
  CREATE (u)-[:PREFERENCE {key: 'likes', at: datetime() - duration('P3D')}]->(:Memory {value: liked})
} IN TRANSACTIONS OF 1 ROW;
"""


def written(tmp_path: Path, text: str) -> ImportAsk:
    path = tmp_path / "a.cypher"
    path.write_text(text, encoding="utf-8")
    return ImportAsk(path)


def test_what_a_script_wrote_is_judged_and_the_same_script_again_runs_nothing(graphmem: Graphmem, scope: Scope, tmp_path: Path) -> None:
    done = graphmem.import_file(scope.tenant, written(tmp_path, SCRIPT))
    assert (done.rows, done.users, done.verdicts, done.rejected) == (3, 2, {"new": 3}, 0)
    assert [m.value for m in graphmem.latest(Scope(scope.tenant, "Maya"), "home_city").items] == ["Oslo"]
    before = dump(graphmem, scope.tenant)
    again = graphmem.import_file(scope.tenant, written(tmp_path, SCRIPT))
    assert (again.rows, again.verdicts) == (0, {}) and dump(graphmem, scope.tenant) == before
    graphmem.drain()
    assert graphmem.check(scope.tenant)[0].clean


def test_a_script_that_breaks_off_goes_on_from_the_corrected_place(graphmem: Graphmem, scope: Scope, tmp_path: Path) -> None:
    """A statement runs in the transaction that notes it: what ran before the break is adopted by the next run and not run twice."""
    bad = SCRIPT + "CREATE (:Memory {tenant_id: $tenant, value: datetime('soon')});\n"
    with pytest.raises(InvalidInputError, match="line 10: "):
        graphmem.import_file(scope.tenant, written(tmp_path, bad))
    assert sum(b.kind == STRAY for b in graphmem.check(scope.tenant)[0].breaks) == 3
    assert graphmem.adopt(scope.tenant).verdicts == {"new": 3}
    with pytest.raises(InvalidInputError, match="line 10: "):
        graphmem.import_file(scope.tenant, written(tmp_path, bad))
    assert graphmem.adopt(scope.tenant).found == 0


def test_a_dry_run_of_a_script_finds_its_mistakes_and_writes_nothing(graphmem: Graphmem, scope: Scope, tmp_path: Path) -> None:
    ask = written(tmp_path, SCRIPT + "CREAT (:Memory);")
    with pytest.raises(InvalidInputError, match="line 10: "):
        graphmem.import_file(scope.tenant, ImportAsk(ask.path, dry_run=True))
    assert dump(graphmem, scope.tenant).count("\n") == 1


def test_what_is_still_a_question_counts_as_rejected_and_adopt_lists_it(graphmem: Graphmem, scope: Scope, tmp_path: Path) -> None:
    text = "MERGE (u:User {tenant_id: $tenant, user_id: 'u'}) CREATE (u)-[:FACT {key: 'motto', value: 'slowly'}]->(:Memory)"
    done = graphmem.import_file(scope.tenant, written(tmp_path, text))
    assert (done.rows, done.rejected, done.rejects) == (1, 1, "graphmem adopt --dry-run")


def test_the_script_of_an_export_is_itself_an_import(graphmem: Graphmem, scope: Scope, tmp_path: Path) -> None:
    lived(graphmem, scope.tenant)
    text, script = dump(graphmem, scope.tenant), "".join(graphmem.export(scope.tenant, "cypher"))
    graphmem.wipe(scope.tenant)
    graphmem.import_file(scope.tenant, written(tmp_path, script))
    assert dump(graphmem, scope.tenant) == text
    graphmem.drain()
    assert graphmem.check(scope.tenant)[0].clean
    assert graphmem.memories(Scope(scope.tenant, "Ann"), limit=100).items
    assert datetime.now(UTC) - timedelta(days=1) < graphmem.memories(Scope(scope.tenant, "Ann")).items[0].recorded_at
