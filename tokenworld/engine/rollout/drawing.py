"""Kernels: draws, bit for bit those of `tokenworld.ground.draws` (language.md §13).

A draw's 64 bits are kept in two halves, so that all arithmetic stays within 64-bit integers.
"""

from __future__ import annotations

import math

from tokenworld.engine.rollout.places import PLAYER_ACTION, PLAYER_ARGUMENTS, SEED, TICK, WORDS
from tokenworld.engine.rollout.reading import Row, fail
from tokenworld.engine.rollout.scratch import (
    DRAWS,
    ERROR,
    ESCAPE,
    KEY,
    KEYED,
    STREAM,
    U_HIGH,
    U_LOW,
)
from tokenworld.ground.draws import absorbed, moment, nth

HALF = 1 << 32
MOST_WEIGHT = 1 << 30

# ---- the key of a rule ----------------------------------------------------------------------


def key_closed(X: Row) -> None:
    """A rule begins that may draw: its draws are numbered from 0, its key is not made yet."""
    X[KEYED] = 0
    X[DRAWS] = 0


def key_open(X: Row, title: int) -> None:
    """Begin the key of a rule."""
    X[KEY] = WORDS[title]
    X[KEYED] = 1


def key_word(X: Row, text: int) -> None:
    """An argument of which the word stands in the table."""
    X[KEY] = absorbed(X[KEY], WORDS[text])


def key_number(X: Row, value: int) -> None:
    """An argument that is a whole number."""
    X[KEY] = absorbed(X[KEY], value)


def key_done(S: Row, X: Row) -> None:
    """The key is whole: with seed and tick it decides the draws."""
    X[STREAM] = absorbed(moment(S[SEED], S[TICK]), X[KEY])


def drawn(X: Row) -> None:
    """The next draw of the rule whose key is open."""
    halves(X, nth(X[STREAM], X[DRAWS]))
    X[DRAWS] += 1


def halves(X: Row, value: int) -> None:
    """Keep the 64 bits of a draw."""
    X[U_HIGH] = (value >> 32) & 0xFFFFFFFF
    X[U_LOW] = value & 0xFFFFFFFF


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
    key = PLAYER_ARGUMENTS if arguments else PLAYER_ACTION
    halves(X, nth(absorbed(moment(seed, turn), key), 0))
    return scaled(X, size)
