"""One atom of an action over all bindings: the variable whose value its fact is in each of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import eq
from typing import Any

from tokenworld.planning.grounding.bindings import Bindings
from tokenworld.planning.grounding.numbering import Numbered, Pair
from tokenworld.planning.grounding.rules import Atom, Var

__all__ = ["Telling", "telling"]


@dataclass(frozen=True)
class Telling:
    """What tells the variable of an atom: one parameter, the whole atom, or nothing, where it is
    the same in all bindings. ``keys`` are what the teller is in each binding, ``by`` the variable
    for each of these; ``None`` stands for a fact that is no value of any variable."""

    atom: Atom
    teller: Var | Atom | None
    keys: Sequence[Any]
    by: Mapping[Any, int | None]

    @cached_property
    def variables(self) -> frozenset[int | None]:
        """The variables of the atom in all bindings."""
        return frozenset(self.by.values())

    @property
    def counts(self) -> bool:
        """Whether some of the facts are values of variables."""
        return self.variables != {None}

    def each(self) -> Sequence[int | None]:
        """The variable in each binding."""
        return list(map(self.by.__getitem__, self.keys))

    def same_as(self, other: Telling) -> bool:
        """Whether two atoms are of one variable in all bindings, as far as this can be told without
        looking at each."""
        return self.teller == other.teller and self.by == other.by and None not in self.variables

    def met(self, other: Telling) -> list[bool] | None:
        """In which bindings two facts may be values of the same variable; ``None``: in none."""
        if self.variables.isdisjoint(other.variables):
            return None
        mask = list(map(eq, self.each(), other.each()))
        return mask if True in mask else None


def telling(atom: Atom, numbered: Numbered, bindings: Bindings, *, sure: bool) -> Telling:
    """What tells the variable of an atom; ``sure``: all of its facts may come to hold."""
    pairs, sure = numbered.pairs, sure and numbered.complete
    teller: Var | Atom = atom
    keys: Sequence[Any]
    by: Mapping[Any, int | None]
    if sure and numbered.alone is not None:
        return _fixed(atom, numbered.alone, bindings)
    if len(atom.args) == 1 and isinstance(one := atom.args[0], Var):
        teller, keys = one, bindings.column(one)
        by = {value: _variable(pairs.get((value,))) for value in bindings.values(one)}
    elif sure and numbered.place is not None and isinstance(one := atom.args[numbered.place], Var):
        teller, keys = one, bindings.column(one)
        by = {value: numbered.by[value] for value in bindings.values(one)}
    else:
        every = dict.fromkeys(bindings.args(atom))
        whole = {args: _variable(pairs.get(args)) for args in every}
        keys = list(map(whole.__getitem__, bindings.args(atom)))
        by = {number: number for number in whole.values()}
    if len(by) == 1:
        return _fixed(atom, next(iter(by.values())), bindings)
    return Telling(atom, teller, keys, by)


def _fixed(atom: Atom, number: int | None, bindings: Bindings) -> Telling:
    return Telling(atom, None, [None] * len(bindings.every), {None: number})


def _variable(pair: Pair | None) -> int | None:
    return None if pair is None else pair[0]
