"""A last look at what matters to safety: is a statement without a first person really the speaker's? One mechanism for every language.

A statement of a safety key that would be the speaker's is held against the words around it. Where its own words name no first
person and somebody else stands in them or right beside them, it is his where that is said (…, that's my daughter; …，我说的是我妈),
and else only asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphmem.ontology import Ontology
from graphmem.pipeline.classify import ELDERS
from graphmem.pipeline.pieces import Piece, Pieces, cutter_of, text_of, within
from graphmem.pipeline.prefix import Person, PrefixReader
from graphmem.pipeline.recognise import Recogniser
from graphmem.pipeline.said import Found
from graphmem.pipeline.slice import Clause, Sliced
from graphmem.pipeline.speech import Speech

ASKED = 0.6
"""Certainty of a statement whose person is in doubt: it is asked about. Own choice."""

NEAR = 2
"""Pieces after a statement in which somebody may still be named as the one whom it is about."""

KIN_MIN = 5
"""Letters of an English word of kin that counts without a possessive."""

SPEAKER = frozenset({"self", "own"})
VAGUE = frozenset({"you", "it", "they"})
"""Person words that name nobody in particular."""

FAMILY = "family_history"


@dataclass(frozen=True, slots=True)
class Guard:
    """Built once; pure."""

    ontology: Ontology
    reader: PrefixReader
    speech: Speech
    recogniser: Recogniser

    def seen(self, sliced: Sliced, pieces: Pieces, clause: Clause, found: Found) -> Found:
        """The statement as it came, said of somebody else, or made a question."""
        s = found.statement
        if not self.ontology.key(s.key).safety:
            return found
        a, b = clause.start + min(found.start, found.value_start), clause.start + max(found.end, found.value_end)
        own = within(pieces, a, b)
        if not own:
            return found
        if self._unsaid(sliced, pieces, own, found, clause.start + found.value_end):
            return self._asked(found)
        if s.subject != "self":
            return found
        if s.key == FAMILY:
            kin = self._bracketed(sliced, pieces, own[-1])
            return found if kin is None else self._of(found, kin)
        return self._whose(sliced, pieces, own, b, found)

    def _whose(self, sliced: Sliced, pieces: Pieces, own: Sequence[int], end: int, found: Found) -> Found:
        reach = range(own[0], min(own[-1] + NEAR + 2, len(pieces)))
        denied = any(self.speech.is_("not_self", text_of(sliced, pieces[i])) for i in reach)
        after = self._after(sliced, pieces, own[-1], end, NEAR + 2 * denied)
        if after is not None:
            return self._of(found, after)
        if denied:
            return self._asked(found)
        first = any(self._first(sliced, pieces[i]) for i in own)
        for i in own:
            text = text_of(sliced, pieces[i])
            text = text.replace(found.statement.value.casefold(), "\0") if found.statement.value else text
            if self.speech.is_("strange_ours", text) or (not first and self.speech.is_("strange_word", text)):
                return self._asked(found)
        if first:
            return found
        before = self._for(sliced, pieces, own[0])
        if before is not None:
            return self._of(found, before)
        return self._asked(found) if self._beside(sliced, pieces, own) else found

    def _unsaid(self, sliced: Sliced, pieces: Pieces, own: Sequence[int], found: Found, at: int) -> bool:
        """Whether words after a statement take it back or end it, which it does not say itself."""
        s, last = found.statement, pieces[own[-1]]
        if s.polarity == "-" or s.is_end:
            return False
        rest = sliced.normal.norm[at : at + 60]
        if self.speech.is_("taken_back", rest):
            return True
        near = [p for p in pieces[own[0] : own[-1] + 3] if p.sentence == last.sentence]
        return any(self.speech.is_("undone", text_of(sliced, p)) for p in near)

    def _bracketed(self, sliced: Sliced, pieces: Pieces, last: int) -> str | None:
        """The relative in the bracket after an entry of a form: colon cancer (father, at 58)."""
        if last + 1 >= len(pieces) or sliced.normal.norm[pieces[last + 1].start - 1] not in "(（":
            return None
        person = self._person(sliced, pieces[last + 1], pieces[last + 1].start)
        return None if person is None or person.pronoun or person.subject in ("self", "you") else person.subject

    def _for(self, sliced: Sliced, pieces: Pieces, first: int) -> str | None:
        """Whom the piece before a statement is for, when it ends with him: any support for my mother-in-law? vascular dementia."""
        if not first:
            return None
        p = pieces[first - 1]
        people = [q for q in self._everybody(sliced, p, True) if q.subject not in VAGUE]
        if not people or people[-1].pronoun or people[-1].subject in SPEAKER | {"parents", "children"}:
            return None
        text, last = text_of(sliced, p), people[-1]
        if last.start == 0 and len(people) == 1 and self.speech.is_("for_head", text[last.end :]):
            return last.subject  # nana's eye drops? latanoprost
        if len({q.subject for q in people if q.subject not in SPEAKER}) > 1 or text[last.end :].strip(" ,.?!的") not in (
            "",
            "please",
            "pls",
        ):
            return None
        return last.subject if self.speech.is_("for_name", text[: last.start]) else None

    def _of(self, found: Found, subject: str) -> Found:
        key = FAMILY if found.statement.key == "disease" and subject.partition(":")[0] in ELDERS else found.statement.key
        return replace(found, statement=replace(found.statement, subject=subject, key=key))

    def _asked(self, found: Found) -> Found:
        return replace(found, statement=replace(found.statement, confidence=min(found.statement.confidence, ASKED)))

    def _after(self, sliced: Sliced, pieces: Pieces, last: int, at: int, near: int) -> str | None:
        """Whom the words after a statement give it to: …, my mum I mean; …. That's my daughter; …，是我妈."""
        norm = sliced.normal.norm
        for i in range(last, min(last + near + 1, len(pieces))):
            p = pieces[i]
            start = max(p.start, at)
            m = self.speech.acts["late_name"].match(norm, start, p.end)
            places = [m.end() if m is not None else start] if i > last else [m.end() for m in self._hints(norm, start, p.end)]
            for begins in places:
                person = self._person(sliced, p, begins + (len(norm[begins : p.end]) - len(norm[begins : p.end].lstrip())))
                if person is None or person.pronoun or person.subject in ("self", "you", "parents"):
                    continue
                if self.speech.acts["late_rest"].fullmatch(norm[person.end : p.end]) is not None:
                    return "child" if person.subject == "children" else person.subject
        return None

    def _hints(self, norm: str, start: int, end: int) -> Iterator[re.Match[str]]:
        """Where the rest of a statement's own piece may name somebody: … belongs to my twin; … for my daughter."""
        return (m for i in range(start, end) if norm[i - 1] in " ," and (m := self.speech.acts["late_name"].match(norm, i, end)))

    def _first(self, sliced: Sliced, p: Piece) -> bool:
        """Whether a piece names the speaker, save in I think and tell me."""
        text = self.speech.acts["aside_self"].sub(lambda m: " " * len(m[0]), text_of(sliced, p))
        people = self.reader.people
        i = 0
        while i < len(text):
            word = people.words.at(text, i)
            if word is None or (word[0].isascii() and i and text[i - 1].isascii() and text[i - 1].isalnum()):
                i += 1
                continue
            person = self.reader.person_at(text, i, cutter_of(sliced, p))
            if person is not None and person.subject in ("self", "own"):
                return True
            i = person.end if person is not None else i + len(word)
        return self.speech.is_("own_mark", text)

    def _beside(self, sliced: Sliced, pieces: Pieces, own: Sequence[int]) -> bool:
        """Whether somebody else stands in a statement's words, last before them, or first after them."""
        if any(self._others(sliced, pieces[i], True) for i in own):
            return True
        before = pieces[own[0] - 1] if own[0] else None
        earlier = [q for q in self._everybody(sliced, before, True) if q.subject not in VAGUE] if before is not None else []
        if earlier and earlier[-1].subject not in SPEAKER:
            return True
        after = pieces[own[-1] + 1] if own[-1] + 1 < len(pieces) else None
        if after is None:
            return False
        named = [q for q in self._everybody(sliced, after) if q.subject not in VAGUE]
        if not named or named[0].subject in SPEAKER:
            return False
        return after.sentence == pieces[own[-1]].sentence or named[0].pronoun

    def _others(self, sliced: Sliced, p: Piece, bare: bool) -> bool:
        return any(q.subject not in VAGUE | SPEAKER for q in self._everybody(sliced, p, bare))

    def _everybody(self, sliced: Sliced, p: Piece, bare: bool = False) -> list[Person]:
        """Everybody whom a piece names, in order; `bare`: words of kin without a possessive too."""
        text, cut = text_of(sliced, p), cutter_of(sliced, p)
        for m in self.recogniser.find(text):
            person = self.reader.person_at(text, m.start, cut)
            if not text[m.start].isascii() and (person is None or person.end < m.end):
                text = text[: m.start] + "\0" * (m.end - m.start) + text[m.end :]  # 他 in 阿托伐他汀 is nobody
        text = self.speech.acts["aside_self"].sub(lambda m: "\0" * len(m[0]), text)
        out: list[Person] = []
        i = 0
        while i < len(text):
            if text[i] == " " or (i and text[i - 1].isascii() and text[i - 1].isalnum() and text[i].isascii()):
                i += 1
                continue
            person = self.reader.person_at(text, i, cut) or self.reader.lone_name(text, i, cut) or (self._bare(text, i) if bare else None)
            if person is not None:
                out.append(person)
            i = person.end if person is not None else i + 1
        return out

    def _bare(self, text: str, i: int) -> Person | None:
        """A word of kin without a possessive, or many: friends, cousins; the many are nobody to whom a statement could be given."""
        people = self.reader.people
        word = people.words.at(text, i)
        many = re.match(r"[a-z]{4,}s\b", text[i : i + 24]) if word is None else None
        if many is not None and many[0][:-1] in people.roles and people.roles[many[0][:-1]].kind in ("role", "other"):
            return Person(people.roles[many[0][:-1]].name, i, i + len(many[0]), True)
        if word is None or not word[0].isascii() or (len(word) < KIN_MIN and not text.startswith("'s ", i + len(word))):
            return None
        role = people.roles[word]
        return Person(role.name, i, i + len(word)) if role.kind in ("role", "other") else None

    def _person(self, sliced: Sliced, p: Piece, at: int) -> Person | None:
        """Somebody at a place, in the normal form's offsets."""
        if at >= p.end:
            return None
        text, cut = text_of(sliced, p), cutter_of(sliced, p)
        person = self.reader.person_at(text, at - p.start, cut) or self._bare(text, at - p.start)
        return None if person is None else replace(person, start=person.start + p.start, end=person.end + p.start)
