"""Does planning decide rightly? Each story is a table, what is known of its rows, conditions and the answers.

`pytest tests/stories --rewrite-stories` writes the answers that are given now into the stories: read the difference.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lakewright.model.files import DataFile, FileMetrics
from lakewright.model.partitioning import PartitionKey, result_type
from lakewright.model.session import SqlSettings
from lakewright.model.snapshot import FieldSummary, PlanningTask
from lakewright.model.types import FLOATING, ColumnType
from lakewright.model.values import encode_value
from lakewright.planning.bind import bind
from lakewright.planning.prune import Pruner, Verdict
from tests.described import schema_of, spec_of, value_of

HERE = Path(__file__).parent
CASE = re.compile(r"  (?P<answer>\S.*?) {2,}(?P<condition>\S.*)")
ANSWERS = {Verdict.NO_ROW: "no row", Verdict.SOME_ROWS: "some rows", Verdict.EVERY_ROW: "every row"}
ANSWER_WIDTH = max(map(len, ANSWERS.values()))


@dataclass
class Story:
    """A title, what is known (`key text` lines), and conditions with their expected answers."""

    path: Path
    title: str
    said: dict[str, list[str]] = field(default_factory=dict)
    expected: list[tuple[str, str]] = field(default_factory=list)

    def first(self, key: str, otherwise: str = "") -> str:
        return self.said.get(key, [otherwise])[0]

    def answers(self) -> list[tuple[str, str]]:
        return [(self._answer(condition), condition) for _, condition in self.expected]

    def _answer(self, condition: str) -> str:
        schema = schema_of(self.first("table"))
        parts = [part.rsplit("=", 1) for part in self.said.get("partition", [])]
        spec = spec_of(schema, *(part.strip() for part, _ in parts))
        types = [result_type(part.transform, schema.by_id[part.source_id].type) for part in spec.fields]
        values = [value.strip() for _, value in parts]
        settings = SqlSettings(time_zone=self.first("zone", "UTC"))
        pruner = Pruner(bind(condition, schema, settings), schema, {spec.spec_id: spec})
        if "manifest" in self.said:
            summaries = tuple(map(summary_of, values, types))
            return "read" if pruner.keeps_task(PlanningTask("m.avro", 1, spec.spec_id, summaries)) else "skipped"
        rows = int(self.first("rows", "10"))
        metrics = FileMetrics()
        for text in self.said.get("known", []):
            name, _, facts = text.partition(" ")
            column = schema.resolve(tuple(name.split(".")), case_sensitive=True)
            note_facts(metrics, column.id, column.type, facts, rows)
        key = PartitionKey(spec.spec_id, tuple(map(value_of, values, types)))
        return ANSWERS[pruner.judge(DataFile("f.parquet", key, rows, 1, metrics))]


def note_facts(metrics: FileMetrics, field_id: int, kind: ColumnType, facts: str, rows: int) -> None:
    """`3..7, 0 null, 1 nan`: bounds, either of which may be missing, and counts."""
    metrics.value_counts[field_id] = rows
    for fact in facts.split(", "):
        number, _, counted = fact.partition(" ")
        if counted in ("null", "nan"):
            (metrics.null_counts if counted == "null" else metrics.nan_counts)[field_id] = int(number)
            continue
        for bounds, text in zip((metrics.lower_bounds, metrics.upper_bounds), fact.split(".."), strict=True):
            if text:
                bounds[field_id] = encode_value(kind, value_of(text, kind))


def summary_of(text: str, kind: ColumnType) -> FieldSummary:
    """`3..7, null, nan`: what partition values there are."""
    facts = text.split(", ")
    bounds = next((fact for fact in facts if ".." in fact), "..")
    raw = [encode_value(kind, value_of(bound, kind)) if bound else None for bound in bounds.split("..")]
    return FieldSummary("null" in facts, "nan" in facts if kind in FLOATING else None, *raw)


def stories_in(path: Path) -> list[Story]:
    stories: list[Story] = []
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# "):
            stories.append(Story(path, line[2:]))
        elif found := CASE.fullmatch(line):
            stories[-1].expected.append((found["answer"], found["condition"]))
        elif line.strip():
            key, _, text = line.partition(" ")
            stories[-1].said.setdefault(key, []).append(text.strip())
    return stories


def rewritten(lines: list[str], answers: Iterator[tuple[str, str]]) -> str:
    """The lines with the answers put in, in the order in which they were asked for."""
    shown = (f"  {answer:<{ANSWER_WIDTH}}  {condition}" for answer, condition in answers)
    return "\n".join(next(shown) if CASE.fullmatch(line) else line for line in lines) + "\n"


STORIES = [story for path in sorted(HERE.glob("*.txt")) for story in stories_in(path)]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: f"{story.path.stem}: {story.title}")
def test_a_story_ends_as_it_is_told(story: Story, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--rewrite-stories"):
        lines = story.path.read_text("utf-8").splitlines()
        answers = (answer for each in stories_in(story.path) for answer in each.answers())
        story.path.write_text(rewritten(lines, answers), "utf-8")
    assert story.answers() == next(each.expected for each in stories_in(story.path) if each.title == story.title)


def test_every_answer_to_every_operator_has_a_story() -> None:
    """Of a file each test can be certain of no row, uncertain, and certain of every row."""
    asked = {(word, answer) for story in STORIES for answer, condition in story.expected for word in words(condition)}
    answers = ANSWERS.values()
    assert {(word, answer) for word in OPERATORS for answer in answers} - asked == set()


OPERATORS = {
    "=": r"^\w+ = ",
    "<>": r"^\w+ <> ",
    "<": r"^\w+ < ",
    "<=": r"^\w+ <= ",
    ">": r"^\w+ > ",
    ">=": r"^\w+ >= ",
    "<=>": r"^\w+ <=> ",
    "NOT <=>": r"^NOT \(?\w+ <=> ",
    "IN": r"^\w+ IN ",
    "NOT IN": r"^\w+ NOT IN ",
    "NOT (=)": r"^NOT \(\w+ = ",
    "BETWEEN": r"^\w+ BETWEEN ",
    "NOT BETWEEN": r"^\w+ NOT BETWEEN ",
    "LIKE": r"^\w+ LIKE ",
    "NOT LIKE": r"^\w+ NOT LIKE ",
    "IS NULL": r"^\w+ IS NULL$",
    "IS NOT NULL": r"^\w+ IS NOT NULL$",
    "ISNAN": r"^isnan\(\w+\)$",
    "NOT ISNAN": r"^NOT isnan\(\w+\)$",
}


def words(condition: str) -> Iterator[str]:
    return (word for word, pattern in OPERATORS.items() if re.search(pattern, condition))
