"""Can a stranger set the house up: are its commands listed and its packages pinned, from nowhere in particular?"""

import re
import tomllib

from tests.architecture.source import PROJECT

MAKEFILE = (PROJECT / "Makefile").read_text("utf-8")
CONSTRAINTS = (PROJECT / "constraints.txt").read_text("utf-8")
PYPROJECT = (PROJECT / "pyproject.toml").read_text("utf-8")
WITHOUT_A_SENTENCE = {"java"}


def test_help_has_a_sentence_for_every_command() -> None:
    commands = set(re.findall(r"^\.PHONY: (\S+)", MAKEFILE, re.MULTILINE))
    described = set(re.findall(r"^([a-z-]+):.*## [A-Z].*\.$", MAKEFILE, re.MULTILINE))
    assert commands - WITHOUT_A_SENTENCE == described


def test_every_constraint_is_one_version() -> None:
    pins = [line for line in CONSTRAINTS.splitlines() if not line.startswith("#")]
    assert [pin for pin in pins if not re.fullmatch(r"[a-z0-9-]+==[\w.+!]+", pin)] == []


def test_everything_that_is_asked_for_is_pinned() -> None:
    project = tomllib.loads(PYPROJECT)
    extras = project["project"]["optional-dependencies"].values()
    asked = [
        *project["project"]["dependencies"],
        *project["build-system"]["requires"],
        *(one for all_ in extras for one in all_),
    ]
    names = {re.split(r"[^\w-]", requirement, maxsplit=1)[0] for requirement in asked}
    assert names - set(re.findall(r"^([a-z0-9-]+)==", CONSTRAINTS, re.MULTILINE)) == set()


def test_packages_come_from_wherever_the_user_gets_packages() -> None:
    for text in (MAKEFILE, CONSTRAINTS, PYPROJECT):
        assert re.search(r"index-url|find-links|trusted-host|https?://", text) is None
