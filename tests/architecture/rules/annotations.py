"""Do types say what a value is?"""

import ast
from collections.abc import Iterator

from tests.architecture.source import FUNCTIONS, PACKAGE, Module, is_within

UNTYPED_RECORDS = frozenset({"dict[str, Any]", "Dict[str, Any]", "Mapping[str, Any]", "MutableMapping[str, Any]"})
WHERE_BYTES_BECOME_RECORDS = "formats.*.records"


def violations(module: Module) -> list[str]:
    """Untyped records beyond a format's `records`, and `Any` where a user or another module would meet it."""
    if not is_within(module.name, PACKAGE) or module.lies_in(WHERE_BYTES_BECOME_RECORDS):
        return []
    return _untyped_records(module) + _signatures_with_any(module)


def _untyped_records(module: Module) -> list[str]:
    subscripts = [node for node in module.nodes if isinstance(node, ast.Subscript)]
    return [
        module.complaint(node.lineno, f"{ast.unparse(node)}: give the record a type")
        for node in subscripts
        if ast.unparse(node).replace("typing.", "") in UNTYPED_RECORDS
    ]


def _signatures_with_any(module: Module) -> list[str]:
    public = list(_public_annotations(module.tree.body))
    return [
        module.complaint(annotation.lineno, f"{name} has Any in its signature")
        for name, annotation in public
        if _says_any(annotation)
    ]


def _public_annotations(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, FUNCTIONS) and _is_public(node.name):
            yield from ((node.name, annotation) for annotation in _signature(node))
        elif isinstance(node, ast.ClassDef) and _is_public(node.name):
            yield from ((f"{node.name}.{name}", annotation) for name, annotation in _public_annotations(node.body))
        elif isinstance(node, ast.AnnAssign) and _is_public(ast.unparse(node.target)):
            yield ast.unparse(node.target), node.annotation


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name.endswith("__")


def _signature(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    inputs = function.args
    rest = [each for each in (inputs.vararg, inputs.kwarg) if each]
    for each in [*inputs.posonlyargs, *inputs.args, *inputs.kwonlyargs, *rest]:
        if each.annotation:
            yield each.annotation
    if function.returns:
        yield function.returns


def _says_any(annotation: ast.expr) -> bool:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "Any" in node.value:
            return _says_any(ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in ("Any", "typing.Any"):
            return True
    return False
