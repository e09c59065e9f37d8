"""Kernels of `drawing` and `reading` in the form that plain Python plays fastest.

They come to the same as those of the same names, which numba compiles: there whole slices and
texts would have to be made anew, here they are cheaper than a loop.
"""

from __future__ import annotations

from hashlib import blake2b

from tokenworld.engine.rollout.places import (
    KEY,
    KEY_SIZE,
    MEMO,
    MEMO_SIZE,
    TEXT_AT,
    TEXT_END,
    TEXTS,
)
from tokenworld.engine.rollout.reading import Row, fail
from tokenworld.engine.rollout.scratch import ESCAPE, KEY_LENGTH

__all__ = ["key_number", "key_text", "player_draw", "stale"]


def key_text(X: Row, text: int) -> None:
    """A text of the pool."""
    begin, end = TEXT_AT[text], TEXT_END[text]
    start = X[KEY_LENGTH]
    if start + end - begin + 24 > KEY_SIZE:
        fail(X, ESCAPE)
        return
    X[KEY + start : KEY + start + end - begin] = TEXTS[begin:end]
    X[KEY_LENGTH] = start + end - begin


def key_number(X: Row, value: int) -> None:
    """A whole number in decimal digits."""
    digits = b"%d" % value
    start = X[KEY_LENGTH]
    X[KEY + start : KEY + start + len(digits)] = digits
    X[KEY_LENGTH] = start + len(digits)


def stale(X: Row) -> None:
    """Tables of recursive derives belong to a state that is no more."""
    X[MEMO : MEMO + MEMO_SIZE] = [-1] * MEMO_SIZE


def player_draw(X: Row, seed: int, turn: int, arguments: bool, size: int) -> int:
    """What the random player chooses among ``size``; one of one needs no draw."""
    if size == 1:
        return 0
    word = "arguments" if arguments else "action"
    text = f'[{seed},{turn},"player random",["{word}"],0]'.encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") * size >> 64
