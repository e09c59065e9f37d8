"""A second opinion from unified-planning: the exported pair as its model, and plans checked by it.

unified-planning is an extra and slow to import (1.5 s), so it is imported inside functions only.
Its reader wants every name once across all kinds and knows no `:derived`; both are seen to here.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Instance
from tokenworld.planning.pddl import Encode, PddlExport, export_pddl
from tokenworld.planning.pddl_problem import Values
from tokenworld.planning.pddl_requirements import needed
from tokenworld.planning.pddl_text import domain_text, problem_text
from tokenworld.planning.pddl_tree import (
    Expr,
    PddlAction,
    PddlDomain,
    PddlPair,
    Signature,
    Typed,
    heads,
    rename,
)

__all__ = ["distinct", "missing_extra", "read_pair", "to_up_problem", "validate_with_up"]

_INSTALL = "pip install 'token-world[plan]'"
_KEYWORDS = frozenset(
    (
        *("and", "or", "not", "imply", "forall", "exists", "when", "=", ">=", "<=", "+", "-"),
        *("*", "/", "assign", "increase", "decrease", "scale-up", "scale-down", "total-cost"),
    )
)


def missing_extra() -> Diagnostic | None:
    """What to tell where unified-planning is not installed; ``None`` where it is."""
    if find_spec("unified_planning") is not None:
        return None
    message = "The second opinion needs `unified-planning`, which is not installed."
    return Diagnostic("TW0811", message, hint=f"Run `{_INSTALL}`.")


def _require() -> None:
    missing = missing_extra()
    if missing is not None:
        raise Failure(missing)


# ---- one name, one thing ----------------------------------------------------------------------


class _Renaming:
    """New names for what another kind has taken: actions first, then objects, fluents, types."""

    def __init__(self, pair: PddlPair) -> None:
        domain, problem = pair.domain, pair.problem
        signatures = (*domain.predicates, *domain.functions)
        taken: set[str] = {"object", "total-cost"}
        objects = (*domain.constants, *problem.objects)
        self.actions = _fresh((one.name for one in domain.actions), "do", taken)
        self.objects = _fresh((one.name for one in objects), "obj", taken)
        self.fluents = _fresh((one.name for one in signatures), "of", taken)
        self.types = _fresh((one.name for one in domain.types), "type", taken)

    def typed(self, one: Typed, variables: bool = False) -> Typed:
        kind = one.type if one.type is None else self.types.get(one.type, one.type)
        name = one.name if variables else self.objects.get(one.name, one.name)
        return Typed(name, kind)

    def expr(self, expr: Expr) -> Expr:
        def head(word: str) -> str:
            return word if word in _KEYWORDS else self.fluents.get(word, word)

        return rename(self._types_in(expr), head, lambda word: self.objects.get(word, word))

    def _types_in(self, expr: Expr) -> Expr:
        """Types in variable lists, marked so that objects of the same name are left alone."""
        if isinstance(expr, str):
            return expr
        if expr and expr[0] in ("forall", "exists"):
            words = expr[1]
            return (expr[0], self._list(words), self._types_in(expr[2]))
        return tuple(self._types_in(part) for part in expr)

    def _list(self, words: Expr) -> Expr:
        found: list[Expr] = []
        for word in words:
            after_dash = bool(found) and found[-1] == "-"
            found.append(self.types.get(str(word), word) if after_dash else word)
        return tuple(found)

    def action(self, action: PddlAction) -> PddlAction:
        return replace(
            action,
            name=self.actions[action.name],
            params=tuple(self.typed(one, variables=True) for one in action.params),
            precondition=self.expr(action.precondition),
            effects=tuple(self.expr(one) for one in action.effects),
        )

    def signature(self, one: Signature) -> Signature:
        params = tuple(self.typed(param, variables=True) for param in one.params)
        return Signature(self.fluents.get(one.name, one.name), params)


def _fresh(names: Iterator[str], suffix: str, taken: set[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        word, number = name, 2
        while word.lower() in taken and name not in ("object", "total-cost"):
            word = f"{name}-{suffix}" if word == name else f"{name}-{suffix}{number}"
            number += word != f"{name}-{suffix}"
        taken.add(word.lower())
        found[name] = word
    return found


def _without_unused_derived(domain: PddlDomain, goal: Expr) -> PddlDomain:
    parts = [goal, *(one.precondition for one in domain.actions)]
    parts += [effect for one in domain.actions for effect in one.effects]
    used = {word for part in parts for word in heads(part)}
    if any(one.head.name in used for one in domain.derived):
        return domain
    derived = {one.head.name for one in domain.derived}
    kept = tuple(one for one in domain.predicates if one.name not in derived)
    return replace(domain, derived=(), predicates=kept)


def distinct(pair: PddlPair) -> tuple[PddlPair, dict[str, str], dict[str, str]]:
    """The pair with every name used for one thing only, and the new names of actions and objects.

    Derived predicates that no rule asks for are left out.
    """
    names = _Renaming(pair)
    goal, problem = pair.problem.goal, pair.problem
    domain = _without_unused_derived(pair.domain, goal)
    renamed = replace(
        domain,
        types=tuple(
            Typed(names.types[one.name], one.type and names.types.get(one.type, one.type))
            for one in domain.types
        ),
        constants=tuple(names.typed(one) for one in domain.constants),
        predicates=tuple(names.signature(one) for one in domain.predicates),
        functions=tuple(names.signature(one) for one in domain.functions),
        derived=tuple(
            replace(one, head=names.signature(one.head), condition=names.expr(one.condition))
            for one in domain.derived
        ),
        actions=tuple(names.action(one) for one in domain.actions),
    )
    task = replace(
        problem,
        objects=tuple(names.typed(one) for one in problem.objects),
        init=tuple(names.expr(one) for one in problem.init),
        goal=names.expr(goal),
    )
    found = PddlPair(replace(renamed, requirements=()), task)
    found = replace(found, domain=replace(renamed, requirements=needed(found)))
    return found, names.actions, names.objects


# ---- reading and checking ---------------------------------------------------------------------


def _quietly(read: Callable[[], Any]) -> Any:
    """Read with unified-planning's own warnings kept from the user."""
    from unified_planning.exceptions import UPException
    from unified_planning.io.pddl_reader import pyparsing
    from unified_planning.shortcuts import get_environment

    get_environment().credits_stream = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()
    except (UPException, pyparsing.ParseBaseException, AssertionError, KeyError) as error:
        message = "unified-planning does not read the exported task."
        note = re.sub(r"\s+", " ", str(error))[:200]
        raise Failure(
            Diagnostic("TW0810", message, notes=(note,), hint="Use `tw plan`, which needs no PDDL.")
        ) from error


def read_pair(export: PddlExport) -> Any:
    """The exported pair as a unified-planning `Problem`.

    Raises `Failure`: TW0811 without the extra, TW0810 where its reader lacks a feature.
    """
    _require()
    pair, _, _ = distinct(export.pair)

    def read() -> Any:
        from unified_planning.io import PDDLReader

        return PDDLReader().parse_problem_string(
            domain_text(pair.domain), problem_text(pair.problem)
        )

    return _quietly(read)


def to_up_problem(
    instance: Instance, values: Values, goal: str | None = None, encode: Encode | None = None
) -> Any:
    """One world as a unified-planning `Problem`, for use with its engines and tools.

    Arguments as in `export_pddl`.
    """
    _require()
    return read_pair(export_pddl(instance, values, goal, encode))


def _steps(export: PddlExport, plan: str) -> Iterator[tuple[str, ...]]:
    """The steps of a plan text with the names of `distinct`."""
    _, actions, objects = distinct(export.pair)
    lower_actions = {name.lower(): word for name, word in actions.items()}
    lower_objects = {name.lower(): word for name, word in objects.items()}
    for line in plan.splitlines():
        words = line.partition(";")[0].replace("(", " ").replace(")", " ").lower().split()
        if words:
            args = (lower_objects.get(word, word) for word in words[1:])
            yield (lower_actions.get(words[0], words[0]), *args)


def validate_with_up(export: PddlExport, plan: str) -> bool:
    """Whether unified-planning's validator accepts a plan of the exported pair.

    ``plan`` is as planners write it, one ``(name arg …)`` per line, forced steps included.
    Raises `Failure` as `read_pair` does.
    """
    problem = read_pair(export)
    from unified_planning.engines import SequentialPlanValidator, ValidationResultStatus

    sequence = _sequence(problem, list(_steps(export, plan)))
    if sequence is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = SequentialPlanValidator().validate(problem, sequence)
    return bool(result.status == ValidationResultStatus.VALID)


def _sequence(problem: Any, steps: list[tuple[str, ...]]) -> Any:
    """The plan in unified-planning's form; ``None`` if it has a step that there is not."""
    from unified_planning.plans import ActionInstance, SequentialPlan

    found = []
    for name, *args in steps:
        if not problem.has_action(name.lower()):
            return None
        if not all(problem.has_object(arg.lower()) for arg in args):
            return None
        action = problem.action(name.lower())
        objects = [problem.object(arg.lower()) for arg in args]
        found.append(ActionInstance(action, tuple(objects)))
    return SequentialPlan(found)
