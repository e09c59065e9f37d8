"""Kernels: texts of draws put together word by word, for numba to compile.

A text is a row of `BLOCK` words from some place of `work` on: ``work[LINE]`` for one, and from
``work[GRID]`` on `LANES` texts, whose words lie `LANES` apart, to be hashed side by side.
"""

from __future__ import annotations

from typing import Any

from tokenworld.engine.rollout.blake import LANES

Row = Any
Words = Any

BLOCK = 16
AHEAD = LANES // 2
"""The random player's two draws for so many turns are hashed side by side."""
LINE, GRID = 0, BLOCK
SIZES = GRID + BLOCK * LANES
FOUND = SIZES + LANES
WORK_SIZE = FOUND + LANES


def hash_one(work: Words, at: int, length: int, to: int) -> None:
    """The digest of one text (bound by `tables`)."""
    raise NotImplementedError


def hash_many(work: Words, at: int, length: int, to: int) -> None:
    """The digests of `LANES` texts (bound by `tables`)."""
    raise NotImplementedError


def u64(value: int) -> Any:
    """A whole number as a word (bound by `tables`)."""
    raise NotImplementedError


def put_byte(work: Words, at: int, place: int, byte: int) -> int:
    """One byte of the text at words ``at``; where the next one goes."""
    work[at + (place >> 3)] |= u64(byte) << u64(8 * (place & 7))
    return place + 1


def put_number(work: Words, at: int, place: int, value: int) -> int:
    """A whole number in decimal digits."""
    if value < 0:
        place = put_byte(work, at, place, 45)
        value = -value
    unit = 1
    while value // unit >= 10:
        unit *= 10
    while unit > 0:
        place = put_byte(work, at, place, 48 + value // unit % 10)
        unit //= 10
    return place


def head(work: Words, at: int, seed: int, number: int) -> int:
    """The beginning of a key: ``[seed,number,``; its length."""
    for i in range(BLOCK):
        work[at + i] = u64(0)
    place = put_byte(work, at, 0, 91)
    place = put_number(work, at, place, seed)
    place = put_byte(work, at, place, 44)
    place = put_number(work, at, place, number)
    return put_byte(work, at, place, 44)


def append(
    work: Words, at: int, every: int, place: int, words: Words, first: int, size: int
) -> int:
    """The words of a key behind ``place`` bytes of a text whose words lie ``every`` apart."""
    spot, shift = at + every * (place >> 3), 8 * (place & 7)
    for i in range((size + 7) >> 3):
        word = words[first + i]
        work[spot] |= word << u64(shift)
        spot += every
        if shift > 0:
            work[spot] |= word >> u64(64 - shift)
    return place + size


def scaled_word(value: Any, size: int) -> int:
    """A draw as one of ``size`` equal parts."""
    high = (value >> u64(32)) * u64(size)
    low = ((value & u64(0xFFFFFFFF)) * u64(size)) >> u64(32)
    return as_int((high + low) >> u64(32))


def as_int(value: Any) -> int:
    """A word as a whole number (bound by `tables`)."""
    raise NotImplementedError


def draw_ahead(work: Words, words: Words, sizes: Row, seed: int, turn: int) -> None:
    """Both draws of the random player for `AHEAD` turns, to `FOUND`."""
    for i in range(BLOCK * LANES):
        work[GRID + i] = u64(0)
    for lane in range(AHEAD):
        place = head(work, LINE, seed, turn + lane)
        for kind in range(2):
            column = GRID + 2 * lane + kind
            for i in range((place + 7) >> 3):
                work[column + LANES * i] = work[LINE + i]
            size = append(work, column, LANES, place, words, BLOCK * kind, sizes[kind])
            work[SIZES + 2 * lane + kind] = u64(size)
    hash_many(work, GRID, SIZES, FOUND)
