"""Does each module open with its sentence, and are loose ends and silenced rules noticed?"""

import pytest

from tests.architecture.rules import comments
from tests.architecture.source import PROJECT, PYTHON_FOLDERS, in_project, planted

OPENING = '"""What is this for?"""\n'


def test_modules_say_what_they_are_for_and_nothing_is_silenced_without_a_reason() -> None:
    found = in_project(comments.violations, *PYTHON_FOLDERS)
    assert not found, found


def test_a_rule_that_the_project_switches_off_carries_its_reason() -> None:
    lines = (PROJECT / "pyproject.toml").read_text("utf-8").partition("[tool.ruff.lint]")[2].splitlines()
    switched_off = lines[lines.index("ignore = [") + 1 : lines.index("]", lines.index("ignore = ["))]
    assert switched_off
    assert [line for line in switched_off if "  # " not in line] == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import json",
        '"""The files"""',
        OPENING + "# TODO make it faster",
        OPENING + "# TODO(someone): make it faster",
        OPENING + "# FIXME",
        OPENING + "import json  # noqa",
        OPENING + "import json  # noqa: F401",
        OPENING + "# ruff: noqa: F401",
        OPENING + "a = 1  # type: ignore[assignment]",
        OPENING + "a = 1  # type: ignore",
        OPENING + "# fmt: off",
    ],
)
def test_a_missing_sentence_or_reason_is_named(text: str) -> None:
    assert len(comments.violations(planted("src/lakewright/model/files.py", text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        '"""What is\nthis for?\n\nMore"""',
        OPENING + "# TODO(#12): make it faster",
        OPENING + "import json  # noqa: F401, E402 -- the doctest needs it",
        OPENING + "a = 1  # type: ignore[assignment, arg-type]  # the stub is wrong",
        OPENING + "text = '# TODO, # noqa'",
        OPENING + "# fmt: off -- a table reads better aligned",
    ],
)
def test_sentences_and_reasons_pass(text: str) -> None:
    assert comments.violations(planted("src/lakewright/model/files.py", text)) == []
