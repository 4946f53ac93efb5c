"""What does Apache Iceberg's Spark runtime see? A server that answers each JSON line on stdin with one on stdout.

It runs in the judge's environment, not in ours: `python jvm_judge.py JAR…`, with the root of the repository on the
path. A table is named by the path of a metadata file, by the folder of a Hadoop-style table, or by
`catalog.namespace.name` of a registered catalog.
"""

import contextlib
import json
import os
import sys
import traceback
from functools import reduce
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import count, expr, lit, when

from tests import canonical

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.codegen.wholeStage": "false",  # compiling a query takes longer than running it on a few rows
    "spark.log.level": "ERROR",
    "spark.sql.catalog.default_iceberg.cache-enabled": "false",
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}

PREDICATES_PER_JOB = 12


class Judge:
    """The commands; each takes the request's fields and returns the answer's."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def hello(self) -> dict:
        return {"spark": self.spark.version}

    def hadoop_catalog(self, name: str, warehouse: str) -> dict:
        """Tables of this catalog are folders below the warehouse."""
        self._register(name, {"type": "hadoop", "warehouse": warehouse})
        return {}

    def sqlite_catalog(self, name: str, database: str, warehouse: str) -> dict:
        """A catalog in a SQLite file that other libraries share under the same name."""
        where = {"uri": f"jdbc:sqlite:{database}", "warehouse": warehouse}
        self._register(name, {"type": "jdbc", "jdbc.schema-version": "V1", **where})
        return {}

    def sql(self, statements: list[str]) -> dict:
        """Run the statements in order; the rows are those of the last."""
        for statement in statements[:-1]:
            self.spark.sql(statement)
        return {"lines": canonical.lines(self.spark.sql(statements[-1]).toArrow())}

    def append(self, table: str, rows: str) -> dict:
        """Append the rows of a Parquet file to a table."""
        frame = self.spark.read.parquet(rows)
        if _is_location(table):
            frame.write.format("iceberg").mode("append").save(table)
        else:
            frame.writeTo(table).append()
        return {}

    def delete_equal(self, table: str, location: str, columns: list[str], keys: list[list[str | bool | None]]) -> dict:
        """Equality deletes, which no statement of Spark's writes, by way of the library's own interface."""
        iceberg = self.spark._jvm.org.apache.iceberg
        target = iceberg.spark.Spark3Util.loadIcebergTable(self.spark._jsparkSession, table)
        names = self.spark._jvm.java.util.ArrayList()
        ids = self.spark._sc._gateway.new_array(self.spark._jvm.int, len(columns))
        for place, name in enumerate(columns):
            names.add(name)
            ids[place] = target.schema().findField(name).fieldId()
        schema = target.schema().select(names)
        builder = getattr(iceberg.data, "GenericFileWriterFactory$Builder")(target)
        builder = (
            builder.deleteFileFormat(iceberg.FileFormat.PARQUET).equalityFieldIds(ids).equalityDeleteRowSchema(schema)
        )
        file = iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(target.io().newOutputFile(location))
        writer = builder.build().newEqualityDeleteWriter(file, target.spec(), None)
        for key in keys:
            record = iceberg.data.GenericRecord.create(schema)
            for name, value in zip(columns, key, strict=True):
                record.setField(name, value)
            writer.write(record)
        writer.close()
        target.newRowDelta().addDeletes(writer.toDeleteFile()).commit()
        return {}

    def read(self, table: str, to: str, snapshot: int | None = None, where: str | None = None) -> dict:
        """Write the table's canonical rows to a file."""
        frame = self._frame(table, snapshot)
        found = canonical.lines((frame.where(where) if where else frame).toArrow())
        Path(to).write_text("".join(line + "\n" for line in found), encoding="utf-8")
        return {"rows": len(found)}

    def predicates_that_prune_wrongly(self, table: str, predicates: list[str]) -> dict:
        """The predicates that select other rows from the table than from a copy of its rows, with both counts."""
        frame = self._frame(table, None)
        copy = frame.localCheckpoint()
        wrong = {}
        for start in range(0, len(predicates), PREDICATES_PER_JOB):
            some = predicates[start : start + PREDICATES_PER_JOB]
            answers = zip(some, _counts_when_pruning(frame, some), _counts(copy, some), strict=True)
            wrong |= {predicate: [found, expected] for predicate, found, expected in answers if found != expected}
        return {"wrong": wrong}

    def _frame(self, table: str, snapshot: int | None) -> DataFrame:
        reader = self.spark.read.format("iceberg")
        reader = reader if snapshot is None else reader.option("versionAsOf", snapshot)
        return reader.load(table)

    def _register(self, name: str, properties: dict[str, str]) -> None:
        prefix = f"spark.sql.catalog.{name}"
        self.spark.conf.set(prefix, "org.apache.iceberg.spark.SparkCatalog")
        for key, value in {"cache-enabled": "false", **properties}.items():
            self.spark.conf.set(f"{prefix}.{key}", value)


def _counts_when_pruning(frame: DataFrame, predicates: list[str]) -> list[int]:
    """How many rows each predicate selects, in one job whose branches each keep a filter that Iceberg sees."""
    each = [frame.where(predicate).agg(lit(number), count("*")) for number, predicate in enumerate(predicates)]
    return [rows for _, rows in sorted(map(tuple, reduce(DataFrame.union, each).collect()))]


def _counts(frame: DataFrame, predicates: list[str]) -> list[int]:
    return list(frame.agg(*(count(when(expr(predicate), 1)) for predicate in predicates)).first())


def _is_location(table: str) -> bool:
    return "/" in table


def _answer(judge: Judge, request: dict) -> dict:
    command = request.pop("command")
    try:
        return {"ok": True, **getattr(judge, command)(**request)}
    except Exception as error:  # noqa: BLE001 - whatever went wrong is the answer, and the server goes on
        return {"ok": False, "error": str(error), "trace": traceback.format_exc()}


@contextlib.contextmanager
def _answers_only():
    """A stream to the client that Spark's chatter, which is sent to stderr from here on, cannot reach."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1) as stream:
        os.dup2(2, 1)
        yield stream


def main(jars: list[str]) -> None:
    with _answers_only() as answers:
        spark = (
            SparkSession.builder.master("local[2]").config(map={**SETTINGS, "spark.jars": ",".join(jars)}).getOrCreate()
        )
        judge = Judge(spark)
        for line in sys.stdin:
            answers.write(json.dumps(_answer(judge, json.loads(line))) + "\n")
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
