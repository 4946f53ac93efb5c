"""Does Apache Iceberg's Spark runtime read the tables that we write, and skip in them only what it may?"""

from pathlib import Path

import pytest

import lakewright as lw
from tests.canonical import difference, lines
from tests.interop import cases
from tests.interop.cases import Case
from tests.interop.jvm_client import Jvm

THREE_APPENDS = (cases.ROWS.slice(0, 7), cases.ROWS.slice(7, 1), cases.ROWS.slice(8))

every_version = pytest.mark.parametrize("version", [1, 2, 3], ids="v{}".format)
every_case = pytest.mark.parametrize(
    ("case", "version"),
    [pytest.param(case, version, id=f"{case.name}-v{version}") for case, version in cases.each_in_a_version()],
)

RECORDED_OF_PARTITIONS = "SELECT partition, spec_id, record_count, file_count FROM {}.partitions"
RECORDED_OF_FILES = (
    "SELECT content, file_format, spec_id, record_count, value_counts, null_value_counts, nan_value_counts, "
    "lower_bounds, upper_bounds, equality_ids FROM {}.files"
)
RECORDED_OF_MANIFESTS = (
    "SELECT content, partition_spec_id, added_data_files_count, existing_data_files_count, deleted_data_files_count, "
    "partition_summaries FROM {}.all_manifests"
)


def spelled_alike(recorded: list[str]) -> list[str]:
    """Where a column holds zeros our bounds say -0.0 and 0.0, those of the JVM what it met; nothing counted is nothing."""
    spellings = {'"0x00000080"': '"0x00000000"', '"0x0000000000000080"': '"0x0000000000000000"', "null,": "[],"}
    for ours, theirs in spellings.items():
        recorded = [row.replace(ours, theirs) for row in recorded]
    return recorded


def created(lake: lw.Lake, name: str, case: Case, version: int) -> lw.Table:
    return lake.create_table(name, case.columns, partitioned_by=list(case.partitioned_by), format_version=version)


def written(lake: lw.Lake, name: str, case: Case, version: int) -> lw.Table:
    table = created(lake, name, case, version)
    for batch in case.batches:
        table.append(batch)
    return table


def three_appends(*partitioned_by: str) -> Case:
    return Case("three appends", cases.EVERY_TYPE, THREE_APPENDS, partitioned_by)


@every_case
def test_the_jvm_reads_every_row_that_we_append_and_skips_no_file_that_holds_a_match(
    jvm: Jvm, lake: lw.Lake, case: Case, version: int
) -> None:
    table = written(lake, "db.t", case, version)
    assert not difference(jvm.read(table.metadata_location), lines(case.rows))
    assert jvm.predicates_that_prune_wrongly(table.metadata_location, case.predicates) == {}


@pytest.mark.never("the JVM takes -0.0 for less than 0.0 when it skips, in files of its own as well")
@pytest.mark.parametrize("who", ["we", "the JVM"])
def test_the_jvm_finds_a_zero_by_the_zero_of_the_other_sign(
    jvm: Jvm, lake: lw.Lake, root: str, hadoop: str, who: str
) -> None:
    table = created(lake, root, cases.FLOATS_APART, version=2)
    for batch in cases.FLOATS_APART.batches:
        if who == "we":
            table.append(batch)
        else:
            jvm.append(f"{hadoop}.db.t", batch)
    assert jvm.predicates_that_prune_wrongly(root, cases.ABOUT_ZERO) == {}


@every_version
def test_the_jvm_reads_each_snapshot_as_it_was(jvm: Jvm, lake: lw.Lake, version: int) -> None:
    table = written(lake, "db.t", three_appends("bucket(3, id)"), version)
    snapshots = sorted(table.history(), key=lambda entry: entry.timestamp_ms)
    rows = [len(jvm.read(table.metadata_location, snapshot=snapshot.version)) for snapshot in snapshots]
    assert rows == [7, 8, 20]
    assert not difference(jvm.read(table.metadata_location, snapshot=snapshots[0].version), lines(THREE_APPENDS[0]))


@every_case
def test_the_jvm_describes_our_table_as_it_would_its_own(
    jvm: Jvm, lake: lw.Lake, hadoop: str, warehouse: Path, case: Case, version: int
) -> None:
    created(lake, str(warehouse / "db" / "ours"), case, version)
    jvm.create_table(f"{hadoop}.db.theirs", case.columns, partitioned_by=case.partitioned_by, version=version)
    ours, theirs = (jvm.sql(f"DESCRIBE TABLE {hadoop}.db.{name}") for name in ("ours", "theirs"))
    assert ours == theirs


@every_case
def test_the_jvm_records_of_its_own_files_what_we_record_of_ours(
    jvm: Jvm, lake: lw.Lake, hadoop: str, warehouse: Path, case: Case, version: int
) -> None:
    """Partition values, bounds byte by byte, counts, and the summaries of manifests."""
    for name in ("ours", "theirs"):
        created(lake, str(warehouse / "db" / name), case, version)
    for batch in case.batches:
        lake.open(str(warehouse / "db" / "ours")).append(batch)
        if batch.num_rows:
            jvm.append(f"{hadoop}.db.theirs", batch)
    for question in (RECORDED_OF_PARTITIONS, RECORDED_OF_FILES, RECORDED_OF_MANIFESTS):
        if "partition" not in question or case.partitioned_by:
            ours, theirs = (jvm.sql(question.format(f"{hadoop}.db.{name}")) for name in ("ours", "theirs"))
            assert not difference(spelled_alike(ours), spelled_alike(theirs)), question


@every_version
def test_the_jvm_finds_our_table_in_the_shared_catalog(
    jvm: Jvm, lake: lw.Lake, tmp_path: Path, warehouse: Path, unique: str, version: int
) -> None:
    written(lake, "db.t", three_appends("day(ts)"), version)
    jvm.sqlite_catalog(unique, database=tmp_path / "catalog.db", warehouse=f"file://{warehouse}")
    assert jvm.sql(f"SHOW TABLES IN {unique}.db") == ['{"isTemporary":false,"namespace":"db","tableName":"t"}']
    assert not difference(jvm.read(f"{unique}.db.t"), lines(cases.ROWS))


@every_version
def test_the_jvm_reads_a_folder_table_of_ours_by_its_root(jvm: Jvm, lake: lw.Lake, root: str, version: int) -> None:
    written(lake, root, three_appends("bucket(3, id)"), version)
    assert not difference(jvm.read(root), lines(cases.ROWS))


@pytest.mark.parametrize("folder", cases.ODD_FOLDERS)
def test_the_jvm_reads_our_tables_below_a_folder_with_an_odd_name(
    jvm: Jvm, lake: lw.Lake, tmp_path: Path, unique: str, folder: str
) -> None:
    written(lake, str(tmp_path / folder / "db" / "t"), cases.ODD_VALUES_CASE, version=2)
    jvm.hadoop_catalog(f"{unique}_odd", tmp_path / folder)
    assert not difference(jvm.read(f"{unique}_odd.db.t"), lines(cases.ODD_VALUE_ROWS))


@every_version
def test_the_jvm_counts_in_our_manifests_what_our_files_hold(
    jvm: Jvm, lake: lw.Lake, hadoop: str, root: str, version: int
) -> None:
    written(lake, root, three_appends("month(d)"), version)
    assert jvm.sql(f"SELECT sum(record_count) AS rows FROM {hadoop}.db.t.files") == ['{"rows":20}']
    assert jvm.sql(f"SELECT sum(record_count) AS rows FROM {hadoop}.db.t.partitions") == ['{"rows":20}']
    assert jvm.sql(f"SELECT summary['total-records'] AS rows FROM {hadoop}.db.t.snapshots") == [
        '{"rows":"20"}',
        '{"rows":"7"}',
        '{"rows":"8"}',
    ]
    sizes = jvm.sql(f"SELECT file_size_in_bytes AS size FROM {hadoop}.db.t.files")
    assert sizes == sorted(f'{{"size":{path.stat().st_size}}}' for path in Path(root).rglob("*.parquet"))


def test_every_row_of_our_v3_table_has_an_id_of_its_own(jvm: Jvm, lake: lw.Lake, hadoop: str, root: str) -> None:
    written(lake, root, three_appends("bucket(3, id)"), version=3)
    ids = f"SELECT count(DISTINCT _row_id) AS ids, min(_row_id) AS least, max(_row_id) AS most FROM {hadoop}.db.t"
    assert jvm.sql(ids) == ['{"ids":20,"least":0,"most":19}']
    ages = f"SELECT _last_updated_sequence_number AS sequence, count(*) AS rows FROM {hadoop}.db.t GROUP BY 1"
    assert jvm.sql(ages) == ['{"rows":1,"sequence":2}', '{"rows":12,"sequence":3}', '{"rows":7,"sequence":1}']
