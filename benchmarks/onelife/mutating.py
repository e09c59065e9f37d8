"""Successors that cannot be, made as OneLife's public code makes them: from the state before.

`MUTATORS` is the whole table: a name, the actions for which it is used, how the state is changed,
and why the result is impossible. That a mutant keeps the number of steps would be reason enough,
so each reason is one that holds without it. `PLACING` is defined in the public code and not used
there.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Final

from crafter import constants

from benchmarks.onelife.documents import Document

__all__ = ["MUTATORS", "PLACING", "Mutator", "mutants"]

_MAKES: Final = tuple(one for one in constants.actions if one.startswith("make_"))
_PLACES: Final = tuple(one for one in constants.actions if one.startswith("place_"))
_STILL: Final = tuple(one for one in constants.actions if not one.startswith("move_"))
_GATHERED: Final = {"tree": "wood", "stone": "stone", "coal": "coal", "iron": "iron",
                    "diamond": "diamond", "water": "drink", "grass": "sapling"}  # fmt: skip
_WAYS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0))


@dataclass(frozen=True, slots=True)
class Mutator:
    """Changes a copy of a state; ``actions`` are those for which it does."""

    name: str
    why: str
    change: Callable[[Document, str, random.Random], None]
    actions: Collection[str] = tuple(constants.actions)


def mutants(shown: Document, action: str, dice: random.Random) -> Iterator[tuple[str, Document]]:
    """The mutants of a state for an action, with the names of their mutators."""
    for one in MUTATORS:
        if action in one.actions:
            made = copy.deepcopy(shown)
            one.change(made, action, dice)
            yield one.name, made


def _entity_health(shown: Document, action: str, dice: random.Random) -> None:
    for one in shown["objects"]:
        now = one["health"]
        one["health"] = dice.choice([x for x in range(11) if abs(x - now) > 1])


def _entity_position(shown: Document, action: str, dice: random.Random) -> None:
    for one in shown["objects"]:
        way = [dice.choice((-1, 0, 1)), dice.choice((-1, 0, 1))]
        if way == [0, 0]:
            way[0] = dice.choice((-1, 1))
        steps = dice.randint(2, 10)
        one["position"] = {x: one["position"][x] + way[at] * steps for at, x in enumerate("xy")}


def _player_health(shown: Document, action: str, dice: random.Random) -> None:
    player = shown["player"]  # `numpy.randint(-3, 3)`: 3 is left out, and 0 is not
    player["health"] = max(0, min(player["health"] + dice.randrange(-3, 3), 10))


def _inventory(shown: Document, action: str, dice: random.Random) -> None:
    has = shown["player"]["inventory"]
    for name in has:
        if name != "health":
            has[name] = dice.randint(0, 100) + (has[name] if name == "diamond" else 0)


def _collect(shown: Document, action: str, dice: random.Random) -> None:
    material = _ahead(shown)
    other = dice.choice([x for x in _GATHERED if x != material])
    shown["player"]["inventory"][_GATHERED[other]] += 1


def _craft(shown: Document, action: str, dice: random.Random) -> None:
    other = dice.choice([x for x in _MAKES if x != action])
    shown["player"]["inventory"][other.removeprefix("make_")] += 1


def _move(shown: Document, action: str, dice: random.Random) -> None:
    x, y = dice.choice(_WAYS)
    player = shown["player"]
    player["facing"] = {"x": x, "y": y}
    player["position"] = {"x": player["position"]["x"] + x, "y": player["position"]["y"] + y}


def _place(shown: Document, action: str, dice: random.Random) -> None:
    other = dice.choice([x for x in _PLACES if x != action and x != "place_plant"])
    x, y = _target(shown)
    if _ahead(shown) is not None:
        shown["materials"][x][y] = other.removeprefix("place_")


def _target(shown: Document) -> tuple[int, int]:
    at, way = shown["player"]["position"], shown["player"]["facing"]
    return at["x"] + way["x"], at["y"] + way["y"]


def _ahead(shown: Document) -> str | None:
    (x, y), (width, height) = _target(shown), shown["size"]
    inside = 0 <= x < width and 0 <= y < height
    return str(shown["materials"][x][y]) if inside else None


MUTATORS: Final = (
    Mutator("entity health", "a blow or an arrow takes less than all are changed by",
            _entity_health),
    Mutator("entity position", "nobody steps further than one tile", _entity_position),
    Mutator("player health", "the inventory has the other health", _player_health),
    Mutator("inventory", "no step brings as much of everything", _inventory),
    Mutator("illegal collect", "the material is another one than the player faces", _collect,
            ("do",)),
    Mutator("illegal craft", "it is another item than the action makes", _craft, _MAKES),
    Mutator("illegal movement", "the action moves nobody", _move, _STILL),
)  # fmt: skip
PLACING: Final = Mutator("illegal place", "it is another building than the action places", _place,
                         _PLACES)  # fmt: skip
