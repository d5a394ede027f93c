"""The three doors as one interface, for one user of one tenant: REST and GraphQL by the user's token, the command line in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from starlette.testclient import TestClient

from tests.terminal import Answer, Terminal

Told = dict[str, Any]


class DoorRefusedError(AssertionError):
    """What a door refused: `code` is the stable name of the error."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code = code


class Door(Protocol):
    """Writes through one door. Each returns the id of the memory (relation) concerned, or None where there is none."""

    @property
    def name(self) -> str: ...

    def inject(self, turn_id: str, text: str, at: str) -> str | None: ...

    def remember(self, key: str, value: str, **more: Any) -> str | None: ...

    def change(self, mid: str, value: str, team: str) -> str | None: ...

    def settle(self, act: str, mid: str) -> str | None:
        """confirm, reject, retract, forget or undelete."""
        ...

    def relate(self, kind: str, from_mid: str, to_mid: str) -> str | None: ...

    def event(self, name: str, data: dict[str, str], ref: str) -> str | None: ...


def concerned(told: Told) -> str | None:
    """The first memory that was stored or waits."""
    for item in (*told["stored"], *told["pending"]):
        return str(item["memory"]["mid"])
    return None


@dataclass(frozen=True, slots=True)
class Rest:
    client: TestClient
    name: str = "REST"

    def _send(self, method: str, path: str, body: object = None, **headers: str) -> Told:
        answer = self.client.request(method, f"/v1/me{path}", json=body, headers=headers)
        if answer.status_code >= 400:
            raise DoorRefusedError(answer.json()["code"], answer.text)
        return cast(Told, answer.json()) if answer.content else {}

    def inject(self, turn_id: str, text: str, at: str) -> str | None:
        body = {"session_id": "s-1", "turn_id": turn_id, "role": "user", "text": text, "at": at}
        return concerned(self._send("POST", "/turns", body))

    def remember(self, key: str, value: str, **more: Any) -> str | None:
        op = {"Idempotency-Key": more.pop("op")} if "op" in more else {}
        more |= {"source": {"kind": more.pop("source"), "ref": more.pop("ref")}} if "source" in more else {}
        return str(self._send("POST", "/memories", {"key": key, "value": value, **more}, **op)["memory"]["mid"])

    def change(self, mid: str, value: str, team: str) -> str | None:
        etag = self.client.get(f"/v1/me/memories/{mid}").headers["etag"]
        done = self._send("PATCH", f"/memories/{mid}", {"value": value, "metadata": {"team": team}}, **{"If-Match": etag})
        return str(done["memory"]["mid"])

    def settle(self, act: str, mid: str) -> str | None:
        if act == "forget":
            self._send("DELETE", f"/memories/{mid}")
        else:
            self._send("POST", f"/memories/{mid}:{act}")
        return mid

    def relate(self, kind: str, from_mid: str, to_mid: str) -> str | None:
        return str(self._send("POST", "/relations", {"type": kind, "from_mid": from_mid, "to_mid": to_mid})["rid"])

    def event(self, name: str, data: dict[str, str], ref: str) -> str | None:
        return concerned(self._send("POST", "/events", {"name": name, "data": data, "ref": ref}))


MEMORY = "{ mid etag }"


@dataclass(frozen=True, slots=True)
class Graph:
    client: TestClient
    name: str = "GraphQL"

    def _ask(self, document: str, **variables: Any) -> Told:
        answer = self.client.post("/graphql", json={"query": document, "variables": variables}).json()
        if "errors" in answer:
            raise DoorRefusedError(answer["errors"][0]["extensions"]["code"], json.dumps(answer["errors"]))
        told: Told = next(iter(answer["data"].values()))
        if told is not None and told.get("userErrors"):
            raise DoorRefusedError(told["userErrors"][0]["code"], json.dumps(told["userErrors"]))
        return told

    def _act(self, mutation: str, kind: str, asked: str, /, **given: Any) -> Told:
        document = f"mutation($input: {kind}!) {{ {mutation}(input: $input) {{ {asked} userErrors {{ code path messageEn }} }} }}"
        return self._ask(document, input=given)

    def inject(self, turn_id: str, text: str, at: str) -> str | None:
        asked = f"turn {{ stored {{ memory {MEMORY} }} pending {{ memory {MEMORY} }} }}"
        given = {"sessionId": "s-1", "turnId": turn_id, "role": "user", "text": text, "at": at}
        return concerned(self._act("injectTurn", "InjectTurnInput", asked, **given)["turn"])

    def remember(self, key: str, value: str, **more: Any) -> str | None:
        named = {"op": "idempotencyKey", "expected_version": "expectedVersion", "valid_from": "validFrom"}
        source = {"source": {"kind": more.pop("source").upper(), "ref": more.pop("ref")}} if "source" in more else {}
        given = {named.get(name, name): value for name, value in more.items()}
        asked = f"done {{ memory {MEMORY} }}"
        done = self._act("remember", "RememberInput", asked, key=key, value=value, **given, **source)
        return str(done["done"]["memory"]["mid"])

    def change(self, mid: str, value: str, team: str) -> str | None:
        etag = self._ask(f"query($mid: String!) {{ memory(mid: $mid) {MEMORY} }}", mid=mid)["etag"]
        asked = f"done {{ memory {MEMORY} }}"
        done = self._act("change", "ChangeInput", asked, mid=mid, ifMatch=etag, value=value, metadata={"team": team})
        return str(done["done"]["memory"]["mid"])

    def settle(self, act: str, mid: str) -> str | None:
        kinds = {"forget": "ForgetInput", "undelete": "UndeleteInput"}
        asked = {"forget": "forgottenMid", "confirm": f"done {{ memory {MEMORY} }}"}
        self._act(act, kinds.get(act, "MemoryInput"), asked.get(act, f"memory {MEMORY}"), mid=mid)
        return mid

    def relate(self, kind: str, from_mid: str, to_mid: str) -> str | None:
        made = self._act("relate", "RelateInput", "relation { rid }", type=kind, fromMid=from_mid, toMid=to_mid)
        return str(made["relation"]["rid"])

    def event(self, name: str, data: dict[str, str], ref: str) -> str | None:
        asked = f"event {{ stored {{ memory {MEMORY} }} pending {{ memory {MEMORY} }} }}"
        return concerned(self._act("recordEvent", "RecordEventInput", asked, name=name, data=data, ref=ref)["event"])


@dataclass(frozen=True, slots=True)
class CommandLine:
    terminal: Terminal
    folder: Path
    name: str = "command line"

    def _run(self, *arguments: str) -> Answer:
        told = self.terminal.mine(*arguments)
        if told.code:
            found = told.talk.rpartition("[")[2].partition("]")[0]
            raise DoorRefusedError(found, told.talk)
        return told

    def _done(self, *arguments: str) -> Any:
        return self._run(*arguments, "-o", "json").json()

    def inject(self, turn_id: str, text: str, at: str) -> str | None:
        return concerned(self._done("inject", text, "--session", "s-1", "--turn-id", turn_id, "--at", at))

    def remember(self, key: str, value: str, **more: Any) -> str | None:
        named = {"op": "--key", "expected_version": "--expect", "valid_from": "--from", "source": "--source", "ref": "--ref"}
        options = [word for name, given in more.items() for word in (named[name], str(given))]
        return str(self._done("remember", key, value, *options)["memory"]["mid"])

    def change(self, mid: str, value: str, team: str) -> str | None:
        etag = self._done("get", mid)["etag"]
        return str(self._done("change", mid, value, "--metadata", f"team={team}", "--if-match", etag)["memory"]["mid"])

    def settle(self, act: str, mid: str) -> str | None:
        self._run(act, mid)
        return mid

    def relate(self, kind: str, from_mid: str, to_mid: str) -> str | None:
        return str(self._done("relate", kind, from_mid, to_mid)["rid"])

    def event(self, name: str, data: dict[str, str], ref: str) -> str | None:
        file = self.folder / "event.jsonl"
        file.write_text(json.dumps({"name": name, "data": data, "ref": ref}, ensure_ascii=False), encoding="utf-8")
        return concerned(self._done("event", str(file))[0])
