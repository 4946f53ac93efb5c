"""What do a table's `write.*` and `commit.*` properties ask of a writer?"""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from lakewright.errors import InvalidRequest
from lakewright.model.changes import RetrySettings
from lakewright.model.layout import DataLocation, Distribution, MetricsKind, MetricsMode, ParquetOptions, WriteLayout
from lakewright.model.snapshot import Snapshot
from lakewright.model.types import is_nested

_INFERRED_COLUMNS_MAX = 100
_TRUNCATE = re.compile(r"truncate\((\d+)\)")
_METRICS_COLUMN = "write.metadata.metrics.column."
_CODECS = frozenset({"zstd", "snappy", "gzip", "lz4", "brotli", "uncompressed"})
_LEVELS = {"brotli": (0, 11), "gzip": (0, 9), "zstd": (-7, 22)}
"""The codecs that have levels."""
_HONOURED = frozenset(
    {
        "write.data.path",
        "write.distribution-mode",
        "write.format.default",
        "write.metadata.compression-codec",
        "write.metadata.delete-after-commit.enabled",
        "write.metadata.metrics.default",
        "write.metadata.metrics.max-inferred-column-defaults",
        "write.metadata.path",
        "write.metadata.previous-versions-max",
        "write.object-storage.enabled",
        "write.object-storage.partitioned-paths",
        "write.parquet.compression-codec",
        "write.parquet.compression-level",
        "write.parquet.dict-size-bytes",
        "write.parquet.page-row-limit",
        "write.parquet.page-size-bytes",
        "write.parquet.row-group-size-bytes",
        "write.target-file-size-bytes",
    }
)
_OTHER_OPERATIONS = re.compile(r"write\.(update|delete|merge)\..*")

Parsed = TypeVar("Parsed")


def write_layout(snapshot: Snapshot, write_id: str) -> WriteLayout:
    """The layout that the properties declare; a value that cannot be read is refused, with the property's name."""
    read = Properties(snapshot.properties)
    read.text("write.format.default", "parquet", one_of=frozenset({"parquet"}))
    return WriteLayout(
        schema=snapshot.schema,
        spec=snapshot.default_spec,
        sort_order=snapshot.sort_order,
        location=DataLocation(
            root=_data_root(snapshot),
            hashed=read.flag("write.object-storage.enabled", False),
            partition_folders=read.flag("write.object-storage.partitioned-paths", True),
        ),
        write_id=write_id,
        target_file_bytes=read.count("write.target-file-size-bytes", 512 << 20),
        parquet=ParquetOptions(
            compression=read.text("write.parquet.compression-codec", "zstd", one_of=_CODECS),
            compression_level=_compression_level(read),
            row_group_bytes=read.count("write.parquet.row-group-size-bytes", 128 << 20),
            page_bytes=read.count("write.parquet.page-size-bytes", 1 << 20),
            page_rows=read.count("write.parquet.page-row-limit", 20_000),
            dictionary_bytes=read.count("write.parquet.dict-size-bytes", 2 << 20),
        ),
        distribution=Distribution(
            read.text("write.distribution-mode", "none", one_of=frozenset(mode.value for mode in Distribution))
        ),
        metrics=_metrics(snapshot, read),
        ignored_properties=tuple(sorted(filter(_is_ignored, snapshot.properties))),
    )


def retry_settings(properties: Mapping[str, str]) -> RetrySettings:
    read, defaults = Properties(properties), RetrySettings()
    return RetrySettings(
        retries_max=read.number("commit.retry.num-retries", defaults.retries_max),
        wait_min_ms=read.number("commit.retry.min-wait-ms", defaults.wait_min_ms),
        wait_max_ms=read.number("commit.retry.max-wait-ms", defaults.wait_max_ms),
        total_ms=read.number("commit.retry.total-timeout-ms", defaults.total_ms),
    )


class Properties:
    """Table properties with their types."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = properties

    def text(self, name: str, default: str, *, one_of: frozenset[str]) -> str:
        value = self._properties.get(name, default).lower()
        if value not in one_of:
            raise InvalidRequest(f"table property {name} is {value!r}; it can be {', '.join(sorted(one_of))}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        return self.text(name, str(default), one_of=frozenset({"true", "false"})) == "true"

    def number(self, name: str, default: int) -> int:
        return self._parsed(name, default, int, "a whole number")

    def count(self, name: str, default: int) -> int:
        value = self.number(name, default)
        if value < 1:
            raise InvalidRequest(f"table property {name} is {value}; it has to be at least 1")
        return value

    def optional_number(self, name: str) -> int | None:
        return None if name not in self._properties else self.number(name, 0)

    def _parsed(self, name: str, default: Parsed, parse: Callable[[str], Parsed], kind: str) -> Parsed:
        if name not in self._properties:
            return default
        try:
            return parse(self._properties[name])
        except ValueError as error:
            raise InvalidRequest(f"table property {name} is {self._properties[name]!r}; it has to be {kind}") from error


def _compression_level(read: Properties) -> int | None:
    """A level means nothing to a codec that has none."""
    name = "write.parquet.compression-level"
    codec = read.text("write.parquet.compression-codec", "zstd", one_of=_CODECS)
    level = read.optional_number(name)
    if level is None or codec not in _LEVELS:
        return None
    lowest, highest = _LEVELS[codec]
    if not lowest <= level <= highest:
        raise InvalidRequest(f"table property {name} is {level}; {codec} has levels {lowest} to {highest}")
    return level


def _data_root(snapshot: Snapshot) -> str:
    """Older names of the same property still count."""
    for name in ("write.data.path", "write.object-storage.path", "write.folder-storage.path"):
        if name in snapshot.properties:
            return snapshot.properties[name].rstrip("/")
    return f"{snapshot.location}/data"


def _metrics(snapshot: Snapshot, read: Properties) -> dict[int, MetricsMode]:
    """A mode for each leaf column. Without a declared default, only the first hundred columns have bounds."""
    properties, schema = snapshot.properties, snapshot.schema
    declared = properties.get("write.metadata.metrics.default")
    inferred_max = read.number("write.metadata.metrics.max-inferred-column-defaults", _INFERRED_COLUMNS_MAX)
    by_name = {
        name.removeprefix(_METRICS_COLUMN): value
        for name, value in properties.items()
        if name.startswith(_METRICS_COLUMN)
    }
    modes: dict[int, MetricsMode] = {}
    for field_id, name in schema.names_by_id.items():
        if is_nested(schema.by_id[field_id].type):
            continue
        fallback = declared or ("truncate(16)" if len(modes) < inferred_max else "none")
        modes[field_id] = _metrics_mode(name, by_name.get(name, fallback))
    return modes


def _metrics_mode(column: str, text: str) -> MetricsMode:
    truncated = _TRUNCATE.fullmatch(text.lower())
    if truncated and int(truncated[1]) > 0:
        return MetricsMode(MetricsKind.TRUNCATED, int(truncated[1]))
    plain = {"none": MetricsKind.NONE, "counts": MetricsKind.COUNTS, "full": MetricsKind.FULL}
    if text.lower() in plain:
        return MetricsMode(plain[text.lower()])
    raise InvalidRequest(
        f"the metrics mode of column {column} is {text!r}; it can be none, counts, truncate(length) or full"
    )


def _is_ignored(name: str) -> bool:
    known = name in _HONOURED or name.startswith(_METRICS_COLUMN) or _OTHER_OPERATIONS.fullmatch(name)
    paths = name in ("write.object-storage.path", "write.folder-storage.path")
    return name.startswith("write.") and not known and not paths
