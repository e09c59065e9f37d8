"""The checked program: everything one root file and its modules declare."""

from __future__ import annotations

from collections.abc import Mapping

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.rules import (
    Action,
    Birth,
    Called,
    Conserve,
    Describe,
    Invariant,
    Law,
    Phase,
    Scope,
    Watch,
)
from tokenworld.model.scenarios import Scenario
from tokenworld.model.vocabulary import (
    Derive,
    Enum,
    Event,
    Fluent,
    ObjectDecl,
    ObjectKind,
    Param,
    Unit,
)
from tokenworld.model.worlds import World

ROOT = "Object"
"""The root object type: every object is one."""


@frozen
class SourceRef:
    """A source file: its display name and the SHA-256 of its bytes, in hexadecimal."""

    name: str
    digest: str


@frozen
class PddlEntry:
    """An entry of a ``pddl { }`` block."""

    key: str
    values: tuple[str, ...]
    span: Span


@frozen
class Program:
    """Names map to declarations in order of declaration (modules first, as used).

    Fluents are keyed by id. ``actor`` is the type of the acting object (``None``: one player
    without a body) and ``actor_name`` what rules call it.
    """

    sources: tuple[SourceRef, ...]
    units: Mapping[str, Unit]
    enums: Mapping[str, Enum]
    types: Mapping[str, ObjectKind]
    objects: Mapping[str, ObjectDecl]
    fluents: Mapping[str, Fluent]
    derives: Mapping[str, Derive]
    params: Mapping[str, Param]
    events: Mapping[str, Event]
    phases: Mapping[str, Phase]
    actions: Mapping[str, Action]
    laws: Mapping[str, Law]
    births: tuple[Birth, ...]
    watches: Mapping[str, Watch]
    invariants: Mapping[str, Invariant]
    conserves: Mapping[str, Conserve]
    called: tuple[Called, ...]
    scopes: tuple[Scope, ...]
    describes: tuple[Describe, ...]
    worlds: Mapping[str, World]
    scenarios: tuple[Scenario, ...]
    actor: str | None
    actor_name: str
    pddl: tuple[PddlEntry, ...]

    @property
    def digest(self) -> str:
        """One digest over all sources: which rules these are (SHA-256, hexadecimal)."""
        import hashlib

        joined = "\n".join(f"{source.name} {source.digest}" for source in self.sources)
        return hashlib.sha256(joined.encode()).hexdigest()

    @property
    def has_durations(self) -> bool:
        """Return whether some action has a `takes`, so that plans have times."""
        return any(one.takes is not None for one in self.actions.values())

    def is_subtype(self, name: str, ancestor: str) -> bool:
        """Return whether every ``name`` is an ``ancestor`` (a type is a subtype of itself)."""
        return ancestor == ROOT or (name in self.types and ancestor in self.types[name].ancestors)
