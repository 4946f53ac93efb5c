"""What is public, and what does it cost to import?"""

import ast
import json
import subprocess
import sys

import lakewright
from tests.architecture.source import PROJECT

PUBLIC_NAMES = ["Lake", "Report", "Table", "__version__", "connect"]
HEAVY = ("pyspark", "pyiceberg", "pyarrow", "numpy", "pandas", "sqlglot", "fastavro", "obstore")
IMPORT_SECONDS_MAX = 0.2
MEASURE = f"""
import json, sys, time
started = time.perf_counter()
import lakewright
seconds = time.perf_counter() - started
print(json.dumps([seconds, [name for name in {HEAVY} if name in sys.modules]]))
"""


def test_the_public_names_are_these_and_the_errors() -> None:
    assert sorted(lakewright.__all__) == sorted(PUBLIC_NAMES + _error_names())


def test_every_public_name_resolves_and_is_listed_by_dir() -> None:
    assert {name for name in lakewright.__all__ if not hasattr(lakewright, name)} == set()
    assert set(lakewright.__all__) <= set(dir(lakewright))


def test_importing_the_package_is_quick_and_imports_no_dependency() -> None:
    measured = [_measured_import() for _ in range(3)]
    assert [heavy for _, heavy in measured] == [[], [], []]
    assert min(seconds for seconds, _ in measured) < IMPORT_SECONDS_MAX


def _error_names() -> list[str]:
    tree = ast.parse((PROJECT / "src/lakewright/errors.py").read_text("utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef)]


def _measured_import() -> tuple[float, list[str]]:
    answer = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, check=True, text=True)
    seconds, heavy = json.loads(answer.stdout)
    return seconds, heavy
