"""``tw play --run`` without a terminal, and what it refuses."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Tw


def test_a_stored_run_is_told_where_there_is_no_terminal(tw: Tw, world: Path) -> None:
    assert tw("run", world, "--player", "random", "--ticks", 4, "--store", "r.sqlite").code == 0
    shown = tw("runs", "show", "--store", "r.sqlite")
    ran = tw("play", "--run", "1", "--store", "r.sqlite")
    assert (ran.code, ran.out) == (0, shown.out)
    told = tw("play", "--run", "1", "--store", "r.sqlite", "--json").json
    assert told == tw("runs", "show", "--store", "r.sqlite", "--json").json


def test_a_world_or_a_run_is_needed_and_not_both(tw: Tw, world: Path) -> None:
    assert tw("run", world, "--player", "random", "--ticks", 4, "--store", "r.sqlite").code == 0
    none = tw("play")
    assert none.code == 2
    assert "TW0006" in none.err
    for more in ((world,), ("--seed", 3), ("--plan",), ("--web",)):
        both = tw("play", *more, "--run", "1", "--store", "r.sqlite")
        assert both.code == 2
        assert "`--run` shows a stored run alone" in both.err
    assert "TW1104" in tw("play", "--run", "nothing", "--store", "r.sqlite").err
