"""Hearing keeps nothing: memory stays flat over many turns of ever new words."""

from __future__ import annotations

import gc
import os
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from graphmem.lexicon import load_lexicon
from graphmem.memory import Turn
from graphmem.ontology import load_ontology
from graphmem.pipeline.extract import Extractor
from graphmem.stores.embedding import sentence_encoder

TURNS, SETTLED = 100_000, 20_000
GROWTH = 24 * 1024 * 1024
"""Bytes the process may grow between SETTLED and TURNS: noise of the allocator; a kept copy of each turn alone would take as much."""

FRAMES = (
    "我叫小安{n}，我对花生过敏，平时喝拿铁{n}",
    "my colleague {n} loves jazz and I live in Leeds since {n}",
    "第{n}次了，外面下雨，帮我看看订单{n}到哪儿了",
    "word{n} is what they said about flat {n}, never mind",
    "我妈{n}点在吃二甲双胍，号码{n}不用记",
)


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.long
def test_a_hundred_thousand_turns_leave_no_trace_in_memory() -> None:
    extractor = Extractor(load_ontology(), load_lexicon(), sentence_encoder())
    rules = Extractor(load_ontology(), load_lexicon())
    at, zone, before = datetime(2026, 3, 2, tzinfo=UTC), ZoneInfo("Asia/Shanghai"), 0
    for n in range(TURNS):
        if n == SETTLED:
            gc.collect()
            before = resident()
        (extractor if n % 10 == 0 else rules).hear(Turn(FRAMES[n % len(FRAMES)].format(n=n)), at, zone)
    gc.collect()
    assert resident() - before < GROWTH
