"""A PDDL task as data: expressions as nested tuples, and the parts of a domain and a problem.

An expression is a word (``?x``, ``key``, ``12``) or a tuple whose head is a word: ``("at", "?x",
"?r")``. The constructors simplify what has no meaning in it, so that the text stays readable and
an empty condition is `TRUE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Union

__all__ = [
    "FALSE",
    "TRUE",
    "Expr",
    "PddlAction",
    "PddlDerived",
    "PddlDomain",
    "PddlPair",
    "PddlProblem",
    "Signature",
    "Typed",
    "conj",
    "disj",
    "exists",
    "forall",
    "heads",
    "imply",
    "leaves",
    "neg",
    "rename",
    "top_conjuncts",
]

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
    """An action; ``comment`` says in a line above it what the name does not."""

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


@dataclass(frozen=True, slots=True)
class PddlPair:
    domain: PddlDomain
    problem: PddlProblem


def _is(expr: Expr, head: str) -> bool:
    return isinstance(expr, tuple) and bool(expr) and expr[0] == head


def conj(parts: Iterable[Expr]) -> Expr:
    """All of the parts; nested conjunctions are flattened, repeats and `TRUE` dropped."""
    flat: list[Expr] = []
    for part in parts:
        flat.extend(part[1:] if isinstance(part, tuple) and _is(part, "and") else (part,))
    kept = tuple(dict.fromkeys(part for part in flat))
    if FALSE in kept:
        return FALSE
    return kept[0] if len(kept) == 1 else ("and", *kept)


def disj(parts: Iterable[Expr]) -> Expr:
    """Any of the parts; nested disjunctions are flattened, repeats and `FALSE` dropped."""
    flat: list[Expr] = []
    for part in parts:
        flat.extend(part[1:] if isinstance(part, tuple) and _is(part, "or") else (part,))
    kept = tuple(dict.fromkeys(flat))
    if TRUE in kept:
        return TRUE
    return kept[0] if len(kept) == 1 else ("or", *kept)


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


def _variables(params: Sequence[Typed]) -> Expr:
    return tuple(word for param in params for word in _typed_words(param))


def _typed_words(param: Typed) -> tuple[str, ...]:
    return (param.name,) if param.type is None else (param.name, "-", param.type)


def exists(params: Sequence[Typed], body: Expr) -> Expr:
    """For some values of ``params``; no parameter: the body itself."""
    if not params or body == FALSE:
        return body
    return ("exists", _variables(_ordered(params)), body)


def forall(params: Sequence[Typed], body: Expr) -> Expr:
    """For all values of ``params``, in a condition or around an effect."""
    if not params or body == TRUE:
        return body
    return ("forall", _variables(_ordered(params)), body)


def _ordered(params: Sequence[Typed]) -> list[Typed]:
    """Untyped variables take the type of the next typed one, so the root is named before it."""
    found: list[Typed] = []
    typed_later = False
    for param in reversed(params):
        typed_later = typed_later or param.type is not None
        root = param.type is None and typed_later
        found.append(Typed(param.name, "object") if root else param)
    return found[::-1]


def top_conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """The conjuncts of a condition in order; none for `TRUE`."""
    return expr[1:] if isinstance(expr, tuple) and _is(expr, "and") else (expr,)


def heads(expr: Expr) -> Iterator[str]:
    """The first word of every list in an expression, parents first."""
    if isinstance(expr, tuple) and expr:
        if isinstance(expr[0], str):
            yield expr[0]
        for part in expr:
            yield from heads(part)


def leaves(expr: Expr) -> Iterator[str]:
    """Every word that is not the head of a list."""
    if isinstance(expr, str):
        yield expr
        return
    for index, part in enumerate(expr):
        if index > 0 or not isinstance(part, str):
            yield from leaves(part)


def rename(expr: Expr, head: Callable[[str], str], leaf: Callable[[str], str]) -> Expr:
    """The expression with heads and other free words mapped; variable lists stay as they are."""
    if isinstance(expr, str):
        return leaf(expr)
    if expr and expr[0] in ("forall", "exists"):
        bound = frozenset(word for word in expr[1] if str(word).startswith("?"))
        inner = rename(expr[2], head, lambda word: word if word in bound else leaf(word))
        return (expr[0], expr[1], inner)
    return tuple(
        head(part) if index == 0 and isinstance(part, str) else rename(part, head, leaf)
        for index, part in enumerate(expr)
    )
