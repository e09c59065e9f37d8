"""Terms: the checked expressions of the model.

Every term carries its ``type`` and the ``span`` it was written at. Names are resolved, units and
decimals are already converted: operands of ``+``, ``-`` and comparisons have equal decimals (the
checker wraps the coarser side in `Rescale`). Semantics: language.md §4 (total logic over `none`).
"""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.literals import (
    BoolLiteral,
    EnumLiteral,
    IntervalRange,
    Local,
    Me,
    NoneLiteral,
    NumberLiteral,
    ObjectLiteral,
    ParamRead,
    TextPart,
    TypeRange,
)
from tokenworld.model.operators import ArithmeticOp, BuiltinName, CompareOp, FoldKind
from tokenworld.model.types import ValueType

__all__ = [
    "And",
    "Arithmetic",
    "Binder",
    "BuiltinCall",
    "Choose",
    "ClosureOf",
    "CollectionRange",
    "Compare",
    "DeriveCall",
    "Domain",
    "Fold",
    "Implies",
    "InverseOf",
    "IsType",
    "ListTerm",
    "Member",
    "Negate",
    "Not",
    "Or",
    "Read",
    "Rescale",
    "Slot",
    "Template",
    "TemplateTerm",
    "Term",
    "ToReal",
]


@frozen
class Read:
    """The value of a stored fluent: ``fluent`` is its id in `Program.fluents`.

    ``was`` reads the state at the start of the tick. A ``none`` argument gives ``none`` (false for
    a truth-valued fluent); so does an object that lacks the attribute.
    """

    fluent: str
    args: tuple[Term, ...]
    type: ValueType
    span: Span
    was: bool = False
    kind: Literal["read"] = "read"


@frozen
class DeriveCall:
    """A derived fact or value: ``derive`` is its name in `Program.derives`."""

    derive: str
    args: tuple[Term, ...]
    type: ValueType
    span: Span
    was: bool = False
    kind: Literal["derive_call"] = "derive_call"


@frozen
class InverseOf:
    """The objects whose attribute ``fluent`` points at ``of``: ``c.contents``."""

    fluent: str
    of: Term
    type: ValueType
    span: Span
    was: bool = False
    kind: Literal["inverse_of"] = "inverse_of"


@frozen
class ClosureOf:
    """Everything that leads to ``of`` along ``fluent``: ``c.inside`` (pre-order if nested).

    For a relation's closure, the objects reachable from ``of``.
    """

    fluent: str
    of: Term
    type: ValueType
    span: Span
    was: bool = False
    kind: Literal["closure_of"] = "closure_of"


@frozen
class Not:
    term: Term
    type: ValueType
    span: Span
    kind: Literal["not"] = "not"


@frozen
class And:
    terms: tuple[Term, ...]
    type: ValueType
    span: Span
    kind: Literal["and"] = "and"


@frozen
class Or:
    terms: tuple[Term, ...]
    type: ValueType
    span: Span
    kind: Literal["or"] = "or"


@frozen
class Implies:
    left: Term
    right: Term
    type: ValueType
    span: Span
    kind: Literal["implies"] = "implies"


@frozen
class Compare:
    """``==`` and ``!=`` treat `none` as an ordinary value; the others are false over it."""

    op: CompareOp
    left: Term
    right: Term
    type: ValueType
    span: Span
    kind: Literal["compare"] = "compare"


@frozen
class Member:
    item: Term
    collection: Term
    type: ValueType
    span: Span
    kind: Literal["member"] = "member"


@frozen
class IsType:
    term: Term
    of: str
    type: ValueType
    span: Span
    kind: Literal["is_type"] = "is_type"


@frozen
class Arithmetic:
    """``/`` is always real; the others are exact if both sides are (``*`` adds decimals)."""

    op: ArithmeticOp
    left: Term
    right: Term
    type: ValueType
    span: Span
    kind: Literal["arithmetic"] = "arithmetic"


@frozen
class Negate:
    term: Term
    type: ValueType
    span: Span
    kind: Literal["negate"] = "negate"


@frozen
class Rescale:
    """The same exact number with more decimals: multiply by 10**digits."""

    term: Term
    digits: int
    type: ValueType
    span: Span
    kind: Literal["rescale"] = "rescale"


@frozen
class ToReal:
    """The nearest double of an exact number."""

    term: Term
    type: ValueType
    span: Span
    kind: Literal["to_real"] = "to_real"


@frozen
class Choose:
    condition: Term
    then: Term
    otherwise: Term
    type: ValueType
    span: Span
    kind: Literal["choose"] = "choose"


@frozen
class ListTerm:
    items: tuple[Term, ...]
    type: ValueType
    span: Span
    kind: Literal["list"] = "list"


@frozen
class CollectionRange:
    """The members of a collection in its order, only those of type ``only`` if given."""

    collection: Term
    only: str | None = None
    kind: Literal["collection_range"] = "collection_range"


Domain = TypeRange | IntervalRange | CollectionRange


@frozen
class Binder:
    """A variable and what it ranges over; later binders may use earlier variables.

    ``typed`` is false where the author wrote neither a type nor a collection (PDDL keeps it).
    """

    name: str
    domain: Domain
    type: ValueType
    span: Span
    typed: bool = True


@frozen
class Fold:
    """``kind_`` folded over the bindings where ``where`` holds, in order.

    ``value`` is what is folded; for ``count`` of bindings it is ``None``.
    """

    fold: FoldKind
    value: Term | None
    binders: tuple[Binder, ...]
    where: Term | None
    type: ValueType
    span: Span
    kind: Literal["fold"] = "fold"


@frozen
class BuiltinCall:
    """A built-in function (language.md §2, §4); ``detail`` names an enum, action or ladder."""

    name: BuiltinName
    args: tuple[Term, ...]
    type: ValueType
    span: Span
    detail: str = ""
    kind: Literal["builtin"] = "builtin"


@frozen
class Slot:
    """A hole of a template. ``listing``: the term is a collection to be listed."""

    article: Literal["", "a", "A", "the", "The"]
    listing: bool
    term: Term
    kind: Literal["slot"] = "slot"


@frozen
class Template:
    parts: tuple[TextPart | Slot, ...]
    span: Span


@frozen
class TemplateTerm:
    """A string used as a value."""

    template: Template
    type: ValueType
    span: Span
    kind: Literal["template"] = "template"


Term = (
    BoolLiteral
    | NumberLiteral
    | EnumLiteral
    | NoneLiteral
    | ObjectLiteral
    | ParamRead
    | Local
    | Me
    | Read
    | DeriveCall
    | InverseOf
    | ClosureOf
    | Not
    | And
    | Or
    | Implies
    | Compare
    | Member
    | IsType
    | Arithmetic
    | Negate
    | Rescale
    | ToReal
    | Choose
    | ListTerm
    | Fold
    | BuiltinCall
    | TemplateTerm
)
