"""Kernels: draws, bit for bit those of `tokenworld.engine.luck` (language.md §13).

A draw is the BLAKE2b of the canonical JSON of its key. The key is written byte by byte from a pool
of texts; its 64 bits are kept in two halves, so that all arithmetic stays within 64-bit integers.
"""

from __future__ import annotations

import math

from tokenworld.engine.rollout.places import (
    KEY,
    KEY_SIZE,
    PLAYER_ACTION,
    PLAYER_ARGUMENTS,
    PLAYER_TITLE,
    SEED,
    TEXT_AT,
    TEXT_END,
    TEXTS,
    TICK,
)
from tokenworld.engine.rollout.reading import Row, fail
from tokenworld.engine.rollout.scratch import DRAWS, ERROR, ESCAPE, KEY_LENGTH, U_HIGH, U_LOW

HALF = 1 << 32
MOST_WEIGHT = 1 << 30


def digest(X: Row, start: int, length: int) -> None:
    """The 8-byte BLAKE2b of bytes of the scratch array, to `U_HIGH` and `U_LOW` (by `link`)."""
    raise NotImplementedError


# ---- writing a key --------------------------------------------------------------------------


def key_text(X: Row, text: int) -> None:
    """A text of the pool."""
    start, length = X[KEY_LENGTH], TEXT_END[text] - TEXT_AT[text]
    if start + length + 24 > KEY_SIZE:
        fail(X, ESCAPE)
        return
    for i in range(length):
        X[KEY + start + i] = TEXTS[TEXT_AT[text] + i]
    X[KEY_LENGTH] = start + length


def key_byte(X: Row, byte: int) -> None:
    X[KEY + X[KEY_LENGTH]] = byte
    X[KEY_LENGTH] += 1


def key_number(X: Row, value: int) -> None:
    """A whole number in decimal digits."""
    if value < 0:
        key_byte(X, 45)
        value = -value
    unit = 1
    while value // unit >= 10:
        unit *= 10
    while unit > 0:
        key_byte(X, 48 + value // unit % 10)
        unit //= 10


def key_closed(X: Row) -> None:
    """A rule begins that may draw: its draws are numbered from 0, its key is not written yet."""
    X[KEY_LENGTH] = 0
    X[DRAWS] = 0


def key_open(S: Row, X: Row, title: int) -> None:
    """Begin the key of a rule: seed, tick and title."""
    key_begin(X, S[SEED], S[TICK], title)


def key_begin(X: Row, seed: int, tick: int, title: int) -> None:
    X[KEY_LENGTH] = 0
    key_byte(X, 91)
    key_number(X, seed)
    key_byte(X, 44)
    key_number(X, tick)
    key_byte(X, 44)
    key_text(X, title)
    key_byte(X, 44)
    key_byte(X, 91)


def drawn(X: Row) -> None:
    """The next draw of the rule whose key is open."""
    length = X[KEY_LENGTH]
    key_byte(X, 93)
    key_byte(X, 44)
    key_number(X, X[DRAWS])
    key_byte(X, 93)
    digest(X, KEY, X[KEY_LENGTH])
    X[KEY_LENGTH] = length
    X[DRAWS] += 1


# ---- deciding -------------------------------------------------------------------------------


def below(X: Row, part: int, whole: int) -> bool:
    """Whether the draw is less than ``part / whole`` of the span, rounded down."""
    if part >= whole:
        return True
    high = part * HALF // whole
    rest = part * HALF % whole
    low = rest * HALF // whole
    return bool(X[U_HIGH] < high or (X[U_HIGH] == high and X[U_LOW] < low))


def scaled(X: Row, size: int) -> int:
    """The draw as one of ``size`` equal parts."""
    return (X[U_HIGH] * size + (X[U_LOW] * size) // HALF) // HALF  # type: ignore[no-any-return]


def chance(X: Row, share: int, whole: int) -> int:
    """Whether an exact probability comes true; what is certain needs no draw."""
    if share < 0 or share > whole:
        return fail(X, ERROR)
    if share == 0 or share == whole:
        X[DRAWS] += 1
        return 1 if share == whole else 0
    drawn(X)
    return 1 if below(X, share, whole) else 0


def real_chance(X: Row, share: float) -> int:
    """The same of a double."""
    if not (0.0 <= share <= 1.0):
        return fail(X, ERROR)
    drawn(X)
    high = math.floor(share * 4294967296.0)
    low = math.floor((share * 4294967296.0 - high) * 4294967296.0)
    return 1 if X[U_HIGH] < high or (X[U_HIGH] == high and X[U_LOW] < low) else 0


def branches(X: Row, whole: int, total: int) -> None:
    """Draw for several branches whose shares add up to ``total`` of ``whole``."""
    if total > whole:
        fail(X, ERROR)
    drawn(X)


def uniform(X: Row, low: float, high: float) -> float:
    drawn(X)
    share = (X[U_HIGH] * 2097152 + X[U_LOW] // 2048) / 9007199254740992.0
    return low + (high - low) * share  # type: ignore[no-any-return]


def lot(X: Row, total: int) -> None:
    """Draw for a choice by weight."""
    if total >= MOST_WEIGHT:
        fail(X, ESCAPE)
    drawn(X)


# ---- the random player ----------------------------------------------------------------------


def player_draw(X: Row, seed: int, turn: int, arguments: bool, size: int) -> int:
    """What the random player chooses among ``size``; one of one needs no draw."""
    if size == 1:
        return 0
    key_closed(X)
    key_begin(X, seed, turn, PLAYER_TITLE)
    key_text(X, PLAYER_ARGUMENTS if arguments else PLAYER_ACTION)
    drawn(X)
    return scaled(X, size)
