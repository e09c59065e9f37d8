"""Kernels of `reading` in the form that plain Python plays fastest.

They come to the same as those of the same names, which numba compiles: there whole slices would
have to be made anew, here they are cheaper than a loop.
"""

from __future__ import annotations

from tokenworld.engine.rollout.places import MEMO, MEMO_SIZE
from tokenworld.engine.rollout.reading import Row

__all__ = ["stale"]


def stale(X: Row) -> None:
    """Tables of recursive derives belong to a state that is no more."""
    X[MEMO : MEMO + MEMO_SIZE] = [-1] * MEMO_SIZE
