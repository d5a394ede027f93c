"""The tests would notice: each one-line change to the judge turns one of them red (tests/mutants.py)."""

from __future__ import annotations

import pytest

from tests.mutants import MUTANTS, ROOT, Mutant, red


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_every_changed_line_still_stands_in_the_judge(mutant: Mutant) -> None:
    assert (ROOT / "graphmem" / f"{mutant.module}.py").read_text(encoding="utf-8").count(mutant.old) == 1


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_a_changed_line_of_the_judge_turns_a_test_red(mutant: Mutant) -> None:
    assert red(mutant) is not None
