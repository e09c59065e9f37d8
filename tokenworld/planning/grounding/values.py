"""Terms as variables of a join: every way in which they can have a value.

A read becomes a variable and the atom that binds it; a derive is put in place; what has no tuple
(the next of a ladder, a draw) has no ways, and whoever asks leaves it unjudged.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING

from tokenworld.ground import NotConstant, constant
from tokenworld.model import (
    Arithmetic,
    BoolLiteral,
    BoolType,
    BuiltinCall,
    Choose,
    DeriveCall,
    EnumLiteral,
    Fluent,
    Local,
    Me,
    Negate,
    NoneLiteral,
    NumberLiteral,
    ObjectLiteral,
    ParamRead,
    Read,
    Rescale,
    Term,
    is_optional,
)
from tokenworld.planning.grounding.context import (
    Context,
    Later,
    Names,
    Way,
    is_measured,
    is_numeric,
)
from tokenworld.planning.grounding.rules import (
    Amount,
    Arg,
    Atom,
    Const,
    Literal,
    Number,
    Operation,
    Slotted,
    Var,
)

if TYPE_CHECKING:
    from tokenworld.planning.grounding.conditions import Conditions

__all__ = ["MOST_WAYS", "Measure", "Values", "slot_atom"]

MOST_WAYS = 64
"""A condition with more ways to hold than these is taken to hold."""
_DEEPEST = 40
"""Derives within derives are put in place to this depth."""

Measure = tuple[tuple[Literal, ...], Amount]
"""A way in which a numeric term has a value."""


class Values:
    """Reads terms in one context."""

    def __init__(self, context: Context, conditions: Conditions) -> None:
        self._context, self._conditions = context, conditions
        self._slots: dict[tuple[str, tuple[Arg, ...], bool], Var] = {}

    # ---- values of tuples ---------------------------------------------------------------------

    def ways(self, term: Term, names: Names) -> list[Way]:
        """Every way in which a term has a value; none where that is not known."""
        match term:
            case BoolLiteral() | NumberLiteral() | EnumLiteral() | NoneLiteral():
                return self._constant(term)
            case ObjectLiteral() | ParamRead():
                return self._constant(term)
            case Me():
                return self._me(term)
            case Local(name=name):
                return self._local(name, term, names)
            case Read():
                return list(self._read(term, names))
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return self._choice(condition, then, otherwise, names)
            case DeriveCall():
                return self._derived(term, names)
            case Arithmetic() | Negate() | Rescale():
                return list(self._listed(term, names))
            case _:
                return []

    def _constant(self, term: Term) -> list[Way]:
        instance = self._context.instance
        try:
            value = constant(term, instance.numbers, instance.params)
        except (NotConstant, KeyError):
            return []
        return [Way((), Const(value), term.type, True)]

    def _me(self, term: Me) -> list[Way]:
        actors = self._context.instance.actors
        if not actors and self._context.program.actor is not None:
            return []  # it is not there yet
        if not actors:
            return [Way((), Const(None), term.type, True)]
        if len(actors) == 1:
            return [Way((), Const(actors[0]), term.type, True)]
        var = Var("me")
        return [Way((self._context.listed("actors", actors, var),), var, term.type, True)]

    def _local(self, name: str, term: Local, names: Names) -> list[Way]:
        found = names[name]
        match found:
            case Later(term=inner, names=seen):
                return self.ways(inner, seen)
            case str():
                return []
            case _:
                return [Way((), found, term.type, True)]

    def _read(self, term: Read, names: Names) -> Iterator[Way]:
        fluent = self._context.program.fluents[term.fluent]
        if is_numeric(fluent.type):
            yield from self._listed(term, names)
            return
        for args in self.arguments(term.args, names) if not is_measured(fluent.type) else ():
            if isinstance(fluent.type, BoolType):
                return  # as a value a fact would need both of its sides
            var = self._read_once(fluent, args, term)
            sure = self._context.surely(fluent, args)
            yield Way((*_literals(args), slot_atom(fluent, args, var)), var, term.type, sure)

    def _read_once(self, fluent: Fluent, args: tuple[Way, ...], term: Read) -> Var:
        """The variable of a slot: a slot holds one value at a time, however often it is read."""
        key = (fluent.id, _args(args), term.was)
        if key not in self._slots:
            self._slots[key] = self._context.fresh()
        return self._slots[key]

    def _listed(self, term: Term, names: Names) -> Iterator[Way]:
        """A number as a value: each of its type that lies in its range."""
        for literals, amount in self.measures(term, names):
            var = self._context.fresh()
            listed = self._context.belongs(term.type, var)
            if listed is None:
                return
            same = self._conditions.ranged("==", Number(var), amount)
            yield Way((*literals, listed, same), var, term.type, True)

    def _choice(self, condition: Term, then: Term, otherwise: Term, names: Names) -> list[Way]:
        found = []
        for branch, wanted in ((then, True), (otherwise, False)):
            values = self.ways(branch, names)
            if not values:
                return []
            for literals in self._conditions.ways(condition, names, wanted):
                found += [
                    Way((*literals, *one.literals), one.arg, one.kind, one.sure) for one in values
                ]
        return found if len(found) <= MOST_WAYS else []

    def _derived(self, term: DeriveCall, names: Names) -> list[Way]:
        inner = self.inside(term, names)
        derive = self._context.program.derives[term.derive]
        if inner is None or isinstance(derive.type, BoolType):
            return []
        self._context.depth += 1
        found = self.ways(derive.value, inner)
        self._context.depth -= 1
        missing = any(is_optional(arg.type) for arg in term.args)
        return [Way(one.literals, one.arg, one.kind, one.sure and not missing) for one in found]

    def inside(self, term: DeriveCall, names: Names) -> Names | None:
        """The names that the body of a derive sees; ``None`` where it is not put in place."""
        derive = self._context.program.derives[term.derive]
        if derive.recursive or self._context.depth >= _DEEPEST:
            return None
        return {
            param.name: Later(arg, names)
            for param, arg in zip(derive.params, term.args, strict=True)
        }

    def arguments(self, terms: tuple[Term, ...], names: Names) -> list[tuple[Way, ...]]:
        """Every way in which all arguments have values."""
        found = [self.ways(term, names) for term in terms]
        every = list(product(*found))
        return every if len(every) <= MOST_WAYS else []

    # ---- numbers ------------------------------------------------------------------------------

    def measures(self, term: Term, names: Names) -> list[Measure]:
        """Every way in which a numeric term has a value; none where that is not known."""
        match term:
            case Read(fluent=name) if is_numeric(self._context.program.fluents[name].type):
                fluent = self._context.program.fluents[name]
                return [
                    ((*_literals(args), slot_atom(fluent, args)), Slotted(name, _args(args)))
                    for args in self.arguments(term.args, names)
                ]
            case Local(name=name) if isinstance(found := names[name], Later):
                return self.measures(found.term, found.names)
            case NumberLiteral() | ParamRead() | Local():
                return [(one.literals, Number(one.arg)) for one in self.ways(term, names)]
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return self._chosen(condition, then, otherwise, names)
            case DeriveCall() if (inner := self.inside(term, names)) is not None:
                self._context.depth += 1
                made = self.measures(self._context.program.derives[term.derive].value, inner)
                self._context.depth -= 1
                return made
            case _:
                return self._operation(term, names)

    def _chosen(self, condition: Term, then: Term, otherwise: Term, names: Names) -> list[Measure]:
        found: list[Measure] = []
        for branch, wanted in ((then, True), (otherwise, False)):
            values = self.measures(branch, names)
            if not values:
                return []
            ways = self._conditions.ways(condition, names, wanted)
            found += [((*way, *own), amount) for way in ways for own, amount in values]
        return found if len(found) <= MOST_WAYS else []

    def _operation(self, term: Term, names: Names) -> list[Measure]:
        match term:
            case Arithmetic(op="+" | "-" | "*" as op, left=left, right=right):
                return self._both(op, left, right, names) if is_numeric(term.type) else []
            case BuiltinCall(name="min" | "max" as name, args=(left, right)):
                return self._both(name, left, right, names) if is_numeric(term.type) else []
            case Negate(term=inner) if is_numeric(term.type):
                zero = Number(Const(0))
                return [
                    (literals, Operation("-", zero, one))
                    for literals, one in self.measures(inner, names)
                ]
            case Rescale(term=inner, digits=digits) if is_numeric(term.type):
                factor = Number(Const(10**digits))
                return [
                    (literals, Operation("*", one, factor))
                    for literals, one in self.measures(inner, names)
                ]
            case _:
                return []

    def _both(self, op: str, left: Term, right: Term, names: Names) -> list[Measure]:
        return [
            ((*mine, *theirs), Operation(op, one, other))
            for mine, one in self.measures(left, names)
            for theirs, other in self.measures(right, names)
        ]


def _literals(args: tuple[Way, ...]) -> tuple[Literal, ...]:
    return tuple(literal for one in args for literal in one.literals)


def _args(args: tuple[Way, ...]) -> tuple[Arg, ...]:
    return tuple(one.arg for one in args)


def slot_atom(fluent: Fluent, args: tuple[Way, ...], value: Arg | None = None) -> Atom:
    """The atom of a slot: of a fact, of a slot with this value, or of a numeric one."""
    if is_numeric(fluent.type):
        return Atom(f"#{fluent.id}", _args(args))
    whole = _args(args) if value is None else (*_args(args), value)
    return Atom(fluent.id, whole)
