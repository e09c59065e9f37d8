"""Constant terms to raw values: defaults of params, rows of tables, arguments of scenarios."""

from __future__ import annotations

from collections.abc import Mapping

from tokenworld.ground.values import Raw
from tokenworld.model import (
    Arithmetic,
    BoolLiteral,
    EnumLiteral,
    Negate,
    NoneLiteral,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ParamRead,
    Program,
    Rescale,
    TemplateTerm,
    Term,
    TextPart,
    ToReal,
    World,
)

__all__ = ["NotConstant", "constant", "param_values"]


class NotConstant(Exception):
    """The term depends on a state; ``term`` is the part that does."""

    def __init__(self, term: Term) -> None:
        super().__init__(term.kind)
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
        case _:
            return _number(term, value(_inner(term)), numbers, params)


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


def _calculated(term: Term, op: str, first: int | float, second: int | float) -> Raw:
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
