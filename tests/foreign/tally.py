"""How far have we come with the tables of other engines? What was found is counted, and said at the end of the run."""

from collections import Counter
from typing import Any

import pytest

from tests.foreign import corpus

TALLY = pytest.StashKey[Counter[str]]()
SENT = "lakewright-tally"
RIGHT = "right"


@pytest.fixture(scope="session")
def tally(request: pytest.FixtureRequest) -> Counter[str]:
    """How many snapshots were read right, and how many were refused for which reason."""
    return request.config.stash.setdefault(TALLY, Counter())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process of several tells the one that reports."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[SENT] = dict(session.config.stash.get(TALLY, Counter()))


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    found = getattr(node, "workeroutput", {}).get(SENT, {})
    node.config.stash.setdefault(TALLY, Counter()).update(found)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not corpus.iceberg_tables():
        terminalreporter.write_line(
            f"NO TABLES OF OTHER ENGINES WERE READ: there are none at {corpus.folder()}; set LAKEWRIGHT_TABLES",
            yellow=True,
            bold=True,
        )
        return
    found = terminalreporter.config.stash.get(TALLY, Counter())
    if found:
        refused = {reason: count for reason, count in sorted(found.items()) if reason != RIGHT}
        reasons = ", ".join(f"{count} {reason}" for reason, count in refused.items())
        terminalreporter.write_line(
            f"snapshots of other engines: {found[RIGHT]} right, {sum(refused.values())} refused ({reasons}), "
            f"{found.total()} tried"
        )
