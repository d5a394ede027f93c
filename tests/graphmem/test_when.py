"""Expressions of time mean what the fixture table says, and statements begin and end as design section 5 says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphmem
from graphmem.errors import PackError
from graphmem.memory import EPOCH
from graphmem.pipeline import timepack
from graphmem.pipeline.when import Bound, TimeSpan, bind, find_times

TABLE = Path(graphmem.__file__).parent / "packs" / "time_fixtures.tsv"
SHANGHAI, BERLIN, NEW_YORK = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
WEDNESDAY = datetime(2026, 5, 6, 10, tzinfo=SHANGHAI)


def rows() -> list[tuple[str, ...]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]


def instant(text: str, zone: ZoneInfo) -> datetime:
    if text.endswith("Z"):
        return datetime.fromisoformat(text[:-1]).replace(tzinfo=UTC)
    return datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC)


def day(text: str, zone: ZoneInfo = SHANGHAI) -> datetime:
    return instant(text, zone)


def times(text: str, said: datetime = WEDNESDAY, zone: ZoneInfo = SHANGHAI) -> tuple[TimeSpan, ...]:
    return find_times(text, said, zone)


def bound(text: str, *, past_event: bool = False, said: datetime = WEDNESDAY, zone: ZoneInfo = SHANGHAI) -> Bound:
    return bind(text, find_times(text, said, zone), said, past_event=past_event)


def three(b: Bound) -> tuple[datetime | None, datetime | None, bool]:
    return b.start, b.ends_at, b.claims


def test_the_fixture_table_is_large_and_even() -> None:
    chinese = sum(any("\u4e00" <= c <= "\u9fff" for c in row[0]) for row in rows())
    assert len(rows()) >= 300
    assert min(chinese, len(rows()) - chinese) >= 150


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row[0]}@{row[1]}")
def test_an_expression_means_what_the_table_says(row: tuple[str, ...]) -> None:
    text, said, zone_name, start, end, role = row
    zone = ZoneInfo(zone_name)
    found = find_times(text, datetime.fromisoformat(said).replace(tzinfo=zone), zone)
    if start == "-":
        assert found == ()
        return
    assert [span.role for span in found] == [role]
    if start != "*":
        assert (found[0].start, found[0].end) == (instant(start, zone), instant(end, zone))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("我从去年三月起住在杭州，明天要去上海", ["从去年三月起", "明天"]),
        ("I lived in Oslo from 2019 to 2021, and since May 2022 in Bergen.", ["from 2019 to 2021", "since May 2022"]),
        ("上周二开始吃药，吃到月底", ["上周二开始", "到月底"]),
        ("Last year I moved, next week I start.", ["Last year", "next week"]),
        ("２０２４年５月１日搬家", ["２０２４年５月１日"]),
    ],
)
def test_spans_cut_the_expressions_out_of_the_text_as_it_was_sent(text: str, parts: list[str]) -> None:
    found = times(text)
    assert [span.text for span in found] == parts
    assert [text[slice(*span.span)] for span in found] == parts


@pytest.mark.parametrize("text", ["我每周二和周四去健身", "every Monday and Thursday at 8pm", "on Mondays or Fridays"])
def test_days_listed_after_a_recurring_one_recur(text: str) -> None:
    assert [span.role for span in times(text)] == ["every", "every"]


def test_a_word_belongs_to_one_expression_only() -> None:
    assert [span.text for span in times("元宵前日")] == ["元宵", "前日"]


def test_two_languages_in_one_text_are_both_read() -> None:
    assert [span.text for span in times("我 last year 搬到上海，下个月去 Berlin until 2028")] == ["last year", "下个月", "until 2028"]


def test_full_width_and_traditional_forms_mean_the_same() -> None:
    plain, other = times("从下个月起，下周五晚上7点半"), times("從下個月起，下週五晚上７點半")
    assert [(a.start, a.end, a.role) for a in plain] == [(a.start, a.end, a.role) for a in other]
    assert len(plain) == 2


def test_today_is_the_local_date_of_the_speaker_not_the_date_in_utc() -> None:
    said = datetime(2026, 5, 1, 0, 30, tzinfo=SHANGHAI)
    (today,) = find_times("今天", said, SHANGHAI)
    assert today.start == datetime(2026, 4, 30, 16, tzinfo=UTC)
    assert today.start <= said < today.end
    assert bound("我今天开始戒咖啡了", past_event=True, said=said) == Bound()


def test_relative_words_count_from_the_turn_and_not_from_the_import() -> None:
    said = datetime(2025, 5, 24, 10, tzinfo=SHANGHAI)
    b = bound("我上周去了西安", past_event=True, said=said)
    assert b.start == day("2025-05-12")


def test_said_at_in_another_zone_is_the_same_moment() -> None:
    assert times("昨天") == times("昨天", WEDNESDAY.astimezone(UTC))


@pytest.mark.parametrize(
    ("zone", "said", "text", "start"),
    [
        (BERLIN, "2026-03-29T12:00", "today at 2:30 am", "2026-03-29T01:30"),
        (BERLIN, "2026-10-25T12:00", "today at 2:30 am", "2026-10-25T00:30"),
        (NEW_YORK, "2026-03-08T12:00", "today at 2:30 am", "2026-03-08T07:30"),
        (NEW_YORK, "2026-11-01T12:00", "today at 1:30 am", "2026-11-01T05:30"),
    ],
)
def test_an_ambiguous_local_time_is_the_first_and_a_skipped_one_shifts_forward(zone: ZoneInfo, said: str, text: str, start: str) -> None:
    (span,) = find_times(text, datetime.fromisoformat(said).replace(tzinfo=zone), zone)
    assert span.start == datetime.fromisoformat(start).replace(tzinfo=UTC)


def test_a_day_of_the_clock_change_has_its_real_length() -> None:
    (short,) = find_times("today", datetime(2026, 3, 29, 12, tzinfo=BERLIN), BERLIN)
    (long,) = find_times("today", datetime(2026, 11, 1, 12, tzinfo=NEW_YORK), NEW_YORK)
    assert [(s.end - s.start).total_seconds() / 3600 for s in (short, long)] == [23, 25]


def test_a_naive_said_at_is_refused_and_never_guessed() -> None:
    with pytest.raises(ValueError, match="naive"):
        find_times("昨天", datetime(2026, 5, 6), SHANGHAI)  # noqa: DTZ001


# --- start and end of a statement


@pytest.mark.parametrize(
    "text",
    ["我今年在读三年级", "今天很忙", "this week I am in Oslo", "本月我在出差", "每周三我去游泳", "I run every Monday", "I drink tea"],
)
def test_a_time_that_holds_the_moment_of_speaking_or_recurs_is_neither_start_nor_end(text: str) -> None:
    assert bound(text, past_event=True) == Bound()


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("自2019年起我住在深圳", "2019-01-01"),
        ("我从三年前开始吃素", "2023-05-06"),
        ("三年来我一直住在成都", "2023-05-06"),
        ("I have lived here since 2019", "2019-01-01"),
        ("since last March I work nights", "2026-03-01"),
        ("for the last two years I have been vegan", "2024-05-06"),
        ("I have lived here for two years", "2024-05-06"),
        ("since 2026 I live here", "2026-01-01"),
    ],
)
def test_since_a_past_date_begins_with_it_and_claims_the_time_until_now(text: str, start: str) -> None:
    assert three(bound(text)) == (day(start), None, True)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("从下个月起我在上海上班", "2026-06-01"),
        ("我明年要搬到苏州", "2027-01-01"),
        ("From 1 July 2026 I will live in Oslo", "2026-07-01"),
        ("starting next week I work from home", "2026-05-11"),
    ],
)
def test_a_future_start_is_the_start_and_claims_nothing(text: str, start: str) -> None:
    assert three(bound(text)) == (day(start), None, False)


@pytest.mark.parametrize(
    ("text", "start"), [("我去年搬到杭州", "2025-01-01"), ("I moved to Oslo last week", "2026-04-27"), ("上个月查出高血压", "2026-04-01")]
)
def test_a_past_event_begins_with_the_first_instant_of_its_time(text: str, start: str) -> None:
    assert three(bound(text, past_event=True)) == (day(start), None, True)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2019到2021年住在武汉", "2019-01-01", "2022-01-01"),
        ("from 2019 to 2021 I lived in Wuhan", "2019-01-01", "2022-01-01"),
        ("I used to live in Bonn until 2020", "2020-01-01", "2021-01-01"),
        ("我去年住在武汉", "2025-01-01", "2026-01-01"),
        ("我2019年在南京工作", "2019-01-01", "2020-01-01"),
        ("I was a teacher in 2019", "2019-01-01", "2020-01-01"),
        ("I lived in Bonn before 2019", "2018-01-01", "2019-01-01"),
    ],
)
def test_a_period_that_was_over_when_said_has_both_borders_and_claims_nothing(text: str, start: str, end: str) -> None:
    assert three(bound(text)) == (day(start), day(end), False)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("我住在上海，到月底", "2026-06-01"),
        ("直到明年三月我都在北京", "2027-04-01"),
        ("I am in Oslo until next Friday", "2026-05-16"),
        ("before 2030 I stay here", "2030-01-01"),
    ],
)
def test_until_ends_after_the_last_instant_and_before_at_the_first(text: str, end: str) -> None:
    assert three(bound(text)) == (None, day(end), False)


@pytest.mark.parametrize("text", ["I am in Oslo for two weeks", "未来两周我在奥斯陆"])
def test_a_length_of_time_ends_so_long_after_it_was_said(text: str) -> None:
    assert three(bound(text)) == (None, day("2026-05-20T10:00"), False)


def test_a_period_still_running_begins_in_the_past_and_ends_in_the_future() -> None:
    assert three(bound("from 2024 to 2027 I study in Lyon")) == (day("2024-01-01"), day("2028-01-01"), True)


def test_a_past_time_beside_a_present_statement_is_no_border() -> None:
    assert bound("我去年对花生过敏很严重") == Bound()
    assert bound("I was diagnosed with asthma in 2019") == Bound()


@pytest.mark.parametrize(
    "text",
    [
        "I get up at 11pm",
        "我晚上十一点睡觉",
        "I work from 1pm to 9pm",
        "I don't eat after 8pm",
        "别在晚上8点以后打电话",
        "no calls before 11pm",
    ],
)
def test_a_time_of_day_alone_dates_no_statement(text: str) -> None:
    assert bound(text) == Bound()


def test_a_time_of_the_clock_is_an_instant() -> None:
    assert bound("I am in a meeting until 5pm today").ends_at == day("2026-05-06T17:00")
    assert bound("tomorrow from 9am to 11am I am out").ends_at == day("2026-05-07T11:00")
    assert bound("after 8pm tomorrow I will be home").start == day("2026-05-07T20:00")


def test_an_event_with_a_start_and_an_end_has_both() -> None:
    assert three(bound("从明天到周五我在南京")) == (day("2026-05-07"), day("2026-05-09"), False)
    assert three(bound("since March I stay with my sister, until June")) == (day("2026-03-01"), day("2026-07-01"), True)


def test_an_end_at_or_before_its_start_is_no_end() -> None:
    late, early = times("从明年起"), times("到月底")
    assert bind("", late + early, WEDNESDAY, past_event=False).ends_at is None


def test_what_decided_is_told() -> None:
    assert [span.text for span in bound("我从去年三月起住在杭州，每周三游泳").used] == ["从去年三月起"]


# --- any text


MOMENTS = st.integers(-62_000_000_000, 253_300_000_000).map(lambda seconds: EPOCH + timedelta(seconds=seconds))
SEEDS = st.sampled_from(
    [
        "去年",
        "从",
        "到",
        "2019",
        "年",
        "3",
        "月",
        "31",
        "日",
        "周五",
        "起",
        "since ",
        "last ",
        "May ",
        "until ",
        " to ",
        "at 8",
        "前",
        "半",
        "9999",
        "。",
        "-",
        "/",
        "two ",
        "weeks ",
        "ago ",
    ]
)


@given(st.one_of(st.text(max_size=80), st.lists(SEEDS, max_size=14).map("".join)), MOMENTS)
def test_no_text_at_any_time_breaks_the_grammar_and_offsets_lie_in_the_text(text: str, said: datetime) -> None:
    done = 0
    for span in find_times(text, said, NEW_YORK):
        assert done <= span.span[0] < span.span[1] <= len(text)
        assert text[slice(*span.span)] == span.text
        assert span.start < span.end
        assert span.start.tzinfo is UTC
        assert span.start.microsecond % 1000 == 0
        assert 1 <= span.start.year <= span.end.year <= 9998
        done = span.span[1]


@given(st.lists(SEEDS, max_size=10).map("".join), st.booleans())
def test_a_bound_never_ends_before_it_begins(text: str, past_event: bool) -> None:
    b = bind(text, times(text), WEDNESDAY, past_event=past_event)
    assert b.ends_at is None or b.ends_at > (b.start or WEDNESDAY)
    assert not b.claims or (b.start is not None and b.start < WEDNESDAY)


@pytest.mark.parametrize(
    "piece", ["我从去年三月起住在杭州，", "since 2019 until May 3 I may ", "一", "9", "2019-", "周", "last ", "three ", "三年"]
)
def test_the_work_grows_with_the_length_of_the_text_and_not_faster(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    real = timepack.TimePack.matches

    def counted(pack: timepack.TimePack, folded: str) -> object:
        tried.append(sum(1 for _ in pack.place.finditer(folded)))
        return real(pack, folded)

    monkeypatch.setattr(timepack.TimePack, "matches", counted)
    text = (piece * 60_000)[:60_000]
    found = times(text)
    assert len(tried) == 1
    assert tried[0] <= len(text)
    assert len(found) <= len(text)


def test_a_pack_with_an_unknown_word_table_is_refused_with_its_line(tmp_path: Path) -> None:
    lines = timepack.PATH.read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if "name: rel_year," in line)
    lines[at] = '  - {name: rel_year, pattern: "{nothing:year_shift}"}'
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(PackError, match=rf"mine\.yaml:{at + 1}: .*nothing"):
        timepack.load(path)


def test_a_pack_with_a_broken_expression_is_refused_with_its_line(tmp_path: Path) -> None:
    lines = timepack.PATH.read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("past:"))
    lines[at] = 'past: "(了"'
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(PackError, match=rf"mine\.yaml:{at + 1}: past"):
        timepack.load(path)


@pytest.mark.parametrize("text", ["words: [", "just text", "words: {}\natoms: []"])
def test_a_pack_that_is_no_pack_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PackError, match=r"mine\.yaml:1"):
        timepack.load(path)
