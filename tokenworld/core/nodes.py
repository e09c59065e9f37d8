"""The nodes of core: eight statements, thirteen terms, three draws.

Core has the meaning of a checked program. `desugar` makes it. The engine, the planner, encodings
and proofs read core and nothing else. The checker, the formatter and the rulebook read the checked
model, because they need the author's own constructs. Every node keeps the ``span`` of the text it
comes from, so that refusals, traces and obstacles name the author's line.

Numbers are integers scaled by the decimals of their type, enum values are positions; operands of
`Call` have equal decimals. A body is evaluated against the one state before it (language.md §5).
"""

from __future__ import annotations

from typing import Literal

from tokenworld import model as m
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen

Operator = (
    Literal["not", "and", "or", "==", "<", "<=", "in", "+", "-", "*", "/", "div", "mod", "neg",
            "scale", "real", "amount"]
    | m.BuiltinName
)  # fmt: skip
"""``!=``, ``>``, ``>=`` and ``implies`` are written with these (`desugar`). ``scale`` writes an
exact number with more decimals: the same value as a larger whole number. ``real`` is the
nearest double of an exact number; ``amount`` is its argument, and a breach of range (TW1004) where
that is negative."""
WriteOp = Literal["=", "+", "add", "remove"]
"""Set a slot, add to a number, make a tuple of a relation true or false; ``add`` wins."""


# ---- terms --------------------------------------------------------------------------------


class LeafTerm:
    """A term without subterms."""

    __slots__ = ()


@frozen
class Constant(LeafTerm):
    """A truth value, a scaled number, the position of an enum member, or ``None`` for `none`."""

    value: bool | int | None
    type: m.ValueType
    span: Span


@frozen
class ObjectName(LeafTerm):
    """A named object; the instance gives it its number."""

    name: str
    type: m.ValueType
    span: Span


@frozen
class ParamValue(LeafTerm):
    """A ``param``: a constant of the instance."""

    name: str
    type: m.ValueType
    span: Span


@frozen
class Variable(LeafTerm):
    """A parameter, loop variable, ``let`` or created object of the enclosing rule."""

    name: str
    type: m.ValueType
    span: Span


@frozen
class Actor(LeafTerm):
    """The acting object."""

    type: m.ValueType
    span: Span


@frozen
class Read:
    """The value of a slot, now or (``was``) at the start of the tick.

    A ``none`` argument gives ``none`` (false for a truth-valued fluent); so does an object that
    lacks the attribute.
    """

    fluent: str
    args: tuple[Term, ...]
    type: m.ValueType
    span: Span
    was: bool = False


@frozen
class Members:
    """A collection: the objects whose ``fluent`` points at ``of`` (``inverse``), everything that
    leads to ``of`` along it (``closure``), or the ``items`` of a list."""

    by: Literal["inverse", "closure", "list"]
    fluent: str
    items: tuple[Term, ...]
    type: m.ValueType
    span: Span
    was: bool = False

    @property
    def of(self) -> Term:
        """The object that an inverse or a closure is asked about."""
        return self.items[0]


@frozen
class Call:
    """A built-in operator or function; ``detail`` names an enum, action or ladder."""

    op: Operator
    args: tuple[Term, ...]
    type: m.ValueType
    span: Span
    detail: str = ""


@frozen
class Fold:
    """``fold`` over the bindings where ``where`` holds, in order; ``count`` may have no value."""

    fold: m.FoldKind
    value: Term | None
    binders: tuple[Binder, ...]
    where: Term | None
    type: m.ValueType
    span: Span


@frozen
class Choice:
    """``then`` where ``condition`` holds, else ``otherwise``."""

    condition: Term
    then: Term
    otherwise: Term
    type: m.ValueType
    span: Span


@frozen
class TypeTest:
    """Whether an object is of a type; false of ``none``."""

    term: Term
    of: str
    type: m.ValueType
    span: Span


@frozen
class DeriveCall:
    """The value of a derived fact, now or (``was``) at the start of the tick."""

    derive: str
    args: tuple[Term, ...]
    type: m.ValueType
    span: Span
    was: bool = False


@frozen
class Text:
    """A string used as a value."""

    template: Template
    type: m.ValueType
    span: Span


Term = (
    Constant
    | ObjectName
    | ParamValue
    | Variable
    | Actor
    | Read
    | Members
    | Call
    | Fold
    | Choice
    | TypeTest
    | DeriveCall
    | Text
)


@frozen
class Words:
    """Literal words of a template."""

    text: str


@frozen
class Hole:
    """A slot of a template. ``listing``: the term is a collection to be listed."""

    article: Literal["", "a", "A", "the", "The"]
    listing: bool
    term: Term


@frozen
class Template:
    """A text with holes."""

    parts: tuple[Words | Hole, ...]
    span: Span


Domain = m.TypeRange | m.IntervalRange | Term
"""The domain of a binder: a type, an interval of whole numbers, a collection."""


@frozen
class Binder:
    """A variable and its domain; ``only`` keeps the members of that type. Later binders may use
    earlier variables. ``typed`` is false where the author wrote no type (PDDL keeps it)."""

    name: str
    domain: Domain
    type: m.ValueType
    span: Span
    only: str | None = None
    typed: bool = True


# ---- draws --------------------------------------------------------------------------------


@frozen
class BranchDraw:
    """The position of the branch that is taken, or the number of branches where none is."""

    probabilities: tuple[Term, ...]
    span: Span


@frozen
class PickDraw:
    """One binding of the binders where ``where`` holds: each variable's value, or ``none``.

    ``uniform`` and ``weight`` draw; ``least`` and ``most`` take the first best.
    """

    binders: tuple[Binder, ...]
    where: Term | None
    key: m.PickKey
    weight: Term | None
    span: Span


@frozen
class UniformDraw:
    """A real in [low, high)."""

    low: Term
    high: Term
    span: Span


Draw = BranchDraw | PickDraw | UniformDraw


# ---- statements ---------------------------------------------------------------------------


@frozen
class Let:
    """Name a value, or the values of a draw (a pick names each of its binders)."""

    names: tuple[str, ...]
    value: Term | Draw
    span: Span


@frozen
class Place:
    """A slot as the target of a write."""

    fluent: str
    args: tuple[Term, ...]
    type: m.ValueType
    span: Span


@frozen
class Write:
    """Change one slot."""

    target: Place
    op: WriteOp
    value: Term
    span: Span


@frozen
class If:
    condition: Term
    then: Body
    otherwise: Body
    span: Span


@frozen
class For:
    """The body for every binding where ``where`` holds, in order."""

    binders: tuple[Binder, ...]
    where: Term | None
    body: Body
    span: Span


@frozen
class Field:
    """The initial value of an attribute of a created object: the author's, or (``default``) that
    of its type."""

    fluent: str
    value: Term
    span: Span
    default: bool = False


@frozen
class Create:
    """Make an object with a value for each attribute that has one (the author's or a default).

    The births of its types (`Rules.births`) run in the same body, most general type first.
    ``named``: the object keeps the name ``name`` (language.md §12). ``given`` are the fluents that
    the author gave a value, as written: records tell of them last.
    """

    name: str
    of: str
    fields: tuple[Field, ...]
    given: tuple[str, ...]
    named: bool
    span: Span


@frozen
class Destroy:
    target: Term
    span: Span


@frozen
class Require:
    """A precondition; false, it refuses the action. ``text`` is ``None`` for the default text.

    ``source`` quotes the condition; ``atoms`` are the parts whose values explain a refusal.
    """

    condition: Term
    label: str
    text: Template | None
    source: str
    atoms: tuple[tuple[str, Term], ...]
    span: Span


@frozen
class Emit:
    event: str
    args: tuple[Term, ...]
    span: Span


@frozen
class Say:
    """Rendered on the state after the body."""

    template: Template
    span: Span


@frozen
class Describe:
    target: Term
    span: Span


@frozen
class Reward:
    amount: Term
    span: Span


Output = Emit | Say | Describe | Reward
"""Statements that emit text, an event or a reward; no fact changes."""
Statement = Let | Write | If | For | Create | Destroy | Require | Output
Body = tuple[Statement, ...]
