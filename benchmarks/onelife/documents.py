"""States of Crafter as documents: the schema of OneLife's paper (Appendix B), and edit distances.

A document is plain JSON data: the map, the player, the other bodies, the chunks, the daylight and
the number of steps. Bodies have the number ``entity_id``, which the game does not have; it is given
to each when it is first seen. The random source is no part of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

import crafter
import numpy as np
from crafter import constants, engine, objects

from tokenworld.assets import domains_folder
from tokenworld.gym.crafter import CrafterStates, world_text

__all__ = [
    "AREA",
    "Document",
    "Game",
    "Numbers",
    "blank",
    "daylight",
    "distance",
    "document",
    "game_of",
    "leaves",
    "small_world",
    "started",
]

Document = dict[str, Any]
AREA: Final = (9, 9)
"""The size of the maps of all scenarios."""
_INNER: Final = {"thirst": "_thirst", "hunger": "_hunger", "fatigue": "_fatigue",
                 "recover": "_recover", "last_health": "_last_health",
                 "sleeping": "sleeping"}  # fmt: skip
_OWN: Final = {"Zombie": ("cooldown",), "Skeleton": ("reload",), "Plant": ("grown",)}
_MATERIALS: Final = frozenset(constants.materials)


class Game(crafter.Env):  # type: ignore[misc]
    """The game without pictures. Its creatures act in the order of a list, not of addresses."""

    def _obs(self) -> None:
        return None

    def _sem_view(self) -> None:
        return None


def blank(area: tuple[int, int], step: int = 0) -> Game:
    """A game with a map without anything, and without a player; textures are not read again."""
    game = object.__new__(Game)
    game.__dict__.update(_first().__dict__)
    game._area, game._step, game._episode = area, step, 0
    game._world = engine.World(area, constants.materials, (12, 12))
    game._world.reset(seed=1)
    game._update_time()
    return game


def daylight(step: int) -> float:
    """The daylight after so many steps."""
    return float(blank((1, 1), step)._world.daylight)


@cache
def _first() -> Game:
    game = Game(area=AREA, seed=1)
    del game.__dict__["_sem_view"]
    return game


@dataclass
class Numbers:
    """Gives bodies their numbers, the player's first."""

    known: dict[int, tuple[int, Any]] = field(default_factory=dict)
    next: Iterator[int] = field(default_factory=lambda: count(1))

    def of(self, one: Any) -> int:
        """The number of a body; the body is kept, so that no other gets its address."""
        if id(one) not in self.known:
            self.known[id(one)] = next(self.next), one
        return self.known[id(one)][0]


def document(game: Game, numbers: Numbers) -> Document:
    """The state that a game is in."""
    world, player = game._world, game._player
    bodies = [one for one in world.objects if one is not player]
    return {
        "size": list(world.area), "chunk_size": [12, 12], "view": [9, 9],
        "daylight": float(world.daylight), "step_count": game._step,
        "materials": [[world._mat_names[at] for at in row] for row in world._mat_map.tolist()],
        "player": _player(player, numbers),
        "objects": sorted((_body(one, numbers) for one in bodies), key=_number),
        "chunks": [
            {"chunk_key": list(map(int, key)), "objects": sorted(numbers.of(x) for x in held)}
            for key, held in sorted(world._chunks.items())
        ],
    }  # fmt: skip


def _number(one: Mapping[str, Any]) -> int:
    return int(one["entity_id"])


def _body(one: Any, numbers: Numbers) -> Document:
    kind = type(one).__name__
    found: Document = {
        "name": kind.lower(), "entity_id": numbers.of(one), "position": _pair(one.pos),
        "health": int(one.health), "removed": bool(one.removed),
    }  # fmt: skip
    found.update((name, int(getattr(one, name))) for name in _OWN.get(kind, ()))
    if kind == "Arrow":
        found["facing"] = _pair(one.facing)
    return found


def _player(player: Any, numbers: Numbers) -> Document:
    own = {name: getattr(player, of) for name, of in _INNER.items()}
    return {
        **_body(player, numbers), "facing": _pair(player.facing), "action": player.action,
        **{name: bool(x) if name == "sleeping" else float(x) for name, x in own.items()},
        "inventory": {name: int(x) for name, x in player.inventory.items()},
        "achievements": {name: int(x) for name, x in player.achievements.items()},
    }  # fmt: skip


def _pair(found: Sequence[Any]) -> dict[str, int]:
    return {"x": int(found[0]), "y": int(found[1])}


# ---- and back -----------------------------------------------------------------------------------


def game_of(shown: Document, numbers: Numbers | None = None) -> Game | None:
    """A game in the state of a document; ``None`` where the game cannot be in it: a body outside
    the map or on another one, or a number that the game does not count to."""
    player, area = shown["player"], tuple(shown["size"])
    bodies = [player, *shown["objects"]]
    spots = [(one["position"]["x"], one["position"]["y"]) for one in bodies]
    inside = all(0 <= x < area[0] and 0 <= y < area[1] for x, y in spots)
    if not inside or len(set(spots)) < len(spots) or not _countable(player, bodies):
        return None
    if not all(name in _MATERIALS for row in shown["materials"] for name in row):
        return None
    numbers = numbers or Numbers()
    game = blank(area, shown["step_count"])
    world = game._world
    for at in np.ndindex(*area):
        world[at] = shown["materials"][at[0]][at[1]]
    for key in shown["chunks"]:
        world._chunks[tuple(key["chunk_key"])] = set()
    for one, spot in zip(bodies, spots, strict=True):
        made = _made(game, one, spot)
        numbers.known[id(made)] = one["entity_id"], made
        world.add(made)
    numbers.next = count(1 + max(one["entity_id"] for one in bodies))
    game._last_health = game._player.health
    return game


def _countable(player: Document, bodies: Sequence[Document]) -> bool:
    """Whether every number is one that the game may come to."""
    has = player["inventory"]
    if not all(0 <= x <= 9 for x in has.values()) or has["health"] != player["health"]:
        return False
    turned = player["facing"]["x"], player["facing"]["y"]
    return turned in ((-1, 0), (1, 0), (0, -1), (0, 1)) and all(
        0 <= one["health"] <= 9 and one.get("cooldown", 0) <= 5 and one.get("reload", 0) <= 4
        and not one["removed"] for one in bodies
    )  # fmt: skip


def _made(game: Game, one: Document, spot: tuple[int, int]) -> Any:
    kind = str(one["name"]).capitalize()
    if kind == "Player":
        return _set_player(game, one, spot)
    extra = () if kind in ("Cow", "Plant") else (game._player,)
    if kind == "Arrow":
        extra = (np.array((one["facing"]["x"], one["facing"]["y"])),)
    made = getattr(objects, kind)(game._world, spot, *extra)
    made.health = one["health"]
    for name in _OWN.get(kind, ()):
        setattr(made, name, one[name])
    return made


def _set_player(game: Game, one: Document, spot: tuple[int, int]) -> Any:
    player = game._player = objects.Player(game._world, spot)
    player.facing = one["facing"]["x"], one["facing"]["y"]
    player.action = one["action"]
    for name, of in _INNER.items():
        setattr(player, of, one[name])
    player.inventory.update(one["inventory"])
    player.achievements.update(one["achievements"])
    game._unlocked = {name for name, times in one["achievements"].items() if times}
    return player


def started() -> Game:
    """The game at the start of the map that the seed 1 makes."""
    game = blank(AREA)
    game.reset()
    return game


def small_world(folder: Path) -> CrafterStates:
    """The rules of `domains/crafter` on a map of the scenarios' size, written into a folder."""
    for name in ("rules.tw", "land.tw"):
        shutil.copy(domains_folder() / "crafter" / name, folder)
    game = started()
    (folder / "small.tw").write_text(world_text(game, "small"), encoding="utf-8")
    return CrafterStates(str(folder / "small.tw"))


# ---- distances ----------------------------------------------------------------------------------


def leaves(shown: Any, path: str = "") -> dict[str, Any]:
    """The values of a document by their paths; empty lists and objects are values too."""
    parts: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(shown, dict):
        parts = iter(shown.items())
    elif isinstance(shown, list):
        parts = enumerate(shown)
    if not isinstance(shown, (dict, list)) or not shown:
        return {path: shown}
    return {at: x for name, one in parts for at, x in leaves(one, f"{path}/{name}").items()}


def distance(one: Any, other: Any) -> int:
    """The operations of RFC 6902 that make one document the other: replaced values, and members and
    items that are added or removed; moves are not looked for."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = one.keys() & other.keys()
        return len(one.keys() ^ other.keys()) + sum(distance(one[x], other[x]) for x in both)
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return abs(len(one) - len(other)) + sum(distance(x, y) for x, y in pairs)
    return int(one != other)
