"""Is the core values in, values out, and is a glance at the outside world noticed?"""

import pytest

from tests.architecture.rules import purity
from tests.architecture.source import in_project, planted


def test_the_core_is_pure_and_time_and_chance_have_one_source() -> None:
    found = in_project(purity.violations, "src")
    assert not found, found


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("model/files.py", "open('x')", "builtins.open"),
        ("model/files.py", "from os import environ", "os.environ"),
        ("planning/bind.py", "from pathlib import Path", "pathlib.Path"),
        ("planning/bind.py", "import logging", "logging"),
        ("planning/bind.py", "from pyspark.sql import Row", "pyspark.sql.Row"),
        ("planning/prune.py", "import pyarrow.fs", "pyarrow.fs"),
        ("commit/conflicts.py", "from threading import Lock", "threading.Lock"),
        ("commit/rebase.py", "print(1)", "builtins.print"),
        ("formats/delta/records.py", "import os.path", "os.path"),
        ("formats/delta/replay/state.py", "import subprocess", "subprocess"),
        ("formats/iceberg/encode.py", "import tempfile", "tempfile"),
        ("commit/loop.py", "from time import sleep", "time.sleep"),
        ("engine/spark/run.py", "import datetime as dt\ndt.datetime.now()", "datetime.datetime.now"),
        ("engine/spark/run.py", "from datetime import date\ndate.today()", "datetime.date.today"),
        ("engine/arrow/write.py", "import numpy as np\nnp.random.default_rng()", "numpy.random.default_rng"),
        ("formats/delta/log.py", "import uuid\nuuid.uuid4()", "uuid.uuid4"),
        ("operations/delete.py", "import random", "random"),
        ("storage/stores.py", "import secrets", "secrets"),
    ],
)
def test_a_use_of_the_outside_world_is_named(path: str, text: str, name: str) -> None:
    found = purity.violations(planted(f"src/lakewright/{path}", text))
    assert [each for each in found if f"uses {name}:" in each]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("model/files.py", "import posixpath\nfrom pathlib import PurePosixPath"),
        ("model/values.py", "import uuid\nuuid.UUID(int=1)"),
        ("model/values.py", "from datetime import datetime, time\ndatetime.fromtimestamp(0)\ntime.min"),
        ("planning/bind.py", "def last(time, random): return time.hour, random.seed"),
        ("planning/bind.py", "store.open('x')"),
        ("formats/delta/log.py", "open('x')"),
        ("formats/delta/adapter.py", "import logging"),
        ("commit/loop.py", "clock.sleep(1)"),
        ("table.py", "import logging"),
        ("system_clock.py", "import random\nimport time\nimport uuid\ntime.sleep(uuid.uuid4().int)"),
    ],
)
def test_values_and_a_shell_with_arguments_pass(path: str, text: str) -> None:
    assert purity.violations(planted(f"src/lakewright/{path}", text)) == []
