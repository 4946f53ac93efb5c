"""Is every value stored as Spark's own INSERT stores it, or refused?"""

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import lakewright as lw
from lakewright.errors import InvalidRequest
from tests.spark import ways
from tests.spark.conftest import Settings
from tests.spark.foreign_files import data_files

SOURCES: Mapping[str, pa.Array] = {
    "BOOLEAN": pa.array([True, False, None]),
    "TINYINT": pa.array([-128, 0, 127, None], pa.int8()),
    "SMALLINT": pa.array([-32768, 32767, None], pa.int16()),
    "INT": pa.array([-(2**31), 16777217, 2**31 - 1, None], pa.int32()),
    "BIGINT": pa.array([-(2**63), 2**53 + 1, 2**63 - 1, None], pa.int64()),
    "FLOAT": pa.array([0.1, -0.0, math.nan, math.inf, 1e-45, 3.4028235e38, 1e7, None], pa.float32()),
    "DOUBLE": pa.array([0.1, -0.0, math.nan, -math.inf, 5e-324, 1.7976931348623157e308, 1e-3, None], pa.float64()),
    "DECIMAL(9, 2)": pa.array([Decimal("-9999999.99"), Decimal("0.10"), None], pa.decimal128(9, 2)),
    "DECIMAL(9, 0)": pa.array([Decimal("-999999999"), Decimal("7"), None], pa.decimal128(9, 0)),
    "DECIMAL(18, 0)": pa.array([Decimal("-999999999999999999"), Decimal("7"), None], pa.decimal128(18, 0)),
    "DECIMAL(28, 9)": pa.array([Decimal("-9999999999999999999.999999999"), None], pa.decimal128(28, 9)),
    "DATE": pa.array([date(1, 1, 2), date(1582, 10, 4), date(2024, 3, 31), date(9999, 12, 30), None]),
    "TIMESTAMP": pa.array(
        [
            datetime(1, 1, 2, tzinfo=UTC),
            datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
            datetime(2024, 3, 31, 1, 0, tzinfo=UTC),
            datetime(9999, 12, 30, 12, 0, 0, 100, tzinfo=UTC),
            None,
        ],
        pa.timestamp("us", "UTC"),
    ),
    "TIMESTAMP_NTZ": pa.array(
        [datetime(1, 1, 2), datetime(2024, 3, 31, 2, 30), datetime(2024, 10, 27, 2, 30), datetime(9999, 12, 30), None],
        pa.timestamp("us"),
    ),
    "STRING": pa.array(["", "  ä ", "1", "2024-01-01", "true", None]),
    "BINARY": pa.array([b"", b"\x00\xff", b"text", None]),
    "ARRAY<INT>": pa.array([[], [1, None, -5], None], pa.list_(pa.int32())),
    "MAP<STRING, INT>": pa.array([[], [("a", 1), ("b", None)], None], pa.map_(pa.string(), pa.int32())),
    "STRUCT<x: INT, y: FLOAT>": pa.array(
        [{"x": 1, "y": 0.1}, {"x": None, "y": None}, None], pa.struct([("x", pa.int32()), ("y", pa.float32())])
    ),
}
"""For each type of incoming rows the values at its edges."""
INTEGERS = ["DECIMAL(10, 0)", "DECIMAL(20, 0)", "DECIMAL(38, 18)", "FLOAT", "DOUBLE", "STRING"]
ACCEPTED: Mapping[str, list[str]] = {
    "BOOLEAN": ["BOOLEAN", "STRING"],
    "TINYINT": ["INT", "BIGINT", *INTEGERS],
    "SMALLINT": ["INT", "BIGINT", *INTEGERS],
    "INT": ["INT", "BIGINT", *INTEGERS],
    "BIGINT": ["BIGINT", "DECIMAL(20, 0)", "DECIMAL(38, 18)", "FLOAT", "DOUBLE", "STRING"],
    "FLOAT": ["FLOAT", "DOUBLE", "STRING"],
    "DOUBLE": ["DOUBLE", "STRING"],
    "DECIMAL(9, 2)": ["DECIMAL(9, 2)", "DECIMAL(38, 18)", "STRING"],
    "DECIMAL(9, 0)": ["INT", "BIGINT", "DECIMAL(10, 0)", "DECIMAL(20, 0)", "DECIMAL(38, 18)", "STRING"],
    "DECIMAL(18, 0)": ["BIGINT", "DECIMAL(20, 0)", "DECIMAL(38, 18)", "STRING"],
    "DECIMAL(28, 9)": ["DECIMAL(38, 18)", "STRING"],
    "DATE": ["DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "STRING"],
    "TIMESTAMP": ["TIMESTAMP", "TIMESTAMP_NTZ", "STRING"],
    "TIMESTAMP_NTZ": ["TIMESTAMP", "TIMESTAMP_NTZ", "STRING"],
    "STRING": ["STRING"],
    "BINARY": ["BINARY"],
    "ARRAY<INT>": ["ARRAY<BIGINT>", "ARRAY<DOUBLE>", "ARRAY<DECIMAL(10, 0)>"],
    "MAP<STRING, INT>": ["MAP<STRING, BIGINT>"],
    "STRUCT<x: INT, y: FLOAT>": ["STRUCT<x: BIGINT, y: DOUBLE>", "STRUCT<x: DOUBLE, y: FLOAT>"],
}
TARGETS = [
    *("BOOLEAN", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(9, 2)", "DECIMAL(10, 0)", "DECIMAL(20, 0)"),
    *("DECIMAL(38, 18)", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "STRING", "BINARY", "ARRAY<BIGINT>", "ARRAY<DOUBLE>"),
    *("ARRAY<DECIMAL(10, 0)>", "MAP<STRING, BIGINT>", "STRUCT<x: BIGINT, y: DOUBLE>", "STRUCT<x: DOUBLE, y: FLOAT>"),
]


def incoming(spark: SparkSession, source: str) -> DataFrame:
    return spark.createDataFrame(pa.table({"v": SOURCES[source]}), f"v {source}")


@pytest.mark.parametrize("source", SOURCES)
def test_every_other_type_is_refused_with_the_column_and_both_types(lake: lw.Lake, source: str) -> None:
    """Spark would store some of these, and lose what does not fit."""
    rows = pa.table({"v": SOURCES[source]})
    for index, target in enumerate(TARGETS):
        if target not in ACCEPTED[source]:
            table = lake.create_table(f"n.t{index}", f"v {target}")
            with pytest.raises(InvalidRequest, match=r"column v\S* is .+ and the incoming rows have .+; cast it first"):
                table.append(rows)
            assert table.history() == ()


def test_what_is_accepted_is_stored_as_spark_itself_stores_it(
    lake: lw.Lake, spark: SparkSession, settings: Settings
) -> None:
    """All targets of a source side by side; rows of Arrow are stored as those of DataFrames are."""
    with settings({"spark.sql.session.timeZone": "Europe/Berlin"}):
        for number, (source, targets) in enumerate(ACCEPTED.items()):
            columns = ", ".join(f"c{index} {target}" for index, target in enumerate(targets))
            wide = incoming(spark, source).selectExpr(*(f"v AS c{index}" for index in range(len(targets))))
            expected = stored_by_spark(spark, wide, columns)
            ours = lake.create_table(f"n.t{number}", columns)
            ours.append(wide)
            assert ways.lines(ours.to_df()) == expected, source
            from_arrow = lake.create_table(f"n.a{number}", columns)
            from_arrow.append(pa.table({f"c{index}": SOURCES[source] for index in range(len(targets))}))
            assert ways.lines(from_arrow.to_df()) == expected, f"{source} from Arrow"


def test_a_cast_of_one_arrow_column_leaves_all_others_as_they_are(lake: lw.Lake, settings: Settings) -> None:
    """Spark alone would take a time without a zone for one of the session's, and cut nanoseconds off."""
    table = lake.create_table("n.t", "wall TIMESTAMP_NTZ, text STRING, id UUID, late TIMESTAMP_NTZ", format_version=3)
    wall = pa.array([datetime(2024, 10, 27, 2, 30), datetime(2024, 3, 31, 2, 30)], pa.timestamp("us"))
    uid = "00000000-0000-0000-0000-000000000001"
    rows = pa.table({"text": [1.0, None], "late": wall.cast(pa.timestamp("ns")), "wall": wall, "id": [uid, None]})
    with settings({"spark.sql.session.timeZone": "Europe/Berlin"}):
        table.append(rows)
        table.append(rows.to_pandas())
    expected = pa.table({"wall": wall, "text": ["1.0", None], "id": [uid, None], "late": wall})
    assert ways.lines(table.to_df()) == sorted(ways.lines(expected) * 2)
    too_fine = rows.set_column(1, "late", pa.array([1, 2], pa.timestamp("ns")))
    with pytest.raises(InvalidRequest, match="a value of column late does not fit its type timestamp"):
        table.append(too_fine)


def stored_by_spark(spark: SparkSession, rows: DataFrame, columns: str) -> list[str]:
    spark.sql(f"CREATE TABLE stored_by_spark ({columns}) USING parquet")
    try:
        rows.write.insertInto("stored_by_spark")
        return ways.lines(spark.table("stored_by_spark"))
    finally:
        spark.sql("DROP TABLE stored_by_spark")


def test_an_overflow_in_the_rows_is_sparks_error_and_leaves_no_file(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("n.t", "v INT")
    table.append(pa.table({"v": pa.array([1], pa.int32())}))
    before = data_files(table)
    with pytest.raises(Exception, match="OVERFLOW"):
        table.append(spark.range(2_147_483_640, 2_147_483_650).selectExpr("CAST(id AS INT) AS v"))
    assert data_files(table) == before


@pytest.mark.parametrize(
    ("target", "value", "words"),
    [
        ("UUID", "not-a-uuid", "does not fit its type uuid: 'not-a-uuid'"),
        ("FIXED(2)", b"three", "does not fit its type fixed"),
        ("UUID", "00000000-0000-0000-0000-00000000000G", "does not fit its type uuid"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(lake: lw.Lake, target: str, value: object, words: str) -> None:
    table = lake.create_table("n.t", f"v {target}")
    rows = pa.table({"v": [value]})
    with pytest.raises(InvalidRequest, match="column v") as refused:
        table.append(rows)
    assert words in str(refused.value)
    assert data_files(table) == []


def test_a_worker_refuses_a_value_with_the_same_words(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("n.t", "v UUID")
    with pytest.raises(InvalidRequest, match="column v does not fit its type uuid: 'not-a-uuid'"):
        table.append(spark.createDataFrame([("not-a-uuid",)], "v STRING"))
    assert data_files(table) == []


def test_members_of_structs_go_by_name_and_missing_ones_are_null(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("n.t", "s STRUCT<a: INT, b: ARRAY<STRUCT<c: BIGINT, d: STRING>>>")
    table.append(spark.sql("SELECT named_struct('b', array(named_struct('d', 'x', 'c', 1)), 'a', 7) AS s"))
    table.append(spark.sql("SELECT named_struct('b', array(named_struct('c', 2))) AS s"))
    shown = [row.s.asDict(recursive=True) for row in table.to_df().orderBy("s.a").collect()]
    assert shown == [{"a": None, "b": [{"c": 2, "d": None}]}, {"a": 7, "b": [{"c": 1, "d": "x"}]}]
    for expression, words in {
        "named_struct('a', 1, 'extra', 2)": "s.extra is not in the table",
        "named_struct('a', 1L)": r"column s.a is int and the incoming rows have long",
        "named_struct('b', array(named_struct('c', 1.5D)))": "column s.b.element.c is long and the incoming rows have double",
    }.items():
        with pytest.raises(InvalidRequest, match=words):
            table.append(spark.sql(f"SELECT {expression} AS s"))
