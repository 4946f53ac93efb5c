"""Is every dependency imported in the folders that are named for it, and through its public names?"""

import sys

from tests.architecture.source import PACKAGE, Module, is_within

READERS_OF_ROWS = ("engine", "formats", "storage", "planning", "testing")
# The longest name that covers an import decides; a home is a place within the package.
HOMES = {
    "fastavro": ("formats.iceberg",),
    "mmh3": ("model.transforms", "model.naming", "engine.arrow.partition"),
    "numpy": (*READERS_OF_ROWS, "model.columns"),
    "obstore": ("storage",),
    "pandas": ("engine.spark", "interfaces.datasource"),
    "pyarrow": READERS_OF_ROWS,
    "pyarrow.parquet": ("engine.arrow", "formats.*.checkpoint*"),
    "pyiceberg": ("formats.iceberg", "storage"),
    "pyroaring": ("engine.arrow", "formats.*.bitmaps"),
    "pyspark": ("engine.spark", "interfaces.datasource"),
    "requests": ("formats.iceberg.metastore", "formats.iceberg.rest_session"),
    "sqlalchemy": ("formats.iceberg.metastore",),
    "sqlglot": ("planning",),
}
NAMED_IN_ANNOTATIONS = ("numpy", "pandas", "pyarrow", "pyspark")
ANNOTATING = ("interfaces", "lake", "table", "operations", "protocols")
JVM_DOORS = ("_jvm", "_jdf", "_jsc", "_jsparkSession", "_jcol", "rdd", "sparkContext")


def violations(module: Module) -> list[str]:
    """Third-party imports away from home, imports that nobody decided on, and doors into Spark's JVM."""
    if not is_within(module.name, PACKAGE):
        return []
    return _strays(module) + _doors_into_the_jvm(module)


def _strays(module: Module) -> list[str]:
    found = []
    for each in module.imports:
        if _is_ours_or_pythons(each.name) or (each.is_for_types and _may_name(module, each.name)):
            continue
        homes = _homes(each.name)
        if not homes:
            found.append(module.complaint(each.line, f"imports {each.name}: no decision has named a folder for it"))
        elif not module.lies_in(*homes):
            found.append(module.complaint(each.line, f"imports {each.name}: its place is {', '.join(homes)}"))
    return found


def _is_ours_or_pythons(name: str) -> bool:
    return name.partition(".")[0] in {PACKAGE, *sys.stdlib_module_names}


def _may_name(module: Module, imported: str) -> bool:
    is_public_face = not module.inner_name
    return is_within(imported, *NAMED_IN_ANNOTATIONS) and (is_public_face or module.lies_in(*ANNOTATING))


def _homes(imported: str) -> tuple[str, ...]:
    known = [name for name in HOMES if is_within(imported, name)]
    return HOMES[max(known, key=len)] if known else ()


def _doors_into_the_jvm(module: Module) -> list[str]:
    doors = [node for node in module.attributes if node.attr in JVM_DOORS]
    return [module.complaint(node.lineno, f".{node.attr} does not exist over Spark Connect") for node in doors]
