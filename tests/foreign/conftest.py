"""How far have we come with the tables of other engines? What was found is counted, and said at the end of the run."""

from collections import Counter

import pytest

from tests.foreign import corpus

TALLY = pytest.StashKey[Counter[str]]()
RIGHT = "right"


@pytest.fixture(scope="session")
def tally(request: pytest.FixtureRequest) -> Counter[str]:
    """How many snapshots were read right, and how many were refused for which reason."""
    return request.config.stash.setdefault(TALLY, Counter())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not corpus.iceberg_tables():
        terminalreporter.write_line(
            f"NO TABLES OF OTHER ENGINES WERE READ: there are none at {corpus.folder()}; set LAKEWRIGHT_TABLES",
            yellow=True,
            bold=True,
        )
        return
    found = terminalreporter.config.stash.get(TALLY, Counter())
    refused = {reason: count for reason, count in sorted(found.items()) if reason != RIGHT}
    reasons = ", ".join(f"{count} {reason}" for reason, count in refused.items())
    terminalreporter.write_line(
        f"snapshots of other engines: {found[RIGHT]} right, {sum(refused.values())} refused ({reasons}), "
        f"{found.total()} tried"
    )
