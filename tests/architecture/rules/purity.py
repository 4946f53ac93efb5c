"""Is the core free of the outside world, and do clock and chance come in as arguments?"""

from tests.architecture.source import PACKAGE, Module, Reference, is_within

CORE = (
    "model",
    "planning",
    "commit.conflicts",
    "commit.rebase",
    "formats.*.records",
    "formats.*.replay",
    "formats.*.encode",
)
SOURCE_OF_TIME_AND_CHANCE = "system_clock"
TIME_AND_CHANCE = (
    "datetime.date.today",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "numpy.random",
    "os.urandom",
    "random",
    "secrets",
    "time",
    "uuid.getnode",
    "uuid.uuid1",
    "uuid.uuid4",
)
OUTSIDE_WORLD = (
    "asyncio",
    "builtins.input",
    "builtins.open",
    "builtins.print",
    "concurrent",
    "glob",
    "http",
    "io.open",
    "logging",
    "multiprocessing",
    "os",
    "pathlib.Path",
    "pathlib.PosixPath",
    "pathlib.WindowsPath",
    "pyarrow.csv",
    "pyarrow.dataset",
    "pyarrow.fs",
    "pyarrow.parquet",
    "pyspark",
    "shutil",
    "socket",
    "subprocess",
    "sys.argv",
    "sys.stderr",
    "sys.stdin",
    "sys.stdout",
    "tempfile",
    "threading",
    "urllib.request",
)


def violations(module: Module) -> list[str]:
    """Uses of the outside world in the core, and of time and chance anywhere but in their one module."""
    if not is_within(module.name, PACKAGE):
        return []
    reasons = {each: _objection(module, each) for each in module.references}
    return [module.complaint(each.line, f"uses {each.name}: {why}") for each, why in reasons.items() if why]


def _objection(module: Module, used: Reference) -> str:
    if is_within(used.name, *TIME_AND_CHANCE) and not module.lies_in(SOURCE_OF_TIME_AND_CHANCE):
        return "time, waiting and chance come in as arguments"
    if is_within(used.name, *OUTSIDE_WORLD) and module.lies_in(*CORE):
        return "the core has values only"
    return ""
