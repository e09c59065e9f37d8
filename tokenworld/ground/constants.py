"""Constant terms to raw values: defaults of params, rows of tables, arguments of scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, assert_never

from tokenworld.core import nodes as core
from tokenworld.core.desugar import TermDesugarer
from tokenworld.ground.values import Raw
from tokenworld.model import NumberType, Program, Term, World

_TO_CORE: Final = TermDesugarer()


class NotConstant(Exception):
    """The term depends on a state; ``term`` is the part that does."""

    def __init__(self, term: core.Term) -> None:
        super().__init__(type(term).__name__)
        self.term = term


def constant(term: Term, numbers: Mapping[str, int], params: Mapping[str, Raw]) -> Raw:
    """The value of a constant term of the checked model; `NotConstant` where it is none."""
    return known_value(_TO_CORE.term(term), numbers, params)


def known_value(term: core.Term, numbers: Mapping[str, int], params: Mapping[str, Raw]) -> Raw:
    """The value of a term that no state decides; `NotConstant` where one does.

    ``numbers`` are those of the objects by name, ``params`` the values of params.
    """
    match term:
        case core.Constant(value=value):
            return value
        case core.ObjectName(name=name):
            return numbers[name]
        case core.ParamValue(name=name):
            return params[name]
        case core.Call(op="+" | "-" | "*" | "/" | "div" | "mod" | "scale" | "real" | "neg"):
            return _calculated(term, [known_value(one, numbers, params) for one in term.args])
        case core.Text(template=template):
            words = [part.text for part in template.parts if isinstance(part, core.Words)]
            if len(words) == len(template.parts):
                return "".join(words)
            raise NotConstant(term)
        case (
            core.LeafTerm() | core.Read() | core.Members() | core.Call() | core.Fold()
            | core.Choice() | core.TypeTest() | core.DeriveCall()
        ):  # fmt: skip
            raise NotConstant(term)
        case _:
            assert_never(term)


def fixed_value(term: core.Term, numbers: Mapping[str, int], params: Mapping[str, Raw]) -> Raw:
    """As `known_value`, and `none` for a term that is not constant or names no object."""
    try:
        return known_value(term, numbers, params)
    except (NotConstant, KeyError):
        return None


def _calculated(term: core.Call, values: list[Raw]) -> Raw:
    found = [one for one in values if isinstance(one, (int, float))]
    if len(found) < len(values):
        raise NotConstant(term)
    if term.op == "neg":
        return -found[0]
    if term.op == "real":
        kind = term.args[0].type
        found.append(10 ** (kind.decimals if isinstance(kind, NumberType) else 0))
    first, second = found
    match term.op:
        case "+":
            return first + second
        case "-":
            return first - second
        case "*" | "scale":
            return first * second
        case _ if second == 0:
            raise NotConstant(term)
        case "/" | "real":
            return first / second
        case "div":
            return first // second
        case "mod":
            return first % second
        case _:
            raise NotConstant(term)


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
