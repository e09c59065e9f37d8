"""What one body writes, and whether two writes can meet in one slot.

The interpreter refuses to give one slot two values, and clamps once the sum of all increments. PDDL
does neither, so a lifted body must show that such writes never meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.model import Fluent
from tokenworld.planning.pddl.cases import Case, Num, Sym
from tokenworld.planning.pddl.tree import Expr, Typed, conj, forall, neg, rename
from tokenworld.planning.pddl.types import TypeTree

__all__ = [
    "Guarded",
    "Place",
    "Write",
    "agree",
    "alike",
    "conditional",
    "group",
    "may_meet",
    "unify",
]


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
    two sides of a swap, which agree if they meet. ``options`` are the cases of a symbol's value.
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
    options: tuple[Case, ...] = ()

    def meets_itself(self, valued: frozenset[str], unique: frozenset[str] = frozenset()) -> bool:
        """Whether two rounds of a loop may write one slot.

        ``valued`` names the predicates of fluents whose last argument is their value: where the
        slot determines the others, it determines that one too. Those in ``unique`` are read
        backwards as well, since no two objects share a value.
        """
        known = {arg.text for arg in self.args}
        facts = [cond for cond in self.place.conds if cond[:1] and cond[0] in valued]
        for _ in facts:
            for fact in facts:
                words = [word for word in fact[1:] if isinstance(word, str)]
                if all(word in known or not word.startswith("?") for word in words[:-1]):
                    known.add(words[-1])
                if fact[0] in unique and len(words) == 2 and words[1] in known:
                    known.add(words[0])
        return any(loop not in known for loop in self.place.loops)


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


def _apart(write: Write) -> Write:
    """The write with its own variables primed, so that they are nobody else's."""
    names = {var.name: f"{var.name}'" for var in write.place.vars}
    args = tuple(Sym(names.get(arg.text, arg.text), arg.type) for arg in write.args)
    value = write.value
    if isinstance(value, Sym):
        value = Sym(names.get(value.text, value.text), value.type)
    place = replace(write.place, vars=(), conds=alike(write.place.conds, names))
    return replace(write, place=place, args=args, value=value)


def _meeting(first: Write, second: Write, types: TypeTree) -> dict[str, str] | None:
    """What must be equal if both write one slot, as a renaming; ``None`` if they cannot."""
    names: dict[str, str] = {}
    for one, other in zip(first.args, second.args, strict=True):
        left, right = _follow(names, one.text), _follow(names, other.text)
        if left == right:
            continue
        if types.disjoint(one.type, other.type):
            return None
        if right.startswith("?"):
            names[right] = left
        elif left.startswith("?"):
            names[left] = right
        else:
            return None
    return {name: _follow(names, name) for name in names}


def _follow(names: Mapping[str, str], word: str) -> str:
    while word in names:
        word = names[word]
    return word


def may_meet(first: Write, second: Write, types: TypeTree, known: Sequence[Expr]) -> bool:
    """Whether both may write one slot at once; ``known`` holds wherever they are applied."""
    if first.fluent.id != second.fluent.id:
        return False
    sides = dict(first.place.branch)
    if any(sides.get(number, side) != side for number, side in second.place.branch):
        return False
    other = _apart(second)
    names = _meeting(first, other, types)
    if names is None:
        return False
    facts = set(alike((*known, *first.place.conds, *other.place.conds), names))
    return not any(neg(fact) in facts or _never(fact) for fact in facts)


def _never(fact: Expr) -> bool:
    """``(not (= x x))``."""
    match fact:
        case ("not", ("=", one, other)):
            return one == other
        case _:
            return False


def agree(first: Write, second: Write, types: TypeTree) -> bool:
    """Whether the two write the same symbol wherever they meet."""
    other = _apart(second)
    names = _meeting(first, other, types)
    if names is None or not isinstance(first.value, Sym) or not isinstance(other.value, Sym):
        return False
    one, two = alike((first.value.text, other.value.text), names)
    return one == two


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
