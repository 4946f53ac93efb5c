"""Do tables behave the same over Spark Connect and on a cluster, whose workers are processes of their own?"""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

import lakewright

REPOSITORY = Path(__file__).parents[2]
SUITE = "tests/spark/test_create_append_read.py"
SECONDS_MAX = 280


@pytest.mark.parametrize("kind", ["connect:local[2]", "local-cluster[2,1,1024]"])
def test_the_suite_of_create_append_and_read_passes(kind: str, tmp_path: Path) -> None:
    """In a process of its own, since one process holds one kind of session."""
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", SUITE, "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/tests"],
        cwd=REPOSITORY,
        env={
            **os.environ,
            "LAKEWRIGHT_TEST_SESSION": kind,
            "PYTHONPATH": str(Path(lakewright.__file__).parents[1]),
            "SPARK_HOME": str(spark_home(tmp_path / "spark")),
        },
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"


def spark_home(place: Path) -> Path:
    """The installed Spark, in a folder whose `work` is not that of the installation: workers write there."""
    place.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (place / part.name).symlink_to(part)
    return place
