"""`tw plan --encoding`: one encoding alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine

DOMAINS = Path(__file__).parents[2] / "domains"
SKIRMISH = DOMAINS / "skirmish"
Tw = Any


def test_an_unknown_encoding_is_a_diagnostic(tw: Tw) -> None:
    ran = tw("plan", SKIRMISH / "world.tw", "--encoding", "B")
    assert ran.code == 2
    assert "There is no encoding `B`." in ran.err


def test_the_removed_encoding_names_the_one_that_stays(tw: Tw) -> None:
    ran = tw("plan", SKIRMISH / "world.tw", "--encoding", "D")
    assert ran.code == 2
    assert "Encoding `D` was removed." in ran.err
    assert "Use `--encoding E`" in ran.err


def test_one_way_of_asking_excludes_the_other(tw: Tw) -> None:
    ran = tw("plan", SKIRMISH / "world.tw", "--encoding", "E", "--engine", "own")
    assert ran.code == 2
    assert "--engine and --encoding do not go together." in ran.err


def test_what_numeric_pddl_cannot_say_is_unknown_and_has_its_line(tw: Tw) -> None:
    ran = tw("plan", SKIRMISH / "world.tw", "--encoding", "A")
    assert ran.code == 3
    assert "world.tw:38:" in ran.err


@pytest.mark.planner
@pytest.mark.skipif(not find_engine(FAST_DOWNWARD).ready, reason="Fast Downward is not installed")
def test_sas_wins_and_proves(tw: Tw, tmp_path: Path) -> None:
    found = tw("plan", SKIRMISH / "more.tw:two", "--encoding", "E", "--json").json
    assert (found["answer"], found["encoding"]) == ("winnable", "E")
    file = tmp_path / "proof.json"
    ran = tw("plan", f"{SKIRMISH / 'twin.tw'}:one", "--encoding", "E", "--certificate", file)
    assert ran.code == 1
    assert "proved by fast-downward" in ran.out
    assert tw("plan", f"{SKIRMISH / 'twin.tw'}:one", "--check", file).code == 0
