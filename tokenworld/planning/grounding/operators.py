"""The operators of one plain action: by columns where its bindings are alike, else one by one.

An atom of the action is one column: the value of a variable for each binding. Where no binding is
different from the others, an operator is a row of such columns, and there is nothing to decide for
each of them. `Loop` decides it for each, and is what this comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, compress, repeat
from operator import eq, not_
from typing import Any, cast

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.planning.grounding.joins import tuple_text
from tokenworld.planning.grounding.rules import Arg, Atom, Source, Var, variables_in
from tokenworld.planning.grounding.variables import GroundOperator, Kept, Numbered, Pair, Touched

__all__ = ["Bindings", "Columns", "Loop", "Uneven"]

# ---- Bindings as columns ------------------------------------------------------------------------

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


# ---- The variable of an atom in each binding ----------------------------------------------------


@dataclass(frozen=True)
class AtomColumn:
    """The variable of an atom in each binding.

    ``determinant`` is what decides it: one parameter, the whole atom, or nothing, where it is the
    same in all bindings. ``keys`` are the determinant's values, one for each binding, ``by`` the
    variable for each of these; ``None`` stands for a fact that is no value of any variable.
    """

    atom: Atom
    determinant: Var | Atom | None
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

    def same_as(self, other: AtomColumn) -> bool:
        """Whether two atoms are of one variable in all bindings, as far as this can be told without
        looking at each."""
        return (
            self.determinant == other.determinant
            and self.by == other.by
            and None not in self.variables
        )

    def met(self, other: AtomColumn) -> list[bool] | None:
        """In which bindings two facts may be values of the same variable; ``None``: in none."""
        if self.variables.isdisjoint(other.variables):
            return None
        mask = list(map(eq, self.each(), other.each()))
        return mask if True in mask else None


def atom_column(atom: Atom, numbered: Numbered, bindings: Bindings, *, sure: bool) -> AtomColumn:
    """The variables of an atom in some bindings; ``sure``: all of its facts may come to hold."""
    pairs, sure = numbered.pairs, sure and numbered.complete
    determinant: Var | Atom = atom
    keys: Sequence[Any]
    by: Mapping[Any, int | None]
    if sure and numbered.alone is not None:
        return _fixed(atom, numbered.alone, bindings)
    if len(atom.args) == 1 and isinstance(one := atom.args[0], Var):
        determinant, keys = one, bindings.column(one)
        by = {value: _variable(pairs.get((value,))) for value in bindings.values(one)}
    elif sure and numbered.place is not None and isinstance(one := atom.args[numbered.place], Var):
        determinant, keys = one, bindings.column(one)
        by = {value: numbered.by[value] for value in bindings.values(one)}
    else:
        every = dict.fromkeys(bindings.args(atom))
        whole = {args: _variable(pairs.get(args)) for args in every}
        keys = list(map(whole.__getitem__, bindings.args(atom)))
        by = {number: number for number in whole.values()}
    if len(by) == 1:
        return _fixed(atom, next(iter(by.values())), bindings)
    return AtomColumn(atom, determinant, keys, by)


def _fixed(atom: Atom, number: int | None, bindings: Bindings) -> AtomColumn:
    return AtomColumn(atom, None, [None] * len(bindings.every), {None: number})


def _variable(pair: Pair | None) -> int | None:
    return None if pair is None else pair[0]


# ---- Operators by columns -----------------------------------------------------------------------

Numbers = Mapping[str, Numbered]
Every = Sequence[tuple[Raw, ...]]
"""Bindings of an action, in order."""


class Uneven(Exception):
    """Bindings differ in which of their facts count: each must be looked at."""


@frozen
class _Shape:
    """The atoms that count, each with its variables."""

    held: list[AtomColumn]
    lacked: list[AtomColumn]
    made: list[AtomColumn]
    gone: list[AtomColumn]

    @property
    def asked(self) -> list[AtomColumn]:
        return [*self.held, *self.lacked]

    @property
    def changed(self) -> list[AtomColumn]:
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
            self._columns_of(held, held),
            self._columns_of([one for one in asked if one.absent], ()),
            self._written(source.always, source.always),
            self._written(gone, held),
        )

    def _columns_of(self, atoms: Iterable[Atom], sure: Sequence[Atom]) -> list[AtomColumn]:
        """The columns of atoms that count; of those in ``sure`` every fact may come to hold."""
        numbers = self._numbers
        every = (
            atom_column(one, numbers[one.relation], self._bindings, sure=one in sure)
            for one in dict.fromkeys(atoms)
        )
        return [one for one in every if one.counts]

    def _written(self, atoms: Iterable[Atom], sure: Sequence[Atom]) -> list[AtomColumn]:
        found = self._columns_of(atoms, sure)
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
    def _rewritten(gone: AtomColumn, made: Sequence[AtomColumn]) -> bool:
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
        self, bindings: Bindings, atoms: Sequence[AtomColumn], kept: Kept | None
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
    def _determinants(self) -> dict[Var | Atom, tuple[int, Sequence[Any]]]:
        """The determinants, each with its place in a key and its values."""
        found: dict[Var | Atom, tuple[int, Sequence[Any]]] = {}
        for one in (*self._shape.asked, *self._shape.changed):
            if one.determinant is not None and one.determinant not in found:
                found[one.determinant] = len(found), one.keys
        return found

    @cached_property
    def _keys(self) -> tuple[Sequence[tuple[Any, ...]], dict[tuple[Any, ...], None]]:
        """A key for each binding, which decides the variables of its operator, and each once."""
        columns = [column for _, column in self._determinants.values()]
        if not columns:
            every: Sequence[tuple[Any, ...]] = [()] * len(self._bindings.every)
        else:
            every = list(zip(*columns, strict=True))
        return every, dict.fromkeys(every)

    def _touched(self, key: tuple[Any, ...]) -> Touched:
        shape = self._shape
        return self._read(shape.asked, key), self._read(shape.changed, key)

    def _read(self, atoms: Sequence[AtomColumn], key: tuple[Any, ...]) -> tuple[int, ...]:
        every = (
            one.by[None if one.determinant is None else key[self._determinants[one.determinant][0]]]
            for one in atoms
        )
        return tuple([number for number in every if number is not None])


# ---- Operators one by one -----------------------------------------------------------------------


class Loop:
    """Writes the loop. ``relations`` are those that change; of the ``complete`` ones every fact has
    a variable. ``shared``: a variable may stand for several facts. ``idle``: an
    operator that changes nothing is one too.

    The text sees ``every`` binding, and for relation number n its pairs as the dict ``Fn`` and that
    dict's ``get`` as ``Gn``; it leaves ``operators``.
    """

    def __init__(
        self,
        source: Source,
        relations: Sequence[str],
        complete: frozenset[str],
        price: str,
        *,
        shared: bool,
        idle: bool = False,
    ) -> None:
        self._source, self._price, self._shared, self._idle = source, price, shared, idle
        self._places = {name: place for place, name in enumerate(relations)}
        self._complete = complete
        atoms = [one for one in source.ways[0] if isinstance(one, Atom)]
        asked = [one for one in atoms if one.relation in self._places]
        self._held = list(dict.fromkeys(one for one in asked if not one.absent))
        self._lacked = list(dict.fromkeys(one for one in asked if one.absent))
        self._made = list(dict.fromkeys(source.always))
        self._gone = list(dict.fromkeys(one for one in source.gone if one not in self._made))

    def text(self) -> str:
        source = self._source
        lines = ["operators = []", "for k in every:"]
        if source.params:
            lines.append(f" {tuple_text(source.params)} = k")
        lines += [*self._looked(), *self._tidied()]
        action = source.name.removeprefix("action ")
        lines += [
            " if True:" if self._idle else " if made or gone:",
            f"  operators.append(({action!r}, k, held, lacked, made, gone, {self._price}))",
        ]
        return "\n".join(lines) + "\n"

    def _looked(self) -> list[str]:
        """The pair of each fact: ``None`` for one that never changes."""
        lines = [f" h{n} = {self._pair(one, sure=True)}" for n, one in enumerate(self._held)]
        lines += [f" l{n} = {self._pair(one)}" for n, one in enumerate(self._lacked)]
        lines += [f" m{n} = {self._pair(one, sure=True)}" for n, one in enumerate(self._made)]
        for number, one in enumerate(self._gone):
            known = f"h{self._held.index(one)}" if one in self._held else self._pair(one)
            lines.append(f" g{number} = {known}")
        return lines

    def _tidied(self) -> list[str]:
        """The pairs that count: not what never changes, what holds anyway, or what is written at
        once. Two parameters may be the same object, and facts may share a variable."""
        lines = [f" held = {self._kept('h', self._held, ())}"]
        if self._shared and len(self._held) > 1:
            lines.append(" if len(dict(held)) < len(held) and len(dict(held)) < len(set(held)):")
            lines.append("  continue")
        lines.append(f" lacked = {self._kept('l', self._lacked, ())}")
        if self._meet(self._lacked, self._held):
            lines.append(" if any([one in held for one in lacked]): continue")
        held = [(f"h{n}", one) for n, one in enumerate(self._held)]
        lines.append(f" made = {self._kept('m', self._made, held)}")
        if self._gone and self._made:
            written = [f"m{n}" for n, one in enumerate(self._made) if self._sure(one)]
            rest = " and ".join(f"one[0] != {name}[0]" for name in written) or "True"
            if len(written) < len(self._made):
                rest = "one[0] not in [m[0] for m in made]"
            gone = ", ".join(f"g{n}" for n in range(len(self._gone)))
            lines.append(f" gone = tuple([one for one in ({gone},) if one is not None and {rest}])")
        else:
            lines.append(f" gone = {self._kept('g', self._gone, ())}")
        return lines

    @staticmethod
    def _meet(left: Sequence[Atom], right: Sequence[Atom]) -> bool:
        """Whether some facts of both may be the same."""
        return bool({one.relation for one in left} & {one.relation for one in right})

    def _sure(self, atom: Atom) -> bool:
        """Whether a fact that may come to hold has a pair in any case."""
        return atom.relation in self._complete

    def _pair(self, atom: Atom, *, sure: bool = False) -> str:
        number, args = self._places[atom.relation], tuple_text(atom.args)
        return f"F{number}[{args}]" if sure and self._sure(atom) else f"G{number}({args})"

    def _kept(self, letter: str, atoms: Sequence[Atom], but: Sequence[tuple[str, Atom]]) -> str:
        """The pairs of these atoms that are there and are none of the others."""
        if not atoms:
            return "()"
        names, tests = list[str](), list[str]()
        for number, atom in enumerate(atoms):
            name = f"{letter}{number}"
            same = [f"{name} != {other}" for other, one in but if one.relation == atom.relation]
            there = [] if letter in "hm" and self._sure(atom) else [f"{name} is not None"]
            names.append(name)
            tests.append(" and ".join([*there, *same]))
        whole = f"({', '.join(names)},)"
        if not any(tests):
            return whole
        if len(names) == 1:
            return f"{whole} if {tests[0]} else ()"
        parts = (
            f"(({n},) if {t} else ())" if t else f"({n},)"
            for n, t in zip(names, tests, strict=True)
        )
        return " + ".join(parts)
