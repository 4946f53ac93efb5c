"""Does code ask what a format can do instead of what it is called?"""

import ast
from collections.abc import Iterator

from tests.architecture.rules.layers import FORMATS
from tests.architecture.source import PACKAGE, Module, is_within

WHERE_FORMATS_HAVE_NAMES = ("formats", "lake", "interfaces")


def violations(module: Module) -> list[str]:
    """Comparisons with the name of a format outside the places that pick one."""
    if not is_within(module.name, PACKAGE) or module.lies_in(*WHERE_FORMATS_HAVE_NAMES):
        return []
    named = [constant for node in module.nodes for constant in _compared_texts(node) if constant.value in FORMATS]
    return [
        module.complaint(each.lineno, f"asks for the format {each.value!r}, not for a capability") for each in named
    ]


def _compared_texts(node: ast.AST) -> Iterator[ast.Constant]:
    match node:
        case ast.Compare(left=left, comparators=others):
            compared: list[ast.AST] = [left, *others]
        case ast.MatchValue(value=value):
            compared = [value]
        case ast.Call(func=ast.Attribute(attr="startswith" | "endswith"), args=given):
            compared = list(given)
        case _:
            compared = []
    for each in compared:
        yield from (part for part in ast.walk(each) if isinstance(part, ast.Constant))
