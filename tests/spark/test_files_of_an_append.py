"""Which files does an append of a DataFrame leave, in which order, and what does it report?"""

import signal
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that everybody gives this module

import lakewright as lw
from tests.spark import ways
from tests.spark.conftest import Settings
from tests.spark.foreign_files import data_files

SECONDS_FOR_LATE_FILES = 2


def test_files_are_about_as_large_as_the_table_asks(lake: lw.Lake, spark: SparkSession) -> None:
    target = 200_000
    properties = {"write.target-file-size-bytes": str(target), "write.parquet.row-group-size-bytes": "50000"}
    table = lake.create_table("n.t", "id BIGINT, noise STRING", properties=properties)
    rows = spark.range(0, 20_000, 1, 1).select("id", F.sha2(F.col("id").cast("string"), 256).alias("noise"))
    report = table.append(rows)
    sizes = [path.stat().st_size for path in data_files(table)]
    assert report.files_added == len(sizes) > 3
    assert report.bytes_added == sum(sizes)
    assert max(sizes) < 1.5 * target
    assert sorted(sizes)[1] > 0.5 * target
    assert ways.lines(table.to_df()) == ways.lines(rows)


def scattered(spark: SparkSession, partitions: int = 4) -> DataFrame:
    """Every task has rows of every region."""
    return spark.range(0, 2_000, 1, partitions).select(
        "id", F.concat(F.lit("r"), F.col("id") % 5).alias("region"), F.hash("id").alias("score")
    )


@pytest.mark.parametrize(("mode", "files_max"), [("none", 20), ("hash", 5), ("range", 10)])
def test_the_distribution_mode_decides_how_many_files_a_partition_gets(
    lake: lw.Lake, spark: SparkSession, mode: str, files_max: int
) -> None:
    properties = {"write.distribution-mode": mode}
    table = lake.create_table(
        "n.t", scattered(spark).schema, partitioned_by=["region"], sorted_by=["score DESC"], properties=properties
    )
    table.append(scattered(spark))
    files = data_files(table)
    assert 5 <= len(files) <= files_max
    assert len(files) == 20 or mode != "none"
    assert all(len(set(pq.read_table(path).column("region").to_pylist())) == 1 for path in files)
    for path in files:
        scores = pq.read_table(path).column("score").to_pylist()
        assert scores == sorted(scores, reverse=True)


def test_a_range_puts_neighbours_into_one_file(lake: lw.Lake, spark: SparkSession, settings: Settings) -> None:
    properties = {"write.distribution-mode": "range"}
    table = lake.create_table("n.t", scattered(spark).schema, sorted_by=["score"], properties=properties)
    with settings({"spark.sql.adaptive.enabled": "false"}):
        table.append(scattered(spark))
    bounds = sorted(
        (min(scores), max(scores))
        for scores in (pq.read_table(path).column("score").to_pylist() for path in data_files(table))
    )
    assert len(bounds) > 1
    assert all(left[1] <= right[0] for left, right in pairwise(bounds))


ORDERS = {
    "x ASC NULLS FIRST": [None, float("-inf"), -1.0, 2.0, float("nan")],
    "x ASC NULLS LAST": [float("-inf"), -1.0, 2.0, float("nan"), None],
    "x DESC NULLS FIRST": [None, float("nan"), 2.0, -1.0, float("-inf")],
    "x DESC NULLS LAST": [float("nan"), 2.0, -1.0, float("-inf"), None],
}


@pytest.mark.parametrize("order", ORDERS)
def test_rows_lie_in_the_declared_order_whoever_writes_them(lake: lw.Lake, spark: SparkSession, order: str) -> None:
    rows = pa.table({"x": [2.0, None, float("nan"), -1.0, float("-inf")]})
    for name, given in {"arrow": rows, "spark": spark.createDataFrame(rows).coalesce(1)}.items():
        table = lake.create_table(f"n.{name}", "x DOUBLE", sorted_by=[order])
        table.append(given)
        (path,) = data_files(table)
        assert repr(pq.read_table(path).column("x").to_pylist()) == repr(ORDERS[order])


def test_a_report_tells_what_was_added_and_what_was_not_honoured(lake: lw.Lake, spark: SparkSession) -> None:
    properties = {"write.wap.enabled": "true", "write.merge.mode": "copy-on-write", "owner": "us"}
    table = lake.create_table("n.t", "id BIGINT", properties=properties)
    report = table.append(spark.range(0, 10, 1, 2), summary={"batch": "7"})
    assert (report.operation, report.table, report.rows_inserted, report.files_added) == ("append", "n.t", 10, 2)
    assert report.version == table.history()[-1].version
    assert table.history()[-1].summary["batch"] == "7"
    assert report.notes == ("table property write.wap.enabled is not honoured",)
    assert set(report.seconds) == {"open", "write", "commit"}
    assert report.attempts == 1
    assert "10 inserted" in str(report)
    assert "<table>" in report._repr_html_()


def test_data_and_properties_decide_where_files_lie(lake: lw.Lake, spark: SparkSession, tmp_path: Path) -> None:
    properties = {"write.data.path": f"{tmp_path}/elsewhere", "write.object-storage.enabled": "true"}
    table = lake.create_table("n.t", scattered(spark).schema, partitioned_by=["region"], properties=properties)
    table.append(scattered(spark))
    assert data_files(table) == []
    assert len(list((tmp_path / "elsewhere").rglob("*.parquet"))) == 20
    assert ways.lines(table.to_df()) == ways.lines(scattered(spark))


def slow_rows(spark: SparkSession, started: Path, *, then: str = "wait") -> DataFrame:
    """The first task is done at once; the second has begun to write when it makes `started`, and takes its time."""
    path = str(started)

    def crawl(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            yield batch
            if batch["id"].iloc[0] >= 100:
                Path(path).touch()
                time.sleep(2 if then == "finish" else 60)

    return spark.range(0, 200, 1, 2).mapInPandas(crawl, "id LONG")


@pytest.mark.parametrize("then", ["wait", "finish"])
def test_ctrl_c_stops_the_jobs_and_leaves_no_file(
    lake: lw.Lake, spark: SparkSession, tmp_path: Path, then: str
) -> None:
    """Whether the task would go on for long, or be done a moment after."""
    table = lake.create_table("n.t", "id BIGINT", partitioned_by=["bucket(4, id)"])
    started = tmp_path / "started"
    pressed = threading.Thread(target=press, args=(started,))
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        table.append(slow_rows(spark, started, then=then))
    pressed.join()
    assert_nothing_is_left(table, spark)


def press(started: Path) -> None:
    while not started.exists():
        time.sleep(0.05)
    time.sleep(0.3)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def test_a_job_that_is_cancelled_from_elsewhere_leaves_no_file(
    lake: lw.Lake, spark: SparkSession, tmp_path: Path
) -> None:
    table = lake.create_table("n.t", "id BIGINT")
    started = tmp_path / "started"

    def cancel() -> None:
        while not started.exists():
            time.sleep(0.05)
        spark.interruptAll()

    cancelling = threading.Thread(target=cancel)
    cancelling.start()
    with pytest.raises(Exception, match=r"(?i)cancel"):
        table.append(slow_rows(spark, started))
    cancelling.join()
    assert_nothing_is_left(table, spark)


def assert_nothing_is_left(table: lw.Table, spark: SparkSession) -> None:
    assert data_files(table) == []
    assert table.history() == ()
    assert list(spark.sparkContext.statusTracker().getActiveJobsIds()) == []
    time.sleep(SECONDS_FOR_LATE_FILES)
    assert data_files(table) == []
    assert not list(Path(table.metadata_location.removeprefix("file://")).parents[1].rglob("*.part"))
