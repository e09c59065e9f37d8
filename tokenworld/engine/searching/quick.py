"""Ticks for a search: the state that a command leads to, and no record of how.

A search asks for thousands of successors and keeps few of them. Here a command whose action takes
its tick and no more is played on one fork: its plain function, the laws, what is checked, progress.
Whatever is not that simple, and every refusal, breach or error, is left to the `Stepper`, which
plays it anew from the same state; so nothing is decided here that is not decided there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from tokenworld.engine.applying import apply
from tokenworld.engine.compile import ActionCode
from tokenworld.engine.delta import Breach, Delta, RawChange
from tokenworld.engine.guards import Broken
from tokenworld.engine.luck import NO_DRAWS, ExploringLuck
from tokenworld.engine.plain import plain_of
from tokenworld.engine.result import Result
from tokenworld.engine.searching.quick_phases import QuickPhase, quick_phases
from tokenworld.engine.state import State
from tokenworld.engine.step import Stepper, is_last
from tokenworld.ground import Command, Enough, Unfinished
from tokenworld.model import (
    Action,
    Create,
    Let,
    effects_in,
    is_draw,
    may_draw,
)

__all__ = ["Came", "Listener", "QuickTicks"]


_OFTEN = 128
"""Every so many outcomes of one command it is asked whether they are enough."""


@dataclass(slots=True)
class Came:
    """One outcome: the state, the luck it took, the titles of laws that fired, what latched."""

    after: State
    luck: ExploringLuck
    fired: Sequence[str]
    latched: tuple[str, ...]


class Listener(Protocol):
    """Who wants to know what happens on the edges that a search looks at."""

    def observe(self, before: State, result: Result) -> None:
        """What the stepper made of a command, kept or discarded."""

    def happened(self, before: State, command: Command, came: Came) -> None:
        """The same of a command that was executed, without its record."""

    def did(self, command: Command) -> None:
        """Another command did nothing either: it came to what the one before came to."""

    def leapt(
        self,
        command: Command,
        titles: tuple[str, ...],
        latched: tuple[str, ...],
        awarded: tuple[int, ...],
    ) -> None:
        """A command was executed, of which it is known what it comes to."""

    @property
    def watches(self) -> bool:
        """Whether states are wanted for what watches may say."""


class QuickTicks:
    """All outcomes of commands in one compiled world."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self._actions: dict[str, ActionCode] = {
            name: one
            for name, one in stepper.code.actions.items()
            if one.action.takes is None and one.action.until is None
        }
        self._calm = ExploringLuck(())
        laws = stepper.instance.program.laws.values()
        self._chancy = any(may_draw(law.body) for law in laws)
        self._guarded = bool(stepper.instance.program.invariants)
        self.enough: Enough | None = None

    def look(self, count: int) -> None:
        """Go on listing the outcomes of a command, of which there are so many; or `Unfinished`."""
        if self.enough is not None and count % _OFTEN == 0 and self.enough(count):
            raise Unfinished

    def outcomes(self, state: State, command: Command) -> list[Came] | None:
        """What a command that is listed leads to, each combination of draws once; ``None`` where
        the stepper must say: it is refused or breaks something, or a long action is about."""
        if state.longs or self._stepper.endings.over(state):
            return None
        if not (command.is_pass or command.action in self._actions):
            return None
        try:
            return self._played(state, command)
        except (Breach, Broken):
            return None

    def is_plain(self, command: Command) -> bool:
        """Whether a command has a plain function, or is to wait."""
        code = self._actions.get(command.action)
        if code is None:
            return command.is_pass
        return plain_of(self._stepper.code, code.action) is not None

    def idles(self, state: State, command: Command) -> bool:
        """Whether a plain command whose action writes nothing would be executed now."""
        if command.is_pass:
            return True
        plain = plain_of(self._stepper.code, self._actions[command.action].action)
        if plain is None:
            return False
        delta = Delta(state.layout, self._calm, 0, 0) if plain.speaks else None
        try:
            was = state.round or state
            done: int = plain.do(state, state, was, state.acting, [], delta, *command.args)
        except Breach:
            return False
        return done == 1

    def _played(self, state: State, command: Command) -> list[Came] | None:
        """The same; `Breach` or `Broken` where a tick cannot end."""
        found, prefix = list[Came](), tuple[int, ...]()
        luck = self._fresh(prefix)
        done = self._done(state, command, luck)
        while done is not None:
            after, changes = done
            if self._chancy:  # what was done may be needed again
                after, changes = after.fork(), changes.copy()
            drawn = len(luck.choices)
            found.append(self._ended(state, after, changes, luck))
            self.look(len(found))
            if not luck.choices:
                self._calm = luck  # nothing was asked of it: as good as new
                return found
            following = luck.next_prefix()
            if following is None:
                return found
            luck = ExploringLuck(following)
            if drawn or not self._chancy:
                done = self._done(state, command, luck)
        return None

    def _fresh(self, prefix: tuple[int, ...]) -> ExploringLuck:
        calm = self._calm
        return calm if not calm.choices else ExploringLuck(prefix)

    # ---- what somebody does -------------------------------------------------------------------

    def _done(
        self, state: State, command: Command, luck: ExploringLuck
    ) -> tuple[State, list[RawChange]] | None:
        """A fork after the command's own changes, and these; ``None`` where it is not executed."""
        if command.is_pass:
            return state.fork(), []
        code = self._actions[command.action]
        plain = plain_of(self._stepper.code, code.action)
        if plain is None:
            return self._generally(state, command, luck)
        after, was, me = state.fork(), state.round or state, state.acting
        delta = Delta(state.layout, luck, 0, 0) if plain.speaks else None
        journal: list[RawChange] = []
        done = plain.do(state, after, was, me, journal, delta, *command.args)
        if done == -1:
            return self._generally(state, command, luck)
        if done == 0 or not self._stepper.guards.keeps_sums(state, after, plain.touches):
            return None
        after.trail.journal(journal)
        after.deeds = (*state.deeds, (me, command))
        return after, journal

    def _generally(
        self, state: State, command: Command, luck: ExploringLuck
    ) -> tuple[State, list[RawChange]] | None:
        if command.action in self._drawing:
            result = self._stepper.unit.do(state, command, luck)
            after = result.after
            if result.status != "executed":
                return None
            return (after.fork() if after is state else after), result.changes
        code, was, me = self._actions[command.action], state.round or state, state.acting
        if not code.holds(state, was, me, *command.args):
            return None
        delta = Delta(state.layout, luck, state.seed, state.tick)
        delta.by(f"action {command.action}", command.args, ())
        code.run(state, was, me, delta, *command.args)
        after = state.fork()
        changes = apply(after, delta)
        self._stepper.guards.check_conserved(state, after, delta, changes, state.me)
        after.deeds = (*state.deeds, (me, command))
        return after, changes

    @cached_property
    def _drawing(self) -> frozenset[str]:
        """The actions whose body may draw: a draw is known by whom it is made for."""
        births = bool(self._stepper.instance.program.births)
        return frozenset(
            name
            for name, one in self._actions.items()
            if any(
                is_draw(effect) or (births and isinstance(effect, Create))
                for effect in (*_lets(one.action), *effects_in(one.action.body))
            )
        )

    # ---- how the tick ends --------------------------------------------------------------------

    def _ended(
        self, state: State, after: State, changes: list[RawChange], luck: ExploringLuck
    ) -> Came:
        """The next actor's turn, or the end of the round: ``after`` is nobody else's."""
        was = state.round or state
        if len(state.actors) > 1:
            self._check(was, after, changes)
            if not is_last(state, after):
                after.turn, after.round = state.seat + 1, was
                return Came(after, luck, (), ())
        after, titles, made = self._pass_time(after, was, luck)
        self._check(was, after, [*changes, *made])
        return Came(after, luck, titles, self.closed(state, after))

    def _check(self, was: State, after: State, changes: list[RawChange]) -> None:
        if self._guarded:
            self._stepper.guards.check_invariants(was, after, changes, was.me)

    def _pass_time(
        self, after: State, was: State, luck: ExploringLuck
    ) -> tuple[State, list[str], list[RawChange]]:
        """The state after the phases, the titles of the laws that fired, what they changed."""
        titles, changes = list[str](), list[RawChange]()
        if self._phases is not None:
            for phase in self._phases:
                phase(after, was, luck, titles, changes)
            after.trail.journal(changes)  # the plain laws of a phase in turn write without a note
            return after, titles, changes
        told = self._stepper.halt(was, "")  # what phases tell of
        for one in self._stepper.phases:
            after = one.run(told, after, was, luck)
        return after, [rule.title for rule in told.fired], told.law_changes

    @cached_property
    def _phases(self) -> tuple[QuickPhase, ...] | None:
        return quick_phases(self._stepper)

    @cached_property
    def laws(self) -> bool:
        """Whether anything happens or is checked at the end of a tick."""
        return bool(self._stepper.phases) or self._guarded

    # ---- piece by piece -----------------------------------------------------------------------

    def checked(self, state: State, command: Command, luck: ExploringLuck) -> State | None:
        """A fork after a command's own changes alone; ``None`` where it is not executed. `Breach`
        or `Broken` where it cannot be."""
        done = self._done(state, command, luck)
        if done is None:
            return None
        if len(state.actors) > 1:
            self._check(state.round or state, done[0], self._anything)
        return done[0]

    def passed(self, state: State, opened: State, luck: ExploringLuck) -> tuple[State, list[str]]:
        """The same after the phases of a tick: ``opened`` is nobody else's. The titles of the laws
        that fired."""
        was = state.round or state
        after, titles, _ = self._pass_time(opened, was, luck)
        self._check(was, after, self._anything)
        return after, titles

    @cached_property
    def _anything(self) -> list[RawChange]:
        """As if every slot had been changed: every invariant is looked at."""
        return [(column, 0, None, None, "") for column in self._stepper.layout.columns]

    def closed(self, state: State, after: State) -> tuple[str, ...]:
        """Close a round as `rounds.closed` does, in place; what latched."""
        if after.memo:
            after.memo = {}
        after.deeds, after.drawn = (), NO_DRAWS
        after.turn, after.round, after.told = 0, None, None
        after.tick += 1
        return self._stepper.endings.progress(after, state.me)


def _lets(action: Action) -> list[Let]:
    return [one for one in action.guards if isinstance(one, Let)]
