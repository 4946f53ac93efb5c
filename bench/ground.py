"""What do the basic operations cost, as ratios to what they could cost? One run, the same data, interleaved repeats.

    python bench/ground.py [--size M] [--repeats 5] [--only append]

Sizes are those of data.py: M has ten million rows. Both sides run by turns, and a time is the median of its repeats. Seconds
on a shared machine mean nothing; the ratios are what counts. Where others use the processors, too, the second ratio, of the
processor seconds of Spark and its workers, is the steadier one.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import data
import plan
import pyarrow as pa
import pyarrow.parquet as pq
import tables
from peers import cpu, tree

import lakewright as lw
from lakewright.engine.arrow.local import plan_on_threads
from lakewright.model.session import SqlSettings
from lakewright.planning.bind import bind
from lakewright.planning.prune import Pruner
from lakewright.storage.local import LocalStore

ROOT = Path(os.environ.get("BENCH_ROOT", Path.home() / ".cache" / "lakewright-bench"))
ONE_ROW_REPEATS = 30
READ_REPEATS_FACTOR = 3


def main() -> int:
    options = arguments()
    ROOT.mkdir(parents=True, exist_ok=True)
    source = Path(data.generate(str(ROOT / "data"), options.size)) / "plain"
    run = ROOT / "ground"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir()
    parts = [part for name, part in PARTS.items() if options.only in (None, name)]
    bounds = [bound for part in parts for bound in part(source, run, options)]
    width = max(len(name) for name, *_ in bounds)
    print(f"\n{'':{width}}  bound  ratio    cpu   ours s  other s")
    for name, sides, bound in bounds:
        met = "" if sides.ratio <= bound else "  <- over its bound"
        processor = "" if sides.cpu_ratio is None else f"{sides.cpu_ratio:.2f}"
        print(
            f"{name:{width}}  {bound:5.2f}  {sides.ratio:5.2f}  {processor:>5}  {sides.ours_s:7.3f}  {sides.other_s:7.3f}{met}"
        )
    return 0


@dataclass(frozen=True)
class Sides:
    """What two ways to the same thing took."""

    ours_s: float
    other_s: float
    cpu_ratio: float | None = None

    @property
    def ratio(self) -> float:
        return self.ours_s / self.other_s


def reading(source: Path, run: Path, options: argparse.Namespace):
    """Without deletes a table is read at the price of plain Parquet."""
    tables.make_iceberg(str(source), str(run / "read"))
    lake = lake_over(run / "read")
    spark, table = lake.spark, lake.table("b.t")
    plain = str(run / "read" / "b" / "t" / "data")
    queries = {
        "count and sum": lambda df: df.selectExpr("count(*)", "sum(l_quantity)").collect(),
        "filter on a long": lambda df: df.where("l_partkey % 1000 = 0").selectExpr("count(*)").collect(),
        "filter on a double": lambda df: df.where("l_quantity > 49.5").selectExpr("sum(l_tax)").collect(),
        "all columns": lambda df: df.write.format("noop").mode("overwrite").save(),
    }
    for name, query in queries.items():
        sides = compared(
            lambda query=query: query(table.to_df()),
            lambda query=query: query(spark.read.parquet(plain)),
            options.repeats * READ_REPEATS_FACTOR,
        )
        yield f"read: {name}", sides, 1.1


def reading_deletes(source: Path, run: Path, options: argparse.Namespace):
    """Rows that a merge-on-read writer took out, one of a thousand, cost a part of a plain scan at most."""
    tables.iceberg_pos_fixture(str(source), str(run / "deletes"))
    lake = lake_over(run / "deletes")
    spark, table = lake.spark, lake.table("b.t")
    plain = [
        str(file) for file in (run / "deletes" / "b" / "t" / "data").glob("*.parquet") if "delete-" not in file.name
    ]
    queries = {
        "count and sum": lambda df: df.selectExpr("count(*)", "sum(l_quantity)", "sum(row_id)").collect(),
        "all columns": lambda df: df.write.format("noop").mode("overwrite").save(),
    }
    for name, query in queries.items():
        sides = compared(
            lambda query=query: query(table.to_df()),
            lambda query=query: query(spark.read.parquet(*plain)),
            options.repeats * READ_REPEATS_FACTOR,
        )
        yield f"read with deletes: {name}", sides, 1.5


def reading_small_files(source: Path, run: Path, options: argparse.Namespace):
    """Ten thousand small files, against the faster of Spark's reader with its listing tuned and Arrow in its workers."""
    place = run / "small"
    files = small_files(source, place / "files")
    tables.make_iceberg(str(place / "files"), str(place))
    lake = lake_over(place)
    spark, table = lake.spark, lake.table("b.t")
    spark.conf.set("spark.sql.sources.parallelPartitionDiscovery.parallelism", "4")

    def finish(frame):
        return frame.selectExpr("count(*)", "sum(l_quantity)").collect()

    def native() -> None:
        finish(spark.read.parquet(*files))

    def arrow() -> None:
        finish(spark.range(0, 2, 1, 2).mapInArrow(_ReadAll(files, 2), "l_quantity double"))

    def ours() -> None:
        finish(table.to_df(columns=["l_quantity"]))

    against_native, against_arrow = (compared(ours, other, max(1, options.repeats // 2)) for other in (native, arrow))
    faster = min(against_native, against_arrow, key=lambda sides: sides.other_s)
    yield "read: 10 000 small files", faster, 1.5


def planning(source: Path, run: Path, options: argparse.Namespace):
    """Open a table of 100 000 files and find the one that a condition leaves: first time in a process, and again."""
    place, count = ROOT / "plan" / "iceberg-100000", 100_000
    if not place.exists():
        plan.make_iceberg(str(place), count)
    condition = f"l_orderkey = {count // 2 * 25_000 + 77}"
    lakes = iter(lambda: lake_over(place), None)

    def ours(lake: lw.Lake) -> int:
        table = lake.table("b.t")._format
        snapshot = table.snapshot(table.head())
        pruner = Pruner.of(bind(condition, snapshot.schema, SqlSettings()), snapshot)
        return len(plan_on_threads(snapshot, table.reader(snapshot), pruner, LocalStore()).candidates)

    def theirs() -> int:
        return len(list(tables.iceberg_catalog(place).load_table("b.t").scan(row_filter=condition).plan_files()))

    assert ours(next(lakes)) == theirs() == 1
    yield "plan: first time", compared(lambda: ours(next(lakes)), theirs, options.repeats), 1 / 3
    known = next(lakes)
    yield "plan: manifests known", compared(lambda: ours(known), theirs, options.repeats), 1 / 20


def small_files(source: Path, place: Path, count: int = 10_000) -> list[str]:
    """The first rows of the data, a hundred to a file."""
    if not place.exists():
        place.mkdir(parents=True)
        rows = pq.read_table(sorted(source.glob("*.parquet"))[0])
        for number in range(count):
            part = rows.slice(number * 100 % rows.num_rows, 100)
            pq.write_table(part, place / f"part-{number:05d}.parquet", store_schema=False)
    return sorted(str(file) for file in place.glob("*.parquet"))


@dataclass(frozen=True)
class _ReadAll:
    """The least that a Python worker can do to read files."""

    files: list[str]
    tasks: int

    def __call__(self, batches):
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for file in self.files[number :: self.tasks]:
                    yield from pq.ParquetFile(file).iter_batches(columns=["l_quantity"])


def appending(source: Path, run: Path, options: argparse.Namespace):
    """Rows of a DataFrame become data files for about what Spark takes to write them itself."""
    lake = lake_over(run / "append")
    frame = lake.spark.read.parquet(str(source))
    numbers = iter(range(1_000_000))

    def ours() -> None:
        name = f"b.t{next(numbers)}"
        lake.create_table(name, frame).append(frame)
        shutil.rmtree(run / "append" / "b", ignore_errors=True)

    def other() -> None:
        frame.write.mode("overwrite").parquet(str(run / "plain"))

    yield "append: DataFrame", compared(ours, other, options.repeats), 1.25


def one_row(source: Path, run: Path, options: argparse.Namespace):
    """The fixed price of a commit, against pyiceberg's on the same kind of catalog."""
    row = pa.table({"id": pa.array([1], pa.int64()), "name": ["one"]})
    theirs = tables.iceberg_catalog(folder(run / "one_row_pyiceberg"))
    theirs.create_namespace("b")
    their_table = theirs.create_table("b.t", row.schema)
    our_table = lake_over(run / "one_row").create_table("b.t", "id BIGINT, name STRING")

    def other() -> None:
        theirs.load_table(their_table.name()).append(row)

    yield "append: one row", compared(lambda: our_table.append(row), other, ONE_ROW_REPEATS), 2.0


def importing(source: Path, run: Path, options: argparse.Namespace):
    """`import lakewright`, against the 0.2 s that it may take; starting Python is not counted."""

    def seconds(code: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - started

    with_import, without = (
        statistics.median(seconds(code) for _ in range(9)) for code in ("import lakewright", "pass")
    )
    yield "import lakewright", Sides(max(0.0, with_import - without), 0.2), 1.0


def compared(ours: Callable[[], object], other: Callable[[], object], repeats: int) -> Sides:
    """Both by turns, each as often the first, after one turn that does not count."""
    seconds: dict[object, list[float]] = {ours: [], other: []}
    processor = {ours: 0.0, other: 0.0}
    for turn in range(repeats + 1):
        for action in (ours, other) if turn % 2 else (other, ours):
            before, started = busy_seconds(), time.perf_counter()
            action()
            if turn:
                seconds[action].append(time.perf_counter() - started)
                after = busy_seconds()
                processor[action] += sum(busy - before.get(process, 0.0) for process, busy in after.items())
    return Sides(
        statistics.median(seconds[ours]), statistics.median(seconds[other]), processor[ours] / processor[other]
    )


def busy_seconds() -> dict[int, float]:
    """Of this process and all below it, each for itself: what ends takes its seconds along."""
    return {process: cpu([process]) for process in tree(os.getpid())}


def lake_over(place: Path) -> lw.Lake:
    catalog = {
        "name": "bench",
        "type": "sql",
        "uri": f"sqlite:///{folder(place)}/catalog.db",
        "warehouse": f"file://{place}",
    }
    return lw.connect(catalog=catalog)


def folder(place: Path) -> str:
    place.mkdir(parents=True, exist_ok=True)
    return str(place)


PARTS = {
    "read": reading,
    "deletes": reading_deletes,
    "small-files": reading_small_files,
    "plan": planning,
    "append": appending,
    "one-row": one_row,
    "import": importing,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="M", choices=list(data.SIZES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=list(PARTS))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
