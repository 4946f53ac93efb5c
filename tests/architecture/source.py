"""What does a source file say? A parsed module, and the names it uses."""

import ast
import builtins
import io
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from textwrap import dedent

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = "lakewright"
BUILTIN_NAMES = frozenset(dir(builtins))
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PYTHON_FOLDERS = ("src", "tests", "tools", "examples")


@dataclass(frozen=True)
class Reference:
    """A use of an imported or built-in thing, by its full name: `datetime.datetime.now`."""

    name: str
    line: int


@dataclass(frozen=True)
class Import:
    """One imported name, in full; `from a import b` is `a.b`, since b may be a module.

    `import a.b` binds `a`, which stands for `a`; `import a.b as c` binds `c`, which stands for `a.b`.
    """

    name: str
    line: int
    bound_to: str
    stands_for: str
    is_lazy: bool
    is_for_types: bool


@dataclass(frozen=True)
class Module:
    """A source file; `path` is relative to the project and decides the module's name."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @cached_property
    def name(self) -> str:
        parts = list(Path(self.path.removeprefix("src/")).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cached_property
    def inner_name(self) -> str:
        """The name within the package: `planning.bind`; empty for the package's own `__init__`."""
        return self.name.removeprefix(PACKAGE).removeprefix(".")

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        return tuple(_imports(self))

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        return tuple(_references(self))

    @cached_property
    def comments(self) -> tuple[tuple[int, str], ...]:
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        return tuple((token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT)

    def lies_in(self, *patterns: str) -> bool:
        """Whether the module is, or lies below, a place such as `formats.*.records`."""
        return any(_is_at_or_below(self.inner_name, pattern) for pattern in patterns)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @cached_property
    def attributes(self) -> tuple[ast.Attribute, ...]:
        return tuple(node for node in self.nodes if isinstance(node, ast.Attribute))

    def complaint(self, line: int, what: str) -> str:
        return f"{self.path}:{line}: {what}"


def is_within(name: str, *prefixes: str) -> bool:
    """Whether a dotted name is one of the others or lies below it."""
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


@cache
def project_modules(*folders: str) -> tuple[Module, ...]:
    """Every Python file below some folders of the project, in the order of their paths."""
    paths = sorted(path for folder in folders for path in (PROJECT / folder).rglob("*.py"))
    return tuple(Module(path.relative_to(PROJECT).as_posix(), path.read_text("utf-8")) for path in paths)


def in_project(violations: Callable[[Module], list[str]], *folders: str) -> str:
    """What a rule finds in the files below some folders of the project, a line for each place; empty when it holds."""
    return "\n".join(found for module in project_modules(*folders) for found in violations(module))


def planted(path: str, text: str) -> Module:
    """A source file that only a test knows; its text may be indented like the test around it."""
    return Module(path, dedent(text))


def _is_at_or_below(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) or fnmatchcase(name, f"{pattern}.*")


def _imports(module: Module) -> Iterator[Import]:
    lazy = {line for node in module.nodes if isinstance(node, FUNCTIONS) for line in _lines(node.body)}
    for_types = {line for node in module.nodes if _is_for_types(node) for line in _lines(node.body)}
    for node in module.nodes:
        for name, bound_to, stands_for in _bindings(module, node):
            yield Import(name, node.lineno, bound_to, stands_for, node.lineno in lazy, node.lineno in for_types)


def _bindings(module: Module, node: ast.AST) -> Iterator[tuple[str, str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            root = alias.name.partition(".")[0]
            yield alias.name, alias.asname or root, alias.name if alias.asname else root
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            name = f"{_origin(module, node)}.{alias.name}"
            yield name, alias.asname or alias.name, name


def _origin(module: Module, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    package = module.name.split(".") if module.path.endswith("__init__.py") else module.name.split(".")[:-1]
    above = package[: len(package) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).removeprefix("typing.") == "TYPE_CHECKING"


def _lines(body: list[ast.stmt]) -> range:
    return range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1)


def _references(module: Module) -> Iterator[Reference]:
    yield from (Reference(each.name, each.line) for each in module.imports)
    meanings = {each.bound_to: each.stands_for for each in module.imports}
    continued = {id(node.value) for node in module.nodes if isinstance(node, ast.Attribute)}
    for node in module.nodes:
        if not isinstance(node, ast.Name | ast.Attribute) or id(node) in continued:
            continue
        root, dot, rest = _dotted(node).partition(".")
        if root in meanings:
            yield Reference(f"{meanings[root]}{dot}{rest}", node.lineno)
        elif root in BUILTIN_NAMES:
            yield Reference(f"builtins.{root}{dot}{rest}", node.lineno)


def _dotted(node: ast.Name | ast.Attribute) -> str:
    """The longest chain of plain names, `a.b.c`; empty when the chain begins with something else, such as a call."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node.value, ast.Name | ast.Attribute):
        start = _dotted(node.value)
        return f"{start}.{node.attr}" if start else ""
    return ""
