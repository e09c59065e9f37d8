"""Draws: 64-bit values by seed, tick, rule, arguments and number; engine and reference ask here.

The generator is counter-based (language.md §13): no draw depends on another. The rule and its
arguments make a key, the seed and the tick a moment, both together the state of a SplitMix64
(Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014), whose output
``number`` is the draw. `mixed`, `absorbed`, `nth` and `spelt` have one text for Python's whole
numbers, for arrays of numpy's ``uint64`` and for numba, which `compiled` asks.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from types import FunctionType
from typing import Any, Final

from tokenworld.ground.values import Json

MASK: Final = 0xFFFFFFFFFFFFFFFF
GOLDEN: Final = 0x9E3779B97F4A7C15
"""The odd number nearest to 2^64 divided by the golden ratio: the step of SplitMix64."""
FIRST: Final = 0xBF58476D1CE4E5B9
SECOND: Final = 0x94D049BB133111EB
"""The factors of its finaliser."""
_BASIS: Final = 0xCBF29CE484222325
_PRIME: Final = 0x100000001B3
"""Both of FNV-1a with 64 bits."""


def mixed(z: int) -> int:
    """The finaliser of SplitMix64: a permutation of the words; every bit affects all bits."""
    z = ((z ^ (z >> 30)) * FIRST) & MASK
    z = ((z ^ (z >> 27)) * SECOND) & MASK
    return z ^ (z >> 31)


def absorbed(state: int, word: int) -> int:
    """A state with one more word of a key in it; the order of the words counts."""
    return mixed(((state ^ word) + GOLDEN) & MASK)


def nth(stream: int, number: int) -> int:
    """Output ``number``, from 0, of the SplitMix64 with this state."""
    return mixed((stream + number * GOLDEN + GOLDEN) & MASK)


def signed(word: int) -> int:
    """A word in two's complement, as arrays of ``int64`` hold it."""
    return word - (1 << 64) if word >> 63 else word


def spelt(state: int, byte: int) -> int:
    """A state of FNV-1a with one more byte of a text in it."""
    return ((state ^ byte) * _PRIME) & MASK


# ---- keys -----------------------------------------------------------------------------------


def word(value: Json) -> int:
    """A value of a key in 64 bits: texts by FNV-1a, numbers by value, so that 1 is 1.0."""
    if value is None:
        return 0
    if isinstance(value, float) and not value.is_integer():
        return int.from_bytes(struct.pack(">d", value), "big")
    if isinstance(value, (int, float)):
        return int(value) & MASK
    return mixed(begun(str(value)))


def begun(text: str) -> int:
    """The state of FNV-1a after a text."""
    state = _BASIS
    for byte in text.encode():
        state = spelt(state, byte)
    return state


@lru_cache(maxsize=1 << 14)
def key(rule: str, args: tuple[Json, ...]) -> int:
    """The key of a rule, as in `law wander`, with its arguments in exchange form."""
    state = word(rule)
    for value in args:
        state = absorbed(state, word(value))
    return state


@lru_cache(maxsize=1 << 10)
def moment(seed: int, tick: int) -> int:
    """The lower 64 bits of a seed, and a tick."""
    return absorbed(mixed(seed & MASK), tick)


def draw(seed: int, tick: int, rule: str, args: Sequence[Json], number: int) -> int:
    """Draw ``number``, from 0, of a rule with its arguments in a tick."""
    return nth(absorbed(moment(seed, tick), key(rule, tuple(args))), number)


# ---- compiled -------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def compiled() -> dict[str, Any]:
    """`absorbed`, `nth`, `moment`, `spelt` and `mixed` by numba (extra `fast`), on ``int64``: words
    in two's complement, as slots hold them."""
    import numba
    import numpy as np

    if numba.config.DISABLE_JIT:  # for readers of compiled text
        return {
            "absorbed": lambda s, w: signed(absorbed(int(s) & MASK, int(w) & MASK)),
            "nth": lambda s, k: signed(nth(int(s) & MASK, int(k))),
            "moment": lambda s, t: signed(moment(int(s), int(t))),
            "spelt": lambda s, b: signed(spelt(int(s) & MASK, int(b))),
            "mixed": lambda s: signed(mixed(int(s) & MASK)),
        }
    njit: Any = numba.njit
    space = dict(globals())
    for name, count in (("mixed", 1), ("absorbed", 2), ("nth", 2), ("spelt", 2)):
        moved = FunctionType(globals()[name].__code__, space, name)
        space[name] = njit(numba.uint64(*[numba.uint64] * count), _nrt=False)(moved)
    u64, i64, words = np.uint64, np.int64, numba.int64(numba.int64, numba.int64)
    alone = numba.int64(numba.int64)
    mix, absorb, output, spell = (space[one] for one in ("mixed", "absorbed", "nth", "spelt"))
    return {
        "absorbed": njit(words, _nrt=False)(lambda s, w: i64(absorb(u64(s), u64(w)))),
        "nth": njit(words, _nrt=False)(lambda s, k: i64(output(u64(s), u64(k)))),
        "moment": njit(words, _nrt=False)(lambda s, t: i64(absorb(mix(u64(s)), u64(t)))),
        "spelt": njit(words, _nrt=False)(lambda s, b: i64(spell(u64(s), u64(b)))),
        "mixed": njit(alone, _nrt=False)(lambda s: i64(mix(u64(s)))),
    }
