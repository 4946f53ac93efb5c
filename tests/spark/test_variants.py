"""Are variants that other engines wrote read, both ways, and is what is not read refused by name?"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lakewright as lw
from lakewright.engine.arrow.types import FIELD_ID_KEY
from lakewright.errors import Unsupported
from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.model.files import DataFile
from lakewright.model.partitioning import PartitionKey
from lakewright.model.types import Primitive
from lakewright.storage.locations import Storage
from lakewright.system_clock import RandomIds, SystemClock
from lakewright.testing.tables import TableBuilder
from tests.spark import ways

VALUES = ('{"a": 1, "b": [true, null]}', None, '"text"', "null", "12.50")


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> lw.Table:
    source = IcebergSource(FolderCatalog(Storage()), Storage(), SystemClock(), RandomIds())
    builder = TableBuilder(source)
    columns = {"id": Primitive.LONG, "v": Primitive.VARIANT}
    builder.create(f"{tmp_path}/t", columns, format_version=3)
    return lw.connect(spark=spark, catalog={"name": "f", "type": "folder", "warehouse": str(tmp_path)}).open(
        f"{tmp_path}/t"
    )


def add(table: lw.Table, spark: SparkSession, values: tuple[str | None, ...], *, shredded: bool) -> None:
    """A file as Spark writes variants, with the ids of the table's columns."""
    place = Path(table.metadata_location).parents[1]
    written = place / "spark"
    spark.conf.set("spark.sql.variant.writeShredding.enabled", str(shredded).lower())
    try:
        rows = spark.createDataFrame(list(enumerate(values)), "id BIGINT, text STRING").coalesce(1)
        rows.selectExpr("id", "parse_json(text) AS v").write.parquet(str(written))
    finally:
        spark.conf.unset("spark.sql.variant.writeShredding.enabled")
    (file,) = written.glob("*.parquet")
    content = pq.read_table(file)
    ids = [
        field.with_metadata({FIELD_ID_KEY: str(number).encode()})
        for number, field in enumerate(content.schema, start=1)
    ]
    path = place / "data.parquet"
    pq.write_table(pa.table(content.columns, schema=pa.schema(ids)), path)
    source = IcebergSource(FolderCatalog(Storage()), Storage(), SystemClock(), RandomIds())
    data_file = DataFile(str(path), PartitionKey(0, ()), len(values), path.stat().st_size)
    TableBuilder(source).append(source.open(str(place)), data_file)


@pytest.mark.parametrize("way", ways.WAYS)
def test_variants_are_read_in_both_ways(table: lw.Table, spark: SparkSession, way: ways.Way) -> None:
    add(table, spark, VALUES, shredded=False)
    found = ways.frame(table, spark, way, where="id <> 3").selectExpr("id", "to_json(v) AS v").collect()
    expected = spark.createDataFrame(list(enumerate(VALUES)), "id BIGINT, text STRING").where("id <> 3")
    assert sorted(found) == sorted(expected.selectExpr("id", "to_json(parse_json(text)) AS v").collect())


def test_shredded_variants_are_refused_by_name(table: lw.Table, spark: SparkSession) -> None:
    add(table, spark, ('{"a": 1}',) * 5, shredded=True)
    assert table.to_df(columns=["id"]).count() == 5
    with pytest.raises(Exception, match="column v is a shredded variant, which is not read"):
        table.to_df().collect()


def test_rows_are_not_appended_to_a_table_with_variants(table: lw.Table) -> None:
    with pytest.raises(Unsupported, match=r"column v of .* is a variant, which is read and not written yet"):
        table.append(pa.table({"id": [1]}))
