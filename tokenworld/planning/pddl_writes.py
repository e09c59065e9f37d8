"""What one body writes, and whether two writes can meet in one slot.

The interpreter refuses to give one slot two values, and clamps once the sum of all increments. PDDL
does neither, so a lifted body must show that such writes never meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.model import Fluent
from tokenworld.planning.pddl_cases import Num, Sym
from tokenworld.planning.pddl_tree import Expr, Typed, conj, forall, neg, rename
from tokenworld.planning.pddl_types import TypeTree

__all__ = ["Guarded", "Place", "Write", "alike", "conditional", "group", "may_meet", "unify"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a change stands: its variables, its conditions, loops and branches around it.

    ``loops`` are the variables of loops (or of a law), as opposed to names for values. ``branch``
    lists the ``if`` around it by number with the side taken.
    """

    vars: tuple[Typed, ...] = ()
    conds: tuple[Expr, ...] = ()
    loops: tuple[str, ...] = ()
    branch: tuple[tuple[int, bool], ...] = ()

    def inside(self, vars_: Sequence[Typed], conds: Sequence[Expr]) -> Place:
        """The place with more variables and conditions."""
        every = (cond for part in conds for cond in _conjuncts(part))
        kept = tuple(dict.fromkeys((*self.conds, *every)))
        return Place((*self.vars, *vars_), kept, self.loops, self.branch)

    @property
    def unconditional(self) -> bool:
        return not self.vars and not self.conds


@dataclass(frozen=True, slots=True)
class Guarded:
    """One effect literal with the variables and conditions around it."""

    vars: tuple[Typed, ...]
    conds: tuple[Expr, ...]
    literal: Expr


@dataclass(frozen=True, slots=True)
class Write:
    """A write of one slot per binding. ``how``: set a value, add to a number, or a truth.

    ``low`` and ``high`` bound an increment where they are known (scaled). ``partner`` joins the
    two sides of a swap, which agree if they meet.
    """

    place: Place
    fluent: Fluent
    args: tuple[Sym, ...]
    how: Literal["set", "add"]
    value: Sym | Num | bool | None
    span: Span
    low: int | None = None
    high: int | None = None
    partner: int = 0

    @property
    def meets_itself(self) -> bool:
        """Whether two rounds of a loop may write one slot."""
        names = {arg.text for arg in self.args}
        return any(loop not in names for loop in self.place.loops)


def _conjuncts(expr: Expr) -> tuple[Expr, ...]:
    whole = conj((expr,))
    return whole[1:] if isinstance(whole, tuple) and whole[:1] == ("and",) else (whole,)


def unify(first: Write, second: Write) -> dict[str, str] | None:
    """Variables of ``second`` renamed so that it writes the slot of ``first``, if that works.

    Its other variables get a prime: they are not those of ``first``, whatever they are called.
    """
    own = [var.name for var in second.place.vars]
    found: dict[str, str] = {}
    for one, other in zip(first.args, second.args, strict=True):
        if other.text in own and found.get(other.text, one.text) == one.text:
            found[other.text] = one.text
        elif one.text != found.get(other.text, other.text):
            return None
    return {**{name: f"{name}'" for name in own}, **found}


def _renamed(expr: Expr, names: Mapping[str, str]) -> Expr:
    return rename(expr, lambda head: head, lambda leaf: names.get(leaf, leaf))


def alike(conds: Iterable[Expr], names: Mapping[str, str]) -> tuple[Expr, ...]:
    """The conditions with variables renamed."""
    return tuple(_renamed(cond, names) for cond in conds)


def may_meet(first: Write, second: Write, types: TypeTree, known: Sequence[Expr]) -> bool:
    """Whether both may write one slot at once; ``known`` holds wherever they are applied."""
    if first.fluent.id != second.fluent.id:
        return False
    sides = dict(first.place.branch)
    if any(sides.get(number, side) != side for number, side in second.place.branch):
        return False
    if any(
        _different(one, other, types, known)
        for one, other in zip(first.args, second.args, strict=True)
    ):
        return False
    names = unify(first, second)
    if names is None:
        return True
    there = set(alike(second.place.conds, names))
    return not any(neg(cond) in there for cond in first.place.conds)


def _different(one: Sym, other: Sym, types: TypeTree, known: Sequence[Expr]) -> bool:
    if one.text == other.text:
        return False
    if (one.is_constant and other.is_constant) or types.disjoint(one.type, other.type):
        return True
    told = (neg(("=", one.text, other.text)), neg(("=", other.text, one.text)))
    return any(fact in known for fact in told)


def conditional(conds: Sequence[Expr], literals: Sequence[Expr]) -> list[Expr]:
    """Effects under conditions: plain if there are none, else one ``when``."""
    if not conds:
        return list(literals)
    body: Expr = literals[0] if len(literals) == 1 else ("and", *literals)
    return [("when", conj(conds), body)]


def group(effects: Sequence[Guarded]) -> tuple[Expr, ...]:
    """Effects in order, neighbours under the same loop and condition joined."""
    found: list[Expr] = []
    index = 0
    while index < len(effects):
        vars_ = effects[index].vars
        run: list[Guarded] = []
        while index < len(effects) and effects[index].vars == vars_:
            run.append(effects[index])
            index += 1
        inner = _whens(run)
        if vars_:
            found.append(forall(vars_, inner[0] if len(inner) == 1 else ("and", *inner)))
        else:
            found += inner
    return tuple(found)


def _whens(effects: Sequence[Guarded]) -> list[Expr]:
    found: list[Expr] = []
    index = 0
    while index < len(effects):
        conds = effects[index].conds
        literals: list[Expr] = []
        while index < len(effects) and effects[index].conds == conds:
            literals.append(effects[index].literal)
            index += 1
        found += conditional(conds, literals)
    return found
