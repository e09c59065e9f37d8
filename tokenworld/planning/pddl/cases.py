"""Values in PDDL: by cases.

PDDL has no object-valued terms here, so ``c.box.lock == open`` speaks of a box that it must first
name. The value of a term is therefore a list of `Case`: variables, conditions on them, and the
value then. The cases of a term exclude each other, and where no case holds the value is `none`;
so the total logic over `none` (language.md §4) needs no rule of its own: an atom over `none` is an
empty disjunction, false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from tokenworld.model import EnumType, ObjectType, Term
from tokenworld.planning.pddl.names import legal
from tokenworld.planning.pddl.tree import Expr, Typed, conj, disj, exists, leaves

__all__ = [
    "Bound",
    "Case",
    "Env",
    "Lazy",
    "Num",
    "Scope",
    "Sym",
    "Truth",
    "close",
    "number_text",
]


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable or constant that stands for an object or an enum member."""

    text: str
    type: EnumType | ObjectType

    @property
    def is_constant(self) -> bool:
        return not self.text.startswith("?")


@dataclass(frozen=True, slots=True)
class Num:
    """A numeric expression; exact numbers are whole, scaled by the decimals of their type."""

    expr: Expr
    constant: int | float | None = None


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition bound to a name."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Lazy:
    """A named term, put in where the name is used (a body reads one state)."""

    term: Term
    env: Env


Bound = Sym | Num | Truth | Lazy
Env = Mapping[str, Bound]


@dataclass(frozen=True, slots=True)
class Case:
    vars: tuple[Typed, ...]
    conds: tuple[Expr, ...]
    value: Sym | Num

    def under(self, *conds: Expr) -> Case:
        """The same case with more conditions in front."""
        return Case(self.vars, (*conds, *self.conds), self.value)


def close(cases: list[Case], then: Callable[[Sym | Num], Expr]) -> Expr:
    """The condition that some case holds and ``then`` holds of its value."""
    return disj(exists(case.vars, conj((*case.conds, then(case.value)))) for case in cases)


def number_text(value: int | float) -> str:
    """A PDDL number without exponent."""
    return str(value) if isinstance(value, int) else format(Decimal(repr(value)), "f")


class Scope:
    """Variable names in use in one rule: written names stay, new ones are told apart."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def fresh(self, base: str) -> str:
        """A variable that hides no other: ``?room``, then ``?room2``."""
        word = legal(base).lower() if base != legal(base) else base
        name, number = f"?{word}", 2
        while name.lower() in self._used:
            name, number = f"?{word}{number}", number + 1
        self._used.add(name.lower())
        return name

    def reserve(self, exprs: Iterable[Expr]) -> None:
        """Keep the variables of some expressions in use until the end of the block."""
        words = (word for expr in exprs for word in leaves(expr))
        self._used.update(word.lower() for word in words if word.startswith("?"))

    @contextmanager
    def block(self) -> Iterator[None]:
        """Variables made inside are bound inside: their names are free again afterwards."""
        before = set(self._used)
        yield
        self._used = before
