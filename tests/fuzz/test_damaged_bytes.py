"""Are damaged manifests, manifest lists and deletes refused by name, without crash, hang or memory without bound?"""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.fuzz.attack import ATTACKS

ROOT = Path(__file__).parents[2]
SECONDS_MAX = 240
KILOBYTES_MAX = 200 << 10
SEED = os.environ.get("LAKEWRIGHT_FUZZ_SEED", "0")
"""Any other number damages other bytes."""


def test_damage_is_refused_by_name_or_does_no_harm() -> None:
    """In a process of its own: the libraries that decode are written in C."""
    command = [sys.executable, "-m", "tests.fuzz.attack", SEED]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    answer = json.loads(done.stdout)
    assert not answer["wrong"], f"seed {SEED}: {answer['wrong'][:5]}"
    assert answer["grown_kilobytes"] < KILOBYTES_MAX
    for name, (_, times) in ATTACKS.items():
        assert sum(answer["counts"][name].values()) == times
        assert min(answer["counts"][name][each] for each in ("refused", "read")) > 0, f"nothing was tried of {name}"
