"""Do the examples of the documents run, as they stand there and in the order in which they stand there?"""

import re
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lakewright as lw
from tests.architecture.source import PROJECT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DOCUMENTS = ("README.md", "docs/guide.md")
PYTHON = re.compile(r"^```python(?P<not_run> not-run)?\n(?P<code>.*?)^```", re.MULTILINE | re.DOTALL)
"""A block that begins with ```python not-run needs what a test has not, such as a server; it has to compile."""
ABSOLUTE = re.compile(r'(?<=")/(?=data/|new/)')
CATALOG_BY_NAME = 'catalog="prod"'


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_examples_of_a_document_run(
    document: str, spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyiceberg reads the user's configuration when it is imported, so the catalog is given by its properties."""
    monkeypatch.chdir(tmp_path)
    names = prepared_world(spark, tmp_path)
    text = (PROJECT / document).read_text("utf-8")
    found = list(PYTHON.finditer(text))
    assert found, f"{document} has no examples"
    for block in found:
        code = ABSOLUTE.sub(f"{tmp_path}/", block["code"]).replace(CATALOG_BY_NAME, "catalog=prod")
        line = text.count("\n", 0, block.start()) + 1
        compiled = compile("\n" * line + code, document, "exec")
        if not block["not_run"]:
            exec(compiled, names)  # noqa: S102 -- our own documents


def test_the_demo_runs_twice_and_leaves_nothing_behind(tmp_path: Path) -> None:
    for _ in range(2):
        command = [sys.executable, str(PROJECT / "examples" / "demo.py")]
        answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert answer.returncode == 0, answer.stderr
        assert "1,003 rows" in answer.stdout
    assert list(tmp_path.iterdir()) == []


def prepared_world(spark: "SparkSession", place: Path) -> dict[str, Any]:
    """What a reader of the documents has already: a session, rows, tables in a catalog called prod and in a folder."""
    df = rows(spark)
    prod = {"name": "prod", "type": "sql", "uri": f"sqlite:///{place}/prod.db", "warehouse": f"{place}/prod"}
    lw.connect(spark=spark, catalog=prod).create_table_as("sales.orders", df)
    lw.connect(spark=spark).create_table(f"{place}/data/events", df).append(df)
    return {"spark": spark, "df": df, "prod": prod}


def rows(spark: "SparkSession") -> "DataFrame":
    moment = datetime(2026, 11, 1, 12, tzinfo=UTC)
    values = [(1, "EU", moment, Decimal("19.90")), (2, "US", moment, Decimal("5.00")), (3, None, None, None)]
    return spark.createDataFrame(values, "id BIGINT, region STRING, ts TIMESTAMP, price DECIMAL(10, 2)")
