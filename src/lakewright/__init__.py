"""Row-level changes and maintenance of lakehouse tables, on PySpark as pip installs it."""

from importlib import import_module
from typing import TYPE_CHECKING

from lakewright._version import __version__

if TYPE_CHECKING:
    from lakewright.errors import (
        CommitConflict,
        CommitUnknown,
        CorruptTable,
        InvalidRequest,
        LakewrightError,
        RetriesExhausted,
        UnsuitableEnvironment,
        Unsupported,
    )
    from lakewright.lake import Lake, connect
    from lakewright.model.report import Report
    from lakewright.table import Table

__all__ = [
    "CommitConflict",
    "CommitUnknown",
    "CorruptTable",
    "InvalidRequest",
    "Lake",
    "LakewrightError",
    "Report",
    "RetriesExhausted",
    "Table",
    "UnsuitableEnvironment",
    "Unsupported",
    "__version__",
    "connect",
]

_MODULES = {"Lake": "lake", "connect": "lake", "Report": "model.report", "Table": "table"}


def __getattr__(name: str) -> object:
    """Names are imported when they are first used, so that importing the package costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'errors')}"), name)


def __dir__() -> list[str]:
    return __all__
