"""What do a table's properties ask of a writer, and how is a wrong value refused?"""

import dataclasses
from collections.abc import Mapping
from operator import attrgetter

import pytest

from lakewright.errors import InvalidRequest
from lakewright.formats.iceberg.replay import snapshot_of
from lakewright.formats.iceberg.write_properties import retry_settings, write_layout
from lakewright.model.changes import RetrySettings
from lakewright.model.layout import Distribution, MetricsKind, MetricsMode, WriteLayout
from lakewright.model.snapshot import Snapshot
from tests.described import schema_of
from tests.unit.iceberg.tables import ORDER, PLACE, SPEC, new_metadata

SNAPSHOT = snapshot_of(new_metadata(2), None, (), current=True)
METRICS = "write.metadata.metrics."


def layout(properties: Mapping[str, str], snapshot: Snapshot = SNAPSHOT) -> WriteLayout:
    return write_layout(dataclasses.replace(snapshot, properties=properties), "w1")


def with_property(name: str, value: str) -> WriteLayout:
    return layout({name: value})


def test_without_properties_the_defaults_of_the_specification_hold() -> None:
    found = layout({})
    assert (found.location.root, found.location.hashed, found.location.partition_folders) == (
        f"{PLACE}/data",
        False,
        True,
    )
    assert (found.target_file_bytes, found.parquet.compression, found.distribution) == (
        512 << 20,
        "zstd",
        Distribution.NONE,
    )
    assert (found.spec, found.sort_order, found.write_id, found.ignored_properties) == (SPEC, ORDER, "w1", ())
    assert set(found.metrics.values()) == {MetricsMode(MetricsKind.TRUNCATED, 16)}


@pytest.mark.parametrize(
    ("name", "value", "where", "expected"),
    [
        ("write.data.path", "s3://else/", "location.root", "s3://else"),
        ("write.object-storage.path", "s3://old", "location.root", "s3://old"),
        ("write.folder-storage.path", "s3://older", "location.root", "s3://older"),
        ("write.object-storage.enabled", "TRUE", "location.hashed", True),
        ("write.object-storage.partitioned-paths", "false", "location.partition_folders", False),
        ("write.target-file-size-bytes", "1024", "target_file_bytes", 1024),
        ("write.distribution-mode", "hash", "distribution", Distribution.HASH),
        ("write.parquet.compression-codec", "GZIP", "parquet.compression", "gzip"),
        ("write.parquet.compression-level", "7", "parquet.compression_level", 7),
        ("write.parquet.row-group-size-bytes", "10", "parquet.row_group_bytes", 10),
        ("write.parquet.page-size-bytes", "11", "parquet.page_bytes", 11),
        ("write.parquet.page-row-limit", "12", "parquet.page_rows", 12),
        ("write.parquet.dict-size-bytes", "13", "parquet.dictionary_bytes", 13),
    ],
)
def test_each_property_is_honoured(name: str, value: str, where: str, expected: object) -> None:
    found = with_property(name, value)
    assert attrgetter(where)(found) == expected
    assert found.ignored_properties == ()


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("write.format.default", "orc", "is 'orc'; it can be parquet"),
        ("write.object-storage.enabled", "yes", "is 'yes'; it can be false, true"),
        ("write.target-file-size-bytes", "1GB", "is '1GB'; it has to be a whole number"),
        ("write.target-file-size-bytes", "0", "is 0; it has to be at least 1"),
        ("write.parquet.row-group-size-bytes", "-1", "is -1; it has to be at least 1"),
        ("write.parquet.compression-codec", "lzo", "is 'lzo'; it can be brotli, gzip, lz4, snappy, uncompressed, zstd"),
        ("write.parquet.compression-level", "high", "is 'high'; it has to be a whole number"),
        ("write.parquet.compression-level", "99", "is 99; zstd has levels -7 to 22"),
        ("write.distribution-mode", "random", "is 'random'; it can be hash, none, range"),
        (f"{METRICS}max-inferred-column-defaults", "all", "it has to be a whole number"),
    ],
)
def test_a_wrong_value_is_refused_with_the_property(name: str, value: str, said: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        with_property(name, value)
    assert name in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize("codec", ["snappy", "lz4", "uncompressed"])
def test_a_level_means_nothing_to_a_codec_without_levels(codec: str) -> None:
    properties = {"write.parquet.compression-codec": codec, "write.parquet.compression-level": "3"}
    found = layout(properties)
    assert found.parquet.compression_level is None


def test_other_write_properties_are_named_and_those_of_other_operations_are_not() -> None:
    names = (
        "write.wap.enabled",
        "write.spark.fanout.enabled",
        "write.delete.mode",
        "commit.retry.num-retries",
        "owner",
    )
    properties = dict.fromkeys(names, "1")
    found = layout(properties)
    assert found.ignored_properties == ("write.spark.fanout.enabled", "write.wap.enabled")


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("none", MetricsMode(MetricsKind.NONE)),
        ("COUNTS", MetricsMode(MetricsKind.COUNTS)),
        ("full", MetricsMode(MetricsKind.FULL)),
        ("truncate(5)", MetricsMode(MetricsKind.TRUNCATED, 5)),
    ],
)
def test_metrics_are_chosen_for_all_columns_or_for_one(text: str, mode: MetricsMode) -> None:
    default = MetricsMode(MetricsKind.TRUNCATED, 16)
    assert with_property(f"{METRICS}default", text).metrics == dict.fromkeys((1, 2, 3, 5), mode)
    assert with_property(f"{METRICS}column.tags.element", text).metrics == {1: default, 2: default, 3: default, 5: mode}


@pytest.mark.parametrize("text", ["truncate(0)", "truncate", "truncate(-1)", "some"])
def test_an_unknown_metrics_mode_is_refused_with_its_column(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"the metrics mode of column region is"):
        with_property(f"{METRICS}column.region", text)


def test_only_the_first_columns_have_bounds_unless_a_default_is_declared() -> None:
    wide = dataclasses.replace(SNAPSHOT, schema=schema_of(", ".join(f"c{number} int" for number in range(105))))
    kinds = [mode.kind for mode in layout({}, wide).metrics.values()]
    assert kinds == [MetricsKind.TRUNCATED] * 100 + [MetricsKind.NONE] * 5
    properties = {f"{METRICS}max-inferred-column-defaults": "2", f"{METRICS}column.c9": "counts"}
    some = layout(properties, wide).metrics
    assert [mode.kind for mode in some.values()][:3] == [MetricsKind.TRUNCATED] * 2 + [MetricsKind.NONE]
    assert some[10].kind is MetricsKind.COUNTS
    declared = layout({f"{METRICS}default": "full"}, wide).metrics
    assert {mode.kind for mode in declared.values()} == {MetricsKind.FULL}


def test_retries_are_as_the_table_says() -> None:
    names = ("num-retries", "min-wait-ms", "max-wait-ms", "total-timeout-ms")
    properties = {f"commit.retry.{name}": str(number) for number, name in enumerate(names, start=1)}
    assert retry_settings(properties) == RetrySettings(1, 2, 3, 4)
    assert retry_settings({}) == RetrySettings(4, 100, 60_000, 1_800_000)
    with pytest.raises(InvalidRequest, match=r"commit\.retry\.num-retries is 'x'"):
        retry_settings({"commit.retry.num-retries": "x"})
