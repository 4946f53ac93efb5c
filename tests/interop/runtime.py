"""Where does Apache Iceberg's own Spark runtime run? In an environment of its own, made once and kept in a cache."""

import fcntl
import hashlib
import http.client
import os
import subprocess
import time
import urllib.request
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PYSPARK = "4.1.4"
ICEBERG = "1.12.0"
SQLITE_JDBC = "3.54.1.0"
REQUIREMENTS = (f"pyspark=={PYSPARK}", "pyarrow>=18", "pandas<3")
MAVEN_CENTRAL = os.environ.get("LAKEWRIGHT_MAVEN", "https://repo1.maven.org/maven2")
JARS = (
    f"org/apache/iceberg/iceberg-spark-runtime-4.1_2.13/{ICEBERG}/iceberg-spark-runtime-4.1_2.13-{ICEBERG}.jar",
    f"org/xerial/sqlite-jdbc/{SQLITE_JDBC}/sqlite-jdbc-{SQLITE_JDBC}.jar",
)

ATTEMPTS_MAX = 4
WAIT_SECONDS = 5
DOWNLOAD_SECONDS_MAX = 600
SILENCE_SECONDS_MAX = 60
COMPLAINT_LENGTH_MAX = 2000


class Unavailable(Exception):
    """The runtime could not be downloaded; nothing was judged."""


@dataclass(frozen=True)
class Runtime:
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    @property
    def jars(self) -> list[Path]:
        return [self.folder / Path(jar).name for jar in JARS]


def ensure() -> Runtime:
    """The runtime, made on first use. Raises Unavailable when a download fails after every attempt."""
    cache = Path(os.environ.get("LAKEWRIGHT_INTEROP", Path.home() / ".cache" / "lakewright" / "interop"))
    runtime = Runtime(cache / f"pyspark-{PYSPARK}-iceberg-{ICEBERG}")
    runtime.folder.mkdir(parents=True, exist_ok=True)
    ready = runtime.folder / "ready"
    with (runtime.folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            _make(runtime)
            ready.touch()
    return runtime


def _make(runtime: Runtime) -> None:
    for jar, place in zip(JARS, runtime.jars, strict=True):
        _insist(place.name, lambda jar=jar, place=place: _download(f"{MAVEN_CENTRAL}/{jar}", place))
    venv.create(runtime.folder / "venv", with_pip=True, clear=True)
    _insist("PySpark", lambda: _install(runtime.python))


def _insist(what: str, fetch: Callable[[], None]) -> None:
    complaints = []
    for attempt in range(1, ATTEMPTS_MAX + 1):
        try:
            return fetch()
        except (OSError, subprocess.SubprocessError, http.client.HTTPException) as error:
            complaints.append(
                f"attempt {attempt}: {error} {getattr(error, 'stderr', None) or ''}"[:COMPLAINT_LENGTH_MAX]
            )
        time.sleep(WAIT_SECONDS * attempt)
    raise Unavailable(f"{what} could not be fetched\n" + "\n".join(complaints))


def _install(python: Path) -> None:
    command = [python, "-m", "pip", "install", "--quiet", *REQUIREMENTS]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS_MAX)


def _download(url: str, place: Path) -> None:
    """A jar whose bytes are those that the repository promises."""
    jar, promised = _fetched(url), _fetched(f"{url}.sha1").decode().split()[0]
    found = hashlib.sha1(jar).hexdigest()
    if found != promised:
        raise OSError(f"{url} came with the digest {found}, promised was {promised}")
    place.write_bytes(jar)


def _fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=SILENCE_SECONDS_MAX) as answer:
        return answer.read()
