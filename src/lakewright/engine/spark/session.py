"""How is a Spark session found or started, and do its workers fit this installation?"""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from lakewright._version import __version__
from lakewright.errors import UnsuitableEnvironment
from lakewright.model.session import SqlSettings

_JAVA_MIN = 17
_JAVA_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')
_GIB = 1 << 30
_MEMORY_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_MISSING_MODULE = re.compile(r"No module named '(lakewright|pyarrow|pandas)")


@dataclass
class Session:
    """A session that is started when something first needs it. `given` is one that the user made."""

    given: SparkSession | None = None
    _started: Any = field(default=None, repr=False)
    _workers_checked: bool = field(default=False, repr=False)

    @property
    def is_started(self) -> bool:
        return self.given is not None or self._started is not None

    @property
    def is_on_cluster(self) -> bool:
        """Whether there are workers beside this machine; a session that is not started will be local."""
        if not self.is_started:
            return False
        master = self.spark.conf.get("spark.master", "") or ""
        return not (master == "local" or master.startswith("local["))

    @property
    def spark(self) -> SparkSession:
        if self.given is not None:
            return self.given
        if self._started is None:
            self._started = start_local_session()
        return self._started  # type: ignore[no-any-return]  # -- as above

    @property
    def spark_with_workers(self) -> SparkSession:
        """The session, once it is certain that its Python workers can run our tasks."""
        spark = self.spark
        if not self._workers_checked:
            check_workers(spark)
            self._workers_checked = True
        return spark

    def settings(self) -> SqlSettings:
        """Spark Connect looks at the time zone only when a DataFrame runs."""
        conf, is_remote = self.spark.conf, type(self.spark).__module__.startswith("pyspark.sql.connect")
        return SqlSettings(
            case_sensitive=str(conf.get("spark.sql.caseSensitive", "false")).lower() == "true",
            time_zone=None if is_remote else str(conf.get("spark.sql.session.timeZone", "UTC")),
        )


def start_local_session() -> SparkSession:
    """The session that is active already, or a local one that suits this machine."""
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    check_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    builder: Any = SparkSession.builder
    builder = builder.appName("lakewright").master("local[*]")
    for name, value in {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
        "spark.driver.memory": f"{max(1, _memory_bytes() // 4 // _GIB)}g",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()  # type: ignore[no-any-return]  # -- the builder is typed for two kinds of session


def check_java() -> None:
    """Spark's own message about a missing or old Java does not say what to do."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME is {home}, where there is none" if home else "none is on the path"
        raise UnsuitableEnvironment(f"Spark needs Java {_JAVA_MIN} or newer and {where}: install one, or set JAVA_HOME")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    major = java_major(answer.stderr + answer.stdout)
    if major is None or major < _JAVA_MIN:
        found = f"version {major}" if major else "of a version that it does not tell"
        raise UnsuitableEnvironment(
            f"Spark needs Java {_JAVA_MIN} or newer and {java} is {found}: install a newer one and set JAVA_HOME to it"
        )


def java_major(text: str) -> int | None:
    """The major version that `java -version` prints; before 9 it was the second number."""
    found = _JAVA_VERSION.search(text)
    if found is None:
        return None
    first, second = int(found[1]), int(found[2] or 0)
    return second if first == 1 else first


def check_workers(spark: SparkSession) -> None:
    """One tiny job shows which Python and which lakewright the workers have."""
    try:
        rows = spark.range(1).mapInArrow(_installation, "lakewright string, python string").collect()
    except Exception as error:
        explained = worker_problem(str(error))
        if explained is None:
            raise
        raise UnsuitableEnvironment(explained) from error
    theirs = rows[0]["lakewright"]
    if theirs != __version__:
        raise UnsuitableEnvironment(
            f"the Spark workers have lakewright {theirs} and this Python has {__version__}: install the same version on both"
        )


def worker_problem(message: str) -> str | None:
    """What a failed Python task says about the installation of the workers, in one sentence; None if nothing."""
    missing = _MISSING_MODULE.search(message)
    if missing:
        return (
            f"the Python of the Spark workers has no {missing[1]}: install lakewright {__version__} there, or set "
            "PYSPARK_PYTHON to a Python that has it before the session starts"
        )
    if "PYTHON_VERSION_MISMATCH" in message:
        return (
            f"the Spark workers run another Python than this one, {platform.python_version()}: set PYSPARK_PYTHON to "
            "the same version before the session starts"
        )
    return None


def _installation(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield pa.RecordBatch.from_pydict({"lakewright": [__version__], "python": [platform.python_version()]})


def _memory_bytes() -> int:
    """What this process may use: a container often allows less than the machine has."""
    try:
        available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        available = 4 * _GIB
    return min([available, *memory_limits(_MEMORY_LIMITS)])


def memory_limits(files: Iterable[Path]) -> list[int]:
    """The limits that these files of control groups name; `max` and a missing file are none."""
    limits = []
    for file in files:
        with suppress(OSError, ValueError):
            limits.append(int(file.read_text("ascii")))
    return limits
