"""Draws in slots: the keys and the arithmetic of halves."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tokenworld.engine import draw
from tokenworld.engine.rollout import Machine
from tokenworld.engine.rollout.scratch import U_HIGH, U_LOW
from tokenworld.session import open_world

SKIRMISH = str(Path(__file__).parents[3] / "domains/skirmish/world.tw")


@pytest.fixture(scope="module")
def machine() -> Machine:
    return Machine(open_world(SKIRMISH).engine)


@pytest.mark.parametrize(("seed", "turn"), [(0, 0), (7, 12), (-3, 999), (2**40, 10**6)])
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_random_player_draws_as_in_play(
    machine: Machine, seed: int, turn: int, size: int
) -> None:
    for arguments, word in ((False, "action"), (True, "arguments")):
        expected = draw(seed, turn, "player random", (word,), 0) * size >> 64
        drawn = machine.space["player_draw"](machine.scratch, seed, turn, arguments, size)
        assert drawn == expected


def test_a_share_of_the_span_is_rounded_down_as_in_play(machine: Machine) -> None:
    random = Random(1)
    below, X = machine.space["below"], machine.scratch
    for _ in range(500):
        whole = random.randrange(1, 1 << 30)
        part = random.randrange(0, whole + 1)
        edge = (part << 64) // whole
        for value in (edge - 1, edge, edge + 1, random.getrandbits(64)):
            if 0 <= value < 1 << 64:
                X[U_HIGH], X[U_LOW] = value >> 32, value & 0xFFFFFFFF
                assert below(X, part, whole) == (value < edge), (part, whole, value)
