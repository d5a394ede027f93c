"""The ontology holds every key of the vocabulary with its arity and policy, and refuses bad packs with file and line."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from string import Formatter

import pytest

from graphmem.errors import NotFoundError, PackError
from graphmem.lexicon import load_lexicon
from graphmem.memory import Kind
from graphmem.ontology import Key, load_ontology

FACT_ONE = """name birthday age gender phone email id_number membership_number id_expiry passport_expiry nationality home_address
home_city hometown work_city marital_status occupation job_title employer income bank social_security_city education_level major
school school_grade height shoe_size clothing_size blood_type passport_number bank_account""".split()
FACT_MANY = "loan vehicle pet allergy disease family_history surgery medication hobby lab_reading".split()
PREFERENCE_CHOSEN = """coffee_preference tea_preference breakfast_preference cuisine_preference diet_preference spicy_preference
sweetness_preference seat_preference hotel_preference transport_preference airline_preference travel_style_preference color_preference
fabric_preference price_preference delivery_preference payment_preference bill_preference risk_preference investment_preference
contact_preference service_channel_preference language_preference answer_style_preference learning_preference class_time_preference
doctor_preference treatment_preference medication_form_preference appointment_time_preference appointment_type_preference""".split()
PREFERENCE_POLE = """food_preference drink_preference music_preference movie_preference reading_preference sport_preference
animal_preference season_preference subject_preference likes""".split()
PREFERENCE_MANY = ["brand_preference"]
CONTEXT_ONE = """current_city current_location device device_state network current_activity time_available party_size health_state
mood weather""".split()
CONTEXT_MANY = ["companion"]

EXPECTED = {
    **{name: (Kind.FACT, "one") for name in FACT_ONE},
    **{name: (Kind.FACT, "many") for name in FACT_MANY},
    **{name: (Kind.PREFERENCE, "chosen") for name in PREFERENCE_CHOSEN},
    **{name: (Kind.PREFERENCE, "pole") for name in PREFERENCE_POLE},
    **{name: (Kind.PREFERENCE, "many") for name in PREFERENCE_MANY},
    **{name: (Kind.CONTEXT, "one") for name in CONTEXT_ONE},
    **{name: (Kind.CONTEXT, "many") for name in CONTEXT_MANY},
}
DUAL = {"phone", "id_number", "passport_number", "bank_account"}
REVIEW = {"name", "birthday", "gender", "blood_type", "allergy", "disease", "surgery"}
SAFETY = {"allergy", "disease", "medication", "family_history"}
TASTE = {"coffee_preference", "tea_preference", "breakfast_preference", "cuisine_preference", "color_preference", "fabric_preference"}
DAY = timedelta(days=1)

ONTOLOGY = load_ontology()
GOOD = "{kind: fact, arity: one, label: {zh: 甲, en: a}, question: {zh: '{value}？', en: '{value}?'}}"


def pack(folder: Path, text: str, name: str = "pack.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> PackError:
    with pytest.raises(PackError) as caught:
        load_ontology([path])
    assert caught.value.file == str(path)
    return caught.value


def test_the_keys_are_those_of_the_vocabulary_and_no_others() -> None:
    assert {key.name for key in ONTOLOGY.keys} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_key_has_the_kind_and_arity_of_the_vocabulary(name: str) -> None:
    key = ONTOLOGY.key(name)
    assert (key.kind, key.arity) == EXPECTED[name]


def test_change_policies_are_those_of_the_vocabulary() -> None:
    assert {key.name for key in ONTOLOGY.keys if key.policy == "dual"} == DUAL
    assert {key.name for key in ONTOLOGY.keys if key.policy == "review"} == REVIEW


def test_safety_keys_are_the_four_that_checks_read() -> None:
    assert {key.name for key in ONTOLOGY.keys if key.safety} == SAFETY


def test_only_tastes_keep_a_liking_beside_the_chosen_value() -> None:
    assert {key.name for key in ONTOLOGY.keys if key.taste} == TASTE


@pytest.mark.parametrize("key", ONTOLOGY.keys, ids=lambda key: key.name)
def test_lifetimes_and_decay_follow_the_kind(key: Key) -> None:
    lifetime = {Kind.FACT: None, Kind.PREFERENCE: 180 * DAY, Kind.CONTEXT: 7 * DAY}[key.kind]
    assert key.lifetime == (365 * DAY if key.name == "age" else lifetime)
    assert key.decay == (None if key.kind is Kind.FACT else 30 * DAY)


def test_numbers_that_identify_a_person_are_identifiers_and_health_is_health() -> None:
    identifiers = {key.name for key in ONTOLOGY.keys if key.sensitivity == "identifier"}
    assert identifiers == DUAL | {"email", "membership_number", "current_location"}
    health = {key.name for key in ONTOLOGY.keys if key.sensitivity == "health"}
    assert health >= SAFETY | {"surgery", "blood_type", "lab_reading", "health_state"}
    assert not identifiers & health


@pytest.mark.parametrize("key", ONTOLOGY.keys, ids=lambda key: key.name)
def test_every_key_is_named_and_asked_about_in_both_languages(key: Key) -> None:
    assert any("\u4e00" <= char <= "\u9fff" for char in key.label.zh)
    assert key.label.en.isascii()
    assert key.question.zh.endswith("？")
    assert key.question.en.endswith("?")
    for question in (key.question.zh, key.question.en):
        assert [name for _, name, _, _ in Formatter().parse(question) if name is not None] == ["value"]


def test_every_lexicon_type_a_key_draws_from_has_concepts_or_is_open() -> None:
    known = {concept.type for concept in load_lexicon().concepts.values()}
    named = {type_ for key in ONTOLOGY.keys for type_ in (*key.types, *filter(None, [key.concept_type]))}
    assert named <= known


def test_a_question_is_asked_with_the_value_even_when_it_holds_braces() -> None:
    assert ONTOLOGY.key("pet").ask("{name}").en == "Is there a pet in your home: {name}?"


def test_an_unknown_key_is_an_open_key_or_not_found() -> None:
    assert ONTOLOGY.get("star_sign") is None
    with pytest.raises(NotFoundError):
        ONTOLOGY.key("star_sign")


def test_a_pack_adds_a_key(tmp_path: Path) -> None:
    path = pack(tmp_path, "keys:\n  star_sign: {kind: fact, arity: many, lifetime: 12 h, decay: 30 min, concept_type: star,\n"
                "    label: {zh: 星座, en: star sign}, question: {zh: '{value}？', en: '{value}?'}}\n")  # fmt: skip
    key = load_ontology([path]).key("star_sign")
    assert (key.kind, key.arity, key.policy, key.types) == (Kind.FACT, "many", "versioned", ("star",))
    assert (key.lifetime, key.decay) == (timedelta(hours=12), timedelta(minutes=30))


def test_a_pack_gives_an_existing_key_another_lifetime_label_and_question_and_nothing_else(tmp_path: Path) -> None:
    path = pack(tmp_path, "keys:\n  mood:\n    kind: context\n    types: [mood]\n    lifetime: 2 d\n    decay: none\n"
                "    label: {zh: 情绪, en: feeling}\n    question: {zh: '{value}？', en: 'Are you {value}?'}\n")  # fmt: skip
    old, new = ONTOLOGY.key("mood"), load_ontology([path]).key("mood")
    assert (new.lifetime, new.decay, new.label.en, new.question.en) == (2 * DAY, None, "feeling", "Are you {value}?")
    assert (new.kind, new.arity, new.types) == (old.kind, old.arity, old.types)


def test_of_two_packs_the_later_one_counts(tmp_path: Path) -> None:
    first = pack(tmp_path, "keys: {mood: {lifetime: 2 d}}", "first.yaml")
    second = pack(tmp_path, "keys: {mood: {lifetime: 3 d}}", "second.yml")
    assert load_ontology([first, second]).key("mood").lifetime == 3 * DAY


def test_lexicon_packs_in_the_same_list_are_passed_over(tmp_path: Path) -> None:
    table = pack(tmp_path, "id\tzh\ten\ndrug:x\t某药\tx\n", "drugs.tsv")
    concepts = pack(tmp_path, "concepts: []", "concepts.yaml")
    assert load_ontology([table, concepts]) == ONTOLOGY


BAD = [
    ("unknown field", "keys:\n  a:\n    kind: fact\n    colour: red\n", 4, "unknown field 'colour'"),
    ("unknown section", "keys: {}\nwords: {}\n", 2, "unknown field 'words'"),
    ("duplicate key", f"keys:\n  a: {GOOD}\n  b: {GOOD}\n  a: {GOOD}\n", 4, "'a' stands twice"),
    ("duplicate field", "keys:\n  a:\n    kind: fact\n    kind: fact\n", 4, "'kind' stands twice"),
    ("wrong kind", f"keys:\n  a: {GOOD.replace('fact', 'opinion')}\n", 2, "allowed: fact, preference, context"),
    ("wrong arity", f"keys:\n  a: {GOOD.replace('one', 'several')}\n", 2, "allowed: one, many, pole, chosen"),
    ("wrong arity for the kind", f"keys:\n  a: {GOOD.replace('one', 'pole')}\n", 2, "allowed for a fact: one, many"),
    ("wrong policy", f"keys:\n  a: {GOOD.replace('one,', 'one, policy: vote,')}\n", 2, "allowed: versioned, dual, review"),
    ("policy of a context", f"keys:\n  a: {GOOD.replace('fact,', 'context, policy: dual,')}\n", 2, "allowed for a context: versioned"),
    ("wrong sensitivity", f"keys:\n  a: {GOOD.replace('one,', 'one, sensitivity: top,')}\n", 2, "allowed: identifier, health, ordinary"),
    ("safety is no flag", f"keys:\n  a: {GOOD.replace('one,', 'one, safety: maybe,')}\n", 2, "allowed: true, false"),
    ("taste of a fact", f"keys:\n  a: {GOOD.replace('one,', 'one, taste: true,')}\n", 2, "arity chosen only"),
    ("bad lifetime", "keys:\n  mood:\n    lifetime: two weeks\n", 3, "a number of d, h or min"),
    ("lifetime without a unit", "keys:\n  mood:\n    lifetime: 7\n", 3, "a number of d, h or min"),
    ("lifetime of zero", "keys:\n  mood:\n    lifetime: 0 d\n", 3, "a number of d, h or min"),
    ("missing fields", "keys:\n  a: {kind: fact, arity: one}\n", 2, "lacks label, question"),
    ("label in one language", "keys:\n  mood:\n    label: {zh: 情绪}\n", 3, "lacks en"),
    ("label is a list", "keys:\n  mood:\n    label: [情绪, mood]\n", 3, "must be a mapping"),
    ("empty label", "keys:\n  mood:\n    label: {zh: 情绪, en: ''}\n", 3, "one piece of text"),
    ("unknown placeholder", "keys:\n  mood:\n    question: {zh: '{v}？', en: '{value}?'}\n", 3, "allowed: {value}"),
    ("unbalanced braces", "keys:\n  mood:\n    question: {zh: '{value？', en: '{value}?'}\n", 3, "braces"),
    ("bad key name", f"keys:\n  Star Sign: {GOOD}\n", 2, "a-z, 0-9 and '_'"),
    ("bad concept type", f"keys:\n  a: {GOOD.replace('one,', 'one, concept_type: A B,')}\n", 2, "a lexicon type"),
    ("types is no list", f"keys:\n  a: {GOOD.replace('one,', 'one, types: city,')}\n", 2, "must be a list"),
    ("changed kind", "keys:\n  mood:\n    lifetime: 2 d\n    kind: fact\n", 4, "'kind' of the existing key 'mood' cannot change"),
    ("changed arity", "keys:\n  allergy:\n    arity: one\n", 3, "'arity' of the existing key 'allergy' cannot change"),
    ("weakened policy", "keys:\n  allergy:\n    policy: versioned\n", 3, "'policy' of the existing key 'allergy' cannot change"),
    ("weakened safety", "keys:\n  allergy:\n    safety: false\n", 3, "'safety' of the existing key 'allergy' cannot change"),
    ("keys is a list", "keys:\n  - mood\n", 2, "must be a mapping"),
    ("not YAML", "keys:\n  mood: {lifetime: 2 d\n", 3, "not YAML"),
    ("control character", "keys: \x01\n", 1, "not YAML"),
    ("empty", " \n\n", 1, "empty"),
    ("comments only", "# nothing\n", 1, "empty"),
    ("empty mapping", "{}\n", 1, "empty"),
]


@pytest.mark.parametrize(("text", "line", "says"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_a_bad_pack_is_refused_with_file_line_and_what_is_allowed(tmp_path: Path, text: str, line: int, says: str) -> None:
    error = refusal(pack(tmp_path, text))
    assert error.line == line
    assert says in error.detail


def test_a_pack_that_is_not_utf8_is_refused_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "gbk.yaml"
    path.write_bytes("keys:\n  mood:\n    label: {zh: 情绪, en: mood}\n".encode("gbk"))
    error = refusal(path)
    assert (error.line, error.hint) == (3, "save the file as UTF-8")


def test_a_pack_that_does_not_exist_or_has_another_ending_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path / "absent.yaml").detail
    assert ".yaml" in refusal(pack(tmp_path, "{}", "pack.json")).detail


def test_a_pack_nested_too_deeply_is_refused_and_not_a_crash(tmp_path: Path) -> None:
    assert refusal(pack(tmp_path, "keys: " + "[" * 100_000)).line >= 1
