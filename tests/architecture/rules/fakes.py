"""Do tests use fakes that behave, never mocks that remember calls?"""

import ast

from tests.architecture.source import FUNCTIONS, Module, is_within

MOCK_LIBRARIES = ("unittest.mock", "mock", "pytest_mock", "mockito", "flexmock")
# What monkeypatch may change: the surroundings of a test, never the code under test.
SURROUNDINGS = frozenset({"setenv", "delenv", "chdir", "context", "undo"})


def violations(module: Module) -> list[str]:
    """Mock libraries, their fixture, and code under test that is patched."""
    return _mocks(module) + _patched_code(module)


def _mocks(module: Module) -> list[str]:
    imported = [(each.line, each.name) for each in module.imports if is_within(each.name, *MOCK_LIBRARIES)]
    wanted = [
        (argument.lineno, "mocker")
        for node in module.nodes
        if isinstance(node, FUNCTIONS)
        for argument in node.args.args
        if argument.arg == "mocker"
    ]
    return [module.complaint(line, f"uses {name}: write a fake that behaves") for line, name in imported + wanted]


def _patched_code(module: Module) -> list[str]:
    patches = [
        node
        for node in module.nodes
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) == "monkeypatch"
        and node.attr not in SURROUNDINGS
    ]
    return [module.complaint(node.lineno, f"monkeypatch.{node.attr} replaces code under test") for node in patches]
