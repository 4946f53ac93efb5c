"""Do tables behave the same over Spark Connect and on a cluster, whose workers are processes of their own?"""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

import lakewright

REPOSITORY = Path(__file__).parents[2]
SUITE = "tests/spark/test_create_append_read.py"
SECONDS_MAX = 560

pytestmark = pytest.mark.timeout(600)


SERVER = """
import sys
from pyspark.sql import SparkSession
from tests.conftest import SESSION_SETTINGS

builder = SparkSession.builder.master("local[2]")
settings = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.port": sys.argv[1],
    "spark.sql.warehouse.dir": sys.argv[2],
}
for key, value in {**SESSION_SETTINGS, **settings}.items():
    builder = builder.config(key, value)
session = builder.getOrCreate()
print("ready", flush=True)
sys.stdin.read()
session.stop()
"""


def test_the_suite_of_create_append_and_read_passes_over_spark_connect(tmp_path: Path) -> None:
    """The server is a process of its own: this one has no JVM."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port), str(tmp_path / "warehouse")],
        cwd=REPOSITORY,
        env={**surroundings(), "PYSPARK_PYTHON": sys.executable},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        assert_suite_passes(f"connect:sc://127.0.0.1:{port}", tmp_path)
    finally:
        server.communicate(timeout=60)


def test_the_suite_of_create_append_and_read_passes_on_a_cluster(tmp_path: Path) -> None:
    """Two workers, each a process with a JVM and Pythons of its own."""
    assert_suite_passes("local-cluster[2,1,1024]", tmp_path, SPARK_HOME=str(spark_home(tmp_path / "spark")))


def assert_suite_passes(kind: str, tmp_path: Path, **more: str) -> None:
    """In a process of its own, since one process holds one kind of session."""
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", SUITE, "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path}/tests"],
        cwd=REPOSITORY,
        env={**surroundings(), "LAKEWRIGHT_TEST_SESSION": kind, **more},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"


def surroundings() -> dict[str, str]:
    """Workers are started in other folders, so the way to our code is a whole path."""
    return {**os.environ, "PYTHONPATH": str(Path(lakewright.__file__).parents[1])}


def spark_home(place: Path) -> Path:
    """The installed Spark, in a folder whose `work` is not that of the installation: workers write there."""
    place.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        if part.name != "work":
            (place / part.name).symlink_to(part)
    return place
