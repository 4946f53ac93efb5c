"""Does a table that was copied elsewhere go on there, with its records still naming the old place?"""

from pathlib import Path

import pyarrow as pa
import pytest

import lakewright as lw
from tests.foreign.arrow_rows import rows_of


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64())})


def ids_in(table: lw.Table, moved: dict[str, str]) -> list[int]:
    return sorted(rows_of(table.metadata_location, moved)["id"].to_pylist())


def moved_folder(tmp_path: Path, moved_as: str) -> tuple[lw.Lake, Path, dict[str, str]]:
    old, new = tmp_path / "old place", tmp_path / "new"
    lake = lw.connect(catalog={"name": "before", "type": "folder", "warehouse": f"file://{old}"})
    lake.create_table("t", "id BIGINT").append(rows(1, 2))
    old.rename(new)
    moved = {moved_as.format(old): str(new)}
    return (
        lw.connect(catalog={"name": "after", "type": "folder", "warehouse": f"file://{new}"}, moved=moved),
        new,
        moved,
    )


@pytest.mark.parametrize("spelling", ["{}", "{}/", "file://{}", "file:{}"])
def test_reads_and_writes_go_to_the_new_place_however_the_old_one_is_spelled(tmp_path: Path, spelling: str) -> None:
    lake, new, moved = moved_folder(tmp_path, spelling)
    table = lake.table("t")
    table.append(rows(3))
    assert ids_in(table, moved) == [1, 2, 3]
    assert not (tmp_path / "old place").exists()
    assert len(list(new.rglob("*.parquet"))) == 2


def test_recorded_locations_stay_as_they_are(tmp_path: Path) -> None:
    lake, new, _ = moved_folder(tmp_path, "{}")
    lake.table("t").append(rows(3))
    assert repr(lake.table("t")).splitlines()[-1] == f"file://{tmp_path}/old place/t"
    manifests = b"".join(path.read_bytes() for path in new.rglob("*-m0.avro"))
    assert str(new).encode() not in manifests


def test_a_table_of_a_catalog_that_was_moved_is_found_by_its_name(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    catalog = {"name": "c", "type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{old}"}
    lw.connect(catalog=catalog).create_table("s.t", "id BIGINT").append(rows(1))
    old.rename(new)
    moved = {str(old): f"file://{new}"}
    table = lw.connect(catalog=catalog, moved=moved).table("s.t")
    table.append(rows(2))
    assert ids_in(table, moved) == [1, 2]
    assert not old.exists()
