"""Completion in the shell: commands, options and choices of the program as it is, without starting it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import typer.main

from graphmem.cli import app
from graphmem.commands.completion import nodes
from graphmem.commands.frame import Exit
from tests.terminal import Terminal

TRY = """
source {script}
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); COMPREPLY=()
_graphmem
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def script(shell: str) -> str:
    told = Terminal({}, "t").run("completion", shell)
    assert (told.code, told.talk) == (Exit.OK, "")
    return told.data


@pytest.fixture(scope="module")
def sourced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "graphmem.bash"
    path.write_text(script("bash"), encoding="utf-8")
    return path


def completed(sourced: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words. PATH is empty: nothing is started."""
    line = TRY.format(script=shlex.quote(str(sourced)), words=" ".join(shlex.quote(w) for w in ("graphmem", *words)))
    bash = shutil.which("bash")
    assert bash is not None
    done = subprocess.run([bash, "--norc", "-c", line], capture_output=True, text=True, env={"PATH": ""}, cwd=sourced.parent)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("rej",), ["reject"]),
        (("review", "d"), ["decide"]),
        (("review", "list", "--state", "kept"), ["kept_both"]),
        (("list", "--kind", ""), ["fact", "preference", "context"]),
        (("list", "-o", "j"), ["json", "jsonl"]),
        (("list", "--tenant", "x", "--sub"), ["--subject"]),
        (("review", "decide", "a-case", "ke"), ["keep_both"]),
        (("import", "graphmem.b"), ["graphmem.bash"]),
        (("lexicon", "add", "graph"), ["graphmem.bash"]),
        (("nothing", "--ver"), ["--version"]),
    ],
)
def test_bash_offers_what_may_follow(sourced: Path, words: tuple[str, ...], offered: list[str]) -> None:
    assert completed(sourced, *words) == offered


def test_every_command_and_option_of_the_program_is_in_every_script(sourced: Path) -> None:
    found = list(nodes(typer.main.get_command(app)))
    scripts = {shell: script(shell) for shell in ("bash", "zsh", "fish")}
    assert {"", "list", "review decide", "archive restore"} <= {node.path for node in found}
    for node in found:
        names = [name for name, _ in node.subcommands] + [name for option in node.options for name in option.names]
        assert set(names) <= set(completed(sourced, *node.path.split(), "")) | set(completed(sourced, *node.path.split(), "-"))
        for shell, text in scripts.items():
            missing = [name for name in names if name.lstrip("-") not in text]
            assert missing == [], (shell, node.path)


def test_an_unknown_shell_is_refused_with_the_known_ones() -> None:
    told = Terminal({}, "t").run("completion", "csh")
    assert told.code == Exit.USAGE
    assert all(shell in told.talk for shell in ("bash", "zsh", "fish"))
