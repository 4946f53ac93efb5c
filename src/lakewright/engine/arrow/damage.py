"""What does a Parquet file that cannot be read, or holds too little, come out as? One error that names the file."""

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from lakewright.errors import CorruptTable
from lakewright.model.files import DataFile


@contextmanager
def named(what: str) -> Iterator[None]:
    """Arrow's errors do not say which file they met."""
    try:
        yield
    except FileNotFoundError as error:
        raise CorruptTable(f"{what} is missing") from error
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorruptTable(f"{what} is not a readable Parquet file: {error}") from error


def check_rows(file: DataFile, table: str, rows: int) -> None:
    if rows != file.record_count:
        raise CorruptTable(
            f"file {file.location} of table {table} holds {rows:,} rows, the table's records say {file.record_count:,}"
        )
