"""Does the guide name every operation, every option and every error?"""

import ast
import re
from collections.abc import Iterable, Iterator

from tests.architecture.source import FUNCTIONS, Module

USER_FACING = ("lake", "table")


def violations(modules: Iterable[Module], guide: str) -> list[str]:
    """What a user can ask for or meet, and does not find in the guide."""
    promised = {name: kind for module in modules for kind, name in _promises(module)}
    return [
        f"docs/guide.md does not name the {promised[name]} {name}"
        for name in sorted(promised)
        if not _names(guide, name)
    ]


def _names(guide: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", guide) is not None


def _promises(module: Module) -> Iterator[tuple[str, str]]:
    if module.lies_in("operations"):
        yield from (("operation", name) for name in _operation(module))
        yield from (("option", name) for name in _options_of_methods(module))
    if module.lies_in("errors"):
        yield from (("error", node.name) for node in module.tree.body if isinstance(node, ast.ClassDef))
    if module.lies_in(*USER_FACING):
        yield from (("option", name) for name in _options_of_methods(module))
        yield from (("option", name) for name in _options_of_functions(module.tree.body))
    if module.lies_in("interfaces"):
        yield from (("option", name) for name in _options_by_text(module))


def _operation(module: Module) -> tuple[str, ...]:
    """The module right below `operations`, whether it is a file or a folder."""
    name = module.inner_name.split(".")[1:2]
    return tuple(each for each in name if not each.startswith("_"))


def _options_of_methods(module: Module) -> Iterator[str]:
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _options_of_functions(node.body)


def _options_of_functions(body: list[ast.stmt]) -> Iterator[str]:
    """Keyword-only parameters, and those that have a default."""
    for node in body:
        if isinstance(node, FUNCTIONS) and not node.name.startswith("_"):
            positional = node.args.posonlyargs + node.args.args
            defaulted = positional[len(positional) - len(node.args.defaults) :]
            yield from (each.arg for each in defaulted + node.args.kwonlyargs)


def _options_by_text(module: Module) -> Iterator[str]:
    """What an interface looks up in the options that Spark hands it: `options.get("x")`, `self.options["x"]`."""
    for node in module.nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(value=receiver, attr="get" | "pop"), args=[ast.Constant(value=str(name)), *_]
            ):
                looked_up = receiver
            case ast.Subscript(value=receiver, slice=ast.Constant(value=str(name))):
                looked_up = receiver
            case _:
                continue
        if ast.unparse(looked_up).rpartition(".")[2].endswith("options"):
            yield name
