"""How do tests ask Apache Iceberg's Spark runtime? Through one subprocess that lives as long as the run."""

import contextlib
import json
import os
import select
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from tests.interop.runtime import Runtime

ANSWER_SECONDS_MAX = 300
ROOT = Path(__file__).parents[2]
SERVER = Path(__file__).with_name("jvm_judge.py")

# Settings of the environment under test that would reach into the judge's own.
NOT_INHERITED = ("PYTHONPATH", "PYTHONHOME", "SPARK_HOME", "SPARK_REMOTE", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")


class JudgeFailed(Exception):
    """The judge refused a command, or died."""


class Jvm:
    """Apache Iceberg on Spark. A table is a metadata file, a folder, or `catalog.namespace.name`."""

    def __init__(self, process: subprocess.Popen[bytes], scratch: Path) -> None:
        self._process = process
        self._scratch = scratch

    def hadoop_catalog(self, name: str, warehouse: Path | str) -> None:
        self._ask("hadoop_catalog", name=name, warehouse=str(warehouse))

    def sqlite_catalog(self, name: str, *, database: Path, warehouse: str) -> None:
        self._ask("sqlite_catalog", name=name, database=str(database), warehouse=warehouse)

    def sql(self, *statements: str) -> list[str]:
        """Run the statements; the rows of the last, canonical."""
        return self._ask("sql", statements=statements)["lines"]

    def create_table(
        self, name: str, columns: str, *, version: int, partitioned_by: Iterable[str] = (), **properties: str
    ) -> None:
        partitioning = ", ".join(partitioned_by)
        stated = ", ".join(f"'{key}'='{value}'" for key, value in {"format-version": version, **properties}.items())
        self.sql(
            f"CREATE TABLE {name} ({columns}) USING iceberg "
            f"{f'PARTITIONED BY ({partitioning})' if partitioning else ''} TBLPROPERTIES ({stated})"
        )

    def append(self, table: str, rows: pa.Table) -> None:
        source = self._scratch / "append.parquet"
        parquet.write_table(rows, source)
        self._ask("append", table=table, rows=str(source))

    def delete_equal(self, table: str, location: str, columns: list[str], keys: list[list[str | bool | None]]) -> None:
        """Delete, by equality, the rows that have one of the keys; the delete file lies at the location."""
        self._ask("delete_equal", table=table, location=location, columns=columns, keys=keys)

    def read(self, table: str, *, snapshot: int | None = None, where: str | None = None) -> list[str]:
        """The table's rows, canonical."""
        to = self._scratch / "read.jsonl"
        self._ask("read", table=table, to=str(to), snapshot=snapshot, where=where)
        return to.read_text(encoding="utf-8").split("\n")[:-1]

    def predicates_that_prune_wrongly(self, table: str, predicates: Iterable[str]) -> dict[str, list[int]]:
        """The predicates for which skipping files and row groups changes the number of rows, with both numbers."""
        return self._ask("predicates_that_prune_wrongly", table=table, predicates=list(predicates))["wrong"]

    def wait_until_up(self) -> None:
        self._ask("hello")

    def _ask(self, command: str, **fields: object) -> dict:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps({"command": command, **fields}).encode() + b"\n")
            self._process.stdin.flush()
        ready, _, _ = select.select([self._process.stdout], [], [], ANSWER_SECONDS_MAX)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            raise JudgeFailed(f"no answer to {command} {fields}; the end of its log:\n{self._end_of_log()}")
        answer = json.loads(line)
        if not answer["ok"]:
            raise JudgeFailed(f"{command} {fields}: {answer['trace']}")
        return answer

    def _end_of_log(self) -> str:
        return log_path(self._scratch).read_text(errors="replace")[-3000:]


def log_path(scratch: Path) -> Path:
    return scratch / "judge.log"


@contextlib.contextmanager
def started(runtime: Runtime, scratch: Path) -> Iterator[Jvm]:
    """A judge that is up; it ends with the block."""
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    with log_path(scratch).open("wb") as log:
        process = subprocess.Popen(
            [runtime.python, SERVER, *runtime.jars],
            cwd=scratch,
            env={**environment, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            jvm = Jvm(process, scratch)
            jvm.wait_until_up()
            yield jvm
        finally:
            process.stdin.close()
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
