"""What matters for a goal: the variables on which it rests, and the operators that change them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from tokenworld.planning.grounding.numbering import GroundOperator, Numbered, Pair, variable_of

__all__ = ["Kept", "Listed", "Touched", "relevant"]

Touched = tuple[tuple[int, ...], tuple[int, ...]]
"""The variables of which an operator asks, and those that it changes."""


@dataclass(frozen=True)
class Kept:
    """The variables that are left, by old number, with their new ones; ``facts`` are all facts."""

    new: Mapping[int, int]
    facts: Mapping[str, Numbered]

    def changes(self, touched: Touched) -> bool:
        """Whether an operator changes something that is left."""
        return not self.new.keys().isdisjoint(touched[1])

    def pairs(self, every: Iterable[Pair]) -> tuple[Pair, ...]:
        """Values by their new variables: nothing is asked of the others."""
        new = self.new
        return tuple([(new[number], value) for number, value in every if number in new])

    @cached_property
    def numbers(self) -> dict[str, Numbered]:
        """The facts of what is left."""
        new = self.new
        return {
            name: replace(
                one,
                pairs={
                    args: (new[number], value)
                    for args, (number, value) in one.pairs.items()
                    if number in new
                },
            )
            for name, one in self.facts.items()
        }


class Listed:
    """The operators of an action that were made one by one."""

    def __init__(self, operators: list[GroundOperator]) -> None:
        self._operators = operators

    def touched(self) -> Iterable[Touched]:
        """The variables of which operators speak, each such list once."""
        return dict.fromkeys(map(_touched, self._operators))

    def operators(self, kept: Kept | None) -> list[GroundOperator]:
        """The operators; of a smaller task those that change what is ``kept``."""
        if kept is None:
            return self._operators
        pairs = kept.pairs
        return [
            (name, args, pairs(held), pairs(lacked), pairs(made), pairs(gone), price)
            for name, args, held, lacked, made, gone, price in self._operators
            if any(number in kept.new for number, _ in (*made, *gone))
        ]


def _touched(one: GroundOperator) -> Touched:
    asked = tuple(map(variable_of, (*one[2], *one[3])))
    return asked, tuple(map(variable_of, (*one[4], *one[5])))


def relevant(goal: Iterable[int], touched: Iterable[Touched]) -> set[int]:
    """The variables on which a goal rests: its own, and those of which operators ask that change
    one that counts."""
    every = list(dict.fromkeys(touched))
    changing: dict[int, list[int]] = {}
    for place, (_, changed) in enumerate(every):
        for number in changed:
            changing.setdefault(number, []).append(place)
    waiting = list(dict.fromkeys(goal))
    seen = set(waiting)
    while waiting:
        for place in changing.get(waiting.pop(), ()):
            new = [number for number in every[place][0] if number not in seen]
            seen.update(new)
            waiting += dict.fromkeys(new)
    return seen
