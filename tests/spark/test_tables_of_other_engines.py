"""Does Spark find in other engines' tables what they wrote, in both ways in which we let it read?"""

from collections import Counter

import pytest
from pyspark.sql import SparkSession

import lakewright as lw
from lakewright.errors import Unsupported
from tests import canonical
from tests.foreign import corpus
from tests.foreign.arrow_rows import digest, lines
from tests.foreign.test_tables_of_other_engines import reason_to_refuse
from tests.spark import ways

OLDER_MAX = 2
TABLES = [table for table in corpus.iceberg_tables() if not table.is_damaged]
_NATIVE_SHARE_MIN = 0.3

pytestmark = pytest.mark.skipif(not TABLES, reason=f"there are no tables of other engines at {corpus.folder()}")


def some_versions(table: corpus.ForeignTable) -> list[corpus.Expected]:
    """The current one, and a few others from the beginning on; refs name versions, and reading goes by those."""
    current, *older = (each for each in table.expected if each.ref is None)
    return [current, *older[:: max(1, -(-len(older) // OLDER_MAX))]]


@pytest.mark.parametrize("way", ways.WAYS)
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_rows_are_those_that_were_written(
    table: corpus.ForeignTable, way: ways.Way, spark: SparkSession, tally_of_ways: Counter[str]
) -> None:
    lake = lw.connect(
        spark=spark, catalog={"name": "foreign", "type": "folder", "warehouse": "unused"}, moved=table.moved
    )
    handle = lake.open(table.metadata_location)
    for expected in some_versions(table):
        try:
            frame = ways.frame(handle, spark, way, version=expected.snapshot_id, moved=table.moved)
        except ways.NotSafe:
            tally_of_ways["not safe for Spark's reader"] += 1
            continue
        except Unsupported as error:
            tally_of_ways[reason_to_refuse(error, table)] += 1
            continue
        found = lines(frame.toArrow())
        assert len(found) == expected.row_count, expected
        if expected.lines is not None:
            assert not canonical.difference(found, expected.lines), expected
        assert digest(found) == expected.sha256, expected
        tally_of_ways[f"right by {way}"] += 1


def test_both_ways_are_taken(tally_of_ways: Counter[str], request: pytest.FixtureRequest) -> None:
    """What a footer says decides: a good part of the tables can be read by Spark itself."""
    if sum(item.name.startswith("test_the_rows_are") for item in request.session.items) < 2 * len(TABLES):
        pytest.skip("only some of the tables were read")
    assert tally_of_ways["right by native"] > _NATIVE_SHARE_MIN * tally_of_ways["right by arrow"]
