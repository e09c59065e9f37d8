"""Which operators can be applied in a state: a decision tree, generated as Python.

The test that tells most operators apart comes first. A variable of many values is one look into a
table; what a state rules out is never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
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
        if all(positions for _, positions in literals)  # else nothing fulfils it
    ]
    lines = ["def choose(s):", " r = []"]
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
            lines.append(f"{pad}r.append({self.name('p', ready[0])})")
        elif ready:
            lines.append(f"{pad}r += {self.name('p', ready)}")
        items = [item for item in items if item[0]]
        while items:
            mask = _best(items)
            here = [item for item in items if any(one == mask for one, _ in item[0])]
            items = [item for item in items if all(one != mask for one, _ in item[0])]
            self._split(mask, here, lines, depth)

    def _split(self, mask: int, items: list[_Item], lines: list[str], depth: int) -> None:
        """One test; ``items`` all ask for the bits of ``mask``. What all of them ask for alike is
        tested first, and at once."""
        pad = " " * depth
        alike = frozenset(items[0][0]).intersection(*(wanted for wanted, _ in items[1:]))
        if alike:
            lines.append(f"{pad}if {self._tests(alike)}:")
            rest = [(tuple(p for p in wanted if p not in alike), n) for wanted, n in items]
            self._nested(rest, lines, depth + 1)
            return
        table: dict[int, list[_Item]] = {}
        for wanted, number in items:
            bits = next(bits for one, bits in wanted if one == mask)
            rest_of = tuple(pair for pair in wanted if pair[0] != mask)
            for value in bits:
                table.setdefault(value, []).append((rest_of, number))
        self._lists(mask, table, lines, pad)
        nested = {value: found for value, found in sorted(table.items()) if found}
        if len(nested) <= _FEW:
            for word, (value, found) in zip(("if", "elif", "elif"), nested.items(), strict=False):
                lines.append(f"{pad}{word} {self._test(mask, frozenset((value,)))}:")
                self._nested(found, lines, depth + 1)
        else:
            self._table(mask, nested, lines, pad)

    def _lists(self, mask: int, table: dict[int, list[_Item]], lines: list[str], pad: str) -> None:
        """A look into a table of what needs no more tests, if that is so of several values."""
        lists = {
            value: tuple(self._payloads[number] for wanted, number in found if not wanted)
            for value, found in table.items()
        }
        full = {value: payloads for value, payloads in lists.items() if payloads}
        if len(full) < 2:
            return
        lines.append(f"{pad}r += {self.name('t', full.get)}(s & {mask}, E)")
        for value, found in table.items():
            table[value] = [item for item in found if item[0]]

    def _table(self, mask: int, table: dict[int, list[_Item]], lines: list[str], pad: str) -> None:
        """A look into a table of functions."""
        names = {value: self._function(found) for value, found in table.items()}
        entries = ", ".join(f"{value}: {name}" for value, name in names.items())
        held = f"t{len(self.functions)}_{mask}"
        self.functions.append(f"{held} = {{{entries}}}.get")
        lines.append(f"{pad}f = {held}(s & {mask})")
        lines.append(f"{pad}if f:")
        lines.append(f"{pad} f(s, r)")

    def _nested(self, items: list[_Item], lines: list[str], depth: int) -> None:
        if depth < _DEEPEST:
            self.emit(items, lines, depth)
        else:
            lines.append(f"{' ' * depth}{self._function(items)}(s, r)")

    def _function(self, items: list[_Item]) -> str:
        """The name of a function that lists what holds of ``items``."""
        key = tuple(items)
        if key not in self._made:
            lines = [f"def g{len(self._made)}(s, r):"]
            self._made[key] = f"g{len(self._made)}"
            self.emit(items, lines, 1)
            self.functions.append("\n".join(lines))
        return self._made[key]

    def _tests(self, wanted: Iterable[tuple[int, frozenset[int]]]) -> str:
        """Several tests: those of one value as one."""
        care = want = 0
        tests = list[str]()
        for mask, values in sorted(wanted, key=itemgetter(0)):
            if len(values) > 1:
                tests.append(self._test(mask, values))
            else:
                care, want = care | mask, want | next(iter(values))
        if care:
            tests.insert(0, self._test(care, frozenset((want,))))
        return " and ".join(tests)

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
