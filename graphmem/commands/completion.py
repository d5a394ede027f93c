"""`graphmem completion SHELL`: completes commands, options and choices by a script made from the parser; a TAB starts no Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from graphmem.commands.frame import command

Shell = Literal["bash", "zsh", "fish"]

HOW = {
    "bash": "echo 'source <(graphmem completion bash)' >> ~/.bashrc",
    "zsh": "echo 'source <(graphmem completion zsh)' >> ~/.zshrc   # after compinit",
    "fish": "graphmem completion fish > ~/.config/fish/completions/graphmem.fish",
}
"""How each script is put in place."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An option: its names, the words that may follow (empty: any), whether a value follows at all, and its help."""

    names: tuple[str, ...]
    values: tuple[str, ...]
    takes: bool
    help: str


@dataclass(frozen=True, slots=True)
class Node:
    """A command by its path (`review list`): its subcommands with their help, its options, the words of its arguments."""

    path: str
    subcommands: tuple[tuple[str, str], ...]
    options: tuple[Choice, ...]
    words: tuple[str, ...]


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    command(app)(completion)


def completion(context: typer.Context, shell: Annotated[Shell, typer.Argument(help="Your shell.")]) -> None:
    """Print a script that completes commands, options and choices in your shell."""
    typer.echo(SCRIPTS[shell](list(nodes(context.find_root().command))), nl=False)


def nodes(root: Any, path: str = "") -> Iterator[Node]:
    """The program's commands, each before its subcommands. Their help is one line."""
    subcommands = {name: c for name, c in getattr(root, "commands", {}).items() if not c.hidden}
    options = [_choice(p) for p in root.params if p.param_type_name == "option" and not getattr(p, "hidden", False)]
    words = [word for p in root.params if p.param_type_name == "argument" for word in _values(p)]
    helps = tuple((name, c.get_short_help_str(100)) for name, c in subcommands.items())
    yield Node(path, helps, (*options, Choice(("--help",), (), False, "Show this message and exit.")), tuple(words))
    for name, one in subcommands.items():
        yield from nodes(one, f"{path} {name}".strip())


def _choice(option: Any) -> Choice:
    first = re.split(r"(?<=[.;:])\s", option.help or "")[0]
    return Choice((*option.opts, *option.secondary_opts), _values(option), not option.is_flag, " ".join(first.split()))


def _values(parameter: Any) -> tuple[str, ...]:
    """The choices of an enum or of literals, none for anything else."""
    kind = parameter.type_descriptor.annotation
    if isinstance(kind, type) and issubclass(kind, Enum):
        return tuple(str(member.value) for member in kind)
    return tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()


# --- the scripts


def bash(found: list[Node]) -> str:
    """Bash 4.4 or later; without bash-completion."""
    lines = ["# graphmem: completion for bash", "_graphmem_words() {", '  case "$1" in']
    for node in found:
        given = [name for name, _ in node.subcommands] + [name for o in node.options for name in o.names] + list(node.words)
        lines.append(f'    "{node.path}") echo "{" ".join(given)}" ;;')
    lines += ["  esac", "}", "_graphmem_values() {", '  case "$1" in']
    lines += [f'    "{path}") echo "{" ".join(values)}" ;;' for path, values in _valued(found)]
    lines += ["    *) return 1 ;;", "  esac", "}", *_BASH]
    return "\n".join(lines) + "\n"


_BASH = (
    "_graphmem() {",
    '  local word="${COMP_WORDS[COMP_CWORD]}" before="" at="" one given',
    '  [ "$COMP_CWORD" -gt 0 ] && before="${COMP_WORDS[COMP_CWORD-1]}"',
    '  for one in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    [ -n "$(_graphmem_words "${at:+$at }$one")" ] && at="${at:+$at }$one"',
    "  done",
    '  case "$before" in',
    '    -*) if given="$(_graphmem_values "$at $before")"; then',
    '          if [ -n "$given" ]; then COMPREPLY=($(compgen -W "$given" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi',
    "          return",
    "        fi ;;",
    "  esac",
    '  COMPREPLY=($(compgen -W "$(_graphmem_words "$at")" -- "$word"))',
    '  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))',
    "}",
    "complete -F _graphmem graphmem",
)


def zsh(found: list[Node]) -> str:
    """Zsh with compinit."""
    lines = ["#compdef graphmem", "# graphmem: completion for zsh", "_graphmem() {", '  local at="" one', "  local -a given"]
    lines += ['  for one in "${(@)words[2,CURRENT-1]}"; do', '    case "${at:+$at }$one" in']
    lines += [f"      {_quoted(node.path)}) at={_quoted(node.path)} ;;" for node in found if node.path]
    lines += ["    esac", "  done", '  case "$at ${words[CURRENT-1]}" in']
    lines += [f"    {_quoted(path)}) {_zsh_values(values)}; return ;;" for path, values in _valued(found)]
    lines += ["  esac", '  case "$at" in']
    for node in found:
        told = [f"{name}:{text}" for name, text in node.subcommands]
        told += [f"{name}:{o.help}" for o in node.options for name in o.names] + list(node.words)
        lines.append(f"    {_quoted(node.path)}) given=({' '.join(_quoted(_colons(t)) for t in told)}) ;;")
    lines += ["  esac", "  _describe -t commands graphmem given || _files", "}", "compdef _graphmem graphmem"]
    return "\n".join(lines) + "\n"


def _zsh_values(values: tuple[str, ...]) -> str:
    return f"compadd -- {' '.join(map(_quoted, values))}" if values else "_files"


def _colons(told: str) -> str:
    """In zsh a colon parts the word from its help: others are escaped."""
    name, _, text = told.partition(":")
    return f"{name}:{text.replace(':', chr(92) + ':')}" if text else name


def fish(found: list[Node]) -> str:
    """Fish 3 or later."""
    lines = ["# graphmem: completion for fish", "function __graphmem_at", "    set -l path"]
    lines += ["    for one in (commandline -opc)[2..]", '        switch (string trim "$path $one")']
    for node in found:
        if node.path:
            lines += [f"            case {_fished(node.path)}", "                set -a path $one"]
    lines += ["        end", "    end", '    test "$argv" = "$path"', "end", "complete -c graphmem -f"]
    for node in found:
        at = f"complete -c graphmem -n {_fished(f'__graphmem_at {node.path}'.strip())}"
        lines += [f"{at} -a {_fished(name)} -d {_fished(text)}" for name, text in node.subcommands]
        lines += [f"{at} -a {_fished(word)}" for word in node.words]
        lines += [f"{at} {_fish_option(option)}" for option in node.options]
    return "\n".join(lines) + "\n"


def _fish_option(option: Choice) -> str:
    names = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    value = f" -x -a {_fished(' '.join(option.values))}" if option.values else " -r -F" if option.takes else ""
    return f"{' '.join(names)}{value} -d {_fished(option.help)}"


def _valued(found: list[Node]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(path and option, its choices) of every option that takes a value."""
    for node in found:
        for option in node.options:
            if option.takes:
                yield from ((f"{node.path} {name}", option.values) for name in option.names)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fished(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS = {"bash": bash, "zsh": zsh, "fish": fish}
