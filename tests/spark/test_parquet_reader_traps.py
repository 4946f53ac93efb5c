"""Does Spark's Parquet reader, which loses rows in silence in many ways, never lose one of ours?

Every table is read in the way that `to_df` chooses, by Spark's own reader where that is safe, and by ours; conditions are
given to `to_df`, and added to the DataFrame later.
"""

import math
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.table import Table as ForeignTable
from pyiceberg.types import LongType
from pyspark.sql import DataFrame, SparkSession

import lakewright as lw
from lakewright.errors import CorruptTable
from tests.spark import every_type, ways
from tests.spark.conftest import Settings, sqlite_catalog
from tests.spark.foreign_files import data_files, register

NATIVE_COLUMNS = [
    "flag",
    "small",
    "large",
    "single",
    "double",
    "price",
    "exact",
    "day",
    "moment",
    "wall",
    "text",
    "raw",
    "prices",
    "counts",
    "deep",
]
"""Those of `every_type` that Spark's own reader shows as they are."""
NAN = math.nan


def foreign(root: Path, name: str) -> ForeignTable:
    properties = sqlite_catalog(root)
    return load_catalog(properties.pop("name"), **properties).load_table(name)


def everywhere(table: lw.Table, spark: SparkSession, where: str) -> dict[str, DataFrame]:
    """The same rows, asked for in every manner."""
    asked = {"to_df": table.to_df(where=where), "to_df, filtered later": table.to_df().where(where)}
    if ways.is_native(table, spark):
        asked["arrow"] = ways.frame(table, spark, "arrow", where=where)
        asked["arrow, filtered later"] = ways.frame(table, spark, "arrow").where(where)
    return asked


def assert_rows(table: lw.Table, spark: SparkSession, expected: Mapping[str, pa.Table]) -> None:
    """The rows of each condition, in every manner."""
    frames = {(where, manner): frame for where in expected for manner, frame in everywhere(table, spark, where).items()}
    for (where, manner), found in together(frames).items():
        assert found == ways.lines(expected[where]), (where, manner)


def together(frames: Mapping[tuple[str, str], DataFrame]) -> dict[tuple[str, str], list[str]]:
    """The rows of many DataFrames of the same columns, from one job."""
    keys = list(frames)
    numbered = [frames[key].selectExpr(f"{number} AS number", "struct(*) AS row") for number, key in enumerate(keys)]
    rows = reduce(DataFrame.union, numbered).toArrow()
    numbers = rows.column("number")
    return {
        key: ways.lines(pa.Table.from_struct_array(rows.filter(pc.equal(numbers, number)).column("row")))
        for number, key in enumerate(keys)
    }


def numbers(**columns: list[Any]) -> pa.Table:
    return pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})


def test_columns_that_swapped_their_names_are_told_apart(
    metastore: lw.Lake, spark: SparkSession, tmp_path: Path
) -> None:
    table = metastore.create_table("n.t", "a BIGINT, b BIGINT")
    table.append(numbers(a=list(range(100)), b=list(range(1000, 1100))))
    for old, new in (("a", "x"), ("b", "a"), ("x", "b")):
        with foreign(tmp_path, "n.t").update_schema() as change:
            change.rename_column(old, new)
    expected = numbers(b=list(range(100)), a=list(range(1000, 1100)))
    assert not ways.is_native(table, spark)
    assert_rows(table, spark, {"a >= 1000 AND b < 100": expected})


def test_a_column_that_was_dropped_and_added_again_is_null_where_it_was(
    metastore: lw.Lake, spark: SparkSession, tmp_path: Path
) -> None:
    table = metastore.create_table("n.t", "a BIGINT, b BIGINT")
    table.append(numbers(a=[1, 2], b=[3, 4]))
    with foreign(tmp_path, "n.t").update_schema() as change:
        change.delete_column("a")
    with foreign(tmp_path, "n.t").update_schema() as change:
        change.add_column("a", LongType())
    table.append(numbers(a=[5], b=[6]))
    assert_rows(table, spark, {"a IS NULL": numbers(b=[3, 4], a=[None, None]), "a > 0": numbers(b=[6], a=[5])})


def test_a_member_that_took_the_name_of_another_is_not_read_in_its_place(
    metastore: lw.Lake, spark: SparkSession, tmp_path: Path
) -> None:
    table = metastore.create_table("n.t", "s STRUCT<a: BIGINT, b: BIGINT>")
    kind = pa.struct([("a", pa.int64()), ("b", pa.int64())])
    table.append(pa.table({"s": pa.array([{"a": 1, "b": 2}, None], kind)}))
    for path, new in ((("s", "a"), "x"), (("s", "b"), "a")):
        with foreign(tmp_path, "n.t").update_schema() as change:
            change.rename_column(path, new)
    expected = pa.table({"s": pa.array([{"x": 1, "a": 2}], pa.struct([("x", pa.int64()), ("a", pa.int64())]))})
    assert_rows(table, spark, {"s.a = 2": expected})


def test_a_column_that_was_renamed_keeps_its_values_and_one_that_was_added_is_null(
    metastore: lw.Lake, spark: SparkSession, tmp_path: Path
) -> None:
    table = metastore.create_table("n.t", "a BIGINT, b BIGINT")
    table.append(numbers(a=[1, 2], b=[3, 4]))
    with foreign(tmp_path, "n.t").update_schema() as change:
        change.rename_column("a", "renamed").add_column("late", LongType())
    assert_rows(table, spark, {"renamed = 2 AND late IS NULL": numbers(renamed=[2], b=[4], late=[None])})


def test_a_column_that_was_widened_is_read_from_old_and_new_files(
    metastore: lw.Lake, spark: SparkSession, tmp_path: Path
) -> None:
    table = metastore.create_table("n.t", "a INT")
    table.append(pa.table({"a": pa.array([1, 2], pa.int32())}))
    with foreign(tmp_path, "n.t").update_schema() as change:
        change.update_column("a", LongType())
    table.append(numbers(a=[2**40]))
    assert_rows(table, spark, {"a > 1": numbers(a=[2, 2**40])})


FLOATS = [NAN, 1.0, 3.0, -0.0, 0.0, None, -1.0]
DOUBLES: Mapping[str, Callable[[float | None], bool]] = {
    "x > 5": lambda x: x is not None and math.isnan(x),
    "x = double('NaN')": lambda x: x is not None and math.isnan(x),
    "x <> 1": lambda x: x is not None and x != 1,
    "NOT (x <= 3)": lambda x: x is not None and not x <= 3,
    "x = 0.0": lambda x: x == 0,
    "x = -0.0D": lambda x: x == 0,
    "x >= 0": lambda x: x is not None and not x < 0,
    "x IN (0, 7)": lambda x: x == 0,
    "x NOT IN (1, 3)": lambda x: x is not None and x not in (1, 3),
    "x <=> NULL": lambda x: x is None,
    "isnan(x)": lambda x: x is not None and math.isnan(x),
}
CONDITIONS = {"double": DOUBLES, "float": {where: DOUBLES[where] for where in ("x > 5", "x <> 1", "x = 0.0")}}


@pytest.mark.parametrize("type_name", CONDITIONS)
def test_nan_and_both_zeros_are_found_in_files_whose_footers_hide_them(
    lake: lw.Lake, spark: SparkSession, tmp_path: Path, type_name: str
) -> None:
    """One file for each value, and one of all: bounds of pyarrow leave out NaN, and order -0.0 below 0.0."""
    kind = pa.float32() if type_name == "float" else pa.float64()
    table = lake.create_table("n.t", f"x {type_name}")
    for index, values in enumerate([FLOATS, [1.0, NAN], [-0.0], [0.0, 1.0], [-1.0, 2.0]]):
        register(table, tmp_path / "foreign" / f"{index}.parquet", pa.table({"x": pa.array(values, kind)}))
    assert ways.is_native(table, spark)
    everything = [*FLOATS, 1.0, NAN, -0.0, 0.0, 1.0, -1.0, 2.0]
    assert_rows(
        table,
        spark,
        {
            condition: pa.table({"x": pa.array([x for x in everything if is_true(x)], kind)})
            for condition, is_true in CONDITIONS[type_name].items()
        },
    )


def test_nan_in_files_that_pyiceberg_appended_is_found(metastore: lw.Lake, spark: SparkSession, tmp_path: Path) -> None:
    table = metastore.create_table("n.t", "x DOUBLE, s STRUCT<y: DOUBLE>")
    kind = pa.schema({"x": pa.float64(), "s": pa.struct([("y", pa.float64())])})
    rows = pa.Table.from_pylist([{"x": x, "s": {"y": x}} for x in (1.0, NAN, 3.0)], kind)
    foreign(tmp_path, "n.t").append(rows)
    found = rows.slice(1, 1)
    conditions = ("x > 5", "s.y > 5", "x = double('NaN')", "s.y NOT IN (1, 3)", "NOT (s.y <= 3)")
    assert_rows(table, spark, dict.fromkeys(conditions, found))


ODD_NAMES = [
    "plain.parquet",
    "_hidden.parquet",
    ".hidden.parquet",
    "a b.parquet",
    "a%20b.parquet",
    "a#b.parquet",
    "a+b&c=d.parquet",
    "a?b.parquet",
    "a*b.parquet",
    "a[b]c.parquet",
    "a{b,c}.parquet",
    "a:b.parquet",
    "a\\b.parquet",
    "größe 🙂.parquet",
    "no extension",
    "x.parquet.tmp._COPYING_",
]


@pytest.mark.parametrize("folder", ["plain", "_hidden", "k=v", "a b%20#ü", "[a]", "a:b", "b*"])
def test_files_of_odd_names_in_odd_folders_are_all_read(
    lake: lw.Lake, spark: SparkSession, tmp_path: Path, folder: str
) -> None:
    table = lake.create_table("n.t", "a BIGINT")
    for index, name in enumerate(ODD_NAMES):
        register(table, tmp_path / folder / name, numbers(a=[index]))
    assert ways.lines(table.to_df()) == ways.lines(numbers(a=list(range(len(ODD_NAMES)))))


def test_spark_reads_by_itself_what_it_can_and_never_guesses_at_names(
    lake: lw.Lake, spark: SparkSession, tmp_path: Path
) -> None:
    table = lake.create_table("n.t", "a BIGINT")
    names = ["k=v/a=7/plain.parquet", "a b/a%20b.parquet", "_x/a#b.parquet", "größe 🙂/a+b.parquet", ".x/no extension"]
    for index, name in enumerate(names):
        register(table, tmp_path / name, numbers(a=[index]))
    assert_rows(table, spark, {"a >= 0": numbers(a=list(range(len(names))))})
    assert ways.is_native(table, spark)


def test_a_warehouse_with_an_odd_path_is_written_and_read(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a b%20#ü [x]{y}*?:", "_hidden"):
        lake = lw.connect(spark=spark, catalog={"name": "f", "type": "folder", "warehouse": f"{tmp_path}/{name}/lake"})
        table = lake.create_table("n.t", "id BIGINT, text STRING", partitioned_by=["text"])
        rows = spark.createDataFrame(
            [(1, "a/b"), (2, "c%d"), (3, "é #?*"), (4, None), (5, "")], "id BIGINT, text STRING"
        )
        table.append(rows)
        assert ways.lines(table.to_df()) == ways.lines(rows), name


FORGIVING = {"spark.sql.files.ignoreMissingFiles": "true", "spark.sql.files.ignoreCorruptFiles": "true"}
FLIPPED: Mapping[str, Mapping[str, str]] = {
    "matching by field id": {"spark.sql.parquet.fieldId.read.enabled": "true"},
    "not matching by field id": {"spark.sql.parquet.fieldId.read.enabled": "false"},
    "case": {"spark.sql.caseSensitive": "true"},
    "row by row": {
        "spark.sql.parquet.enableVectorizedReader": "false",
        "spark.sql.parquet.recordLevelFilter.enabled": "true",
        "spark.sql.codegen.wholeStage": "false",
    },
    "no nested vectors": {"spark.sql.parquet.enableNestedColumnVectorizedReader": "false"},
    "no push-down": {"spark.sql.parquet.filterPushdown": "false"},
    "legacy dates": {
        "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
        "spark.sql.parquet.int96RebaseModeInRead": "LEGACY",
    },
    "forbidden dates": {
        "spark.sql.parquet.datetimeRebaseModeInRead": "EXCEPTION",
        "spark.sql.parquet.int96RebaseModeInRead": "EXCEPTION",
    },
    "other types": {
        "spark.sql.parquet.binaryAsString": "true",
        "spark.sql.parquet.int96AsTimestamp": "false",
        "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
        "spark.sql.legacy.parquet.nanosAsLong": "true",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        "spark.sql.execution.arrow.useLargeVarTypes": "true",
    },
    "merged schemas": {"spark.sql.parquet.mergeSchema": "true", "spark.sql.parquet.respectSummaryFiles": "true"},
    "small splits": {
        "spark.sql.files.maxPartitionBytes": "1000",
        "spark.sql.files.openCostInBytes": "1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1",
    },
    "listing in parallel": {"spark.sql.sources.parallelPartitionDiscovery.threshold": "0"},
    "missing and corrupt files": FORGIVING,
    "not ANSI": {"spark.sql.ansi.enabled": "false"},
    "time zone": {"spark.sql.session.timeZone": "America/New_York"},
}
CLAIM = "(small < 0 OR small IS NULL) AND moment IS NOT DISTINCT FROM moment"


@pytest.mark.parametrize("flipped", FLIPPED.values(), ids=FLIPPED)
def test_settings_flipped_while_a_dataframe_waits_change_no_row(
    lake: lw.Lake, spark: SparkSession, settings: Settings, flipped: dict[str, str]
) -> None:
    table = lake.create_table("n.t", every_type.DDL)
    table.append(every_type.ROWS)
    native = every_type.ROWS.select(NATIVE_COLUMNS)
    kept = pa.concat_tables([native.slice(0, 1), native.slice(2, 1)])
    built = {
        "native": ways.frame(table, spark, "native", columns=NATIVE_COLUMNS, where=CLAIM),
        "native, filtered later": ways.frame(table, spark, "native", columns=NATIVE_COLUMNS).where(CLAIM),
        "arrow": ways.frame(table, spark, "arrow", columns=NATIVE_COLUMNS, where=CLAIM),
    }
    everything = table.to_df()
    with settings(flipped):
        built["built later"] = ways.frame(table, spark, "native", columns=NATIVE_COLUMNS, where=CLAIM)
        found = {manner: ways.lines(frame) for manner, frame in built.items()}
        assert found == dict.fromkeys(built, ways.lines(kept))
        assert ways.lines(everything) == ways.lines(every_type.ROWS)


def test_a_condition_means_what_it_meant_when_it_was_asked(
    lake: lw.Lake, spark: SparkSession, settings: Settings
) -> None:
    """The files are chosen then, so the rows have to be, too."""
    table = lake.create_table("n.t", "moment TIMESTAMP", partitioned_by=["hour(moment)"])
    hours = pa.table({"moment": pa.array([h * 3_600_000_000 for h in range(48)], pa.timestamp("us", "UTC"))})
    table.append(hours)
    where = "moment >= '1970-01-01 20:00:00' AND moment < TIMESTAMP '1970-01-01 22:00:00'"
    built = [table.to_df(where=where), ways.frame(table, spark, "arrow", where=where), table.to_df().where(where)]
    with settings({"spark.sql.session.timeZone": "Asia/Tokyo"}):
        asked_in_tokyo = table.to_df(where=where)
        assert [ways.lines(frame) for frame in built] == [ways.lines(hours.slice(20, 2))] * 3
        assert ways.lines(asked_in_tokyo) == ways.lines(hours.slice(11, 2))


@pytest.mark.parametrize("way", ways.WAYS)
@pytest.mark.parametrize("harm", ["missing", "emptied", "cut", "garbled", "garbled at its end"])
def test_a_file_that_is_harmed_while_a_dataframe_waits_is_an_error_that_names_it(
    lake: lw.Lake, spark: SparkSession, settings: Settings, way: ways.Way, harm: str
) -> None:
    table = lake.create_table("n.t", "a BIGINT, b STRING")
    for start in (0, 1000):
        keys = list(range(start, start + 1000))
        table.append(pa.table({"a": keys, "b": [f"text of {key}" for key in keys]}))
    harmed = data_files(table)[0]
    with settings(FORGIVING):
        waiting = ways.frame(table, spark, way)
    content = harmed.read_bytes()
    match harm:
        case "missing":
            harmed.unlink()
        case "emptied":
            harmed.write_bytes(b"")
        case "cut":
            harmed.write_bytes(content[: len(content) // 2])
        case "garbled":
            harmed.write_bytes(content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :])
        case "garbled at its end":
            harmed.write_bytes(content[:-60] + bytes(52) + content[-8:])
    with settings(FORGIVING), pytest.raises(Exception, match=harmed.name):
        waiting.toArrow()


def test_a_file_that_is_missing_when_a_dataframe_is_built_is_an_error_that_names_it(
    lake: lw.Lake, spark: SparkSession, settings: Settings
) -> None:
    table = lake.create_table("n.t", "a BIGINT")
    table.append(numbers(a=[1]))
    table.append(numbers(a=[2]))
    gone = data_files(table)[1]
    gone.unlink()
    for way in ways.WAYS:
        with settings(FORGIVING), pytest.raises(Exception, match=gone.name):
            ways.frame(table, spark, way).toArrow()


def test_a_file_with_fewer_rows_than_were_recorded_is_refused(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("n.t", "id UUID")
    table.append(pa.table({"id": ["00000000-0000-0000-0000-000000000001"] * 3}))
    other = lake.create_table("n.other", "id UUID")
    other.append(pa.table({"id": ["00000000-0000-0000-0000-000000000001"] * 2}))
    data_files(table)[0].write_bytes(data_files(other)[0].read_bytes())
    with pytest.raises(Exception, match=r"holds 2 rows, the table's records say 3") as refused:
        table.to_df().toArrow()
    assert CorruptTable.__name__ in str(refused.value)


@pytest.mark.parametrize("way", ways.WAYS)
def test_odd_column_names_are_read_and_filtered(lake: lw.Lake, spark: SparkSession, way: ways.Way) -> None:
    names = ["a b", "a.b", "a`b", "a,b;{}()=\t", "größe", "%20", "_x", "SELECT", "'quoted'"]
    table = lake.create_table("n.t", spark.createDataFrame([], ", ".join(f"{quoted(name)} BIGINT" for name in names)))
    table.append(numbers(**{name: [1, index + 2] for index, name in enumerate(names)}))
    for index, name in enumerate(names):
        found = ways.frame(table, spark, way, columns=[name], where=f"{quoted(name)} > 1")
        assert ways.lines(found) == ways.lines(numbers(**{name: [index + 2]})), name
        later = ways.frame(table, spark, way).where(f"{quoted(name)} > 1").select(quoted(name))
        assert ways.lines(later) == ways.lines(numbers(**{name: [index + 2]})), name


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
