"""Does the guide name what a user can ask for and meet, and is an omission noticed?"""

import pytest

from tests.architecture.rules import guide
from tests.architecture.source import PROJECT, planted, project_modules

GUIDE = PROJECT / "docs/guide.md"


def test_the_guide_names_every_operation_every_option_and_every_error() -> None:
    text = GUIDE.read_text("utf-8") if GUIDE.exists() else ""
    found = "\n".join(guide.violations(project_modules("src"), text))
    assert not found, found


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("operations/delete.py", "", "operation delete"),
        ("operations/rewrite_data_files/plan.py", "", "operation rewrite_data_files"),
        ("operations/update.py", "class Update:\n    def execute(self, *, attempts_max=3): ...", "option attempts_max"),
        ("errors.py", "class CommitConflict(LakewrightError): ...", "error CommitConflict"),
        ("table.py", "class Table:\n    def at(self, version=None): ...", "option version"),
        ("lake.py", "def connect(*, catalog): ...", "option catalog"),
        ("interfaces/datasource/write.py", "self.options.get('replaceWhere')", "option replaceWhere"),
        ("interfaces/datasource/write.py", "options['version']", "option version"),
    ],
)
def test_an_omission_in_the_guide_is_named(path: str, text: str, complaint: str) -> None:
    module = planted(f"src/lakewright/{path}", text)
    name = complaint.partition(" ")[2]
    assert f"docs/guide.md does not name the {complaint}" in guide.violations([module], f"about un{name}")
    assert f"docs/guide.md does not name the {complaint}" not in guide.violations([module], f"about `{name}`")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("operations/__init__.py", ""),
        ("table.py", "class _Steps:\n    def run(self, *, depth): ..."),
        ("table.py", "def _run(depth=1): ..."),
        ("table.py", "class Table:\n    def filter(self, predicate): ..."),
        ("planning/prune.py", "def prune(*, depth=1): ..."),
        ("interfaces/datasource/write.py", "row['version']"),
    ],
)
def test_what_no_user_sees_may_stay_out_of_the_guide(path: str, text: str) -> None:
    assert guide.violations([planted(f"src/lakewright/{path}", text)], "") == []
