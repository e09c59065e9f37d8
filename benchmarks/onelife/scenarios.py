"""The 38 scenarios of OneLife's evaluation, rebuilt from the paper's appendix and the public code.

Each is a start on a map of 9 by 9 tiles, a policy and the number of steps after which it ends at
the latest. A scenario that is to succeed and one that is not share a name in the public code, where
the second replaces the first; `Scenario.coded` is that name, `Scenario.name` is unique.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from crafter import constants, objects

from benchmarks.onelife.documents import AREA, Document, Game, Numbers, document, game_of, started

__all__ = ["SCENARIOS", "Observed", "Scenario", "observed"]

_ACTIONS: Final = tuple(constants.actions)
_MOVES: Final = {(-1, 0): "move_left", (1, 0): "move_right", (0, -1): "move_up",
                 (0, 1): "move_down"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Observed:
    """A transition: a document, the name of an action, and the document after the step."""

    scenario: str
    before: Document
    action: str
    after: Document


@dataclass(frozen=True)
class Scenario:
    """A start, a policy and an end. ``material`` is the tile east of the player, ``has`` what the
    player has, ``furnace`` whether one is to the west, ``body`` who is to the east, ``grown`` how
    old a plant is, ``alone`` whether the creatures of the map are taken away."""

    coded: str
    does: str
    material: str = "grass"
    has: tuple[tuple[str, int], ...] = ()
    furnace: bool = False
    body: str = ""
    grown: int = 0
    alone: bool = False
    steps: int = 1
    fails: bool = False

    @property
    def name(self) -> str:
        """The unique name."""
        return f"{self.coded} (in vain)" if self.fails else self.coded

    @property
    def mechanic(self) -> str:
        """The group of mechanics that it is of."""
        first = self.coded.split("_")[0]
        groups = {"collect": "collect", "craft": "craft", "place": "place", "eat": "eat and sleep",
                  "wake": "eat and sleep"}  # fmt: skip
        return groups.get(first, "move and fight")

    def start(self) -> Game:
        """The game in which it begins."""
        game = started()
        if self.coded == "random_movement":
            return game
        world, player = game._world, game._player
        for at in np.ndindex(*AREA):
            world[at] = "grass"
        world.move(player, np.array((5, 5)))
        if self.alone:
            for one in [x for x in world.objects if x is not player]:
                world.remove(one)
        player.facing = (0, 1) if self.coded == "cow_movement" else (1, 0)
        world[6, 5] = self.material
        if self.furnace:
            world[4, 5] = "furnace"
        player.inventory.update(self.has)
        self._add_body(game)
        return game

    def _add_body(self, game: Game) -> None:
        if self.body:
            spot = (6, 6) if self.coded == "cow_movement" else (6, 5)
            extra = (game._player,) if self.body in ("Zombie", "Skeleton") else ()
            made = getattr(objects, self.body)(game._world, spot, *extra)
            if self.grown:
                made.grown = self.grown
            game._world.add(made)


def _made(item: str, *uses: str, furnace: bool = False) -> Iterator[Scenario]:
    coded = f"craft_{item.replace('wood_', 'wooden_')}"
    for fails in (False, True):
        has = tuple((one, 0 if fails and one == "wood" else 1) for one in uses)
        yield Scenario(coded, f"make_{item}", "table", has, furnace, fails=fails)


def _collected(material: str, tool: str = "", lesser: tuple[str, ...] = ()) -> Iterator[Scenario]:
    yield Scenario(f"collect_{material}", "do", material, ((f"{tool}_pickaxe", 1),))
    has = tuple((f"{one}_pickaxe", 1) for one in lesser)
    yield Scenario(f"collect_{material}", "do", material, has, fails=True)


def _placed(what: str, item: str, needed: int) -> Iterator[Scenario]:
    for fails in (False, True):
        yield Scenario(f"place_{what}", f"place_{what}", has=((item, needed - fails),), fails=fails)


SCENARIOS: Final = (
    Scenario("cow_movement", "noop", body="Cow", alone=True, steps=30),
    Scenario("random_movement", "random", steps=10),
    Scenario("zombie_defeat", "do", has=(("wood_sword", 1),), body="Zombie", alone=True, steps=5),
    Scenario("defeat_skeleton", "hunt", body="Skeleton", steps=10),
    Scenario("eat_cow", "hunt", body="Cow", steps=15),
    *_collected("coal", "wood"),
    *_collected("diamond", "iron", ("wood", "stone")),
    *_collected("iron", "stone", ("wood",)),
    *_collected("stone", "wood"),
    Scenario("collect_drink", "do", "water", (("drink", 0),)),
    Scenario("collect_wood", "do", "tree"),
    Scenario("eat_plant", "do", has=(("food", 0),), body="Plant", grown=301),
    Scenario("eat_plant", "do", has=(("food", 0),), body="Plant", grown=100, fails=True),
    *_made("iron_pickaxe", "wood", "coal", "iron", furnace=True),
    *_made("iron_sword", "wood", "coal", "iron", furnace=True),
    *_made("stone_pickaxe", "wood", "stone"),
    *_made("stone_sword", "wood", "stone"),
    *_made("wood_pickaxe", "wood"),
    *_made("wood_sword", "wood"),
    *_placed("furnace", "stone", 4),
    *_placed("plant", "sapling", 1),
    *_placed("stone", "stone", 1),
    *_placed("table", "wood", 2),
    Scenario("wake_up", "sleep", has=(("energy", 8),), steps=12),
)
"""All 38; those in vain come after those that succeed, as in the public code."""


def observed(scenario: Scenario, seed: int) -> list[Observed]:
    """The transitions of one run in the real game, whose random source begins with the seed."""
    game, numbers, dice = scenario.start(), Numbers(), random.Random(1)
    source = np.random.RandomState(seed)
    before, found = document(game, numbers), list[Observed]()
    target = _target(before, scenario.body.lower()) if scenario.body else None
    while len(found) < scenario.steps:
        action = _action(scenario.does, before, target, dice)
        again = game_of(before, numbers := Numbers())
        assert again is not None
        again._world.random = source
        for one in again._world.objects:
            one.random = source
        again.step(_ACTIONS.index(action))
        after = document(again, numbers)
        found.append(Observed(scenario.name, before, action, after))
        before = after
        if _ended(scenario, found, target):
            break
    return found


def _target(shown: Document, kind: str) -> int:
    """The last body of the kind: the one that the scenario added."""
    return max(one["entity_id"] for one in shown["objects"] if one["name"] == kind)


def _present(shown: Document, number: int | None) -> Document | None:
    return next((one for one in shown["objects"] if one["entity_id"] == number), None)


def _ended(scenario: Scenario, found: list[Observed], target: int | None) -> bool:
    if scenario.coded in ("zombie_defeat", "defeat_skeleton", "eat_cow"):
        return _present(found[-1].after, target) is None
    if scenario.coded == "wake_up":
        slept = found[0].after["player"]["sleeping"]
        return len(found) > 1 and slept and not found[-1].after["player"]["sleeping"]
    return False


def _action(does: str, shown: Document, target: int | None, dice: random.Random) -> str:
    if does == "random":
        return dice.choice(["move_left", "move_right", "move_up", "move_down"])
    if does != "hunt":
        return does
    body, player = _present(shown, target), shown["player"]
    if body is None:
        return "noop"
    gap = tuple(body["position"][x] - player["position"][x] for x in "xy")
    if gap == (player["facing"]["x"], player["facing"]["y"]):
        return "do"
    longer = 0 if abs(gap[0]) > abs(gap[1]) else 1
    way = [0, 0]
    way[longer] = 1 if gap[longer] > 0 else -1
    return _MOVES[way[0], way[1]]
