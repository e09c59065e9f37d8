"""How the requires of actions stand in the states of a graph: which ever refuse, and together."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from tokenworld.engine import Engine, State
from tokenworld.engine.why import standing
from tokenworld.ground import (
    Command,
    Instance,
    Raw,
    changed_in_play,
    conjuncts,
    count_bindings,
    parameter_domains,
    patterns_of,
)
from tokenworld.model import Action, Binder, ObjectType
from tokenworld.session.looked_at import LookedAt
from tokenworld.session.witnesses import Witnesses

__all__ = ["Requires", "standing_requires"]

_FEW = 2_000
"""Of so many bindings each one is looked at; of more only those that static facts leave."""
_MOST_REQUIRES = 12
"""Subsets of more requires than this are not searched for the smallest that never hold."""


@dataclass(slots=True)
class Requires:
    """How the requires of one action stood in all states, for all arguments.

    ``masks`` are the sets of requires that held together, ``refused`` those that were the first to
    fail. ``static`` are those that were not looked at one by one, because they sort bindings out
    before anything is looked at. ``refusals``: which ever refuse is asked as well.
    """

    action: Action
    refusals: bool
    masks: set[frozenset[int]] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    static: frozenset[int] | None = None
    stands: set[tuple[bool | None, ...]] = field(default_factory=set)

    @property
    def allowed(self) -> bool:
        """Whether all of them ever held together."""
        return frozenset(range(len(self.action.requires))) in self.masks

    @property
    def settled(self) -> bool:
        """Whether nothing more is to be learnt."""
        return self.allowed and (self.all_refused or not self.refusals)

    @property
    def all_refused(self) -> bool:
        return len(self.refused) == len(self.action.requires)

    def note(self, stand: tuple[bool | None, ...]) -> bool:
        """One state and one choice of arguments; whether that was news."""
        if stand in self.stands:
            return False
        self.stands.add(stand)
        holding = frozenset(index for index, holds in enumerate(stand) if holds)
        self.masks.add(holding)
        failed = next((index for index, holds in enumerate(stand) if not holds), None)
        if failed is not None:
            self.refused.add(failed)
        return True

    def blocking(self) -> tuple[int, ...]:
        """The first require that never holds, else a smallest set that never holds together."""
        indices = range(len(self.action.requires))
        most = len(indices) if len(indices) <= _MOST_REQUIRES else 1
        for size in range(1, most + 1):
            for chosen in combinations(indices, size):
                if not any(mask >= frozenset(chosen) for mask in self.masks):
                    return chosen
        return ()


def standing_requires(
    engine: Engine, looking: Witnesses, deadline: float, met: Collection[str], *, complete: bool
) -> tuple[dict[str, Requires], int]:
    """The requires of actions in all states, and in how many states they were looked at.

    ``deadline`` is a time of `time.monotonic`. An action of which nothing more is to be learnt is
    left alone; where the states are not ``complete``, so is what was done in one of them (``met``),
    for nothing can be said about what never refuses.
    """
    actions = engine.instance.program.actions
    found = {
        name: Requires(action, complete)
        for name, action in actions.items()
        if action.requires and (complete or name not in met)
    }
    rest = [
        (one, LookedAt(engine, one.action, looking.told))
        for one in found.values()
        if not _examine_apart(engine, looking, one, deadline)
    ]
    for number, (mark, state) in enumerate(looking.playing()):
        rest = [pair for pair in rest if not pair[0].settled]
        if not rest or time.monotonic() > deadline:
            return found, looking.total if not rest else number
        after = engine.stepper.unit.cancelled(state)
        for requires, looked_at in rest:
            if looked_at.news(mark, state, after):
                _examine(engine, state, after, requires)
    return found, looking.total


def _examine_apart(engine: Engine, looking: Witnesses, requires: Requires, deadline: float) -> bool:
    """One action, each choice of arguments in the states that tell how its requires stand; false
    where that is not possible, or time is up."""
    action = requires.action
    domains = parameter_domains(engine.instance, action.params)
    if count_bindings(domains) > _FEW:
        return False
    for args in product(*domains):
        command = Command(action.name, args)
        states = looking.of_requires(action, args)
        if states is None:
            return False
        for state in states:
            if all(state.alive(one) for one in _objects(action, args)):
                now = engine.stepper.unit.since(state, command)
                requires.note(standing(engine.code, state, now, command))
            if requires.settled:
                return True
            if time.monotonic() > deadline:
                return False
    return True


def _objects(action: Action, args: Sequence[Raw]) -> Iterator[int]:
    """The objects among the arguments of an action."""
    for binder, value in zip(action.params, args, strict=True):
        if isinstance(binder.type, ObjectType) and isinstance(value, int):
            yield value


def _examine(engine: Engine, state: State, after: State, requires: Requires) -> None:
    """One action in one state, with all arguments, as far as there is something to learn."""
    unit, action = engine.stepper.unit, requires.action
    for args in _bindings(engine, state, requires):
        command = Command(action.name, args)
        now = state if after is state or unit.free(state, command) else after
        news = requires.note(standing(engine.code, now, unit.since(now, command), command))
        if news and requires.settled:
            return


def _bindings(engine: Engine, state: State, requires: Requires) -> Iterable[tuple[Raw, ...]]:
    """All bindings; where these are too many, those that static facts leave.

    Then the requires which say these facts did refuse something.
    """
    action, instance = requires.action, engine.instance
    domains = _domains(instance, state, action.params)
    if count_bindings(domains) <= _FEW:
        return product(*domains)
    if requires.static is None:
        changing = changed_in_play(instance.program)
        parts = [tuple(conjuncts((one.condition,))) for one in action.requires]
        found = [patterns_of(instance, action.params, one, changing) for one in parts]
        requires.static = frozenset(index for index, one in enumerate(found) if one)
        requires.refused |= requires.static
    return engine.bindings(state, action.name) or ()


def _domains(instance: Instance, state: State, params: tuple[Binder, ...]) -> list[Sequence[Raw]]:
    declared = parameter_domains(instance, params)
    return [
        state.live[binder.type.name] if isinstance(binder.type, ObjectType) else domain
        for binder, domain in zip(params, declared, strict=True)
    ]
