"""What the language could not say once: each program is sound now, and its scenarios pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.session.loading import load_program
from tokenworld.session.scenarios import run_scenario

FOUND = sorted((Path(__file__).parents[1] / "findings" / "language").glob("*.tw"))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_it_can_be_said_and_holds(path: Path) -> None:
    loaded = load_program(path)
    assert loaded.program.scenarios
    for scenario in loaded.program.scenarios:
        assert run_scenario(loaded, scenario).ok, scenario.title
