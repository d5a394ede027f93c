"""The command line reaches what the other doors reach: one memory, changes of it, relations, cohorts, events, proofs, sessions."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pyotp import TOTP
from typer.testing import CliRunner

from graphmem.cli import app
from graphmem.commands.frame import Exit
from tests.terminal import Answer, Terminal


def whole(told: Answer) -> dict[str, Any]:
    assert told.code == Exit.OK, told.talk
    return cast(dict[str, Any], told.json())


def remembered(terminal: Terminal, *arguments: str) -> str:
    return str(whole(terminal.mine("remember", *arguments, "-o", "json"))["memory"]["mid"])


def test_one_memory_is_read_now_and_as_it_was(terminal: Terminal) -> None:
    first = remembered(terminal, "employer", "Kiln and Sons", "--said-at", "2026-01-05")
    remembered(terminal, "employer", "Harbour Works", "--said-at", "2026-03-05")
    assert whole(terminal.mine("get", first, "-o", "json"))["status"] == "superseded"
    assert whole(terminal.mine("get", first, "--as-of", "2026-02-01", "-o", "json"))["status"] == "active"
    assert [m["value"] for m in terminal.mine("latest", "employer", "-o", "jsonl").lines()] == ["Harbour Works"]
    assert [m["value"] for m in terminal.mine("latest", "employer", "--as-of", "2026-02-01", "-o", "jsonl").lines()] == ["Kiln and Sons"]


def test_a_change_makes_a_new_version_and_a_stale_etag_is_refused(terminal: Terminal) -> None:
    mid = remembered(terminal, "employer", "Kiln and Sons")
    etag = whole(terminal.mine("get", mid, "-o", "json"))["etag"]
    done = whole(terminal.mine("change", mid, "Harbour Works", "--metadata", "team=north", "--if-match", etag, "-o", "json"))
    assert (done["memory"]["value"], done["memory"]["version"], done["memory"]["metadata"]) == ("Harbour Works", 2, {"team": "north"})
    stale = terminal.mine("change", mid, "Third", "--if-match", etag)
    assert (stale.code, "version_conflict" in stale.talk) == (Exit.REFUSED, True)
    assert terminal.mine("change", mid, "Third", "--metadata", "team").code == Exit.USAGE


def test_a_version_that_was_not_seen_is_refused(terminal: Terminal) -> None:
    remembered(terminal, "employer", "Kiln and Sons")
    told = terminal.mine("remember", "employer", "Harbour Works", "--expect", "7")
    assert (told.code, "version_conflict" in told.talk) == (Exit.REFUSED, True)


def test_the_same_request_under_one_key_is_stored_once(terminal: Terminal) -> None:
    once = whole(terminal.mine("remember", "hobby", "chess", "--key", "k-1", "-o", "json"))
    again = whole(terminal.mine("remember", "hobby", "chess", "--key", "k-1", "-o", "json"))
    assert (once["replayed"], again["replayed"]) == (False, True)
    assert once["memory"]["mid"] == again["memory"]["mid"]
    assert terminal.mine("remember", "hobby", "go", "--key", "k-1").code == Exit.REFUSED


def test_everything_of_a_user_is_forgotten_only_when_it_is_said(terminal: Terminal) -> None:
    remembered(terminal, "hobby", "chess")
    remembered(terminal, "home_city", "Leeds")
    assert terminal.mine("forget").code == Exit.USAGE
    assert terminal.mine("forget", "x", "--all").code == Exit.USAGE
    refused = CliRunner().invoke(app, ["forget", "--all", "--tenant", terminal.tenant, "--user", "ann"], env=terminal.env, input="n\n")
    assert refused.exit_code == Exit.UNEXPECTED
    assert len(terminal.mine("list", "-o", "jsonl").lines()) == 2
    assert terminal.mine("forget", "--all", "--yes").code == Exit.OK
    assert terminal.mine("list", "-o", "jsonl").lines() == []


def test_two_memories_are_related_and_the_relation_ends(terminal: Terminal) -> None:
    drug, ill = remembered(terminal, "medication", "metformin"), remembered(terminal, "disease", "diabetes")
    made = whole(terminal.mine("relate", "HAS_CONDITION", drug, ill, "--weight", "0.5", "-o", "json"))
    found = terminal.mine("related", drug, "-o", "jsonl").lines()
    assert [cast(dict[str, Any], r["memory"])["mid"] for r in found] == [ill]
    assert whole(terminal.mine("unrelate", made["rid"], "-o", "json"))["valid_to"] is not None
    assert terminal.mine("related", drug, "-o", "jsonl").lines() == []
    assert terminal.mine("relate", "LIKES", drug, ill).code == Exit.USAGE


def test_a_cohort_names_who_of_a_tenant_is_meant(terminal: Terminal) -> None:
    for user in ("ann", "bo"):
        terminal.mine("remember", "allergy", "penicillin", user=user)
    terminal.mine("remember", "allergy", "peanut", user="cy")
    found = terminal.run("cohort", "allergy", "penicillin", "--tenant", terminal.tenant, "-o", "jsonl").lines()
    assert sorted(str(u["user_id"]) for u in found) == ["ann", "bo"]


def test_a_recalls_receipt_says_why_each_candidate_was_told(terminal: Terminal) -> None:
    remembered(terminal, "allergy", "penicillin")
    told = whole(terminal.mine("recall", "Can I take amoxicillin?", "--task", "medication", "-o", "json"))
    lines = terminal.mine("receipt", told["receipt_id"], "-o", "jsonl").lines()
    assert [line["told"] for line in lines if line["mid"] == told["memories"][0]["memory"]["mid"]] == [True]


def test_records_across_sessions_are_told_to_who_has_proved_who_they_are(terminal: Terminal) -> None:
    assert terminal.mine("recall", "List all my claims of last month").code == Exit.REFUSED
    assert terminal.mine("recall", "List all my claims of last month", "--proved").code == Exit.OK


def test_sessions_profile_and_changes_tell_of_the_user(terminal: Terminal) -> None:
    terminal.mine("inject", "I live in Leeds.", "--session", "s-1")
    terminal.mine("inject", "I'm allergic to penicillin.", "--session", "s-2")
    assert {str(s["session_id"]) for s in terminal.mine("sessions", "-o", "jsonl").lines()} == {"s-1", "s-2"}
    page = whole(terminal.mine("sessions", "--limit", "1", "-o", "json"))
    rest = whole(terminal.mine("sessions", "--limit", "1", "--cursor", page["next"], "-o", "json"))
    assert {s["session_id"] for s in (*page["items"], *rest["items"])} == {"s-1", "s-2"}
    told = whole(terminal.mine("profile", "-o", "json"))
    assert ({k["key"] for k in told["keys"]}, told["turn_count"]) == ({"home_city", "allergy"}, 2)
    every = whole(terminal.mine("changes", "-o", "json"))
    assert [c["verdict"] for c in every["items"]] == ["new", "new"]
    assert whole(terminal.mine("changes", "--since", str(every["revision"]), "-o", "json"))["items"] == []


def test_events_of_a_file_are_recorded_once(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    lines = [
        {"name": "address_changed", "data": {"city": "Leeds"}, "ref": "c-1"},
        {"name": "seat_chosen", "data": {"seat": "window"}, "ref": "c-2"},
    ]
    file.write_text("".join(json.dumps(line) + "\n\n" for line in lines), encoding="utf-8")
    once = cast(list[dict[str, Any]], terminal.mine("event", str(file), "-o", "json").json())
    again = cast(list[dict[str, Any]], terminal.mine("event", str(file), "-o", "json").json())
    assert [(e["replayed"], [s["memory"]["key"] for s in e["stored"]]) for e in once] == [
        (False, ["home_city"]),
        (False, ["seat_preference"]),
    ]
    assert [e["replayed"] for e in again] == [True, True]
    assert {str(m["key"]) for m in terminal.mine("list", "-o", "jsonl").lines()} == {"home_city", "seat_preference"}


def test_events_are_read_from_stdin(terminal: Terminal) -> None:
    line = json.dumps({"name": "city_entered", "data": {"city": "Hull"}})
    told = CliRunner().invoke(app, ["event", "-", "--tenant", terminal.tenant, "--user", "ann"], env=terminal.env, input=line)
    assert (told.exit_code, "current_city: Hull" in told.stdout) == (Exit.OK, True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no event"),
        ("nothing", "line 1 is no JSON"),
        ("[]", "line 1: this is no object with a name"),
        ('{"name": "x", "colour": 1}', "line 1: 'colour' is no field of an event"),
        ('\n{"name": "x", "data": []}', "line 2: data is no object"),
        ('{"name": "x", "ref": 7}', "line 1: ref is no text"),
        ('{"name": "no_such_event"}', "is no event of this service"),
        ('{"name": "x", "at": "soon"}', "is no ISO 8601 time"),
    ],
)
def test_a_file_of_events_that_is_wrong_is_refused_with_its_line(terminal: Terminal, tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(text, encoding="utf-8")
    told = terminal.mine("event", str(file))
    assert (told.code, told.data) == (Exit.USAGE, "")
    assert says in told.talk
    assert terminal.mine("event", str(tmp_path / "none.jsonl")).code == Exit.NOT_FOUND


def test_a_phone_number_changes_after_two_proofs(terminal: Terminal) -> None:
    assert terminal.mine("proof", "enrol-totp").code == Exit.REFUSED
    secret = whole(terminal.mine("proof", "enrol-totp", "--proved", "-o", "json"))["secret"]
    remembered(terminal, "phone", "+44 20 7946 0958", "--source", "document")
    waiting = whole(terminal.mine("remember", "phone", "+44 20 7946 0321", "-o", "json"))
    started = terminal.mine("proof", "start", waiting["pending"]["memory"]["mid"], "-o", "json")
    case = whole(started)
    found = re.search(r"the code for the new phone of ann is (\S+)", started.talk)
    assert case["missing"] == ["code", "channel"] and found is not None
    assert terminal.mine("proof", "code", case["case_id"], "000000" if found[1] != "000000" else "111111").code == Exit.REFUSED
    assert whole(terminal.mine("proof", "code", case["case_id"], found[1], "-o", "json"))["missing"] == ["channel"]
    done = whole(terminal.mine("proof", "totp", case["case_id"], TOTP(secret).now(), "-o", "json"))
    assert (done["state"], done["missing"], done["applied"]["status"]) == ("applied", [], "active")


def test_a_device_is_enrolled_by_its_key_and_a_signature_is_base64(terminal: Terminal) -> None:
    key = base64.b64encode(Ed25519PrivateKey.generate().public_key().public_bytes_raw()).decode()
    assert whole(terminal.mine("proof", "enrol-device", key, "--proved", "-o", "json"))["factor_id"]
    assert terminal.mine("proof", "approve", "no-such-case", "not base64!").code == Exit.USAGE
