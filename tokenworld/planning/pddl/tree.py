"""A PDDL task as data and as text: expressions as nested tuples, the parts of domain and problem.

An expression is a word (``?x``, ``key``, ``12``) or a tuple whose head is a word: ``("at", "?x",
"?r")``. The constructors drop redundant parts: an empty condition is `TRUE`. The text is stable,
one conjunct per line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap
from typing import Union

Expr = Union[str, tuple["Expr", ...]]  # noqa: UP007  (a recursive alias needs a string)

TRUE: Expr = ("and",)
FALSE: Expr = ("or",)


@dataclass(frozen=True, slots=True)
class Typed:
    """A name with its type; ``None`` is the root, written only where the order demands it."""

    name: str
    type: str | None


@dataclass(frozen=True, slots=True)
class Signature:
    """A declared predicate or function; ``result`` is the type of a function's value."""

    name: str
    params: tuple[Typed, ...]
    result: str = "number"


@dataclass(frozen=True, slots=True)
class PddlDerived:
    head: Signature
    condition: Expr


@dataclass(frozen=True, slots=True)
class PddlAction:
    """An action, with a ``comment`` for the line above it."""

    name: str
    params: tuple[Typed, ...]
    precondition: Expr
    effects: tuple[Expr, ...]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class PddlDomain:
    name: str
    requirements: tuple[str, ...]
    types: tuple[Typed, ...]
    constants: tuple[Typed, ...]
    predicates: tuple[Signature, ...]
    functions: tuple[Signature, ...]
    derived: tuple[PddlDerived, ...]
    actions: tuple[PddlAction, ...]
    comments: tuple[str, ...] = ()
    constraints: Expr | None = None


@dataclass(frozen=True, slots=True)
class PddlProblem:
    name: str
    domain: str
    objects: tuple[Typed, ...]
    init: tuple[Expr, ...]
    goal: Expr
    metric: Expr | None = None
    comments: tuple[str, ...] = ()
    sense: str = "minimize"
    constraints: Expr | None = None


@dataclass(frozen=True, slots=True)
class PddlPair:
    domain: PddlDomain
    problem: PddlProblem


def parsed(text: Expr) -> Expr:
    """An expression that was kept as it was written."""
    if not isinstance(text, str) or not text.startswith("("):
        return text
    open_: list[list[Expr]] = [[]]
    for word in re.findall(r"[()]|[^\s()]+", text):
        match word:
            case "(":
                open_.append([])
            case ")" if len(open_) > 1:
                done = tuple(open_.pop())
                open_[-1].append(done)
            case _:
                open_[-1].append(word)
    return open_[0][0] if open_[0] else text


def _is(expr: Expr, head: str) -> bool:
    return isinstance(expr, tuple) and bool(expr) and expr[0] == head


def _simplified(head: str, parts: Iterable[Expr], decided: Expr) -> Expr:
    """Parts under ``and`` or ``or``: nested ones are flattened, repeats dropped."""
    flat = (one for part in parts for one in (part[1:] if _is(part, head) else (part,)))
    kept = tuple(dict.fromkeys(flat))
    if decided in kept:
        return decided
    return kept[0] if len(kept) == 1 else (head, *kept)


def conj(parts: Iterable[Expr]) -> Expr:
    """All of the parts; `TRUE` for none."""
    return _simplified("and", parts, FALSE)


def disj(parts: Iterable[Expr]) -> Expr:
    """Any of the parts; `FALSE` for none."""
    return _simplified("or", parts, TRUE)


def joined(parts: Sequence[Expr]) -> Expr:
    """Return the conjunction of parts as written; a single part without `and`."""
    return parts[0] if len(parts) == 1 else ("and", *parts)


def neg(part: Expr) -> Expr:
    """Not the part; a double negation cancels."""
    if part == TRUE:
        return FALSE
    if part == FALSE:
        return TRUE
    if isinstance(part, tuple) and part[0] == "not":
        return part[1]
    return ("not", part)


def imply(left: Expr, right: Expr) -> Expr:
    """If ``left`` then ``right``, kept in this form where neither side is constant."""
    if left == TRUE or right == TRUE:
        return right
    if left == FALSE:
        return TRUE
    return neg(left) if right == FALSE else ("imply", left, right)


def variables(params: Sequence[Typed]) -> tuple[str, ...]:
    """The words of a typed list.

    An untyped name takes the type of the next typed one, so the root is written before it.
    """
    words: list[str] = []
    for index, one in enumerate(params):
        later = any(other.type is not None for other in params[index + 1 :])
        kind = one.type or ("object" if later else None)
        words += [one.name] if kind is None else [one.name, "-", kind]
    return tuple(words)


def typed(words: Sequence[str]) -> Iterator[Typed]:
    """The typed variables in a list that `variables` wrote."""
    for at, word in enumerate(words):
        if word.startswith("?"):
            marked = words[at + 1 : at + 2] == ("-",)
            yield Typed(word, words[at + 2] if marked else None)


def exists(params: Sequence[Typed], body: Expr) -> Expr:
    """For some values of ``params``; no parameter: the body itself."""
    if not params or body == FALSE:
        return body
    return ("exists", variables(params), body)


def forall(params: Sequence[Typed], body: Expr) -> Expr:
    """For all values of ``params``, in a condition or around an effect."""
    if not params or body == TRUE:
        return body
    return ("forall", variables(params), body)


def top_conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The conjuncts of a condition in order; none for `TRUE`."""
    return expr[1:] if isinstance(expr, tuple) and _is(expr, "and") else (expr,)


def lists(expr: Expr) -> Iterator[tuple[Expr, ...]]:
    """Every list in an expression that is not empty, parents first."""
    if isinstance(expr, tuple) and expr:
        yield expr
        for part in expr:
            yield from lists(part)


def heads(expr: Expr) -> Iterator[str]:
    """The first word of every list in an expression, parents first."""
    return (one[0] for one in lists(expr) if isinstance(one[0], str))


def leaves(expr: Expr) -> Iterator[str]:
    """Every word that is not the head of a list."""
    if isinstance(expr, str):
        yield expr
        return
    for index, part in enumerate(expr):
        if index > 0 or not isinstance(part, str):
            yield from leaves(part)


def rename(expr: Expr, names: Mapping[str, str]) -> Expr:
    """The expression with words renamed: no heads, and no variables that are bound inside."""
    if isinstance(expr, str):
        return names.get(expr, expr)
    if expr and expr[0] in ("forall", "exists"):
        free = {word: new for word, new in names.items() if word not in expr[1]}
        return (expr[0], expr[1], rename(expr[2], free))
    return tuple(
        part if index == 0 and isinstance(part, str) else rename(part, names)
        for index, part in enumerate(expr)
    )


# ---- text --------------------------------------------------------------------------------

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
    params = " ".join(variables(signature.params))
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
        f"    :parameters ({' '.join(variables(action.params))})",
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
    if domain.constraints is not None:
        lines.append(f"  (:constraints {_condition(domain.constraints, 2)})")
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
    if problem.constraints is not None:
        lines.append(f"  (:constraints {_condition(problem.constraints, 2)})")
    if problem.metric is not None:
        lines.append(f"  (:metric {problem.sense} {flat(problem.metric)})")
    return "\n".join(lines) + ")\n"
