"""Substitution of terms for locals: `let` values, arguments of derives, renamed variables.

`Vocabulary` is the part of a program that analyses need: a `Draft` while it is checked, or a
`Program`. `sorted_fields` separates the plain fields of a node from those that hold other nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from typing import Final, Protocol, assert_never

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Span
from tokenworld.model import children, is_optional, map_children, subterms

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


def check_size(term: m.Term, span: Span, draft: Draft) -> None:
    """Stop at an expression that is too long where all its names are written out (TW0101)."""
    if _size(term, {}) > MOST_TERMS:
        what = f"The expression has more than {MOST_TERMS} terms where it is written out."
        hint = "Make a derive of a part of it, or use its names less often."
        draft.stop("TW0101", what, span, "grows with each use of a name", hint)


def _size(term: m.Term, known: dict[int, int]) -> int:
    """The number of terms, shared ones counted at each use and walked once."""
    if id(term) not in known:
        known[id(term)] = 1 + sum(_size(part, known) for part in children(term))
    return known[id(term)]


def locals_of(term: m.Term) -> frozenset[str]:
    """The names of locals that a term mentions, those it binds itself included."""
    return frozenset(part.name for part in subterms(term) if isinstance(part, m.Local))


def substituted(term: m.Term, given: Mapping[str, m.Term]) -> m.Term:
    """The term with each local in ``given`` replaced; variables of folds are kept apart."""
    if not given:
        return term
    match term:
        case m.Local(name=name) if name in given:
            return _narrowed(given[name], term)
        case m.Fold(binders=binders):
            bound = {binder.name for binder in binders}
            inner = {name: value for name, value in given.items() if name not in bound}
            clash = bound & {name for value in inner.values() for name in locals_of(value)}
            fold = freshened(term, clash) if clash else term
            return map_children(fold, lambda part: substituted(part, inner))
        case (
            m.LeafTerm() | m.StateTerm() | m.LogicTerm() | m.TestTerm() | m.NumberTerm()
            | m.Choose() | m.ListTerm() | m.BuiltinCall() | m.TemplateTerm()
        ):  # fmt: skip
            return map_children(term, lambda part: substituted(part, given))
        case _:
            assert_never(term)


def _narrowed(value: m.Term, local: m.Local) -> m.Term:
    """A value is present wherever its name is known to be."""
    if is_optional(value.type) and not is_optional(local.type):
        return replace(value, type=local.type)
    return value


def freshened(fold: m.Fold, clash: Set[str]) -> m.Fold:
    """The same fold with other names for some of its variables."""
    names: dict[str, m.Term] = {
        binder.name: m.Local(f"{binder.name}'", binder.type, binder.span)
        for binder in fold.binders
        if binder.name in clash
    }
    opened = map_children(fold, lambda part: substituted(part, names))
    assert isinstance(opened, m.Fold)
    binders = tuple(
        replace(binder, name=f"{binder.name}'") if binder.name in clash else binder
        for binder in opened.binders
    )
    return replace(opened, binders=binders)


def renamed(term: m.Term, names: Mapping[str, str]) -> m.Term:
    """The term with locals under other names."""
    given: dict[str, m.Term] = {
        part.name: replace(part, name=names[part.name])
        for part in subterms(term)
        if isinstance(part, m.Local) and part.name in names
    }
    return substituted(term, given)


def inlined(call: m.DeriveCall, derives: Mapping[str, m.Derive]) -> m.Term | None:
    """The term of a derive for these arguments; ``None`` if it is recursive or unknown."""
    derive = derives.get(call.derive)
    if derive is None or derive.recursive or call.was or len(derive.params) != len(call.args):
        return None
    given = {binder.name: arg for binder, arg in zip(derive.params, call.args, strict=True)}
    return substituted(derive.value, given)


class Vocabulary(Protocol):
    """Types, enums, fluents and derives by name."""

    @property
    def types(self) -> Mapping[str, m.ObjectKind]: ...
    @property
    def enums(self) -> Mapping[str, m.Enum]: ...
    @property
    def fluents(self) -> Mapping[str, m.Fluent]: ...
    @property
    def derives(self) -> Mapping[str, m.Derive]: ...


class Rulebook(Vocabulary, Protocol):
    """A vocabulary with rules, invariants and conserved sums."""

    @property
    def phases(self) -> Mapping[str, m.Phase]: ...
    @property
    def actions(self) -> Mapping[str, m.Action]: ...
    @property
    def laws(self) -> Mapping[str, m.Law]: ...
    @property
    def births(self) -> Sequence[m.Birth]: ...
    @property
    def invariants(self) -> Mapping[str, m.Invariant]: ...
    @property
    def conserves(self) -> Mapping[str, m.Conserve]: ...
