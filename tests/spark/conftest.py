"""What do the tests on Spark share? A lake for each test, and settings that are put back."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakewright as lw

TALLY_OF_WAYS = pytest.StashKey[Counter[str]]()


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> lw.Lake:
    """A catalog of folders; its tables are read by their place as well."""
    return lw.connect(spark=spark, catalog={"name": "folders", "type": "folder", "warehouse": f"{tmp_path}/lake"})


@pytest.fixture
def metastore(spark: SparkSession, tmp_path: Path) -> lw.Lake:
    """A catalog in SQLite, as pyiceberg opens it, too."""
    return lw.connect(spark=spark, catalog=sqlite_catalog(tmp_path))


def sqlite_catalog(root: Path) -> dict[str, str]:
    return {
        "name": "judged",
        "type": "sql",
        "uri": f"sqlite:///{root}/catalog.db",
        "warehouse": f"file://{root}/warehouse",
    }


@pytest.fixture(scope="session")
def tally_of_ways(request: pytest.FixtureRequest) -> Counter[str]:
    """How snapshots of other engines were read; said at the end of the run."""
    return request.config.stash.setdefault(TALLY_OF_WAYS, Counter())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    found = terminalreporter.config.stash.get(TALLY_OF_WAYS, None)
    if found:
        counts = ", ".join(f"{count} {what}" for what, count in sorted(found.items()))
        terminalreporter.write_line(f"snapshots of other engines through Spark: {counts}, {found.total()} tried")


Settings = Callable[[dict[str, str]], AbstractContextManager[None]]


@pytest.fixture
def settings(spark: SparkSession) -> Settings:
    """Session settings for as long as a `with` lasts."""

    @contextmanager
    def changed(wanted: dict[str, str]) -> Iterator[None]:
        before = {name: spark.conf.get(name, None) for name in wanted}
        for name, value in wanted.items():
            spark.conf.set(name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, value)

    return changed
