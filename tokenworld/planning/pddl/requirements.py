"""Which `:requirements` a task needs, read off its text, against those that the author declared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tokenworld.planning.pddl.tree import Expr, PddlDomain, PddlPair, heads

__all__ = ["needed", "probabilistic"]

_ORDER = (
    "strips",
    "typing",
    "equality",
    "negative-preconditions",
    "disjunctive-preconditions",
    "existential-preconditions",
    "universal-preconditions",
    "conditional-effects",
    "numeric-fluents",
    "derived-predicates",
    "action-costs",
)
_NUMERIC = frozenset({">=", "<=", "assign", "increase", "decrease", "scale-up", "scale-down"})


def _conditions(pair: PddlPair) -> Iterator[Expr]:
    yield pair.problem.goal
    for derived in pair.domain.derived:
        yield derived.condition
    for action in pair.domain.actions:
        yield action.precondition
        for effect in action.effects:
            yield from _whens(effect)


def _whens(effect: Expr) -> Iterator[Expr]:
    """The conditions of the conditional effects in an effect."""
    if isinstance(effect, tuple) and effect:
        if effect[0] == "when":
            yield effect[1]
        else:
            for part in effect[1:]:
                yield from _whens(part)


def _of_conditions(pair: PddlPair, functions: frozenset[str]) -> Iterator[str]:
    for condition in _conditions(pair):
        words = frozenset(heads(condition))
        if "not" in words:
            yield "negative-preconditions"
        if "=" in words:
            yield "numeric-fluents" if words & functions else "equality"
            if _compares_symbols(condition, functions):
                yield "equality"
        if words & {"or", "imply"}:
            yield "disjunctive-preconditions"
        if "exists" in words:
            yield "existential-preconditions"
        if "forall" in words:
            yield "universal-preconditions"
        if words & _NUMERIC:
            yield "numeric-fluents"


def _compares_symbols(expr: Expr, functions: frozenset[str]) -> bool:
    if not isinstance(expr, tuple) or not expr:
        return False
    if expr[0] == "=":
        return not any(isinstance(side, tuple) for side in expr[1:])
    return any(_compares_symbols(part, functions) for part in expr)


def _of_effects(domain: PddlDomain) -> Iterator[str]:
    for action in domain.actions:
        for effect in action.effects:
            words = frozenset(heads(effect))
            cost = "total-cost" in words or "reward" in words
            if "when" in words or "forall" in words:
                yield "conditional-effects"
            if words & _NUMERIC and not cost:
                yield "numeric-fluents"


def needed(pair: PddlPair) -> tuple[str, ...]:
    """The requirements of a task in the usual order, `:strips` always first."""
    domain = pair.domain
    functions = frozenset(one.name for one in domain.functions) | {"+", "-", "*", "/"}
    found = {"strips", *_of_conditions(pair, functions), *_of_effects(domain)}
    typed = any(one.type is not None for one in (*domain.constants, *pair.problem.objects))
    if domain.types or typed:
        found.add("typing")
    if domain.derived:
        found.add("derived-predicates")
    if any(one.name == "total-cost" for one in domain.functions):
        found.add("action-costs")
    return tuple(word for word in _ORDER if word in found)


def probabilistic(pair: PddlPair) -> PddlPair:
    """A PPDDL pair with its requirements and its aim.

    Where actions have rewards or costs their expected sum counts, else whether the goal is reached.
    """
    words = {word for one in pair.domain.actions for e in one.effects for word in heads(e)}
    found = [*needed(pair)]
    found += ["probabilistic-effects"] if "probabilistic" in words else []
    found += ["rewards"] if "reward" in words else []
    aim: Expr = ("reward",) if "reward" in words else ("goal-achieved",)
    return PddlPair(
        replace(pair.domain, requirements=tuple(found)),
        replace(pair.problem, metric=aim, sense="maximize"),
    )
