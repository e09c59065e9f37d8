"""Constant terms to raw values: defaults of params, rows of tables, arguments of scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from tokenworld.core import nodes as core
from tokenworld.ground.values import Raw
from tokenworld.model import (
    Arithmetic,
    BoolLiteral,
    BuiltinCall,
    Choose,
    EnumLiteral,
    Fold,
    LeafTerm,
    ListTerm,
    LogicTerm,
    Negate,
    NoneLiteral,
    NumberLiteral,
    NumberTerm,
    NumberType,
    ObjectLiteral,
    ParamRead,
    Program,
    Rescale,
    StateTerm,
    TemplateTerm,
    Term,
    TestTerm,
    TextPart,
    ToReal,
    World,
)

__all__ = ["NotConstant", "constant", "known_value", "param_values"]


class NotConstant(Exception):
    """The term depends on a state; ``term`` is the part that does."""

    def __init__(self, term: Term | core.Term) -> None:
        super().__init__(type(term).__name__)
        self.term = term


def constant(term: Term, numbers: Mapping[str, int], params: Mapping[str, Raw]) -> Raw:
    """The value of a constant term; `NotConstant` where it is none."""

    def value(part: Term) -> Raw:
        return constant(part, numbers, params)

    match term:
        case BoolLiteral(value=truth):
            return truth
        case NumberLiteral(value=number):
            return number
        case EnumLiteral(index=index):
            return index
        case NoneLiteral():
            return None
        case ObjectLiteral(name=name):
            return numbers[name]
        case ParamRead(name=name):
            return params[name]
        case TemplateTerm(template=template):
            texts = [part.text for part in template.parts if isinstance(part, TextPart)]
            if len(texts) != len(template.parts):
                raise NotConstant(term)
            return "".join(texts)
        case (
            LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm() | Choose()
            | ListTerm() | Fold() | BuiltinCall()
        ):  # fmt: skip
            return _number(term, value(_inner(term)), numbers, params)
        case _:
            assert_never(term)


def _inner(term: Term) -> Term:
    match term:
        case Negate(term=inner) | Rescale(term=inner) | ToReal(term=inner):
            return inner
        case Arithmetic(left=left):
            return left
        case _:
            raise NotConstant(term)


def _number(term: Term, first: Raw, numbers: Mapping[str, int], params: Mapping[str, Raw]) -> Raw:
    if not isinstance(first, (int, float)):
        raise NotConstant(term)
    match term:
        case Negate():
            return -first
        case Rescale(digits=digits):
            return first * int(10**digits)
        case ToReal(term=inner):
            decimals = inner.type.decimals if isinstance(inner.type, NumberType) else 0
            return first / int(10**decimals)
        case Arithmetic(op=op, right=right):
            second = constant(right, numbers, params)
            if not isinstance(second, (int, float)):
                raise NotConstant(term)
            return _calculated(term, op, first, second)
        case _:
            raise NotConstant(term)


def known_value(term: core.Term, numbers: Mapping[str, int], params: Mapping[str, Raw]) -> Raw:
    """The value of a term of core that no state decides; `NotConstant` where one does."""
    match term:
        case core.Constant(value=value):
            return value
        case core.ObjectName(name=name):
            return numbers[name]
        case core.ParamValue(name=name):
            return params[name]
        case core.Call(op="+" | "-" | "*" | "/" | "div" | "mod" | "scale" | "real" | "neg"):
            return _operated(term, [known_value(one, numbers, params) for one in term.args])
        case _:
            raise NotConstant(term)


def _operated(term: core.Call, values: list[Raw]) -> Raw:
    found = [one for one in values if isinstance(one, (int, float))]
    if len(found) < len(values):
        raise NotConstant(term)
    if term.op == "neg":
        return -found[0]
    if term.op == "real":
        kind = term.args[0].type
        found.append(10 ** (kind.decimals if isinstance(kind, NumberType) else 0))
    op = {"scale": "*", "real": "/"}.get(term.op, term.op)
    return _calculated(term, op, found[0], found[1])


def _calculated(term: Term | core.Term, op: str, first: int | float, second: int | float) -> Raw:
    match op:
        case "+":
            return first + second
        case "-":
            return first - second
        case "*":
            return first * second
        case _ if second == 0:
            raise NotConstant(term)
        case "/":
            return first / second
        case "div":
            return first // second
        case _:
            return first % second


def param_values(
    program: Program, world: World | None, overrides: Mapping[str, Raw]
) -> dict[str, Raw]:
    """The raw value of every param: the caller's override, the world's setting, or its default.

    A default that builds on another param uses the value which that one has here.
    """
    values: dict[str, Raw] = {}
    for name, param in program.params.items():
        values[name] = constant(param.default, {}, values)
    settings = {one.name: one.value for one in (world.params if world is not None else ())}
    for name, param in program.params.items():
        values[name] = constant(settings.get(name, param.default), {}, values)
        if name in overrides:
            values[name] = overrides[name]
    return values
