"""Are files and row groups as large as the table asks, however many rows are appended at once?"""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakewright as lw

MIB = 1 << 20
ROWS = 1_500_000
THREADS = min(2, os.cpu_count() or 1)
RANDOM = np.random.default_rng(7).random(ROWS)


@pytest.fixture
def lake(tmp_path: Path) -> lw.Lake:
    return lw.connect(catalog={"name": "here", "type": "folder", "warehouse": str(tmp_path)})


def files(place: Path) -> list[Path]:
    return sorted(place.rglob("*.parquet"))


def test_an_arrow_table_becomes_files_and_row_groups_of_the_size_that_is_asked_for(
    lake: lw.Lake, tmp_path: Path
) -> None:
    sizes = {"write.target-file-size-bytes": str(4 * MIB), "write.parquet.row-group-size-bytes": str(MIB)}
    table = lake.create_table("t", "x DOUBLE", properties=sizes)
    report = table.append(pa.table({"x": RANDOM}))
    written = files(tmp_path)
    assert report.files_added == len(written)
    assert [path for path in written[:-1] if not 2 * MIB < path.stat().st_size < 6 * MIB] == []
    groups = [pq.read_metadata(path).row_group(0) for path in written]
    assert max(group.total_byte_size for group in groups) < 2 * MIB
    read = np.concatenate([pq.read_table(path)["x"].to_numpy() for path in written])
    assert np.array_equal(np.sort(read), np.sort(RANDOM))


@pytest.mark.parametrize(("mode", "writers"), [("none", THREADS), ("hash", 1), ("range", 1)])
def test_a_partition_has_one_writer_if_the_table_asks_for_that(
    lake: lw.Lake, tmp_path: Path, mode: str, writers: int
) -> None:
    table = lake.create_table(
        "t", "p INT, x BINARY", partitioned_by=["p"], properties={"write.distribution-mode": mode}
    )
    rows = 150_000
    table.append(pa.table({"p": np.arange(rows, dtype="int32") % 2, "x": pa.array([bytes(1000)] * rows)}))
    assert len(files(tmp_path / "t" / "data" / "p=0")) == writers
