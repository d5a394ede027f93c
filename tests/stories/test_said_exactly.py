"""What was sent is what is kept: the text of a turn, byte for byte."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.app import Graphmem
from graphmem.ids import uuid7
from graphmem.memory import Turn
from graphmem.scope import Scope

TEXTS = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters=[chr(i) for i in range(32) if chr(i) not in "\n\r\t"]),
    min_size=1,
    max_size=120,
).filter(lambda t: bool(t.strip()))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, statement=st.sampled_from(("", "我對青黴素過敏。", "Ｉ ｌｉｖｅ ｉｎ Leeds. ", "Cafe\u0301 \u00a0 我喜欢 喝　茶")))
def test_a_turn_is_stored_byte_for_byte_as_it_was_sent(graphmem: Graphmem, scope: Scope, text: str, statement: str) -> None:
    session = uuid7()
    graphmem.inject(scope, Turn(statement + text, session_id=session))
    assert [t.text for t in graphmem.reader.turns(scope, session)] == [statement + text]
