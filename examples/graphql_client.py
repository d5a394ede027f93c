"""A page of a person's memory by GraphQL, with nothing but the standard library: write by a mutation, read page by page.

graphmem serve
GRAPHMEM_URL=http://127.0.0.1:8000 GRAPHMEM_KEY=<the key it printed> python examples/graphql_client.py
"""

from __future__ import annotations

import json
import os
import urllib.request
from typing import Any
from urllib.parse import quote

USER = "小宁"

SAY = """mutation($text: String!, $turn: String!) {
  injectTurn(input: {text: $text, role: "user", sessionId: "graphql", turnId: $turn}) {
    turn { stored { verdict memory { key value } } notStored { text reason } }
    userErrors { code path messageZh messageEn } } }"""

PAGE = """query($after: String) {
  memories(first: 2, after: $after) {
    nodes { __typename key label { zh en } value validFrom sources(first: 1) { quote } }
    pageInfo { endCursor hasNextPage } totalCount } }"""


def ask(query: str, **variables: object) -> dict[str, Any]:
    """The data of one request. An error ends the program with what the service says."""
    request = urllib.request.Request(
        os.environ.get("GRAPHMEM_URL", "http://127.0.0.1:8000") + "/graphql",
        json.dumps({"query": query, "variables": variables}).encode(),
        {
            "Authorization": f"Bearer {os.environ['GRAPHMEM_KEY']}",
            "Content-Type": "application/json",
            "X-Graphmem-User": quote(USER),
            "Accept-Language": "zh",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        told: dict[str, Any] = json.load(answer)
    if "errors" in told:
        raise SystemExit("; ".join(error["message"] for error in told["errors"]))
    return dict(told["data"])


def say(number: int, text: str) -> None:
    told = ask(SAY, text=text, turn=f"t-{number}")["injectTurn"]
    for error in told["userErrors"]:
        print(f"{error['path']}: {error['messageEn']}")
    for stored in told["turn"]["stored"]:
        print(f"{stored['verdict']}: {stored['memory']['key']} = {stored['memory']['value']}")


def main() -> None:
    for number, text in enumerate(("我住在杭州。", "我对青霉素过敏。", "我平时喝美式。", "I love jazz."), 1):
        say(number, text)
    after: str | None = None
    while True:
        page = ask(PAGE, after=after)["memories"]
        for node in page["nodes"]:
            print(
                f"{node['__typename']:<17} {node['label']['zh']} / {node['label']['en']}: {node['value']}  “{node['sources'][0]['quote']}”"
            )
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            print(f"{page['totalCount']} in all")
            return


if __name__ == "__main__":
    main()
