"""Do names say something, and are private names and empty names noticed?"""

import pytest

from tests.architecture.rules import names
from tests.architecture.source import PYTHON_FOLDERS, in_project, planted


def test_modules_say_what_is_different_about_them_and_keep_what_is_private() -> None:
    found = in_project(names.violations, *PYTHON_FOLDERS)
    assert not found, found


@pytest.mark.parametrize(
    "path",
    [
        "src/lakewright/planning/utils.py",
        "src/lakewright/common/rows.py",
        "tests/unit/_helpers.py",
        "src/lakewright/model/data.py",
    ],
)
def test_a_module_name_that_says_nothing_is_named(path: str) -> None:
    assert len(names.violations(planted(path, ""))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from lakewright.planning.bind import _resolve",
        "from lakewright.planning import _columns",
        "import lakewright.planning._columns",
        "from lakewright.planning import bind\nbind._resolve(1)",
    ],
)
@pytest.mark.parametrize("path", ["src/lakewright/operations/delete.py", "tests/unit/test_bind.py"])
def test_the_use_of_a_private_name_of_another_module_is_named(path: str, text: str) -> None:
    assert len(names.violations(planted(path, text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/lakewright/planning/database.py", "def _resolve(): pass\n_resolve()"),
        ("src/lakewright/interfaces/cli.py", "from lakewright._version import __version__"),
        ("src/lakewright/model/files.py", "from __future__ import annotations"),
        ("tests/unit/test_bind.py", "import lakewright\nlakewright.__version__"),
    ],
)
def test_telling_and_public_names_pass(path: str, text: str) -> None:
    assert names.violations(planted(path, text)) == []
