"""Do tests use fakes that behave, and is a mock noticed?"""

import pytest

from tests.architecture.rules import fakes
from tests.architecture.source import PYTHON_FOLDERS, in_project, planted


def test_no_test_remembers_calls_or_patches_code() -> None:
    found = in_project(fakes.violations, *PYTHON_FOLDERS)
    assert not found, found


@pytest.mark.parametrize(
    "text",
    [
        "import unittest.mock",
        "from unittest import mock",
        "from unittest.mock import MagicMock",
        "from unittest.mock import patch",
        "def test_it(mocker): ...",
        "def test_it(monkeypatch):\n    monkeypatch.setattr(table, 'commit', None)",
    ],
)
def test_a_mock_is_named(text: str) -> None:
    assert len(fakes.violations(planted("tests/unit/test_it.py", text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "from lakewright.testing.stores import MemoryStore",
        "def test_it(monkeypatch):\n    monkeypatch.setenv('CI', 'true')",
        "import unittest",
    ],
)
def test_fakes_and_surroundings_pass(text: str) -> None:
    assert fakes.violations(planted("tests/unit/test_it.py", text)) == []
