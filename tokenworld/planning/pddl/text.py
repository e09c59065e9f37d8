"""Writing a PDDL task as text: stable, readable, one conjunct per line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap

from tokenworld.planning.pddl.tree import (
    TRUE,
    Expr,
    PddlAction,
    PddlDerived,
    PddlDomain,
    PddlProblem,
    Signature,
    Typed,
)

__all__ = ["domain_text", "flat", "problem_text"]

_WIDTH = 78
_STEP = 2


def flat(expr: Expr) -> str:
    """The expression on one line."""
    if isinstance(expr, str):
        return expr
    return "(" + " ".join(flat(part) for part in expr) + ")"


def _lines(expr: Expr, indent: int) -> str:
    """The expression from column ``indent``, broken where it would be too wide."""
    one = flat(expr)
    if isinstance(expr, str) or indent + len(one) <= _WIDTH:
        return one
    inline, rest = 1, expr[1:]
    if expr[0] in ("forall", "exists", "when", "imply", "not"):
        inline, rest = 2, expr[2:]
    first = " ".join(
        _lines(part, indent + 2 + len(flat(expr[0]))) if index else flat(part)
        for index, part in enumerate(expr[:inline])
    )
    pad = "\n" + " " * (indent + _STEP)
    return "(" + pad.join((first, *(_lines(part, indent + _STEP) for part in rest))) + ")"


def _typed(params: Sequence[Typed]) -> str:
    """A typed list; a name of the root type is followed by a typed one only with its type."""
    words: list[str] = []
    for index, param in enumerate(params):
        later = any(other.type is not None for other in params[index + 1 :])
        kind = param.type if param.type is not None else ("object" if later else None)
        words.append(param.name if kind is None else f"{param.name} - {kind}")
    return " ".join(words)


def _grouped(names: Sequence[Typed]) -> list[str]:
    """One line per run of names of one type: ``a b c - block``."""
    found: list[str] = []
    groups = [(kind, [one.name for one in run]) for kind, run in groupby(names, _kind)]
    for index, (kind, run) in enumerate(groups):
        typed = kind is not None or index < len(groups) - 1
        line = " ".join(run) + (f" - {kind or 'object'}" if typed else "")
        found += wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return found


def _kind(one: Typed) -> str | None:
    return one.type


def _section(name: str, lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    head = f"  (:{name}"
    if len(lines) == 1 and len(head) + len(lines[0]) < _WIDTH:
        return [f"{head} {lines[0]})"]
    return [head, *(f"    {line}" for line in lines[:-1]), f"    {lines[-1]})"]


def _signature(signature: Signature) -> str:
    params = _typed(signature.params)
    return f"({signature.name}{' ' + params if params else ''})"


def _condition(expr: Expr, indent: int) -> str:
    if expr == TRUE:
        return "()"
    if isinstance(expr, tuple) and expr[0] == "and":
        return _block(expr[1:], indent)
    return _lines(expr, indent)


def _block(parts: Sequence[Expr], indent: int) -> str:
    pad = "\n" + " " * (indent + _STEP)
    return "(and" + "".join(pad + _lines(part, indent + _STEP) for part in parts) + ")"


def _action(action: PddlAction) -> list[str]:
    effects = action.effects
    effect = _lines(effects[0], 12) if len(effects) == 1 else _block(effects, 4)
    lines = ["", *([f"  ; {action.comment}"] if action.comment else [])]
    return [
        *lines,
        f"  (:action {action.name}",
        f"    :parameters ({_typed(action.params)})",
        f"    :precondition {_condition(action.precondition, 4)}",
        f"    :effect {effect if effects else '()'})",
    ]


def _derived(derived: PddlDerived) -> list[str]:
    return [
        "",
        f"  (:derived {_signature(derived.head)}",
        f"    {_condition(derived.condition, 4)})",
    ]


def domain_text(domain: PddlDomain) -> str:
    """The domain file, comments first, ending in a newline."""
    lines = [*(f"; {line}" for line in domain.comments), f"(define (domain {domain.name})"]
    if domain.requirements:
        words = " ".join(f":{word}" for word in domain.requirements)
        lines.append(f"  (:requirements {words})")
    lines += _section("types", _grouped(domain.types))
    lines += _section("constants", _grouped(domain.constants))
    lines += _section("predicates", [_signature(one) for one in domain.predicates])
    lines += _section(
        "functions", [f"{_signature(one)} - {one.result}" for one in domain.functions]
    )
    for derived in domain.derived:
        lines += _derived(derived)
    for action in domain.actions:
        lines += _action(action)
    return "\n".join(lines) + ")\n"


def problem_text(problem: PddlProblem) -> str:
    """The problem file, comments first, ending in a newline."""
    lines = [
        *(f"; {line}" for line in problem.comments),
        f"(define (problem {problem.name})",
        f"  (:domain {problem.domain})",
    ]
    lines += _section("objects", _grouped(problem.objects))
    lines += ["  (:init", *(f"    {flat(fact)}" for fact in problem.init)]
    lines[-1] += ")"
    lines.append(f"  (:goal {_condition(problem.goal, 2)})")
    if problem.metric is not None:
        lines.append(f"  (:metric {problem.sense} {flat(problem.metric)})")
    return "\n".join(lines) + ")\n"
