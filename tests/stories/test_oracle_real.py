"""The whole service against the independent model: random histories of real users, every answer equal at random (as_of, known_at)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphmem.app import Graphmem
from graphmem.casework import rule_of
from graphmem.scope import Scope
from tests.conftest import new_tenant
from tests.driver import SHAPES, rule
from tests.driver_real import KEYS, Stub, run_real


@pytest.fixture
def stub(graphmem: Graphmem, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    made = Stub()
    monkeypatch.setattr(graphmem.room, "_extractor", made)
    yield made


def _histories(graphmem: Graphmem, stub: Stub, seeds: range, count: int) -> None:
    tenant = new_tenant()
    checks = 0
    for seed in seeds:
        checks += run_real(graphmem, stub, Scope(tenant, f"user-{seed}"), seed, count)
    breaks = [b for report in graphmem.check(tenant) for b in report.breaks if b.kind != "memory_without_point"]  # nothing was projected
    graphmem.neo4j.implicit("outbox_clear", {"tenant_id": tenant, "batch": 1000})
    print(f"{len(seeds)} histories on the real graph, {checks} checks, then graphmem check over the tenant")
    assert not breaks
    assert checks >= 16 * len(seeds)


def test_the_oracle_knows_the_keys_as_the_ontology_does(graphmem: Graphmem) -> None:
    assert {key: rule_of(graphmem.ontology.key(key)) for key in SHAPES} == {key: rule(key) for key in SHAPES}
    assert set(KEYS) < set(SHAPES)


@pytest.mark.parametrize("part", range(3))
def test_every_answer_of_the_service_is_the_one_that_the_design_gives(graphmem: Graphmem, stub: Stub, part: int) -> None:
    _histories(graphmem, stub, range(part * 50, part * 50 + 50), 7)


@pytest.mark.long
@pytest.mark.parametrize("part", range(40))
def test_every_answer_of_the_service_over_two_thousand_histories_is_the_one_that_the_design_gives(
    graphmem: Graphmem, stub: Stub, part: int
) -> None:
    _histories(graphmem, stub, range(1000 + part * 50, 1000 + part * 50 + 50), 9)
