"""What may a user name and ask for in `to_df`, and which rows does it mean?"""

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that everybody gives this module

import lakewright as lw
from lakewright.errors import InvalidRequest
from tests.spark import ways
from tests.spark.conftest import Settings

ROWS = pa.table(
    {
        "id": [1, 2, 3, 4],
        "region": ["EU", "US", None, "EU"],
        "price": [1.5, 2.5, None, 4.0],
        "tags": [["a"], [], None, ["a", "b"]],
    }
)


@pytest.fixture
def table(lake: lw.Lake, spark: SparkSession) -> lw.Table:
    return lake.create_table_as("n.t", ROWS, partitioned_by=["region"])


def ids(frame: DataFrame) -> list[int]:
    return sorted(frame.toArrow().column("id").to_pylist())


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("region = 'EU' AND price > 2", [4]),
        ("NOT (region = 'EU')", [2]),
        ("region <=> NULL", [3]),
        ("price + id > 4", [2, 4]),
        ("exists(tags, tag -> tag = 'b')", [4]),
        ("cardinality(tags) = 0 OR region LIKE '_U' AND id = 1", [1, 2]),
        ("id IN (SELECT max(id) FROM range(5))", [4]),
        ("lower(region) = 'eu'", [1, 4]),
        ("id IS NOT NULL AND true", [1, 2, 3, 4]),
        ("false", []),
        ("region = 'nowhere'", []),
        ("`id` = 2 /* a comment */ -- and one more", [2]),
        ("ID = 2 AND n_t.id = 2", None),
    ],
)
def test_a_condition_selects_exactly_the_rows_for_which_it_is_true(
    table: lw.Table, where: str, expected: list[int] | None
) -> None:
    if expected is None:
        with pytest.raises((InvalidRequest, AnalysisException), match="n_t"):
            table.to_df(where=where).toArrow()
    else:
        assert ids(table.to_df(where=where)) == expected


def test_a_function_of_the_user_may_stand_in_a_condition(table: lw.Table, spark: SparkSession) -> None:
    spark.udf.register("is_even", lambda number: number % 2 == 0, "boolean")
    assert ids(table.to_df(where="is_even(id) AND region IS NOT NULL")) == [2, 4]


def test_another_view_may_stand_in_a_condition(table: lw.Table, spark: SparkSession) -> None:
    spark.createDataFrame([("US",)], "wanted STRING").createOrReplaceTempView("wanted_regions")
    assert ids(table.to_df(where="region IN (SELECT wanted FROM wanted_regions)")) == [2]


def test_a_query_inside_another_sees_what_that_one_names(table: lw.Table, spark: SparkSession) -> None:
    spark.createDataFrame([(100,)], "v INT").createOrReplaceTempView("found")
    inner = "WITH found AS (SELECT 7 AS v) SELECT 1 FROM range(9) u WHERE u.id IN (SELECT v FROM found)"
    assert ids(table.to_df(where=f"EXISTS ({inner})")) == [1, 2, 3, 4]


@pytest.mark.parametrize("region", ["${spark.app.name}", "it''s", "a\\\\b"])
def test_texts_from_a_query_mean_themselves(table: lw.Table, spark: SparkSession, region: str) -> None:
    query = f"SELECT concat('{region[0]}', '{region[1:]}') UNION ALL SELECT 'EU'"
    assert ids(table.to_df(where=f"region IN ({query}) AND NOT region IN ({query} LIMIT 0)")) == [1, 4]
    assert ids(table.to_df(where=f"concat('{region[0]}', '{region[1:]}') IN ({query})")) == [1, 2, 3, 4]


def test_a_query_may_give_days_that_python_does_not_have(table: lw.Table) -> None:
    far = "SELECT DATE'9999-12-31' + CAST(id AS INT) - 1 FROM range(3)"
    assert ids(table.to_df(where=f"DATE'9999-12-31' + CAST(id AS INT) IN ({far})")) == [1]


def test_a_condition_may_need_columns_that_are_not_shown(table: lw.Table) -> None:
    assert ways.lines(table.to_df(columns=["price"], where="id = 2")) == ['{"price":2.5}']


def test_columns_come_in_the_order_in_which_they_are_asked_for(table: lw.Table) -> None:
    assert table.to_df(columns=["price", "id"]).columns == ["price", "id"]
    assert table.to_df(columns=[]).count() == 4


@pytest.mark.parametrize(
    ("columns", "where", "words"),
    [
        (["regoin"], None, "there is no column regoin; did you mean region?"),
        (["id", "id"], None, "column id is asked for twice"),
        ("id", None, "columns is a list of names"),
        (None, "pirce > 3", "there is no column pirce; did you mean price?"),
        (None, "upper(regoin) = 'EU'", "there is no column regoin; did you mean region?"),
        (None, "region = 'EU' OR nothing_like_it", "there is no column nothing_like_it; there are id, price, region"),
    ],
)
def test_names_that_do_not_exist_are_refused_with_the_nearest(
    table: lw.Table, columns: list[str] | None, where: str | None, words: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        table.to_df(columns=columns, where=where)
    assert words in str(refused.value)


@pytest.mark.parametrize("where", ["id >", "id = = 2", "", "id; DROP TABLE x", "id"])
def test_what_is_no_condition_is_refused_when_it_is_asked(table: lw.Table, where: str) -> None:
    with pytest.raises((InvalidRequest, AnalysisException)):
        table.to_df(where=where)


def test_names_that_differ_in_case_only_are_ambiguous_unless_the_session_tells_them_apart(
    lake: lw.Lake, spark: SparkSession, settings: Settings
) -> None:
    rows = pa.table({"a": [1, 2], "A": [3, 4]})
    with settings({"spark.sql.caseSensitive": "true"}):
        table = lake.create_table("n.t", rows.schema.empty_table())
        table.append(rows)
        for way in ways.WAYS[1:]:
            assert ways.lines(ways.frame(table, spark, way, columns=["A"], where="a = 2")) == ['{"A":4}']
        assert ways.lines(table.to_df(where="A = 3")) == ['{"A":3,"a":1}']
        assert not ways.is_native(table, spark)
    for asked in ({"columns": ["a"]}, {"where": "a = 1"}):
        with pytest.raises(InvalidRequest, match="column a is ambiguous: it may mean A, a"):
            table.to_df(**asked)
    with pytest.raises(InvalidRequest, match="ambiguous"):
        table.append(rows)


@pytest.mark.parametrize("sensitive", ["true", "false"])
def test_partition_and_sort_columns_resolve_as_the_session_says(
    lake: lw.Lake, settings: Settings, sensitive: str
) -> None:
    with settings({"spark.sql.caseSensitive": sensitive}):
        if sensitive == "true":
            with pytest.raises(InvalidRequest, match="there is no column ID; did you mean id"):
                lake.create_table("n.t", "id BIGINT", partitioned_by=["bucket(4, ID)"])
            with pytest.raises(InvalidRequest, match="there is no column ID; did you mean id"):
                lake.create_table("n.t", "id BIGINT", sorted_by=["ID"])
        else:
            lake.create_table("n.t", "id BIGINT", partitioned_by=["bucket(4, ID)"], sorted_by=["ID DESC"])


def test_a_dataframe_stays_at_its_version_when_others_append_or_drop(lake: lw.Lake, table: lw.Table) -> None:
    waiting, filtered = table.to_df(), table.to_df(where="id > 2")
    table.append(ROWS)
    lake.drop_table("n.t")
    assert ids(waiting) == [1, 2, 3, 4]
    assert ids(filtered) == [3, 4]


def test_every_version_and_time_of_the_history_can_be_read(table: lw.Table) -> None:
    versions = [table.history()[0], *(table.append(ROWS.slice(0, 1)) and table.history()[-1] for _ in range(2))]
    for count, entry in zip((4, 5, 6), versions, strict=True):
        moment = datetime.fromtimestamp(entry.timestamp_ms / 1000, UTC)
        for then in (
            table.at(version=entry.version),
            table.at(timestamp=entry.timestamp_ms),
            table.at(timestamp=moment),
            table.at(timestamp=moment.isoformat()),
        ):
            assert then.version == entry.version
        assert table.at(version=entry.version).to_df().count() == count
        assert (
            repr(table.at(version=entry.version)).splitlines()[1].startswith(f"version {entry.version}: {count} rows")
        )
    with pytest.raises(InvalidRequest, match=r"has no version from 1970-01-01T00:00:01\.000\+00:00 or before"):
        table.at(timestamp=1000)
    with pytest.raises(InvalidRequest, match="never changes"):
        table.at(version=versions[0].version).append(ROWS)


def test_a_table_and_a_report_say_what_they_are_in_a_few_lines(lake: lw.Lake, table: lw.Table) -> None:
    name, totals, location = repr(table).splitlines()
    assert name == "n.t (Iceberg v2)"
    assert totals.startswith(f"version {table.history()[-1].version}: 4 rows, 3 files, ")
    assert location.endswith("/n/t")
    assert repr(lake.create_table("n.empty", "id INT")).splitlines()[1].startswith("empty: ")


@pytest.mark.parametrize("format_version", [1, 2, 3])
def test_an_old_version_shows_its_own_columns(lake: lw.Lake, format_version: int) -> None:
    table = lake.create_table_as("n.t", ROWS, format_version=format_version)
    assert ways.lines(table.at(version=table.history()[0].version).to_df()) == ways.lines(ROWS)


def test_nanoseconds_are_refused_in_a_dataframe_by_the_name_of_their_column(lake: lw.Lake) -> None:
    rows = pa.table({"id": [1], "at": pa.array([1], pa.timestamp("ns"))})
    table = lake.create_table_as("n.t", rows, format_version=3)
    with pytest.raises(lw.Unsupported, match="column at has type timestamp_ns"):
        table.to_df()
    assert ways.lines(table.to_df(columns=["id"])) == ['{"id":1}']


def test_a_column_of_the_dataframe_can_be_used_in_joins_and_aggregates(table: lw.Table) -> None:
    frame = table.to_df()
    joined = frame.join(frame.select(F.col("id").alias("other")), F.col("id") == F.col("other"))
    assert joined.groupBy("region").agg(F.sum("price").alias("total")).orderBy("total").toArrow().to_pylist() == [
        {"region": None, "total": None},
        {"region": "US", "total": 2.5},
        {"region": "EU", "total": 5.5},
    ]
