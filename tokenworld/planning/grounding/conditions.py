"""Conditions as literals of a join: every way in which they can hold when nothing is ever undone.

What must *not* hold is judged only where play never changes it; what must hold of *all* is taken to
hold; what cannot be told is taken to hold, and noted. So every state in which the condition holds
is one in which some way of it does.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from tokenworld.model import (
    And,
    BoolLiteral,
    BoolType,
    BuiltinCall,
    Choose,
    Compare,
    DeriveCall,
    Fold,
    Implies,
    IsType,
    Local,
    Member,
    NoneLiteral,
    Not,
    NumberType,
    Or,
    ParamRead,
    Read,
    Term,
    is_optional,
)
from tokenworld.planning.grounding.absence import may_lack
from tokenworld.planning.grounding.context import (
    Context,
    Later,
    Names,
    Way,
    is_measured,
)
from tokenworld.planning.grounding.gathering import Gathered
from tokenworld.planning.grounding.rules import (
    Amount,
    Atom,
    Const,
    Either,
    Literal,
    Range,
    Same,
)
from tokenworld.planning.grounding.values import MOST_WAYS, Values, slot_atom

__all__ = ["Conditions"]

_ALWAYS: Either = ((),)
_NEVER: Either = ()
_FLIPPED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_ORDERED = ("<", "<=", ">", ">=")


class Conditions:
    """Reads conditions in one context."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.values = Values(context, self)
        self.gathered = Gathered(context, self)

    def all_of(self, terms: Iterable[Term], names: Names) -> Either:
        """Every way in which all of these hold."""
        return self._both(terms, names, True)

    def ways(self, term: Term, names: Names, wanted: bool = True) -> Either:
        """Every way in which a condition can hold; with ``wanted`` false, in which it can fail."""
        match term:
            case BoolLiteral(value=value):
                return _ALWAYS if value == wanted else _NEVER
            case ParamRead(name=name):
                given = self._context.instance.params[name] is True
                return _ALWAYS if given == wanted else _NEVER
            case Not(term=inner):
                return self.ways(inner, names, not wanted)
            case And(terms=terms) | Or(terms=terms):
                together = isinstance(term, And) == wanted
                return (self._both if together else self._any)(terms, names, wanted)
            case Implies(left=left, right=right):
                negated = Not(left, left.type, left.span)
                return self.ways(Or((negated, right), term.type, term.span), names, wanted)
            case Choose(condition=test, then=then, otherwise=otherwise):
                return self._chosen(test, then, otherwise, names, wanted)
            case Local(name=name) if isinstance(found := names[name], Later):
                return self.ways(found.term, found.names, wanted)
            case Local():
                truth = BoolLiteral(wanted, term.type, term.span)
                return self._compared("==", term, truth, names) or self.unjudged(term)
            case _:
                return self._fact(term, names, wanted)

    def _fact(self, term: Term, names: Names, wanted: bool) -> Either:
        match term:
            case Read(type=BoolType()):
                return self._read(term, names, wanted)
            case DeriveCall(type=BoolType()):
                return self._derived(term, names, wanted)
            case Compare(op=op, left=left, right=right):
                return self._comparison(term, op, left, right, names, wanted)
            case Member(item=item, collection=collection):
                return self.gathered.member(item, collection, names, wanted)
            case IsType(term=inner, of=of):
                return self._is_type(term, inner, of, names, wanted)
            case Fold(fold="any" | "all"):
                return self.gathered.fold(term, names, wanted)
            case _:
                return self.unjudged(term)

    def unjudged(self, term: Term) -> Either:
        """Taken to hold, and noted, for no join can judge it."""
        name = term.name if isinstance(term, BuiltinCall) else term.kind
        self._context.leave(f"condition on `{name}`", term.span)
        return _ALWAYS

    # ---- connectives ----------------------------------------------------------------------------

    def _both(self, terms: Iterable[Term], names: Names, wanted: bool) -> Either:
        found: Either = _ALWAYS
        for term in terms:
            more = self.ways(term, names, wanted)
            if len(found) * len(more) > MOST_WAYS:
                self._context.leave("condition with so many ways", term.span)
                continue
            found = tuple((*one, *other) for one in found for other in more)
        return found

    def _any(self, terms: tuple[Term, ...], names: Names, wanted: bool) -> Either:
        found = tuple(way for term in terms for way in self.ways(term, names, wanted))
        if len(found) > MOST_WAYS or () in found:
            if len(found) > MOST_WAYS:
                self._context.leave("condition with so many ways", terms[0].span)
            self._context.exact = False
            return _ALWAYS
        return found

    def _chosen(
        self, test: Term, then: Term, otherwise: Term, names: Names, wanted: bool
    ) -> Either:
        yes = product(self.ways(test, names), self.ways(then, names, wanted))
        no = product(self.ways(test, names, False), self.ways(otherwise, names, wanted))
        found = tuple((*one, *other) for one, other in (*yes, *no))
        return found if len(found) <= MOST_WAYS else _ALWAYS

    # ---- facts ----------------------------------------------------------------------------------

    def _read(self, term: Read, names: Names, wanted: bool) -> Either:
        fluent = self._context.program.fluents[term.fluent]
        every = self.values.arguments(term.args, names)
        if not every:
            return self.unjudged(term)
        found = []
        for args in every:
            literals = tuple(one for way in args for one in way.literals)
            if wanted:
                found.append((*literals, slot_atom(fluent, args)))
            elif literals and not all(way.sure for way in args):
                return self.granted()
            else:
                found.append((*literals, *self._lacking(term, args)))
        return tuple(found)

    def granted(self) -> Either:
        """Taken to hold, as everything that could have been undone is."""
        self._context.exact = False
        return _ALWAYS

    def _lacking(self, term: Read, args: tuple[Way, ...]) -> tuple[Literal, ...]:
        """That a fact does not hold: judged where it is the same all the time."""
        fluent = self._context.program.fluents[term.fluent]
        return (Atom(fluent.id, tuple(way.arg for way in args), absent=True),)

    def _derived(self, term: DeriveCall, names: Names, wanted: bool) -> Either:
        derive = self._context.program.derives[term.derive]
        inner = self.values.inside(term, names)
        if inner is not None:
            self._context.depth += 1
            found = self.ways(derive.value, inner, wanted)
            self._context.depth -= 1
            missing = any(is_optional(arg.type) for arg in term.args)
            return found if wanted or not missing else self.granted()
        if not wanted or not derive.recursive:
            return self.granted() if derive.recursive else self.unjudged(term)
        every = self.values.arguments(term.args, names)
        self._context.exact = False
        if not every:
            return self.unjudged(term)
        return tuple(
            (
                *(one for way in args for one in way.literals),
                Atom(f"?{derive.name}", tuple(way.arg for way in args)),
            )
            for args in every
        )

    def _is_type(self, term: Term, inner: Term, of: str, names: Names, wanted: bool) -> Either:
        found = []
        for way in self.values.ways(inner, names):
            if not wanted and not way.sure:
                return self.granted()
            found.append((*way.literals, Atom(f":{of}", (way.arg,), absent=not wanted)))
        return tuple(found) or self.unjudged(term)

    # ---- comparisons ----------------------------------------------------------------------------

    def _comparison(
        self, term: Term, op: str, left: Term, right: Term, names: Names, wanted: bool
    ) -> Either:
        if isinstance(left.type, BoolType) and isinstance(right.type, BoolType):
            return self._equated(op, left, right, names, wanted)
        if (
            not wanted
            and op in _ORDERED
            and (may_lack(self._context, left) or may_lack(self._context, right))
        ):
            return self.granted()  # over `none` neither an order nor its opposite holds
        found = self._compared(op if wanted else _FLIPPED[op], left, right, names)
        return found if found else self.unjudged(term)

    def _equated(self, op: str, left: Term, right: Term, names: Names, wanted: bool) -> Either:
        same = (op == "==") == wanted
        sides = ((True, same), (False, not same))
        return self._joined(
            [(self.ways(left, names, one), self.ways(right, names, other)) for one, other in sides]
        )

    def _joined(self, pairs: list[tuple[Either, Either]]) -> Either:
        found = tuple((*a, *b) for left, right in pairs for a in left for b in right)
        if not found or len(found) > MOST_WAYS:
            return _NEVER if not found else self.granted()
        return found

    def _compared(self, op: str, left: Term, right: Term, names: Names) -> Either:
        """The ways of a comparison; empty where it cannot be judged."""
        kinds = (left.type, right.type)
        if any(isinstance(kind, NumberType) for kind in kinds):
            return self._measured(op, left, right, names)
        if any(is_measured(kind) for kind in kinds):
            return ()
        found = []
        for one in self.values.ways(left, names):
            for other in self.values.ways(right, names):
                made = self._paired(op, one, other)
                if made is None:
                    return ()
                found.append(made)
        return tuple(found) if len(found) <= MOST_WAYS else ()

    def _paired(self, op: str, one: Way, other: Way) -> tuple[Literal, ...] | None:
        if not self._judged(op, one, other):
            return None
        literals = (*one.literals, *other.literals)
        return (*literals, Same(op, one.arg, other.arg))

    def _judged(self, op: str, one: Way, other: Way) -> bool:
        """Whether the comparison fails where a side lacks its slot, so that the atoms may be asked
        for: a slot that is not there counts as `none`."""
        if one.sure and other.sure:
            return True
        if op in _ORDERED:
            return True
        never = [isinstance(way.arg, Const) and way.arg.value is not None for way in (one, other)]
        if op == "==":
            solid = [way.sure and not is_optional(way.kind) for way in (one, other)]
            return any(never) or any(solid)
        nothing = [isinstance(way.arg, Const) and way.arg.value is None for way in (one, other)]
        return any(nothing)

    def _measured(self, op: str, left: Term, right: Term, names: Names) -> Either:
        if isinstance(left, NoneLiteral) or isinstance(right, NoneLiteral):
            return ()
        lacking = [may_lack(self._context, left), may_lack(self._context, right)]
        if (op == "!=" and any(lacking)) or (op == "==" and all(lacking)):
            return ()  # what is not there counts as `none`, which equals itself alone
        return tuple(
            (*mine, *theirs, self.ranged(op, one, other))
            for mine, one in self.values.measures(left, names)
            for theirs, other in self.values.measures(right, names)
        )

    def ranged(self, op: str, left: Amount, right: Amount) -> Literal:
        """A comparison of two amounts."""
        return Range(op, left, right)
