"""Do imports stand at the top of the file?"""

from tests.architecture.source import PACKAGE, Module, is_within

LOADERS_BY_NAME = ("importlib.import_module", "builtins.__import__")
# The package's own `__init__`, and `lake.py` with its table of adapters.
LAZY_MODULES = ("", "lake")


def violations(module: Module) -> list[str]:
    """Imports inside functions and imports by a computed name, but for the two modules that load lazily."""
    if not is_within(module.name, PACKAGE) or module.inner_name in LAZY_MODULES:
        return []
    lazy = [(each.line, each.name) for each in module.imports if each.is_lazy]
    by_name = [(each.line, each.name) for each in module.references if is_within(each.name, *LOADERS_BY_NAME)]
    return [module.complaint(line, f"{name}: an import has its place at the top") for line, name in lazy + by_name]
