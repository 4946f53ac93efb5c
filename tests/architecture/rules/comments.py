"""Does each module say what it is for, each TODO name an issue, and each silenced rule its reason?"""

import ast
import re

from tests.architecture.source import Module

TODO = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
TODO_WITH_ISSUE = re.compile(r"\bTODO\(#\d+\)")
SILENCER = re.compile(r"#\s*(?:ruff:\s*)?noqa\b|#\s*type:\s*ignore\b|#\s*(?:fmt|ruff):\s*\w+|#\s*mypy:")
SILENCER_WITH_REASON = re.compile(r"#[^#]*?\s(?:--?|#)\s+\w")


def violations(module: Module) -> list[str]:
    """Modules without an opening sentence, TODOs without an issue, rules switched off without a reason."""
    return _missing_opening(module) + _open_ends(module) + _silenced(module)


def _missing_opening(module: Module) -> list[str]:
    opening = (ast.get_docstring(module.tree) or "").partition("\n\n")[0].strip()
    if opening.endswith((".", "?", "!")):
        return []
    return [module.complaint(1, "opens without a sentence that says what the module is for")]


def _open_ends(module: Module) -> list[str]:
    return [
        module.complaint(line, "a TODO names its issue: TODO(#12)")
        for line, comment in module.comments
        if TODO.search(comment) and not TODO_WITH_ISSUE.search(comment)
    ]


def _silenced(module: Module) -> list[str]:
    return [
        module.complaint(line, f"{comment} gives no reason: `# noqa: E501 -- why`, `# type: ignore[arg-type]  # why`")
        for line, comment in module.comments
        if SILENCER.search(comment) and not SILENCER_WITH_REASON.search(comment)
    ]
