"""Can a table be created, appended to and read on a session of any kind?

`test_every_kind_of_session` runs these over Spark Connect and on a cluster; here they run on the session of the run.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that everybody gives this module

import lakewright as lw
from lakewright.errors import InvalidRequest
from tests.spark import every_type, ways
from tests.spark.conftest import Settings

TRANSFORMS = [
    ["text", "bucket(4, large)", "year(day)", "hour(wall)", "truncate(10, small)"],
    [
        "truncate(3, text)",
        "month(moment)",
        "day(wall)",
        "truncate(100, price)",
        "bucket(3, id)",
        "bucket(3, raw)",
        "day",
    ],
]


def people(spark: SparkSession, count: int = 1_000) -> DataFrame:
    return spark.range(0, count, 1, 3).select(
        "id",
        F.when(F.col("id") % 5 != 0, F.concat(F.lit("region "), F.col("id") % 3)).alias("region"),
        (F.col("id") / 4).alias("score"),
    )


PEOPLE = "id BIGINT NOT NULL, region STRING, score DOUBLE"


def files_below(lake_root: Path) -> Sequence[str]:
    return sorted(str(path) for path in lake_root.rglob("*.parquet"))


def test_the_session_is_of_the_kind_that_was_asked_for(spark: SparkSession) -> None:
    kind, _, _ = os.environ.get("LAKEWRIGHT_TEST_SESSION", "local[2]").partition(":")
    if kind == "connect":
        assert type(spark).__module__.startswith("pyspark.sql.connect")
    else:
        assert spark.sparkContext.master == kind


@pytest.mark.parametrize("format_version", [1, 2, 3])
def test_every_type_comes_back_as_it_was_appended_from_arrow_and_from_a_dataframe(
    lake: lw.Lake, spark: SparkSession, format_version: int
) -> None:
    table = lake.create_table("a.b", every_type.DDL, format_version=format_version)
    table.append(every_type.ROWS)
    expected = ways.lines(every_type.ROWS)
    assert ways.lines(table.to_df()) == expected
    again = lake.create_table("a.again", every_type.DDL, format_version=format_version)
    again.append(table.to_df())
    assert ways.lines(again.to_df()) == expected


@pytest.mark.parametrize("partitioned_by", TRANSFORMS, ids=", ".join)
def test_partitions_of_every_transform_keep_every_row(
    lake: lw.Lake, spark: SparkSession, partitioned_by: list[str]
) -> None:
    table = lake.create_table("a.b", every_type.DDL, partitioned_by=partitioned_by)
    source = lake.create_table("a.source", every_type.DDL)
    source.append(every_type.ROWS)
    table.append(source.to_df())
    table.append(every_type.ROWS)
    assert ways.lines(table.to_df()) == sorted(ways.lines(every_type.ROWS) * 2, key=str.encode)


def test_the_schema_can_be_ddl_a_struct_type_or_a_dataframe(lake: lw.Lake, spark: SparkSession) -> None:
    rows = people(spark)
    made = [lake.create_table(f"a.t{index}", schema) for index, schema in enumerate([PEOPLE, rows.schema, rows])]
    assert [table.schema for table in made] == ["id: long required\nregion: string\nscore: double"] * 3


def test_a_dataframe_a_pandas_frame_and_an_arrow_table_are_appended_alike(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("a.b", PEOPLE, partitioned_by=["region"])
    rows = people(spark, 30)
    reports = [table.append(each) for each in (rows, rows.toArrow(), rows.toPandas())]
    assert [report.rows_inserted for report in reports] == [30, 30, 30]
    assert len({report.version for report in reports}) == 3
    assert ways.lines(table.to_df()) == sorted(ways.lines(rows) * 3, key=str.encode)


def test_create_table_as_makes_the_columns_and_the_rows(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table_as("a.b", people(spark), partitioned_by=["bucket(2, id)"], sorted_by=["score DESC"])
    assert ways.lines(table.to_df()) == ways.lines(people(spark))


def test_create_table_as_leaves_no_table_when_its_rows_do_not_fit(lake: lw.Lake, tmp_path: Path) -> None:
    required = pa.schema([pa.field("id", pa.int64(), nullable=False)])
    with pytest.raises(InvalidRequest, match="column id is required, and 1 incoming rows have no value"):
        lake.create_table_as("a.b", pa.table({"id": [1, None]}, schema=required))
    assert lake.tables() == ()
    assert files_below(tmp_path) == []


def test_a_condition_and_columns_select_exactly(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table_as("a.b", people(spark), partitioned_by=["region"])
    where = "region = 'region 1' AND score > 3.5 OR region IS NULL AND id < 20"
    assert ways.lines(table.to_df(columns=["score"], where=where)) == ways.lines(
        people(spark).where(where).select("score")
    )


@pytest.mark.parametrize("way", ways.WAYS)
def test_both_ways_of_reading_give_the_same_rows(lake: lw.Lake, spark: SparkSession, way: ways.Way) -> None:
    table = lake.create_table_as("a.b", people(spark), partitioned_by=["region"])
    found = ways.frame(table, spark, way, where="score >= 10").where("id % 7 = 0")
    assert ways.lines(found) == ways.lines(people(spark).where("score >= 10 AND id % 7 = 0"))


def test_an_old_version_stays_as_it_was(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("a.b", PEOPLE)
    first = table.append(people(spark, 3))
    lazily = table.to_df()
    table.append(people(spark, 5))
    assert (lazily.count(), table.to_df().count()) == (3, 8)
    assert table.at(version=first.version).to_df().count() == 3
    assert [entry.operation for entry in table.history()] == ["append", "append"]


@pytest.mark.parametrize("mode", ["none", "hash", "range"])
def test_rows_arrive_under_every_distribution_mode(lake: lw.Lake, spark: SparkSession, mode: str) -> None:
    properties = {"write.distribution-mode": mode}
    table = lake.create_table("a.b", PEOPLE, partitioned_by=["region"], sorted_by=["score DESC"], properties=properties)
    table.append(people(spark))
    assert ways.lines(table.to_df()) == ways.lines(people(spark))


def test_what_does_not_fit_is_refused_before_anything_runs(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("a.b", PEOPLE)
    rows = people(spark, 3)
    refused = {
        "incoming column extra is not in the table": rows.withColumn("extra", F.lit(1)),
        "column id is required": rows.drop("id"),
        "column score is double and the incoming rows have string": rows.withColumn("score", F.lit("1")),
    }
    for message, wrong in refused.items():
        with pytest.raises(InvalidRequest, match=message):
            table.append(wrong)
    assert table.history() == ()


def test_a_null_in_a_required_column_is_refused_and_leaves_no_file(
    lake: lw.Lake, spark: SparkSession, tmp_path: Path
) -> None:
    table = lake.create_table("a.b", PEOPLE)
    rows = people(spark).withColumn("id", F.when(F.col("id") != 500, F.col("id")))
    with pytest.raises(InvalidRequest, match="column id is required, and 1 incoming rows have no value"):
        table.append(rows)
    assert files_below(tmp_path) == []
    assert table.history() == ()


def test_a_failing_function_of_the_user_leaves_no_file(lake: lw.Lake, spark: SparkSession, tmp_path: Path) -> None:
    table = lake.create_table("a.b", PEOPLE, partitioned_by=["region"])
    table.append(people(spark, 3))
    before = files_below(tmp_path)

    @F.udf("double")
    def halved(value: float) -> float:
        if value == 200.0:
            raise ArithmeticError("cannot halve 200")
        return value / 2

    with pytest.raises(Exception, match="cannot halve 200"):
        table.append(people(spark).withColumn("score", halved("score")))
    assert files_below(tmp_path) == before
    assert len(table.history()) == 1


def test_names_resolve_as_the_session_says(lake: lw.Lake, spark: SparkSession, settings: Settings) -> None:
    table = lake.create_table_as("a.b", people(spark, 3))
    shouted = people(spark, 3).withColumnRenamed("score", "SCORE")
    table.append(shouted)
    assert table.to_df(columns=["SCORE"]).columns == ["score"]
    with settings({"spark.sql.caseSensitive": "true"}):
        with pytest.raises(InvalidRequest, match=r"SCORE.*did you mean score"):
            table.to_df(columns=["SCORE"])
        with pytest.raises(InvalidRequest, match=r"SCORE is not in the table; did you mean score"):
            table.append(shouted)


def test_a_time_in_a_condition_is_of_one_zone_for_files_and_rows(
    lake: lw.Lake, spark: SparkSession, settings: Settings
) -> None:
    """A classic session takes the zone in which the condition was asked, Spark Connect that in which it runs."""
    table = lake.create_table("a.b", "moment TIMESTAMP", partitioned_by=["hour(moment)"])
    hours = pa.table({"moment": pa.array([hour * 3_600_000_000 for hour in range(48)], pa.timestamp("us", "UTC"))})
    table.append(hours)
    waiting = table.to_df(where="moment >= '1970-01-01 20:00:00' AND moment < TIMESTAMP '1970-01-01 22:00:00'")
    with settings({"spark.sql.session.timeZone": "Asia/Tokyo"}):
        assert ways.lines(waiting) in [ways.lines(hours.slice(20, 2)), ways.lines(hours.slice(11, 2))]


def test_a_catalog_in_sqlite_serves_too(metastore: lw.Lake, spark: SparkSession) -> None:
    table = metastore.create_table_as("sales.people", people(spark))
    assert metastore.tables() == ("sales.people",)
    assert ways.lines(metastore.table("sales.people").to_df()) == ways.lines(people(spark))
    assert repr(table).splitlines()[1].startswith(f"version {table.history()[-1].version}: 1,000 rows, ")


def test_empty_tables_and_empty_appends_have_no_rows(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("a.b", PEOPLE)
    assert ways.lines(table.to_df(where="id > 1")) == []
    report = table.append(people(spark, 0))
    assert (report.version, report.notes) == (None, ("no rows",))
    assert table.append(pa.table({"id": pa.array([], pa.int64())}), summary={"batch": "1"}).version is not None
    assert table.to_df().schema.names == ["id", "region", "score"]
    assert table.to_df().count() == 0
