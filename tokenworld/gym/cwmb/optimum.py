"""Compute the best return of an episode, to compare with the returns of planners.

Blackjack, CliffWalking and Taxi have few observations: value iteration on the exact chances of the
rules gives the optimum. The episode of CartPole is worth 500 at most, so a found episode of 500 is
optimal. For MountainCar and Acrobot, whose states are real numbers, a search of the rules level by
level, which keeps one state in each cell of a grid, gives the best return found; it is a lower
bound of the optimum.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any, Final, Literal

from tokenworld.gym.cwmb.envs import Env, Obs
from tokenworld.gym.cwmb.model import Chance, RowModel
from tokenworld.gym.cwmb.real import made, plain

__all__ = ["Best", "best_return", "values_of"]

_CLOSE: Final = 1e-12
_CELLS: Final = {"CartPole": 12, "MountainCar": 120, "Acrobot": 14}
"""Cells of the grid along each dimension."""
_SPANS: Final = {
    "CartPole": ((-2.4, 2.4), (-3.0, 3.0), (-0.21, 0.21), (-3.0, 3.0)),
    "MountainCar": ((-1.2, 0.6), (-0.07, 0.07)),
    "Acrobot": ((-3.1416, 3.1416), (-3.1416, 3.1416), (-6.0, 6.0), (-9.0, 9.0)),
}

_WIDTH: Final = {"CartPole": 60}
"""The greatest number of states of a level that are kept; they are drawn."""

Claim = Literal["exact", "found"]


@dataclass(frozen=True, slots=True)
class Best:
    """The mean over starts; ``claim``: *exact*, or the best that was *found*."""

    value: float
    claim: Claim


def best_return(env: Env, model: RowModel, seeds: Iterable[int]) -> Best:
    """Return the best return from the starts of these seeds, by the rules."""
    starts = [plain(made(env).reset(seed=seed)[0]) for seed in seeds]
    if env.name == "Blackjack":  # the hand that is dealt is chance too
        dealt = _dealt()
        values = values_of(model, dealt)
        return Best(sum(share * values[one] for one, share in dealt.items()), "exact")
    if not env.real:
        values = values_of(model, starts)
        return Best(sum(values[one] for one in starts) / len(starts), "exact")
    found = [_searched(env, model, one) for one in starts]
    whole = all(one == env.limit for one in found) and env.name == "CartPole"
    return Best(sum(found) / len(found), "exact" if whole else "found")


def _dealt() -> dict[Obs, float]:
    """Return the probability of each start of Blackjack: two player's cards, one of the dealer."""
    deck = {card: (4 if card == 10 else 1) / 13 for card in range(1, 11)}
    found: dict[Obs, float] = {}
    for one, other, showing in product(deck, repeat=3):
        ace = 1 in (one, other)
        obs = (float(one + other + 10 * ace), float(showing), float(ace))
        found[obs] = found.get(obs, 0.0) + deck[one] * deck[other] * deck[showing]
    return found


# ---- value iteration ----------------------------------------------------------------------------


def values_of(model: RowModel, starts: Iterable[Obs]) -> dict[Obs, float]:
    """Return the greatest expected return of each start; a start of Blackjack has two cards."""
    table = dict(_reached(model, starts))
    values = {key: -1e9 if any(chances) else 0.0 for key, chances in table.items()}
    changed = True
    while changed:
        changed = False
        for key, each in table.items():
            best = max(_expected(one, key, values) for one in each)
            if best > values[key] + _CLOSE:
                values[key], changed = best, True
    return {obs: value for (obs, steps), value in values.items() if steps == 0}


Key = tuple[Obs, int]
"""An observation, and whether it is of a start (0) or later (1): a natural is of a start."""


def _reached(model: RowModel, starts: Iterable[Obs]) -> Iterable[tuple[Key, list[Chance]]]:
    waiting: deque[Key] = deque(dict.fromkeys((one, 0) for one in starts))
    known = set(waiting)
    while waiting:
        key = waiting.popleft()
        each = [model.chances(key[0], action, key[1]) for action in range(len(model.actions))]
        yield key, each
        for obs, _, over in {outcome for one in each for outcome in one}:
            after = (obs, 1)
            if not over and after not in known:
                known.add(after)
                waiting.append(after)


def _expected(chances: Chance, key: Key, values: dict[Key, float]) -> float:
    return sum(
        float(odds) * (reward + (0.0 if over else values[obs, 1]))
        for (obs, reward, over), odds in chances.items()
    )


# ---- search -------------------------------------------------------------------------------------


def _searched(env: Env, model: RowModel, start: Obs) -> float:
    """Return the best sum of rewards that a level-by-level search reaches within the limit."""
    random = Random(0)
    level: dict[Any, tuple[list[Any], float]] = {(): (model.entered(start), 0.0)}
    seen: set[Any] = set()
    best = 0.0 if env.name == "CartPole" else -float(env.limit)
    for _ in range(env.limit):
        after: dict[Any, tuple[list[Any], float]] = {}
        for row, total in level.values():
            for action in range(len(model.actions)):
                S, _, reward, over = model.step(row, action, random)
                if over:
                    best = max(best, total + reward)
                    continue
                cell = _cell(env, model.values(S))
                if cell not in seen and cell not in after:
                    after[cell] = (S, total + reward)
        if env.name != "CartPole":
            seen |= after.keys()
            if best > -env.limit:
                return best
        kept = sorted(after) if len(after) > _WIDTH.get(env.name, len(after)) else []
        level = (
            {one: after[one] for one in random.sample(kept, _WIDTH[env.name])} if kept else after
        )
        if not level:
            return best
    return max([best, *(total for _, total in level.values())])


def _cell(env: Env, values: list[Any]) -> tuple[int, ...]:
    cells = _CELLS[env.name]
    return tuple(
        int((value - low) / (high - low) * cells)
        for value, (low, high) in zip(values, _SPANS[env.name], strict=True)
    )
