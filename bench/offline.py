"""What needs no store: the start of the command, the size of an installation, the speed of extraction."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
import tomllib
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from statistics import median
from zoneinfo import ZoneInfo

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.rows import Row, row
from graphmem import jars
from graphmem.memory import Turn
from graphmem.room import Room
from graphmem.settings import Settings
from graphmem.stores.embedding import sentence_encoder

LEFT_OUT = frozenset({"pip", "setuptools", "wheel"})
LOCKS = ("neo4j-5.26.30.lock", "models.lock")

_SAID = (
    "I switched from latte to decaf this week",
    "I am allergic to penicillin and peanuts.",
    "We moved to Hangzhou in March last year, ",
    "my son does not eat shrimp at all by now",
    "Could you tell me what a mortgage means?",
    "I no longer drink coffee after 4 o'clock",
    "我上个月搬到了杭州，现在在一家设计公司上班，以后请用中文回答我，谢谢你啦。",
    "我对青霉素过敏，医生说头孢也要小心，去年做过皮试，结果写在病历里面了。",
    "我妈妈有高血压，每天早上吃一片氨氯地平，晚上量一次血压，记在本子上。",
    "我以前喜欢喝拿铁，现在改喝低因咖啡了，因为晚上总是睡不着，医生也建议。",
    "如果我搬去深圳，你觉得租房子划算还是买房子划算？先帮我算一算大概的开销。",
    "今天天气真不错，我们刚才说到哪里了？请接着把第三点再讲一遍，慢一点讲。",
)
"""Turns of about 40 characters."""


def measure(effort: int) -> list[Row]:
    """`effort`: how many turns are heard (the texts come round)."""
    took, opined = _hearing(effort), _hearing(max(effort // 5, len(_SAID)), opinions=True)
    return [
        row("graphmem --help, best of 5", _help(), "ms", "< 300"),
        row("base install with the Neo4j runtime", _installed() / 1e6, "MB", "< 950"),
        row("extraction of a turn of 40 characters, median", median(took), "ms", "<= 3"),
        row("extraction of a turn of 40 characters, P99", sorted(took)[int(len(took) * 0.99)], "ms", "<= 15"),
        row("the same with the second opinion's encodings, median", median(opined), "ms"),
        row("the same with the second opinion's encodings, P99", sorted(opined)[int(len(opined) * 0.99)], "ms"),
        row(f"extraction of one turn of {_LONG:,} characters", _long(_LONG) / 1000, "s", "< 3"),
        row("ten times the characters, times the time (linear: 10)", _long(_LONG) / _long(_LONG // 10), "x"),
        row("load of the packs, best of 3", min(filter(None, (_load() for _ in range(3))), default=None), "s", "<= 1.5"),
    ]


def _help() -> float | None:
    program = shutil.which("graphmem", path=str(Path(sys.executable).parent))
    command = [program] if program else [sys.executable, "-m", "graphmem"]
    took = []
    for _ in range(5):
        began = time.perf_counter()
        done = subprocess.run([*command, "--help"], capture_output=True, check=False)
        took.append((time.perf_counter() - began) * 1000)
        if done.returncode != 0:
            return None
    return min(took)


def _installed() -> float:
    """Bytes of the runtime distributions (base and `local`, with all they need), of the project, and of the jars of the lock files."""
    root = Path(__file__).resolve().parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    seen: dict[str, Distribution] = {}
    for text in [*project["dependencies"], *project["optional-dependencies"]["local"]]:
        _gather(Requirement(text), seen)
    own = sum(p.stat().st_size for f in ("graphmem", "api", "cypher") for p in (root / f).rglob("*") if p.is_file() and p.suffix != ".pyc")
    return sum(_size(d) for d in seen.values()) + own + sum(jar.size for name in LOCKS for jar in jars.read_lock(name))


def _gather(need: Requirement, seen: dict[str, Distribution]) -> None:
    name = canonicalize_name(need.name)
    extras = need.extras or {""}
    if name in seen or name in LEFT_OUT:
        return
    try:
        found = seen[name] = distribution(name)
    except PackageNotFoundError:
        return  # for another platform: its marker kept it out of this environment
    for text in found.requires or []:
        further = Requirement(text)
        if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in extras):
            _gather(further, seen)


def _size(found: Distribution) -> int:
    paths = (Path(str(found.locate_file(f))) for f in found.files or [])
    return sum(p.stat().st_size for p in paths if p.is_file())


_LONG = 60_000


def _long(characters: int) -> float:
    """Milliseconds of one turn that repeats nothing: the texts with ever other numbers, up to this length."""
    room, zone, now = Room(Settings()), ZoneInfo("Asia/Shanghai"), datetime.now(UTC)
    text, n = "", 0
    while len(text) < characters:
        text += f"{_SAID[n % len(_SAID)].rstrip('。.?, ，')} {n}。"
        n += 1
    room.hear(Turn(text[:2_000]), now, zone, [])
    began = time.perf_counter()
    room.hear(Turn(text[:characters]), now, zone, [])
    return (time.perf_counter() - began) * 1000


def _hearing(count: int, *, opinions: bool = False) -> list[float]:
    """Milliseconds of each turn, from one Room, after each text was heard once; by the rules alone, or with the sentence encoder."""
    room, zone, now = Room(Settings(), sentence_encoder() if opinions else None), ZoneInfo("Asia/Shanghai"), datetime.now(UTC)
    turns = [Turn(text) for text in _SAID]
    for turn in turns:
        room.hear(turn, now, zone, [])
    took = []
    for i in range(count):
        began = time.perf_counter()
        room.hear(turns[i % len(turns)], now, zone, [])
        took.append((time.perf_counter() - began) * 1000)
    return took


_LOADED = """
import time
from graphmem.room import Room
from graphmem.settings import Settings
from graphmem.stores.embedding import sentence_encoder
settings = Settings()
began = time.perf_counter()
Room(settings).extractor
print(time.perf_counter() - began)
"""


def _load() -> float | None:
    """Seconds from settings to a ready extractor in a fresh process, libraries imported before."""
    done = subprocess.run([sys.executable, "-c", _LOADED], capture_output=True, text=True, check=False)
    return float(done.stdout) if done.returncode == 0 else None
