"""Is a request for an append that cannot be right refused before anything is written, in a sentence that says why?"""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import lakewright as lw

ROWS = pa.table({"id": [1]})


@pytest.fixture
def lake(tmp_path: Path) -> lw.Lake:
    return lw.connect(catalog={"name": "here", "type": "folder", "warehouse": str(tmp_path)})


@pytest.mark.parametrize(
    ("rows", "summary", "said"),
    [
        (ROWS, {"batch": 17}, "summary entry batch is 17; the values of a summary are texts"),
        (ROWS, {"operation": "merge"}, "the summary of a version names its operation already"),
        (pd.DataFrame({"id": [1, "x"]}), {}, "the pandas DataFrame does not become an Arrow table. .*column id"),
        ([1], {}, "rows are a Spark DataFrame, an Arrow table or a pandas DataFrame, found builtins.list"),
    ],
)
def test_what_cannot_be_appended_is_refused(lake: lw.Lake, tmp_path: Path, rows: Any, summary: Any, said: str) -> None:
    table = lake.create_table("t", "id BIGINT")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(lw.InvalidRequest, match=said):
        table.append(rows, summary=summary)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_time_before_the_first_version_is_refused_with_both_times(lake: lw.Lake) -> None:
    table = lake.create_table("t", "id BIGINT")
    table.append(ROWS)
    with pytest.raises(
        lw.InvalidRequest, match=r"no version from 2020-01-01T00:00:00.000\+00:00 or before; its oldest"
    ):
        table.at(timestamp="2020-01-01T00:00:00+00:00")


def test_a_table_shows_itself_in_three_lines(lake: lw.Lake, tmp_path: Path) -> None:
    table = lake.create_table("t", "id BIGINT", format_version=1)
    version = table.append(ROWS).version
    what, how_much, where = repr(table).splitlines()
    assert (what, where) == ("t (Iceberg v1)", f"{tmp_path}/t")
    assert how_much.startswith(f"version {version}: 1 row, 1 file, ")
    assert repr(table.at(version=version)) == repr(table)


def test_a_metadata_file_that_is_not_there_is_the_request_s_mistake(lake: lw.Lake, tmp_path: Path) -> None:
    with pytest.raises(lw.InvalidRequest, match=r"there is no metadata file .*v9\.metadata\.json"):
        lake.open(f"{tmp_path}/v9.metadata.json")
