"""The judge against an independent model of the design (tests/oracle.py): the same steps for both, every answer equal at random moments."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, settings, strategies
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from tests.driver import SHAPES, History, Pure, Step, random_words, run_pure
from tests.oracle_lines import DAY, HOUR, PENDING_LIFE, WINDOW, Words

HISTORIES = 120
GROUPS = {
    "facts": ("home_city", "hobby", "age"),
    "preferences": ("coffee_preference", "tea_preference", "food_preference"),
    "proofs": ("phone", "name"),
    "safety": ("allergy",),
    "mixed": tuple(SHAPES),
}


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_every_answer_of_a_random_history_is_the_one_that_the_design_gives(group: str) -> None:
    checks = sum(run_pure(f"{group}-{seed}", 9, GROUPS[group]) for seed in range(HISTORIES))
    print(f"{group}: {HISTORIES} histories, {checks} checks")
    assert checks > 100 * HISTORIES


@pytest.mark.long
@pytest.mark.parametrize("group", sorted(GROUPS))
@pytest.mark.parametrize("part", range(4))
def test_every_answer_of_thousands_of_random_histories_is_the_one_that_the_design_gives(group: str, part: int) -> None:
    count = 500
    checks = sum(run_pure(f"long-{group}-{part}-{seed}", 12, GROUPS[group]) for seed in range(count))
    print(f"{group}: {count} histories, {checks} checks")
    assert checks > 100 * count


waits = strategies.sampled_from((1, 1, 1000, HOUR, WINDOW - 1, WINDOW, WINDOW + 1, 10 * DAY, PENDING_LIFE, 190 * DAY))
backs = strategies.sampled_from((None, None, 0, 1, HOUR, WINDOW, 3 * DAY, 40 * DAY, -HOUR, -2 * DAY))
seeds = strategies.integers(0, 10_000)


class Both(RuleBasedStateMachine):
    """Hypothesis chooses the steps and shrinks what fails to the shortest history."""

    @initialize(group=strategies.sampled_from(sorted(GROUPS)))
    def begin(self, group: str) -> None:
        self.keys = GROUPS[group]
        self.history = History(Pure())

    def _say(self, seed: int, wait: int, back: int | None, **how: object) -> None:
        rng = random.Random(seed)
        words: Words = replace(random_words(rng, rng.choice(self.keys)), **how)  # type: ignore[arg-type]
        self.history.take(Step("say", wait, words, back))

    @rule(seed=seeds, wait=waits, back=backs)
    def say_anything(self, seed: int, wait: int, back: int | None) -> None:
        self._say(seed, wait, back)

    @rule(seed=seeds, wait=waits, back=backs)
    def say_again(self, seed: int, wait: int, back: int | None) -> None:
        """The last words once more, at another time: reinforcement, restatement, an answer to what is pending."""
        said = [thing[0] for thing, _ in self.history.done if isinstance(thing, tuple) and isinstance(thing[0], Words)]
        if said:
            words = replace(said[seed % len(said)], start=None, ends_at=None, claims=False, is_end=False)
            if words.value is not None:
                self.history.take(Step("say", wait, words, back))

    @rule(seed=seeds, wait=waits, back=backs)
    def say_in_passing(self, seed: int, wait: int, back: int | None) -> None:
        """Speech, the window holds."""
        self._say(seed, wait, back, deliberate=False, change=False)

    @precondition(lambda self: bool(self.history.oracle.pendings))
    @rule(pick=seeds, wait=waits, yes=strategies.booleans())
    def decide(self, pick: int, wait: int, yes: bool) -> None:
        self.history.take(Step("confirm" if yes else "reject", wait, pick=pick))

    @precondition(lambda self: bool(self.history.oracle.lines))
    @rule(pick=seeds, wait=waits, readable=strategies.booleans())
    def take_back(self, pick: int, wait: int, readable: bool) -> None:
        self.history.take(Step("retract" if readable else "forget", wait, pick=pick))

    @invariant()
    def answers_agree(self) -> None:
        if hasattr(self, "history"):
            self.history.compare(random.Random(len(self.history.done)), 6)


@pytest.mark.long
def test_no_shrunk_history_parts_the_judge_from_the_design() -> None:
    _run(2000, derandomize=False)


def test_steps_that_hypothesis_chooses_give_the_answers_of_the_design() -> None:
    _run(60, derandomize=True)


def _run(examples: int, *, derandomize: bool) -> None:
    quiet = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
    run_state_machine_as_test(
        Both,
        settings=settings(
            max_examples=examples,
            stateful_step_count=14,
            deadline=None,
            derandomize=derandomize,
            database=None,
            suppress_health_check=quiet,
        ),
    )
    print(f"{examples} histories chosen by Hypothesis, up to 14 steps each")
