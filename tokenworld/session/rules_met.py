"""Which rules ever happen in a state space, and what keeps the others from it.

`RulesMet` listens while the space is explored. Afterwards the requires of actions are looked at
state by state: which of them ever refuse, and which keep an action from ever being done.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from tokenworld.diagnostics import Source, Span
from tokenworld.engine import Engine, State
from tokenworld.engine.result import Result
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
from tokenworld.model import (
    BOOL,
    Action,
    And,
    Binder,
    Fold,
    ObjectType,
    Term,
    TypeRange,
    subterms,
)

__all__ = ["Idle", "Requires", "RulesMet", "idle_rules", "standing_requires"]

_FEW = 2_000
"""Of so many bindings each one is looked at; of more only those that static facts leave."""
_MOST_REQUIRES = 12
"""Subsets of more requires than this are not searched for the smallest that never hold."""


@dataclass(frozen=True, slots=True)
class Idle:
    """A rule that never happened: its kind and name, its place, and what kept it from it.

    ``blocking`` are the conditions that are never true, or never together, as written.
    """

    kind: str
    name: str
    place: Span
    reason: str
    blocking: tuple[str, ...] = ()


@dataclass(slots=True)
class RulesMet:
    """What happened on all edges of a state space."""

    engine: Engine
    actions: set[str] = field(default_factory=set)
    laws: set[str] = field(default_factory=set)
    watches: set[str] = field(default_factory=set)
    endings: set[str] = field(default_factory=set)
    awards: set[int] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)

    def begin(self, start: State) -> None:
        """What the start state has already."""
        self.endings |= set(self.engine.stepper.endings.reached(start, start.me))
        self.awards |= set(start.awarded)

    def observe(self, before: State, result: Result) -> None:
        """One result of a command, kept or discarded."""
        name = result.command.action if result.command is not None else ""
        if result.status == "executed" and name:
            self.actions.add(name)
        elif name and name not in self.failed:
            self._note_failure(name, result)
        self.laws |= {rule.title.removeprefix("law ") for rule in result.fired}
        self.endings |= set(result.latched)
        self.awards |= set(result.after.awarded)
        if result.breach is None and not result.after.turn:
            self._watches(before, result.after)

    def _note_failure(self, name: str, result: Result) -> None:
        if result.generated:
            self.failed[name] = f"it is always refused: {result.cause}"
        elif result.breach is not None:
            rule = f" by {result.breach.rule}" if result.breach.rule else ""
            self.failed[name] = f"it is always rolled back{rule}: {result.breach.message}"

    def _watches(self, before: State, after: State) -> None:
        base = before.told or before.round or before
        watches = self.engine.stepper.watches
        for name in self.engine.instance.program.watches:
            if name not in self.watches and watches.begins(name, base, after, before.me):
                self.watches.add(name)


# ---- requires ---------------------------------------------------------------------------------


@dataclass(slots=True)
class Requires:
    """How the requires of one action stood in all states, for all arguments.

    ``masks`` are the sets of requires that held together, ``refused`` those that were the first to
    fail. ``static`` are those that were not looked at one by one, because they sort bindings out
    before anything is looked at.
    """

    action: Action
    masks: set[frozenset[int]] = field(default_factory=set)
    refused: set[int] = field(default_factory=set)
    static: frozenset[int] | None = None

    @property
    def allowed(self) -> bool:
        """Whether all of them ever held together."""
        return frozenset(range(len(self.action.requires))) in self.masks

    @property
    def all_refused(self) -> bool:
        return len(self.refused) == len(self.action.requires)

    def note(self, stand: Sequence[bool | None]) -> None:
        """One state and one choice of arguments."""
        holding = frozenset(index for index, holds in enumerate(stand) if holds)
        self.masks.add(holding)
        failed = next((index for index, holds in enumerate(stand) if not holds), None)
        if failed is not None:
            self.refused.add(failed)

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
    engine: Engine, states: Sequence[State], deadline: float
) -> tuple[dict[str, Requires], int]:
    """The requires of all actions in all states, and in how many states they were looked at.

    ``deadline`` is a time of `time.monotonic`. An action of which nothing more is to be learnt is
    left alone.
    """
    actions = engine.instance.program.actions
    found = {name: Requires(action) for name, action in actions.items() if action.requires}
    for number, state in enumerate(states):
        pending = [one for one in found.values() if not (one.allowed and one.all_refused)]
        if not pending or time.monotonic() > deadline:
            return found, len(states) if not pending else number
        for requires in pending:
            _examine(engine, state, requires)
    return found, len(states)


def _examine(engine: Engine, state: State, requires: Requires) -> None:
    """One action in one state, with all arguments, as far as there is something to learn."""
    unit, action = engine.stepper.unit, requires.action
    after = unit.cancelled(state)
    for args in _bindings(engine, state, requires):
        command = Command(action.name, args)
        now = state if after is state or unit.free(state, command) else after
        requires.note(standing(engine.code, now, unit.since(now, command), command))
        if requires.allowed and requires.all_refused:
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


# ---- rules that never happened ------------------------------------------------------------------


def idle_rules(
    met: RulesMet,
    requires: dict[str, Requires],
    states: Sequence[State],
    sources: dict[str, Source],
    *,
    complete: bool,
) -> tuple[Idle, ...]:
    """Actions, laws, watches, endings and awards that never happened, in that order.

    ``complete``: ``states`` are all there are, so that what did not hold never holds.
    """
    program, world = met.engine.instance.program, met.engine.instance.world
    conditions = _Conditions(met.engine, states, sources, complete)
    found = [
        _idle_action(met, action, requires.get(name), complete)
        for name, action in program.actions.items()
        if name not in met.actions and not _only_talk(met, name, requires.get(name))
    ]
    for law in program.laws.values():
        if law.name not in met.laws:
            found.append(conditions.idle("law", law.name, law.span, law.params, law.when))
    for watch in program.watches.values():
        if watch.name not in met.watches:
            found.append(conditions.idle("watch", watch.name, watch.span, watch.params, watch.when))
    for line in world.endings:
        if line.name not in met.endings:
            found.append(conditions.idle(line.ending, line.name, line.span, (), line.condition))
    for index, award in enumerate(world.awards):
        if index not in met.awards:
            found.append(conditions.idle("award", str(index + 1), award.span, (), award.when))
    return tuple(found)


def _only_talk(met: RulesMet, name: str, requires: Requires | None) -> bool:
    """Whether an action is possible and was left out because it changes nothing."""
    return name not in met.failed and (requires is None or requires.allowed)


def _idle_action(met: RulesMet, action: Action, requires: Requires | None, complete: bool) -> Idle:
    if requires is None or requires.allowed:
        reason = met.failed.get(action.name, "nobody can ask for it")
        return Idle("action", action.name, action.span, reason)
    if not requires.masks:
        reason = "there is nothing it could be done to"
        return Idle("action", action.name, action.span, reason)
    chosen = [action.requires[index] for index in requires.blocking()]
    reason = _unmet(len(chosen), complete)
    blocking = tuple(require.source for require in chosen)
    place = chosen[0].span if len(chosen) == 1 else action.span
    return Idle("action", action.name, place, reason, blocking)


def _unmet(number: int, complete: bool) -> str:
    """What is said of so many conditions that did not hold together."""
    what = "this" if number == 1 else "these"
    together = "" if number == 1 else " together"
    how = ("never holds" if number == 1 else "never hold") if complete else "did not hold"
    return f"{what} {how}{together}{'' if complete else ' so far'}"


@dataclass(slots=True)
class _Conditions:
    """Conditions of rules that no actor gives, examined at the ends of ticks."""

    engine: Engine
    states: Sequence[State]
    sources: dict[str, Source]
    complete: bool

    def idle(
        self, kind: str, name: str, place: Span, params: tuple[Binder, ...], when: Term | None
    ) -> Idle:
        """A rule that never happened, with the parts of its condition that never hold."""
        empty = [one for one in params if not any(self._domain(one))]
        if empty:
            reason = f"there is nothing that `{empty[0].name}` could be"
            return Idle(kind, name, place, reason)
        if when is None:
            return Idle(kind, name, place, "no time passes in which it could happen")
        parts = when.terms if isinstance(when, And) else (when,)
        never = [part for part in parts if not self._ever(params, part)]
        if never:
            reason = _unmet(1, self.complete)
            return Idle(kind, name, never[0].span, reason, (self._text(never[0]),))
        reason = f"{_unmet(len(parts), self.complete)} when it is looked at"
        return Idle(kind, name, place, reason, tuple(self._text(part) for part in parts))

    def _domain(self, binder: Binder) -> Iterator[bool]:
        """Something for every object or value that a parameter can be in some state."""
        domain = binder.domain
        if not isinstance(domain, TypeRange) or not isinstance(domain.of, ObjectType):
            yield True
        else:
            yield from (bool(state.live[domain.of.name]) for state in self.states)

    def _ever(self, params: tuple[Binder, ...], part: Term) -> bool:
        """Whether a condition holds for some binding at the end of some tick.

        What looks back within the tick is given the benefit of the doubt.
        """
        if any(getattr(one, "was", False) for one in subterms(part)):
            return True
        term = Fold("any", part, params, None, BOOL, part.span) if params else part
        return any(self.engine.ask(state, term) for state in self.states)

    def _text(self, term: Term) -> str:
        source = self.sources.get(term.span.file)
        return "" if source is None else source.text[term.span.start : term.span.end]
