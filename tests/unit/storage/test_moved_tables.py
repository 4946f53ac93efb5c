"""Does a table that was copied elsewhere go on there, with its records still naming the old place?"""

from pathlib import Path

import pyarrow as pa
import pytest
from tests.foreign.arrow_rows import rows_of

import lakewright as lw

FEW = {"write.metadata.previous-versions-max": "2", "write.metadata.delete-after-commit.enabled": "true"}


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64())})


def ids_in(table: lw.Table, moved: dict[str, str]) -> list[int]:
    return sorted(rows_of(table.metadata_location, moved)["id"].to_pylist())


def moved_folder(tmp_path: Path, moved_as: str) -> tuple[lw.Lake, Path, dict[str, str]]:
    old, new = tmp_path / "old place", tmp_path / "new"
    lake = lw.connect(catalog={"name": "before", "type": "folder", "warehouse": f"file://{old}"})
    lake.create_table("t", "id BIGINT", properties=FEW).append(rows(1, 2))
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


def test_a_moved_table_lets_go_of_its_old_metadata_files(tmp_path: Path) -> None:
    lake, new, _ = moved_folder(tmp_path, "{}")
    for number in range(5):
        lake.table("t").append(rows(number))
    assert len(list(new.rglob("*.metadata.json"))) == 3


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


def test_old_metadata_files_go_from_wherever_the_table_keeps_them(tmp_path: Path) -> None:
    catalog = {"name": "c", "type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{tmp_path}"}
    elsewhere = {**FEW, "write.metadata.path": f"file://{tmp_path}/elsewhere"}
    table = lw.connect(catalog=catalog).create_table("s.t", "id BIGINT", properties=elsewhere)
    for number in range(5):
        table.append(rows(number))
    assert len(list((tmp_path / "elsewhere").glob("*.metadata.json"))) == 3
    assert ids_in(table, {}) == [0, 1, 2, 3, 4]
