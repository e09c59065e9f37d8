"""Draws in slots: the keys, the digest and the arithmetic of halves."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tokenworld.engine import draw
from tokenworld.engine.rollout import Machine, compiler_missing
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


@pytest.mark.skipif(bool(compiler_missing()), reason="needs the extra `fast`")
def test_the_compiled_digest_is_blake2b() -> None:
    import numba
    import numpy as np

    from tokenworld.engine.rollout.blake import WORK, compiled_digest

    def njit(function: Callable[..., Any]) -> Any:
        return numba.njit(function, error_model="numpy", _nrt=False)

    digest = compiled_digest(njit, np, 0, 1, 400)
    random, X = Random(2), np.zeros(400 + WORK, np.int64)
    for length in range(300):
        text = random.randbytes(length)
        X[10 : 10 + length] = list(text)
        digest(X, 10, length)
        expected = int.from_bytes(blake2b(text, digest_size=8).digest(), "big")
        assert (int(X[0]) << 32 | int(X[1])) == expected


@pytest.mark.skipif(bool(compiler_missing()), reason="needs the extra `fast`")
def test_digests_side_by_side_are_those_of_each() -> None:
    import numba
    import numpy as np

    from tokenworld.engine.rollout.blake import LANES, hash_many, hash_one

    many, one = hash_many(), hash_one()
    njit: Any = numba.njit
    beside = njit(lambda words: many(words, 0, 16 * LANES, 17 * LANES), _nrt=False)
    alone = njit(lambda words, size: one(words, 0, size, 16), _nrt=False)
    random, words = Random(4), np.zeros(18 * LANES, np.uint64)
    texts = [random.randbytes(8 * lane) for lane in range(LANES)]
    for lane, text in enumerate(texts):
        block = np.frombuffer(text.ljust(128, b"\0"), np.uint64)
        words[lane : 16 * LANES : LANES], words[16 * LANES + lane] = block, len(text)
    beside(words)
    for lane, text in enumerate(texts):
        expected = int.from_bytes(blake2b(text, digest_size=8).digest(), "big")
        assert int(words[17 * LANES + lane]) == expected
        single = np.zeros(17, np.uint64)
        single[:16] = np.frombuffer(text.ljust(128, b"\0"), np.uint64)
        alone(single, len(text))
        assert int(single[16]) == expected
