"""graphmem as a component of a spaCy pipeline: `nlp.add_pipe("graphmem")`. Import this module once to make the factory known.

The service's own recogniser is a table of names (pipeline/recognise.py says why it is not spaCy's PhraseMatcher: start and memory were
measured). Who has a spaCy pipeline of their own gets what graphmem hears as spans beside their entities.
"""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from spacy.language import Language
from spacy.tokens import Doc, Span

from graphmem.lexicon import load_lexicon
from graphmem.memory import Heard, Turn
from graphmem.ontology import load_ontology
from graphmem.pipeline.extract import Extractor

SPANS = "graphmem"
"""The group of `doc.spans`: one span a statement, its label the key, its id the concept."""


class Component:
    """Hears each Doc as one turn of the user. `doc._.graphmem` is the whole `Heard`: statements, what was not stored and why."""

    def __init__(self, zone: str) -> None:
        self._extractor = Extractor(load_ontology(), load_lexicon())
        self._zone = ZoneInfo(zone)

    def __call__(self, doc: Doc) -> Doc:
        heard = self._extractor.hear(Turn(doc.text), datetime.now(UTC), self._zone)
        doc._.graphmem = heard
        doc.spans[SPANS] = [span for s in heard.statements if (span := _span(doc, s.span, s.key, s.ckey)) is not None]
        return doc


def _span(doc: Doc, at: tuple[int, int] | None, key: str, ckey: str) -> Span | None:
    return None if at is None else doc.char_span(*at, label=key, span_id=ckey, alignment_mode="expand")


@Language.factory("graphmem", default_config={"zone": "UTC"})
def make_component(nlp: Language, name: str, zone: str) -> Component:
    """`zone`: the speaker's IANA zone, for dates in the words."""
    return Component(zone)


if not Doc.has_extension(SPANS):
    Doc.set_extension(SPANS, default=Heard("en"))
