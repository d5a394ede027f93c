"""The command line: data on stdout, talk on stderr, errors in three parts, exit codes that mean something."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main

from graphmem.answers import Found, Injected, Latest
from graphmem.app import open_graphmem
from graphmem.cli import app
from graphmem.commands.completion import nodes
from graphmem.commands.frame import Exit
from graphmem.commands.server import _own_key
from graphmem.settings import Settings
from tests.terminal import Terminal

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "demo serve up down status doctor migrate inject remember event change recall search history list get latest receipt".split()
    + "forget confirm reject retract undelete sweep archive profile sessions changes why timeline related relate unrelate cohort".split()
    + "review proof import export adopt reindex check eval lexicon browser completion".split()
)


def hears_nothing(*_: object, **__: object) -> Injected:
    return Injected("t", None, False, (), (), (), (), 0, datetime.now(UTC))


def tells_nothing(*_: object, **__: object) -> Latest:
    return Latest((), (), 0)


def finds_nothing(*_: object, **__: object) -> Found:
    return Found((), (), False, 0)


def forgets_nothing(*_: object, **__: object) -> None:
    return None


@pytest.fixture
def lonely(home: Path) -> Terminal:
    """A terminal whose Neo4j is not there: nothing listens on port 1."""
    return Terminal({"GRAPHMEM_NEO4J_URI": "bolt://127.0.0.1:1", "GRAPHMEM_HOME": str(home), "GRAPHMEM_EMBEDDERS": '["use"]'}, "lonely")


def _seconds(*arguments: str) -> float:
    """Processor time of a command: what it takes on a quiet machine, measured also on a busy one."""
    began = os.times()
    done = subprocess.run([sys.executable, "-m", "graphmem", *arguments], cwd=ROOT, capture_output=True, text=True)
    ended = os.times()
    assert done.returncode == 0, done.stderr
    return ended.children_user + ended.children_system - began.children_user - began.children_system


def test_help_answers_in_under_300_ms_and_names_every_command() -> None:
    assert min(_seconds("--help") for _ in range(5)) < 0.3
    told = Terminal({}, "t").run("--help")
    assert told.code == Exit.OK
    assert [name for name in COMMANDS if not re.search(rf"^  {name} ", told.data, re.MULTILINE)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(name: str) -> None:
    told = Terminal({}, "t").run(name, "--help")
    assert (told.code, told.talk) == (Exit.OK, "")
    assert "Usage:" in told.data


STREAMS = {"demo", "serve", "export", "completion", "browser favourites"}
"""What these print is a story, a file or a script: no rows."""


def test_every_command_that_tells_of_something_prints_it_as_table_json_or_json_lines() -> None:
    whole = typer.main.get_command(app)
    told = {node.path: {name for option in node.options for name in option.names} for node in nodes(whole) if not node.subcommands}
    assert len(told) > 50
    assert [path for path, names in told.items() if "--output" not in names and path not in STREAMS] == []


def test_what_is_remembered_can_be_listed_read_back_and_forgotten(terminal: Terminal) -> None:
    assert terminal.mine("remember", "home_city", "Leeds").code == Exit.OK
    assert terminal.mine("remember", "home_city", "Hull").code == Exit.OK
    listed = terminal.mine("list", "-o", "jsonl").lines()
    assert [(m["key"], m["value"], m["version"]) for m in listed] == [("home_city", "Hull", 2)]
    mid = str(listed[0]["mid"])
    versions = cast(list[dict[str, Any]], terminal.mine("history", mid, "-o", "json").json())
    assert [(m["value"], m["status"]) for m in versions] == [("Leeds", "superseded"), ("Hull", "active")]
    assert terminal.mine("forget", mid).code == Exit.OK
    assert terminal.mine("list", "-o", "jsonl").data == ""
    assert terminal.mine("history", mid).code == Exit.NOT_FOUND


def test_json_on_stdout_is_the_whole_answer_and_nothing_else(terminal: Terminal) -> None:
    terminal.mine("remember", "allergy", "penicillin")
    told = terminal.mine("recall", "Can I take amoxicillin?", "--task", "medication", "--explain", "-o", "json")
    answer = cast(dict[str, Any], told.json())
    assert [(c["finding"], c["severity"]) for c in answer["checks"]] == [("allergy", "stop")]
    assert answer["memories"][0]["memory"]["value"] == "penicillin"
    assert "L2 · task_hint · medication" in told.talk
    assert "slot_match" in told.talk


def test_a_table_shows_ids_whole_where_stdout_is_no_terminal(terminal: Terminal) -> None:
    mid = cast(dict[str, Any], terminal.mine("remember", "hobby", "钓鱼 " * 40, "-o", "json").json())["memory"]["mid"]
    assert mid in terminal.mine("list").data


def test_explain_shows_the_seven_steps_of_a_turn(terminal: Terminal) -> None:
    told = terminal.mine("inject", "I live in Leeds. Is it raining?", "--session", "s", "--explain", "-o", "jsonl")
    assert re.findall(r"^(\d) (.{10})", told.talk, re.MULTILINE) == [
        ("1", "slice     "),
        ("2", "recognise "),
        ("3", "classify  "),
        ("4", "bind time "),
        ("5", "embed     "),
        ("6", "judge     "),
        ("7", "write     "),
    ]
    assert re.search(r"^2 recognise .*Leeds \[10:15\] city:leeds", told.talk, re.MULTILINE)
    rules = r"^3 classify .*home_city\+self=Leeds by home_city\.\S+ \(0\.\d\d\) \[0:15\]; question by speech_act\.question \[17:30\]"
    assert re.search(rules, told.talk, re.MULTILINE)
    assert re.search(r"^6 judge  .*home_city\+self=Leeds: new", told.talk, re.MULTILINE)
    assert len(re.findall(r"^\d .{10} +\d+\.\d ms  ", told.talk, re.MULTILINE)) == 7
    rows = told.lines()
    assert [(r["became"], r["what"]) for r in rows] == [("new", "home_city: Leeds"), ("not stored", "Is it raining")]
    assert str(rows[1]["why"]).startswith("question")


def test_an_assistants_turn_stores_nothing(terminal: Terminal) -> None:
    told = terminal.mine("inject", "我住在杭州。", "--role", "assistant", "-o", "json")
    assert cast(dict[str, Any], told.json())["stored"] == []


def test_an_end_of_one_value_leaves_the_others(terminal: Terminal) -> None:
    for animal in ("cat", "dog"):
        terminal.mine("remember", "pet", animal)
    assert terminal.mine("remember", "pet", "cat", "--end").code == Exit.OK
    assert [m["value"] for m in terminal.mine("list", "--key", "pet", "-o", "jsonl").lines()] == ["dog"]


def test_a_past_answer_is_asked_with_as_of(terminal: Terminal) -> None:
    terminal.mine("remember", "employer", "Kiln and Sons", "--said-at", "2026-01-05")
    terminal.mine("remember", "employer", "Harbour Works", "--said-at", "2026-03-05")
    told = terminal.mine("list", "--as-of", "2026-02-01", "-o", "jsonl").lines()
    assert [m["value"] for m in told] == ["Kiln and Sons"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("list", "--bogus"), Exit.USAGE),
        (("recall", "hello", "--as-of", "soon"), Exit.USAGE),
        (("remember", "home_city"), Exit.USAGE),
        (("remember", "shade", "blue"), Exit.USAGE),
        (("list", "--tenant", "Not A Tenant"), Exit.USAGE),
        (("history", "01900000-0000-7000-8000-000000000000"), Exit.NOT_FOUND),
        (("eval", "no/such/file.jsonl"), Exit.NOT_FOUND),
        (("recall", "List all my claims of last month"), Exit.REFUSED),
    ],
)
def test_exit_codes_tell_what_went_wrong(terminal: Terminal, arguments: tuple[str, ...], code: Exit) -> None:
    told = terminal.run(*arguments)
    assert told.code == code
    assert told.data == ""


@pytest.mark.parametrize("arguments", [("list",), ("list", "--bogus"), ("nothing",), ("list", "--kind", "colour"), ("history",)])
def test_errors_say_what_why_and_what_to_try(lonely: Terminal, arguments: tuple[str, ...]) -> None:
    told = lonely.run(*arguments)
    assert told.code == (Exit.UNREACHABLE if arguments == ("list",) else Exit.USAGE)
    assert (told.data, [line[:6] for line in told.talk.splitlines()]) == ("", ["error:", "cause:", "try:  "])


def test_a_chinese_terminal_is_told_its_errors_in_chinese(lonely: Terminal) -> None:
    for arguments in (("list",), ("list", "--bogus"), ("list", "--tenant", "Not A Tenant")):
        told = lonely.run(*arguments, LC_ALL="zh_CN.UTF-8")
        assert [line[:3] for line in told.talk.splitlines()] == ["错误：", "原因：", "可试："]
    assert lonely.run("list", LC_ALL="", LC_MESSAGES="", LANG="zh_TW.UTF-8").talk.startswith("错误：")


def test_a_first_no_to_a_pending_memory_counts_and_a_second_is_refused(terminal: Terminal) -> None:
    terminal.mine("inject", "I love sushi.", "--session", "s")
    terminal.mine("inject", "I hate sushi.", "--session", "s")
    mid = str(terminal.mine("list", "--status", "pending", "-o", "jsonl").lines()[0]["mid"])
    assert terminal.mine("reject", mid).code == Exit.OK
    again = terminal.mine("confirm", mid)
    assert again.code == Exit.REFUSED
    assert "rejected" in again.talk


def test_check_finds_what_the_index_lost_and_reindex_mends_it(terminal: Terminal, chosen: Settings) -> None:
    terminal.mine("remember", "home_city", "Leeds")
    assert terminal.run("reindex", "--tenant", terminal.tenant).code == Exit.OK
    assert terminal.run("check", "--tenant", terminal.tenant).code == Exit.OK
    with open_graphmem(chosen, warm=False) as g:
        g.index.ensure(terminal.tenant, fresh=True)
    lost = terminal.run("check", "--tenant", terminal.tenant, "-o", "jsonl")
    assert (lost.code, [b["kind"] for b in lost.lines()]) == (Exit.CHECK_FAILED, ["memory_without_point"])
    terminal.run("reindex", "--tenant", terminal.tenant)
    assert terminal.run("check", "--tenant", terminal.tenant).code == Exit.OK


def test_migrations_are_listed_with_their_state(terminal: Terminal) -> None:
    told = terminal.run("migrate", "status", "-o", "jsonl")
    assert told.code == Exit.OK
    assert {m["state"] for m in told.lines()} == {"applied"}
    assert terminal.run("migrate", "plan", "-o", "jsonl").data == ""
    assert "nothing waited" in terminal.run("migrate", "apply").talk


def test_the_doctor_names_what_is_wrong_and_what_mends_it(terminal: Terminal, lonely: Terminal) -> None:
    well = terminal.run("doctor", "-o", "jsonl")
    assert (well.code, [f["check"] for f in well.lines() if not f["fine"]]) == (Exit.OK, [])
    ill = lonely.run("doctor", "-o", "jsonl")
    assert ill.code == Exit.CHECK_FAILED
    wrong = [f for f in ill.lines() if not f["fine"]]
    assert [f["check"] for f in wrong] == ["neo4j"]
    assert "graphmem up" in str(wrong[0]["mend"])


def test_the_doctors_round_trip_hears_tells_and_forgets_and_leaves_nothing(terminal: Terminal, chosen: Settings) -> None:
    told = terminal.run("doctor", "-o", "jsonl").lines()
    trip = next(f for f in told if f["check"] == "round trip")
    assert trip["fine"] and re.fullmatch(r"heard, told, forgotten in \d+ ms", str(trip["found"]))
    with open_graphmem(chosen, warm=False) as g:
        assert [t for t in g.outbox.tenants() if t.startswith("doctor-")] == []


@pytest.mark.parametrize(
    ("step", "broken", "mend"),
    [
        ("inject", hears_nothing, "graphmem migrate status"),
        ("latest", tells_nothing, "graphmem check"),
        ("search", finds_nothing, "graphmem reindex"),
        ("forget", forgets_nothing, "graphmem check"),
    ],
)
def test_a_step_of_the_round_trip_that_fails_names_the_command_that_mends_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, step: str, broken: object, mend: str
) -> None:
    monkeypatch.setattr(f"graphmem.app.Graphmem.{step}", broken)
    told = terminal.run("doctor", "-o", "jsonl")
    assert told.code == Exit.CHECK_FAILED
    assert [(f["check"], f["mend"]) for f in told.lines() if not f["fine"]] == [("round trip", mend)]


def test_a_setting_that_is_wrong_is_named(terminal: Terminal) -> None:
    told = terminal.run("list", GRAPHMEM_NEO4J_POOL="many")
    assert told.code == Exit.USAGE
    assert "neo4j_pool" in told.talk


def test_a_service_beyond_loopback_makes_no_key_of_its_own(terminal: Terminal) -> None:
    told = terminal.run("serve", "--host", "0.0.0.0")  # noqa: S104 - it must refuse
    assert told.code == Exit.CHECK_FAILED
    assert "GRAPHMEM_API_KEYS" in told.talk


def test_the_services_own_key_is_long_private_and_stays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "home" / "api-key"
    key, new = _own_key(path)
    assert new and len(key) >= 43
    assert path.stat().st_mode & 0o777 == 0o600
    assert _own_key(path) == (key, False)
    assert _own_key(tmp_path / "another")[0] != key


def test_a_loopback_service_prints_its_key_once_and_answers(terminal: Terminal, tmp_path: Path) -> None:
    env = {**os.environ, **terminal.env, "GRAPHMEM_HOME": str(tmp_path)}
    arguments = [sys.executable, "-m", "graphmem", "serve", "--port", str(_free_port()), "--tenant", terminal.tenant]
    with subprocess.Popen(arguments, cwd=ROOT, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            key = _found(process, r"shown once, .*: (gm_\S+)")
            address = _found(process, r"listens on (http://\S+)")
            told = _asked(f"{address}/v1/users/bo/turns", key, {"role": "user", "text": "I live in Leeds."})
            assert told["stored"][0]["memory"]["value"] == "Leeds"
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)
        assert process.returncode == 0
    assert (tmp_path / "api-key").read_text(encoding="ascii").strip() == key


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _found(process: subprocess.Popen[str], pattern: str) -> str:
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if match := re.search(pattern, line):
            return match[1]
    raise AssertionError(f"{pattern} was not said: {''.join(said)}")


def _asked(url: str, key: str, body: dict[str, str]) -> dict[str, Any]:
    """The answer, as soon as the port is open."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    end = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return cast(dict[str, Any], json.load(answer))
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error
        except OSError:  # it is said before the port is open
            if time.monotonic() > end:
                raise
