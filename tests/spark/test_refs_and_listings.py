"""Are branches read and written by Spark's rows, and what a table lists of itself shown as DataFrames?"""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakewright as lw
from tests.foreign import corpus
from tests.foreign.arrow_rows import listed
from tests.spark import ways

LISTINGS = ("files", "delete_files", "entries", "manifests", "partitions", "snapshots", "refs")
KINDS = ("gen-v2-to-v3-dv", "gen-spec-evo-mor", "v2-eq-and-pos", "gen-void-v1", "tr-identity-timestamptz")
"""Of vectors, of positions under several specs, of equality, of void fields, and of partitions by moments."""


def test_rows_of_spark_go_to_the_branch_that_they_are_appended_to(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("a.b", "id BIGINT, region STRING", partitioned_by=["region"])
    table.append(spark.createDataFrame([(1, "EU")], "id BIGINT, region STRING"))
    table.create_branch("audit")
    branch = table.at(ref="audit")
    before = branch.to_df()
    branch.append(spark.createDataFrame([(2, "US"), (3, None)], "id BIGINT, region STRING"))
    assert sorted(row.id for row in branch.to_df().collect()) == [1, 2, 3]
    assert [row.id for row in branch.to_df(where="region = 'US'").collect()] == [2]
    assert [row.id for row in table.to_df().collect()] == [row.id for row in before.collect()] == [1]
    table.fast_forward("main", to="audit")
    assert table.to_df().count() == 3


def test_a_dataframe_answers_questions_about_files(lake: lw.Lake, spark: SparkSession) -> None:
    table = lake.create_table("a.b", "id BIGINT, at TIMESTAMP, day DATE", partitioned_by=["day(at)", "day"])
    assert [table.inspect(what).count() for what in (*LISTINGS, "position_deletes")] == [0] * 8
    table.append(
        spark.sql("SELECT id, TIMESTAMP '2024-02-03 10:00:00' AS at, DATE '2024-02-03' AS day FROM range(0, 10, 1, 1)")
    )
    files = table.inspect("files")
    (row,) = files.where("partition.at_day = DATE '2024-02-03'").select("partition.day", "record_count").collect()
    assert (str(row.day), row.record_count) == ("2024-02-03", 10)
    assert files.selectExpr("sum(value_counts[1])").first()[0] == 10
    assert table.inspect("snapshots").selectExpr("max(summary['added-records'])").first()[0] == "10"
    assert table.inspect("partitions").where("last_updated_at > TIMESTAMP '2020-01-01 00:00:00'").count() == 1
    (summary,) = table.inspect("manifests").selectExpr("partition_summaries[0].lower_bound AS low").collect()
    assert summary.low == "2024-02-03"


@pytest.fixture(params=KINDS)
def foreign(request: pytest.FixtureRequest) -> corpus.ForeignTable:
    found = [table for table in corpus.iceberg_tables() if table.name == request.param]
    if not found:
        pytest.skip(f"there are no tables of other engines at {corpus.folder()}")
    return found[0]


def test_what_spark_shows_of_tables_of_other_engines_is_what_is_listed(
    spark: SparkSession, foreign: corpus.ForeignTable
) -> None:
    catalog = {"name": "foreign", "type": "folder", "warehouse": "unused"}
    table = lw.connect(spark=spark, catalog=catalog, moved=foreign.moved).open(foreign.metadata_location)
    for what in (*LISTINGS, "position_deletes"):
        expected: pa.Table = listed(foreign.metadata_location, foreign.moved, what)
        assert ways.lines(table.inspect(what)) == ways.lines(expected), what
