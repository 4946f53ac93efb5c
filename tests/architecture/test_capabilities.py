"""Does code ask for capabilities, and is a question for a format's name noticed?"""

import pytest

from tests.architecture.rules import capabilities
from tests.architecture.source import in_project, planted


def test_only_those_who_pick_a_format_know_its_name() -> None:
    found = in_project(capabilities.violations, "src")
    assert not found, found


@pytest.mark.parametrize(
    "text",
    [
        "if table.format == 'iceberg': pass",
        "if 'delta' != table.format: pass",
        "if table.format in ('iceberg', unknown): pass",
        "match table.format:\n    case 'indextable': pass",
        "table.format.startswith('delta')",
    ],
)
def test_a_question_for_the_name_of_a_format_is_named(text: str) -> None:
    assert len(capabilities.violations(planted("src/lakewright/operations/update.py", text))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("lake.py", "if kind == 'iceberg': pass"),
        ("interfaces/cli/open.py", "if kind == 'delta': pass"),
        ("formats/delta/adapter.py", "if provider == 'delta': pass"),
        ("operations/update.py", "if table.capabilities.can_mark_rows: pass"),
        ("operations/update.py", "place = 'delta'\nif mode == 'deltas': pass"),
    ],
)
def test_a_question_for_a_capability_passes(path: str, text: str) -> None:
    assert capabilities.violations(planted(f"src/lakewright/{path}", text)) == []
