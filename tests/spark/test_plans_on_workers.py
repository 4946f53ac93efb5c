"""Do Spark's workers plan what this machine plans, and refuse what it refuses?"""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakewright as lw
from lakewright.engine.arrow.local import plan_on_threads
from lakewright.engine.spark.plans import plan_on_workers
from lakewright.errors import CorruptTable
from lakewright.model.session import SqlSettings
from lakewright.planning.bind import bind
from lakewright.planning.prune import Pruner
from lakewright.storage.locations import Storage


@pytest.fixture
def table(lake: lw.Lake) -> lw.Table:
    table = lake.create_table("n.planned", "id BIGINT, region STRING", partitioned_by=["region"])
    for number in range(3):
        table.append(pa.table({"id": [number, number + 10], "region": ["EU", f"R{number}"]}))
    return table


@pytest.mark.parametrize("where", ["true", "id = 11", "region = 'EU' AND id < 2", "region = 'nowhere'"])
def test_workers_make_the_plan_that_threads_make(table: lw.Table, spark: SparkSession, where: str) -> None:
    snapshot = table._format.snapshot(table._format.head())
    reader = table._format.reader(snapshot)
    pruner = Pruner.of(bind(where, snapshot.schema, SqlSettings()), snapshot)
    planned = plan_on_workers(spark, snapshot, reader, pruner, Storage())
    assert planned == plan_on_threads(snapshot, reader, pruner, Storage())


def test_what_a_worker_finds_damaged_is_refused_by_its_name(table: lw.Table, spark: SparkSession) -> None:
    snapshot = table._format.snapshot(table._format.head())
    damaged = snapshot.tasks[1].location
    Path(damaged.removeprefix("file://")).write_bytes(b"Obj\x01")
    pruner = Pruner.of(bind("true", snapshot.schema, SqlSettings()), snapshot)
    with pytest.raises(CorruptTable, match=f"manifest {damaged} is damaged"):
        plan_on_workers(spark, snapshot, table._format.reader(snapshot), pruner, Storage())
