"""One body of promises for every candidate index: the fake, the in-process engine, a server if GRAPHMEM_TEST_QDRANT_URL names one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid4, uuid5

import pytest

from graphmem.errors import ConfigurationError, InvalidInputError
from graphmem.ports import COLLECTIONS, LEXICAL, Candidate, CandidateIndex, Collection, IndexQuery, Point
from graphmem.stores import qdrant_common
from graphmem.stores.keys import point_id
from graphmem.stores.qdrant_common import collection_name
from graphmem.stores.qdrant_edge import EdgeIndex
from tests.fakes_index import FakeIndex, Shelf

SERVER = os.environ.get("GRAPHMEM_TEST_QDRANT_URL")
KINDS = ["fake", "edge", *(["server"] if SERVER else [])]
SIZES = {"use": 4, "e5": 3}
ANN, BOB = "a" * 32, "b" * 32


class Opened(CandidateIndex, Protocol):
    def close(self) -> None: ...


class Home:
    """Opens indexes over the same stored data, in one tenant of this test."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.tenant = f"t-{uuid4().hex[:12]}"
        self._kind = kind
        self._folder = folder
        self._shelf = Shelf()
        self._opened: list[Opened] = []

    def open(self, sizes: Mapping[str, int] = SIZES) -> Opened:
        self.close()
        index: Opened
        if self._kind == "fake":
            index = FakeIndex(sizes, self._shelf)
        elif self._kind == "edge":
            index = EdgeIndex(self._folder, sizes)
        else:
            from graphmem.stores.qdrant_server import ServerIndex

            index = ServerIndex(SERVER or "", os.environ.get("GRAPHMEM_TEST_QDRANT_API_KEY"), sizes)
        self._opened.append(index)
        return index

    def close(self) -> None:
        while self._opened:
            self._opened.pop().close()

    def clean(self) -> None:
        if self._kind == "server":
            from qdrant_client import QdrantClient

            client = QdrantClient(url=SERVER, api_key=os.environ.get("GRAPHMEM_TEST_QDRANT_API_KEY"), check_compatibility=False)
            for collection in COLLECTIONS:
                client.delete_collection(collection_name(self.tenant, collection))
            client.close()


@pytest.fixture(params=KINDS)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    made = Home(str(request.param), tmp_path / "index")
    yield made
    made.close()
    made.clean()


def point(
    name: str,
    text: str = "",
    *,
    user: str = ANN,
    collection: Collection = "fact",
    vector: tuple[float, ...] = (1, 0, 0, 0),
    version: int = 1,
) -> Point:
    identity = str(uuid5(UUID(int=7), name))
    return Point(identity, f"mid-{name}", collection, user, version, {"use": vector}, text)


def near(*vector: float, user: str = ANN, collections: tuple[Collection, ...] = COLLECTIONS, limit: int = 100) -> IndexQuery:
    return IndexQuery(user, collections, {"use": vector}, limit=limit)


def words(text: str, user: str = ANN) -> IndexQuery:
    return IndexQuery(user, COLLECTIONS, {}, text)


def refs(found: list[Candidate], name: str = "use") -> list[str]:
    return [c.ref for c in sorted(found, key=lambda c: -c.scores.get(name, 0.0))]


def test_a_memory_is_found_by_its_meaning_nearest_first_with_the_raw_cosine(home: Home) -> None:
    index = home.open()
    index.upsert(home.tenant, [point("far", vector=(0, 1, 0, 0)), point("near", vector=(1, 0, 0, 0)), point("half", vector=(1, 1, 0, 0))])
    found = index.search(home.tenant, near(1, 0, 0, 0))
    assert refs(found) == ["mid-near", "mid-half", "mid-far"]
    assert {c.ref: c.scores["use"] for c in found} == pytest.approx({"mid-near": 1.0, "mid-half": 0.5**0.5, "mid-far": 0.0}, abs=1e-5)


def test_chinese_english_and_mixed_words_are_found(home: Home) -> None:
    index = home.open()
    index.upsert(home.tenant, [point("dark", "我喜欢用深色模式的编辑器。"), point("tea", "I drink green teas"), point("other", "明天下雨")])
    for asked in ("深色模式", "编辑器", "深色 editor", "编辑器用什么模式"):
        assert refs(index.search(home.tenant, words(asked)), LEXICAL) == ["mid-dark"], asked
    for asked in ("GREEN tea", "ｇｒｅｅｎ"):
        assert refs(index.search(home.tenant, words(asked)), LEXICAL) == ["mid-tea"], asked


def test_the_rarer_word_counts_more(home: Home) -> None:
    index = home.open()
    common = [point(f"common{n}", "coffee cup") for n in range(6)]
    index.upsert(home.tenant, [*common, point("rare", "saffron cup")])
    assert refs(index.search(home.tenant, words("coffee saffron")), LEXICAL)[0] == "mid-rare"


def test_words_that_no_memory_holds_find_nothing(home: Home) -> None:
    index = home.open()
    index.upsert(home.tenant, [point("tea", "I drink tea")])
    assert index.search(home.tenant, words("volcano")) == []
    assert index.search(home.tenant, words("的 了 the of")) == []
    assert index.search(home.tenant, words("")) == []


def test_all_lists_that_found_a_memory_are_named(home: Home) -> None:
    index = home.open()
    both = Point(str(uuid4()), "mid-both", "preference", ANN, 3, {"use": [1, 0, 0, 0], "e5": [0, 1, 0]}, "green tea")
    chinese = Point(str(uuid4()), "mid-zh", "preference", ANN, 1, {"use": [1, 0, 0, 0]}, "绿茶")
    index.upsert(home.tenant, [both, chinese])
    query = IndexQuery(ANN, ["preference"], {"use": [1, 0, 0, 0], "e5": [0, 1, 0]}, "tea")
    found = {c.ref: c for c in index.search(home.tenant, query)}
    assert set(found["mid-both"].scores) == {"use", "e5", LEXICAL}
    assert set(found["mid-zh"].scores) == {"use"}
    assert (found["mid-both"].id, found["mid-both"].collection, found["mid-both"].version) == (both.id, "preference", 3)


def test_a_user_never_finds_lists_or_counts_another_users_points(home: Home) -> None:
    index = home.open()
    index.upsert(home.tenant, [point("ann", "tea"), point("bob", "tea", user=BOB)])
    query = IndexQuery(ANN, COLLECTIONS, {"use": [1, 0, 0, 0]}, "tea")
    assert refs(index.search(home.tenant, query)) == ["mid-ann"]
    assert [h.ref for h in index.ids(home.tenant, "fact", BOB).items] == ["mid-bob"]
    assert (index.count(home.tenant, "fact", ANN), index.count(home.tenant, "fact")) == (1, 2)


def test_a_tenant_never_finds_another_tenants_points(home: Home) -> None:
    index = home.open()
    index.upsert(home.tenant, [point("ann")])
    assert index.search(f"{home.tenant}x", near(1, 0, 0, 0)) == []
    assert index.count(f"{home.tenant}x", "fact") == 0
    assert index.ids(f"{home.tenant}x", "fact").items == ()


def test_a_point_that_is_not_active_is_held_but_never_found(home: Home) -> None:
    index = home.open()
    retired = Point(str(uuid4()), "mid-old", "fact", ANN, 1, {"use": [1, 0, 0, 0]}, "tea", state="retired")
    index.upsert(home.tenant, [retired])
    assert index.search(home.tenant, IndexQuery(ANN, COLLECTIONS, {"use": [1, 0, 0, 0]}, "tea")) == []
    assert index.count(home.tenant, "fact") == 1


def test_only_the_asked_collections_and_session_are_searched(home: Home) -> None:
    index = home.open()
    turns = [Point(str(uuid4()), f"turn-{s}", "turn", ANN, 1, {"use": [1, 0, 0, 0]}, session=s * 32) for s in "cd"]
    index.upsert(home.tenant, [point("fact"), *turns])
    assert refs(index.search(home.tenant, near(1, 0, 0, 0, collections=("fact",)))) == ["mid-fact"]
    assert refs(index.search(home.tenant, IndexQuery(ANN, ["turn"], {"use": [1, 0, 0, 0]}, session="d" * 32))) == ["turn-d"]


def test_no_more_than_the_limit_is_returned_a_list(home: Home) -> None:
    index = home.open()
    index.upsert(home.tenant, [point(str(n), vector=(1, n / 10, 0, 0)) for n in range(5)])
    assert refs(index.search(home.tenant, near(1, 0, 0, 0, limit=2))) == ["mid-0", "mid-1"]


def test_writing_a_point_twice_leaves_one_and_the_later_one_wins_whole(home: Home) -> None:
    index = home.open()
    old = Point(str(uuid4()), "mid-1", "fact", ANN, 1, {"use": [1, 0, 0, 0], "e5": [1, 0, 0]}, "green tea")
    new = Point(old.id, "mid-1", "fact", ANN, 2, {"use": [0, 1, 0, 0]}, "黑咖啡")
    for _ in range(2):
        index.upsert(home.tenant, [old])
    index.upsert(home.tenant, [new])
    assert [(h.id, h.version) for h in index.ids(home.tenant, "fact").items] == [(old.id, 2)]
    assert index.search(home.tenant, words("tea")) == []
    assert index.search(home.tenant, IndexQuery(ANN, COLLECTIONS, {"e5": [1, 0, 0]})) == []
    assert index.search(home.tenant, near(0, 1, 0, 0))[0].scores["use"] == pytest.approx(1.0, abs=1e-5)


def test_deleting_removes_what_is_named_and_nothing_else(home: Home) -> None:
    index = home.open()
    gone, kept = point("gone", "tea"), point("kept", "tea")
    index.upsert(home.tenant, [gone, kept])
    index.delete(home.tenant, "fact", [gone.id.upper(), str(uuid4())])
    index.delete(home.tenant, "fact", [gone.id])
    index.delete(home.tenant, "turn", [kept.id])
    index.delete(f"{home.tenant}x", "fact", [kept.id])
    assert [h.ref for h in index.ids(home.tenant, "fact").items] == ["mid-kept"]
    assert refs(index.search(home.tenant, words("tea")), LEXICAL) == ["mid-kept"]


def test_walking_the_pages_meets_every_point_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(qdrant_common, "PAGE", 10)
    monkeypatch.setattr(qdrant_common, "BATCH", 4)
    index = home.open()
    index.upsert(home.tenant, [point(f"p{n}", version=n) for n in range(25)] + [point("b", user=BOB)])
    seen, sizes, after = [], [], None
    while True:
        page = index.ids(home.tenant, "fact", ANN, after)
        seen += [(h.ref, h.version) for h in page.items]
        sizes.append(len(page.items))
        if (after := page.after) is None:
            break
    assert sizes == [10, 10, 5]
    assert sorted(seen) == sorted((f"mid-p{n}", n) for n in range(25))


def test_a_vector_of_the_wrong_size_is_refused_with_both_sizes_and_nothing_is_written(home: Home) -> None:
    index = home.open()
    with pytest.raises(ConfigurationError, match=r"1536.*\b4\b"):
        index.upsert(home.tenant, [point("fine"), point("bad", vector=(0.5,) * 1536)])
    with pytest.raises(ConfigurationError, match=r"\b2\b.*\b4\b"):
        index.search(home.tenant, near(1, 0))
    with pytest.raises(ConfigurationError, match=r"'ada'.*'e5', 'use'"):
        index.search(home.tenant, IndexQuery(ANN, COLLECTIONS, {"ada": [1.0]}))
    assert index.count(home.tenant, "fact") == 0


def test_an_index_made_for_other_embedders_refuses_the_start_until_it_is_rebuilt(home: Home) -> None:
    index = home.open({"use": 4})
    index.ensure(home.tenant)
    index.upsert(home.tenant, [point("old")])
    changed = home.open({"use": 6})
    with pytest.raises(ConfigurationError, match=r"4 numbers.*6 numbers") as caught:
        changed.ensure(home.tenant)
    assert "graphmem reindex" in (caught.value.hint or "")
    with pytest.raises(ConfigurationError):
        changed.upsert(home.tenant, [point("new", vector=(1, 0, 0, 0, 0, 0))])
    changed.ensure(home.tenant, fresh=True)
    changed.upsert(home.tenant, [point("new", vector=(1, 0, 0, 0, 0, 0))])
    assert [h.ref for h in changed.ids(home.tenant, "fact").items] == ["mid-new"]


@pytest.mark.parametrize("bad", ["张三", "user_1", "B07YSTB5HX", "", "1"])
def test_a_point_id_is_a_uuid_made_from_the_memory_id(home: Home, bad: str) -> None:
    index = home.open()
    with pytest.raises(InvalidInputError):
        index.upsert(home.tenant, [Point(bad, "mid-1", "fact", ANN, 1, {"use": [1, 0, 0, 0]})])
    made = Point(point_id(bad, SIZES), "mid-1", "fact", ANN, 1, {"use": [1, 0, 0, 0]})
    index.upsert(home.tenant, [made])
    assert [h.id for h in index.ids(home.tenant, "fact").items] == [made.id]
    index.delete(home.tenant, "fact", [made.id])
    index.upsert(home.tenant, [made])
    assert index.count(home.tenant, "fact") == 1


@pytest.mark.parametrize("field", ["ref", "pseudonym", "session", "state"])
def test_what_could_be_text_of_a_person_is_refused_as_an_id(home: Home, field: str) -> None:
    index = home.open()
    given = {"ref": "mid-1", "pseudonym": ANN, "session": "", "state": "active"} | {field: "我对青霉素 过敏"}
    with pytest.raises(InvalidInputError, match=field):
        index.upsert(
            home.tenant,
            [Point(str(uuid4()), given["ref"], "fact", given["pseudonym"], 1, {}, session=given["session"], state=given["state"])],
        )
    assert index.count(home.tenant, "fact") == 0


def test_a_reopened_index_still_holds_everything(home: Home) -> None:
    index = home.open()
    index.ensure(home.tenant)
    index.upsert(home.tenant, [point("kept", "green tea")])
    again = home.open()
    again.ensure(home.tenant)
    assert refs(again.search(home.tenant, words("tea")), LEXICAL) == ["mid-kept"]
    assert refs(again.search(home.tenant, near(1, 0, 0, 0))) == ["mid-kept"]


def test_a_point_without_words_or_without_vectors_is_held(home: Home) -> None:
    index = home.open()
    index.upsert(home.tenant, [Point(str(uuid4()), "mid-1", "fact", ANN, 1, {}, "😶 的"), Point(str(uuid4()), "mid-2", "fact", ANN, 1, {})])
    assert index.count(home.tenant, "fact", ANN) == 2


def test_a_healthy_index_says_nothing(home: Home) -> None:
    index = home.open()
    index.health()
    assert index.search(home.tenant, near(1, 0, 0, 0)) == []
