"""One person's small story, told through the façade, in which every saved query of Neo4j Browser has something to show."""

from __future__ import annotations

from graphmem.answers import Ask, Remember
from graphmem.app import Graphmem
from graphmem.memory import Turn
from graphmem.relations import RelationType
from graphmem.scope import Scope
from tests.graph_view import ago

FORGOTTEN = "苦瓜"
"""The value of a memory that is forgotten in the end: no saved query may show it."""


def tell(g: Graphmem, scope: Scope) -> None:
    """Weeks of one person: coffee changes, things are planned, pending, past, related, used, expired and forgotten."""
    _remembered(g, scope)
    _spoken(g, scope)
    g.drain()
    used = g.recall(scope, Ask("我平时喝什么咖啡？", tier="L2", session_id="s-9"))
    assert used.memories, "the story needs a recall that tells something"
    g._after.flush()
    said = g.inject(scope, Turn(f"我喜欢吃{FORGOTTEN}。", session_id="s-2", turn_id="t-2", at=ago(hours=6)))
    g.forget(scope, said.stored[0].memory.mid)
    slip = g.remember(scope, Remember("hometown", "宁波", said_at=ago(hours=5))).memory
    assert slip is not None
    g.retract(scope, slip.mid)
    g.inject(scope, Turn("我最近迷上了围棋。", session_id="s-3", turn_id="t-1"))


def _remembered(g: Graphmem, scope: Scope) -> None:
    first = [
        Remember("coffee_preference", "美式", said_at=ago(days=70)),
        Remember("coffee_preference", "燕麦拿铁", said_at=ago(days=5)),
        Remember("home_city", "杭州", said_at=ago(days=60)),
        Remember("home_city", "成都", said_at=ago(days=3), valid_from=ago(days=-30)),
        Remember("home_city", "厦门", said_at=ago(days=2), valid_from=ago(days=50), valid_to=ago(days=45)),
        Remember("seat_preference", "靠窗", said_at=ago(days=40)),
        Remember("current_city", "苏州", said_at=ago(days=10)),
        Remember("birthday", "1990-05-02", said_at=ago(days=9)),
        Remember("birthday", "1991-05-02", said_at=ago(days=8)),
        Remember("occupation", "教师", subject="father", said_at=ago(days=7)),
        Remember("allergy", "青霉素", said_at=ago(days=20)),
        Remember("vehicle", "自行车", said_at=ago(days=18)),
        Remember("vehicle", "自行车", said_at=ago(days=4), ends=True),
    ]
    for ask in first:
        g.remember(scope, ask)
    liked = g.remember(scope, Remember("food_preference", "香菜", said_at=ago(days=30))).memory
    avoided = g.remember(scope, Remember("food_preference", "香菜", polarity="-", said_at=ago(days=6))).memory
    asthma = g.remember(scope, Remember("disease", "哮喘", said_at=ago(days=15))).memory
    drug = g.remember(scope, Remember("medication", "阿莫西林", said_at=ago(days=14))).memory
    allergy = g.latest(scope, "allergy").items[0]
    assert liked and avoided and asthma and drug
    g.relate(scope, RelationType.AFFECTS_MEDICATION, allergy.mid, drug.mid, 0.9)
    g.relate(scope, RelationType.CONTRADICTS, drug.mid, asthma.mid, 0.5)
    g.relate(scope, RelationType.HAS_CONDITION, drug.mid, asthma.mid, 0.7)
    g.relate(scope, RelationType.DERIVED_FROM, avoided.mid, allergy.mid, 0.3)


def _spoken(g: Graphmem, scope: Scope) -> None:
    turns = [
        Turn("我对花生过敏。", session_id="s-1", turn_id="t-1", at=ago(days=12)),
        Turn("我喜欢寿司。", session_id="s-1", turn_id="t-2", at=ago(days=2)),
        Turn("我讨厌寿司。", session_id="s-2", turn_id="t-1", at=ago(days=1)),
    ]
    for turn in turns:
        g.inject(scope, turn)
