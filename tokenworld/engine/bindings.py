"""The bindings of an action that its static facts allow in a state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from typing import Any

from tokenworld.core import lowered
from tokenworld.core.nodes import Let
from tokenworld.core.rules import Action
from tokenworld.core.walk import conjuncts
from tokenworld.engine.columns import Layout
from tokenworld.engine.state import State
from tokenworld.ground import (
    MANY,
    Instance,
    Pattern,
    Raw,
    changed_in_play,
    count_bindings,
    joined,
    parameter_domains,
    patterns_of,
)
from tokenworld.model import ObjectType


class Listing:
    """The bindings of actions. The result of a join is cached until its facts change.

    The facts of fluents in ``hidden`` leave out no binding.
    """

    def __init__(
        self, instance: Instance, layout: Layout, hidden: frozenset[str] = frozenset()
    ) -> None:
        self._instance, self._layout, self._hidden = instance, layout, hidden
        self.instance = instance
        self._known: dict[str, tuple[tuple[Any, ...], list[tuple[Raw, ...]] | None]] = {}

    def bindings(self, state: State, name: str) -> Iterable[tuple[Raw, ...]] | None:
        """Every binding that may satisfy the requires of an action, in order.

        ``None`` where there are too many to list (`MANY`).
        """
        domains = self.domains(state, name)
        patterns = self._patterns[name]
        if not patterns:
            return product(*domains) if count_bindings(domains) <= MANY else None
        basis = self._basis(state, name)
        known = self._known.get(name)
        if known is None or not _same(known[0], basis):
            made = joined(domains, patterns, lambda one: self._rows(state, one), MANY)
            known = self._known[name] = (basis, made)
        return known[1]

    def is_listed(self, state: State, name: str) -> bool:
        """Return whether its bindings are few enough to be listed; of few candidates always."""
        if count_bindings(self.domains(state, name)) <= MANY:
            return True
        return self.bindings(state, name) is not None

    def unlisted(self, state: State) -> frozenset[str]:
        """Actions with too many bindings to list: they can be given, and are never offered; who
        searches must not take a list for all that can be done."""
        actions = self._instance.program.actions
        return frozenset(name for name in actions if not self.is_listed(state, name))

    def domains(self, state: State, name: str) -> list[Sequence[Raw]]:
        """The candidates of each parameter; of objects, those that live."""
        params = self._instance.program.actions[name].params
        return [
            state.live[binder.type.name] if isinstance(binder.type, ObjectType) else domain
            for binder, domain in zip(params, self._candidates[name], strict=True)
        ]

    @cached_property
    def static(self) -> tuple[int, ...]:
        """The columns that decide, with who lives, which bindings there are."""
        patterns = (one for found in self._patterns.values() for one in found)
        return tuple(dict.fromkeys(self._layout.by_id[one.fluent].index for one in patterns))

    @cached_property
    def _candidates(self) -> dict[str, list[Sequence[Raw]]]:
        actions = self._instance.program.actions.items()
        return {name: parameter_domains(self._instance, one.params) for name, one in actions}

    @cached_property
    def _patterns(self) -> dict[str, tuple[Pattern, ...]]:
        changing = changed_in_play(self._instance.program) | self._hidden
        actions = lowered(self._instance.program).actions.items()
        return {name: self._patterns_of(action, changing) for name, action in actions}

    def _patterns_of(self, action: Action, changing: frozenset[str]) -> tuple[Pattern, ...]:
        lets = (guard for guard in action.guards if isinstance(guard, Let))
        named = {name for let in lets for name in let.names}
        if named & {binder.name for binder in action.params}:
            return ()  # a name that means two things: leave it to the requires themselves
        parts = conjuncts(require.condition for require in action.requires)
        return patterns_of(self._instance, action.params, parts, changing)

    def _basis(self, state: State, name: str) -> tuple[Any, ...]:
        """The input of a join: columns and populations, which states share while they are equal."""
        columns = (state.cols[self._layout.by_id[one.fluent].index] for one in self._patterns[name])
        params = self._instance.program.actions[name].params
        kinds = (one.type.name for one in params if isinstance(one.type, ObjectType))
        return (*columns, *(state.live[kind] for kind in kinds))

    def _rows(self, state: State, pattern: Pattern) -> Iterable[tuple[Raw, ...]]:
        """The rows of a fluent: tuples that hold, or each object with its value."""
        column = self._layout.by_id[pattern.fluent]
        stored = state.cols[column.index]
        if pattern.valued:
            return [(number, value) for number, value in enumerate(stored)]
        if column.by_object:
            return [(number,) for number, holds in enumerate(stored) if holds]
        held = [key for key, holds in stored.items() if holds]
        return [*held, *((b, a) for a, b in held)] if column.fluent.symmetric else held


def _same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(left is right for left, right in zip(one, other, strict=True))
