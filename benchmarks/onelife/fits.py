"""The probabilities of Crafter, fitted from transitions of the rules with other numbers forgotten.

Every probability of `domains/crafter` that is neither 0 nor 1 becomes a learned param. Episodes of
a player by chance begin on a random free tile of a map that the package `crafter` makes, at a
random time of the day, and end with death or after 50 steps. `tw learn fit` starts at 50 % and is
judged by the true values: each site with at least 30 informative transitions has to be within three
standard errors.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Final

from benchmarks.onelife.documents import Game, blank
from tokenworld.assets import domains_folder
from tokenworld.engine import State
from tokenworld.gym.crafter import COMMANDS, CrafterStates, world_text
from tokenworld.session import open_world
from tokenworld.session.loading import OpenWorld
from tokenworld.verbs.learn.evidence import collected, learned_params
from tokenworld.verbs.learn.fitting import Fit, Fitted, fit, minimizer
from tokenworld.verbs.records.transitions import Transition

__all__ = ["FEWEST", "Recovered", "judged", "recovered", "table", "with_params", "written"]

FEWEST: Final = 30
"""Informative transitions from which a site has to be recovered."""
_ERRORS: Final = 3.0
_EPISODE: Final = 50
_DAY: Final = 300
_PUBLISHED: Final = 9.4
"""CPU seconds of OneLife's own fit for 100 transitions, as measured with its public code when this
was designed (`docs/learning.md`)."""
_CHANCE: Final = re.compile(r"chance (?:\(if ([^{}]*?) then )?(\d+)%")
_LAW: Final = re.compile(r"^(?:law|action) (\w+)", re.MULTILINE)


def with_params(text: str, known: Mapping[str, float] = {}) -> tuple[str, dict[str, float]]:
    """Rules in which a learned param stands for each probability, with its true value or a known
    one, and the true values."""
    values: dict[str, float] = {}
    homes = [(one.start(), one[1]) for one in _LAW.finditer(text)]

    def named(found: re.Match[str]) -> str:
        share = int(found[2])
        if not 0 < share < 100:
            return found[0]
        home = next(name for at, name in reversed(homes) if at < found.start())
        number = 1 + sum(name.rpartition("_")[0] == home for name in values)
        name = f"{home}_{number}"
        values[name] = share / 100
        return found[0].removesuffix(f"{share}%") + name

    changed = _CHANCE.sub(named, text)
    params = "".join(
        f"param {name}: 0.0% to 100.0% = {known.get(name, share) * 100:.1f}% learned\n"
        for name, share in values.items()
    )
    use = re.search(r"^use .*$", changed, re.MULTILINE)
    assert use is not None
    return f"{changed[: use.end()]}\n{params}{changed[use.end() :]}", values


@dataclass(frozen=True, slots=True)
class Recovered:
    """A fit: the true values, and what reading and fitting took, in CPU seconds."""

    seed: int
    rows: int
    fit: Fit
    truth: dict[str, float]
    reading: float
    fitting: float

    @property
    def judged(self) -> list[Fitted]:
        """The params with enough information."""
        return [one for one in self.fit.params if one.informative >= FEWEST]

    @property
    def missed(self) -> list[Fitted]:
        """Those of them that are more than three standard errors away."""
        return [one for one in self.judged if self.errors(one) > _ERRORS]

    def errors(self, one: Fitted) -> float:
        """The distance from the true value in standard errors. A value at an end of its range has
        none; there the error counts that the true value has with as many transitions."""
        share = self.truth[one.learned.name]
        error = one.error or sqrt(share * (1 - share) / one.informative)
        return abs(one.value - share) / error


def recovered(folder: Path, area: int, seed: int, rows: int) -> Recovered:
    """Play, forget and fit."""
    world, truth = _forgotten(folder, area)
    params = {name: replace(one, value=0.5) for name, one in learned_params(world).items()}
    minimizer()  # its start is no part of a fit
    played = list(_played(CrafterStates(world), area, seed, rows))
    begun = time.process_time()
    found = collected(world, played, params, lambda text: None)
    read = time.process_time()
    fitted = fit(found, params)
    assert not found.impossible, found.impossible[0]
    assert not found.bad, found.bad[0]
    done = time.process_time()
    return Recovered(seed, found.rows, fitted, truth, read - begun, done - read)


def written(folder: Path, known: Mapping[str, float] = {}) -> dict[str, float]:
    """Write the rules with params into a folder; return the true values."""
    truth: dict[str, float] = {}
    for name in ("rules.tw", "land.tw"):
        text = (domains_folder() / "crafter" / name).read_text(encoding="utf-8")
        changed, values = with_params(text, known)
        (folder / name).write_text(changed, encoding="utf-8")
        truth |= values
    return truth


def _forgotten(folder: Path, area: int) -> tuple[OpenWorld, dict[str, float]]:
    truth = written(folder)
    game = _started(area, 1)
    (folder / "forgotten.tw").write_text(world_text(game, "forgotten"), encoding="utf-8")
    return open_world(str(folder / "forgotten.tw")), truth


def _started(area: int, seed: int) -> Game:
    game = blank((area, area))
    game._seed = seed
    game.reset()
    return game


def _played(states: CrafterStates, area: int, seed: int, rows: int) -> Iterator[Transition]:
    """Transitions of episodes by chance."""
    dice, engine, done, number = random.Random(f"crafter {seed}"), states.engine, 0, 0
    while done < rows:
        number += 1
        state = _begun(states, area, dice, 1000 * seed + number)
        for _ in range(_EPISODE):
            command = dice.choice(COMMANDS)
            after, _ = engine.play(state, command)
            place = f"seed {seed}, episode {number}, tick {state.tick}"
            yield Transition(place, state, command, after)
            done, state = done + 1, after
            if done >= rows or engine.over(state):
                break


def _begun(states: CrafterStates, area: int, dice: random.Random, seed: int) -> State:
    """A new map with the player on a free tile of it, at any time of the day."""
    game = _started(area, seed)
    world, game._step = game._world, dice.randrange(_DAY)
    free = [at for at in ((x, y) for x in range(area) for y in range(area))
            if world[at][1] is None and world[at][0] in ("grass", "sand", "path")]  # fmt: skip
    world.move(game._player, dice.choice(free))
    state = states.state(game).fork()
    state.seed = seed
    return state


# ---- telling ------------------------------------------------------------------------------------


def judged(one: Recovered) -> Iterator[str]:
    """How many sites of a fit were recovered, and those that could not be judged."""
    ok = len(one.judged) - len(one.missed)
    few = [x.learned.name for x in one.fit.params if x.informative < FEWEST]
    none = [x.learned.name for x in one.fit.params if not x.informative]
    yield (f"seed {one.seed}: {ok} of {len(one.judged)} sites with at least {FEWEST} "
           f"informative transitions within {_ERRORS:.0f} standard errors")  # fmt: skip
    yield f"  fewer: {', '.join(few) or 'none'}; no information: {', '.join(none) or 'none'}"


def table(found: list[Recovered]) -> Iterator[str]:
    """The fitted values by seed, and the CPU seconds."""
    yield f"{'site':<24}{'true':>7}" + "".join(f"{f'seed {one.seed}':>22}" for one in found)
    for name, share in found[0].truth.items():
        fits = (next(x for x in one.fit.params if x.learned.name == name) for one in found)
        yield f"{name:<24}{share:>7.0%}" + "".join(f"{_cell(x):>22}" for x in fits)
    rows = sum(one.rows for one in found)
    reading, fitting = sum(one.reading for one in found), sum(one.fitting for one in found)
    per = 100 / rows
    yield (f"CPU seconds for 100 transitions: {reading * per:.3f} to read them, "
           f"{fitting * per:.4f} to fit; OneLife's own: {_PUBLISHED} (*published*)")  # fmt: skip


def _cell(one: Fitted) -> str:
    error = "-" if one.error is None or one.error > 1 else f"{one.error:.1%}"
    return f"{one.value:.1%} ±{error} ({one.informative})"
