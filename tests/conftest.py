"""What do all tests share? One Spark session, the judges, and the marks for what a format does not do."""

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from tests.foreign.tally import pytest_sessionfinish, pytest_terminal_summary, pytest_testnodedown, tally  # noqa: F401 -- pytest finds hooks and fixtures here
from tests.object_store_server import object_store_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["object_store_server"]
HERE = Path(__file__).parent
WHERE_SPARK_MAY_RUN = (HERE / "spark", HERE / "interop")
SESSION_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    rewrite = "write the answers that are given now into tests/stories, for a reviewer to read the difference"
    parser.addoption("--rewrite-stories", action="store_true", help=rewrite)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """The one session of the run; begun by the first test that asks for it.

    LAKEWRIGHT_TEST_SESSION names another kind than a local one: `connect:sc://host:port`, or another master.
    """
    from pyspark.sql import SparkSession  # only here, so that the fast tests start fast

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    kind, _, connected = os.environ.get("LAKEWRIGHT_TEST_SESSION", "local[2]").partition(":")
    builder = SparkSession.builder.remote(connected) if kind == "connect" else SparkSession.builder.master(kind)
    for_this_run = {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("spark-warehouse"))}
    if kind == "connect":
        for_this_run["spark.sql.timeType.enabled"] = "true"  # without it, Connect sends nobody a TIME
    for key, value in {**SESSION_SETTINGS, **for_this_run}.items():
        builder = builder.config(key, value)
    session = builder.appName("lakewright tests").getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def judge() -> Callable[[str], ModuleType]:
    """Imports an engine that judges our tables; where it is missing the test is skipped, in CI it fails."""
    return _import_judge


def _import_judge(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        if os.environ.get("CI"):
            pytest.fail(f"{name} must judge in CI and cannot be imported: {error}")
        pytest.skip(f"{name} is not installed: `make setup` installs it")


@pytest.fixture(scope="session")
def duckdb_judge(connect_duckdb: Callable[..., object]) -> object:
    """A DuckDB connection that reads Iceberg tables."""
    return connect_duckdb("avro", "iceberg")


@pytest.fixture(scope="session")
def connect_duckdb(judge: Callable[[str], ModuleType]) -> Iterator[Callable[..., object]]:
    """Makes DuckDB connections with extensions of the same version, from packages; they are closed at the end."""
    made = []

    def connect(*names: str) -> object:
        extensions, connection = judge("duckdb_extensions"), judge("duckdb").connect()
        made.append(connection)
        for name in names:
            judge(f"duckdb_extension_{name}")
            extensions.import_extension(name, con=connection)
            connection.load_extension(name)
        return connection

    yield connect
    for connection in made:
        connection.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        _refuse_spark_in_the_fast_loop(item)
        _expect_failure_of_what_is_not_done(item)


def _refuse_spark_in_the_fast_loop(item: pytest.Item) -> None:
    asks_for_spark = "spark" in getattr(item, "fixturenames", ())
    if asks_for_spark and not any(item.path.is_relative_to(place) for place in WHERE_SPARK_MAY_RUN):
        raise pytest.UsageError(f"{item.nodeid} asks for Spark: it belongs below tests/spark")


def _expect_failure_of_what_is_not_done(item: pytest.Item) -> None:
    """A case marked `not_yet` or `never` is run, and fails when it starts to pass."""
    for mark in (*item.iter_markers("not_yet"), *item.iter_markers("never")):
        item.add_marker(pytest.mark.xfail(reason=f"{mark.name}: {_reason(item, mark)}", strict=True))


def _reason(item: pytest.Item, mark: pytest.Mark) -> str:
    given = mark.kwargs.get("reason") or next(iter(mark.args), "")
    if not given:
        raise pytest.UsageError(f"{item.nodeid} is marked {mark.name} without a reason")
    return str(given)
