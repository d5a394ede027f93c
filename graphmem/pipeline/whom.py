"""Whom a match is about, and whether its words hold: reported speech, doubt, plans, what is over. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from graphmem.memory import Kind, Reason
from graphmem.ontology import Key
from graphmem.pipeline.prefix import Before, Person
from graphmem.pipeline.rules import Rule
from graphmem.pipeline.said import Hit, Refused
from graphmem.pipeline.talk import Talk

HEDGE_SAFETY, HEDGE_STRONG, HEDGE_MILD, ASIDE = 0.6, 0.89, 0.9, 0.96
"""Factors on a rule's certainty: "maybe" of a safety key or of a change; "maybe" of another; "I think"; words between subject and trigger.
Own choice, checked on the develop half: with 0.97 and one hedge, only safety keys and changes fall under 0.85."""

RECORDS = re.compile(r"的(?:纪录|记录|病史|历史|经历|毛病|问题|情况|习惯|体质|症状|遗传|老毛病|家族史|病)(?:$|[，。,了])")
"""Nouns that keep a statement one: 有过敏的记录."""


def relative_clause(text: str, m: Hit) -> bool:
    """对花生过敏的人: the match only describes a noun."""
    end = m.end
    if RECORDS.match(text, end) or RECORDS.match(text, end - 1):
        return False
    if text[:end].endswith("的") and end > m.start + 1:
        end -= 1  # the tail of a value took it
    return (text.startswith("的", end) and end + 1 < len(text) and text[end + 1] not in "，。,!！?？ 呢啊吧话\u241e") or text.startswith(
        ("的人", "者"), end
    )


def nominal(text: str, m: Hit) -> bool:
    """得过乳腺癌的，…: those who had it, where nobody is named."""
    end = m.end - 1 if text[: m.end].endswith("的") else m.end
    return text.startswith("的", end) and end + 1 == len(text)


def negations(rule: Rule, m: Hit, before: Before) -> int:
    """How many times the match is denied: in its prefix, in its negation slots, by its own word."""
    count = sum(1 for name in m.groups if name[0] == "n" and name[1:].isdigit())
    return count + before.tags.get("neg", 0) + ("neg" in rule.flags)


def certainty(before: Before, grave: bool) -> float:
    """The factor of the hedges before a match."""
    factor = 1.0
    if before.tags.get("hedge_strong") or before.head.get("hedge_strong"):
        factor *= HEDGE_SAFETY if grave else HEDGE_STRONG
    if before.tags.get("hedge_mild") or before.head.get("hedge_mild"):
        factor *= HEDGE_MILD
    if before.tags.get("hedge_near") or before.head.get("hedge_near"):
        factor *= HEDGE_STRONG
    if before.left and before.people:
        factor *= ASIDE
    return factor


def unsure(before: Before) -> bool:
    """Whether a strong hedge stands before a match."""
    return bool(before.tags.get("hedge_strong") or before.head.get("hedge_strong"))


def hedged(before: Before, inside: Before) -> Before:
    """The same words with a strong hedge when one stands inside the match, before its value: the rash could be a reaction to …"""
    return replace(before, tags=before.tags | {"hedge_strong": 1}) if unsure(inside) else before


UNKNOWN = "subject.unknown"
"""Words before a match are unexplained: they may name somebody else."""

STRANGERS = frozenset("邻居 房东 客户 保姆 师傅 租客 老乡 neighbour neighbor landlord client nanny tenant trainer".split())
"""Others of packs/subjects.yaml that a memory of the user has no use for."""

NEIGHBOURS, NEIGHBOURLY = frozenset({"邻居", "neighbour", "neighbor"}), frozenset({"allergy", "disease", "medication"})
"""Those of them of whom these keys are remembered all the same: the neighbour who comes to dinner and reacts to nuts."""

STRANGER = "subject.stranger"
"""The match is about somebody whom a memory of the user has no use for."""

THING = "subject.thing"
"""The match may be about what the clause before introduced: a pet, a shop."""

_OTHERS_OWN = ("he.", "she.", "they.", "person:", "friend.", "colleague.", "superior.", "subordinate.")
"""How the subjects begin that are somebody of theirs: a friend of a friend."""

OWN_NAME = frozenset({"name", "age", "birthday", "gender"})
"""Keys that a clause without a person says of what was introduced last: 我家有只猫，名字叫豆豆."""


def stranger(subject: str) -> bool:
    """Whether a subject is nobody of the user's."""
    return subject.startswith("person:") and (subject[7:] in STRANGERS or subject[7:].startswith(_OTHERS_OWN))


BYGONE = frozenset({"surgery", "hometown", "birthday", "education_level", "family_history", "name"})
"""Keys whose statements are about the past and still hold."""


def blocked(rule: Rule, before: Before, key: Key | None) -> Refused | None:
    """Why the words before a match keep it from being so now."""
    if before.tags.get("hearsay") or before.head.get("hearsay"):
        return Refused(Reason.THIRD_PARTY, "subject.hearsay")
    if before.tags.get("doubt") or before.head.get("doubt"):
        return Refused(Reason.LOW_CONFIDENCE, "modality.doubt")
    if key is not None and key.name == "medication" and before.tags.get("cannot"):
        return Refused(Reason.LOW_CONFIDENCE, "modality.cannot")  # what one must not take says nothing of what one takes
    if before.tags.get("past") and not rule.flags & {"past", "past_event"} and (key is None or key.name not in BYGONE):
        return Refused(Reason.LOW_CONFIDENCE, "time.over")
    kind = key.kind if key is not None else Kind.PREFERENCE
    if before.tags.get("weighing"):
        return Refused(Reason.HYPOTHETICAL, "modality.weighing")
    if before.tags.get("clinician") and not before.tags.get("say") and key is not None and key.sensitivity != "health":
        return Refused(Reason.THIRD_PARTY, STRANGER)  # my doctor has two dogs
    if before.tags.get("thing") and not before.people and key is not None and key.name in ("current_location", "current_city"):
        return Refused(Reason.CHATTER, THING)  # 快递还在中转站
    if kind is Kind.CONTEXT and before.tags.get("future"):
        return Refused(Reason.HYPOTHETICAL, "time.future")
    if before.tags.get("plan") and kind is not Kind.PREFERENCE and "past" not in rule.flags and "plan" not in rule.options:
        return Refused(Reason.HYPOTHETICAL, "modality.plan")
    return None


def subjects(rule: Rule, before: Before, talk: Talk) -> list[str] | Refused:
    """Whom the match is about, or why it is about nobody we may remember."""
    if "subject" in rule.options:
        return [rule.options["subject"]]
    if not before.people or ("loose" in rule.flags and all(p.pronoun and p.subject == "it" for p in before.people)):
        return _without_person(rule, before, talk)  # it turned out to be psoriasis
    last = before.people[-1]
    reported = before.head.get("say", 0)
    if before.tags.get("say") and before.left and last.subject != "self" and not before.tags.get("doctor"):
        return Refused(Reason.THIRD_PARTY, "subject.reported")
    subject = talk.resolve(last.subject) if last.pronoun else last.subject
    if subject is None and len(before.people) > 1:
        subject = _antecedent(before, last)
    if last.pronoun and last.subject == "own":
        subject = before.people[-2].subject if len(before.people) > 1 else talk.topic or "self"
    if subject is None or subject == "you":
        return Refused(Reason.CHATTER, UNKNOWN if subject is None else "subject.addressee")
    if stranger(subject) and not (rule.key in NEIGHBOURLY and subject[7:] in NEIGHBOURS):
        return Refused(Reason.THIRD_PARTY, STRANGER)
    if before.left and not (before.tags.get("verb") or before.tags.get("doctor")) and "loose" not in rule.flags:
        return Refused(Reason.THIRD_PARTY, UNKNOWN)
    if before.tags.get("generic") or (before.glued and before.left):
        return Refused(Reason.THIRD_PARTY, "subject.general")
    if subject == "self" and reported and before.head.get("neg"):
        return Refused(Reason.CHATTER, "subject.never_said")
    if subject == "self" and reported and not before.head.get("doctor"):
        others = [p for p in before.people[:-1] if p.subject != "self"]
        if others or before.left_head or before.head.get("generic"):
            return Refused(Reason.THIRD_PARTY, "subject.reported_by_other")
    if before.owner is not None and "choose" in rule.flags and not before.owner.pronoun:
        return _spread(before.owner.subject)
    if before.joined > 1:
        joined = [p.subject for p in before.people[-before.joined :]]
        return [s for s in dict.fromkeys(joined) if s != "you"]
    return _spread(subject)


def _antecedent(before: Before, last: Person) -> str | None:
    """Whom he or she means in the clause itself, never the speaker: my trainee told me he's …; I think he's …."""
    others = [p for p in before.people[:-1] if not p.pronoun and p.subject not in ("self", "you")]
    if last.subject in ("he", "she"):
        return others[-1].subject if others else None
    return before.people[-2].subject if not before.people[-2].pronoun else None


def _spread(subject: str) -> list[str]:
    return ["father", "mother"] if subject == "parents" else ["child"] if subject == "children" else [subject]


def _without_person(rule: Rule, before: Before, talk: Talk) -> list[str] | Refused:
    if before.tags.get("generic"):
        return Refused(Reason.THIRD_PARTY, "subject.general")
    if before.left and not (before.tags.get("doctor") or "loose" in rule.flags):
        return Refused(Reason.THIRD_PARTY, UNKNOWN)
    if before.tags.get("say") and not before.tags.get("doctor"):
        return Refused(Reason.THIRD_PARTY, "subject.reported")
    if talk.lost:
        return Refused(Reason.THIRD_PARTY, "subject.carried_over")
    if talk.topic is not None and stranger(talk.topic):
        return Refused(Reason.THIRD_PARTY, STRANGER)
    if talk.thing and rule.key in OWN_NAME:
        return Refused(Reason.THIRD_PARTY, THING)
    return _spread(talk.topic or "self")
