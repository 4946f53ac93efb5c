"""Do imports point downward, and is a wrong direction noticed?"""

import pytest

from tests.architecture.rules import layers
from tests.architecture.source import PROJECT, in_project, planted


def test_imports_in_the_package_point_downward() -> None:
    found = in_project(layers.violations, "src")
    assert not found, found


def test_every_folder_of_formats_is_known_as_a_format() -> None:
    folders = {path.parent.name for path in (PROJECT / "src/lakewright/formats").glob("*/__init__.py")}
    assert folders <= set(layers.FORMATS)


@pytest.mark.parametrize(
    ("path", "statement"),
    [
        ("model/files.py", "from lakewright.planning import bind"),
        ("model/files.py", "from lakewright.protocols import Engine"),
        ("errors.py", "import lakewright.model.files"),
        ("protocols.py", "from lakewright.operations.delete import Delete"),
        ("planning/bind.py", "from ..commit.loop import publish"),
        ("operations/delete.py", "from lakewright.table import Table"),
        ("operations/delete.py", "from lakewright.engine.arrow import rewrite"),
        ("table.py", "from lakewright.lake import Lake"),
        ("table.py", "from lakewright.formats.iceberg.adapter import IcebergTable"),
        ("table.py", "from lakewright.storage.stores import local"),
        ("table.py", "from lakewright.system_clock import SystemClock"),
        ("interfaces/sql/parse.py", "import lakewright.engine.spark.session"),
        ("lake.py", "from lakewright.testing.stores import MemoryStore"),
        ("interfaces/cli/commands.py", "from lakewright.testing import stores"),
        ("engine/arrow/read.py", "from lakewright.storage.stores import local"),
        ("engine/arrow/read.py", "from lakewright.planning.bind import bind"),
        ("formats/delta/log.py", "from lakewright.storage.stores import local"),
        ("formats/delta/replay.py", "from lakewright.formats.iceberg.records import manifest"),
        ("formats/delta/replay.py", "from ..iceberg import records"),
        ("formats/bitmaps.py", "from lakewright.formats.iceberg import records"),
        ("storage/stores.py", "from lakewright.formats.delta.log import read"),
        ("testing/conformance.py", "from lakewright.commit.loop import publish"),
        ("model/files.py", "from lakewright import Table"),
        ("rowmath.py", "from lakewright.model import files"),
        ("__init__.py", "from lakewright.engine.spark.session import session"),
    ],
)
def test_an_import_that_does_not_point_downward_is_named(path: str, statement: str) -> None:
    found = layers.violations(planted(f"src/lakewright/{path}", statement))
    assert len(found) == 1
    assert found[0].startswith(f"src/lakewright/{path}:1: imports lakewright.")


@pytest.mark.parametrize(
    ("path", "statement"),
    [
        ("interfaces/sql/parse.py", "from lakewright.lake import Lake"),
        ("lake.py", "from lakewright.formats.iceberg.adapter import IcebergTable"),
        ("lake.py", "from lakewright.system_clock import SystemClock"),
        ("table.py", "from lakewright.operations import delete"),
        ("operations/delete.py", "from lakewright import errors, protocols"),
        ("operations/merge.py", "from lakewright.operations.update import assignments"),
        ("planning/prune.py", "from . import bind"),
        ("engine/spark/run.py", "from lakewright.engine.arrow import rewrite"),
        ("formats/delta/replay.py", "from . import records"),
        ("formats/delta/replay.py", "from lakewright.formats.bitmaps import decode"),
        ("interfaces/cli/commands.py", "from lakewright._version import __version__"),
        ("__init__.py", "def __getattr__(name):\n    from lakewright.engine.spark.session import session"),
        ("__init__.py", "from lakewright._version import __version__"),
        ("model/files.py", "import dataclasses"),
    ],
)
def test_an_import_that_points_downward_passes(path: str, statement: str) -> None:
    assert layers.violations(planted(f"src/lakewright/{path}", statement)) == []
