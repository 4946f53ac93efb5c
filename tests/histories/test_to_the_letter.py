"""Does each rule about deletes, defaults and partitions hold where it begins and ends?"""

import math
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import pytest

from lakewright.errors import CorruptTable
from lakewright.model.partitioning import Bucket, Identity, PartitionField, PartitionSpec, Void
from lakewright.model.schema import Schema
from lakewright.model.types import Field, ListType, MapType, Primitive, StructType
from lakewright.testing.memory import MemoryStore
from tests.histories.builder import TableWithPast, Written
from tests.histories.reading import opened
from tests.histories.values import Row

ID, KIND, SIZE = (
    Field(1, "id", Primitive.LONG),
    Field(2, "kind", Primitive.STRING),
    Field(3, "size", Primitive.FLOAT),
)
BY_KIND = PartitionField(2, 1000, "kind", Identity())
BY_ID = PartitionField(1, 1001, "id_bucket", Bucket(2))


def table(version: int = 2, *parts: PartitionField) -> TableWithPast:
    schema = Schema((ID, KIND, SIZE))
    return TableWithPast(MemoryStore(), schema, PartitionSpec(0, parts), version)


def rows(*ids: int, kind: str | None = "a", size: float | None = 1.0) -> list[Row]:
    return [{1: number, 2: kind, 3: size} for number in ids]


def ids(built: TableWithPast) -> list[int]:
    return sorted(opened(built).to_df().column("id").to_pylist())


def values(built: TableWithPast, *columns: str) -> list[tuple[Any, ...]]:
    found = opened(built).to_df(columns=["id", *columns]).to_pylist()
    return [tuple(row.values())[1:] for row in sorted(found, key=lambda row: row["id"])]


def committed(built: TableWithPast, *numbers: int, **more: Any) -> Written:
    written = built.file(rows(*numbers), **more)
    built.commit([written])
    return written


# Sequence numbers.


@pytest.mark.parametrize(("age", "left"), [(1, [2]), (2, [2]), (3, [1, 2])])
def test_position_deletes_apply_to_files_that_are_not_newer(age: int, left: list[int]) -> None:
    built = table()
    written = built.file(rows(1, 2))
    built.commit([written], sequence=age)
    built.commit(marks=[built.positions([(written, 0)])], sequence=2)
    assert ids(built) == left


@pytest.mark.parametrize(("age", "left"), [(1, [2]), (2, [2]), (3, [1, 2])])
def test_a_vector_applies_to_a_file_that_is_not_newer(age: int, left: list[int]) -> None:
    built = table(3)
    written = built.file(rows(1, 2))
    built.commit([written], sequence=age)
    built.commit(marks=built.vectors({written.file.location: [0]}), sequence=2)
    assert ids(built) == left


@pytest.mark.parametrize(("age", "left"), [(1, [2]), (2, [1, 2]), (3, [1, 2])])
def test_equality_deletes_apply_to_older_files_only(age: int, left: list[int]) -> None:
    built = table()
    built.commit([built.file(rows(1, 2))], sequence=age)
    built.commit(marks=[built.equality((1,), [{1: 1}])], sequence=2)
    assert ids(built) == left


def test_deletes_of_the_version_that_adds_a_file_take_positions_and_leave_keys() -> None:
    built = table()
    written = built.file(rows(1, 2, 3))
    built.commit([written], [built.positions([(written, 0)]), built.equality((1,), [{1: 2}])])
    assert ids(built) == [2, 3]


def test_manifests_that_are_rewritten_keep_the_ages_of_files_and_deletes() -> None:
    built = table()
    committed(built, 1)
    built.commit(marks=[built.equality((1,), [{1: 1}])])
    committed(built, 1)
    built.commit(merge_manifests=True)
    assert ids(built) == [1]


# Position deletes and vectors.


@pytest.mark.parametrize("referenced", [True, False])
@pytest.mark.parametrize("bounds", [True, False])
def test_positions_are_found_whatever_is_said_of_the_file_they_are_about(referenced: bool, bounds: bool) -> None:
    built = table()
    one, _ = committed(built, 1, 2, 3), committed(built, 4, 5)
    built.commit(marks=[built.positions([(one, 2), (one, 0), (one, 2)], referenced=referenced, bounds=bounds)])
    assert ids(built) == [2, 4, 5]


def test_one_delete_file_takes_rows_from_several_files() -> None:
    built = table()
    one, other = committed(built, 1, 2, 3), committed(built, 4, 5)
    built.commit(marks=[built.positions([(other, 1), (one, 0), (one, 1), (other, 1)])])
    assert ids(built) == [3, 4]


def test_two_delete_files_may_name_the_same_row() -> None:
    built = table()
    written = committed(built, 1, 2, 3)
    built.commit(marks=[built.positions([(written, 1)]), built.positions([(written, 1), (written, 2)])])
    assert ids(built) == [1]


def test_positions_count_rows_over_row_groups_and_before_other_deletes() -> None:
    built = table()
    written = committed(built, *range(20))
    built.commit(marks=[built.equality((1,), [{1: 0}])])
    built.commit(marks=[built.positions([(written, 19), (written, 3)])])
    assert ids(built) == [1, 2, *range(4, 19)]


def test_a_vector_stands_for_all_position_deletes_of_its_file_and_of_no_other() -> None:
    built = table()
    one, other = committed(built, 1, 2), committed(built, 3, 4)
    built.commit(marks=[built.positions([(one, 0), (other, 0)])])
    built.format_version = 3
    built.commit(marks=built.vectors({one.file.location: [1]}))
    assert ids(built) == [1, 4]


def test_position_deletes_that_are_newer_than_a_vector_do_not_matter_either() -> None:
    built = table(3)
    written = committed(built, 1, 2, 3)
    built.commit(marks=built.vectors({written.file.location: [1]}))
    built.commit(marks=[built.positions([(written, 0)])])
    assert ids(built) == [1, 3]


def test_each_vector_of_a_shared_file_is_about_its_own_data_file() -> None:
    built = table(3)
    files = [committed(built, *range(10 * n, 10 * n + 10)) for n in range(3)]
    built.commit(marks=built.vectors({each.file.location: [n, 9] for n, each in enumerate(files)}))
    assert ids(built) == [n for n in range(30) if n not in (0, 9, 11, 19, 22, 29)]


def test_two_vectors_of_one_file_are_refused() -> None:
    built = table(3)
    written = committed(built, 1, 2)
    for position in (0, 1):
        built.commit(marks=built.vectors({written.file.location: [position]}))
    with pytest.raises(CorruptTable, match="two deletion vectors"):
        ids(built)


@pytest.mark.parametrize("position", [3, -1, 2**40])
def test_a_deleted_row_that_its_file_does_not_have_is_refused(position: int) -> None:
    built = table()
    written = committed(built, 1, 2, 3)
    built.commit(marks=[built.positions([(written, position)])])
    with pytest.raises(CorruptTable, match=r"has\s+3 rows"):
        ids(built)


def test_deletes_of_a_file_that_is_gone_are_about_nothing() -> None:
    built = table()
    one, _ = committed(built, 1, 2), committed(built, 3)
    built.commit(marks=[built.positions([(one, 0)])])
    built.commit(removed=[one.file])
    assert ids(built) == [3]


# Equality deletes.


def test_keys_without_a_partition_are_about_every_partition_and_others_about_their_own() -> None:
    built = table(2, BY_KIND)
    for kind in "ab":
        built.commit([built.file(rows(1, 2, 3, kind=kind), (kind,))])
    built.partition_by()
    built.commit(marks=[built.equality((1,), [{1: 1}]), built.equality((1,), [{1: 2}], ("b",), spec=built.specs[0])])
    assert ids(built) == [2, 3, 3]
    assert sorted(values(built, "kind")) == [("a",), ("a",), ("b",)]


def test_keys_of_a_partition_are_not_about_the_same_values_under_another_spec() -> None:
    built = table(2, BY_KIND)
    committed(built, 1, partition=("a",))
    built.partition_by(replace(BY_KIND, field_id=1005))
    committed(built, 1, partition=("a",))
    built.commit(marks=[built.equality((1,), [{1: 1}], ("a",))])
    assert ids(built) == [1]


def test_a_spec_of_void_fields_alone_has_keys_about_everything() -> None:
    built = table(2, BY_KIND)
    committed(built, 1, 2, partition=("a",))
    built.partition_by(replace(BY_KIND, transform=Void()))
    built.commit(marks=[built.equality((1,), [{1: 1}], (None,))])
    assert ids(built) == [2]


@pytest.mark.parametrize("null", [True, False])
def test_null_and_nan_are_keys_like_any_other(null: bool) -> None:
    built = table()
    built.commit([built.file([*rows(1, size=None), *rows(2, size=math.nan), *rows(3, size=-0.0)])])
    built.commit(marks=[built.equality((3,), [{3: None if null else math.nan}])])
    assert ids(built) == ([2, 3] if null else [1, 3])


def test_a_partition_of_nan_has_keys_of_its_own() -> None:
    by_size = PartitionField(3, 1000, "size", Identity())
    built = table(2, by_size)
    built.commit([built.file(rows(1, 2, size=math.nan), (math.nan,)), built.file(rows(1, 2, size=1.0), (1.0,))])
    built.commit(marks=[built.equality((1,), [{1: 1}], (math.nan,))])
    assert ids(built) == [1, 2, 2]


def test_a_row_has_to_have_all_values_of_a_key() -> None:
    built = table()
    built.commit([built.file([*rows(1, 2, kind="a"), *rows(1, 2, kind="b"), *rows(1, kind=None)])])
    built.commit(marks=[built.equality((2, 1), [{1: 1, 2: "b"}, {1: 2, 2: "a"}, {1: 1, 2: None}])])
    assert values(built, "kind") == [("a",), ("b",)]


def test_columns_that_are_not_of_the_key_mean_nothing_in_a_delete_file() -> None:
    built = table()
    committed(built, 1, 2)
    built.commit(marks=[built.equality((1,), [{1: 1, 2: "other", 3: None}], more=(2, 3))])
    assert ids(built) == [2]


def test_keys_of_a_column_that_was_dropped_since_still_take_rows() -> None:
    built = table()
    built.commit([built.file([*rows(1, kind="a"), *rows(2, kind="b")])])
    built.commit(marks=[built.equality((2,), [{2: "a"}])])
    built.evolve(Schema((ID, SIZE, Field(4, "kind", Primitive.STRING))))
    built.commit([built.file([{1: 3, 3: 1.0, 4: "a"}])])
    assert ids(built) == [2, 3]
    assert values(built, "kind") == [(None,), ("a",)]


@pytest.mark.parametrize(
    ("default", "key", "left"), [(None, None, []), (None, "x", [1]), ("x", "x", []), ("x", None, [1])]
)
def test_keys_of_a_column_added_later_meet_its_default_in_old_files(
    default: str | None, key: str | None, left: list[int]
) -> None:
    built = table(3)
    committed(built, 1)
    built.evolve(Schema((ID, KIND, SIZE, Field(4, "new", Primitive.STRING, initial_default=default))))
    built.commit(marks=[built.equality((4,), [{4: key}])])
    assert ids(built) == left


def test_keys_written_before_and_after_a_promotion_are_the_same_values() -> None:
    built = table()
    built.evolve(Schema((ID, replace(KIND, type=Primitive.INT), SIZE)))
    built.commit([built.file([{1: n, 2: n, 3: n / 4} for n in range(6)])])
    built.commit(marks=[built.equality((2,), [{2: 1}]), built.equality((3,), [{3: 0.5}])])
    built.evolve(Schema((ID, replace(KIND, type=Primitive.LONG), replace(SIZE, type=Primitive.DOUBLE))))
    built.commit(marks=[built.equality((2,), [{2: 3}, {2: 2**40}]), built.equality((3,), [{3: 1.0}])])
    assert ids(built) == [0, 5]


def test_keys_that_an_identity_partition_alone_holds_are_met() -> None:
    built = table(2, BY_KIND)
    built.commit([built.file(rows(1, kind=kind), (kind,), left_out=[2]) for kind in ("a", "b", None)])
    built.partition_by()
    built.commit(marks=[built.equality((2,), [{2: "a"}, {2: None}])])
    assert values(built, "kind") == [("b",)]


# Columns.


def test_names_that_were_swapped_go_with_their_columns() -> None:
    built = table()
    first, second = Field(4, "x", Primitive.LONG), Field(5, "y", Primitive.LONG)
    built.evolve(Schema((ID, first, second)))
    built.commit([built.file([{1: 1, 4: 10, 5: 20}])])
    built.evolve(Schema((ID, replace(second, name="x"), replace(first, name="y"))))
    built.commit([built.file([{1: 2, 4: 11, 5: 21}])])
    assert values(built, "x", "y") == [(20, 10), (21, 11)]


def test_inside_structs_lists_and_maps_fields_go_by_their_ids() -> None:
    old = StructType((Field(11, "x", Primitive.INT), Field(12, "y", Primitive.STRING)))
    new = StructType(
        (
            Field(13, "x", Primitive.STRING, initial_default="new"),
            Field(11, "y", Primitive.LONG),
            Field(14, "z", Primitive.DATE),
        )
    )

    def schema(inner: StructType) -> Schema:
        items, key = Field(21, "element", inner), Field(22, "key", Primitive.STRING, required=True)
        return Schema(
            (
                ID,
                Field(4, "s", inner),
                Field(5, "l", ListType(items)),
                Field(6, "m", MapType(key, replace(items, id=23, name="value"))),
            )
        )

    built = table(3)
    built.evolve(schema(old))
    value = {11: 7, 12: "gone"}
    built.commit(
        [built.file([{1: 1, 4: value, 5: [value, None], 6: [("k", value)]}, {1: 2, 4: None, 5: None, 6: None}])]
    )
    built.evolve(schema(new))
    seen = {"x": "new", "y": 7, "z": None}
    assert values(built, "s", "l", "m") == [(seen, [seen, None], [("k", seen)]), (None, None, None)]


def test_dates_become_midnights_in_version_three() -> None:
    day, built = Field(4, "day", Primitive.DATE), table(3)
    built.evolve(Schema((ID, day)))
    built.commit([built.file([{1: 1, 4: date(1969, 12, 31)}, {1: 2, 4: date(2024, 2, 29)}, {1: 3, 4: None}])])
    built.commit(marks=[built.equality((4,), [{4: date(2024, 2, 29)}])])
    built.evolve(Schema((ID, replace(day, type=Primitive.TIMESTAMP))))
    built.commit([built.file([{1: 4, 4: datetime(2024, 2, 29, 0, 0, 0, 1)}])])
    assert values(built, "day") == [(datetime(1969, 12, 31),), (None,), (datetime(2024, 2, 29, 0, 0, 0, 1),)]


def test_a_column_that_is_only_in_the_partition_has_its_value_under_each_spec() -> None:
    built = table(2, BY_KIND)
    committed(built, 1, partition=("p",), left_out=[2])
    built.partition_by(BY_ID)
    committed(built, 2, partition=(0,))
    built.partition_by(BY_ID, BY_KIND)
    committed(built, 3, partition=(0, None), left_out=[2])
    assert values(built, "kind") == [("p",), ("a",), (None,)]


def test_files_without_ids_are_read_by_the_names_that_the_table_maps() -> None:
    built = table()
    built.commit([built.file(rows(1, kind="old"), with_ids=False)])
    built.name_mapping = [{"field-id": 1, "names": ["id"]}, {"field-id": 2, "names": ["gone", "kind"]}]
    built.evolve(Schema((ID, replace(KIND, name="sort"), SIZE)))
    assert values(built, "sort", "size") == [("old", None)]


# What is known of rows beside their values.


def test_a_partition_field_that_became_void_keeps_the_values_that_files_have() -> None:
    built = table(2, BY_KIND, PartitionField(2, 1001, "shard", Bucket(4)))
    committed(built, 1, partition=("a", 3))
    built.partition_by(*(replace(part, transform=Void()) for part in built.spec.fields))
    committed(built, 2, partition=(None, None))
    assert values(built, "_spec_id", "_partition") == [
        (0, {"kind": "a", "shard": 3}),
        (1, {"kind": None, "shard": None}),
    ]


def test_rows_are_numbered_by_their_files_unless_they_bring_their_numbers() -> None:
    built = table(3)
    committed(built, 1, 2)
    committed(built, 3, 4, 5, lineage=[(0, 1), (None, 1), (None, None)])
    built.commit(merge_manifests=True)
    columns = ("_pos", "_row_id", "_last_updated_sequence_number")
    assert values(built, *columns) == [(0, 0, 1), (1, 1, 1), (0, 0, 1), (1, 3, 1), (2, 4, 2)]


def test_rows_from_before_the_upgrade_have_numbers_from_the_next_version_on() -> None:
    built = table(2)
    committed(built, 1, 2)
    built.format_version = 3
    assert values(built, "_row_id", "_last_updated_sequence_number") == [(None, None), (None, None)]
    committed(built, 3)
    assert values(built, "_row_id", "_last_updated_sequence_number") == [(1, 1), (2, 1), (0, 2)]


def test_files_that_were_removed_before_the_upgrade_take_no_numbers() -> None:
    built = table(2)
    gone, left = built.file(rows(1, 2, 3)), built.file(rows(4))
    built.commit([gone, left])
    built.commit(removed=[gone.file])
    built.format_version = 3
    committed(built, 5)
    assert values(built, "_row_id") == [(1,), (0,)]
