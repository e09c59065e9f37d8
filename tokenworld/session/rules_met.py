"""Which rules ever happen in a state space, and what keeps the others from it.

`RulesMet` listens while the space is explored. Afterwards the requires of actions are looked at
state by state: which of them ever refuse, and which keep an action from ever being done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tokenworld.diagnostics import Source, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, State
from tokenworld.engine.result import Result
from tokenworld.engine.searching.quick import Came
from tokenworld.ground import Command
from tokenworld.model import (
    BOOL,
    Action,
    And,
    Binder,
    Fold,
    ObjectType,
    Term,
    TypeRange,
    looks_back,
)
from tokenworld.session.standing import Requires
from tokenworld.session.witnesses import Witnesses

__all__ = ["Idle", "RulesMet", "idle_rules"]


@frozen
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
    begun: set[str] = field(default_factory=set)
    endings: set[str] = field(default_factory=set)
    awards: set[int] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    _titles: set[str] = field(default_factory=set)
    _heard: set[tuple[str, ...]] = field(default_factory=set)

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

    def happened(self, before: State, command: Command, came: Came) -> None:
        """The same of a command that was executed, without its record."""
        self.did(command)
        for title in came.fired:
            if title not in self._titles:
                self._titles.add(title)
                self.laws.add(title.removeprefix("law "))
        self.endings.update(came.latched)
        if came.after.awarded:
            self.awards.update(came.after.awarded)
        if not came.after.turn:
            self._watches(before, came.after)

    def leapt(
        self,
        command: Command,
        titles: tuple[str, ...],
        latched: tuple[str, ...],
        awarded: tuple[int, ...],
    ) -> None:
        """A command was executed, of which it is known what it comes to."""
        if command.action:
            self.actions.add(command.action)
        if titles and titles not in self._heard:
            self._heard.add(titles)
            self.laws |= {title.removeprefix("law ") for title in titles}
        if latched or awarded:
            self.endings.update(latched)
            self.awards.update(awarded)

    @property
    def watches(self) -> bool:
        """Whether states are wanted for what watches may say."""
        return not self.begun >= self.engine.instance.program.watches.keys()

    def did(self, command: Command) -> None:
        """A command that came to what the one before came to."""
        if command.action:
            self.actions.add(command.action)

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
            if name not in self.begun and watches.begins(name, base, after, before.me):
                self.begun.add(name)


# ---- rules that never happened ------------------------------------------------------------------


def idle_rules(
    met: RulesMet,
    requires: dict[str, Requires],
    looking: Witnesses,
    sources: dict[str, Source],
    *,
    complete: bool,
) -> tuple[Idle, ...]:
    """Actions, laws, watches, endings and awards that never happened, in that order.

    ``complete``: the states are all there are, so that what did not hold never holds.
    """
    program, world = met.engine.instance.program, met.engine.instance.world
    conditions = _Conditions(met.engine, looking, sources, complete)
    found = [
        _idle_action(met, action, requires.get(name), complete)
        for name, action in program.actions.items()
        if name not in met.actions and not _only_talk(met, name, requires.get(name))
    ]
    for law in program.laws.values():
        if law.name not in met.laws:
            found.append(conditions.idle("law", law.name, law.span, law.params, law.when))
    for watch in program.watches.values():
        if watch.name not in met.begun:
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
    looking: Witnesses
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
            yield from (bool(state.live[domain.of.name]) for state in self.looking.any())

    def _ever(self, params: tuple[Binder, ...], part: Term) -> bool:
        """Whether a condition holds for some binding at the end of some tick.

        What looks back within the tick is given the benefit of the doubt.
        """
        if looks_back((part,)):
            return True
        term = Fold("any", part, params, None, BOOL, part.span) if params else part
        states = self.looking.of_condition(part, params)
        return any(self.engine.ask(state, term) for state in states)

    def _text(self, term: Term) -> str:
        source = self.sources.get(term.span.file)
        return "" if source is None else source.text[term.span.start : term.span.end]
