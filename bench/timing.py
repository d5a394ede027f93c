"""How arms are timed: request by request in turn, so that what disturbs one disturbs all; medians of rounds."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from statistics import median

Act = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Arm:
    """What is timed, and what is done after it outside the clock."""

    act: Act
    after: Act | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is asked: rounds, and requests an arm in each."""

    rounds: int
    requests: int


def p50(arms: Mapping[str, Arm], effort: Effort) -> dict[str, list[float]]:
    """Name → the median seconds of each round. Every arm runs twice unmeasured; each request shuffles the order, by a fixed seed."""
    names, chance = list(arms), random.Random(1)
    for arm in arms.values():
        for _ in range(2):
            _timed(arm)
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(effort.rounds):
        seconds: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(effort.requests):
            for name in chance.sample(names, len(names)):
                seconds[name].append(_timed(arms[name]))
        for name in names:
            found[name].append(median(seconds[name]))
    return found


def ratio(found: Mapping[str, Sequence[float]], arm: str, base: str) -> float:
    """Median over the rounds of arm / base: both of one round saw the same machine."""
    return median(a / b for a, b in zip(found[arm], found[base], strict=True))


def rates(arms: Mapping[str, Callable[[int], object]], effort: Effort, clients: int) -> dict[str, list[float]]:
    """Name → requests a second of each round. `arms` take the client's number.

    With one client the arms take turns request by request; several clients run one arm together for a short block, then the next.
    """
    names = list(arms)
    block = 1 if clients == 1 else 5
    found: dict[str, list[float]] = {name: [] for name in names}
    with ThreadPoolExecutor(clients) as pool:
        for round_ in range(effort.rounds + 1):
            seconds = dict.fromkeys(names, 0.0)
            blocks = max(1, effort.requests // block)
            for i in range(blocks):
                for name in _turned(names, i):
                    seconds[name] += _block(pool, arms[name], clients, block)
            if round_:  # the first round only warms
                for name in names:
                    found[name].append(clients * block * blocks / seconds[name])
    return found


def _block(pool: ThreadPoolExecutor, act: Callable[[int], object], clients: int, block: int) -> float:
    def client(number: int) -> None:
        for _ in range(block):
            act(number)

    began = time.perf_counter()
    for done in [pool.submit(client, n) for n in range(clients)]:
        done.result()
    return time.perf_counter() - began


def _timed(arm: Arm) -> float:
    began = time.perf_counter()
    arm.act()
    took = time.perf_counter() - began
    if arm.after is not None:
        arm.after()
    return took


def _turned(names: Sequence[str], by: int) -> list[str]:
    by %= len(names)
    return [*names[by:], *names[:by]]
