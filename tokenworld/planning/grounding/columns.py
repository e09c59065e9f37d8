"""The operators of one plain action, made of whole columns at once.

An atom of the action is one column: the value of a variable for each binding. Where no binding is
different from the others, an operator is a row of such columns, and there is nothing to decide for
each of them. `Loop` decides it for each, and is what this comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, compress, repeat
from operator import eq, not_
from typing import Any, cast

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.planning.grounding.bindings import Bindings
from tokenworld.planning.grounding.numbering import GroundOperator, Numbered, Pair
from tokenworld.planning.grounding.relevance import Kept, Touched
from tokenworld.planning.grounding.rules import Atom, Source, Var
from tokenworld.planning.grounding.telling import Telling, telling

__all__ = ["Columns", "Uneven"]

Numbers = Mapping[str, Numbered]
Every = Sequence[tuple[Raw, ...]]
"""Bindings of an action, in order."""


class Uneven(Exception):
    """Bindings differ in which of their facts count: each must be looked at."""


@frozen
class _Shape:
    """The atoms that count, each with what tells its variable."""

    held: list[Telling]
    lacked: list[Telling]
    made: list[Telling]
    gone: list[Telling]

    @property
    def asked(self) -> list[Telling]:
        return [*self.held, *self.lacked]

    @property
    def changed(self) -> list[Telling]:
        return [*self.made, *self.gone]


class Columns:
    """The operators of an action; raises `Uneven` where they are not of one shape.

    ``others`` makes those of bindings that are not of that shape: where they have none, they are
    left out. ``prices`` tells what each binding costs. A variable may stand for several facts if it
    is ``shared``.
    """

    def __init__(
        self,
        bindings: Bindings,
        numbers: Numbers,
        others: Callable[[Every], list[GroundOperator]],
        prices: Callable[[Source, Every], Sequence[int]],
        *,
        shared: bool,
    ) -> None:
        self._source, self._numbers, self._prices = bindings.source, numbers, prices
        self._bindings = bindings
        shape = self._counting()
        special = self._special(shape, shared)
        if special is not None:
            if others(list(compress(bindings.every, special))):
                raise Uneven
            regular = list(compress(bindings.every, map(not_, special)))
            self._bindings = Bindings(bindings.source, regular)
            shape = self._counting()
        self._shape = self._without_rewritten(shape)

    # ---- which atoms count --------------------------------------------------------------------

    def _counting(self) -> _Shape:
        """The atoms that stand for values of variables: not those of facts that never change."""
        source = self._source
        if not self._bindings.every:
            return _Shape([], [], [], [])
        atoms = [one for one in source.ways[0] if isinstance(one, Atom)]
        asked = [one for one in dict.fromkeys(atoms) if one.relation in self._numbers]
        held = [one for one in asked if not one.absent]
        gone = [one for one in dict.fromkeys(source.gone) if one not in source.always]
        return _Shape(
            self._told(held, held),
            self._told([one for one in asked if one.absent], ()),
            self._written(source.always, source.always),
            self._written(gone, held),
        )

    def _told(self, atoms: Iterable[Atom], sure: Sequence[Atom]) -> list[Telling]:
        """What tells these variables; those atoms may come to hold of which it is ``sure``."""
        numbers = self._numbers
        every = (
            telling(one, numbers[one.relation], self._bindings, sure=one in sure)
            for one in dict.fromkeys(atoms)
        )
        return [one for one in every if one.counts]

    def _written(self, atoms: Iterable[Atom], sure: Sequence[Atom]) -> list[Telling]:
        found = self._told(atoms, sure)
        if any(None in one.variables for one in found):
            raise Uneven
        return found

    def _special(self, shape: _Shape, shared: bool) -> list[bool] | None:
        """Which bindings are not of the shape: they ask for what they make, or for two values of
        one variable, or for a value that must not be."""
        masks = [self._same(*both) for both in self._meeting(shape)]
        if shared:
            masks += [left.met(right) for left, right in combinations(shape.held, 2)]
        found = [mask for mask in masks if mask is not None]
        return list(map(any, zip(*found, strict=True))) if found else None

    @staticmethod
    def _meeting(shape: _Shape) -> Iterator[tuple[Atom, Atom]]:
        for one in (*shape.lacked, *shape.made):
            for other in shape.held:
                if other.atom.relation == one.atom.relation:
                    yield one.atom, other.atom

    def _same(self, left: Atom, right: Atom) -> list[bool] | None:
        """In which bindings two atoms are the same fact; ``None``: in none."""
        columns = (map(eq, self._bindings.each(a), self._bindings.each(b))
                   for a, b in zip(left.args, right.args, strict=True) if a != b)  # fmt: skip
        mask = list(map(all, zip(*columns, strict=True)))
        mask = mask if left.args != right.args else [True] * len(self._bindings.every)
        return mask if True in mask else None

    def _without_rewritten(self, shape: _Shape) -> _Shape:
        """Not those that are taken away from a variable that gets a value at once."""
        gone = [one for one in shape.gone if not self._rewritten(one, shape.made)]
        return _Shape(shape.held, shape.lacked, shape.made, gone)

    @staticmethod
    def _rewritten(gone: Telling, made: Sequence[Telling]) -> bool:
        if any(gone.same_as(one) for one in made):
            return True
        masks = [mask for one in made if (mask := gone.met(one)) is not None]
        if masks and not any(map(all, masks)):
            raise Uneven
        return bool(masks)

    # ---- operators ----------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether the operators change nothing."""
        return not self._shape.changed

    def touched(self) -> Iterator[Touched]:
        """The variables of which operators speak, each such list once."""
        return map(self._touched, self._keys[1])

    def operators(self, kept: Kept | None) -> list[GroundOperator]:
        """The operators; of a smaller task those that change what is ``kept``."""
        bindings = self._bindings
        prices = self._prices(self._source, bindings.every)
        if kept is not None:
            keys, distinct = self._keys
            counts = {key: kept.changes(self._touched(key)) for key in distinct}
            if not all(counts.values()):
                mask = list(map(counts.__getitem__, keys))
                bindings = Bindings(self._source, list(compress(bindings.every, mask)))
                prices = list(compress(prices, mask))
        if not bindings.every:
            return []
        shape = self._shape
        parts = (shape.held, shape.lacked, shape.made, shape.gone)
        name = repeat(self._source.name.removeprefix("action "))
        columns = [self._pairs(bindings, one, kept) for one in parts]
        return list(zip(name, bindings.every, *columns, prices, strict=False))

    def _pairs(
        self, bindings: Bindings, atoms: Sequence[Telling], kept: Kept | None
    ) -> Iterable[tuple[Pair, ...]]:
        """The values of some atoms for each binding, without those that are left out."""
        numbers = self._numbers if kept is None else kept.numbers
        left = None if kept is None else kept.new.keys()
        some = [one for one in atoms if left is None or not left.isdisjoint(one.variables)]
        if not some:
            return repeat(())
        columns = [
            map(numbers[one.atom.relation].pairs.get, bindings.args(one.atom)) for one in some
        ]
        rows = cast(Iterable[tuple[Pair, ...]], zip(*columns, strict=True))
        if all(
            None not in one.variables and (left is None or one.variables <= left) for one in some
        ):
            return rows
        return (tuple([pair for pair in row if pair is not None]) for row in rows)

    # ---- which variables they speak of --------------------------------------------------------

    @cached_property
    def _tellers(self) -> dict[Var | Atom, tuple[int, Sequence[Any]]]:
        """What tells the variables, each by its place in a key and with its column."""
        found: dict[Var | Atom, tuple[int, Sequence[Any]]] = {}
        for one in (*self._shape.asked, *self._shape.changed):
            if one.teller is not None and one.teller not in found:
                found[one.teller] = len(found), one.keys
        return found

    @cached_property
    def _keys(self) -> tuple[Sequence[tuple[Any, ...]], dict[tuple[Any, ...], None]]:
        """A key for each binding, which tells all variables of its operator; and each key once."""
        columns = [column for _, column in self._tellers.values()]
        if not columns:
            every: Sequence[tuple[Any, ...]] = [()] * len(self._bindings.every)
        else:
            every = list(zip(*columns, strict=True))
        return every, dict.fromkeys(every)

    def _touched(self, key: tuple[Any, ...]) -> Touched:
        shape = self._shape
        return self._read(shape.asked, key), self._read(shape.changed, key)

    def _read(self, atoms: Sequence[Telling], key: tuple[Any, ...]) -> tuple[int, ...]:
        every = (
            one.by[None if one.teller is None else key[self._tellers[one.teller][0]]]
            for one in atoms
        )
        return tuple([number for number in every if number is not None])
