"""How large a whole number may get, so that 64 bits are surely enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.scratch import LIMIT
from tokenworld.model import (
    Arithmetic,
    Binder,
    BuiltinCall,
    Choose,
    ClosureOf,
    CollectionRange,
    DeriveCall,
    EnumType,
    Fold,
    IntervalRange,
    InverseOf,
    LeafTerm,
    ListTerm,
    Local,
    LogicTerm,
    Negate,
    NoneLiteral,
    NumberLiteral,
    NumberType,
    ObjectType,
    ParamRead,
    Read,
    RealType,
    Rescale,
    TemplateTerm,
    Term,
    TestTerm,
    ToReal,
    TypeRange,
    ValueType,
)

if TYPE_CHECKING:
    from tokenworld.engine.rollout.slots import Plan

__all__ = ["BIG", "Env", "Ranges", "Var", "bounds"]

BIG = 1 << 61
MOST_TICKS = 1 << 31
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Var:
    """A variable's generated name, and between which whole numbers it lies."""

    code: str
    low: int = 0
    high: int = 0


Env = Mapping[str, Var]


def bounds(kind: ValueType) -> Range:
    """Between which numbers a stored value lies; one without bounds is followed up to a limit."""
    if not isinstance(kind, NumberType):
        return 0, 0
    low = -LIMIT if kind.low is None else kind.low
    return low, LIMIT if kind.high is None else kind.high


@dataclass
class Ranges:
    """The ranges of terms over one world."""

    plan: Plan

    def of(self, term: Term, env: Env) -> Range:
        """Between which whole numbers a term lies; `Inexpressible` beyond 61 bits."""
        if not isinstance(term.type, NumberType):
            return 0, 0
        low, high = self._of(term, env)
        if low < -BIG or high > BIG:
            raise Inexpressible("a number may need more than 61 bits", term.span)
        return low, high

    def _of(self, term: Term, env: Env) -> Range:
        match term:
            case NumberLiteral(value=value):
                return value, value
            case ParamRead(name=name):
                found = self.plan.engine.instance.params[name]
                return (found, found) if isinstance(found, int) else (0, 0)
            case Local(name=name):
                return env[name].low, env[name].high
            case NoneLiteral():
                return 0, 0
            case DeriveCall(derive=derive):
                known = self.plan.program.derives[derive]
                inner = {one.name: Var("", *self.binder(one)) for one in known.params}
                return self.of(known.value, inner)
            case Negate(term=inner_):
                low, high = self.of(inner_, env)
                return -high, -low
            case Rescale(term=inner_, digits=digits):
                low, high = self.of(inner_, env)
                return low * 10**digits, high * 10**digits
            case Choose(then=then, otherwise=otherwise):
                return _hull(self.of(then, env), self.of(otherwise, env))
            case Arithmetic():
                return self._arithmetic(term, env)
            case Fold():
                return self._fold(term, env)
            case BuiltinCall():
                return self._builtin(term, env)
            case (
                LeafTerm() | Read() | InverseOf() | ClosureOf() | LogicTerm() | TestTerm()
                | ToReal() | ListTerm() | TemplateTerm()
            ):  # fmt: skip
                return bounds(term.type)
            case _:
                assert_never(term)

    def _arithmetic(self, term: Arithmetic, env: Env) -> Range:
        (a, b), (c, d) = self.of(term.left, env), self.of(term.right, env)
        match term.op:
            case "+":
                return a + c, b + d
            case "-":
                return a - d, b - c
            case "*":
                ends = (a * c, a * d, b * c, b * d)
                return min(ends), max(ends)
            case "mod":
                most = max(abs(c), abs(d))
                return -most, most
            case _:
                most = max(abs(a), abs(b))
                return -most, most

    def binder(self, binder: Binder) -> Range:
        """The range of a variable."""
        match binder.domain:
            case IntervalRange(low=low, high=high):
                return low, high
            case CollectionRange(collection=ListTerm() as listed):
                return _hull(*(bounds(item.type) for item in listed.items), (0, 0))
            case _:
                return bounds(binder.type)

    def count(self, binder: Binder) -> int:
        """How many values a variable takes at most."""
        match binder.domain:
            case TypeRange(of=EnumType(name=name)):
                return len(self.plan.program.enums[name].members)
            case TypeRange(of=ObjectType(name=name)):
                return len(self.plan.start.live[name])
            case IntervalRange(low=low, high=high):
                return max(0, high - low + 1)
            case CollectionRange(collection=ListTerm(items=items)):
                return len(items)
            case _:
                return self.plan.objects

    def _fold(self, term: Fold, env: Env) -> Range:
        inner, most = dict(env), 1
        for binder in term.binders:
            inner[binder.name] = Var("", *self.binder(binder))
            most *= self.count(binder)
        if term.fold == "count" or term.value is None:
            return 0, most
        low, high = self.of(term.value, inner)
        if term.fold == "sum":
            return min(0, low * most), max(0, high * most)
        return low, high

    def _builtin(self, term: BuiltinCall, env: Env) -> Range:
        match term.name:
            case "tick":
                return 0, MOST_TICKS
            case "id":
                return 0, self.plan.objects
            case "sign":
                return -1, 1
            case "score":
                return -BIG // 4, BIG // 4
            case "abs":
                low, high = self.of(term.args[0], env)
                return 0, max(abs(low), abs(high))
            case "floor" | "round" if isinstance(term.args[0].type, RealType):
                return -LIMIT * 100, LIMIT * 100
            case "floor" | "round":
                low, high = self.of(term.args[0], env)
                digits = term.type.decimals if isinstance(term.type, NumberType) else 0
                most = (max(abs(low), abs(high)) + 1) * 10**digits
                return -most, most
            case _:
                return _hull(*(self.of(arg, env) for arg in term.args), (0, 0))


def _hull(*ranges: Range) -> Range:
    return min(one[0] for one in ranges), max(one[1] for one in ranges)
