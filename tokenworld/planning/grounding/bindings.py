"""The bindings of one action as columns: what is asked of all of them is asked at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

from tokenworld.ground import Raw
from tokenworld.planning.grounding.rules import Arg, Atom, Source, Var, variables_in

__all__ = ["Bindings"]

Tuple = tuple[Raw, ...]


class Bindings:
    """All bindings of an action in order, and a column of values for each of its parameters.

    Only for atoms over constants and the action's own parameters.
    """

    def __init__(self, source: Source, every: Iterable[Tuple]) -> None:
        self.source, self.every = source, tuple(every)
        self._columns: dict[Arg, Sequence[Raw]] = dict(
            zip(source.params, zip(*self.every, strict=True), strict=True) if self.every else ()
        )
        self._values: dict[Arg, dict[Raw, None]] = {}

    def column(self, arg: Var) -> Sequence[Raw]:
        """What a parameter is in each binding."""
        return self._columns[arg]

    def values(self, arg: Var) -> Iterable[Raw]:
        """All that a parameter is, each once."""
        if arg not in self._values:
            self._values[arg] = dict.fromkeys(self._columns[arg])
        return self._values[arg]

    def args(self, atom: Atom) -> Iterable[Tuple]:
        """The arguments of an atom in each binding."""
        if atom.args == self.source.params:
            return self.every
        if not atom.args:
            return repeat((), len(self.every))
        return zip(*(self.each(arg) for arg in atom.args), strict=True)

    def each(self, arg: Arg) -> Iterable[Raw]:
        """What an argument is in each binding."""
        return self._columns[arg] if isinstance(arg, Var) else repeat(arg.value, len(self.every))

    def distinct(self, atom: Atom) -> set[Tuple]:
        """The facts that an atom stands for."""
        return set(self.args(atom))

    def projected(self, atoms: Iterable[Atom]) -> tuple[tuple[Var, ...], set[Tuple]]:
        """The parameters of which some atoms speak, and all that they are together."""
        spoken = frozenset[Var]().union(*map(variables_in, atoms))
        kept = tuple(one for one in self.source.params if one in spoken)
        if not kept:
            return kept, {()} if self.every else set()
        return kept, set(zip(*(self._columns[one] for one in kept), strict=True))
