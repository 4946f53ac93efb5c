"""Does a module's name say what is different about it, and are private names left alone?"""

from pathlib import PurePosixPath

from tests.architecture.source import PACKAGE, Module, Reference, is_within

EMPTY_WORDS = frozenset(
    ("base", "common", "data", "handle", "helper", "helpers", "info", "manager", "process", "util", "utils")
)
SHARED_PRIVATE_NAMES = ("_version",)


def violations(module: Module) -> list[str]:
    """Module names that say nothing, and uses of another module's private names."""
    return _empty_names(module) + _trespasses(module)


def _empty_names(module: Module) -> list[str]:
    words = [part.strip("_") for part in PurePosixPath(module.path).with_suffix("").parts]
    return [
        module.complaint(1, f"a module called {word!r} could hold anything") for word in words if word in EMPTY_WORDS
    ]


def _trespasses(module: Module) -> list[str]:
    private = [each for each in module.references if is_within(each.name, PACKAGE) and _private_part(each)]
    return sorted({module.complaint(each.line, f"{each.name} is private to its module") for each in private})


def _private_part(used: Reference) -> str:
    parts = [part for part in used.name.split(".") if part not in SHARED_PRIVATE_NAMES]
    return next((part for part in parts if part.startswith("_") and not part.endswith("__")), "")
