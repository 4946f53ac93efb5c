"""Do members of structs find their places by name, and what becomes of those that are missing?"""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakewright as lw

INT = pa.int32()


def table_of(place: Path, ddl: str, format_version: int = 2) -> lw.Table:
    lake = lw.connect(catalog={"name": "here", "type": "folder", "warehouse": str(place)})
    return lake.create_table("t", ddl, format_version=format_version)


def appended(place: Path, table: lw.Table, rows: list[object], kind: pa.DataType) -> list[object]:
    table.append(pa.table({"s": pa.array(rows, kind)}))
    (written,) = place.rglob("*.parquet")
    values: list[object] = pq.read_table(written)["s"].to_pylist()
    return values


@pytest.mark.parametrize(
    ("ddl", "given", "kind", "stored"),
    [
        ("s STRUCT<a: INT, b: INT>", {"B": 2, "A": 1}, pa.struct({"B": INT, "A": INT}), {"a": 1, "b": 2}),
        ("s STRUCT<a: INT, b: INT>", {"B": 2}, pa.struct({"B": INT}), {"a": None, "b": 2}),
        ("s ARRAY<STRUCT<Ab: INT>>", [{"aB": 1}], pa.list_(pa.struct({"aB": INT})), [{"Ab": 1}]),
    ],
)
def test_members_go_by_name_whatever_their_case_and_order(
    tmp_path: Path, ddl: str, given: object, kind: pa.DataType, stored: object
) -> None:
    assert appended(tmp_path, table_of(tmp_path, ddl), [given, None], kind) == [stored, None]


@pytest.mark.parametrize(
    ("ddl", "kind", "said"),
    [
        ("s STRUCT<a: INT>", pa.struct({"a": INT, "A": INT}), "member s.a is ambiguous: the incoming rows have a, A"),
        ("s STRUCT<a: INT, A: INT>", pa.struct({"a": INT}), "member s.a is ambiguous: the table has a, A"),
        ("s STRUCT<a: INT>, S STRUCT<a: INT>", pa.struct({"a": INT}), "column s is ambiguous: the table has s, S"),
    ],
)
def test_a_name_that_may_mean_two_is_refused(tmp_path: Path, ddl: str, kind: pa.DataType, said: str) -> None:
    with pytest.raises(lw.InvalidRequest, match=said):
        appended(tmp_path, table_of(tmp_path, ddl), [None], kind)


def test_a_missing_member_gets_its_write_default_where_there_is_a_struct(tmp_path: Path) -> None:
    table = table_of(tmp_path, "s STRUCT<a: INT, b: INT NOT NULL, c: STRING>", format_version=3)
    (metadata,) = tmp_path.rglob("v1.metadata.json")
    document = json.loads(metadata.read_text())
    for member, default in zip(document["schemas"][0]["fields"][0]["type"]["fields"][1:], (7, "none"), strict=True):
        member["write-default"] = default
    metadata.write_text(json.dumps(document))
    stored = appended(tmp_path, table, [{"a": 1}, None], pa.struct({"a": INT}))
    assert stored == [{"a": 1, "b": 7, "c": "none"}, None]
