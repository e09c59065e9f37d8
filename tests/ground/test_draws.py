"""Draws: one generator for whole numbers of Python, arrays of numpy and functions of numba."""

from __future__ import annotations

from importlib.util import find_spec
from random import Random

import pytest

from tokenworld.ground import draw
from tokenworld.ground.draws import MASK, absorbed, compiled, key, moment, nth, signed, word

VALUES = [
    (0, 0, "law wander", ("ghoul",), 0, 5508242386063480024),
    (7, 12, "law wander", ("ghoul",), 0, 1060053276606333301),
    (7, 12, "law wander", ("ghoul",), 1, 2425884961547488575),
    (-1, 3, "action flip", (None, "ü", 2, 0.5, True), 0, 3728394491038539495),
    (1 << 63, 10**9, "setup", (1,), 40, 8936958108565850988),
]


@pytest.mark.parametrize(("seed", "tick", "rule", "args", "number", "value"), VALUES)
def test_the_draws_of_every_machine(
    seed: int, tick: int, rule: str, args: tuple[str | int | None, ...], number: int, value: int
) -> None:
    assert draw(seed, tick, rule, args, number) == value


def test_output_0_is_that_of_splitmix64() -> None:
    """The outputs for seed 1234567 that Vigna's program prints."""
    found = [nth(1234567, number) for number in range(5)]
    assert found == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_equal_numbers_have_equal_words() -> None:
    assert word(1) == word(1.0) == word(True)
    assert word(-2) == word(-2.0) == MASK - 1
    assert word(0.5) != word(1) != word("1")
    assert len({word(value) for value in ("", "a", "b", "ab", "ba", "ü", "a_1", "a_2")}) == 8


def test_the_order_of_arguments_counts() -> None:
    assert key("law l", ("a", "b")) != key("law l", ("b", "a"))
    assert key("law l", ("a",)) != key("law l", ("a", "a"))


def _keys(count: int) -> list[tuple[int, int, int, int]]:
    """Seeds, ticks, words and numbers of all sizes."""
    random = Random(5)
    return [
        (
            random.getrandbits(random.randrange(1, 65)),
            random.getrandbits(random.randrange(1, 40)),
            random.getrandbits(64),
            random.randrange(100),
        )
        for _ in range(count)
    ]


def _drawn(seed: int, tick: int, of: int, number: int) -> int:
    return nth(absorbed(moment(seed, tick), of), number)


def test_numpy_draws_the_same() -> None:
    np = pytest.importorskip("numpy")
    keys = _keys(2_000)
    words, numbers = (np.array([one[i] for one in keys], np.uint64) for i in (2, 3))
    now = np.array([moment(one[0], one[1]) for one in keys], np.uint64)
    found = nth(absorbed(now, words), numbers)
    assert found.tolist() == [_drawn(*one) for one in keys]


@pytest.mark.skipif(find_spec("numba") is None, reason="needs the extra `fast`")
def test_numba_draws_the_same() -> None:
    functions = compiled()
    for seed, tick, of, number in _keys(2_000):
        now = functions["moment"](signed(seed), tick)
        found = functions["nth"](functions["absorbed"](now, signed(of)), number)
        assert found & MASK == _drawn(seed, tick, of, number)


def _excess(counts: list[int]) -> float:
    """Chi-square of counts against equal shares, in standard deviations above its mean."""
    expected, free = sum(counts) / len(counts), len(counts) - 1
    square = sum((count - expected) ** 2 for count in counts) / expected
    return float((square - free) / (2 * free) ** 0.5)


@pytest.mark.parametrize("by", ["seed", "tick", "argument", "number"])
def test_draws_that_differ_in_one_place_are_spread_evenly(by: str) -> None:
    """256 intervals of the upper and of the lower bits, over 25,600 neighbouring keys."""
    made = {
        "seed": lambda i: draw(i, 3, "law l", ("a",), 0),
        "tick": lambda i: draw(3, i, "law l", ("a",), 0),
        "argument": lambda i: draw(3, 7, "law l", (f"a_{i}",), 0),
        "number": lambda i: draw(3, 7, "law l", ("a",), i),
    }[by]
    upper, lower = [0] * 256, [0] * 256
    for number in range(25_600):
        value = made(number)
        upper[value >> 56] += 1
        lower[value & 255] += 1
    assert abs(_excess(upper)) < 3.5
    assert abs(_excess(lower)) < 3.5


def test_neighbouring_draws_are_independent() -> None:
    """Pairs of draws of two rules, of two ticks and of two numbers, as 16 by 16 cells."""
    pairs = {
        "rules": lambda i: (draw(0, i, "law a", (), 0), draw(0, i, "law b", (), 0)),
        "arguments": lambda i: (draw(0, i, "law a", ("x",), 0), draw(0, i, "law a", ("y",), 0)),
        "ticks": lambda i: (draw(0, i, "law a", (), 0), draw(0, i + 1, "law a", (), 0)),
        "numbers": lambda i: (draw(0, i, "law a", (), 0), draw(0, i, "law a", (), 1)),
        "seeds": lambda i: (draw(i, 0, "law a", (), 0), draw(i + 1, 0, "law a", (), 0)),
    }
    for name, made in pairs.items():
        cells = [0] * 256
        for number in range(25_600):
            first, second = made(number)
            cells[(first >> 60) << 4 | second >> 60] += 1
        assert abs(_excess(cells)) < 3.5, name


def test_one_flipped_bit_of_a_key_flips_half_of_the_draw() -> None:
    flipped = 0
    for bit in range(64):
        for tick in range(64):
            one, other = moment(0, tick), moment(1 << bit, tick)
            flipped += (nth(absorbed(one, 5), 0) ^ nth(absorbed(other, 5), 0)).bit_count()
    assert abs(flipped / (64 * 64 * 64) - 0.5) < 0.005
