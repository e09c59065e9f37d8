"""A second opinion on exported PDDL: unified-planning's model of it, and its validator.

unified-planning is an extra and slow to import (1.5 s), so it is imported inside functions only.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.planning.pddl.export import PddlExport
from tokenworld.planning.pddl.sanitize import sanitized
from tokenworld.planning.pddl.tree import domain_text, problem_text

__all__ = ["missing_extra", "read_pair", "validate_with_up"]

_INSTALL = "pip install 'token-world[plan]'"


def missing_extra() -> Diagnostic | None:
    """The diagnostic if unified-planning is not installed, else ``None``."""
    if find_spec("unified_planning") is not None:
        return None
    message = "The second opinion needs `unified-planning`, which is not installed."
    return Diagnostic("TW0811", message, hint=f"Run `{_INSTALL}`.")


def _require_unified() -> None:
    missing = missing_extra()
    if missing is not None:
        raise Failure(missing)


def _quietly(read: Callable[[], Any]) -> Any:
    """Read a pair, without printing unified-planning's warnings."""
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

    Raises `Failure`: TW0811 without the extra, TW0810 if its reader lacks a feature.
    """
    _require_unified()
    pair = sanitized(export.pair).pair

    def read() -> Any:
        from unified_planning.io import PDDLReader

        return PDDLReader().parse_problem_string(
            domain_text(pair.domain), problem_text(pair.problem)
        )

    return _quietly(read)


def _steps(export: PddlExport, plan: str) -> Iterator[tuple[str, ...]]:
    """The steps of a plan text with the names of `sanitized`."""
    found = sanitized(export.pair)
    lower_actions = {name.lower(): word for name, word in found.actions.items()}
    lower_objects = {name.lower(): word for name, word in found.objects.items()}
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
    """The plan in unified-planning's form; ``None`` if it has an unknown step, or one with other
    arguments."""
    from unified_planning.plans import ActionInstance, SequentialPlan

    found = []
    for name, *args in steps:
        if not problem.has_action(name.lower()):
            return None
        if not all(problem.has_object(arg.lower()) for arg in args):
            return None
        action = problem.action(name.lower())
        if len(args) != len(action.parameters):
            return None
        objects = [problem.object(arg.lower()) for arg in args]
        found.append(ActionInstance(action, tuple(objects)))
    return SequentialPlan(found)
