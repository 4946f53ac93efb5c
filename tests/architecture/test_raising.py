"""Are only our errors raised, and is another one noticed?"""

import pytest

from tests.architecture.rules import raising
from tests.architecture.source import in_project, planted


def test_only_our_own_errors_are_raised() -> None:
    found = in_project(raising.violations, "src")
    assert not found, found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("planning/bind.py", "raise ValueError('no')"),
        ("planning/bind.py", "raise KeyError"),
        ("planning/bind.py", "raise NotImplementedError"),
        ("planning/bind.py", "import builtins\nraise builtins.TypeError()"),
        ("table.py", "def __getattr__(name):\n    raise AttributeError(name)"),
        ("__init__.py", "raise AttributeError"),
        ("__init__.py", "def __getattr__(name):\n    raise KeyError(name)"),
        ("formats/iceberg/log.py", "raise OSError"),
        ("storage/stores.py", "raise PermissionError"),
        ("storage/stores.py", "from pyiceberg.exceptions import NoSuchTableError\nraise NoSuchTableError()"),
        ("storage/stores.py", "import obstore\nraise obstore.exceptions.GenericError()"),
        ("planning/bind.py", "class Odd(Exception): pass"),
        ("planning/bind.py", "from lakewright.errors import Unsupported\nclass Odd(Unsupported): pass"),
        ("planning/bind.py", "import json\nclass Odd(json.JSONDecodeError): pass"),
    ],
)
def test_an_error_that_is_not_ours_is_named(path: str, text: str) -> None:
    assert len(raising.violations(planted(f"src/lakewright/{path}", text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("planning/bind.py", "from lakewright.errors import Unsupported\nraise Unsupported('no') from None"),
        ("planning/bind.py", "from lakewright import errors\nraise errors.Unsupported('no')"),
        ("commit/loop.py", "try:\n    go()\nexcept OSError:\n    raise"),
        ("commit/loop.py", "raise refusal(1)"),
        ("commit/loop.py", "raise failure"),
        ("__init__.py", "def __getattr__(name):\n    raise AttributeError(name)"),
        ("storage/stores.py", "raise FileNotFoundError(location)"),
        ("errors.py", "class LakewrightError(Exception): pass\nclass Odd(LakewrightError): pass"),
        ("testing/stores.py", "class Crash(BaseException): pass\nraise Crash"),
        ("model/files.py", "class File(Record): pass"),
    ],
)
def test_our_errors_and_those_of_a_contract_pass(path: str, text: str) -> None:
    assert raising.violations(planted(f"src/lakewright/{path}", text)) == []
