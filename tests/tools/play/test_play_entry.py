"""The door to the screen: it costs nothing until it is opened, and says what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tokenworld import play as package
from tokenworld.diagnostics import Failure
from tokenworld.session import Session


def test_importing_the_door_does_not_import_textual() -> None:
    program = "import sys, tokenworld.play; print('textual' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout == "False\n"


def test_starting_imports_only_the_widgets_of_the_first_screen() -> None:
    program = (
        "import sys, tokenworld.play.screens.app\n"
        "heavy = ('markdown_it', 'textual.widgets._markdown', 'textual.widgets._data_table',\n"
        "         'pygments', 'unified_planning')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout == "[]\n"


def test_without_textual_one_diagnostic_says_what_to_install(
    attic: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "find_spec", lambda name: None)
    with pytest.raises(Failure, match="The screen needs Textual") as caught:
        package.play(attic)
    (found,) = caught.value.diagnostics
    assert found.code == "TW0811"
    assert found.hint == "Run `pip install 'token-world[tui]'`, or use `tw run`."
