"""Are only our own errors raised, and do all of them stand in `errors.py`?"""

import ast
import builtins
from collections.abc import Iterator

from tests.architecture.source import PACKAGE, Module, is_within

BUILTIN_ERRORS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
OF_A_MISSING_NAME = frozenset({"AttributeError", "StopIteration"})
# What the protocol of object stores promises to those who call one; it never reaches a user.
OF_AN_OBJECT_STORE = frozenset({"FileNotFoundError", "OSError"})
STORES = ("storage", "testing")


def violations(module: Module) -> list[str]:
    """Errors raised that are not ours, and error classes defined outside `errors.py`."""
    if not is_within(module.name, PACKAGE):
        return []
    return _foreign_raises(module) + _homeless_errors(module)


def _foreign_raises(module: Module) -> list[str]:
    allowed = _allowed(module)
    origins = {each.bound_to: each.name for each in module.imports}
    raised = [(node.lineno, name) for node in module.nodes if (name := _raised_name(node))]
    return [
        module.complaint(line, f"raises {name}, which no user can act on; errors.py has what we raise")
        for line, name in raised
        if (line, name) not in allowed and _is_foreign(name, origins)
    ]


def _raised_name(node: ast.AST) -> str:
    if not isinstance(node, ast.Raise) or node.exc is None:
        return ""
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return ast.unparse(raised) if isinstance(raised, ast.Name | ast.Attribute) else ""


def _is_foreign(name: str, origins: dict[str, str]) -> bool:
    """Whether a raised name is a class of Python's or of a library's; lower-case names are values of ours."""
    root, _, rest = name.partition(".")
    if root in BUILTIN_ERRORS or root == "builtins":
        return True
    origin = origins.get(root, "")
    is_class = (rest or root).rpartition(".")[2][:1].isupper()
    return bool(origin) and is_class and not is_within(origin, PACKAGE)


def _allowed(module: Module) -> frozenset[tuple[int, str]]:
    """The places where Python's own errors are the contract."""
    if not module.inner_name:
        return frozenset(_raises_of_missing_names(module))
    if module.lies_in(*STORES):
        raised = ((node.lineno, _raised_name(node)) for node in module.nodes if isinstance(node, ast.Raise))
        return frozenset((line, name) for line, name in raised if name in OF_AN_OBJECT_STORE)
    return frozenset()


def _raises_of_missing_names(module: Module) -> Iterator[tuple[int, str]]:
    for function in module.nodes:
        if isinstance(function, ast.FunctionDef) and function.name == "__getattr__":
            raised = ((node.lineno, _raised_name(node)) for node in ast.walk(function) if isinstance(node, ast.Raise))
            yield from ((line, name) for line, name in raised if name in OF_A_MISSING_NAME)


def _homeless_errors(module: Module) -> list[str]:
    """Testing may have its own: a simulated crash is not an error that anybody handles. A private one is a way out of a
    deep walk, caught in the module that defines it."""
    if module.lies_in("errors", "testing"):
        return []
    classes = [node for node in module.nodes if isinstance(node, ast.ClassDef)]
    origins = {each.bound_to: each.name for each in module.imports}
    return [
        module.complaint(node.lineno, f"defines the error {node.name} outside errors.py")
        for node in classes
        if not node.name.startswith("_") and any(_is_error(ast.unparse(parent), origins) for parent in node.bases)
    ]


def _is_error(parent: str, origins: dict[str, str]) -> bool:
    name = parent.rpartition(".")[2]
    is_ours = is_within(origins.get(parent.partition(".")[0], ""), f"{PACKAGE}.errors")
    return is_ours or name in BUILTIN_ERRORS or name.endswith(("Error", "Exception"))
