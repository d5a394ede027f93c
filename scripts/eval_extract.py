"""Score the pure middle (extractor and judge over plain lists, no store): `eval_extract.py FILE [--misses N] [--lang L] [--key K]`.

Labels, dialogues, cases and updates; retrieval lines need the real stores (`graphmem eval`) and are passed over.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from graphmem.book import Book, Limits, Rule, Trust
from graphmem.casework import Clock, Spoken, cases, rule_of
from graphmem.conflict import judge
from graphmem.evalfile import Answer, Case, Dialogue, EvidenceTurn, Label, Pair, Query, Question, State, Update, parse
from graphmem.evalreport import Report, Score
from graphmem.evalscore import Edge, Prediction, heard_predictions, role_of
from graphmem.evaluate import evaluate
from graphmem.lexicon import Lexicon, load_lexicon
from graphmem.memory import Kind, Language, Statement, Status, Turn, from_ms, to_ms
from graphmem.ontology import Ontology, load_ontology
from graphmem.pipeline.extract import Extractor
from graphmem.scope import Scope
from graphmem.slot import ckey_of_text, folded
from graphmem.stores.embedding import sentence_encoder
from graphmem.validity import Ledger, Ms, Row, shown

SAID_AT = datetime(2026, 3, 4, 2, 0, tzinfo=UTC)
"""When labels are said: they hold no dates that depend on it."""

WRITTEN_AT = to_ms(datetime(2026, 11, 1, tzinfo=UTC))
"""The database clock of the first write: after everything that a file says."""

ZONES: Mapping[Language, str] = {"zh": "Asia/Shanghai", "en": "Europe/Dublin"}
HOUR = 3_600_000
LIMITS = Limits(window=72 * HOUR, pending_life=30 * 24 * HOUR)
SCOPE = Scope("eval", "somebody")
FREE = Rule("pole", "versioned", None)
"""How every key behaves in files of updates: one slot a value, polarity exclusive, no lifetime."""

PAST = {Status.SUPERSEDED: "superseded", Status.HISTORICAL: "superseded", Status.EXPIRED: "superseded"}
LISTED = {Status.ACTIVE: "active", Status.SCHEDULED: "scheduled", **PAST}


class Life:
    """What one throw-away user is remembered by: every row and pending memory, judged as the write path does."""

    def __init__(self, ontology: Ontology, extractor: Extractor) -> None:
        self.ontology, self.extractor = ontology, extractor
        self.book = Book(WRITTEN_AT, {}, {}, {}, (f"m{n}" for n in range(1, 1_000_000)))
        self.context: list[Turn] = []

    def hear(self, turn: Turn, said_at: datetime, lang: Language) -> None:
        heard = self.extractor.hear(turn, said_at, _zone(said_at, ZoneInfo(ZONES[lang])), self.context[-6:])
        self.context.append(turn)
        found = [*heard.statements, *(replace(f.statement, hedged=True) for f in heard.follow_ups if self._warns(f.statement))]
        self.tell([s for s in found if self.ontology.get(s.key)], to_ms(said_at), turn.verified)

    def _warns(self, s: Statement) -> bool:
        key = self.ontology.get(s.key)
        return key is not None and key.safety and s.polarity == "+" and not s.is_end and bool(s.ckey)

    def tell(self, statements: Sequence[Statement], at: Ms, verified: bool | None, rule: Rule | None = None) -> None:
        self.book.now += 1000
        for s in sorted(statements, key=lambda s: not (s.polarity == "-" or s.is_end)):
            trust = Trust(verified=verified, reported=s.subject != "self")
            spoken = Spoken(SCOPE, s, rule or rule_of(self.ontology.key(s.key)), trust, at)
            for case in cases(spoken, self.book, Clock(self.book.now, 300_000), LIMITS):
                judge(case, self.book)

    def answer(self, query: Query, ckeys: frozenset[str]) -> Answer:
        t = to_ms(query.as_of)
        told = [r for r in self.book.ledger.all_told(t, self.book.now) if _asked(r, query)]
        if query.about is None:
            return tuple(r.value for r in told if r.polarity == "+" and r.value) or None
        pendings = [p for p in self.book.pendings.values() if shown(p, t, self.book.now, LIMITS.pending_life)]
        if any(_asked(p.row, query) and _about(p.row, query.about, ckeys) for p in pendings):
            return "pending"
        for row in told:
            if _about(row, query.about, ckeys):
                words = ("like", "dislike") if row.kind is Kind.PREFERENCE else ("yes", "no")
                return words[row.polarity == "-"]
        return None

    def edges(self, at: Ms) -> list[Edge]:
        k, ledger = self.book.now, Ledger(self.book.rows.values())
        found = [_edge(row, LISTED[s], ledger, k) for row in ledger.rows if not row.is_end and (s := ledger.status(row, at, k)) in LISTED]
        pendings = [p.row for p in self.book.pendings.values() if shown(p, at, k, LIMITS.pending_life)]
        return found + [_edge(row, "pending", ledger, k) for row in pendings]


def _zone(said_at: datetime, default: ZoneInfo) -> ZoneInfo:
    offset = said_at.utcoffset() or timedelta(0)
    hours = int(offset.total_seconds() // 3600)
    return ZoneInfo(f"Etc/GMT{-hours:+d}") if hours else default


def _asked(row: Row, query: Query) -> bool:
    return row.key == query.predicate and role_of(row.subject) == role_of(query.subject)


def _about(row: Row, about: str, ckeys: frozenset[str]) -> bool:
    return row.ckey in ckeys or folded(row.value or "") == folded(about)


def _edge(row: Row, status: str, ledger: Ledger, k: Ms) -> Edge:
    until, _ = ledger.end(row, k) if status != "pending" else (0, None)
    return Edge(
        subject=row.subject,
        kind=row.kind.value,
        attribute=row.key,
        object=row.value or "",
        polarity=row.polarity,
        status=status,  # type: ignore[arg-type]  # one of LISTED
        valid_from=from_ms(row.valid_from),
        valid_to=from_ms(until) if 0 < until < to_ms(datetime(9000, 1, 1, tzinfo=UTC)) else None,
        version=row.version or None,
    )


class Plain:
    """An EvalTarget over plain lists."""

    def __init__(self, ontology: Ontology, lexicon: Lexicon) -> None:
        self.ontology, self.lexicon = ontology, lexicon
        self.extractor = Extractor(ontology, lexicon, sentence_encoder())

    def label(self, text: str, lang: Language) -> Sequence[Prediction]:
        return heard_predictions(self.extractor.hear(Turn(text), SAID_AT, ZoneInfo(ZONES[lang])))

    def dialogue(self, dialogue: Dialogue) -> Mapping[str, Answer]:
        life = Life(self.ontology, self.extractor)
        for session in dialogue.sessions:
            life.context.clear()
            for n, spoken in enumerate(session.turns):
                at = session.time + timedelta(seconds=n)
                life.hear(Turn(spoken.text, role=spoken.role, at=at, verified=spoken.verified), at, dialogue.lang)
        return {q.qid: life.answer(q, self._ckeys(q)) for q in dialogue.queries}

    def _ckeys(self, query: Query) -> frozenset[str]:
        key = self.ontology.get(query.predicate)
        return frozenset({self.lexicon.ckey(query.about, key.types if key is not None else ())} if query.about else ())

    def case(self, case: Case) -> Sequence[Edge]:
        life = Life(self.ontology, self.extractor)
        for turn in case.turns:
            life.hear(Turn(turn.text, role=turn.role, at=turn.at), turn.at, case.lang or "en")
        return life.edges(to_ms(max(turn.at for turn in case.turns)))

    def retrieve(self, turns: Sequence[EvidenceTurn], questions: Sequence[Question]) -> Mapping[str, Sequence[str]]:
        return {}

    def updates(self, updates: Sequence[Update], states: Sequence[State]) -> Mapping[str, Iterable[Pair]]:
        life = Life(self.ontology, self.extractor)
        for update in updates:
            statements = _declared(update)
            life.tell(statements, to_ms(update.time), None, FREE)
        told = {state.qid: life.book.ledger.all_told(to_ms(state.as_of), life.book.now) for state in states}
        return {s.qid: [(r.polarity, r.value) for r in told[s.qid] if r.key == s.key and r.value] for s in states}

    def canonical(self, text: str) -> str:
        found = self.lexicon.find(text)
        return found[0].cid if found else folded(text)


def _declared(update: Update) -> list[Statement]:
    """The declared operation alone: the end of the old value, the beginning of the new one."""
    ended = update.old_value or (update.value if update.op == "delete" else None)
    said = []
    if update.op != "add" and ended:
        said.append(Statement(Kind.PREFERENCE, update.key, ended, ckey_of_text(ended), is_end=True, deliberate=True))
    if update.op != "delete" and update.value:
        ckey = ckey_of_text(update.value)
        said.append(Statement(Kind.PREFERENCE, update.key, update.value, ckey, polarity=update.polarity, deliberate=True))
    return said


def main() -> None:
    arguments = _arguments()
    with arguments.file.open(encoding="utf-8") as lines:
        suite = parse(lines, str(arguments.file))
    labels = tuple(label for label in suite.labels if _wanted(label, arguments.lang, arguments.key))
    dialogues = tuple(d for d in suite.dialogues if arguments.lang in (None, d.lang))
    ontology = load_ontology()
    safety = frozenset(key.name for key in ontology.keys if key.safety)
    target = Plain(ontology, load_lexicon())
    asked = replace(suite, labels=labels, dialogues=dialogues, turns=(), questions=())
    _print(evaluate(asked, target, safety=safety, canonical=target.canonical), arguments.misses)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--misses", type=int, default=0, help="print the worst N misses with the rule that fired, and confusion pairs")
    parser.add_argument("--lang", choices=["zh", "en"])
    parser.add_argument("--key", help="only labels of this key, or none")
    return parser.parse_args()


def _wanted(label: Label, lang: str | None, key: str | None) -> bool:
    return lang in (None, label.lang) and key in (None, label.predicate or "none")


def _print(report: Report, misses: int) -> None:
    groups = list(dict.fromkeys(score.group for score in report.scores))
    names = list(dict.fromkeys(score.name for score in report.scores))
    table = {(score.name, score.group): score for score in report.scores}
    for group in groups:
        print(group)
        for name in names:
            if (score := table.get((name, group))) is not None:
                print(f"  {name:<32} {_said(score)}")
    if misses and report.confusion:
        print("\nconfusion (expected -> got)")
        for expected, got, count in report.confusion[:misses]:
            print(f"  {count:4d}  {expected} -> {got}")
    if misses:
        print("\nworst misses")
        for miss in report.misses[:misses]:
            text = miss.text.replace("\n", "\\n")
            print(f"  {miss.id}  {text}\n      expected {miss.expected}\n      got      {miss.got}  rule {miss.rule or '-'}")


def _said(score: Score) -> str:
    return f"{score.rate or 0:7.2%}  {score.hits:g}/{score.total}"


if __name__ == "__main__":
    main()
