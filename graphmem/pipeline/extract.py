"""From one turn's text to statements, in Chinese and English, without a language model: steps one to four. Pure after building."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from graphmem.lexicon import Lexicon
from graphmem.memory import EPOCH, Heard, Language, NotStored, Reason, Step, Turn
from graphmem.ontology import PACKS, Ontology
from graphmem.pipeline import clock
from graphmem.pipeline.answers import Answers
from graphmem.pipeline.built import classifier
from graphmem.pipeline.guard import FAMILY, Guard
from graphmem.pipeline.keeping import Hearing, Keeper, cutter
from graphmem.pipeline.normal import is_han, language_of
from graphmem.pipeline.opinion import CLAUSES_MAX, Encode, head, marks
from graphmem.pipeline.prefix import Before, PrefixReader
from graphmem.pipeline.propose import DOUBTED, agreed, believed, propose, wished
from graphmem.pipeline.propose import ID as OPINION
from graphmem.pipeline.recognise import Recogniser
from graphmem.pipeline.said import Found, Refused, Said
from graphmem.pipeline.slice import CLAUSE_MAX, Clause, Sliced, cut
from graphmem.pipeline.speech import Speech, load_speech
from graphmem.pipeline.talk import Talk
from graphmem.pipeline.verdict import VERDICT_MAX, judge, looked_back
from graphmem.pipeline.whom import STRANGER
from graphmem.pipeline.words import load_people

THRESHOLD = 0.85
"""Certainty needed to store (design section 5)."""

ALONE = 24
"""Longest clause, characters, that is a name alone and that the next sentence may go on with."""

CONTEXT_TURNS = 4
"""Turns of the session that pronouns may reach back."""


class Extractor:
    """Built once from an ontology and a lexicon; `hear` is pure and safe to call from many threads."""

    def __init__(self, ontology: Ontology, lexicon: Lexicon, encode: Encode | None = None) -> None:
        """`encode`: the sentence encoder of the second opinion; None: the rules alone decide."""
        self._ontology, self._encode = ontology, encode
        self._speech = load_speech(PACKS / "speech.yaml")
        self._people = load_people(PACKS / "subjects.yaml")
        self._classifier = classifier(
            ontology, lexicon, self._speech, PrefixReader(self._people, self._speech.words, self._speech.acts["adjunct"])
        )
        reader = self._classifier.reader
        self._keeper = Keeper(ontology, self._speech, reader, Guard(ontology, reader, self._speech, self._classifier.recogniser))
        cut("预热")  # dictionaries and the time pack are read now, not at the first turn
        clock.times("", EPOCH, ZoneInfo("UTC"))
        self._answers = Answers(ontology, self._classifier, self._speech, PACKS / "answers.yaml")

    @property
    def recogniser(self) -> Recogniser:
        """Step two, for what explains it."""
        return self._classifier.recogniser

    @property
    def speech(self) -> Speech:
        """The words of speech acts, for what reads answers."""
        return self._speech

    def marks(self, sliced: Sliced, clause: Clause) -> list[str]:
        """What the second opinion is given of a clause, for what learns it."""
        whole = self._classifier.reader.read(clause.text, len(clause.text), (), cutter(sliced, clause))
        return marks(clause.text, self.recogniser.find(clause.text), whole)

    def hear(self, turn: Turn, said_at: datetime, zone: ZoneInfo, context: Sequence[Turn] = (), *, threshold: float = THRESHOLD) -> Heard:
        """Statements, follow-ups and what was not stored, of one turn.

        said_at is aware; context are the last turns of the session, oldest first. Never fails, whatever the text; linear in its length.
        """
        language = turn.language or language_of(turn.text)
        if turn.role != "user":
            whole = NotStored(turn.text, (0, len(turn.text)), Reason.ASSISTANT_TURN, f"role.{turn.role}")
            return Heard(language, not_stored=(whole,) if turn.text.strip() else ())
        clock_start = time.perf_counter()
        sliced = cut(turn.text)
        sliced_at = time.perf_counter()
        hearing = Hearing(turn, said_at, zone, threshold, [], [], [], False, {})
        self._hear(hearing, sliced, self._talk(context, said_at, zone), context)
        done = time.perf_counter()
        return self._heard(language, hearing, sliced, (sliced_at - clock_start, done - sliced_at))

    def _talk(self, context: Sequence[Turn], said_at: datetime, zone: ZoneInfo) -> Talk:
        """He and she as the last user turns left them."""
        talk = Talk(self._people)
        for turn in context[-CONTEXT_TURNS:]:
            if turn.role != "user":
                continue
            text = cut(turn.text[:600])
            for clause in text.clauses:
                if not clause.quoted:
                    self._note_people(clause, text, talk)
        talk.topic = None
        return talk

    def _note_people(self, clause: Clause, sliced: Sliced, talk: Talk) -> None:
        before = self._classifier.reader.read(clause.text, len(clause.text), (), cutter(sliced, clause))
        for person in (*before.people, *before.company):
            if not person.pronoun:
                talk.heard(person.subject)
        talk.lost = talk.lost or bool(before.tags.get("generic") or before.head.get("generic"))

    def _hear(self, hearing: Hearing, sliced: Sliced, talk: Talk, context: Sequence[Turn]) -> None:
        self._read_all(hearing, sliced, talk)
        if hearing.statements or not context or any(not f.statement.rule.startswith(f"{OPINION}.") for f in hearing.follow_ups):
            return
        answered = self._answers.answer(sliced, context, talk)
        if answered:
            hearing.follow_ups.clear()  # a direct answer needs no opinion
        for found in answered:
            self._keeper.keep(hearing, sliced, sliced.clauses[0], found)
        if answered:
            hearing.not_stored.clear()

    def _read_all(self, hearing: Hearing, sliced: Sliced, talk: Talk) -> None:
        supposed = -1
        clauses = sliced.clauses
        kidding = self._speech.is_("kidding", sliced.normal.norm)
        fiction = {c.sentence for c in clauses if kidding or self._speech.is_("fiction", c.text)}
        for i, clause in enumerate(clauses):
            clause = self._of_person(sliced, clause, clauses[i - 1]) if i else clause
            if self._speech.is_("order", clause.text) and not self._speech.is_("standing", clause.text):
                hearing.ordered = clause.sentence
            act = self._speech.act_of(clause)
            if act is None and (supposed == clause.sentence or clause.sentence in fiction):
                act = (Reason.HYPOTHETICAL, "speech_act.hypothetical")
            if act is not None:
                if act[0] is Reason.HYPOTHETICAL and not self._speech.is_("condition", clause.text):
                    supposed = clause.sentence
                self._keeper.refuse(hearing, sliced, clause, act)
                if not clause.quoted:
                    self._note_people(clause, sliced, talk)
                continue
            if self._judged(hearing, sliced, clauses, i, talk):
                continue
            if (clause.text, talk.topic) in hearing.seen:
                known = hearing.seen[clause.text, talk.topic]
                if known is not None:
                    self._keeper.refuse(hearing, sliced, clause, known)
                continue
            earlier = clauses[i - 1] if i and not clauses[i - 1].quoted and self._goes_on(clauses[i - 1], clause) else None
            later = clauses[i + 1] if i + 1 < len(clauses) and clauses[i + 1].sentence == clause.sentence else None
            if earlier is not None and earlier.sentence != clause.sentence and self._read_two(hearing, sliced, earlier, clause, talk):
                continue  # amoxicillin. brings me out in a rash
            if not self._read(hearing, sliced, clause, talk, later) and earlier is not None and earlier.text != clause.text:
                self._read_two(hearing, sliced, earlier, clause, talk)

    def _goes_on(self, earlier: Clause, clause: Clause) -> bool:
        """Whether a clause goes on with the one before it: in one sentence, or after a name alone (Penicillin. Gives me hives.)."""
        if earlier.sentence == clause.sentence:
            return True
        alone = len(earlier.text) <= ALONE and earlier.first
        return alone and any(m.start == 0 and m.end == len(earlier.text) for m in self.recogniser.find(earlier.text))

    def _of_person(self, sliced: Sliced, clause: Clause, earlier: Clause) -> Clause:
        """A relative clause with the person that it is about: (any tips for) my dad, who is diabetic."""
        if clause.first or clause.quoted or earlier.quoted or not self._speech.is_("relative", clause.text):
            return clause
        people = self._classifier.reader.read(earlier.text, len(earlier.text), (), cutter(sliced, earlier)).people
        if not people or people[-1].pronoun or people[-1].subject == "self" or people[-1].end != len(earlier.text):
            return clause
        start = earlier.start + people[-1].start
        return replace(clause, text=sliced.normal.norm[start : clause.end], start=start, end_mark="")

    def _judged(self, hearing: Hearing, sliced: Sliced, clauses: Sequence[Clause], i: int, talk: Talk) -> bool:
        """A clause that only judges what one of the few before it names: …, I never liked it; ……，每回都这样点."""
        clause, back = clauses[i], looked_back(clauses, i)
        if not back or len(clause.text) > VERDICT_MAX or clause.end - back[0].start > CLAUSE_MAX:
            return False
        base = back[0].start
        both = replace(back[0], text=sliced.normal.norm[base : clause.end], end=clause.end, end_mark=clause.end_mark)
        c = self._classifier
        found = judge(c, Said(both.text, (), (), cutter(sliced, both)), [(x.start - base, x.end - base) for x in (*back, clause)], talk)
        if found is None:
            return False
        self._keeper.keep(hearing, sliced, both, found, clock.times(both.text, hearing.said_at, hearing.zone))
        talk.topic = found.statement.subject
        talk.heard(found.statement.subject)
        talk.lost = False
        return True

    def _read_two(self, hearing: Hearing, sliced: Sliced, earlier: Clause, clause: Clause, talk: Talk) -> bool:
        """A clause whose object stands in the clause before it: 重金属太吵，我听不得; Golf? I can't stand it."""
        if clause.end - earlier.start > CLAUSE_MAX or clause.text == earlier.text:
            return False
        both = replace(earlier, text=sliced.normal.norm[earlier.start : clause.end], end=clause.end, end_mark=clause.end_mark)
        c = self._classifier
        mentions = c.recogniser.find(both.text)
        rules = [r for r in c.triggers(both.text, mentions) if "two" in r.flags]
        if not rules:
            return False
        times = clock.times(both.text, hearing.said_at, hearing.zone)
        found, _ = c.read(Said(both.text, mentions, clock.spans(times), cutter(sliced, both)), rules, talk)
        for f in found:
            self._keeper.keep(hearing, sliced, both, f, times)
            if f.statement.key == FAMILY:  # polycystic kidneys, it's in the family: what runs in the family is not what one has
                hearing.statements[:] = [s for s in hearing.statements if (s.key, s.value) != ("disease", f.statement.value)]
        if found:
            hearing.not_stored[:] = [n for n in hearing.not_stored if n.span != sliced.normal.span(clause.start, clause.end)]
            talk.topic = found[-1].statement.subject
        return bool(found)

    def _read(self, hearing: Hearing, sliced: Sliced, clause: Clause, talk: Talk, later: Clause | None) -> bool:
        c = self._classifier
        topic = talk.topic
        if clause.first:
            talk.lost = False
        talk.thing = talk.thing and " am " not in f" {clause.text} "  # I have a horse and am thirty
        if later is not None:
            self._named_late(sliced, clause, later, talk)
        hearing.slip = hearing.slip or self._speech.is_("slip", clause.text)
        mentions = c.recogniser.find(clause.text)
        rules = [r for r in c.triggers(clause.text, mentions) if "two" not in r.flags]
        found: list[Found] = []
        refused: list[Refused] = []
        if rules or mentions:
            times = clock.times(clause.text, hearing.said_at, hearing.zone)
            hedge = 0.6 if later is not None and _unsure(self._speech, later) else 1.0
            supposed = later is not None and self._speech.is_("hypothetical", later.text)
            beside = frozenset() if clause.first else frozenset(s.key for s in hearing.statements[-1:])
            said = Said(clause.text, mentions, clock.spans(times), cutter(sliced, clause), hedge, supposed, beside)
            found, refused = c.read(said, rules, talk)
            found = self._second(hearing, sliced, said, talk, found, refused)
            after = clock.trailing(later.text, hearing.said_at, hearing.zone) if later is not None and found else ()
            for f in found:
                self._keeper.keep(hearing, sliced, clause, f, (*times, *after))
        self._note_topic(clause, sliced, talk, found)
        if not found:
            reason = (refused[0].reason, refused[0].rule) if refused else self._speech.rest_of(clause)
            hearing.seen[clause.text, topic] = reason
            self._keeper.refuse(hearing, sliced, clause, reason)
            unknown = reason[1] == "subject.unknown" and self._speech.is_("somebody", clause.text)
            strange = unknown or reason[1] in ("subject.general", STRANGER)
            talk.lost = strange or (talk.lost and not clause.first)
        else:
            hearing.seen[clause.text, topic] = None
            talk.lost = False
        return any(f.statement.confidence >= hearing.threshold or not f.statement.rule.startswith(f"{OPINION}.") for f in found)

    def _second(self, hearing: Hearing, sliced: Sliced, said: Said, talk: Talk, found: list[Found], refused: list[Refused]) -> list[Found]:
        """What remains of the rules' statements after a second opinion, or what it makes of a clause without any."""
        c = self._classifier
        twice = self._speech.is_("denied_twice", said.text)
        if twice:  # no day without tea: what is denied twice is never denied
            found = [f for f in found if f.statement.polarity == "+" or self._ontology.key(f.statement.key).safety]
        open_to_it = found or said.mentions or any(r.held for r in refused) or c.shapes.any(said)
        if self._encode is None or hearing.opinions >= CLAUSES_MAX or not open_to_it:
            return found
        hearing.opinions += 1
        whole = c.reader.read(said.text, len(said.text), (), said.original)
        opinion = head().opinion(self._encode(said.text), marks(said.text, said.mentions, whole))
        kept = found if found and twice else believed(c, found, opinion, _nobody(said.text, whole, talk), said.beside)
        if kept:
            return kept
        refused += [Refused(Reason.LOW_CONFIDENCE, f"{f.statement.rule}{DOUBTED}") for f in found]
        if self._speech.is_("command", said.text) or (twice and opinion.best()[1] == "-") or (said.supposed and wished(whole)):
            return []
        proposed = agreed(c, refused, opinion) or propose(c, opinion, said, talk, refused)
        if isinstance(proposed, Refused):
            refused.append(proposed)
        return proposed if isinstance(proposed, list) else []

    def _named_late(self, sliced: Sliced, clause: Clause, later: Clause, talk: Talk) -> None:
        """Whom he or she means when only the next clause says it: she's done with it, my wife."""
        reader = self._classifier.reader
        named = [p for p in reader.read(clause.text, len(clause.text), (), cutter(sliced, clause)).people if p.pronoun]
        if any(p.subject in ("he", "she") and talk.resolve(p.subject) is None for p in named):
            m = self._speech.acts["late_name"].match(later.text)
            at = m.end() if m is not None else 0
            who = reader.person_at(later.text, at, cutter(sliced, later))
            if who is not None and not who.pronoun and self._speech.acts["late_rest"].fullmatch(later.text[who.end :].split(",")[0]):
                talk.heard(who.subject)

    def _note_topic(self, clause: Clause, sliced: Sliced, talk: Talk, found: Sequence[Found]) -> None:
        before = self._classifier.reader.read(clause.text, min(len(clause.text), 60), (), cutter(sliced, clause))
        talk.thing = self._speech.is_("introduces", clause.text) or (talk.thing and not before.people)
        named = [p for p in before.people if p.subject != "you"]
        for person in (*named, *before.company):
            if not person.pronoun:
                talk.heard(person.subject)
        if found:
            talk.topic = found[-1].statement.subject
            talk.heard(found[-1].statement.subject)
        elif named:
            first = talk.resolve(named[0].subject) if named[0].pronoun else named[0].subject
            talk.topic = first or talk.topic

    def _heard(self, language: Language, hearing: Hearing, sliced: Sliced, seconds: tuple[float, float]) -> Heard:
        steps = (
            Step("slice", round(seconds[0] * 1000, 3), tuple(c.text for c in sliced.clauses[:20])),
            Step("classify", round(seconds[1] * 1000, 3), tuple(f"{s.rule}: {s.key}={s.value}" for s in hearing.statements)),
        )
        return Heard(language, tuple(hearing.statements), tuple(hearing.not_stored), tuple(hearing.follow_ups), steps)


def _nobody(text: str, whole: Before, talk: Talk) -> bool:
    """Whether a clause names nobody and needs to: Chinese leaves out who is meant as often as not."""
    return not whole.people and talk.topic is None and not any(map(is_han, text))


def _unsure(speech: Speech, clause: Clause) -> bool:
    word = speech.words.at(clause.text, 0)
    return word is not None and "unsure" in speech.words.tags[word]
