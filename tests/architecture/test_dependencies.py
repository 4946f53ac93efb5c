"""Does each dependency stay at home, is it declared, and is a stray import noticed?"""

import re
import tomllib

import pytest

from tests.architecture.rules import dependencies
from tests.architecture.source import PROJECT, in_project, planted


def test_every_dependency_is_imported_in_its_named_folders_only() -> None:
    found = in_project(dependencies.violations, "src")
    assert not found, found


def test_every_dependency_that_has_a_home_is_declared_and_every_declared_one_has_a_home() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {re.split(r"[^\w-]", requirement, maxsplit=1)[0] for requirement in project["dependencies"]}
    assert declared == {name.partition(".")[0] for name in dependencies.HOMES}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("operations/delete.py", "import pyspark"),
        ("table.py", "from pyspark.sql import DataFrame"),
        ("lake.py", "import pyiceberg.catalog"),
        ("model/files.py", "import numpy as np"),
        ("table.py", "import pyarrow as pa"),
        ("planning/prune.py", "from pyarrow import parquet"),
        ("formats/delta/replay.py", "import pyarrow.parquet as pq"),
        ("formats/delta/log.py", "import obstore"),
        ("formats/delta/replay.py", "import fastavro"),
        ("model/partitioning.py", "import mmh3"),
        ("operations/update.py", "import sqlglot"),
        ("planning/bind.py", "import polars"),
        ("model/files.py", "if TYPE_CHECKING:\n    import pyarrow"),
        ("table.py", "if TYPE_CHECKING:\n    import pyiceberg"),
        ("engine/spark/run.py", "frame.rdd.map(count)"),
        ("engine/spark/run.py", "session._jvm.java.lang.System.gc()"),
    ],
)
def test_a_dependency_away_from_home_is_named(path: str, text: str) -> None:
    assert len(dependencies.violations(planted(f"src/lakewright/{path}", text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("engine/spark/run.py", "from pyspark.sql import SparkSession"),
        ("interfaces/datasource/reader.py", "from pyspark.sql.datasource import DataSource"),
        ("engine/arrow/read.py", "import pyarrow.parquet as pq"),
        ("formats/delta/checkpoint.py", "import pyarrow.parquet as pq"),
        ("planning/prune.py", "import pyarrow.compute as pc\nimport numpy"),
        ("formats/iceberg/catalog.py", "import pyiceberg.catalog"),
        ("model/transforms.py", "import mmh3"),
        ("table.py", "if TYPE_CHECKING:\n    import pyarrow\n    from pyspark.sql import DataFrame"),
        ("__init__.py", "if TYPE_CHECKING:\n    from pyspark.sql import DataFrame"),
        ("model/files.py", "import datetime"),
        ("operations/delete.py", "from lakewright.model import files"),
    ],
)
def test_a_dependency_at_home_passes(path: str, text: str) -> None:
    assert dependencies.violations(planted(f"src/lakewright/{path}", text)) == []
