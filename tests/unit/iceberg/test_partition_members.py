"""Which members has the struct of partition values, when a table was partitioned in several ways?"""

import pytest

from lakewright.formats.iceberg.records.metadata import Metadata
from lakewright.formats.iceberg.replay import partition_members
from lakewright.model.partitioning import PartitionSpec
from tests.unit.iceberg.tables import new_metadata

BUCKET = {"source-id": 2, "field-id": 1000, "name": "region_part", "transform": "bucket[4]"}
VOID = {**BUCKET, "name": "region_part_1000", "transform": "void"}
PLAIN = {**BUCKET, "field-id": 1001, "transform": "identity"}
OTHER_CASE = {**PLAIN, "name": "REGION_part"}


@pytest.mark.parametrize(
    ("specs", "members"),
    [
        pytest.param([[BUCKET]], {"region_part": "int"}, id="one"),
        pytest.param([[BUCKET], [VOID]], {"region_part_1000": "int"}, id="void keeps its type"),
        pytest.param([[VOID], [BUCKET]], {"region_part": "int"}, id="void comes first"),
        pytest.param(
            [[BUCKET], [PLAIN]], {"region_part_1000": "int", "region_part": "string"}, id="the newest keeps the name"
        ),
        pytest.param(
            [[BUCKET], [OTHER_CASE]], {"region_part_1000": "int", "REGION_part": "string"}, id="alike but for case"
        ),
        pytest.param([[]], {}, id="none"),
    ],
)
def test_there_is_a_member_for_each_field_of_any_spec(specs: list[list[dict]], members: dict[str, str]) -> None:
    made = new_metadata(2, PartitionSpec(0))
    nodes = [{"spec-id": number, "fields": fields} for number, fields in enumerate(specs)]
    found = partition_members(Metadata("m", {**made.document, "partition-specs": nodes}))
    assert {child.name: str(child.type) for child in found} == members
