"""What the stories of forgetting share: remember, forget earlier than now, look at everything that is written."""

from __future__ import annotations

import json
from datetime import datetime

from graphmem.answers import Memory, Remember
from graphmem.app import Graphmem
from graphmem.check import slot_breaks
from graphmem.memory import Turn
from graphmem.scope import Scope

SAID = "我对花生过敏。我养了一只猫。"
WORD = "花生"


def held(g: Graphmem, scope: Scope, ask: Remember) -> Memory:
    done = g.remember(scope, ask)
    assert done.memory is not None
    return done.memory


def values(g: Graphmem, scope: Scope, key: str, as_of: datetime | None = None) -> list[str | None]:
    return [m.value for m in g.latest(scope, key, as_of=as_of).items]


def told(g: Graphmem, scope: Scope, text: str = SAID, turn: str = "1") -> dict[str, Memory]:
    """Inject a turn; what it stored, by value."""
    done = g.inject(scope, Turn(text, session_id="s", turn_id=turn))
    return {str(s.memory.value): s.memory for s in done.stored}


def sound(g: Graphmem, scope: Scope) -> None:
    assert slot_breaks(scope.tenant, g.reader.history(scope)) == []


def later(g: Graphmem, scope: Scope, hours: float, user: str | None = None) -> None:
    """As if everything of the tenant, or of one user, had been forgotten that much earlier."""
    text = """
      MATCH (u:User {tenant_id: $t})-[r]->(:Memory) WHERE $u IS NULL OR u.user_id = $u
      SET u.lock = true, r.tombstoned_at = r.tombstoned_at - duration({seconds: $s})
    """
    g.neo4j.text(text, {"t": scope.tenant, "u": user, "s": round(hours * 3600)})


def written(g: Graphmem, tenant: str) -> str:
    """Every property of every node and relationship of a tenant, as text."""
    nodes = g.neo4j.text("MATCH (n) WHERE n.tenant_id = $t RETURN collect(properties(n)) AS p", {"t": tenant})
    links = g.neo4j.text("MATCH (n)-[r]->() WHERE n.tenant_id = $t RETURN collect(properties(r)) AS p", {"t": tenant})
    return json.dumps([nodes[0]["p"], links[0]["p"]], ensure_ascii=False, default=str)
