"""Which Spark type shows a column type, and which column type is a Spark type stored as?"""

from collections.abc import Mapping

from pyspark.sql import types as spark

from lakewright.errors import Unsupported
from lakewright.model.types import (
    ColumnType,
    DecimalType,
    Field,
    FixedType,
    ListType,
    MapType,
    Primitive,
    StructType,
)

_SPARK: Mapping[ColumnType, spark.DataType] = {
    Primitive.BOOLEAN: spark.BooleanType(),
    Primitive.INT: spark.IntegerType(),
    Primitive.LONG: spark.LongType(),
    Primitive.FLOAT: spark.FloatType(),
    Primitive.DOUBLE: spark.DoubleType(),
    Primitive.DATE: spark.DateType(),
    Primitive.TIME: spark.TimeType(6),
    Primitive.TIMESTAMP: spark.TimestampNTZType(),
    Primitive.TIMESTAMPTZ: spark.TimestampType(),
    Primitive.STRING: spark.StringType(),
    Primitive.UUID: spark.StringType(),
    Primitive.BINARY: spark.BinaryType(),
    Primitive.VARIANT: spark.VariantType(),
}


def spark_schema(fields: tuple[Field, ...]) -> spark.StructType:
    """Every column may be NULL: what is required is checked when rows are written."""
    return spark.StructType([spark.StructField(child.name, spark_type(child), nullable=True) for child in fields])


def spark_type(child: Field) -> spark.DataType:
    match child.type:
        case DecimalType(precision, scale):
            return spark.DecimalType(precision, scale)
        case FixedType():
            return spark.BinaryType()
        case StructType(fields):
            return spark_schema(fields)
        case ListType(element):
            return spark.ArrayType(spark_type(element), containsNull=True)
        case MapType(key, value):
            return spark.MapType(spark_type(key), spark_type(value), valueContainsNull=True)
        case column_type if column_type in _SPARK:
            return _SPARK[column_type]
        case column_type:
            raise Unsupported(f"column {child.name} has type {column_type}, which Spark has no type for")


def columns_of_schema(schema: spark.StructType) -> StructType:
    """The columns of a DataFrame; ids are positions and mean nothing."""
    return StructType(
        tuple(
            Field(index, field.name, column_type_of(field.dataType, field.name), required=not field.nullable)
            for index, field in enumerate(schema.fields)
        )
    )


def column_type_of(data_type: spark.DataType, name: str) -> ColumnType:
    match data_type:
        case spark.ByteType() | spark.ShortType() | spark.IntegerType():
            return Primitive.INT
        case spark.LongType():
            return Primitive.LONG
        case spark.DecimalType():
            return DecimalType(data_type.precision, data_type.scale)
        case spark.StructType():
            return columns_of_schema(data_type)
        case spark.ArrayType():
            element = column_type_of(data_type.elementType, name)
            return ListType(Field(0, "element", element, required=not data_type.containsNull))
        case spark.MapType():
            key = Field(0, "key", column_type_of(data_type.keyType, name), required=True)
            value = column_type_of(data_type.valueType, name)
            return MapType(key, Field(1, "value", value, required=not data_type.valueContainsNull))
        case spark.NullType():
            return Primitive.UNKNOWN
        case spark.StringType() | spark.CharType() | spark.VarcharType():
            return Primitive.STRING
        case spark.TimeType():
            return Primitive.TIME
        case _:
            return _plain(data_type, name)


def _plain(data_type: spark.DataType, name: str) -> ColumnType:
    for column_type, known in _SPARK.items():
        if type(known) is type(data_type):
            return column_type
    raise Unsupported(f"column {name} has Spark type {data_type.simpleString()}, which no column type holds")
