"""Substitution of terms for locals: `let` values, arguments of derives, renamed variables.

`Vocabulary` is the part of a program that analyses need: a `Draft` while it is checked, or a
`Program`. `sorted_fields` separates the plain fields of a node from those that hold other nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from typing import Final, Protocol, assert_never

from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Span
from tokenworld.model import (
    Action,
    Birth,
    BuiltinCall,
    Choose,
    Conserve,
    Derive,
    DeriveCall,
    Enum,
    Fluent,
    Fold,
    Invariant,
    Law,
    LeafTerm,
    ListTerm,
    Local,
    LogicTerm,
    NumberTerm,
    ObjectKind,
    Phase,
    StateTerm,
    TemplateTerm,
    Term,
    TestTerm,
    children,
    is_optional,
    map_children,
    subterms,
)

__all__ = [
    "Rulebook",
    "Sorted",
    "Vocabulary",
    "check_size",
    "freshened",
    "inlined",
    "locals_of",
    "renamed",
    "sorted_fields",
    "substituted",
]


Sorted = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of plain fields, and of the others; places and types of values are in neither."""

_PLAIN: Final = frozenset(
    ("str", "str | None", "int", "int | None", "bool", "tuple[str, ...]", "CompareOp",
     "ArithmeticOp", "AssignOp", "BuiltinName", "FoldKind", "FluentKind", "PhaseOrder",
     "EndingKind", "PickKey")
)  # fmt: skip
"""Annotations, as they are written, of fields without parts."""


def sorted_fields(kind: type) -> Sorted:
    """The fields of a class, each sort in written order; none for plain values and places."""
    if kind is Span or not is_dataclass(kind):
        return (), ()
    counted = [one for one in fields(kind) if one.name != "type" and one.type != "Span"]
    plain = [one.name for one in counted if _is_plain(str(one.type))]
    return tuple(plain), tuple([one.name for one in counted if one.name not in plain])


def _is_plain(annotation: str) -> bool:
    return annotation in _PLAIN or annotation.startswith("Literal[")


MOST_TERMS = 10_000
"""Of one expression, written out: what `let` and `otherwise` name is there once for each use."""


def check_size(term: Term, span: Span, draft: Draft) -> None:
    """Stop at an expression that is too long where all its names are written out (TW0101)."""
    if _size(term, {}) > MOST_TERMS:
        what = f"The expression has more than {MOST_TERMS} terms where it is written out."
        hint = "Make a derive of a part of it, or use its names less often."
        draft.stop("TW0101", what, span, "grows with each use of a name", hint)


def _size(term: Term, known: dict[int, int]) -> int:
    """The number of terms, shared ones counted at each use and walked once."""
    if id(term) not in known:
        known[id(term)] = 1 + sum(_size(part, known) for part in children(term))
    return known[id(term)]


def locals_of(term: Term) -> frozenset[str]:
    """The names of locals that a term mentions, those it binds itself included."""
    return frozenset(part.name for part in subterms(term) if isinstance(part, Local))


def substituted(term: Term, given: Mapping[str, Term]) -> Term:
    """The term with each local in ``given`` replaced; variables of folds are kept apart."""
    if not given:
        return term
    match term:
        case Local(name=name) if name in given:
            return _narrowed(given[name], term)
        case Fold(binders=binders):
            bound = {binder.name for binder in binders}
            inner = {name: value for name, value in given.items() if name not in bound}
            clash = bound & {name for value in inner.values() for name in locals_of(value)}
            fold = freshened(term, clash) if clash else term
            return map_children(fold, lambda part: substituted(part, inner))
        case (
            LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm() | Choose()
            | ListTerm() | BuiltinCall() | TemplateTerm()
        ):  # fmt: skip
            return map_children(term, lambda part: substituted(part, given))
        case _:
            assert_never(term)


def _narrowed(value: Term, local: Local) -> Term:
    """A value is present wherever its name is known to be."""
    if is_optional(value.type) and not is_optional(local.type):
        return replace(value, type=local.type)
    return value


def freshened(fold: Fold, clash: Set[str]) -> Fold:
    """The same fold with other names for some of its variables."""
    names: dict[str, Term] = {
        binder.name: Local(f"{binder.name}'", binder.type, binder.span)
        for binder in fold.binders
        if binder.name in clash
    }
    opened = map_children(fold, lambda part: substituted(part, names))
    assert isinstance(opened, Fold)
    binders = tuple(
        replace(binder, name=f"{binder.name}'") if binder.name in clash else binder
        for binder in opened.binders
    )
    return replace(opened, binders=binders)


def renamed(term: Term, names: Mapping[str, str]) -> Term:
    """The term with locals under other names."""
    given: dict[str, Term] = {
        part.name: replace(part, name=names[part.name])
        for part in subterms(term)
        if isinstance(part, Local) and part.name in names
    }
    return substituted(term, given)


def inlined(call: DeriveCall, derives: Mapping[str, Derive]) -> Term | None:
    """The term of a derive for these arguments; ``None`` if it is recursive or unknown."""
    derive = derives.get(call.derive)
    if derive is None or derive.recursive or call.was or len(derive.params) != len(call.args):
        return None
    given = {binder.name: arg for binder, arg in zip(derive.params, call.args, strict=True)}
    return substituted(derive.value, given)


class Vocabulary(Protocol):
    """Types, enums, fluents and derives by name."""

    @property
    def types(self) -> Mapping[str, ObjectKind]: ...
    @property
    def enums(self) -> Mapping[str, Enum]: ...
    @property
    def fluents(self) -> Mapping[str, Fluent]: ...
    @property
    def derives(self) -> Mapping[str, Derive]: ...


class Rulebook(Vocabulary, Protocol):
    """The same with the rules, and what they must keep."""

    @property
    def phases(self) -> Mapping[str, Phase]: ...
    @property
    def actions(self) -> Mapping[str, Action]: ...
    @property
    def laws(self) -> Mapping[str, Law]: ...
    @property
    def births(self) -> Sequence[Birth]: ...
    @property
    def invariants(self) -> Mapping[str, Invariant]: ...
    @property
    def conserves(self) -> Mapping[str, Conserve]: ...
