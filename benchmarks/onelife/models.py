"""World models that the protocol ranks: each scores a successor and samples one."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import count
from math import inf, log
from typing import Any, Final, Protocol

from crafter import constants, objects

from benchmarks.onelife.documents import (
    Document,
    Numbers,
    blank,
    document,
    game_of,
)
from benchmarks.onelife.scenarios import Observed
from tokenworld.engine import State
from tokenworld.gym.crafter import COMMANDS, CrafterStates

__all__ = ["Copied", "Exact", "Model", "Randomized", "canonical", "placed"]

_UNCHANGED: Final = -5.0
"""What the model that copies gives to any other successor, as in the public code."""


class Model(Protocol):
    """Anything that is ranked."""

    name: str

    def score(self, one: Observed, candidate: Document) -> float:
        """The log probability of a successor, or what stands for it."""

    def sample(self, one: Observed, dice: random.Random) -> Document:
        """A successor, drawn."""


def canonical(shown: Document) -> str:
    """A text that is equal for equal documents."""
    return json.dumps(shown, sort_keys=True)


class Copied:
    """Nothing ever changes."""

    name = "copy of the state"

    def score(self, one: Observed, candidate: Document) -> float:
        return 0.0 if canonical(candidate) == canonical(one.before) else _UNCHANGED

    def sample(self, one: Observed, dice: random.Random) -> Document:
        return copy.deepcopy(one.before)


class Randomized:
    """Everything is as likely as anything; a sample has random values of the game's ranges."""

    name = "random"

    def score(self, one: Observed, candidate: Document) -> float:
        return 0.0

    def sample(self, one: Observed, dice: random.Random) -> Document:
        made = copy.deepcopy(one.before)
        width, height = made["size"]
        made["materials"] = [
            [dice.choice(constants.materials) if dice.random() < 0.8 else None
             for _ in range(height)] for _ in range(width)
        ]  # fmt: skip
        made["daylight"] = dice.random()
        made["step_count"] = max(0, made["step_count"] + dice.randint(-5, 10))
        for body in (made["player"], *made["objects"]):
            body["position"] = {"x": dice.randrange(width), "y": dice.randrange(height)}
            body["health"] = dice.randint(0, 9)
            for name, most in (("cooldown", 10), ("reload", 5), ("grown", 10)):
                if name in body:
                    body[name] = dice.randint(0, most)
        self._player(made["player"], dice)
        return made

    def _player(self, player: Document, dice: random.Random) -> None:
        player["facing"] = {"x": dice.choice((-1, 0, 1)), "y": dice.choice((-1, 0, 1))}
        player["inventory"] = {name: dice.randint(0, 9) for name in player["inventory"]}
        player["achievements"] = {name: dice.randint(0, 10) for name in player["achievements"]}
        for name in ("thirst", "hunger", "fatigue", "recover"):
            player[name] = dice.random()
        player["sleeping"] = dice.random() < 0.05
        player["last_health"] = dice.randint(0, 9)


Outcomes = Mapping[str, tuple[Fraction, Document]]


class Exact:
    """The rules of `domains/crafter`, by the exact distribution of each step."""

    name = "oracle (exact rules)"

    def __init__(self, states: CrafterStates, most: int = 20_000) -> None:
        self._states, self._most = states, most
        self._known: dict[int, tuple[Observed, Outcomes]] = {}

    def score(self, one: Observed, candidate: Document) -> float:
        share, _ = self.outcomes(one).get(canonical(candidate), (Fraction(0), candidate))
        return log(share) if share else -inf

    def sample(self, one: Observed, dice: random.Random) -> Document:
        every = self.outcomes(one)
        ((_, made),) = dice.choices(list(every.values()), [float(p) for p, _ in every.values()])
        return made

    def outcomes(self, one: Observed) -> Outcomes:
        """All successors of a step by their canonical texts, with their probabilities."""
        if id(one) not in self._known:
            self._known[id(one)] = one, self._found(one)
        return self._known[id(one)][1]

    def _found(self, one: Observed) -> Outcomes:
        numbers = Numbers()
        game = game_of(one.before, numbers)
        assert game is not None
        state = self._states.state(game)
        ids = [numbers.of(body) for body in _bodies(game)]
        known = dict(zip(state.live["Body"], ids, strict=True))
        action = constants.actions.index(one.action)
        told = self._states.engine.distribution(state, COMMANDS[action], self._most)
        assert not told.left_out, f"{one.scenario}: more than {self._most} outcomes"
        found: dict[str, tuple[Fraction, Document]] = {}
        for each in told.successors:
            made = placed(self._states, each.state, tuple(one.before["size"]), one.action, known)
            key = canonical(made)
            before = found[key][0] if key in found else Fraction(0)
            found[key] = before + each.probability, made
        return found


def placed(
    states: CrafterStates, state: State, area: tuple[int, int], action: str,
    known: Mapping[int, int] | None = None,
) -> Document:  # fmt: skip
    """The document of a state of the rules. Bodies have the numbers that ``known`` gives them by
    those of the rules; new ones get the next. Without ``known``, the numbers are those of the
    rules."""
    game, numbers = blank(area), Numbers()
    game._player = objects.Player(game._world, (0, 0))
    states.put(game, state)
    following = count(1 + max(known.values(), default=0)) if known is not None else count()
    for number, body in zip(state.live["Body"], _bodies(game), strict=True):
        given = number if known is None else known.get(number)
        numbers.known[id(body)] = next(following) if given is None else given, body
    game._player.action = action
    return document(game, numbers)


def _bodies(game: Any) -> list[Any]:
    """The bodies in the order in which the rules number them: the player first."""
    player = game._player
    return [player, *(one for one in game._world.objects if one is not player)]
