"""Which grounds do simulations share?"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.simulation.ground import GROUNDS, Ground


@pytest.fixture(params=GROUNDS, ids=lambda made: made.__name__)
def ground(request: pytest.FixtureRequest, tmp_path: Path) -> Ground:
    make: Callable[[Path], Ground] = request.param
    return make(tmp_path)
