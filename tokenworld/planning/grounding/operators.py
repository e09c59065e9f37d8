"""The operators of one plain action: its bindings, and a loop over them that is generated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, repeat

from tokenworld.ground import Raw
from tokenworld.planning.grounding.joins import tuple_text
from tokenworld.planning.grounding.rules import Arg, Atom, Source, Var, variables_in

__all__ = ["Bindings", "Loop"]

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

    def distinct(self, atom: Atom) -> set[Tuple]:
        """The facts that an atom stands for."""
        if atom.args == self.source.params:
            return set(self.every)
        if not atom.args:
            return {()} if self.every else set()
        return set(zip(*map(self._each, atom.args), strict=True))

    def _each(self, arg: Arg) -> Iterable[Raw]:
        """What an argument is in each binding."""
        return self._columns[arg] if isinstance(arg, Var) else repeat(arg.value, len(self.every))

    def projected(self, atoms: Iterable[Atom]) -> tuple[tuple[Var, ...], set[Tuple]]:
        """The parameters of which some atoms speak, and all that they are together."""
        spoken = frozenset[Var]().union(*map(variables_in, atoms))
        kept = tuple(one for one in self.source.params if one in spoken)
        if not kept:
            return kept, {()} if self.every else set()
        return kept, set(zip(*(self._columns[one] for one in kept), strict=True))


# ---- Operators ----------------------------------------------------------------------------------


class Loop:
    """Writes the loop. ``relations`` are those that change; of the ``complete`` ones every fact has
    a variable. ``shared``: a variable may stand for several facts. ``idle``: an
    operator that changes nothing is one too.

    The text is a function ``operators`` of ``every`` binding, of ``ranges``, and for relation
    number n of its pairs as the dict ``Fn``, that dict's ``get`` as ``Gn``, and all facts that may
    come to hold as ``Kn``: those without a pair hold all the time.
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
        lines = ["operators = []", "append = operators.append", "for k in every:"]
        if source.params:
            lines.append(f" {tuple_text(source.params)} = k")
        lines += [*self._looked(), *self._tidied()]
        action = source.name.removeprefix("action ")
        test = "" if self._idle else "if made or gone: "
        operator = f"{action!r}, k, held, lacked, made, gone, {self._price}"
        lines += [f" {test}append(({operator}))", "return operators"]
        places = self._places.values()
        given = ["every", "ranges", *(f"{name}{place}" for place in places for name in "FGK")]
        return "\n ".join([f"def operators({', '.join(given)}):", *lines]) + "\n"

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
        if self._shared:
            pairs = combinations(enumerate(self._held), 2)
            lines += [self._two_values(*one, *other) for (one, other) in pairs]
        for number, one in enumerate(self._lacked):
            if not self._sure(one):
                always = f"{tuple_text(one.args)} in K{self._places[one.relation]}"
                lines.append(f" if l{number} is None and {always}: continue")
        lines.append(f" lacked = {self._kept('l', self._lacked, ())}")
        if self._meet(self._lacked, self._held):
            lines.append(" if any([one in held for one in lacked]): continue")
        held = [(f"h{n}", one) for n, one in enumerate(self._held)]
        lines.append(f" made = {self._kept('m', self._made, held)}")
        lines.append(f" gone = {self._lost()}")
        return lines

    def _lost(self) -> str:
        """The pairs that are taken away from variables that get no value at once."""
        if not self._gone or not self._made:
            return self._kept("g", self._gone, ())
        written = [f"m{n}" for n, one in enumerate(self._made) if self._sure(one)]
        rest = " and ".join(f"{{0}}[0] != {name}[0]" for name in written) or "True"
        if len(written) < len(self._made):
            rest = "{0}[0] not in [m[0] for m in made]"
        if len(self._gone) == 1:
            known = self._gone[0] in self._held and self._sure(self._gone[0])
            test = rest if known else f"{{0}} is not None and {rest}"
            return f"(g0,) if {test.format('g0')} else ()"
        gone = ", ".join(f"g{n}" for n in range(len(self._gone)))
        test = f"one is not None and {rest.format('one')}"
        return f"tuple([one for one in ({gone},) if {test}])"

    def _two_values(self, number: int, atom: Atom, other: int, second: Atom) -> str:
        """The test that leaves out what asks for two values of one variable."""
        names = ((f"h{number}", atom), (f"h{other}", second))
        there = [f"{name} is not None" for name, one in names if not self._sure(one)]
        tests = [*there, f"h{number}[0] == h{other}[0]", f"h{number} != h{other}"]
        return f" if {' and '.join(tests)}: continue"

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
