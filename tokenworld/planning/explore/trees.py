"""Which operators can be applied in a state: a decision tree, generated as Python.

The test that tells most operators apart comes first. A variable of many values is one look into a
table; what a state rules out is never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from tokenworld.planning.encodings.ir import Literal
from tokenworld.planning.explore.bits import Packing

__all__ = ["Chooser", "chooser"]

Payload = TypeVar("Payload")
Chooser = Callable[[int], list[Payload]]
"""What can be done in a state, in no particular order."""
_Wanted = tuple[tuple[int, frozenset[int]], ...]
"""Masks with the bits that may stand there, all of which must still be tested."""
_DEEPEST = 12
"""Tests nested more deeply go into a function of their own."""
_FEW = 3
"""So many values are told apart by comparisons; more by a table."""


def chooser(
    packing: Packing, preconditions: Sequence[Sequence[Literal]], payloads: Sequence[Payload]
) -> Chooser[Payload]:
    """The function that lists the payloads whose preconditions hold in a state."""
    tree = _Tree(payloads)
    items = [
        (tuple(_wanted(packing, one) for one in literals if packing.masks[one[0]]), number)
        for number, literals in enumerate(preconditions)
    ]
    lines = ["def choose(s):", " r = []", " a = r.append", " x = r.extend"]
    tree.emit(items, lines, 1)
    lines.append(" return r")
    tree.functions.append("\n".join(lines))
    exec(compile("\n".join(tree.functions), "<token world tree>", "exec"), tree.space)
    found: Chooser[Payload] = tree.space["choose"]
    return found


def _wanted(packing: Packing, literal: Literal) -> tuple[int, frozenset[int]]:
    variable, positions = literal
    bits = frozenset(packing.bits(variable, one) for one in positions)
    return packing.masks[variable], bits


_Item = tuple[_Wanted, int]


class _Tree(Generic[Payload]):
    """The source of one tree and what its names stand for."""

    def __init__(self, payloads: Sequence[Payload]) -> None:
        self.functions: list[str] = []
        self.space: dict[str, Any] = {"E": ()}
        self._payloads = payloads
        self._made: dict[tuple[_Item, ...], str] = {}

    def name(self, letter: str, thing: object) -> str:
        """A name for a constant."""
        found = f"{letter}{len(self.space)}"
        self.space[found] = thing
        return found

    def emit(self, items: list[_Item], lines: list[str], depth: int) -> None:
        """The statements that list what holds of ``items``."""
        pad = " " * depth
        ready = tuple(self._payloads[number] for wanted, number in items if not wanted)
        if len(ready) == 1:
            lines.append(f"{pad}a({self.name('p', ready[0])})")
        elif ready:
            lines.append(f"{pad}x({self.name('p', ready)})")
        items = [item for item in items if item[0]]
        while items:
            mask = _best(items)
            here = [item for item in items if any(one == mask for one, _ in item[0])]
            items = [item for item in items if all(one != mask for one, _ in item[0])]
            self._split(mask, here, lines, depth)

    def _split(self, mask: int, items: list[_Item], lines: list[str], depth: int) -> None:
        """One test; ``items`` all ask for the bits of ``mask``."""
        pad = " " * depth
        by_set: dict[frozenset[int], list[_Item]] = {}
        for wanted, number in items:
            bits = next(bits for one, bits in wanted if one == mask)
            rest = tuple(pair for pair in wanted if pair[0] != mask)
            by_set.setdefault(bits, []).append((rest, number))
        values = frozenset[int]().union(*by_set)
        if len(by_set) == 1:
            lines.append(f"{pad}if {self._test(mask, values)}:")
            self._nested(next(iter(by_set.values())), lines, depth + 1)
            return
        table = {
            value: [item for bits, found in by_set.items() if value in bits for item in found]
            for value in sorted(values)
        }
        if len(table) <= _FEW:
            for word, (value, found) in zip(
                ("if", *("elif",) * len(table)), table.items(), strict=False
            ):
                lines.append(f"{pad}{word} {self._test(mask, frozenset((value,)))}:")
                self._nested(found, lines, depth + 1)
        else:
            self._table(mask, table, lines, pad)

    def _table(self, mask: int, table: dict[int, list[_Item]], lines: list[str], pad: str) -> None:
        """A look into a table: of lists where nothing is left to test, else of functions."""
        if all(not wanted for found in table.values() for wanted, _ in found):
            lists = {
                value: tuple(self._payloads[number] for _, number in found)
                for value, found in table.items()
            }
            lines.append(f"{pad}x({self.name('t', lists.get)}(s & {mask}, E))")
            return
        names = {value: self._function(found) for value, found in table.items()}
        entries = ", ".join(f"{value}: {name}" for value, name in names.items())
        held = f"t{len(self.functions)}_{mask}"
        self.functions.append(f"{held} = {{{entries}}}.get")
        lines.append(f"{pad}f = {held}(s & {mask})")
        lines.append(f"{pad}if f:")
        lines.append(f"{pad} f(s, a, x)")

    def _nested(self, items: list[_Item], lines: list[str], depth: int) -> None:
        if depth < _DEEPEST:
            self.emit(items, lines, depth)
        else:
            lines.append(f"{' ' * depth}{self._function(items)}(s, a, x)")

    def _function(self, items: list[_Item]) -> str:
        """The name of a function that lists what holds of ``items``."""
        key = tuple(items)
        if key not in self._made:
            lines = [f"def g{len(self._made)}(s, a, x):"]
            self._made[key] = f"g{len(self._made)}"
            self.emit(items, lines, 1)
            self.functions.append("\n".join(lines))
        return self._made[key]

    def _test(self, mask: int, values: frozenset[int]) -> str:
        if len(values) > 1:
            return f"s & {mask} in {self.name('v', values)}"
        (value,) = values
        if mask & (mask - 1) == 0:
            return f"s & {mask}" if value else f"not s & {mask}"
        return f"s & {mask} == {value}" if value else f"not s & {mask}"


def _best(items: list[_Item]) -> int:
    """The mask whose test saves most other tests."""
    asked: dict[int, int] = {}
    told: dict[int, set[frozenset[int]]] = {}
    for wanted, _ in items:
        for mask, bits in wanted:
            asked[mask] = asked.get(mask, 0) + 1
            told.setdefault(mask, set()).add(bits)
    return max(asked, key=lambda one: (asked[one] * len(told[one]) / (len(told[one]) + 1), -one))
