"""The game Crafter (package `crafter` 1.8.3, extra `crafter`) and its rules in `domains/crafter`.

    game = crafter.Env(seed=1)
    game.reset()
    states = CrafterStates("crafter")
    state = states.state(game)                          # the state of the rules
    outcomes = states.engine.distribution(state, COMMANDS[5])
    states.put(game, outcomes.successors[0].state)      # and back into the game

The game keeps its state in private fields; they are read and written as version 1.8.3 has them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import Engine, State
from tokenworld.engine.arrays import Made
from tokenworld.ground import Command
from tokenworld.model import Program
from tokenworld.session import OpenWorld, open_world

_WAYS = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""Steps to the north, east, south and west, in the order of `Direction`."""

COMMANDS = (
    Command("wait", ()),
    *(Command("move", (way,)) for way in (3, 1, 0, 2)),
    Command("interact", ()),
    Command("sleep", ()),
    *(Command("place", (building,)) for building in range(3)),
    Command("plant", ()),
    *(Command("make", (item,)) for item in range(6, 12)),
)
"""The command of each of the game's actions, by its number."""

_Cells = tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]]

_KINDS = ("Cow", "Zombie", "Skeleton", "Arrow", "Plant")
_NEEDS = ("health", "food", "drink", "energy")
_TENTHS = {"hunger": "_hunger", "thirst": "_thirst", "recovery": "_recover"}
_WHOLE = {"fatigue": "_fatigue", "health_before": "_last_health", "sleeping": "sleeping"}
_OWN = {"Zombie.cooldown": "cooldown", "Skeleton.reload": "reload", "Plant.grown": "grown"}
"""Attributes of creatures, with their names in the game."""
_READ = (
    *("Tile.material", "Body.at", "Body.health", "Player.facing", "Keeper.chunk", "Arrow.flies"),
    *(f"Player.{name}" for name in (*_NEEDS[1:], *_TENTHS, *_WHOLE)),
    *(*_OWN, "have", "times_done"),
)


class CrafterStates:
    """States of the game as states of a world of `domains/crafter`, and back.

    The world and the game must have the same area. `Failure` (TW0006) where they do not.
    """

    def __init__(self, world: OpenWorld | str = "crafter") -> None:
        opened = open_world(world) if isinstance(world, str) else world
        self.engine: Engine = opened.engine
        self._base = _without_creatures(self.engine, self.engine.start())
        self._known: dict[tuple[int, ...], _Cells] = {}
        self._tiles, self._chunks = (
            {place: number for number, place in cells.items()} for cells in self._cells(self._base)
        )
        program = opened.program
        self._materials = _members(program, "Material")
        self._items, self._achievements = (
            _members(program, "Item"),
            _members(program, "Achievement"),
        )

    def _cells(self, state: State) -> _Cells:
        """The coordinates of the tiles and of the chunks by their numbers."""
        numbers = state.live["Cell"]
        if numbers not in self._known:
            found = self.engine.columns(state, ("Cell.x", "Cell.y"))
            places = zip(found["Cell.x"].tolist(), found["Cell.y"].tolist(), strict=True)
            at = dict(zip(numbers, places, strict=True))
            tiles, chunks = ({one: at[one] for one in state.live[of]} for of in ("Tile", "Chunk"))
            self._known[numbers] = tiles, chunks
        return self._known[numbers]

    # ---- in ---------------------------------------------------------------------------------

    def state(self, game: Any) -> State:
        """The state that a game is in; the game stays as it is."""
        world = game._world
        if world.area[0] * world.area[1] != len(self._tiles):
            raise _misfit(f"the game has the area {tuple(world.area)}")
        bodies = [game._player, *(one for one in world.objects if one is not game._player)]
        kinds = [type(one).__name__ for one in bodies]
        keepers = [Made("Keeper", {})] * len(world._chunks)
        made = [Made(kind, {}) for kind in kinds[1:]]
        columns = {**self._of_bodies(bodies, kinds), **self._of_player(game._player)}
        columns["Tile.material"] = self._material_numbers(world)[world._mat_map.T].ravel()
        columns["Keeper.chunk"] = [
            self._chunks[key[0] // 12, key[2] // 12] for key in world._chunks
        ]
        return self.engine.snapshot(self._base, columns, (*made, *_named(keepers)), game._step)

    def _material_numbers(self, world: Any) -> NDArray[np.int64]:
        """The number of each material in the rules, by its number in the game."""
        found = np.zeros(len(world._mat_names), np.int64)
        for number, name in world._mat_names.items():
            if name is not None:
                found[number] = self._materials.index(name)
        return found

    def _of_bodies(self, bodies: Sequence[Any], kinds: Sequence[str]) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "Body.at": [self._tiles[int(x), int(y)] for x, y in (one.pos for one in bodies)],
            "Body.health": [one.health for one in bodies],
        }
        for name, own in _OWN.items():
            kind = name.split(".")[0]
            columns[name] = [
                getattr(one, own) for one, of in zip(bodies, kinds, strict=True) if of == kind
            ]
        arrows = (one for one, of in zip(bodies, kinds, strict=True) if of == "Arrow")
        columns["Arrow.flies"] = [_WAYS.index(tuple(map(int, one.facing))) for one in arrows]
        return {name: np.array(values, np.int64) for name, values in columns.items()}

    def _of_player(self, player: Any) -> dict[str, Any]:
        has = player.inventory
        return {
            "Player.facing": [_WAYS.index(tuple(map(int, player.facing)))],
            **{f"Player.{name}": [has[name]] for name in _NEEDS[1:]},
            **{
                f"Player.{name}": [round(10 * getattr(player, own))]
                for name, own in _TENTHS.items()
            },
            **{f"Player.{name}": [int(getattr(player, own))] for name, own in _WHOLE.items()},
            "have": [has[name] for name in self._items],
            "times_done": [player.achievements[name] for name in self._achievements],
        }

    # ---- out --------------------------------------------------------------------------------

    def put(self, game: Any, state: State) -> None:
        """Let a game be in a state; its random source stays as it is."""
        columns = self.engine.columns(state, _READ)
        world, player = game._world, game._player
        numbers = np.argsort(self._material_numbers(world)[1:]) + 1
        width, height = world.area
        world._mat_map[:] = numbers[columns["Tile.material"]].reshape(height, width).T
        self._put_bodies(game, state, columns)
        self._put_player(player, columns)
        game._step = state.tick
        game._update_time()
        game._last_health = player.health
        game._unlocked = {name for name, count in player.achievements.items() if count > 0}

    def _put_bodies(self, game: Any, state: State, columns: dict[str, Any]) -> None:
        world = game._world
        world._objects, world._obj_map[:] = [None], 0
        world._chunks.clear()
        tiles, chunks = self._cells(state)
        for number in columns["Keeper.chunk"].tolist():
            x, y = chunks[number]
            world._chunks[world.chunk_key((12 * x, 12 * y))] = set()
        own = {name: iter(columns[name].tolist()) for name in (*_OWN, "Arrow.flies")}
        listed = zip(columns["Body.at"].tolist(), columns["Body.health"].tolist(), strict=True)
        for number, (at, health) in zip(state.live["Body"], listed, strict=True):
            body = _made(game, str(state.kinds[number]), tiles[at], own)
            body.health = health
            world.add(body)

    def _put_player(self, player: Any, columns: dict[str, Any]) -> None:
        def value(name: str) -> int:
            return int(columns[f"Player.{name}"][0])

        player.facing, player.removed = _WAYS[value("facing")], False
        for name in _NEEDS[1:]:
            player.inventory[name] = value(name)
        for name, own in _TENTHS.items():
            setattr(player, own, value(name) / 10)
        for name, own in _WHOLE.items():
            setattr(player, own, value(name))
        player.sleeping = bool(player.sleeping)
        player.inventory.update(zip(self._items, columns["have"].tolist(), strict=True))
        done = zip(self._achievements, columns["times_done"].tolist(), strict=True)
        player.achievements.update(done)


def _members(program: Program, enum: str) -> tuple[str, ...]:
    return tuple(program.enums[enum].members)


def _named(keepers: Sequence[Made]) -> Iterator[Made]:
    return (one._replace(name=f"keeper_{at}") for at, one in enumerate(keepers, 1))


def _misfit(reason: str) -> Failure:
    what = f"The world is none for this game: {reason}."
    return Failure(Diagnostic("TW0006", what, hint="Write one with `world_text`."))


def _without_creatures(engine: Engine, state: State) -> State:
    """The state with the player alone, and no chunk that has had visitors."""
    shown: Any = engine.json(state)
    left = ("Keeper", *_KINDS)
    shown["objects"] = [one for one in shown["objects"] if one["type"] not in left]
    for number, one in enumerate(shown["objects"]):
        one["id"], one["contents"] = number, []
    shown["next_id"] = len(shown["objects"])
    return engine.restored(shown)


def _made(game: Any, kind: str, at: tuple[int, int], own: dict[str, Iterator[int]]) -> Any:
    """A creature of the game, or its player, at a place."""
    from crafter import objects

    world, player = game._world, game._player
    if kind == "Player":
        player.pos = np.array(at)
        return player
    if kind == "Arrow":
        return objects.Arrow(world, at, np.array(_WAYS[next(own["Arrow.flies"])]))
    followers = ("Zombie", "Skeleton")
    made = getattr(objects, kind)(world, at, *((player,) if kind in followers else ()))
    for name, attribute in _OWN.items():
        if name.startswith(f"{kind}."):
            setattr(made, attribute, next(own[name]))
    return made


# ---- a world from a game -------------------------------------------------------------------

_SIGNS = {
    "grass": ".", "sand": ",", "path": "_", "stone": "#", "tree": "T", "coal": "c", "iron": "i",
    "diamond": "d", "water": "~", "lava": "L", "table": "t", "furnace": "f",
}  # fmt: skip

_ENDINGS = """\
  setup { divide_into_chunks() }
  setup { appoint_keepers() }
  score = count(a for a: Achievement where times_done(a) > 0)
  reward 0.1 * gain_of_health() when gain_of_health() != 0
  reward 1 when any(first_time(a) for a: Achievement)
  goal mastered: all(times_done(a) > 0 for a: Achievement) "You have achieved everything."
  lose dead: player.health == 0 "You are dead."
  stop over: tick() >= 10000 "Time is over."
}
"""


def world_text(game: Any, name: str = "mine", title: str = "Crafter") -> str:
    """A world that begins on the map of a game that has just been reset, with its creatures.

    Save it beside `domains/crafter/rules.tw`, or beside a copy of it.
    """
    width, height = game._world.area
    dots = "." * -(-width // 12)
    return "\n".join((
        "edition 1", "use rules", "",
        f'world {name} "{title}" {{', "  time passes always", "  endless",
        "  layout Tile {", *_map(game._world), "  }",
        "  layout Chunk {", *(f'    "{dots}"' for _ in range(-(-height // 12))), "  }",
        *_creatures(game._world), _ENDINGS,
    ))  # fmt: skip


def _map(world: Any) -> Iterator[str]:
    height = world.area[1]
    names = np.array([_SIGNS.get(world._mat_names[at], "?") for at in sorted(world._mat_names)])
    rows = ["".join(names[world._mat_map[:, y]]) for y in range(height)]
    yield from (f'    "{row}"' for row in rows)
    for material, sign in _SIGNS.items():
        if sign != "." and any(sign in row for row in rows):
            yield f'    legend "{sign}" {{ here.material = {material} }}'


def _creatures(world: Any) -> Iterator[str]:
    counts = Counter[str]()
    for one in world.objects:
        kind = type(one).__name__
        counts[kind] += 1
        name = "player" if kind == "Player" else f"{kind.lower()}_{counts[kind]}"
        x, y = one.pos
        yield f"  object {name}: {kind} {{ at = tile_{x}_{y}  health = {one.health} }}"
