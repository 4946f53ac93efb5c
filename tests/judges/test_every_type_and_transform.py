"""Are the values of every type found again, whatever they are partitioned by, and whichever rows are asked for?"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from uuid import UUID

import pyarrow as pa
import pytest
from pyiceberg.table import StaticTable

from lakewright.model.partitioning import Bucket
from lakewright.model.transforms import apply_transform
from lakewright.model.types import Primitive, Value
from tests.judges.asking import Judge, Question, Reader, difference, questions_about, wrong_answers
from tests.judges.conftest import SharedLake
from tests.judges.samples import NANO_SAMPLE, SAMPLES, ZONED_NANO_SAMPLE, Sample, rows_of

ROWS = 10
READERS = ("duckdb", "pyiceberg", "lakewright")
ORDERS = frozenset({"=", "<", "<=", ">", ">="})


@dataclass(frozen=True)
class Kind:
    """A table with a column for each sample, under every transform of each or under none."""

    samples: tuple[Sample, ...]
    format_version: int
    is_partitioned: bool

    def __str__(self) -> str:
        columns = "-".join(sample.name for sample in self.samples) if len(self.samples) == 1 else "all"
        return f"{columns}-v{self.format_version}-{'partitioned' if self.is_partitioned else 'unpartitioned'}"


@dataclass(frozen=True)
class Written:
    """A table, as a judge opens it, and what it must hold."""

    location: str
    rows: pa.Table


@dataclass(frozen=True)
class Mistake:
    """Questions that a judge answers wrongly, and why it is the judge that is wrong."""

    name: str
    judge: str
    reason: str
    affects: Callable[[Kind, Question], bool]


# Without partitions only files are judged, which every version records alike.
ALL_KINDS = [*(Kind(SAMPLES, version, True) for version in (1, 2, 3)), Kind(SAMPLES, 2, False)]
# Nanoseconds came with version 3.
NANO_KINDS = [Kind((sample,), 3, parted) for sample in (NANO_SAMPLE, ZONED_NANO_SAMPLE) for parted in (True, False)]
UNREADABLE = (
    (
        "pyiceberg",
        "it does not know the logical type timestamp-nanos, which the specification gives a partition value in Avro",
        lambda kind: kind in NANO_KINDS and kind.is_partitioned,
    ),
    ("duckdb", "it has no type for timestamptz_ns", lambda kind: ZONED_NANO_SAMPLE in kind.samples),
)
MISTAKES = (
    Mistake(
        "duckdb hashes uuids",
        "duckdb",
        "the specification hashes the sixteen bytes of a uuid; its own test value for bucket is ours",
        lambda kind, question: question.column == "key" and question.sign == "=" and kind.is_partitioned,
    ),
    Mistake(
        "duckdb truncates months and days towards zero",
        "duckdb",
        "the specification rounds towards the past: the day of 1969-12-31T23:00 is -1",
        lambda kind, question: (
            kind.is_partitioned
            and question.column in ("wall", "moment", "nanos")
            and question.sign in ("=", ">", ">=")
            and question.value.cast(pa.int64()).as_py() < 0
        ),
    ),
    Mistake(
        "duckdb trusts an infinite upper bound",
        "duckdb",
        "to it NaN is greater than infinity, and bounds say nothing about NaN",
        lambda _, question: str(question) in ("ratio > inf", "share > inf"),
    ),
    Mistake(
        "pyiceberg takes an infinite float for one out of range",
        "pyiceberg",
        "it answers as if infinity were above, or below, every float that there is",
        lambda _, question: str(question) in ("ratio = inf", "ratio >= inf", "ratio <= -inf", "ratio = -inf"),
    ),
    Mistake(
        "pyiceberg compares uuids with bytes",
        "pyiceberg",
        "it reads the bounds of a manifest's partitions as uuids, the value asked for as bytes, and fails",
        lambda kind, question: kind.is_partitioned and question.column == "key" and question.sign in ORDERS,
    ),
    Mistake(
        "pyiceberg has no literals of nanoseconds",
        "pyiceberg",
        "it turns neither texts nor numbers nor moments into them",
        lambda kind, question: kind in NANO_KINDS and question.value is not None,
    ),
)


def readings(kinds: list[Kind], readers: tuple[str, ...]) -> list[object]:
    """Each kind with each reader; those that the reader cannot open are marked so."""
    pairs = [(kind, reader) for kind in kinds for reader in readers]
    return [pytest.param(*pair, id="-".join(map(str, pair)), marks=_marks(*pair)) for pair in pairs]


def _marks(kind: Kind, reader: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.never(why) for name, why, affects in UNREADABLE if name == reader and affects(kind)]


# Hundreds of questions take a while, so each judge is asked about versions of its own.
ASKED = [
    *readings([*ALL_KINDS[2:], *NANO_KINDS], ("duckdb",)),
    *readings([*ALL_KINDS[:2], *NANO_KINDS], ("pyiceberg",)),
]


@pytest.fixture(scope="module")
def written(shared_lake: SharedLake) -> Callable[[Kind], Written]:
    """Makes a table when it is first asked for."""

    @cache
    def write(kind: Kind) -> Written:
        rows = rows_of(kind.samples, ROWS)
        transforms = [text for sample in kind.samples for text in sample.partitioned_by if kind.is_partitioned]
        name = f"types.t{str(kind).replace('-', '_')}"
        table = shared_lake.ours.create_table(name, rows, partitioned_by=transforms, format_version=kind.format_version)
        for part in (rows.slice(0, 6), rows.slice(0, 0), rows.slice(6, 1), rows.slice(7)):
            table.append(part)
        return Written(table.metadata_location, rows)

    return write


@pytest.mark.parametrize(("kind", "reader"), readings([*ALL_KINDS, *NANO_KINDS], READERS))
def test_every_row_is_found(
    written: Callable[[Kind], Written], readers: dict[str, Reader], kind: Kind, reader: str
) -> None:
    table = written(kind)
    assert not difference(readers[reader].rows(table.location), table.rows)


@pytest.mark.parametrize(("kind", "asked"), ASKED)
def test_every_question_about_a_column_is_answered_rightly(
    written: Callable[[Kind], Written], judges: dict[str, Judge], kind: Kind, asked: str
) -> None:
    table = written(kind)
    mistakes = [mistake for mistake in MISTAKES if mistake.judge == asked]
    questions = [
        question
        for question in questions_of(kind, table)
        if not any(mistake.affects(kind, question) for mistake in mistakes)
    ]
    assert not wrong_answers(judges[asked], table.location, table.rows, questions)


@pytest.mark.parametrize(
    "mistake", [pytest.param(each, id=each.name, marks=pytest.mark.never(each.reason)) for each in MISTAKES]
)
def test_no_question_is_kept_from_a_judge_that_would_answer_it_rightly(
    written: Callable[[Kind], Written], judges: dict[str, Judge], mistake: Mistake
) -> None:
    """Of the kinds of tables that the judge opens; one is enough to be wrong."""
    for kind in (*ALL_KINDS, *NANO_KINDS):
        if not _marks(kind, mistake.judge):
            table = written(kind)
            kept = [question for question in questions_of(kind, table) if mistake.affects(kind, question)]
            assert not wrong_answers(judges[mistake.judge], table.location, table.rows, kept)


def questions_of(kind: Kind, table: Written) -> list[Question]:
    return [question for sample in kind.samples for question in questions_about(table.rows, sample.name)]


def test_a_manifest_says_of_every_partition_field_whether_it_holds_nan(written: Callable[[Kind], Written]) -> None:
    """Though it may be left out: Iceberg's Java runtime fails to list manifests without it."""
    kind = ALL_KINDS[2]
    table = StaticTable.from_metadata(written(kind).location)
    manifests = [manifest for snapshot in table.snapshots() for manifest in snapshot.manifests(table.io)]
    said = {summary.contains_nan for manifest in manifests for summary in manifest.partitions}
    assert manifests
    assert said == {True, False}


@pytest.mark.parametrize(
    ("kind", "value", "found"),
    [
        (Primitive.UUID, UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7").bytes, 1488055340),
        (Primitive.TIMESTAMP_NS, 1_510_871_468_000_000_000, -2047944441),
        (Primitive.TIMESTAMP_NS, 1_510_871_468_000_001_001, -1207196810),
        (Primitive.TIMESTAMPTZ_NS, 1_510_871_468_000_001_001, -1207196810),
    ],
)
def test_what_no_judge_confirms_hashes_as_in_the_examples_of_the_specification(
    kind: Primitive, value: Value, found: int
) -> None:
    """Appendix B; the sign bit is not part of the number that is bucketed."""
    largest = 2**31 - 1
    assert apply_transform(Bucket(largest), kind, value) == (found & largest) % largest
