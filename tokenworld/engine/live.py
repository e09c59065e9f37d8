"""One world played in place: the fast door for programs that try many actions.

    live = engine.live()
    journal = live.apply(command)      # what changed, or None: it was not executed
    live.undo()                        # as it was before
    live.legal(), live.state()         # commands; a state that later play does not touch

There is one state, and its plain actions (see `plain`) write to it. The journal of a tick is the
list of its changes with the old values: it tells what happened, and it undoes it. No record, text
or hash is made. What is not plain goes through the `Stepper`, so that every command comes to the
same state as in `Engine.play`; only how fast differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tokenworld.engine.clock import deciding_terms
from tokenworld.engine.compile import Function
from tokenworld.engine.delta import Breach, Delta, RawChange
from tokenworld.engine.endings import Endings
from tokenworld.engine.live_turns import Turns, turns_of
from tokenworld.engine.luck import Luck, SeededLuck
from tokenworld.engine.plain import plain_of
from tokenworld.engine.sequence import InTurn
from tokenworld.engine.simultaneous import Together
from tokenworld.engine.state import State
from tokenworld.engine.step import Stepper
from tokenworld.engine.trail import Trail
from tokenworld.ground import Command, written
from tokenworld.model import BuiltinCall, subterms

__all__ = ["LiveRules", "LiveWorld"]

MOST_UNSAVED = 4096
"""Ticks after which it is no longer kept which slots differ from the last state that was given."""


@dataclass(frozen=True, slots=True)
class _Before:
    """What undoes a tick that was not made in place: the state before it."""

    state: State


@dataclass(frozen=True, slots=True)
class _Ended:
    """What undoes a tick in place at which an ending or an award was reached."""

    journal: list[RawChange]
    latched: tuple[str, ...]
    awarded: tuple[int, ...]


class _Step(NamedTuple):
    """How an action writes in place: its function, whether it speaks, and the endings that it may
    reach, if there are such."""

    do: Function
    speaks: bool
    settles: Endings | None


class LiveRules:
    """What all live worlds of one engine share."""

    def __init__(self, stepper: Stepper, legal: Callable[[State], Iterable[Command]]) -> None:
        self.stepper, self.legal = stepper, legal
        self.phases = tuple(one for one in stepper.phases if isinstance(one, Together))
        steps = {}
        if _is_steady(stepper):
            steps = {name: _in_place(stepper, name) for name in stepper.code.actions}
        self.steps = {name: step for name, step in steps.items() if step is not None}
        self.turns = turns_of(stepper)


class LiveWorld:
    """Plays one state in place; made by `Engine.live`. Seeded draws, unless ``luck`` is given."""

    def __init__(self, rules: LiveRules, state: State, luck: Luck | None = None) -> None:
        self._stepper, self._luck = rules.stepper, luck or SeededLuck()
        self._legal, self._steps, self._phases = rules.legal, rules.steps, rules.phases
        self._turns = rules.turns
        self._always = rules.stepper.instance.world.time_always
        self._past: list[list[RawChange] | _Before | _Ended] = []
        self._unsaved: list[list[RawChange]] = []
        self._adopt(state)

    def _adopt(self, state: State) -> None:
        """Go on from a state that others may keep."""
        self._state = state.fork()
        self._me = state.me
        self._unsaved = []
        endings = self._stepper.endings
        self._halts = endings.over(state) or state.longs != () or len(state.actors) > 1

    # ---- playing ------------------------------------------------------------------------------

    def apply(self, command: Command) -> list[RawChange] | None:
        """Play a tick. Its changes, laws included, if the command was executed, took time or was
        interrupted; ``None`` if it was refused, rolled back or in error, or the world is over.

        A change is (column, key, old value, new value, rule); ``column.fluent`` is what changed.
        """
        if self._turns is not None and not self._halts:
            return self._by_turns(self._turns, command)
        step = self._steps.get(command.action)
        if step is None or self._halts:
            return self._generally(command)
        state = self._state
        journal: list[RawChange] = []
        do, speaks, settles = step
        delta = Delta(state.layout, self._luck, 0, 0) if speaks else None
        try:
            done = do(state, state, state, self._me, journal, delta, *command.args)
        except Breach:
            done = -1
        if done == 1 and self._phases:
            journal, done = self._pass_time(journal)
        if done == 1:
            state.tick += 1
            if state.memo:
                state.memo.clear()
            if settles is None:
                self._past.append(journal)
            else:
                self._settle(settles, journal)
            if not self._phases:
                self._unsaved.append(journal)
            return journal
        return None if done == 0 and not self._always else self._generally(command)

    def _by_turns(self, turns: Turns, command: Command) -> list[RawChange] | None:
        """A tick with laws in turn. What undoes it is the state before."""
        before = self.state()
        done, changes = turns.play(self._state, before, command, self._luck)
        if done < 0:
            self._adopt(before)
            return self._generally(command)
        if done == 0 and not self._always:
            return None
        self._past.append(_Before(before))
        self._halts = self._stepper.endings.over(self._state)
        return changes if done else None

    def _pass_time(self, journal: list[RawChange]) -> tuple[list[RawChange], int]:
        """Let the laws write too: all changes and 1; or -1, with everything as it was."""
        every = journal
        self._unsaved.append(journal)
        for phase in self._phases:
            self._save()
            try:
                changes = phase.in_place(self._state, self._luck)
            except Breach:
                changes = None
            if changes is None:
                self._restore(every)
                return every, -1
            self._unsaved.append(changes)
            every = [*every, *changes]
        return every, 1

    def _settle(self, settles: Endings, journal: list[RawChange]) -> None:
        state = self._state
        latched, awarded = state.latched, state.awarded
        settles.progress(state, self._me)
        if state.latched is latched and state.awarded is awarded:
            self._past.append(journal)
            return
        self._past.append(_Ended(journal, latched, awarded))
        self._halts = settles.over(state)

    def _generally(self, command: Command) -> list[RawChange] | None:
        before = self.state()
        results = self._stepper.tick(before, command, self._luck)
        last = results[-1]
        done = last.status in ("executed", "waiting", "interrupted")
        if done or last.time_passed or last.after.turn != before.turn:
            self._past.append(_Before(before))
            self._adopt(last.after)
        changes = [change for one in results for change in (*one.changes, *one.law_changes)]
        return changes if done else None

    def undo(self) -> None:
        """Go back by one tick that `apply` made; `IndexError` at the start."""
        entry = self._past.pop()
        if isinstance(entry, _Before):
            self._adopt(entry.state)
            return
        state = self._state
        if isinstance(entry, _Ended):
            state.latched, state.awarded, journal = entry.latched, entry.awarded, entry.journal
            self._halts = False
        else:
            journal = entry
        self._restore(journal)
        state.tick -= 1

    def _restore(self, journal: list[RawChange]) -> None:
        for column, key, old, _, _ in reversed(journal):
            self._state.place(column, key, old)
        self._unsaved.append(journal)
        if len(self._unsaved) >= MOST_UNSAVED:
            self._save()

    # ---- asking -------------------------------------------------------------------------------

    def legal(self) -> list[Command]:
        """Every command that would be executed now, as `Engine.legal` lists them."""
        return list(self._legal(self.now()))

    def state(self) -> State:
        """The present state as a value: what is played later does not change it."""
        self._save()
        kept = self._state.fork()
        kept.trail = self._state.trail
        self._state.trail = Trail(kept.trail)
        self._state.mine = set()
        return kept

    def now(self) -> State:
        """The present state itself, to be read before the next tick and never written."""
        self._save()
        return self._state

    @property
    def depth(self) -> int:
        """How many ticks can be undone."""
        return len(self._past)

    def _save(self) -> None:
        """Bring the trail of the state up to date, so that what was known of it can be kept."""
        state, unsaved = self._state, self._unsaved
        if state.memo:
            state.memo.clear()
        if not unsaved:
            return
        state.trail = Trail(state.trail)
        if len(unsaved) >= MOST_UNSAVED:
            state.trail.roll = True
        else:
            state.trail.journals = unsaved
        self._unsaved = []


def _is_steady(stepper: Stepper) -> bool:
    """Whether ticks can be made in place at all: no watches, no laws in turn, no rule that looks
    back in the tick, no law whose changes are looked at."""
    if stepper.instance.program.watches or any(isinstance(one, InTurn) for one in stepper.phases):
        return False
    touched = _touched_by_laws(stepper)
    looks_back = any(
        getattr(part, "was", False)
        or (isinstance(part, BuiltinCall) and part.name in ("did", "busy"))
        for term in deciding_terms(stepper.instance)
        for part in subterms(term)
    )
    return not (stepper.phases and looks_back) and not _is_looked_at(stepper, touched)


def _touched_by_laws(stepper: Stepper) -> frozenset[str]:
    program = stepper.instance.program
    bodies = (written(program.fluents, law.body) for law in program.laws.values())
    return frozenset[str]().union(*bodies)


def _is_looked_at(stepper: Stepper, touched: frozenset[str]) -> bool:
    """Whether invariants, sums or the order of contents rest on these fluents."""
    guards, by_id = stepper.guards, stepper.layout.by_id
    return (
        guards.watches_sum(touched)
        or guards.watches(touched)
        or any(by_id[one].fluent.ordered for one in touched)
    )


def _in_place(stepper: Stepper, name: str) -> _Step | None:
    """How an action writes in place; ``None`` where it does not."""
    plain = plain_of(stepper.code, stepper.code.actions[name].action)
    if plain is None or _is_looked_at(stepper, plain.touches):
        return None
    ends = stepper.endings.reached_by(plain.touches | _touched_by_laws(stepper))
    return _Step(plain.do, plain.speaks, stepper.endings if ends else None)
