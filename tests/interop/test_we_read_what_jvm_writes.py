"""Do we read, and go on writing, the tables that Apache Iceberg's Spark runtime creates, appends to and maintains?"""

import datetime as dt
import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import lakewright as lw
from tests.canonical import difference, lines
from tests.foreign.arrow_rows import rows_of
from tests.interop import cases
from tests.interop.cases import Case
from tests.interop.jvm_client import Jvm

THIRDS = (cases.ROWS.slice(0, 7), cases.ROWS.slice(7, 6), cases.ROWS.slice(13))

every_version = pytest.mark.parametrize("version", [1, 2, 3], ids="v{}".format)
every_case = pytest.mark.parametrize(
    ("case", "version"),
    [pytest.param(case, version, id=f"{case.name}-v{version}") for case, version in cases.each_in_a_version()],
)

# Filters run on a Spark of ours, which takes a while: one case for each way in which a value can decide.
FILTERED = ("every type", "day(ts)", "bucket(5, name)", "truncate(7, name)", "floats apart", "nested", "odd values")
FILTERED_CASES = [case for case in cases.every_case() if case.name in FILTERED]


def jvm_writes(jvm: Jvm, name: str, case: Case, version: int, **properties: str) -> None:
    jvm.create_table(name, case.columns, partitioned_by=case.partitioned_by, version=version, **properties)
    for batch in case.batches:
        jvm.append(name, batch)


def rows_we_see(table: lw.Table) -> list[str]:
    """What our Arrow reader finds; tests that ask for Spark look at DataFrames."""
    return lines(rows_of(table.metadata_location, moved={}))


@pytest.fixture
def lake_on_spark(connected: Callable[..., lw.Lake], spark: SparkSession) -> lw.Lake:
    return connected(spark=spark)


@every_case
def test_we_read_every_row_that_the_jvm_appends(
    jvm: Jvm, lake: lw.Lake, hadoop: str, root: str, case: Case, version: int
) -> None:
    jvm_writes(jvm, f"{hadoop}.db.t", case, version)
    assert not difference(rows_we_see(lake.open(root)), lines(case.rows))


@pytest.mark.parametrize("case", FILTERED_CASES, ids=lambda case: case.name)
def test_a_condition_on_a_table_of_the_jvm_selects_what_it_selects_from_a_copy(
    jvm: Jvm, lake_on_spark: lw.Lake, hadoop: str, root: str, case: Case
) -> None:
    """Both where we prune by it and where Spark alone sees it."""
    jvm_writes(jvm, f"{hadoop}.db.t", case, version=2)
    table = lake_on_spark.open(root)
    frame, copy = table.to_df(), lake_on_spark.spark.createDataFrame(case.rows)
    few = case.predicates[:: max(1, len(case.predicates) // 4)]
    asked = {predicate: ids(copy.where(predicate)) for predicate in few}
    assert {predicate: ids(table.to_df(where=predicate)) for predicate in few} == asked
    assert {predicate: ids(frame.where(predicate)) for predicate in few} == asked


def ids(frame: DataFrame) -> list[int]:
    return sorted(frame.toArrow()["id"].to_pylist())


@every_version
def test_we_read_each_snapshot_of_the_jvm_as_it_was(
    jvm: Jvm, lake: lw.Lake, hadoop: str, root: str, version: int
) -> None:
    jvm_writes(jvm, f"{hadoop}.db.t", Case("thirds", cases.EVERY_TYPE, THIRDS, ("day(ts)",)), version)
    table = lake.open(root)
    snapshots = sorted(table.history(), key=lambda entry: entry.timestamp_ms)
    assert [rows_of(table.metadata_location, {}, snapshot.version).num_rows for snapshot in snapshots] == [7, 13, 20]


@every_version
def test_the_jvm_and_we_append_in_turn_to_a_folder_that_we_created(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int
) -> None:
    table = lake.create_table(root, cases.EVERY_TYPE, partitioned_by=["bucket(3, id)"], format_version=version)
    table.append(THIRDS[0])
    jvm.append(f"{hadoop}.db.t", THIRDS[1])
    lake.open(root).append(THIRDS[2])
    assert not difference(rows_we_see(lake.open(root)), lines(cases.ROWS))
    assert not difference(jvm.read(root), lines(cases.ROWS))


@every_version
def test_the_jvm_and_we_append_in_turn_to_a_folder_that_it_created(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int
) -> None:
    jvm_writes(jvm, f"{hadoop}.db.t", Case("first third", cases.EVERY_TYPE, THIRDS[:1], ("month(d)",)), version)
    lake.open(root).append(THIRDS[1])
    jvm.append(f"{hadoop}.db.t", THIRDS[2])
    assert not difference(rows_we_see(lake.open(root)), lines(cases.ROWS))
    assert not difference(jvm.read(root), lines(cases.ROWS))


@every_version
def test_a_handle_opened_before_the_jvm_appended_appends_after_it(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int
) -> None:
    table = lake.create_table(root, cases.EVERY_TYPE, partitioned_by=["bucket(3, id)"], format_version=version)
    for mine, its in ((THIRDS[0], THIRDS[1]), (THIRDS[2], cases.EDGE_ROWS)):
        table.append(mine)
        jvm.append(f"{hadoop}.db.t", its)
    table.append(cases.ROWS)
    expected = lines(pa.concat_tables((cases.ROWS, cases.EDGE_ROWS, cases.ROWS)))
    assert not difference(rows_we_see(lake.open(root)), expected)
    assert not difference(jvm.read(root), expected)


@every_version
def test_the_jvm_and_we_append_in_turn_through_a_shared_catalog(
    jvm: Jvm, lake: lw.Lake, tmp_path: Path, warehouse: Path, unique: str, version: int
) -> None:
    table = lake.create_table("db.t", cases.EVERY_TYPE, partitioned_by=["day(ts)"], format_version=version)
    table.append(THIRDS[0])
    jvm.sqlite_catalog(unique, database=tmp_path / "catalog.db", warehouse=f"file://{warehouse}")
    jvm.append(f"{unique}.db.t", THIRDS[1])
    lake.table("db.t").append(THIRDS[2])
    assert not difference(rows_we_see(lake.table("db.t")), lines(cases.ROWS))
    assert not difference(jvm.read(f"{unique}.db.t"), lines(cases.ROWS))


@every_version
def test_we_read_our_table_after_the_jvm_rewrote_its_files_and_manifests(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int
) -> None:
    table = lake.create_table(root, cases.EVERY_TYPE, partitioned_by=["bucket(2, id)"], format_version=version)
    for third in THIRDS:
        table.append(third)
    jvm.sql(
        f"CALL {hadoop}.system.rewrite_manifests('db.t')",
        f"CALL {hadoop}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))",
    )
    assert not difference(rows_we_see(lake.open(root)), lines(cases.ROWS))
    lake.open(root).append(cases.EDGE_ROWS)
    assert not difference(jvm.read(root), lines(pa.concat_tables((cases.ROWS, cases.EDGE_ROWS))))


@every_version
def test_compressed_metadata_of_the_jvm_is_read_and_appended_to(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int
) -> None:
    compressed = {"write.metadata.compression-codec": "gzip"}
    case = Case("two thirds", cases.EVERY_TYPE, THIRDS[:2], ("bucket(3, id)",))
    jvm_writes(jvm, f"{hadoop}.db.t", case, version, **compressed)
    lake.open(root).append(THIRDS[2])
    assert not difference(rows_we_see(lake.open(root)), lines(cases.ROWS))
    assert not difference(jvm.read(root), lines(cases.ROWS))


@every_version
def test_columns_that_the_jvm_added_renamed_and_dropped_hold_what_it_says(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int
) -> None:
    jvm_writes(jvm, f"{hadoop}.db.t", Case("nested", cases.NESTED, (cases.NESTED_ROWS,)), version)
    jvm.sql(
        f"ALTER TABLE {hadoop}.db.t RENAME COLUMN id TO number",
        f"ALTER TABLE {hadoop}.db.t ADD COLUMN id STRING",
        f"ALTER TABLE {hadoop}.db.t ALTER COLUMN number TYPE BIGINT",
        f"ALTER TABLE {hadoop}.db.t ADD COLUMN place.country STRING",
        f"ALTER TABLE {hadoop}.db.t RENAME COLUMN stops.element.name TO title",
        f"ALTER TABLE {hadoop}.db.t DROP COLUMN tags",
        f"ALTER TABLE {hadoop}.db.t ADD COLUMN tags ARRAY<INT>",
        f"INSERT INTO {hadoop}.db.t (number, id, tags) VALUES (5, 'five', array(5))",
    )
    assert not difference(rows_we_see(lake.open(root)), jvm.read(root))


@every_version
def test_rows_below_every_partitioning_that_the_jvm_gave_a_table_are_read_and_appended_to(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int
) -> None:
    jvm_writes(jvm, f"{hadoop}.db.t", Case("first third", cases.EVERY_TYPE, THIRDS[:1], ("month(ts)", "flag")), version)
    jvm.sql(
        f"ALTER TABLE {hadoop}.db.t REPLACE PARTITION FIELD month(ts) WITH day(ts)",
        f"ALTER TABLE {hadoop}.db.t DROP PARTITION FIELD flag",
        f"ALTER TABLE {hadoop}.db.t ADD PARTITION FIELD bucket(4, id) AS shard",
    )
    jvm.append(f"{hadoop}.db.t", THIRDS[1])
    lake.open(root).append(THIRDS[2])
    assert not difference(rows_we_see(lake.open(root)), lines(cases.ROWS))
    assert not difference(jvm.read(root), lines(cases.ROWS))


@pytest.mark.parametrize("folder", cases.ODD_FOLDERS)
@pytest.mark.parametrize("scheme", ["", "file://"], ids=("path", "uri"))
def test_tables_of_the_jvm_below_a_folder_with_an_odd_name_are_read_and_appended_to(
    jvm: Jvm, lake: lw.Lake, tmp_path: Path, unique: str, folder: str, scheme: str
) -> None:
    jvm.hadoop_catalog(f"{unique}_odd", f"{scheme}{tmp_path}/{folder}")
    jvm_writes(jvm, f"{unique}_odd.db.t", cases.ODD_VALUES_CASE, version=2)
    lake.open(f"{tmp_path}/{folder}/db/t").append(cases.ODD_VALUE_ROWS)
    expected = lines(pa.concat_tables((cases.ODD_VALUE_ROWS, cases.ODD_VALUE_ROWS)))
    assert not difference(rows_we_see(lake.open(f"{tmp_path}/{folder}/db/t")), expected)
    assert not difference(jvm.read(f"{unique}_odd.db.t"), expected)


@every_version
def test_a_history_of_appends_compaction_and_expiry_by_both_keeps_every_row(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int
) -> None:
    table = lake.create_table(root, cases.EVERY_TYPE, partitioned_by=["bucket(2, id)"], format_version=version)
    jvm.append(f"{hadoop}.db.t", THIRDS[0])
    table.append(THIRDS[1])
    jvm.append(f"{hadoop}.db.t", THIRDS[2])
    jvm.sql(f"CALL {hadoop}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))")
    assert not difference(rows_we_see(table), lines(cases.ROWS))
    table.append(cases.EDGE_ROWS)
    jvm.sql(
        f"CALL {hadoop}.system.expire_snapshots(table => 'db.t', older_than => TIMESTAMP '9999-01-01', retain_last => 1)",
        f"CALL {hadoop}.system.remove_orphan_files(table => 'db.t', dry_run => true)",
    )
    table.append(cases.ROWS)
    expected = lines(pa.concat_tables((cases.ROWS, cases.EDGE_ROWS, cases.ROWS)))
    assert not difference(rows_we_see(table), expected)
    assert not difference(jvm.read(root), expected)
    assert len(table.history()) == 2


def test_rows_keep_their_ids_while_the_jvm_and_we_append_and_it_compacts(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str
) -> None:
    lineage = f"SELECT id, _row_id, _last_updated_sequence_number AS age FROM {hadoop}.db.t"
    table = lake.create_table(root, cases.EVERY_TYPE, partitioned_by=["bucket(2, id)"], format_version=3)
    seen: list[str] = []
    for append in (table.append, partial(jvm.append, f"{hadoop}.db.t")) * 2:
        append(cases.ROWS)
        now = jvm.sql(lineage)
        assert not Counter(seen) - Counter(now)
        seen = now
    assert len({json.loads(row)["_row_id"] for row in seen}) == 4 * cases.ROWS.num_rows
    jvm.sql(f"CALL {hadoop}.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))")
    assert jvm.sql(lineage) == seen
    table.append(cases.EDGE_ROWS)
    later = jvm.sql(lineage)
    assert not Counter(seen) - Counter(later)
    assert len({json.loads(row)["_row_id"] for row in later}) == len(later)


@every_version
def test_a_table_of_ours_that_is_upgraded_is_right_for_the_jvm_at_each_step(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int
) -> None:
    table = lake.create_table(root, cases.EVERY_TYPE, partitioned_by=["day(ts)"], format_version=version)
    table.append(THIRDS[0])
    for newer in range(version, 4):
        table.upgrade(format_version=newer)
        assert not difference(jvm.read(root), lines(THIRDS[0]))
    jvm.append(f"{hadoop}.db.t", THIRDS[1])
    table.append(THIRDS[2])
    assert not difference(jvm.read(root), lines(cases.ROWS))
    assert not difference(rows_we_see(table), lines(cases.ROWS))
    assert jvm.sql(f"SELECT count(DISTINCT _row_id) AS ids FROM {hadoop}.db.t") == ['{"ids":20}']


CHANGES = {
    "delete": "DELETE FROM {} WHERE id % 3 = 0",
    "update": "UPDATE {} SET name = 'changed', d = DATE'2001-01-01' WHERE id > 4",
    "merge": (
        "MERGE INTO {} t USING (SELECT explode(array(1, 2, 77)) AS id) s ON t.id = s.id WHEN MATCHED AND t.id = 1 THEN "
        "DELETE WHEN MATCHED THEN UPDATE SET name = 'merged' WHEN NOT MATCHED THEN INSERT (id, name) VALUES (77, 'new')"
    ),
}


def changed(command: str, row: dict[str, object]) -> list[dict[str, object]]:
    """What becomes of a row."""
    number = row["id"]
    if command == "delete":
        return [] if number % 3 == 0 else [row]
    if command == "update":
        return [{**row, "name": "changed", "d": dt.date(2001, 1, 1)}] if number > 4 else [row]
    return [] if number == 1 else [{**row, "name": "merged"}] if number == 2 else [row]


def after(command: str, rows: pa.Table) -> pa.Table:
    found = [each for row in rows.to_pylist() for each in changed(command, row)]
    new = [{**dict.fromkeys(rows.column_names), "id": 77, "name": "new"}] if command == "merge" else []
    return pa.Table.from_pylist([*found, *new], rows.schema)


@pytest.mark.parametrize("command", CHANGES)
@pytest.mark.parametrize(
    ("version", "mode"), [(1, "copy-on-write"), (2, "copy-on-write"), (2, "merge-on-read"), (3, "merge-on-read")]
)
def test_a_table_of_ours_that_the_jvm_changed_holds_what_it_says(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int, mode: str, command: str
) -> None:
    written_by_us(lake, root, version, mode)
    jvm.sql(CHANGES[command].format(f"{hadoop}.db.t"))
    assert not difference(jvm.read(root), lines(after(command, cases.ROWS)))


@pytest.mark.parametrize("command", CHANGES)
@pytest.mark.parametrize(
    ("version", "mode"),
    [(1, "copy-on-write"), (3, "copy-on-write"), (2, "merge-on-read"), (3, "merge-on-read")],
)
def test_we_read_a_table_of_ours_that_the_jvm_changed_and_append_to_it(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, version: int, mode: str, command: str
) -> None:
    table = written_by_us(lake, root, version, mode)
    jvm.sql(CHANGES[command].format(f"{hadoop}.db.t"))
    assert not difference(rows_we_see(table), lines(after(command, cases.ROWS)))
    table.append(cases.EDGE_ROWS)
    expected = lines(pa.concat_tables((after(command, cases.ROWS), cases.EDGE_ROWS)))
    assert not difference(jvm.read(root), expected)
    assert not difference(rows_we_see(table), expected)


@pytest.mark.parametrize("version", [2, 3], ids="v{}".format)
@pytest.mark.parametrize(
    ("columns", "keys"),
    [(["name"], [[None], ["a"]]), (["name", "flag"], [["a", True], [None, None], ["", False]])],
    ids=["one column", "two columns"],
)
def test_equality_deletes_of_the_jvm_take_the_rows_that_it_says(
    jvm: Jvm,
    lake: lw.Lake,
    root: str,
    hadoop: str,
    version: int,
    columns: list[str],
    keys: list[list[str | bool | None]],
) -> None:
    some = [[row[name] for name in columns] for row in cases.ROWS.slice(3, 5).to_pylist()]
    table = lake.create_table(root, cases.EVERY_TYPE, format_version=version)
    for third in THIRDS[:2]:
        table.append(third)
    jvm.delete_equal(f"{hadoop}.db.t", f"{root}/data/equal.parquet", columns, [*keys, *some])
    table.append(THIRDS[2])
    expected = jvm.read(root)
    assert len(expected) < cases.ROWS.num_rows
    assert not difference(rows_we_see(table), expected)


def written_by_us(lake: lw.Lake, root: str, version: int, mode: str) -> lw.Table:
    properties = {f"write.{command}.mode": mode for command in CHANGES}
    table = lake.create_table(
        root, cases.EVERY_TYPE, partitioned_by=["month(d)"], properties=properties, format_version=version
    )
    for third in THIRDS:
        table.append(third)
    return table
