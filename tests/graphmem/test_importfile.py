"""What an import reads: bytes of spreadsheets and scripts, header by header and row by row. No store."""

from __future__ import annotations

import codecs
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphmem.commands.transfer import line
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.importing.columns import mapping
from graphmem.importing.files import look
from graphmem.importing.reading import Raw, Source, rows
from graphmem.importing.rejects import Rejects
from graphmem.importing.spool import Spool
from graphmem.importing.statements import Defaults, Entry, Reject, entry
from graphmem.memory import Kind, SourceKind

KNOWN = {"likes": Kind.PREFERENCE, "home_city": Kind.FACT}


def source(tmp_path: Path, data: bytes, *, form: str = "auto", encoding: str | None = None, mapped: tuple[str, ...] = ()) -> Source:
    path = tmp_path / "file"
    path.write_bytes(data)
    return Source(look(path, form, encoding), mapping(mapped))


def entries(found: Source, defaults: Defaults | None = None) -> list[Entry | Reject]:
    return [entry(raw, defaults or Defaults(), KNOWN) for raw in rows(found)]


def asked(found: Source, defaults: Defaults | None = None) -> list[Entry]:
    made = entries(found, defaults)
    assert all(isinstance(e, Entry) for e in made), made
    return [e for e in made if isinstance(e, Entry)]


# --- CSV


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    """csv-01."""
    data = b"\xef\xbb\xbfuser_id,kind,attribute,object,at\r\nu1,preference,likes,\xe8\x8c\xb6,2026-01-01T00:00:00Z\r\n"
    (only,) = asked(source(tmp_path, data))
    assert (only.user, only.ask.key, only.ask.value, only.ask.kind) == ("u1", "likes", "茶", Kind.PREFERENCE)
    assert only.ask.said_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert "\ufeff" not in json.dumps([dict(only.raw.fields), dict(only.raw.original)], ensure_ascii=False)


def test_line_breaks_and_quotes_inside_a_cell_are_kept_exactly(tmp_path: Path) -> None:
    """csv-02. Cells are not trimmed."""
    data = (
        b'user_id,kind,attribute,object,at\nu1,fact,note,"line one\n""quoted"" line two\n\nline four\n",2026-01-01T00:00:00Z\n'
        b"u2,preference,likes,tea,2026-01-02T00:00:00Z\n"
    )
    first, second = asked(source(tmp_path, data))
    assert first.ask.value == 'line one\n"quoted" line two\n\nline four\n' and first.raw.line == 2
    assert (second.user, second.ask.value, second.raw.line) == ("u2", "tea", 7)


@pytest.mark.parametrize(
    ("names", "told"),
    [("object,object", "object"), ("Object,object ", "object"), ("value,object", "object"), ("Home-City,home city", "home city")],
)
def test_a_column_that_stands_twice_is_refused_by_name(tmp_path: Path, names: str, told: str) -> None:
    """csv-03."""
    data = f"user_id,kind,attribute,{names},at\nu1,preference,likes,tea,coffee,2026-01-01T00:00:00Z\n".encode()
    with pytest.raises(InvalidInputError) as refused:
        list(rows(source(tmp_path, data)))
    assert refused.value.code == "repeated_column" and told in refused.value.detail and refused.value.field == told


@pytest.mark.parametrize(
    ("encoding", "mark", "named"),
    [
        ("utf-8", b"", None),
        ("utf-8", codecs.BOM_UTF8, None),
        ("utf-16-le", codecs.BOM_UTF16_LE, None),
        ("utf-16-be", codecs.BOM_UTF16_BE, None),
        ("gb18030", b"\x84\x31\x95\x33", None),
        ("gb18030", b"", "gb18030"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_chinese_text_is_read_in_every_encoding(tmp_path: Path, encoding: str, mark: bytes, named: str | None, form: str) -> None:
    text = '{"用户": "张三", "键": "likes", "值": "茶，和咖啡"}\n' if form == "jsonl" else '用户,键,值\r\n张三,likes,"茶，和咖啡"\r\n'
    (only,) = asked(source(tmp_path, mark + text.encode(encoding), encoding=named))
    assert (only.user, only.ask.key, only.ask.value) == ("张三", "likes", "茶，和咖啡")


def test_bytes_that_are_no_text_are_refused_with_their_place(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError) as refused:
        source(tmp_path, b"user_id,key,value\nu1,likes," + "茶".encode("gb18030") + b"\n")
    assert refused.value.code == "bad_encoding" and "byte 27" in refused.value.detail and "gb18030" in (refused.value.hint or "")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("prefix", ["", "sep={d}\r\n"])
def test_exports_of_spreadsheets_are_read_whatever_parts_their_cells(tmp_path: Path, delimiter: str, prefix: str) -> None:
    text = prefix.format(d=delimiter) + delimiter.join(["User ID", "Key", "Value", "Valid From"]) + "\r\n"
    text += delimiter.join(["u1", "home_city", '"Oslo, north; east"', "2026/1/5"]) + "\r\n\r\n"
    (only,) = asked(source(tmp_path, text.encode()), Defaults(zone="Asia/Shanghai"))
    assert only.ask.value == "Oslo, north; east"
    assert only.ask.valid_from == datetime(2026, 1, 4, 16, tzinfo=UTC)


def test_leading_zeros_stay(tmp_path: Path) -> None:
    """num-02."""
    (only,) = asked(source(tmp_path, b"user_id,key,kind,value\n007,member_number,fact,007001\n"))
    assert (only.user, only.ask.value) == ("007", "007001")


def test_a_map_names_columns_and_other_columns_are_kept_as_metadata(tmp_path: Path) -> None:
    data = b"who,what,said,weather\nu1,likes,tea,rain\n"
    (only,) = asked(source(tmp_path, data, mapped=("who=user_id", "What=key", "said=value")))
    assert (only.user, only.ask.key, only.ask.value, only.ask.metadata) == ("u1", "likes", "tea", {"weather": "rain"})


@pytest.mark.parametrize("pair", ["who", "who=nobody", "=key"])
def test_a_map_to_no_field_is_refused(pair: str) -> None:
    with pytest.raises(InvalidInputError):
        mapping((pair,))


def test_a_map_of_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="which is not in the header"):
        list(rows(source(tmp_path, b"user_id,key,value\nu1,likes,tea\n", mapped=("who=user_id",))))


# --- rows


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({"key": "likes", "value": "tea"}, "user_id"),
        ({"user_id": "u1", "value": "tea"}, "key"),
        ({"user_id": "u1", "key": "likes"}, "value"),
        ({"user_id": "u1", "key": "likes", "value": "tea", "at": "yesterday"}, "said_at"),
        ({"user_id": "u1", "key": "likes", "value": "tea", "kind": "opinion"}, "kind"),
        ({"user_id": "u1", "key": "likes", "value": "tea", "polarity": "maybe"}, "polarity"),
        ({"user_id": "u1", "key": "likes", "value": "tea", "confidence": "high"}, "confidence"),
        ({"user_id": "u1", "key": "likes", "value": "tea", "source": "rumour"}, "source"),
        ({"user_id": "u1", "key": "likes", "value": "tea", "zone": "Mars/North"}, "zone"),
        ({"user_id": "u1", "key": "likes", "value": "tea", "metadata": "x"}, "metadata"),
    ],
)
def test_a_wrong_row_is_rejected_with_line_column_and_itself(tmp_path: Path, row: dict[str, object], column: str) -> None:
    good = {"user_id": "u2", "key": "likes", "value": "coffee"}
    data = "\n".join(json.dumps(r) for r in (good, row, good)).encode()
    first, wrong, last = entries(source(tmp_path, data))
    assert isinstance(first, Entry) and isinstance(last, Entry) and isinstance(wrong, Reject)
    assert (wrong.line, wrong.column, dict(wrong.original)) == (2, column, row)


def test_broken_lines_are_rejected_and_the_rest_is_read(tmp_path: Path) -> None:
    good = '{"user_id": "u1", "key": "likes", "value": "tea"}'
    data = "\n".join((good, '{"user_id": "u1"', "[1]", '{"key": "a", "key": "b"}', "", good)).encode()
    found = entries(source(tmp_path, data, form="jsonl"))
    assert [isinstance(f, Entry) for f in found] == [True, False, False, False, True]
    assert [f.line for f in found if isinstance(f, Reject)] == [2, 3, 4]
    short = entries(source(tmp_path, b"user_id,key,value\nu1,likes\nu1,likes,tea\n"))
    assert isinstance(short[0], Reject) and "2 cells" in short[0].reason and isinstance(short[1], Entry)


def test_open_keys_get_an_arity_of_their_kind(tmp_path: Path) -> None:
    data = b"user_id,key,kind,value,arity\nu1,motto,,slow,\nu1,drinks,preference,tea,\nu1,pet,fact,dog,many\nu1,likes,,tea,many\n"
    assert [(e.ask.kind, e.ask.arity) for e in asked(source(tmp_path, data))] == [
        (Kind.FACT, "one"),
        (Kind.PREFERENCE, "pole"),
        (Kind.FACT, "many"),
        (Kind.PREFERENCE, None),
    ]


def test_numbers_are_moments_and_sources_may_be_objects(tmp_path: Path) -> None:
    row = {"user_id": 7, "key": "likes", "value": 5, "at": 1767225600000, "source": {"kind": "document", "ref": "form-3"}, "id": "r1"}
    (only,) = asked(source(tmp_path, json.dumps(row).encode()))
    assert (only.user, only.ask.value, only.ask.said_at) == ("7", "5", datetime(2026, 1, 1, tzinfo=UTC))
    assert only.ask.source is not None and (only.ask.source.kind, only.ask.source.ref) == (SourceKind.DOCUMENT, "form-3")
    assert only.ask.metadata == {"row_id": "r1"}


# --- exports of other programs


def test_a_mem0_export_becomes_notes_with_their_times(tmp_path: Path) -> None:
    item = {"id": "m1", "memory": "Prefers window seats", "user_id": "u1", "created_at": "2026-01-01T00:00:00Z", "metadata": {"trip": "1"}}
    for document in ([item], {"results": [item]}):
        (only,) = asked(source(tmp_path, json.dumps(document, indent=1).encode()))
        assert (only.user, only.ask.key, only.ask.value, only.ask.arity) == ("u1", "note", "Prefers window seats", "many")
        assert only.ask.said_at == datetime(2026, 1, 1, tzinfo=UTC) and only.ask.metadata["trip"] == "1"


def test_an_mcp_memory_file_becomes_observations_and_relations(tmp_path: Path) -> None:
    lines = [
        {"type": "entity", "name": "default_user", "entityType": "person", "observations": ["Works at night", "Has a bicycle"]},
        {"type": "entity", "name": "Apollo", "entityType": "project", "observations": []},
        {"type": "relation", "from": "Apollo", "to": "default_user", "relationType": "led_by"},
    ]
    whole = {"entities": lines[:2], "relations": lines[2:]}
    for data in ("\n".join(json.dumps(row) for row in lines), json.dumps(whole, indent=1)):
        found = asked(source(tmp_path, data.encode()), Defaults(user="me"))
        assert [(e.user, e.ask.key, e.ask.subject, e.ask.value) for e in found] == [
            ("me", "observation", "self", "Works at night"),
            ("me", "observation", "self", "Has a bicycle"),
            ("me", "led_by", "project:Apollo", "default_user"),
        ]


# --- around


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        look(tmp_path / "none.csv")


def test_a_corrected_rejects_file_is_itself_an_import(tmp_path: Path) -> None:
    path = tmp_path / "rejects.csv"
    with Rejects(path, ["user_id", "key", "value", "at"]) as rejects:
        original = {"user_id": "u1", "key": "likes", "value": 'a "b"\nc', "at": "soon"}
        rejects.add([Reject(3, "said_at", "'soon' is no time", original)])
    assert rejects.count == 1 and rejects.place == str(path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("_line,_column,_reason,user_id,key,value,at\n3,at,'soon' is no time,u1,")
    (only,) = asked(source(tmp_path, text.replace("soon\n", "2026-01-01\n").encode()))
    assert only.ask.value == 'a "b"\nc' and only.ask.metadata == {}


def test_a_reject_names_the_column_as_the_file_does(tmp_path: Path) -> None:
    path = tmp_path / "rejects.csv"
    mapped = mapping(("When heard=said_at",))
    with Rejects(path, ["Who", "When heard"], mapped) as rejects:
        rejects.add(
            [Reject(2, "said_at", "no time", {"Who": "u1", "When heard": "soon"}), Reject(3, "key", "a row needs a key", {"Who": "u1"})]
        )
    assert [line.split(",")[:2] for line in path.read_text(encoding="utf-8").splitlines()[1:]] == [["2", "When heard"], ["3", "key"]]


def test_the_rows_of_a_user_come_together_and_in_order_however_large_the_file() -> None:
    with Spool(100 << 20) as spool:
        spool.fill((f"u{n % 7}", Raw(n, n + 1, {"value": "茶"}, {})) for n in range(100))
        parts = [list(spool.part(p)) for p in range(spool.parts)]
    assert spool.parts > 1 and sum(len(p) for p in parts) == 100
    for part in parts:
        assert [r.number for r in part] == sorted(r.number for r in part)
    homes = {n % 7: index for index, part in enumerate(parts) for n in (r.number for r in part)}
    assert all(homes[r.number % 7] == index for index, part in enumerate(parts) for r in part)


def test_a_row_comes_out_of_the_parts_as_it_went_in_and_a_user_id_that_is_no_text_is_rejected_not_the_end_of_the_file(
    tmp_path: Path,
) -> None:
    row = {"user_id": "\ud800", "key": "likes", "value": "茶", "at": 1.5, "metadata": {"n": [1, None, True, 1 << 70]}}
    read = list(rows(source(tmp_path, json.dumps(row).encode(), form="jsonl")))
    with Spool(1) as spool:
        spool.fill((str(r.fields["user_id"]), r) for r in read)
        back = list(spool.part(0))
    assert back == read
    refused = entry(back[0], Defaults(), KNOWN)
    assert isinstance(refused, Reject) and refused.column == "user_id"


def test_a_name_that_stands_twice_is_told_of_its_own_line_alone(tmp_path: Path) -> None:
    lines = ('{"user_id": "u1", "key": "likes", "value": "tea", "value": "tea"}', '{"user_id": "u1", "key": "likes", "value": "tea"}')
    first, second = rows(source(tmp_path, "\n".join(lines).encode(), form="jsonl"))
    assert (first.column, first.fault) == ("value", "the name 'value' stands twice") and second.fault is None


def test_progress_says_rate_and_time_to_go() -> None:
    assert line("writing", 500, 2000, 10.0) == "writing: 500 of 2000 rows, 50 a second, 30 s to go"
    assert line("reading", 500, 0, 10.0) == "reading: 500 rows, 50 a second"
