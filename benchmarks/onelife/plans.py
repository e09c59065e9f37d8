"""The three comparisons of plans of OneLife's paper: does a fitted model order them as the game?

Starts and plans are `domains/crafter/duels.tw` and `domains/crafter/plans`, rebuilt, as they are
not public. Each plan is played by `tw duel` in the exact rules and in rules with fitted numbers,
and in the game itself, the package `crafter`. The score is a mean of runs with equal seeds.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from crafter import constants, objects

from benchmarks.onelife.documents import AREA, blank
from benchmarks.onelife.fits import written
from tokenworld.assets import domains_folder
from tokenworld.gym.crafter import COMMANDS, CrafterStates
from tokenworld.session import open_world
from tokenworld.session.rollouts import rollout
from tokenworld.verbs.learn.duel import Duel, compared

__all__ = ["COMPARISONS", "Comparison", "duels", "in_game", "table"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A start, two plans, the number of ticks, and the returns that the paper tells."""

    world: str
    plans: tuple[str, str]
    ticks: int
    published: tuple[float, float]


COMPARISONS: Final = (
    Comparison("zombie_fighter", ("fight", "stand_still"), 14, (2.0, 1.0)),
    Comparison("stone_miner", ("tools_first", "at_once"), 17, (3.0, 0.0)),
    Comparison("sword_maker", ("make_swords", "table_first"), 5, (4.0, 2.0)),
)
_WAYS: Final = {"west": 3, "east": 1, "north": 0, "south": 2}


def duels(folder: Path, known: Mapping[str, float], worlds: int) -> Iterator[tuple[Duel, ...]]:
    """For each comparison: the exact rules, rules with these probabilities, and the game."""
    written(folder, known)
    own = domains_folder() / "crafter"
    shutil.copy(own / "duels.tw", folder)
    for one in COMPARISONS:
        found = [_played(str(place / "duels.tw"), one, worlds) for place in (own, folder)]
        states = CrafterStates(open_world(f"{own / 'duels.tw'}:{one.world}"))
        game = [[in_game(states, one, x, seed) for seed in range(worlds)] for x in one.plans]
        yield (*found, compared("the game", *game))


def _plan(name: str) -> Path:
    return domains_folder() / "crafter" / "plans" / f"{name}.txt"


def _played(file: str, one: Comparison, worlds: int) -> Duel:
    rolls = [
        rollout(f"{file}:{one.world}", worlds=worlds, ticks=one.ticks, policy=str(_plan(plan)))
        for plan in one.plans
    ]
    return compared(one.world, *([float(x) for x in roll.score] for roll in rolls))


def in_game(states: CrafterStates, one: Comparison, plan: str, seed: int) -> float:
    """The score of one run in the package `crafter`."""
    game, source = blank(AREA), np.random.RandomState(seed)
    game._player = objects.Player(game._world, (0, 0))
    states.put(game, states.engine.start(0))
    game._world.random = source
    for body in game._world.objects:
        body.random = source
    for line in _plan(plan).read_text(encoding="utf-8").splitlines()[: one.ticks]:
        game.step(_number(line))
        if game._player.health <= 0:
            break
    has = game._player.inventory
    found = {"zombie_fighter": has["health"] - 9, "stone_miner": has["stone"],
             "sword_maker": has["wood_sword"]}  # fmt: skip
    return float(found[one.world])


def _number(words: str) -> int:
    """The game's number of a command in words."""
    verb, _, what = words.partition(" ")
    if verb == "go":
        return next(at for at, x in enumerate(COMMANDS)
                    if x.action == "move" and x.args == (_WAYS[what],))  # fmt: skip
    known = {"wait": "noop", "do": "do", "sleep": "sleep"}
    return constants.actions.index(known.get(verb) or words.replace(" ", "_"))


def table(found: list[tuple[Duel, ...]]) -> Iterator[str]:
    """The returns of both plans, and in how many comparisons the order is that of the game."""
    heads = ("exact rules", "fitted rules", "the game", "paper, *published*")
    yield f"{'score of plan A / plan B':<18}{''.join(f'{x:>24}' for x in heads)}"
    right = [0, 0]
    for one, duel in zip(COMPARISONS, found, strict=True):
        cells = [f"{x.means[0]:.2f} / {x.means[1]:.2f}{_mark(x)}" for x in duel]
        cells.append(f"{one.published[0]} / {one.published[1]}")
        yield f"{one.world:<18}{''.join(f'{x:>24}' for x in cells)}"
        for at in (0, 1):
            right[at] += duel[at].better == duel[2].better == 0
    exact, fitted = (f"{count} of {len(found)}" for count in right)
    yield f"order right: exact rules {exact}, fitted rules {fitted}"
    runs = found[0][0].runs
    yield f"means of {runs} runs; ?: the 95 % interval of the difference holds 0"


def _mark(one: Duel) -> str:
    return "" if one.better is not None else " ?"
