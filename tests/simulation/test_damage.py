"""What is said of a table whose data files are missing or damaged? Never fewer rows than there are."""

import pytest

from lakewright.errors import CorruptTable
from tests.simulation.ground import GROUNDS_APART, Ground, rows

NAME = "sales.orders"

pytestmark = pytest.mark.parametrize("ground", GROUNDS_APART, indirect=True, ids=lambda made: made.__name__)


def a_data_file(ground: Ground) -> str:
    ground.writer().create(NAME).append(rows(range(100)))
    ground.writer().table(NAME).append(rows([1000]))
    return next(each for each in sorted(ground.objects(NAME)) if each.endswith(".parquet"))


def test_a_data_file_that_is_missing_is_named(ground: Ground) -> None:
    location = a_data_file(ground)
    ground.store.delete(location)
    with pytest.raises(CorruptTable) as caught:
        ground.writer().ids_in(NAME)
    assert f"file {location} of table" in str(caught.value)
    assert "is missing" in str(caught.value)


@pytest.mark.parametrize("damage", ["empty", "no parquet", "cut"])
def test_a_data_file_that_is_damaged_is_named(ground: Ground, damage: str) -> None:
    location = a_data_file(ground)
    content = ground.store.read(location)
    damaged = {
        "empty": b"",
        "no parquet": b"Obj\x01" * 100,
        "cut": content[: len(content) // 2],
    }
    ground.store.write(location, damaged[damage])
    with pytest.raises(CorruptTable) as caught:
        ground.writer().ids_in(NAME)
    assert location in str(caught.value)


def test_an_append_does_not_need_the_files_that_are_there(ground: Ground) -> None:
    """It can be what repairs the table."""
    ground.store.delete(a_data_file(ground))
    ground.writer().table(NAME).append(rows([5]))
    assert len(ground.writer().history_of(NAME)) == 3
