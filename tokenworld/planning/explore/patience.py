"""How long it is worth to work on packing a world, counted in steps.

Counts and no time, so that a world is packed on every machine or on none.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

__all__ = ["Late", "patience"]

Late = Callable[[], bool]
"""Asked after every so many steps whether it is enough."""
_MOST_LOOKS, _MOST_TERMS = 12, 100
"""So often the diagrams and the analysis of values may ask."""
_LOOK = 5_000
"""So many edges take the interpreter longer than the steps between two looks, so that what comes to
nothing does not cost more than it might have saved."""


def patience(edges: int | None) -> tuple[Late, Late]:
    """For the diagrams and for the analysis of values. ``edges`` is how many there are to explore
    at most: to pack takes no longer than to let the interpreter do it."""
    most = None if edges is None else 1 + edges // _LOOK
    return _enough(_MOST_LOOKS, most), _enough(_MOST_TERMS, most)


def _enough(most: int, fewer: int | None) -> Late:
    """Says no so many times, and then yes."""
    looks, last = count(1), most if fewer is None else min(most, fewer)
    return lambda: next(looks) > last
