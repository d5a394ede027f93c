"""Steps of subject, polarity and modality: what stands before a statement's trigger, word by word (packs/speech.yaml, subjects.yaml).

Every character before a trigger must be accounted for: a person, a small word, a time or a place. What is left over is another
subject or another meaning, and then nothing is stored.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from graphmem.memory import Span
from graphmem.pipeline.normal import is_han
from graphmem.pipeline.recognise import Mention
from graphmem.pipeline.words import People, Phrases, Role

OF_MINE = " of mine"

SKIPPED = " ,，、:：-\"'()（）*#\u241e…~!！?？。.;；/|\n\t"


@dataclass(frozen=True, slots=True)
class Person:
    """A person word in a clause, chains resolved. `subject` is a role, `role:name`, `self`, `you`, or a pronoun still open."""

    subject: str
    start: int
    end: int
    pronoun: bool = False


@dataclass(frozen=True, slots=True)
class Before:
    """What the words before a trigger say.

    people    every person word in order; the last one is the subject
    tags      tags of the small words after the last person (with how often)
    head      tags of the small words before the last person
    left      characters after the last person that nothing explains; `left_head` before it
    company   those with whom it is done: 跟女朋友领了证 is about the speaker
    owner     whose thing it is that the last person deals with: 儿子的内衣我们只选纯棉
    """

    people: tuple[Person, ...] = ()
    joined: int = 1
    tags: dict[str, int] = field(default_factory=dict)
    head: dict[str, int] = field(default_factory=dict)
    left: str = ""
    left_head: str = ""
    glued: bool = False
    company: tuple[Person, ...] = ()
    owner: Person | None = None


class PrefixReader:
    """Reads prefixes with the packs it was built from."""

    def __init__(self, people: People, words: Phrases, adjunct: re.Pattern[str] | None = None) -> None:
        self.people, self._words, self._adjunct = people, words, adjunct or re.compile(r"(?!)")

    def person_at(self, text: str, i: int, original: Callable[[int, int], str], limit: int | None = None) -> Person | None:
        """The person named at text[i:limit], relatives of relatives and a following name included."""
        word = self.people.words.at(text, i, limit)
        if word is None or (word[0].isascii() and i and text[i - 1].isascii() and text[i - 1].isalnum()):
            return None
        role, end = self.people.roles[word], i + len(word)
        if i and ((text[i - 1] in "个位名" and word in _ANY_YOUNG) or text[i - 1 : i + 1] == "姑娘"):
            return None
        if role.kind in ("role", "other") and word[0].isascii() and not self._stands_alone(text, i, word, role):
            return None
        role, end = self._possessed(text, role, end, limit)
        if role.kind in ("role", "other") and text.startswith(OF_MINE, end):
            end += len(OF_MINE)
        if role.kind == "role" or role.kind == "other":
            person = self._named(text, i, role, end, original)
            return (
                person if limit is None or person.end <= limit else Person(role.name, i, end)
            )  # 二姨|阿尔茨海默: no name reaches into a value
        return Person(role.name, i, end, role.kind == "pronoun")

    def _stands_alone(self, text: str, i: int, word: str, role: Role) -> bool:
        """Whether an English word of kin needs no "my" here: mom; the wife; a friend of mine; wife reacts badly, at the clause's start."""
        if text.startswith(OF_MINE, i + len(word)) and text[:i].endswith(("a ", "an ")):
            return True
        if word in self.people.kin_names or text[:i].endswith("the ") or word.startswith(("a ", "an ", "one of ")):
            return True
        end = i + len(word)
        single = role.name not in ("children", "parents") and (role.kind == "role" or len(word) > 2)  # kids hate broccoli: anybody's
        return single and self.people.opening.fullmatch(text, 0, i) is not None and self.people.bare.match(text, end) is not None

    def _possessed(self, text: str, role: Role, end: int, limit: int | None = None) -> tuple[Role, int]:
        """我的儿子, my older sister, 我妈的妹妹: the last one, seen from the speaker. No stranger reaches into what begins at `limit`."""
        while True:
            at = end
            for glue in ("家的", "家", "的", "'s ", "那个", " "):
                if text.startswith(glue, at):
                    at += len(glue)
                    break
            if at == end and text[end : end + 1].isascii():
                return role, end
            described = self._adjectives(text, at)
            if self.people.words.at(text, described) is not None:
                at = described
            word = self.people.words.at(text, at)
            if word is None or self.people.roles[word].kind in ("self", "pronoun"):
                return role, end
            if not is_han(word[0]) and role.kind not in ("pronoun", "self") and text[end : end + 2] != "'s":
                return role, end
            if limit is not None and at + len(word) > limit and not is_han(word[0]) and self.people.roles[word].kind == "other":
                return role, end  # my sister's | student pass
            role, end = self._chained(role, self.people.roles[word]), at + len(word)

    def _adjectives(self, text: str, at: int) -> int:
        while True:
            for adjective in _ADJECTIVES:
                if text.startswith(adjective, at):
                    at += len(adjective)
                    break
            else:
                return at

    def _chained(self, owner: Role, part: Role) -> Role:
        if owner.name in ("self", "own"):
            return part
        if owner.kind == "pronoun":
            known = self.people.chains.get((owner.name, part.name))
            if known is not None:
                return Role(known, "role")
            return Role(f"person:{owner.name}.{part.name}", "other") if owner.name != "you" else owner
        name = self.people.chains.get((owner.name, part.name), "person")
        return Role(name if name != "person" else f"person:{owner.name}.{part.name}", "role")

    def _named(self, text: str, i: int, role: Role, end: int, original: Callable[[int, int], str]) -> Person:
        name_end = self._name_end(text, end, original)
        if name_end > end:
            name = original(end, name_end).strip()
            subject = role.name if role.kind == "role" and not role.name.startswith("person") else "person"
            return Person(f"{subject}:{name}", i, name_end)
        return Person(role.name, i, end)

    def _name_end(self, text: str, end: int, original: Callable[[int, int], str]) -> int:
        at = end + 1 if text[end : end + 1] in (" ", ",") else end
        if text[at : at + 1] and is_han(text[at]):
            return self._han_name_end(text, at) or end
        word = _latin_word(text, at)
        if len(word) > 1 and original(at, at + 1).isupper() and self._words.at(text, at) is None:
            return at + len(word)
        return end

    def _han_name_end(self, text: str, at: int, full: bool = True) -> int:
        if text[at : at + 2] in self.people.given:
            return at + 2
        if (
            text[at] in "小老阿"
            and at + 1 < len(text)
            and is_han(text[at + 1])
            and text[at + 1] not in _NO_NAME
            and self._words.at(text, at) is None
        ):
            return at + 2
        if full and text[at] in self.people.surnames and self._words.at(text, at) is None:
            for length in (3, 2):
                if any(c in _NO_NAME for c in text[at + 1 : at + length]):
                    continue
                rest = text[at + length : at + length + 1]
                if (
                    at + length <= len(text)
                    and (not rest or self._words.at(text, at + length))
                    and all(map(is_han, text[at : at + length]))
                ):
                    return at + length
        return 0

    def lone_name(self, text: str, i: int, original: Callable[[int, int], str], follows: int = -1) -> Person | None:
        """A name without a role at text[i:]: 小李, Tom. `follows`: where what is read ends, and something known begins."""
        if is_han(text[i]):
            if text[i : i + 2] in self.people.given:
                return Person(f"person:{original(i, i + 2)}", i, i + 2)
            if text[i] not in "小老阿" or (text[i + 1 : i + 2] not in _NICK and text[i + 1 : i + 2] not in self.people.surnames):
                return None
            end = self._han_name_end(text, i, full=False)
            known = end == follows or self._words.at(text, end) is not None
            if end and end < len(text) and is_han(text[end]) and not known and text[end] not in _AFTER_NAME:
                return None
            return Person(f"person:{original(i, end)}", i, end) if end else None
        word = _latin_word(text, i)
        if word in self.people.given and original(i, i + 1).isupper() and (i == 0 or not text[i - 1].isalnum()):
            return Person(f"person:{original(i, i + len(word))}", i, i + len(word))
        return None

    def names_nobody(self, text: str) -> bool:
        """Whether no Chinese name with 小, 老 or 阿 stands in a phrase."""
        return not any(a in "小老阿" and (b in _NICK or b in self.people.surnames) for a, b in itertools.pairwise(text))

    def is_filler(self, text: str) -> bool:
        """Whether a phrase is nothing but small words, or the beginning of one."""
        i = 0
        while i < len(text):
            word = self._words.at(text, i)
            if word is None and text[i] not in SKIPPED:
                return False
            i += len(word or " ")
        return True

    def is_noun(self, text: str, start: int, end: int, original: Callable[[int, int], str]) -> bool:
        """Whether a word is neither a small word nor somebody."""
        word = self._words.at(text, start)
        return word is None and self.people.words.at(text, start) is None and self.lone_name(text, start, original) is None

    def splits_word(self, text: str, start: int, end: int) -> bool:
        """Whether text[start:end] ends inside a small word that begins with it."""
        word = self._words.at(text, start)
        return word is not None and start + len(word) > end

    def _aside(self, text: str, i: int, end: int, original: Callable[[int, int], str]) -> int:
        """Where a phrase of time, place or reason that begins at i ends; i when none does, or when it names somebody."""
        m = self._adjunct.match(text, i, end)
        if m is None or m.end() <= i:
            return i
        if any(self.person_at(text, k, original, m.end()) is not None for k in range(i, m.end()) if text[k] not in SKIPPED):
            return i
        return m.end()

    def read(
        self,
        text: str,
        end: int,
        masked: Sequence[Span],
        original: Callable[[int, int], str],
        start: int = 0,
        mentions: Sequence[Mention] = (),
    ) -> Before:
        """Account for text[start:end]; masked spans (times, places) count as explained."""
        people: list[Person] = []
        company: list[Person] = []
        tags: dict[str, int] = {}
        head: dict[str, int] = {}
        left = left_head = ""
        owner: Person | None = None
        joined, glued, i = 1, False, start
        solid: dict[int, int] = {}
        for m in mentions:
            if m.end - m.start > 1:
                solid[m.start] = max(solid.get(m.start, 0), m.end)
        while i < end:
            skip = next((b for a, b in masked if a <= i < b), 0)
            if skip:
                tags["time"] = tags.get("time", 0) + 1
                i = skip
                continue
            word = self._words.at(text, i, end)
            if word is None and text[i] in SKIPPED:
                i += 1
                continue
            person = self.person_at(text, i, original, end) or self.lone_name(text, i, original, end)
            if (name := solid.get(i, 0)) and name <= end and name - i > max(len(word or ""), person.end - i if person else 0):
                left += text[i:name]
                i = name
                continue
            if person is not None and person.end <= end and (word is None or person.end - i >= len(word)):
                if _accompanies(text, i, start, people) or (left and _beside(text, i, person.end)) or _placed(text, i, people, person):
                    company.append(person)
                    i = person.end
                    continue
                owner = people[-1] if people and glued and left and person.subject == "self" else None
                joined = joined + 1 if people and _joins(text[people[-1].end : i]) else 1
                people.append(person)
                for tag, n in tags.items():
                    head[tag] = head.get(tag, 0) + n
                left_head, left, tags = left_head + left, "", {}
                i = person.end
                glued = text.startswith(("的", "'s "), i) and not _is_or_has(text, i, person)
                if text.startswith("'s", i):
                    i += 2
                continue
            opens_aside = word is not None and len(word) == 1 and "verb" in self._words.tags[word]
            if opens_aside and (aside := self._aside(text, i, end, original)) > i:
                i = aside
                continue
            if word is not None and i + len(word) <= end:
                for tag in self._words.tags[word]:
                    tags[tag] = tags.get(tag, 0) + 1
                i += len(word)
                continue
            aside = self._aside(text, i, end, original)
            if aside > i:
                i = aside
                continue
            step = max(1, len(_latin_word(text, i)))
            left += text[i : min(i + step, end)]
            i += step
        return Before(tuple(people), joined, tags, head, left, left_head, glued, tuple(company), owner)


_ANY_YOUNG = frozenset("姑娘 丫头 男孩 女娃 小朋友 小孩 小家伙 孩子 娃 宝贝".split())
"""Words of kin that mean anybody after a counter: 下属里有个姑娘."""

_ADJECTIVES = (
    "little ",
    "older ",
    "elder ",
    "younger ",
    "youngest ",
    "oldest ",
    "eldest ",
    "late ",
    "dear ",
    "own ",
    "big ",
    "twin ",
    "teenage ",
    "baby ",
    "new ",
    "good ",
    "close ",
    "old ",
    "best ",
    "亲",
    "宝贝",
    "maternal ",
    "paternal ",
    "great ",
    "first ",
    "second ",
    "direct ",
    "former ",
    "current ",
)
_AFTER_IS = (
    "got ", "been ", "on ", "a ", "an ", "not ", "never ", "nearly ", "just ", "now ", "always ", "also ", "still ", "had ", "taking ",
    "having ", "allergic", "diabetic", "clear ", "really ", "very ", "so ", "badly ", "severely ", "in ", "off ", "down ", "developed ",
    "recently ", "only ", "one ", "two ", "three ", "four ", "five ", "ten ", "fine ", "coming ", "going ", "asthmatic", "epileptic",
    "outgrown ", "stopped ", "started ", "gone ", "come ", "no longer ", "free ", "over ", "using ", "living ", "suffering ",
)  # fmt: skip
_BESIDE = (" to ", " beside ", " behind ", " near ", " opposite ", " with ", " above ", " below ", " before ", " after ")
_AFTER_NAME = frozenset("喜爱讨怕住在是有养开叫姓搬做当吃喝穿用买读上下考学患得对今去来毕属离结")
"""Characters that a verb after a lone name begins with."""

_NO_NAME = frozenset("我你他她它的都也不是在有了就很吃喝说对和跟把被从会要想能没这那")
_NICK = frozenset("明红强丽军芳华伟敏静杰霞燕娟涛超波玲斌宇鹏飞琴美亮欣雪梅兰英玉虎")


def _latin_word(text: str, i: int) -> str:
    j = i
    while j < len(text) and text[j].isascii() and (text[j].isalnum() or text[j] in "-_"):
        j += 1
    return text[i:j]


def _is_or_has(text: str, i: int, person: Person) -> bool:
    """Whether 's is a verb: he's been told; dad's got; my brother's on."""
    rest = text[i + 3 :]
    return person.pronoun or rest.startswith(_AFTER_IS) or rest[:1].isdigit()


def _placed(text: str, i: int, people: Sequence[Person], person: Person) -> bool:
    """A friend in my study group: "my" belongs to the place, not to the statement."""
    last = people[-1] if people else None
    if last is None or person.subject != "self" or last.pronoun or last.subject in ("self", "you"):
        return False
    return text[i : person.end] in ("my", "our") and text[last.end : i] in (" in ", " at ", " on ", " from ")


def _accompanies(text: str, i: int, start: int, people: Sequence[Person]) -> bool:
    """跟女朋友领了证: somebody with whom it is done, and nobody right before to be joined with."""
    return i > start and text[i - 1] in "跟同" and not (people and _joins(text[people[-1].end : i]))


def _beside(text: str, i: int, end: int) -> bool:
    """The man next to me: somebody else stands there."""
    return text[i:end] in ("me", "us", "him", "them") and text[:i].endswith(_BESIDE)


def _joins(between: str) -> bool:
    return between.strip() in ("和", "跟", "与", "还有", "以及", "、", "and", "&", "和我", "跟我", "and my", ", and", ",")


def moved(person: Person, subject: str) -> Person:
    """The same mention with its pronoun resolved."""
    return replace(person, subject=subject, pronoun=False)
