"""What is left when a table was made and its first rows could not be appended?"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.in_process_engine import InProcessEngine

import lakewright as lw
from lakewright.formats.iceberg.adapter import IcebergSource
from lakewright.formats.iceberg.catalog import FolderCatalog
from lakewright.storage.locations import Storage
from lakewright.testing.faults import Failure, FaultPlan, FaultyCatalog
from lakewright.testing.steady import CountingIds, FixedClock

ROWS = pa.table({"id": [1]})
REQUIRED = pa.schema([pa.field("id", pa.int64(), nullable=False)])
LOOKS_AT_A_LOST_ANSWER = 4


@dataclass(frozen=True)
class FullDisk(InProcessEngine):
    """Lets something happen, and then cannot write."""

    first: Callable[[], object] = lambda: None

    def write(self, *_: Any) -> Any:
        self.first()
        raise OSError("no space left")


def lake_of(place: Path, plan: FaultPlan | None = None, engine: InProcessEngine | None = None) -> lw.Lake:
    store, clock, ids = Storage(), FixedClock(), CountingIds()
    catalog = FaultyCatalog(FolderCatalog(store, str(place)), plan or FaultPlan())
    return lw.Lake(IcebergSource(catalog, store, clock, ids), engine or InProcessEngine(store), None, clock, ids)


def test_rows_that_do_not_fit_leave_no_table(tmp_path: Path) -> None:
    lake = lake_of(tmp_path)
    with pytest.raises(lw.InvalidRequest, match="column id is required"):
        lake.create_table_as("t", pa.Table.from_arrays([pa.array([1, None])], schema=REQUIRED))
    assert lake.tables() == ()


def test_a_table_that_others_have_written_to_meanwhile_stays(tmp_path: Path) -> None:
    others = lake_of(tmp_path)
    lake = lake_of(tmp_path, engine=FullDisk(Storage(), lambda: others.table("t").append(ROWS)))
    with pytest.raises(OSError, match="no space left"):
        lake.create_table_as("t", ROWS)
    assert len(others.table("t").history()) == 1


def test_while_nobody_knows_whether_the_rows_are_there_the_table_stays(tmp_path: Path) -> None:
    whole_run = FaultPlan()
    lake_of(tmp_path / "whole", whole_run).create_table_as("t", ROWS)
    append = max(number for number, call in enumerate(whole_run.calls) if call == "swap t")
    plan = FaultPlan.at(append, Failure.LOST_ANSWER, times=1 + LOOKS_AT_A_LOST_ANSWER)
    with pytest.raises(lw.CommitUnknown):
        lake_of(tmp_path / "lost", plan).create_table_as("t", ROWS)
    assert len(lake_of(tmp_path / "lost").table("t").history()) == 1
