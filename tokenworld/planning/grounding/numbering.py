"""The facts of a task by number: which value of which variable each of them is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from tokenworld.ground import Raw
from tokenworld.planning.grounding.groups import Fact

__all__ = ["GroundOperator", "Numbered", "Pair", "numbered", "variable_of"]

Pair = tuple[int, int]
"""A variable and the place of one of its values."""
GroundOperator = tuple[
    str, tuple[Raw, ...], tuple[Pair, ...], tuple[Pair, ...], tuple[Pair, ...], tuple[Pair, ...],
    int,
]  # fmt: skip
"""An action and its arguments; the values that variables must have, and must not; those that they
get; those that they lose, if they have them; what it costs."""
variable_of = itemgetter(0)
"""The variable of a pair."""


@dataclass(frozen=True)
class Numbered:
    """The facts of one relation that are values of variables. ``complete``: all that may come to
    hold are."""

    pairs: dict[tuple[Raw, ...], Pair]
    complete: bool

    @cached_property
    def place(self) -> int | None:
        """The argument that alone tells the variable, if there is one."""
        size = len(next(iter(self.pairs), ()))
        return next((one for one in range(size) if self._by(one) is not None), None)

    @cached_property
    def by(self) -> dict[Raw, int]:
        """The variable by that argument."""
        found = None if self.place is None else self._by(self.place)
        assert found is not None
        return found

    @cached_property
    def alone(self) -> int | None:
        """The one variable of all these facts, if there is one."""
        numbers = set(map(variable_of, self.pairs.values()))
        return numbers.pop() if len(numbers) == 1 else None

    def _by(self, place: int) -> dict[Raw, int] | None:
        found: dict[Raw, int] = {}
        for args, (number, _) in self.pairs.items():
            if found.setdefault(args[place], number) != number:
                return None
        return found


def numbered(
    variables: Sequence[tuple[Fact, ...]],
    relations: Iterable[str],
    known: Mapping[str, Mapping[tuple[Raw, ...], None]],
) -> dict[str, Numbered]:
    """The facts of variables by relation; ``known`` are those that may come to hold."""
    pairs: dict[str, dict[tuple[Raw, ...], Pair]] = {name: {} for name in relations}
    for number, group in enumerate(variables):
        for place, (name, args) in enumerate(group):
            pairs[name][args] = number, place
    return {name: Numbered(one, len(one) == len(known[name])) for name, one in pairs.items()}
