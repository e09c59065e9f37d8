"""Terms: the checked expressions of the model, from literals to folds."""

from __future__ import annotations

from typing import Annotated, Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.types import ByKind, ValueType

CompareOp = Literal["==", "!=", "<", "<=", ">", ">="]
ArithmeticOp = Literal["+", "-", "*", "/", "div", "mod"]
FoldKind = Literal["any", "all", "count", "sum", "min", "max", "first", "last"]
BuiltinName = Literal[
    "abs", "min", "max", "clamp", "toward", "sign", "floor", "round", "sqrt", "sin", "cos",
    "exp", "log", "pow", "pi", "next", "prev", "tick", "id", "born", "busy", "did", "score",
    "number",
]  # fmt: skip
OverTimeWord = Literal["sometime", "always", "at_most_once", "sometime_after", "sometime_before"]


# ---- literals ------------------------------------------------------------------------------------
# The leaves of terms: literals, the names of single things, ranges and words without a term.


class LeafTerm:
    """A term without subterms."""

    __slots__ = ()


class ConstantTerm(LeafTerm):
    """A value that is written out: one and the same in every state."""

    __slots__ = ()


@frozen
class BoolLiteral(ConstantTerm):
    value: bool
    type: ValueType
    span: Span
    kind: Literal["bool_literal"] = "bool_literal"


@frozen
class NumberLiteral(ConstantTerm):
    """``value`` is scaled by the decimals of ``type``, a `NumberType`."""

    value: int
    type: ValueType
    span: Span
    kind: Literal["number_literal"] = "number_literal"


@frozen
class EnumLiteral(ConstantTerm):
    enum: str
    member: str
    index: int
    type: ValueType
    span: Span
    kind: Literal["enum_literal"] = "enum_literal"


@frozen
class NoneLiteral(ConstantTerm):
    type: ValueType
    span: Span
    kind: Literal["none_literal"] = "none_literal"


@frozen
class ObjectLiteral(ConstantTerm):
    """A named object: top-level, of a world, or made by its setup."""

    name: str
    type: ValueType
    span: Span
    kind: Literal["object_literal"] = "object_literal"


@frozen
class ParamRead(LeafTerm):
    """A ``param``: constant in one world, overridable by the world or a scenario."""

    name: str
    type: ValueType
    span: Span
    kind: Literal["param_read"] = "param_read"


@frozen
class Local(LeafTerm):
    """A parameter, loop variable, ``let`` or created object of the enclosing rule."""

    name: str
    type: ValueType
    span: Span
    kind: Literal["local"] = "local"


@frozen
class Me(LeafTerm):
    """The acting object (language.md §6)."""

    type: ValueType
    span: Span
    kind: Literal["me"] = "me"


@frozen
class TypeRange:
    """All live objects of a type, or all members of an enum, in declaration order."""

    of: ValueType
    kind: Literal["type_range"] = "type_range"


@frozen
class IntervalRange:
    """The whole numbers from ``low`` to ``high``, both included."""

    low: int
    high: int
    kind: Literal["interval_range"] = "interval_range"


@frozen
class TextPart:
    text: str
    kind: Literal["text_part"] = "text_part"


# ---- Terms: the checked expressions of the model -------------------------------------------------
# Every term carries its ``type`` and the ``span`` it was written at. Names are resolved, units and
# decimals are already converted: operands of ``+``, ``-`` and comparisons have equal decimals (the
# checker wraps the coarser side in `Rescale`). Semantics: language.md §4 (total logic over `none`).


class StateTerm:
    """A term that reads the state: a fluent, its inverse or closure, or a derive."""

    __slots__ = ()


class LogicTerm:
    """A truth value of truth values."""

    __slots__ = ()


class TestTerm:
    """A truth value of other values."""

    __slots__ = ()


class NumberTerm:
    """A number of numbers."""

    __slots__ = ()


class CompositeTerm:
    """A term of no other group, with subterms."""

    __slots__ = ()


@frozen
class Read(StateTerm):
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
class DeriveCall(StateTerm):
    """A derived fact or value: ``derive`` is its name in `Program.derives`."""

    derive: str
    args: tuple[Term, ...]
    type: ValueType
    span: Span
    was: bool = False
    kind: Literal["derive_call"] = "derive_call"


@frozen
class InverseOf(StateTerm):
    """The objects whose attribute ``fluent`` points at ``of``: ``c.contents``."""

    fluent: str
    of: Term
    type: ValueType
    span: Span
    was: bool = False
    kind: Literal["inverse_of"] = "inverse_of"


@frozen
class ClosureOf(StateTerm):
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
class Not(LogicTerm):
    term: Term
    type: ValueType
    span: Span
    kind: Literal["not"] = "not"


@frozen
class And(LogicTerm):
    terms: tuple[Term, ...]
    type: ValueType
    span: Span
    kind: Literal["and"] = "and"


@frozen
class Or(LogicTerm):
    terms: tuple[Term, ...]
    type: ValueType
    span: Span
    kind: Literal["or"] = "or"


@frozen
class Implies(LogicTerm):
    left: Term
    right: Term
    type: ValueType
    span: Span
    kind: Literal["implies"] = "implies"


@frozen
class Compare(TestTerm):
    """``==`` and ``!=`` treat `none` as an ordinary value; the others are false over it."""

    op: CompareOp
    left: Term
    right: Term
    type: ValueType
    span: Span
    kind: Literal["compare"] = "compare"


@frozen
class Member(TestTerm):
    item: Term
    collection: Term
    type: ValueType
    span: Span
    kind: Literal["member"] = "member"


@frozen
class IsType(TestTerm):
    term: Term
    of: str
    type: ValueType
    span: Span
    kind: Literal["is_type"] = "is_type"


@frozen
class Arithmetic(NumberTerm):
    """``/`` is always real; the others are exact if both sides are (``*`` adds decimals)."""

    op: ArithmeticOp
    left: Term
    right: Term
    type: ValueType
    span: Span
    kind: Literal["arithmetic"] = "arithmetic"


@frozen
class Negate(NumberTerm):
    term: Term
    type: ValueType
    span: Span
    kind: Literal["negate"] = "negate"


@frozen
class Rescale(NumberTerm):
    """The same exact number with more decimals: multiply by 10**digits."""

    term: Term
    digits: int
    type: ValueType
    span: Span
    kind: Literal["rescale"] = "rescale"


@frozen
class ToReal(NumberTerm):
    """The nearest double of an exact number."""

    term: Term
    type: ValueType
    span: Span
    kind: Literal["to_real"] = "to_real"


@frozen
class Choose(CompositeTerm):
    condition: Term
    then: Term
    otherwise: Term
    type: ValueType
    span: Span
    kind: Literal["choose"] = "choose"


@frozen
class ListTerm(CompositeTerm):
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


Domain = Annotated[TypeRange | IntervalRange | CollectionRange, ByKind]


@frozen
class Binder:
    """A variable and its domain; later binders may use earlier variables.

    ``typed`` is false where the author wrote neither a type nor a collection (PDDL keeps it).
    """

    name: str
    domain: Domain
    type: ValueType
    span: Span
    typed: bool = True


@frozen
class Fold(CompositeTerm):
    """``kind_`` folded over the bindings where ``where`` holds, in order.

    ``value`` is the folded term; for ``count`` of bindings it is ``None``.
    """

    fold: FoldKind
    value: Term | None
    binders: tuple[Binder, ...]
    where: Term | None
    type: ValueType
    span: Span
    kind: Literal["fold"] = "fold"


@frozen
class BuiltinCall(CompositeTerm):
    """A built-in function (language.md §2, §4); ``detail`` names an enum, action or ladder.

    One about all states up to now (§19) is compiled by `check.over_time`: no program calls it.
    """

    name: BuiltinName | OverTimeWord
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
class TemplateTerm(CompositeTerm):
    """A string used as a value."""

    template: Template
    type: ValueType
    span: Span
    kind: Literal["template"] = "template"


Term = Annotated[
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
    | TemplateTerm,
    ByKind,
]
