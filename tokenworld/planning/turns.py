"""When our own search lets others try, and whose turn it is: counts of states tell it, not time.

Of a world that cannot be packed the interpreter sees few states in a second: there others are asked
soon. A packed one is worth seeing to its end where that is near. Breadth first, the share of the
states seen that still wait tells it, for it falls as the layers shrink. In the worlds of `domains/`
whose space ends below 200,000 states it is at most 0.40 at 10,000 and 0.37 at 20,000 states; in
those whose space is larger it stays above 0.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

__all__ = ["Looking", "is_left_to_others", "stages", "turn_states"]

_TRIED = 300
"""After so many states packing was tried. Where it would have taken too long, that is enough."""
_UNPACKED = 600
"""States of a first search that goes on the interpreter."""
_GROWS = {10_000: 0.5, 20_000: 0.4}
"""After so many states, the share that may wait where the first search is to go on."""
_TURN_STATES = 2_000
_TURN_PACKED = 100 * _TURN_STATES
_LONGEST = 30


class Looking(Protocol):
    """What a search tells of itself (`own.OwnRung`)."""

    @property
    def is_heavy(self) -> bool: ...

    @property
    def is_packed(self) -> bool: ...

    @property
    def states(self) -> int: ...

    @property
    def waiting(self) -> float: ...


def stages(most: int, *, patient: bool) -> Iterator[int]:
    """The counts of states after which a first search is looked at, the last being ``most``.

    ``patient``: there is nobody else to ask.
    """
    if not patient:
        yield from (one for one in (_TRIED, _UNPACKED, *_GROWS) if one < most)
    yield most


def is_left_to_others(search: Looking, stage: int) -> bool:
    """Whether a search that has come to a stage without an answer is to be cut short."""
    if stage == _TRIED:
        return search.is_heavy
    if stage == _UNPACKED:
        return not search.is_packed
    return stage in _GROWS and search.waiting > _GROWS[stage]


def turn_states(search: Looking, number: int) -> int:
    """Up to how many states the turn with this number lasts, each twice as long as the one before.

    Packed states are some hundred times as cheap, and so they are as many times more.
    """
    first = _TURN_PACKED if search.is_packed else _TURN_STATES
    return search.states + (first << min(number, _LONGEST))
