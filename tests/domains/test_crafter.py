"""Crafter: the rules have the outcomes of the game, with their probabilities, rewards and endings.

python -m pytest tests/domains/test_crafter.py -m slow      # 20,000 pairs of state and action
"""

from __future__ import annotations

import random
import shutil
import sys
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("crafter", reason="the extra `crafter` is not installed")

sys.path.insert(0, str(Path(__file__).parent))

from crafter_game import Game, Key, canonical, outcomes, states

from tokenworld.assets import domains_folder
from tokenworld.diagnostics import Failure
from tokenworld.engine import State
from tokenworld.gym.crafter import COMMANDS, CrafterStates, world_text
from tokenworld.model import DeriveCall
from tokenworld.session import Session

FOLDER = domains_folder() / "crafter"
MOST = 600
"""Pairs with more combinations of draws are left out: the game is stepped for each."""


@pytest.fixture(scope="module")
def whole() -> CrafterStates:
    return CrafterStates("crafter")


@dataclass(frozen=True)
class Compared:
    """How many pairs were compared, how many of them have several outcomes, and the errors."""

    pairs: int
    stochastic: int
    left_out: int
    wrong: tuple[str, ...]
    error: Fraction


def compared(area: int, seed: int, pairs: int, folder: Path) -> Compared:
    """Compare this many pairs of states of an area and actions."""
    ours, dice, game = smaller(folder, area), random.Random(seed), started(area)
    listed = ((one, action) for one in states(area, seed) for action in dice.sample(range(17), 3))
    wrong, several, left_out, error = list[str](), 0, 0, Fraction(0)
    for one, action in islice(listed, pairs):
        theirs = outcomes(one, action, MOST)
        if theirs is None:
            left_out += 1
            continue
        several += len(theirs) > 1
        found = distribution(ours, ours.state(one), action, game)
        differs = {key: abs(theirs.get(key, 0) - found.get(key, 0)) for key in {*theirs, *found}}
        if any(differs.values()):
            wrong.append(f"{one.action_names[action]}: {len(theirs)} and {len(found)} outcomes")
            error = max(error, *differs.values())
    return Compared(pairs - left_out, several, left_out, tuple(wrong), error)


def smaller(folder: Path, area: int) -> CrafterStates:
    """The states of a world of an area, written into a folder."""
    for name in ("rules.tw", "land.tw"):
        shutil.copy(FOLDER / name, folder)
    (folder / "w.tw").write_text(world_text(started(area)), encoding="utf-8")
    return CrafterStates(str(folder / "w.tw"))


def started(area: int = 64) -> Game:
    game = Game(area=(area, area), seed=1)
    game.reset()
    return game


def distribution(ours: CrafterStates, state: State, action: int, copy: Game) -> dict[Key, Fraction]:
    """The outcomes of the rules as states of the game."""
    found = defaultdict[Key, Fraction](Fraction)
    told = ours.engine.distribution(state, COMMANDS[action])
    assert not told.left_out
    for one in told.successors:
        ours.put(copy, one.state)
        reward = Fraction(round(10 * sum(x.reward for x in one.outcomes)), 10)
        over = bool({"dead", "over"} & set(one.outcomes[-1].latched))
        found[canonical(copy, reward, over)] += one.probability
    return found


@pytest.mark.parametrize(("area", "pairs"), [(24, 120), (30, 30)])
def test_a_step_has_the_outcomes_of_the_game(area: int, pairs: int, tmp_path: Path) -> None:
    found = compared(area, area, pairs, tmp_path)
    assert found.wrong == ()
    assert found.error == 0
    assert found.stochastic > found.pairs / 6


@pytest.mark.slow
@pytest.mark.parametrize("area", [12, 24, 30, 64])
@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_a_thousand_pairs_more(area: int, seed: int, tmp_path: Path) -> None:
    found = compared(area, 100 * area + seed, 1200, tmp_path)
    print(f"{area}x{area}, seed {seed}: {found}")
    assert found.pairs >= 1000
    assert found.wrong == ()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> CrafterStates:
    """A world of 12 by 12 tiles."""
    return smaller(tmp_path_factory.mktemp("small"), 12)


def test_as_many_creatures_are_wanted_as_in_the_game_at_any_time(small: CrafterStates) -> None:
    engine, game = small.engine, started(12)
    state = small.state(game)
    program = engine.instance.program
    asked = [
        DeriveCall(name, (), program.derives[name].type, program.derives[name].span)
        for name in ("most_zombies", "most_cows")
    ]
    for tick in range(9, 10_000, 10):
        game._step = tick + 1
        game._update_time()
        light = game._world.daylight
        now = engine.snapshot(state, tick=tick)
        assert [engine.ask(now, one) for one in asked] == [int(3.5 - 3 * light), int(1.5 + light)]


# ---- states in and out ---------------------------------------------------------------------


def test_the_world_is_a_game_that_has_just_been_reset(whole: CrafterStates) -> None:
    """The map and the creatures of `world.tw` are those of the package, with the seed 1."""
    game = started()
    text = (FOLDER / "world.tw").read_text(encoding="utf-8")
    assert world_text(game, "crafter") in text
    ours, theirs = Game(area=(64, 64), seed=2), canonical(game, Fraction(0), False)
    ours.reset()
    whole.put(ours, whole.engine.start())
    again = canonical(ours, Fraction(0), False)
    chunks = 5
    assert again[:chunks] == theirs[:chunks]
    assert sorted(again[chunks]) == sorted(theirs[chunks])


def test_states_go_there_and_back(small: CrafterStates) -> None:
    copy = started(12)
    for game in islice(states(12, 7), 60):
        state = small.state(game)
        small.put(copy, state)
        assert canonical(copy, Fraction(0), False) == canonical(game, Fraction(0), False)
        assert small.engine.hash(small.state(copy)) == small.engine.hash(state)


def test_a_game_of_another_area_is_refused(small: CrafterStates) -> None:
    with pytest.raises(Failure, match="TW0006") as failure:
        small.state(started(24))
    assert "area (24, 24)" in str(failure.value)
    assert "world_text" in failure.value.diagnostics[0].hint


# ---- the bundled worlds --------------------------------------------------------------------


def test_the_planner_finds_the_pickaxe_of_the_quarry() -> None:
    """Creatures are frozen there; the default order of engines finds the plan."""
    frozen = Session.open(str(FOLDER / "quarry.tw"))
    verdict = frozen.plan("pickaxe", time_limit=300)
    assert (verdict.answer, verdict.engine) == ("winnable", "width search")
    for step in verdict.plan:
        (outcome,) = frozen.intend(step.command)
        assert outcome.status == "executed"
    assert outcome.latched == ("pickaxe",)
