"""The pure part of `graphmem eval`: a parsed file, something to ask, and a report of scores with counts and the worst misses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from graphmem.evalfile import (
    Answer,
    Case,
    Dialogue,
    EvalFileError,
    EvidenceTurn,
    Expected,
    Label,
    Pair,
    Query,
    Question,
    State,
    Suite,
    Update,
    parse,
)
from graphmem.evalreport import Miss, Report, Score, Tally
from graphmem.evalscore import (
    TOP,
    Canonical,
    Edge,
    Prediction,
    answer_right,
    label_verdict,
    must_holds,
    must_not_holds,
    pairs,
    recall_at_top,
    reciprocal_rank,
    stale_told,
    state_stale,
    strongest,
    values,
)
from graphmem.memory import Language
from graphmem.slot import folded

__all__ = ["Edge", "EvalFileError", "EvalTarget", "Miss", "Prediction", "Report", "Score", "Suite", "evaluate", "parse"]


class EvalTarget(Protocol):
    """What is evaluated. Every call works on throw-away users and leaves nothing behind; errors of stores pass through."""

    def label(self, text: str, lang: Language) -> Sequence[Prediction]:
        """All statements a user turn `text` would store, in the order of the text, as one user who has said nothing before.

        Said now. An end ("no longer take X") predicts polarity "-" with the value that ended. Follow-up candidates under the
        confidence to be stored are not predictions. Where nothing is stored, one Prediction("none", rule=…) per thing not
        stored, so that a miss can name the rule.
        """
        ...

    def dialogue(self, dialogue: Dialogue) -> Mapping[str, Answer]:
        """Answers by qid. A new user per dialogue in a domain trusted for `verified`.

        All sessions are stored first, in file order (the order of arrival, not of time), turns of one session one second
        apart from `session.time` in the offset written there, `verified` passed on, assistant turns stored too, turns
        without text passed over. Then every query is asked of world time `as_of`, known now. Without `about`: the value told
        for subject and predicate of polarity "+", several as a tuple, None when nothing is. With `about` (a concept, under its
        alias too): `pending` when one is shown as pending, also beside a told one; else like / dislike for preferences and
        yes / no for facts by the polarity of what is told; else None.
        """
        ...

    def case(self, case: Case) -> Sequence[Edge]:
        """All edges of the turns' user, with status and interval as of the latest `at` of the turns, known now.

        Turns are stored in file order; they may carry `user` and `session`, then the edges are those of the last turn's user.
        Retracted, tombstoned, rejected and end rows are not listed; historical and expired count as superseded; a row whose
        start is still to come is `scheduled`, which only an expected status `any` matches.
        """
        ...

    def retrieve(self, turns: Sequence[EvidenceTurn], questions: Sequence[Question]) -> Mapping[str, Sequence[str]]:
        """Ids of turns by qid, best first, at least 20 where there are as many. All turns are of one user.

        Every turn is stored first (both speakers), then each question is one recall with `mode: evidence`, as_of passed on.
        """
        ...

    def updates(self, updates: Sequence[Update], states: Sequence[State]) -> Mapping[str, Iterable[Pair]]:
        """Current (polarity, value) pairs by qid. All lines are of one user; updates are stored in file order, then states are asked.

        Every key behaves as arity `many`, one slot a value, polarity exclusive; the declared op decides alone: no window, no
        lifetime. modify ends old_value and opens value at `time`; delete ends old_value (value when there is none).
        """
        ...


def evaluate(suite: Suite, target: EvalTarget, *, safety: frozenset[str] = frozenset(), canonical: Canonical = folded) -> Report:
    """Ask the target for every line of the suite and score its answers.

    safety     keys whose recall and wrong subjects or polarities are counted apart (the ontology's safety keys)
    canonical  one name for all spellings of an object in cases (the alias packs)
    """
    tally = Tally()
    for label in suite.labels:
        _label(tally, label, target.label(label.text, label.lang), safety)
    for dialogue in suite.dialogues:
        _dialogue(tally, dialogue, target.dialogue(dialogue))
    for case in suite.cases:
        _case(tally, case, target.case(case), canonical)
    for user in dict.fromkeys(q.user for q in suite.questions):
        asked = [q for q in suite.questions if q.user == user]
        _questions(tally, asked, target.retrieve([t for t in suite.turns if t.user == user], asked))
    for user in dict.fromkeys(s.user for s in suite.states):
        states = [s for s in suite.states if s.user == user]
        _states(tally, states, target.updates([u for u in suite.updates if u.user == user], states))
    return tally.report()


def _label(tally: Tally, gold: Label, found: Sequence[Prediction], safety: frozenset[str]) -> None:
    got = strongest(found)
    verdict = label_verdict(gold, got)
    groups = (gold.lang, *((f"domain:{gold.domain}",) if gold.domain else ()))
    tally.add("label", "type accuracy", verdict.type, groups)
    tally.add("label", "all right", verdict.all_right, groups)
    if got.memory_type != "none":
        tally.add("label", "precision of stored", verdict.all_right and gold.memory_type != "none", groups)
    if gold.memory_type == "none":
        tally.add("label", "false memories from none", got.memory_type != "none", groups)
    else:
        tally.add("label", "recall of memories", verdict.all_right, groups)
    if gold.predicate in safety:
        tally.add("label", "safety recall", verdict.all_right, (gold.lang,))
        tally.add("label", "safety wrong subject or polarity", _harmful(gold, got), (gold.lang,))
    tally.predictions.append(_prediction_line(gold.id, got))
    if not verdict.all_right:
        tally.confusion[_key(gold.memory_type, gold.predicate), _key(got.memory_type, got.predicate)] += 1
        tally.misses.append(_label_miss(gold, got, verdict.wrong, _harmful(gold, got) and gold.predicate in safety))


def _key(memory_type: str, predicate: str) -> str:
    return "none" if memory_type == "none" else f"{memory_type}/{predicate}"


def _harmful(gold: Label, got: Prediction) -> bool:
    """The right key, but of somebody else or turned round."""
    verdict = label_verdict(gold, got)
    return got.memory_type != "none" and verdict.predicate and not (verdict.subject and verdict.polarity)


def _prediction_line(id_: str, got: Prediction) -> dict[str, object]:
    if got.memory_type == "none":
        return {"id": id_, "memory_type": "none"}
    said = {"predicate": got.predicate, "value": got.value, "polarity": got.polarity, "subject": got.subject}
    return {"id": id_, "memory_type": got.memory_type, **said}


def _label_miss(gold: Label, got: Prediction, wrong: tuple[str, ...], harmful: bool) -> Miss:
    expected = "none" if gold.memory_type == "none" else f"{gold.predicate} {gold.polarity} {gold.value} ({gold.subject})"
    said = "none" if got.memory_type == "none" else f"{got.predicate} {got.polarity} {got.value} ({got.subject})"
    false_memory = gold.memory_type == "none"
    weight = 9 if harmful else 8 if false_memory else len(wrong)
    return Miss("label", gold.id, gold.text, expected, f"{said} [{', '.join(wrong)}]", got.rule, weight)


def _dialogue(tally: Tally, dialogue: Dialogue, answers: Mapping[str, Answer]) -> None:
    for query in dialogue.queries:
        got = answers.get(query.qid)
        right, stale = answer_right(query, got), stale_told(query, got)
        groups = (dialogue.lang, *(f"{n}:{v}" for n, v in (("domain", dialogue.domain), ("category", query.category)) if v))
        tally.add("dialogue", "exact", right, groups)
        tally.add("dialogue", "stale told", stale, groups)
        if query.about is not None:
            tally.add("dialogue", "exact about a concept", right, (dialogue.lang,))
        said = list(got) if isinstance(got, tuple) else got
        tally.predictions.append({"dialogue": dialogue.dialogue, "qid": query.qid, "answer": said})
        if not right or stale:
            tally.misses.append(_dialogue_miss(dialogue, query, got, stale))


def _dialogue_miss(dialogue: Dialogue, query: Query, got: Answer, stale: bool) -> Miss:
    asked = f"{query.subject}.{query.predicate}" + (f" about {query.about}" if query.about else "") + f" at {query.as_of.isoformat()}"
    said = ", ".join(values(got)) or "nothing"
    expected = ", ".join(values(query.answer)) or "nothing"
    return Miss("dialogue", f"{dialogue.dialogue}/{query.qid}", asked, expected, said, query.category, 7 if stale else 3)


def _case(tally: Tally, case: Case, edges: Sequence[Edge], canonical: Canonical) -> None:
    missing = [e for e in case.expect.must if not must_holds(e, edges, canonical)]
    forbidden = [e for e in case.expect.must_not if not must_not_holds(e, edges, canonical)]
    groups = (*((case.lang,) if case.lang else ()), *((f"kind:{case.kind}",) if case.kind else ()))
    tally.add("case", "right", not missing and not forbidden, groups)
    tally.predictions.append({"id": case.id, "edges": [_edge_line(edge) for edge in edges]})
    if missing or forbidden:
        expected = "; ".join([*(f"must {_said(e)}" for e in missing), *(f"must not {_said(e)}" for e in forbidden)])
        got = "; ".join(f"{e.subject} {e.attribute} {e.polarity} {e.object} ({e.status})" for e in edges) or "no edges"
        tally.misses.append(Miss("case", case.id, case.turns[-1].text, expected, got, case.kind, 6 if forbidden else 4))


def _said(expected: Expected) -> str:
    return expected.model_dump_json(exclude_none=True, exclude_defaults=True)


def _edge_line(edge: Edge) -> dict[str, object]:
    times = {"valid_from": edge.valid_from and edge.valid_from.isoformat(), "valid_to": edge.valid_to and edge.valid_to.isoformat()}
    named = {"subject": edge.subject, "kind": edge.kind, "attribute": edge.attribute, "object": edge.object}
    return {**named, "polarity": edge.polarity, "status": edge.status, **times, "version": edge.version}


def _questions(tally: Tally, questions: Sequence[Question], ranked: Mapping[str, Sequence[str]]) -> None:
    for question in questions:
        got = list(ranked.get(question.qid, ()))
        tally.predictions.append({"user": question.user, "qid": question.qid, "ranked": got})
        if not question.gold or not question.answerable:
            continue
        groups = (f"category:{question.category}",) if question.category else ()
        recall = recall_at_top(question.gold, got)
        tally.add("retrieval", "recall@10", recall, groups)
        tally.add("retrieval", "any@10", recall > 0, groups)
        tally.add("retrieval", "MRR", reciprocal_rank(question.gold, got), groups)
        if recall < 1:
            told = " ".join(got[:TOP]) or "nothing"
            tally.misses.append(Miss("retrieval", question.qid, question.text, " ".join(question.gold), told, question.category, 1))


def _states(tally: Tally, states: Sequence[State], current: Mapping[str, Iterable[Pair]]) -> None:
    for state in states:
        got = sorted(current.get(state.qid, ()))
        right, stale = pairs(got) == pairs(state.current), state_stale(state, got)
        tally.add("update", "exact set", right)
        tally.add("update", "stale told", stale)
        tally.predictions.append({"user": state.user, "qid": state.qid, "current": [list(pair) for pair in got]})
        if not right or stale:
            expected = " ".join("".join(pair) for pair in state.current) or "nothing"
            said = " ".join("".join(pair) for pair in got) or "nothing"
            asked = f"{state.key} at {state.as_of.isoformat()}"
            tally.misses.append(Miss("update", state.qid, asked, expected, said, "", 7 if stale else 3))
