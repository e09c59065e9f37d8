"""Compute the best return of an episode, to compare with the returns of planners.

Blackjack, CliffWalking and Taxi have few observations: value iteration on the exact chances of the
rules gives the optimum. The episode of CartPole is worth 500 at most, so a found episode of 500 is
optimal. For MountainCar and Acrobot, whose states are real numbers, a beam search of the rules
gives the best return found; it is a lower bound of the optimum. Each level keeps one state in each
cell of a grid over the values that the level reaches, and prefers states at the edge of these
values, as the boundary extension features of Teichteil-Königsbuch et al. (IJCAI 2020) do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import inf
from random import Random
from typing import Any, Final, Literal

from tokenworld.gym.cwmb.envs import Env, Obs
from tokenworld.gym.cwmb.model import Chance, RowModel
from tokenworld.gym.cwmb.real import made, plain

_CLOSE: Final = 1e-12
_CELLS: Final = 64
"""Cells of the grid along each dimension."""
_WIDTHS: Final = (30, 100, 1000)
"""The greatest number of states of a level that are kept, of one search after the other."""

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


_Reached = tuple[list[Any], float]
"""A row, and the sum of rewards on the way to it."""


def _searched(env: Env, model: RowModel, start: Obs) -> float:
    """Return the best sum of rewards that beam searches reach within the limit."""
    best = -inf
    for width in _WIDTHS:
        if best < env.limit:  # no step of these environments is worth more than 1
            best = _beam(env, model, model.entered(start), width, best)
    return best


def _beam(env: Env, model: RowModel, start: list[Any], width: int, best: float) -> float:
    """Return the best sum of rewards of a beam search, or ``best``, which is known already."""
    random, level, gains = Random(0), [(start, 0.0)], False
    for _ in range(env.limit):
        after: list[_Reached] = []
        for row, total in level:
            for action in range(len(model.actions)):
                S, _, reward, over = model.step(row, action, random)
                gains |= reward > 0
                if over:
                    best = max(best, total + reward)
                else:
                    after.append((S, total + reward))
        if not gains:  # a sum that only falls is no longer of use
            after = [one for one in after if one[1] > best]
        level = _kept(after, model, width, random)
    return max([best, *(total for _, total in level)])


def _kept(reached: list[_Reached], model: RowModel, width: int, random: Random) -> list[_Reached]:
    """Return one state of each cell; of too many cells those at the edge and as many drawn ones."""
    values = [model.values(row) for row, _ in reached]
    ends = [(min(column), max(column)) for column in zip(*values, strict=True)]
    cells: dict[tuple[int, ...], tuple[float, int]] = {}
    for number, one in enumerate(values):
        shares = [
            (value - low) / (high - low) if high > low else 0.5
            for value, (low, high) in zip(one, ends, strict=True)
        ]
        cell = tuple(int(share * _CELLS) for share in shares)
        if cell not in cells or reached[number][1] > reached[cells[cell][1]][1]:
            cells[cell] = sum((share - 0.5) ** 2 for share in shares), number
    order = [number for _, number in sorted(cells.values(), reverse=True)]
    if len(order) > width:
        edge = width // 2
        order = order[:edge] + random.sample(order[edge:], width - edge)
    return [reached[number] for number in order]
