"""Which values does a query give, as literals that mean the same wherever they stand?"""

import re
from collections.abc import Callable
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that everybody gives this module
from pyspark.sql import types as spark_types

_VALUES_MAX = 10_000
_PLAIN_TEXT = re.compile(r"[^'\"\\$]*")
_LITERALS: dict[type[spark_types.DataType], Callable[[Any], str]] = {
    spark_types.BooleanType: lambda value: "TRUE" if value else "FALSE",
    spark_types.ByteType: lambda value: f"CAST({value} AS TINYINT)",
    spark_types.ShortType: lambda value: f"CAST({value} AS SMALLINT)",
    spark_types.IntegerType: lambda value: f"CAST({value} AS INT)",
    spark_types.LongType: lambda value: f"CAST({value} AS BIGINT)",
    spark_types.DateType: lambda value: f"DATE '{value}'",
}


def literals_of(spark: SparkSession, query: str) -> str | None:
    """The distinct values with commas between them; None when they cannot be had by themselves, or are too many.

    A query that names columns of the condition's own table cannot stand alone. Of no values a query is left that gives none.
    """
    try:
        frame = spark.sql(query)
        fields = frame.schema.fields
    except (AnalysisException, ParseException):
        return None
    if len(fields) != 1:
        return None
    kind = fields[0].dataType
    literal = _literal_of(kind)
    if literal is None:
        return None
    shown = frame.toDF("v")
    rows = shown.select(_as_collected(kind)).distinct().limit(_VALUES_MAX + 1).collect()
    if len(rows) > _VALUES_MAX:
        return None
    if not rows:
        return f"SELECT CAST(NULL AS {kind.simpleString()}) WHERE FALSE"
    null = f"CAST(NULL AS {kind.simpleString()})"
    return ", ".join(sorted(null if row[0] is None else literal(row[0]) for row in rows))


def _as_collected(kind: spark_types.DataType) -> Any:
    """Moments as counts, and days as texts: Python's own depend on the zone of this machine, and end at the year 9999."""
    if isinstance(kind, spark_types.TimestampType):
        return F.unix_micros("v")
    return F.col("v").cast("string") if isinstance(kind, spark_types.DateType) else F.col("v")


def _literal_of(kind: spark_types.DataType) -> Callable[[Any], str] | None:
    if isinstance(kind, spark_types.DecimalType):
        return lambda value: f"CAST('{value:f}' AS {kind.simpleString()})"
    if isinstance(kind, spark_types.TimestampType):
        return lambda value: f"timestamp_micros({value})"
    if type(kind) is spark_types.StringType and kind.simpleString() == "string":
        return _text
    return _LITERALS.get(type(kind))


def _text(value: str) -> str:
    """What a backslash, two quotes or a dollar mean in a text depends on settings; what bytes mean does not."""
    return f"'{value}'" if _PLAIN_TEXT.fullmatch(value) else f"CAST(X'{value.encode().hex()}' AS STRING)"
