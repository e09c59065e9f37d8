"""Each verb is imported when it is asked for, and only then."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tokenworld.cli import app
from tokenworld.cli.frame import MODULES

_LOADED = """
import sys
from tokenworld.cli import _main
try:
    _main([{verb!r}, "--help"])
except SystemExit:
    pass
print("modules:", *(name for name in sys.modules if name.startswith("tokenworld.cli.")))
"""


def loaded(verb: str) -> set[str]:
    """The modules of verbs that a process has which was asked for help with one."""
    done = subprocess.run(
        [sys.executable, "-c", _LOADED.format(verb=verb)],
        capture_output=True,
        text=True,
        check=True,
    )
    line = next(one for one in done.stdout.splitlines() if one.startswith("modules:"))
    return {name.rpartition(".")[2] for name in line.split()[1:]} & set(MODULES)


def test_the_list_of_verbs_is_that_of_the_application() -> None:
    homes = {verb: module for module, verbs in MODULES.items() for verb in verbs}
    assert set(homes) == {verb for verb in app if not verb.startswith("-")}
    for verb, module in homes.items():
        command = app[verb].default_command
        if command is not None:
            assert command.__module__ == f"tokenworld.cli.{module}", verb


@pytest.mark.parametrize(("verb", "module"), [("plan", "planning"), ("runs", "recorded")])
def test_a_verb_loads_its_module_only(verb: str, module: str) -> None:
    assert loaded(verb) == {module}


def test_what_is_no_verb_is_looked_for_among_all() -> None:
    assert loaded("plam") == set(MODULES)
