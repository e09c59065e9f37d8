"""The loop that makes the operators of one plain action, as Python."""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.planning.grounding.emit import tuple_text
from tokenworld.planning.grounding.rules import Atom, Source

__all__ = ["Loop"]


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
