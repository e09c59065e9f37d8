"""Rules: actions, laws, births, watches, invariants, and the prose that names and describes."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.effects import Body, Let
from tokenworld.model.terms import Binder, NumberLiteral, Template, Term

PhaseOrder = Literal["simultaneous", "sequential", "by_nesting"]


@frozen
class Atom:
    """A part of a condition whose value explains a refusal: its source text and its term."""

    text: str
    term: Term


@frozen
class Require:
    """A precondition; ``source`` quotes the condition as written.

    ``label`` is empty and ``text`` is ``None`` where the author gave none; the default text
    quotes the condition.
    """

    condition: Term
    label: str
    text: Template | None
    source: str
    atoms: tuple[Atom, ...]
    span: Span
    kind: Literal["require"] = "require"


@frozen
class Action:
    """An action schema. ``guards`` keeps lets and requires in written order.

    ``takes`` and ``cost`` are terms over parameters (``None``: 1 tick, no cost written).
    Lets of ``guards`` are visible in ``body``, ``cancelled`` and ``cost``. ``notes`` are changes
    that the checker adds to ``body``: what conditions on all states up to now need to know.
    """

    name: str
    params: tuple[Binder, ...]
    phrases: tuple[Template, ...]
    takes: Term | None
    until: Term | None
    cost: Term | None
    guards: tuple[Let | Require, ...]
    body: Body
    cancelled: Body
    span: Span
    quirk: str | None = None
    doc: str | None = None
    notes: Body = ()

    @property
    def requires(self) -> tuple[Require, ...]:
        """The preconditions in written order."""
        return tuple(guard for guard in self.guards if isinstance(guard, Require))

    @property
    def steps(self) -> tuple[Term | Let, ...]:
        """The conditions of the requires and the lets between them, in written order."""
        return tuple(one if isinstance(one, Let) else one.condition for one in self.guards)

    @property
    def may_be_long(self) -> bool:
        """Return whether it may take more than one tick: not with ``takes 0`` and ``takes 1``."""
        ticks = self.takes.value if isinstance(self.takes, NumberLiteral) else None
        return self.takes is not None and ticks not in (0, 1)

    @property
    def may_be_free(self) -> bool:
        """Return whether it may take no time at all: with ``takes 0``, and where a term decides."""
        ticks = self.takes.value if isinstance(self.takes, NumberLiteral) else 0
        return self.takes is not None and ticks == 0


@frozen
class Phase:
    name: str
    order: PhaseOrder
    span: Span


@frozen
class Law:
    """A per-tick rule; ``phase`` is empty for the last, unnamed phase. ``added`` by the checker."""

    name: str
    params: tuple[Binder, ...]
    phase: str
    when: Term | None
    body: Body
    span: Span
    quirk: str | None = None
    doc: str | None = None
    added: bool = False


@frozen
class Birth:
    """The changes to each created object of a type, made by the body that creates it."""

    param: Binder
    body: Body
    span: Span


@frozen
class Watch:
    """Speaks when ``when`` becomes true (each tick it is true, if ``uses_was``)."""

    name: str
    params: tuple[Binder, ...]
    once: bool
    when: Term
    body: Body
    uses_was: bool
    span: Span


@frozen
class Invariant:
    name: str
    params: tuple[Binder, ...]
    condition: Term
    source: str
    atoms: tuple[Atom, ...]
    span: Span


@frozen
class Conserve:
    """``value`` may change only in the actions and laws named in ``exempt``."""

    name: str
    value: Term
    exempt: tuple[str, ...]
    source: str
    span: Span


@frozen
class Called:
    """The name of an object of a type, possibly depending on the state; ``aka``: also read."""

    param: Binder
    name: Term
    aka: tuple[Term, ...]
    span: Span


@frozen
class Scope:
    """The condition under which objects may be named in typed commands."""

    param: Binder
    condition: Term
    span: Span


@frozen
class Describe:
    param: Binder
    body: Body
    span: Span
