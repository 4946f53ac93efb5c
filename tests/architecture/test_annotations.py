"""Do types say what a value is, and is `Any` noticed?"""

import pytest

from tests.architecture.rules import annotations
from tests.architecture.source import in_project, planted


def test_no_record_is_untyped_and_no_public_signature_says_any() -> None:
    found = in_project(annotations.violations, "src")
    assert not found, found


@pytest.mark.parametrize(
    "text",
    [
        "_record: dict[str, Any] = {}",
        "def _read(text: str) -> typing.Dict[str, typing.Any]: ...",
        "def _read(record: Mapping[str, Any]): ...",
        "def read(value: Any): ...",
        "def read() -> list[Any]: ...",
        "def read(*values: 'Any'): ...",
        "async def read(*, value: typing.Any = None): ...",
        "class File:\n    def read(self) -> Any: ...",
        "class File:\n    value: Any",
        "class File:\n    def __enter__(self) -> Any: ...",
    ],
)
def test_an_untyped_value_is_named(text: str) -> None:
    assert len(annotations.violations(planted("src/lakewright/planning/bind.py", text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("formats/delta/records.py", "def parse(record: dict[str, Any]) -> Any: ..."),
        ("formats/iceberg/records/metadata.py", "record: dict[str, Any] = {}"),
        ("planning/bind.py", "def _read(value: Any): ..."),
        ("planning/bind.py", "class _File:\n    value: Any"),
        ("planning/bind.py", "def read(value: object) -> 'Anything': ..."),
        ("planning/bind.py", "def read(record: dict[str, int]): ..."),
    ],
)
def test_typed_values_and_records_pass(path: str, text: str) -> None:
    assert annotations.violations(planted(f"src/lakewright/{path}", text)) == []
