"""Applicability tests as arrays for `kernel`: a decision tree, and blocks of bit masks.

At most 64 operators form a block. A few bits of a state index a table of words with one bit per
operator; the operators whose bits survive all look-ups are applicable, found without a branch.
Where there are many operators, the tree first tests the variables that tell most of them apart.
(Fast Downward's successor generators are such trees with single operators as leaves.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tokenworld.planning.encodings.ir import Literal
from tokenworld.planning.search.packed.bits import Packing

BLOCK = 64
"""Operators of one block at most: the bits of a word."""
_FEW = 2 * BLOCK
"""So many operators or fewer get no test of a variable before their blocks."""
_BITS = 8
"""Bits of a state that one look-up uses; more only where a variable has more."""
_WORD = 64
_Wanted = tuple[Literal, ...]
_Item = tuple[_Wanted, int]


def applicability_masks(
    packing: Packing, preconditions: Sequence[Sequence[Literal]]
) -> tuple[Any, ...]:
    """The arrays of these preconditions.

    ``code``: at each node its first block, the one after its last, and how many variables follow
    with the places in ``tree`` where nodes stand by their values (0: none). ``blocks``: the first
    look of each block and the one after its last. ``looks``: word, shift, mask and the place in
    ``masks`` where their words stand. ``listed``: the operators of the blocks, 64 places for each.
    """
    import numpy as np

    found = _Masks(packing)
    possible = [  # what no value fulfils is left out
        (found.wanted(literals), number)
        for number, literals in enumerate(preconditions)
        if all(positions for _, positions in literals)
    ]
    found.node(possible)
    return (
        np.array(found.code, np.int32),
        np.array(found.tree, np.int32),
        np.array(found.blocks, np.int32).reshape(-1, 2),
        np.array(found.looks, np.uint64).reshape(-1, 4),
        np.concatenate([np.zeros(1, np.uint64), *found.masks]),
        np.array(found.listed, np.uint32),
    )


class _Masks:
    def __init__(self, packing: Packing) -> None:
        self._packing, self._size = packing, 1
        self.code, self.tree, self.listed = [0], [0], list[int]()
        self.blocks, self.looks = list[tuple[int, int]](), list[tuple[int, int, int, int]]()
        self.masks: list[Any] = []

    def wanted(self, literals: Sequence[Literal]) -> _Wanted:
        """The literals that some value of their variables does not fulfil."""
        sizes = self._packing.sizes
        return tuple(one for one in literals if len(one[1]) < sizes[one[0]])

    # ---- the tree ---------------------------------------------------------------------------

    def node(self, items: list[_Item]) -> int:
        """Build a node and all below it; its place in ``code``."""
        switches: list[tuple[int, list[_Item]]] = []
        while len(items) > _FEW:
            best, gain = self._telling(items)
            if gain < BLOCK:
                break
            switches.append((best, [i for i in items if any(v == best for v, _ in i[0])]))
            items = [i for i in items if all(v != best for v, _ in i[0])]
        at, first = len(self.code), len(self.blocks)
        for start in range(0, len(items), BLOCK):
            self._block(items[start : start + BLOCK])
        self.code += [first, len(self.blocks), len(switches), *([0] * (2 * len(switches)))]
        for place, (variable, found) in enumerate(switches):
            self.code[at + 3 + 2 * place] = variable
            self.code[at + 4 + 2 * place] = self._switch(variable, found)
        return at

    def _telling(self, items: list[_Item]) -> tuple[int, float]:
        """The variable that rules out most operators, and how many on the average."""
        ruled: dict[int, float] = {}
        for wanted, _ in items:
            for variable, positions in wanted:
                share = 1 - len(positions) / self._packing.sizes[variable]
                ruled[variable] = ruled.get(variable, 0) + share
        best = max(ruled, key=lambda one: (ruled[one], -one), default=0)
        return best, ruled.get(best, 0)

    def _switch(self, variable: int, items: list[_Item]) -> int:
        """A table of nodes by the value of a variable."""
        at, size = len(self.tree), self._packing.sizes[variable]
        kept: list[list[_Item]] = [[] for _ in range(size)]
        self.tree += [0] * size
        for wanted, number in items:
            rest = tuple(one for one in wanted if one[0] != variable)
            for value in dict(wanted)[variable]:
                kept[value].append((rest, number))
        made: dict[tuple[int, ...], int] = {(): 0}
        for value, found in enumerate(kept):
            key = tuple(number for _, number in found)
            if key not in made:
                made[key] = self.node(found)
            self.tree[at + value] = made[key]
        return at

    # ---- blocks -----------------------------------------------------------------------------

    def _block(self, items: list[_Item]) -> None:
        """A block of operators with its looks, at least one."""
        first = len(self.looks)
        asked = sorted({variable for wanted, _ in items for variable, _ in wanted})
        allowed = {one: self._allowed(one, items) for one in asked}
        for group in self._groups(asked):
            self._look(group, allowed)
        if not asked:
            self._add((0, 0, 0), [(1 << len(items)) - 1])
        self.blocks.append((first, len(self.looks)))
        self.listed += [number for _, number in items] + [0] * (BLOCK - len(items))

    def _allowed(self, variable: int, items: list[_Item]) -> list[int]:
        """For each value of a variable, which operators it does not rule out: a bit for each."""
        every = (1 << len(items)) - 1
        found = [0] * self._packing.sizes[variable]
        for place, (wanted, _) in enumerate(items):
            positions = dict(wanted).get(variable)
            if positions is not None:
                every &= ~(1 << place)
                for one in positions:
                    found[one] |= 1 << place
        return [one | every for one in found]

    def _groups(self, variables: list[int]) -> Iterator[list[int]]:
        """Variables that are looked at together: they lie in a few bits of one word."""
        group = list[int]()
        for variable in variables:
            if group and self._window([*group, variable])[2] > 1 << _BITS:
                yield group
                group = []
            group.append(variable)
        if group:
            yield group

    def _window(self, group: list[int]) -> tuple[int, int, int]:
        """The first and the last word in which variables lie, and how many values their bits have
        that lie between (too many for two words)."""
        shifts, masks = self._packing.shifts, self._packing.masks
        low = min(shifts[one] for one in group)
        high = max(low, *(masks[one].bit_length() for one in group))
        return low, high, 1 << (high - low if low // _WORD == (high - 1) // _WORD else _WORD)

    def _look(self, group: list[int], allowed: dict[int, list[int]]) -> None:
        """The words of all values of some variables."""
        import numpy as np

        low, _, size = self._window(group)
        value = np.arange(size, dtype=np.int64)
        found: Any = np.full(size, (1 << _WORD) - 1, np.uint64)
        for one in group:
            shift, mask = self._packing.shifts[one] - low, self._packing.masks[one]
            words = np.zeros((mask >> self._packing.shifts[one]) + 1, np.uint64)
            words[: len(allowed[one])] = np.array(allowed[one], np.uint64)
            found &= words[value >> shift & mask >> self._packing.shifts[one]]
        self._add((low // _WORD, low % _WORD, size - 1), found)

    def _add(self, where: tuple[int, int, int], words: Any) -> None:
        import numpy as np

        self.looks.append((*where, self._size))
        self.masks.append(np.array(words, np.uint64))
        self._size += len(words)
