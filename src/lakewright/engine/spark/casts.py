"""What do Arrow rows look like once Spark has cast the columns that only Spark casts rightly?"""

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that everybody gives this module

from lakewright.engine.arrow.conform import conform_table
from lakewright.engine.arrow.types import column_type_of
from lakewright.engine.spark.frames import quoted
from lakewright.engine.spark.types import spark_schema, spark_type
from lakewright.model.assignment import ColumnAssignment, FromColumn
from lakewright.model.types import Field

_ROWS_AT_ONCE = 1_000_000


def cast_by_spark(
    spark: SparkSession, rows: pa.Table, columns: tuple[ColumnAssignment, ...]
) -> tuple[pa.Table, tuple[ColumnAssignment, ...]]:
    """The rows with those columns cast, and the assignments that are left. All other columns stay as they came."""
    wanted = [column for column in columns if isinstance(column, FromColumn) and column.engine_cast]
    sources = tuple(_source(rows, number, column.source_name) for number, column in enumerate(wanted))
    given = conform_table(rows, tuple(FromColumn(source, source.name) for source in sources))
    parts = [
        _cast(spark, given.slice(start, _ROWS_AT_ONCE), sources, wanted)
        for start in range(0, max(1, given.num_rows), _ROWS_AT_ONCE)
    ]
    cast = pa.concat_tables(parts)
    for column in wanted:
        position = rows.schema.get_field_index(column.source_name)
        rows = rows.set_column(position, column.target.name, cast.column(column.target.name))
    left = tuple(
        FromColumn(column.target, column.target.name)
        if isinstance(column, FromColumn) and column.engine_cast
        else column
        for column in columns
    )
    return rows, left


def _source(rows: pa.Table, number: int, name: str) -> Field:
    return Field(number, name, column_type_of(rows.schema.field(name).type, name))


def _cast(spark: SparkSession, rows: pa.Table, sources: tuple[Field, ...], wanted: list[FromColumn]) -> pa.Table:
    """The types are named: by itself, Spark takes a time without a zone for one of the session's zone."""
    frame = spark.createDataFrame(rows, spark_schema(sources))
    return frame.select(
        *(
            F.col(quoted(column.source_name)).cast(spark_type(column.target)).alias(column.target.name)
            for column in wanted
        )
    ).toArrow()
