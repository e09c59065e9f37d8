"""Each verb is imported when it is asked for, and only then."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tokenworld.cli import app
from tokenworld.cli.commands import COMMANDS, VERBS

_LOADED = """
import sys
from tokenworld.cli import _main
try:
    _main([{verb!r}, "--help"])
except SystemExit:
    pass
print("modules:", *(name for name in sys.modules if name.startswith("tokenworld.")))
"""
HOMES = {f"tokenworld.{work.rpartition('.')[0]}" for work, _ in COMMANDS.values() if work}


def loaded(verb: str) -> set[str]:
    """The modules of commands that a process has which was asked for help with one."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED.format(verb=verb)],
        capture_output=True,
        text=True,
        check=True,
    )
    line = next(one for one in done.stdout.splitlines() if one.startswith("modules:"))
    return set(line.split()[1:]) & HOMES


def test_the_list_of_verbs_is_that_of_the_application() -> None:
    assert set(VERBS) == {verb for verb in app if not verb.startswith("-")}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_the_help_of_the_list(name: str) -> None:
    found = app
    for word in name.split():
        found = found[word]
    assert found.help == COMMANDS[name][1]


@pytest.mark.parametrize(("verb", "module"), [("plan", "plan.verb"), ("legal", "legal")])
def test_a_verb_loads_its_module_only(verb: str, module: str) -> None:
    assert loaded(verb) == {f"tokenworld.verbs.{module}"}


@pytest.mark.parametrize("word", ["--help", "learn", "chekc"])
def test_a_list_of_verbs_loads_none(word: str) -> None:
    assert loaded(word) == set()
