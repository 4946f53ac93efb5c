"""What has grown so large that a second look may pay? A list, never a verdict.

python tools/size_report.py [folder]
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FUNCTION_LINES = 50
FUNCTION_BRANCHES = 8
FUNCTION_PARAMETERS = 5
MODULE_LINES = 400
CLASS_LINES = 200
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (ast.If, ast.IfExp, ast.While, ast.ExceptHandler, ast.match_case)


@dataclass(frozen=True)
class Finding:
    """One measure of one thing, and above which size we look again."""

    place: str
    measure: str
    size: int
    look_again_above: int

    def __str__(self) -> str:
        return f"{self.place}: {self.size} {self.measure} (look again above {self.look_again_above})"


def findings(path: str, text: str) -> tuple[Finding, ...]:
    """What is large in a source file, in the order in which it stands there."""
    measured = _measures(path, ast.parse(text), len(text.splitlines()))
    return tuple(finding for finding in measured if finding.size > finding.look_again_above)


def _measures(path: str, tree: ast.Module, lines: int) -> Iterator[Finding]:
    yield Finding(path, "lines of module", lines, MODULE_LINES)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield Finding(_place(path, node), "lines of class", _span([node]), CLASS_LINES)
        elif isinstance(node, FUNCTIONS):
            yield Finding(_place(path, node), "lines of function body", _span(_story(node)), FUNCTION_LINES)
            yield Finding(_place(path, node), "branches", _branches(node), FUNCTION_BRANCHES)
            yield Finding(_place(path, node), "parameters", _parameters(node), FUNCTION_PARAMETERS)


def _place(path: str, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return f"{path}:{node.lineno} {node.name}"


def _story(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    """The body without its docstring."""
    return function.body[1:] if ast.get_docstring(function) else function.body


def _span(statements: list[ast.stmt]) -> int:
    return (statements[-1].end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def _branches(function: ast.AST) -> int:
    nodes = tuple(ast.walk(function))
    filters = sum(len(node.ifs) for node in nodes if isinstance(node, ast.comprehension))
    return filters + sum(isinstance(node, BRANCHES) for node in nodes)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    named = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return sum(each.arg not in ("self", "cls") for each in named)


def main(folder: str = "src") -> None:
    found = [
        each for path in sorted(Path(folder).rglob("*.py")) for each in findings(str(path), path.read_text("utf-8"))
    ]
    print(
        f"{len(found)} things in {folder} may read better split, or better whole:"
        if found
        else f"{folder} has no giants"
    )
    for each in found:
        print(f"  {each}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
