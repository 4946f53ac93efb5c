"""What do the interop tests share? One JVM judge a run; where it cannot be had, a loud list of what was not judged."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

import lakewright as lw
from tests.interop import jvm_client, runtime

NOT_JUDGED = "not judged by Apache Iceberg's Spark runtime"
FIRST_DOWNLOAD_SECONDS_MAX = 3600
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def jvm_or_reason(tmp_path_factory: pytest.TempPathFactory) -> Iterator[jvm_client.Jvm | str]:
    """The judge, or why there is none; asked once a run."""
    try:
        made = runtime.ensure()
    except runtime.Unavailable as reason:
        yield str(reason)
        return
    with jvm_client.started(made, tmp_path_factory.mktemp("jvm")) as judge:
        yield judge


@pytest.fixture
def jvm(jvm_or_reason: jvm_client.Jvm | str) -> jvm_client.Jvm:
    if isinstance(jvm_or_reason, str):
        pytest.skip(f"{NOT_JUDGED}: {jvm_or_reason}")
    return jvm_or_reason


@pytest.fixture
def unique() -> str:
    """A catalog name that no other test of the run uses; the judge keeps its catalogs."""
    return f"c{next(_numbers)}"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


@pytest.fixture
def root(warehouse: Path) -> str:
    """The folder of the table `db.t` of the JVM's catalog `hadoop`."""
    return str(warehouse / "db" / "t")


@pytest.fixture
def connected(tmp_path: Path, warehouse: Path, unique: str) -> Callable[..., lw.Lake]:
    """Makes a lake of ours on a catalog in a SQLite file, whose name the JVM must use as well."""
    database = f"sqlite:///{tmp_path}/catalog.db"
    catalog = {"name": unique, "type": "sql", "uri": database, "warehouse": f"file://{warehouse}"}
    return partial(lw.connect, catalog=catalog)


@pytest.fixture
def lake(connected: Callable[..., lw.Lake]) -> lw.Lake:
    """A lake without Spark."""
    return connected()


@pytest.fixture
def hadoop(jvm: jvm_client.Jvm, warehouse: Path, unique: str) -> str:
    """A catalog of the JVM: its table `db.t` is the folder `db/t` of the warehouse."""
    jvm.hadoop_catalog(f"{unique}_folders", warehouse)
    return f"{unique}_folders"


def pytest_itemcollected(item: pytest.Item) -> None:
    """The first test may have to download the judge."""
    item.add_marker(pytest.mark.timeout(FIRST_DOWNLOAD_SECONDS_MAX))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [report for report in terminalreporter.getreports("skipped") if NOT_JUDGED in str(report.longrepr)]
    if skipped:
        terminalreporter.section(f"{len(skipped)} tests {NOT_JUDGED}".upper(), sep="!", red=True)
        for report in skipped:
            terminalreporter.line(report.nodeid)
