"""The game Crafter with a random source that forks: every outcome of a step, with its probability.

Each random number is compared with a probability or picks one of n; a `Fork` takes one of the
alternatives, and walking all of them in order gives each combination once. The step itself is that
of the game.
"""

from __future__ import annotations

import pickle
import random
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Any

import crafter
import numpy as np
from crafter import objects

Key = tuple[Any, ...]
MATERIALS = ("grass", "sand", "path", "stone", "tree", "coal", "iron", "diamond", "water", "lava",
             "table", "furnace")  # fmt: skip
WAYS = ((-1, 0), (1, 0), (0, -1), (0, 1))


class Ordered(dict[Any, None]):
    """A set that keeps its order, in place of the game's sets, which iterate by address."""

    def add(self, one: Any) -> None:
        self[one] = None

    def remove(self, one: Any) -> None:
        del self[one]


class Game(crafter.Env):  # type: ignore[misc]
    """The game without pictures."""

    def reset(self) -> None:
        super().reset()
        self.tidy()

    def tidy(self) -> None:
        """Let the sets of creatures be ordered."""
        chunks = self._world._chunks
        self._world._chunks = defaultdict(Ordered, ((key, Ordered()) for key in chunks))
        for one in self._world.objects:
            self._world._chunks[self._world.chunk_key(one.pos)].add(one)

    def _obs(self) -> None:
        return None


class Fork:
    """Takes the alternatives of a prefix, then the first ones, and remembers them."""

    def __init__(self, prefix: list[int]) -> None:
        self.prefix, self.taken = prefix, list[tuple[int, int]]()
        self.share = Fraction(1)

    def branch(self, shares: list[Fraction]) -> int:
        at = len(self.taken)
        choice = self.prefix[at] if at < len(self.prefix) else 0
        self.taken.append((choice, len(shares)))
        self.share *= shares[choice]
        return choice

    def uniform(self) -> Drawn:
        return Drawn(self)

    def randint(self, low: int, high: int) -> int:
        count = high - low
        return low + (self.branch([Fraction(1, count)] * count) if count > 1 else 0)

    def following(self) -> list[int] | None:
        for depth in range(len(self.taken) - 1, -1, -1):
            choice, count = self.taken[depth]
            if choice + 1 < count:
                return [*(one for one, _ in self.taken[:depth]), choice + 1]
        return None


class Drawn:
    """A number between 0 and 1 that is not known before it is compared."""

    def __init__(self, fork: Fork) -> None:
        self.fork = fork

    def __lt__(self, bound: float) -> bool:
        share = Fraction(str(bound))
        return share >= 1 or self.fork.branch([share, 1 - share]) == 0

    __le__ = __lt__


def outcomes(game: Game, action: int, most: int) -> dict[Key, Fraction] | None:
    """What a step may come to; none where it has more than ``most`` combinations of draws, or one
    way to draw promises many more."""
    saved, found = _saved(game), defaultdict[Key, Fraction](Fraction)
    copy, prefix, count = _like(game), list[int](), 0
    while prefix is not None:
        fork = Fork(prefix)
        _load(copy, game, saved, fork)
        _, reward, over, _ = copy.step(action)
        found[canonical(copy, Fraction(round(10 * float(reward)), 10), bool(over))] += fork.share
        prefix, count = fork.following(), count + 1  # type: ignore[assignment]
        if count > most or prod(alternatives for _, alternatives in fork.taken) > 20 * most:
            return None
    return dict(found)


def _saved(game: Game) -> bytes:
    kept = game._world.random
    for one in (game._world, *game._world.objects):
        one.random = None
    saved = pickle.dumps((game._world, game._player), pickle.HIGHEST_PROTOCOL)
    for one in (game._world, *game._world.objects):
        one.random = kept
    return saved


def _like(game: Game) -> Game:
    copy = object.__new__(Game)
    copy.__dict__.update(game.__dict__)
    copy._sem_view = lambda: None
    return copy


def _load(copy: Game, game: Game, saved: bytes, fork: Fork) -> None:
    copy._world, copy._player = pickle.loads(saved)
    for one in (copy._world, *copy._world.objects):
        one.random = fork
    copy._step, copy._last_health = game._step, game._last_health
    copy._unlocked = set(game._unlocked)


def canonical(game: Game, reward: Fraction, over: bool) -> Key:
    """Everything that distinguishes two outcomes: also the order of creatures and of chunks."""
    player, world = game._player, game._world
    own = (
        *map(int, player.pos), *map(int, player.facing), bool(player.sleeping),
        *(float(getattr(player, one)) for one in ("_hunger", "_thirst", "_recover")),
        int(player._fatigue), int(player._last_health), *map(int, player.inventory.values()),
    )  # fmt: skip
    chunks = tuple((int(key[0]), int(key[2])) for key in world._chunks)
    rest = tuple(creature(one) for one in world.objects if one is not player)
    done = tuple(player.achievements.values())
    return world._mat_map.tobytes(), game._step, own, done, rest, chunks, reward, over


def creature(one: Any) -> Key:
    kind = type(one).__name__
    own = {"Zombie": "cooldown", "Skeleton": "reload", "Plant": "grown", "Arrow": "facing"}
    value = getattr(one, own[kind]) if kind in own else ()
    return kind, *map(int, one.pos), int(one.health), tuple(np.ravel(value).tolist())


# ---- states --------------------------------------------------------------------------------


def scattered(game: Game, dice: random.Random, creatures: int, balance: bool) -> None:
    """Put the player anywhere, with anything around, in any condition."""
    world, player = game._world, game._player
    cleared(game, (dice.randrange(world.area[0]), dice.randrange(world.area[1])), dice)
    x, y = map(int, player.pos)
    player.facing = dice.choice(WAYS)
    front = x + player.facing[0], y + player.facing[1]
    spots = [(x + dice.randint(-2, 2), y + dice.randint(-2, 2)) for _ in range(6)]
    for spot in (*spots, *([front] if dice.random() < 0.7 else ())):
        if inside(world, spot) and spot != (x, y):
            world[spot] = dice.choice(MATERIALS)
    for at in range(creatures):
        far = dice.choice([1, 1, 2, 4, 7, 12])
        spot = (x + dice.randint(-far, far), y + dice.randint(-far, far))
        placed(game, front if at == 0 and dice.random() < 0.5 else spot, dice)
    condition(game, dice)
    game._step = dice.choice([dice.randrange(600), dice.randrange(9000), 9999])
    game._step = game._step // 10 * 10 + 9 if balance else game._step - (game._step % 10 == 9)


def cleared(game: Game, spot: tuple[int, int], dice: random.Random) -> None:
    """Take all creatures away, and let the player stand on a spot."""
    world, player = game._world, game._player
    world._objects, world._obj_map[:] = [None], 0
    world._chunks.clear()
    player.pos = np.array(spot)
    world[spot] = dice.choice(("grass", "sand", "path"))
    world.add(player)
    for _ in range(dice.randrange(3)):
        world._chunks[
            world.chunk_key((dice.randrange(world.area[0]), dice.randrange(world.area[1])))
        ]


def inside(world: Any, spot: tuple[int, int]) -> bool:
    return 0 <= spot[0] < world.area[0] and 0 <= spot[1] < world.area[1]


def placed(game: Game, spot: tuple[int, int], dice: random.Random) -> None:
    """A creature of any kind in any condition, if there is room."""
    world, player = game._world, game._player
    if not inside(world, spot) or world._obj_map[spot]:
        return
    kind = dice.choice(["Zombie", "Zombie", "Skeleton", "Cow", "Arrow", "Plant"])
    one: Any
    if kind == "Zombie":
        one = objects.Zombie(world, spot, player)
        one.cooldown, one.health = dice.choice([0, 0, 1, 5]), dice.choice([0, 1, 2, 5])
    elif kind == "Skeleton":
        one = objects.Skeleton(world, spot, player)
        one.reload, one.health = dice.choice([0, 0, 1, 4]), dice.choice([0, 1, 3])
    elif kind == "Cow":
        one = objects.Cow(world, spot)
        one.health = dice.choice([0, 1, 3])
    elif kind == "Arrow":
        one = objects.Arrow(world, spot, np.array(dice.choice(WAYS)))
    else:
        one = objects.Plant(world, spot)
        one.grown, one.health = dice.choice([0, 5, 300, 301]), dice.choice([1, 1, 2])
    if kind in ("Zombie", "Skeleton", "Cow"):
        world[spot] = dice.choice(("grass", "sand", "path"))
    world.add(one)


def condition(game: Game, dice: random.Random) -> None:
    """Needs, things and achievements of the player: also those at their caps."""
    player = game._player
    for name in player.inventory:
        player.inventory[name] = dice.choice([0, 0, 1, 1, 2, 4, 5, 9])
    for name in ("food", "drink", "energy"):
        player.inventory[name] = dice.choice([0, 1, 2, 5, 8, 9, 9])
    player.health = dice.choice([1, 2, 3, 7, 8, 9])
    player._last_health = min(9, player.health + dice.choice([0, 0, 0, 1, 2]))
    player.sleeping = dice.random() < 0.2
    player._hunger = dice.choice([0, 3, 10.5, 24.5, 25])
    player._thirst = dice.choice([0, 3, 10.5, 19.5, 20])
    player._fatigue = dice.choice([-10, -9, -1, 0, 5, 29, 30])
    player._recover = dice.choice([-15, -14.5, -3, 0, 24, 25, 25])
    for name in player.achievements:
        player.achievements[name] = dice.choice([0, 0, 1, 3])
    remembered(game)


def remembered(game: Game) -> None:
    """What the environment keeps of the player between steps."""
    player = game._player
    game._last_health = player.health
    game._unlocked = {name for name, count in player.achievements.items() if count > 0}


def crowded(game: Game, dice: random.Random) -> None:
    """A tick of balance in a chunk at the edge of its limits: grass, paths and creatures."""
    world, player = game._world, game._player
    spot = (dice.randrange(world.area[0]), dice.randrange(world.area[1]))
    cleared(game, spot, dice)
    world._mat_map[:] = world._mat_ids["stone"]
    xs, xe, ys, ye = world.chunk_key(player.pos)
    cells = [(x, y) for x in range(xs, xe) for y in range(ys, ye)]
    dice.shuffle(cells)
    grass, paths = dice.choice(
        [(30, 0), (29, 6), (0, 5), (0, 8), (49, 0), (50, 0), (52, 3), (20, 7)]
    )
    for at, cell in enumerate(cells[: grass + paths]):
        world[cell] = "grass" if at < grass else "path"
    world[spot] = "sand"
    kinds = [objects.Zombie] * dice.choice([0, 0, 1, 2, 4]) + [objects.Skeleton] * dice.choice(
        [0, 0, 3]
    )
    for kind in (*kinds, *[objects.Cow] * dice.choice([0, 0, 1, 3])):
        cell = dice.choice(cells)
        if not world._obj_map[cell] and world[cell][0] == "stone":
            world.add(kind(world, cell, *(() if kind is objects.Cow else (player,))))
    others = [key for key in ((x, y) for x in range(0, world.area[0], 12)
              for y in range(0, world.area[1], 12)) if key != (xs, ys)]  # fmt: skip
    if others and dice.random() < 0.5:
        x, y = dice.choice(others)
        for at in range(dice.choice([5, 6, 7])):
            if inside(world, (x + at % 4, y + at // 4)):
                world[x + at % 4, y + at // 4] = "path"
        world._chunks[world.chunk_key((x, y))]
    condition(game, dice)
    game._step = dice.randrange(600) // 10 * 10 + 9


def lived(game: Game, dice: random.Random, creatures: int) -> None:
    """A state of an episode, with the creatures that are nearest."""
    for _ in range(dice.randrange(1, 40)):
        if game.step(dice.randrange(17))[2]:
            game.reset()
    player, world = game._player, game._world
    near = sorted(world.objects, key=lambda one: int(player.distance(one)))
    for one in near[creatures + 1 :]:
        world.remove(one)
    remembered(game)


def states(area: int, seed: int) -> Iterator[Game]:
    """Any number of states of one area, of all three kinds."""
    dice, game = random.Random(seed), Game(area=(area, area), seed=seed)
    np.random.seed(seed)
    while True:
        game.reset()
        for _ in range(20):
            kind = dice.random()
            if kind < 0.15:
                crowded(game, dice)
            elif kind < 0.85:
                scattered(game, dice, dice.choice([0, 1, 1, 2, 2, 3]), dice.random() < 0.1)
            else:
                game.reset()
                lived(game, dice, 2)
            game.tidy()
            yield game
