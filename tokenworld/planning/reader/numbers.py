"""Which numeric functions hold whole numbers: those that never meet a decimal or a division."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.planning.reader.symbols import TOTAL_COST, Symbols
from tokenworld.planning.reader.tree import (
    Applied,
    Calculated,
    Change,
    Compared,
    Condition,
    Effect,
    Equal,
    ForEach,
    Number,
    Problem,
    TermExpr,
    When,
    leaves,
)

__all__ = ["real_functions"]

_FRACTION = "/"
"""Stands for a decimal or a division among the functions that one expression brings together."""


def real_functions(symbols: Symbols, problems: tuple[Problem, ...]) -> frozenset[str]:
    """The functions that must be `real`; the others are `int` and stay exact."""
    groups = list(_groups(symbols, problems))
    real = {_FRACTION}
    while True:
        met = [group for group in groups if group & real and not group <= real]
        if not met:
            return frozenset(real - {_FRACTION})
        real = real.union(*met)


def _groups(symbols: Symbols, problems: tuple[Problem, ...]) -> Iterator[frozenset[str]]:
    for action in symbols.domain.actions:
        yield from _in_condition(action.precondition)
        for effect in action.effects:
            yield from _in_effect(effect)
    for derived in symbols.domain.derived:
        yield from _in_condition(derived.condition)
    for problem in problems:
        yield from _in_condition(problem.goal)
        for line in problem.init:
            if isinstance(line, Change):
                yield _together(line.target, line.value)


def _together(*terms: TermExpr) -> frozenset[str]:
    found = frozenset(key for term in terms for key in _of_term(term))
    return found - {TOTAL_COST}


def _of_term(term: TermExpr) -> Iterator[str]:
    match term:
        case Number(text=text):
            if "." in text:
                yield _FRACTION
        case Applied(function=function):
            yield function.key
        case Calculated(op=op, parts=parts):
            if op == "/":
                yield _FRACTION
            for part in parts:
                yield from _of_term(part)
        case _:
            return


def _in_effect(effect: Effect) -> Iterator[frozenset[str]]:
    match effect:
        case Change(op=op, target=target, value=value):
            divided = frozenset((_FRACTION,) if op == "scale-down" else ())
            yield _together(target, value) | divided
        case When(condition=condition, effects=effects):
            yield from _in_condition(condition)
            for one in effects:
                yield from _in_effect(one)
        case ForEach(effects=effects):
            for one in effects:
                yield from _in_effect(one)
        case _:
            return


def _in_condition(condition: Condition) -> Iterator[frozenset[str]]:
    for leaf in leaves(condition):
        if isinstance(leaf, (Equal, Compared)):
            yield _together(leaf.left, leaf.right)
