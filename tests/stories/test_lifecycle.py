"""Ends of life on the real graph: retract, lifetimes, plans and the sweep, which only tidies what reads know already."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from graphmem.answers import Memory, Remember
from graphmem.app import Graphmem
from graphmem.check import slot_breaks
from graphmem.errors import ConflictError, NotFoundError, RefusedError
from graphmem.lifecycle import Swept
from graphmem.memory import Kind, Status, Turn
from graphmem.scope import Scope
from tests.counting import at_once, results
from tests.graph_view import ago, changes, edges

NOTHING = Swept(0, 0, 0)


def held(g: Graphmem, scope: Scope, ask: Remember) -> Memory:
    done = g.remember(scope, ask)
    assert done.memory is not None
    return done.memory


def values(g: Graphmem, scope: Scope, key: str) -> list[str | None]:
    return [m.value for m in g.latest(scope, key).items]


def earlier(g: Graphmem, scope: Scope, days: float) -> None:
    """As if everything of the user had been said that much earlier, caches included: the clock went on and nobody swept."""
    text = """
      MATCH (:User {tenant_id: $tenant, user_id: $user})-[r]->(:Memory)
      WITH r, duration({seconds: $seconds}) AS d
      SET r.said_at = r.said_at - d, r.valid_from = r.valid_from - d, r.observed_at = r.observed_at - d, r.expires_at = r.expires_at - d,
          r.valid_to = r.valid_to - d, r.until = CASE WHEN r.valid_to IS NULL THEN r.until ELSE r.until - 1000 * $seconds END
    """
    g.neo4j.text(text, {"tenant": scope.tenant, "user": scope.user, "seconds": round(days * 86_400)})


def sound(g: Graphmem, *scopes: Scope) -> None:
    for scope in scopes:
        assert slot_breaks(scope.tenant, g.reader.history(scope)) == []


# --- retract


def test_after_a_retraction_the_value_before_it_counts_again(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, Remember("home_city", "Bergen"))
    wrong = held(graphmem, scope, Remember("home_city", "Oslo"))
    assert graphmem.retract(scope, wrong.mid).status is Status.RETRACTED
    assert values(graphmem, scope, "home_city") == ["Bergen"]
    assert [m.status for m in graphmem.history(scope, wrong.mid)] == [Status.ACTIVE, Status.RETRACTED]
    assert graphmem.memory(scope, wrong.mid, known_at=wrong.recorded_at).status is Status.ACTIVE
    sound(graphmem, scope)


def test_what_a_retracted_statement_had_overruled_stays_overruled(graphmem: Graphmem, scope: Scope) -> None:
    said = Turn("I moved to Oslo.", session_id="s", turn_id="1", at=ago(days=30), zone="UTC")
    graphmem.inject(scope, said)
    graphmem.inject(scope, Turn("I have lived in Bergen since 2019.", session_id="s", turn_id="2", at=ago(days=10), zone="UTC"))
    (bergen,) = graphmem.latest(scope, "home_city").items
    assert bergen.value == "Bergen"
    graphmem.retract(scope, bergen.mid)
    assert values(graphmem, scope, "home_city") == []
    sound(graphmem, scope)


def test_a_retracted_end_lets_the_value_hold_again_and_a_retracted_plan_never_comes(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, Remember("employer", "Mill"))
    end = held(graphmem, scope, Remember("employer", None))
    assert values(graphmem, scope, "employer") == []
    graphmem.retract(scope, end.mid)
    assert values(graphmem, scope, "employer") == ["Mill"]
    plan = held(graphmem, scope, Remember("employer", "Forge", valid_from=ago(days=-5)))
    graphmem.retract(scope, plan.mid)
    assert [m.value for m in graphmem.latest(scope, "employer", as_of=ago(days=-9)).items] == ["Mill"]
    assert not any("planned_slot" in e.edge for e in edges(graphmem, scope))
    sound(graphmem, scope)


def test_a_retraction_is_done_once_and_parallel_clicks_get_equal_answers(graphmem: Graphmem, scope: Scope) -> None:
    wrong = held(graphmem, scope, Remember("employer", "Mill"))
    answers = at_once([partial(graphmem.retract, scope, wrong.mid)] * 8, 8)
    done = [a for a in answers if not isinstance(a, ConflictError)]
    assert done and {m.status for m in done if isinstance(m, Memory)} == {Status.RETRACTED}
    assert sum(c["route"] == "retract" for c in changes(graphmem, scope)) == 1
    with pytest.raises(ConflictError):
        graphmem.retract(scope, wrong.mid)
    with pytest.raises(NotFoundError):
        graphmem.retract(Scope(scope.tenant, "user-2"), wrong.mid)


def test_an_allergy_is_retracted_by_a_reviewer_only(graphmem: Graphmem, scope: Scope) -> None:
    wrong = held(graphmem, scope, Remember("allergy", "penicillin"))
    with pytest.raises(RefusedError):
        graphmem.retract(scope, wrong.mid)
    graphmem.retract(replace(scope, principal="staff:17", rights=frozenset({"review"})), wrong.mid)
    assert values(graphmem, scope, "allergy") == []


# --- lifetimes


@pytest.mark.parametrize(
    ("key", "value", "days", "told"),
    [
        ("current_city", "Oslo", 6.9, True),
        ("current_city", "Oslo", 7.1, False),
        ("coffee_preference", "latte", 179, True),
        ("coffee_preference", "latte", 181, False),
        ("home_city", "Oslo", 4000, True),
    ],
)
def test_contexts_live_seven_days_preferences_a_hundred_and_eighty_and_facts_for_ever(
    graphmem: Graphmem, scope: Scope, key: str, value: str, days: float, told: bool
) -> None:
    memory = held(graphmem, scope, Remember(key, value))
    earlier(graphmem, scope, days)
    for _ in ("before", "after"):
        assert values(graphmem, scope, key) == ([value] if told else [])
        assert graphmem.memory(scope, memory.mid).status is (Status.ACTIVE if told else Status.EXPIRED)
        graphmem.sweep(scope.tenant)
    assert [e.current for e in edges(graphmem, scope)] == [told]


def test_a_preference_said_again_lives_on_from_then(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, Remember("coffee_preference", "latte", said_at=ago(days=170)))
    held(graphmem, scope, Remember("coffee_preference", "latte", said_at=ago(days=20)))
    earlier(graphmem, scope, 100)
    graphmem.neo4j.text("MATCH (m:Memory {tenant_id: $t})-[f:FROM_SOURCE]->() SET f.at = f.at - duration({days: 100})", {"t": scope.tenant})
    graphmem.sweep(scope.tenant)
    assert values(graphmem, scope, "coffee_preference") == ["latte"]
    sound(graphmem, scope)


def test_a_lapsed_memory_leaves_the_index_with_the_sweep_and_a_second_sweep_finds_nothing(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, Remember("current_city", "Oslo"))
    graphmem.drain()
    earlier(graphmem, scope, 8)
    assert graphmem.index.count(scope.tenant, "context") == 1
    assert graphmem.sweep(scope.tenant) == Swept(1, 0, 0)
    graphmem.drain()
    assert graphmem.index.count(scope.tenant, "context") == 0
    before = len(changes(graphmem, scope))
    assert graphmem.sweep(scope.tenant) == NOTHING
    assert len(changes(graphmem, scope)) == before


def test_an_end_and_a_forgotten_row_keep_their_place_past_their_lifetime_and_never_tire_the_sweep(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, Remember("coffee_preference", "latte"))
    held(graphmem, scope, Remember("coffee_preference", None))
    city = held(graphmem, scope, Remember("current_city", "Oslo"))
    graphmem.forget(scope, city.mid)
    earlier(graphmem, scope, 200)
    assert graphmem.sweep(scope.tenant) == NOTHING
    sound(graphmem, scope)


def test_a_plan_that_is_due_is_told_with_and_without_the_promoter(graphmem: Graphmem, scope: Scope) -> None:
    held(graphmem, scope, Remember("employer", "Mill", said_at=ago(days=30)))
    plan = held(graphmem, scope, Remember("employer", "Forge", valid_from=ago(days=-1)))
    assert values(graphmem, scope, "employer") == ["Mill"]
    text = "MATCH (:User {tenant_id: $t})-[r {mid: $mid}]->() SET r.valid_from = r.valid_from - duration({days: 2})"
    graphmem.neo4j.text(text, {"t": scope.tenant, "mid": plan.mid})
    graphmem.neo4j.text("MATCH (:User {tenant_id: $t})-[r {version: 1}]->() SET r.until = r.until - 172800000", {"t": scope.tenant})
    assert values(graphmem, scope, "employer") == ["Forge"]
    assert graphmem.sweep(scope.tenant) == Swept(1, 0, 0)
    assert values(graphmem, scope, "employer") == ["Forge"]
    assert [e.value for e in edges(graphmem, scope) if e.current] == ["Forge"]
    assert graphmem.sweep(scope.tenant) == NOTHING
    sound(graphmem, scope)


def test_a_pending_memory_past_its_life_is_not_shown_swept_or_not(graphmem: Graphmem, scope: Scope) -> None:
    for n, text in enumerate(("I like jazz.", "I don't like jazz.")):
        graphmem.inject(scope, Turn(text, session_id="s", turn_id=str(n), at=ago(days=31, hours=-n), zone="UTC"))
    (waits,) = [e for e in edges(graphmem, scope) if e.version is None]
    assert graphmem.memories(scope).pending == ()
    assert graphmem.sweep(scope.tenant) == Swept(0, 1, 0)
    assert graphmem.memories(scope).pending == ()
    (over,) = [e for e in edges(graphmem, scope) if e.version is None]
    assert over.edge["outcome"] == "expired" and over.edge["pending_to"] == waits.edge["said_at"] + timedelta(days=30)
    assert graphmem.sweep(scope.tenant) == NOTHING
    with pytest.raises(ConflictError):
        graphmem.confirm(scope, waits.mid)


# --- many at once


def lapsing(g: Graphmem, tenant: str, users: int, each: int) -> list[Scope]:
    scopes = [Scope(tenant, f"user-{n}") for n in range(users)]
    for scope in scopes:
        for n in range(each):
            held(g, scope, Remember(f"mood_{n}", "calm", kind=Kind.CONTEXT, arity="one"))
        earlier(g, scope, 8)
    return scopes


def test_sweepers_at_once_do_each_thing_once(graphmem: Graphmem, scope: Scope) -> None:
    scopes = lapsing(graphmem, scope.tenant, 3, 6)
    before = [len(changes(graphmem, s)) for s in scopes]
    swept = results(at_once([partial(graphmem.sweep, scope.tenant)] * 6, 6))
    assert sum(s.slots for s in swept) == 18
    assert [len(changes(graphmem, s)) - n for s, n in zip(scopes, before, strict=True)] == [1, 1, 1]
    sound(graphmem, *scopes)


SWEEP = """
import sys
from pathlib import Path
from graphmem.app import open_graphmem
from graphmem.settings import Settings
with open_graphmem(Settings(home=Path(sys.argv[1]), embedders=("use",)), warm=False) as g:
    print(g.sweep(sys.argv[2]).slots)
"""


def test_sweepers_of_two_processes_do_each_thing_once(graphmem: Graphmem, scope: Scope, tmp_path: Path) -> None:
    scopes = lapsing(graphmem, scope.tenant, 2, 60)
    uri, user = graphmem.settings.neo4j_uri or "", graphmem.settings.neo4j_user
    secret = graphmem.settings.neo4j_password.get_secret_value()
    environment = {**os.environ, "GRAPHMEM_NEO4J_URI": uri, "GRAPHMEM_NEO4J_USER": user, "GRAPHMEM_NEO4J_PASSWORD": secret}
    started = [
        subprocess.Popen([sys.executable, "-c", SWEEP, str(tmp_path / str(n)), scope.tenant], stdout=subprocess.PIPE, env=environment)
        for n in range(2)
    ]
    swept = [int(p.communicate(timeout=120)[0]) for p in started]
    assert [p.returncode for p in started] == [0, 0]
    assert sum(swept) == 120
    sound(graphmem, *scopes)


@pytest.mark.parametrize("run", range(10))
def test_sweepers_and_writers_mixed_leave_a_sound_graph(graphmem: Graphmem, scope: Scope, run: int) -> None:
    first = held(graphmem, scope, Remember("current_city", "Oslo"))
    earlier(graphmem, scope, 8)

    def write(n: int) -> None:
        held(graphmem, scope, Remember("current_city", f"City {n}", said_at=ago(days=6.9 + 0.1 * n)))
        plan = held(graphmem, scope, Remember("employer", f"Mill {n}", valid_from=ago(seconds=-0.02 * n)))
        held(graphmem, scope, Remember("coffee_preference", f"brew {n % 2}", polarity="-" if n % 3 else "+"))
        if n % 2:
            graphmem.forget(scope, plan.mid)

    work: list[Callable[[], object]] = [partial(write, n) for n in range(6)] + [partial(graphmem.sweep, scope.tenant)] * 3
    results(at_once(work, len(work)))
    for _ in range(200):  # the last plans begin a tenth of a second after the last write
        graphmem.sweep(scope.tenant)
        if not any("planned_slot" in e.edge for e in edges(graphmem, scope)):
            break
    sound(graphmem, scope)
    assert graphmem.sweep(scope.tenant) == NOTHING
    assert graphmem.memory(scope, first.mid).status in (Status.EXPIRED, Status.SUPERSEDED)
    graphmem.drain()
    assert graphmem.check(scope.tenant)[0].breaks == ()
