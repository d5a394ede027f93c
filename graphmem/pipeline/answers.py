"""Bare answers: "拿铁" after "想喝点什么？", "yes" after a yes-no question about the user. After advice nothing is confirmed. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.memory import Turn
from graphmem.pipeline.classify import Classifier, Found
from graphmem.pipeline.slice import Clause, Sliced
from graphmem.pipeline.speech import Speech
from graphmem.pipeline.talk import Talk


class Answers:
    """Completes a bare answer with the question it answers."""

    def __init__(self, classifier: Classifier, speech: Speech) -> None:
        self._classifier, self._speech = classifier, speech

    def answer(self, sliced: Sliced, context: Sequence[Turn], talk: Talk) -> list[tuple[Found, Clause]] | None:
        """What the turn answers, or None when it answers nothing."""
        return None
