"""The classes of rules in core, each with its footprint.

The vocabulary (types, enums, fluents, params, phases) stays in the checked model: a declaration
means the same before and after desugaring.
"""

from __future__ import annotations

from collections.abc import Mapping

from tokenworld.core.nodes import Binder, Body, Field, Let, Require, Template, Term
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import EndingKind, ValueType


@frozen
class Footprint:
    """The dependency set of a rule, derives included: every index is made from it.

    ``reads`` and ``writes`` are ids of fluents; ``was`` are those read at the start of the tick.
    ``named`` are those of ``writes`` that the author named: creation fills in the others by
    default. ``types`` are the object types whose members are enumerated, ``creates`` those it
    makes. ``asks`` are the built-in functions that read values outside of slots: ``tick``,
    ``score``, ``busy``, ``did``, ``id``.
    """

    reads: frozenset[str] = frozenset()
    was: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    creates: frozenset[str] = frozenset()
    asks: frozenset[str] = frozenset()
    destroys: bool = False
    draws: bool = False
    acts: bool = False

    @property
    def read(self) -> frozenset[str]:
        """The fluents it reads, now or at the start of the tick."""
        return self.reads | self.was

    @property
    def touched(self) -> frozenset[str]:
        """The fluents it reads, now or at the start of the tick, or writes by name."""
        return self.read | self.writes

    def may_change(self, fluents: frozenset[str]) -> bool:
        """Return whether it may change a slot of one of these that is there before."""
        return bool(fluents) and (self.destroys or not fluents.isdisjoint(self.named))

    @property
    def looks_back(self) -> bool:
        """Return whether it reads the state at the start of the tick."""
        return bool(self.was) or "did" in self.asks


@frozen
class Action:
    """An action schema. ``guards`` keeps lets and requires in written order; ``takes`` and
    ``cost`` are ``None`` where nothing is written (1 tick, no cost)."""

    name: str
    params: tuple[Binder, ...]
    phrases: tuple[Template, ...]
    guards: tuple[Let | Require, ...]
    takes: Term | None
    until: Term | None
    cost: Term | None
    body: Body
    cancelled: Body
    span: Span
    footprint: Footprint

    @property
    def requires(self) -> tuple[Require, ...]:
        """The preconditions in written order."""
        return tuple(one for one in self.guards if isinstance(one, Require))


@frozen
class Law:
    """A per-tick rule; ``phase`` is empty for the last, unnamed phase."""

    name: str
    params: tuple[Binder, ...]
    phase: str
    when: Term | None
    body: Body
    span: Span
    footprint: Footprint


@frozen
class Birth:
    """The statements that run on each created object of the type of ``param``."""

    param: Binder
    body: Body
    span: Span
    footprint: Footprint


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
    footprint: Footprint


@frozen
class Derive:
    """A derived fact; ``recursive``: the least fixpoint of its own uses."""

    name: str
    params: tuple[Binder, ...]
    value: Term
    type: ValueType
    recursive: bool
    span: Span
    footprint: Footprint


@frozen
class Invariant:
    """A condition that every commit keeps."""

    name: str
    params: tuple[Binder, ...]
    condition: Term
    source: str
    atoms: tuple[tuple[str, Term], ...]
    span: Span
    footprint: Footprint


@frozen
class Conserve:
    """A value that only the rules named in ``exempt`` may change."""

    name: str
    value: Term
    exempt: tuple[str, ...]
    source: str
    span: Span
    footprint: Footprint


@frozen
class Called:
    """The name of an object, and further words that are understood."""

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
class Description:
    """The `describe` rule of a type of objects."""

    param: Binder
    body: Body
    span: Span


@frozen
class Ending:
    """A ``goal``, ``lose`` or ``stop`` line."""

    ending: EndingKind
    name: str
    condition: Term
    text: Template | None
    source: str
    span: Span
    footprint: Footprint


@frozen
class Award:
    """An amount and its condition: an ``award`` or a ``reward e when c`` line."""

    amount: Term
    when: Term
    span: Span
    footprint: Footprint


@frozen
class WorldRules:
    """The rules that a world adds to those of its program: endings, awards, score."""

    name: str
    endings: tuple[Ending, ...]
    awards: tuple[Award, ...]
    pays: tuple[Award, ...]
    score: Term | None

    @property
    def goals(self) -> tuple[Ending, ...]:
        """The goal lines in written order."""
        return tuple(one for one in self.endings if one.ending == "goal")


@frozen
class StartRules:
    """The bodies that make the start state of a world: setups, legends (by layout and symbol)."""

    setups: tuple[Body, ...]
    legends: tuple[Mapping[str, Body], ...]


@frozen
class ObjectRules:
    """The declaration of an object: fields in written order, and words it is known by."""

    fields: tuple[Field, ...]
    aka: tuple[Term, ...]
