"""Do imports stand at the top, and is a hidden one noticed?"""

import pytest

from tests.architecture.rules import placement
from tests.architecture.source import in_project, planted

HIDDEN = "def load():\n    import json"
BY_NAME = "import importlib\nimportlib.import_module('json')"


def test_imports_stand_at_the_top() -> None:
    found = in_project(placement.violations, "src")
    assert not found, found


@pytest.mark.parametrize("path", ["table.py", "formats/iceberg/__init__.py", "engine/spark/run.py"])
@pytest.mark.parametrize("text", [HIDDEN, BY_NAME, "class A:\n    async def b(self):\n        from json import loads"])
def test_an_import_inside_a_function_is_named(path: str, text: str) -> None:
    assert len(placement.violations(planted(f"src/lakewright/{path}", text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("__init__.py", HIDDEN),
        ("__init__.py", BY_NAME),
        ("lake.py", HIDDEN),
        ("table.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import json"),
        ("table.py", "try:\n    import json\nexcept ImportError:\n    json = None"),
    ],
)
def test_lazy_loading_in_its_two_places_and_imports_at_the_top_pass(path: str, text: str) -> None:
    assert placement.violations(planted(f"src/lakewright/{path}", text)) == []
