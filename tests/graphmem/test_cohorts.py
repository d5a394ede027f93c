"""Pages of a cohort over a plain list of rows: every user once and whole, however the rows fall on the pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from graphmem.cohorts import CohortAsk, CohortQuery, Cohorts, Member, Then
from graphmem.memory import Standing, from_ms
from graphmem.room import Room
from graphmem.scope import TenantScope
from graphmem.settings import Settings
from graphmem.validity import Ms

SCOPE = TenantScope("acme", "service:1", frozenset({"cohort"}))


@dataclass
class Rows:
    """Members in slot order, served by the page."""

    members_: list[Member]
    asked: list[Mapping[str, object]] = field(default_factory=list)

    def members(self, scope: TenantScope, ask: CohortAsk, after: str | None, limit: int) -> list[Member]:
        return [m for m in self.members_ if after is None or m.place > after][:limit]

    def holders(self, scope: TenantScope, ask: CohortAsk, as_of: Ms | None, known_at: Ms | None, after: str | None, limit: int) -> Then:
        return Then(0, ())

    def record(self, scope: TenantScope, outcome: Mapping[str, object]) -> None:
        self.asked.append(outcome)


@pytest.fixture(scope="module")
def room() -> Room:
    return Room(Settings())


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_a_user_is_told_once_and_whole_wherever_a_page_ends(room: Room, limit: int) -> None:
    held = {"ann": 1, "anna": 3, "bob": 5, "张三": 3, "zoe": 4, "{odd": 2}
    rows = [
        Member(user, f"{user}-{n}", f"s{n}", "x", Standing.STATED, from_ms(0), f"1|acme|{user}|F|family_history|s{n}|disease:diabetes")
        for user, count in held.items()
        for n in range(count)
    ]
    store = Rows(sorted(rows, key=lambda m: m.place))
    seen: dict[str, int] = {}
    cursor: str | None = None
    while True:
        page = Cohorts(room, store).cohort(SCOPE, CohortQuery("family_history", "diabetes", limit=limit, cursor=cursor))
        for user in page.items:
            assert user.user_id not in seen
            seen[user.user_id] = len(user.members)
        cursor = page.next
        if not page.has_next:
            break
    # a user with more rows than a whole page reads is told with as many
    assert seen == {user: min(count, limit * 4) for user, count in held.items()}
    assert sum(int(str(a["found"])) for a in store.asked) == len(held)
