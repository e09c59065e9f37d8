"""The six environments: their worlds, and observations as values of slots and back.

An observation is what gymnasium returns; a world knows a state by the values of some slots, in the
order of ``slots``. ``enter`` makes these values from an observation, as the benchmark's `set_state`
does, ``see`` the observation from the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import atan2, cos, sin
from typing import Any, Final

from tokenworld.ground import Command

Values = list[Any]
Obs = tuple[float, ...]
Numbers = Mapping[str, int]
"""The numbers of objects by name."""
SEED_BITS: Final = 62
"""Each step of a model takes so many bits of the planner's generator, whether it draws or not: a
planner then makes the same choices on models that predict the same."""


@dataclass(frozen=True, slots=True)
class Env:
    """One environment. ``ids`` are its names in gymnasium, the newest first; ``limit`` the steps of
    an episode; ``real``: numbers are compared with a tolerance. ``slots`` are (fluent, object),
    the object empty where there is none. While it ``waits``, the world plays on by `pass`. For each
    episode that is asked for, ``short`` ones are played.
    """

    name: str
    ids: tuple[str, ...]
    world: str
    limit: int
    real: bool
    actions: tuple[Command, ...]
    slots: tuple[tuple[str, str], ...]
    enter: Callable[[Obs, int, Numbers], Values]
    see: Callable[[Values, Numbers], Obs]
    waits: Callable[[Values], bool] = lambda values: False
    short: int = 1


def _of(kind: str, name: str, *attributes: str) -> tuple[tuple[str, str], ...]:
    return tuple((f"{kind}.{one}", name) for one in attributes)


def _calls(action: str, *args: int) -> tuple[Command, ...]:
    return tuple(Command(action, (one,)) for one in args)


# ---- grids --------------------------------------------------------------------------------------

_NORTH, _EAST, _SOUTH, _WEST = range(4)
_STANDS: Final = ("red", "green", "yellow", "blue")


def _tile(width: int, place: int, numbers: Numbers) -> int:
    return numbers[f"tile_{place % width}_{place // width}"]


def _place(width: int, tile: int, numbers: Numbers) -> int:
    """Return the number of a cell, row by row: cells are made in this order."""
    return tile - numbers["tile_0_0"]


def _enter_cliff(obs: Obs, steps: int, numbers: Numbers) -> Values:
    return [_tile(12, int(obs[0]), numbers)]


def _see_cliff(values: Values, numbers: Numbers) -> Obs:
    return (_place(12, values[0], numbers),)


def _enter_taxi(obs: Obs, steps: int, numbers: Numbers) -> Values:
    rest, to = divmod(int(obs[0]), 4)
    place, waits = divmod(rest, 5)
    stand = numbers[_STANDS[waits]] if waits < 4 else None
    return [_tile(5, place, numbers), stand, numbers[_STANDS[to]], False]


def _see_taxi(values: Values, numbers: Numbers) -> Obs:
    stands = [numbers[one] for one in _STANDS]
    waits = 4 if values[1] is None else stands.index(values[1])
    place = _place(5, values[0], numbers)
    return ((place * 5 + waits) * 4 + stands.index(values[2]),)


# ---- mechanics ----------------------------------------------------------------------------------


def _same(obs: Obs, steps: int, numbers: Numbers) -> Values:
    return [float(one) for one in obs]


def _seen(values: Values, numbers: Numbers) -> Obs:
    return tuple(values)


def _enter_acrobot(obs: Obs, steps: int, numbers: Numbers) -> Values:
    c1, s1, c2, s2, *spins = (float(one) for one in obs)
    return [atan2(s1, c1), atan2(s2, c2), *spins]


def _see_acrobot(values: Values, numbers: Numbers) -> Obs:
    one, other, *spins = values
    return (cos(one), sin(one), cos(other), sin(other), *spins)


# ---- cards --------------------------------------------------------------------------------------

_PLAYING = 0


def _enter_cards(obs: Obs, steps: int, numbers: Numbers) -> Values:
    """Return the values of a hand after its hits so far; 21 without a hit is a natural."""
    total, showing, ace = (int(one) for one in obs)
    hard = total - 10 if ace else total
    return [hard, bool(ace), 2 + steps, showing, showing == 1, 1, _PLAYING, False]


def _see_cards(values: Values, numbers: Numbers) -> Obs:
    hard, ace, _, showing, *_ = values
    usable = ace and hard <= 11
    return (hard + 10 if usable else hard, showing, int(usable))


def _dealing(values: Values) -> bool:
    """Return whether the dealer plays and the game is not over."""
    return values[6] == _PLAYING and bool(values[7])


_HANDS: Final = tuple(
    one for who in ("player", "dealer") for one in _of("Hand", who, "hard", "ace", "cards")
)
_HANDLING: Final = (Command("pick_up", ()), Command("drop_off", ()))

ENVS: Final[tuple[Env, ...]] = (
    Env("Blackjack", ("Blackjack-v1",), "cwmb/blackjack", 100, False,
        (Command("stick", ()), Command("hit", ())),
        (*_HANDS, ("result", ""), ("turned", "")), _enter_cards, _see_cards, _dealing, short=100),
    Env("CliffWalking", ("CliffWalking-v1", "CliffWalking-v0"), "cliff_walking", 100, False,
        _calls("move", _NORTH, _EAST, _SOUTH, _WEST), _of("Walker", "walker", "at"),
        _enter_cliff, _see_cliff),
    Env("Taxi", ("Taxi-v4", "Taxi-v3"), "taxi", 200, False,
        (*_calls("drive", _SOUTH, _NORTH, _EAST, _WEST), *_HANDLING),
        (("Taxi.at", "cab"), *_of("Passenger", "passenger", "waits", "goes_to", "delivered")),
        _enter_taxi, _see_taxi),
    Env("CartPole", ("CartPole-v1",), "cwmb/cart_pole", 500, True, _calls("push", 0, 1),
        _of("Cart", "cart", "position", "velocity", "angle", "spin"), _same, _seen),
    Env("MountainCar", ("MountainCar-v0",), "cwmb/mountain_car", 200, True,
        _calls("accelerate", 0, 1, 2), _of("Car", "car", "position", "velocity"), _same, _seen),
    Env("Acrobot", ("Acrobot-v1",), "cwmb/acrobot", 500, True, _calls("turn", 0, 1, 2),
        _of("Links", "links", "angle1", "angle2", "spin1", "spin2"), _enter_acrobot, _see_acrobot),
)  # fmt: skip
"""In the order of the paper."""
