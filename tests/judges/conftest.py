"""What do the judges share? One lake with a catalog that pyiceberg opens as well, and the engines themselves."""

from dataclasses import dataclass
from typing import Any

import pytest
from pyiceberg.catalog import Catalog, load_catalog

import lakewright as lw
from tests.judges.asking import DuckDb, Judge, Lakewright, PyIceberg, Reader


@dataclass(frozen=True)
class SharedLake:
    """The same tables under the same names, for us and for pyiceberg."""

    ours: lw.Lake
    theirs: Catalog
    folder: str


@pytest.fixture(scope="session")
def shared_lake(tmp_path_factory: pytest.TempPathFactory) -> SharedLake:
    folder = tmp_path_factory.mktemp("lake")
    properties = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}/warehouse"}
    ours = lw.connect(catalog={"name": "shared", **properties})
    return SharedLake(ours, load_catalog("shared", **properties), str(folder))


@pytest.fixture(scope="session")
def judges(duckdb_judge: Any) -> dict[str, Judge]:
    return {"duckdb": DuckDb(duckdb_judge), "pyiceberg": PyIceberg()}


@pytest.fixture(scope="session")
def readers(judges: dict[str, Judge]) -> dict[str, Reader]:
    return {**judges, "lakewright": Lakewright()}
