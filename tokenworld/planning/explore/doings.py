"""Operators made into what can be done in a packed state."""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.planning.encodings.ir import Effect, Literal, Operator
from tokenworld.planning.explore.bits import Packing, Step
from tokenworld.planning.explore.packed import Doing
from tokenworld.planning.explore.rows import Row, Rows, grouped
from tokenworld.planning.explore.tails import Follow
from tokenworld.planning.explore.trees import Chooser, chooser

__all__ = ["Doings"]


class Doings:
    """Makes operators into what can be done."""

    def __init__(
        self, packing: Packing, token: int, follow: Follow | None, buried: Follow | None
    ) -> None:
        self._packing, self._token = packing, token
        self._free, self._follow = buried, follow
        if buried is not None:
            clear, on = buried, follow
            self._follow = clear if on is None else lambda state: clear(on(state))

    def chooser(self, operators: Sequence[tuple[int, Operator]]) -> Chooser[Doing]:
        """What lists those of these that can be done in a state."""
        return chooser(
            self._packing,
            [self._literals(one) for _, one in operators],
            [self._doing(number, one) for number, one in operators],
        )

    def is_free(self, operator: Operator) -> bool:
        """Whether it takes no time: the token stays where it is."""
        return all(effect.variable != self._token for effect in operator.effects)

    def _literals(self, operator: Operator) -> list[Literal]:
        return [one for one in operator.precondition if one[0] != self._token]

    def _doing(self, number: int, operator: Operator) -> Doing:
        packing = self._packing
        here = [one for one in operator.effects if one.variable != self._token]
        keep, put = packing.change(one for one in here if not one.conditions)
        fixed = {one: places[0] for one, places in operator.precondition if len(places) == 1}
        fixed.pop(self._token, None)
        rows = self._rows([one for one in here if one.conditions], fixed)
        for variables, _ in rows:
            keep &= ~sum(packing.masks[one] for one in variables)
        follow = self._free if self.is_free(operator) or number < 0 else self._follow
        return number, keep, put, tuple(row for _, row in rows), follow

    def _rows(
        self, effects: Sequence[Effect], fixed: dict[int, int]
    ) -> list[tuple[frozenset[int], Row]]:
        """The tables of conditional effects; ``fixed`` is known of where the operator applies."""
        packing = self._packing
        supports: dict[int, set[int]] = {}
        for effect in effects:
            looked = supports.setdefault(effect.variable, {effect.variable})
            looked |= {variable for variable, _ in effect.conditions}
        known = {one: frozenset(looked - fixed.keys()) for one, looked in supports.items()}
        found = []
        for variables, part in grouped(packing, known):
            mine = [one for one in effects if one.variable in variables]
            fill = sum(packing.bits(one, place) for one, place in fixed.items())
            written = sum(packing.masks[one] for one in variables)
            step = packing.step(Operator("", (), tuple(mine)))
            rows = Rows(_part(step, fill, written))
            found.append((variables, (sum(packing.masks[one] for one in part), rows)))
        return found


def _part(step: Step, fill: int, written: int) -> Follow:
    return lambda part: step.after(part | fill) & written
