"""Are the facts about one file found among those of many, in whatever small numbers they are kept?"""

import numpy as np
import pytest

from lakewright.model.columns import CountsById


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int64], ids=lambda kind: kind.__name__)
def test_each_file_has_its_own_facts_up_to_the_last_number_that_fits(kind: type) -> None:
    """Files 0 and 127 have facts; 127 is the largest number of eight bits, and those after it have none."""
    counts = CountsById(np.array([127, 0, 127], kind), np.array([1, 1, 2]), np.array([5, 6, 7]))
    found = {row: counts.of_file(row) for row in (0, 1, 126, 127, 128, 255, 256, 40_000)}
    assert {row: facts for row, facts in found.items() if facts} == {0: {1: 6}, 127: {1: 5, 2: 7}}
