"""What an analysis needs to know of a program: a `Draft` while it is checked, or a `Program`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tokenworld.model import (
    Action,
    Birth,
    Conserve,
    Derive,
    Enum,
    Fluent,
    Invariant,
    Law,
    ObjectKind,
    Phase,
)

__all__ = ["Rulebook", "Vocabulary"]


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
