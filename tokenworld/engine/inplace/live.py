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

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.delta import Breach, Delta, RawChange
from tokenworld.engine.endings import Endings
from tokenworld.engine.inplace.ground_ops import Operator
from tokenworld.engine.inplace.live_rules import LiveRules
from tokenworld.engine.inplace.live_turns import Turned, Turns, turn_back
from tokenworld.engine.luck import Luck, SeededLuck
from tokenworld.engine.state import State
from tokenworld.engine.trail import ALL, Trail
from tokenworld.ground import Command

__all__ = ["LiveRules", "LiveWorld"]

MOST_UNSAVED = 4096
"""Ticks after which it is no longer kept which slots differ from the last state that was given."""
WARM = 16
"""Ticks after which a world looks whether its commands have bits (see `ground_ops`)."""


@frozen
class _Before:
    """What undoes a tick that was not made in place: the state before it."""

    state: State


@frozen
class _Ended:
    """What undoes a tick in place at which an ending or an award was reached."""

    journal: list[RawChange]
    latched: tuple[str, ...]
    awarded: tuple[int, ...]


class LiveWorld:
    """Plays one state in place; made by `Engine.live`. Seeded draws, unless ``luck`` is given."""

    def __init__(self, rules: LiveRules, state: State, luck: Luck | None = None) -> None:
        self._stepper, self._luck = rules.stepper, luck or SeededLuck()
        self._legal, self._steps, self._phases = rules.legal, rules.steps, rules.phases
        self._turns = rules.turns
        self._ground = rules.ground
        self._always = rules.stepper.instance.world.time_always
        self._past: list[list[RawChange] | _Before | _Ended | Turned] = []
        self._unsaved: list[list[RawChange]] = []
        self._operators: dict[int, Operator] = {}
        self._adopt(state)

    def _adopt(self, state: State) -> None:
        """Go on from a state that others may keep."""
        self._state = state.fork()
        self._me = state.me
        self._unsaved = []
        self._seen = False
        self._kept = self._turns.kept() if self._turns is not None else []
        endings = self._stepper.endings
        self._halts = endings.over(state) or state.longs != () or len(state.actors) > 1
        self._begin_bits(state)

    # ---- playing ------------------------------------------------------------------------------

    def apply(self, command: Command) -> list[RawChange] | None:
        """Play a tick. Its changes, laws included, if the command was executed, took time or was
        interrupted; ``None`` if it was refused, rolled back or in error, or the world is over.

        A change is (column, key, old value, new value, rule); ``column.fluent`` is what changed.
        The list is never changed again, by nobody.
        """
        operator = self._operators.get(id(command))
        if operator is None:
            return self._apply(command)
        mask, cases, _ = operator
        flip, journal = cases[self._bits & mask]
        if journal is None:
            return None if not self._always else self._apply(command)
        self._bits ^= flip
        self._past.append(journal)
        return journal

    def _apply(self, command: Command) -> list[RawChange] | None:
        """Play a tick the plain way, or the general one."""
        if self._operators:
            self._catch_up()
        journal = self._played(command)
        self._written = len(self._past)
        if self._ground is not None and journal is not None and not self._halts:
            self._warm_up(command, journal)
        return journal

    def _played(self, command: Command) -> list[RawChange] | None:
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
        """A tick with laws in turn."""
        before = self.state() if turns.looks_back else self._state
        state = self._own_trail() if self._seen else self._state
        done, changes, turned = turns.play(state, before, self._kept, command, self._luck)
        if done < 0:
            if turns.looks_back:
                self._adopt(before)
            else:
                turn_back(state, turned)
                self._kept = turns.kept()
            return self._generally(command)
        if done == 0 and not self._always:
            return None
        self._past.append(_Before(before) if turns.looks_back else turned)
        self._note(turned[0])
        if state.latched is not turned[2]:
            self._halts = self._stepper.endings.over(state)
        return changes if done else None

    def _own_trail(self) -> State:
        """The present state, with a trail of its own: writers note there where they write."""
        self._save()
        self._state.trail = Trail(self._state.trail)
        self._seen = False
        return self._state

    def _note(self, journal: list[RawChange]) -> None:
        """Let the trail be told of changes when it is next asked for."""
        self._unsaved.append(journal)
        if len(self._unsaved) >= MOST_UNSAVED:
            self._save()

    def _pass_time(self, journal: list[RawChange]) -> tuple[list[RawChange], int]:
        """Let the laws write too: all changes and 1; or -1, with everything as it was."""
        every = journal
        self._unsaved.append(journal)
        for phase in self._phases:
            self._save()
            self._seen = True
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
        if self._operators:
            self._catch_up()
            self._operators, self._warm = {}, WARM
        self._go_back()
        self._written = len(self._past)

    def _go_back(self) -> None:
        entry = self._past.pop()
        if isinstance(entry, _Before):
            self._adopt(entry.state)
            return
        if isinstance(entry, tuple):
            self._turn_back(entry)
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
        self._note(journal)

    def _turn_back(self, entry: Turned) -> None:
        assert self._turns is not None
        state = self._own_trail()
        turn_back(state, entry)
        state.tick -= 1
        state.trail.slots += [(index, ALL) for index, _, _ in entry[1]]
        self._note(entry[0])
        self._kept = self._turns.kept()
        self._halts = self._stepper.endings.over(state)

    # ---- on bits ------------------------------------------------------------------------------

    def _begin_bits(self, state: State) -> None:
        """Play on bits at once where the engine has those of this state already."""
        self._operators = {}
        self._bits = self._warm = 0
        self._written = len(self._past)
        if self._ground is not None and not self._halts:
            bits = self._ground.begun(state)
            if bits is not None:
                self._operators, self._bits = self._ground.operators, bits

    def _warm_up(self, command: Command, journal: list[RawChange]) -> None:
        """After a tick that was played the plain way: the command may get bits by and by."""
        ground = self._ground
        assert ground is not None
        if command.action in self._steps and self._steps[command.action].settles is None:
            ground.met(command)
        self._warm += 1
        if self._operators:
            self._bits = ground.changed(self._bits, journal)
        if self._warm >= WARM and ground.operators is not self._operators:
            self._operators, self._warm = ground.operators, 0
            self._bits = ground.bits_of(self._state)

    def _catch_up(self) -> None:
        """Tell the state of the ticks that were played on bits."""
        state, late = self._state, self._past[self._written :]
        if not late:
            return
        self._written = len(self._past)
        for journal in late:
            assert isinstance(journal, list)
            for column, key, _, new, _ in journal:
                state.place(column, key, new)
            self._unsaved.append(journal)
        state.tick += len(late)

    # ---- asking -------------------------------------------------------------------------------

    def legal(self) -> list[Command]:
        """Every command that would be executed now, as `Engine.legal` lists them."""
        return list(self._legal(self.now()))

    def state(self) -> State:
        """The present state as a value: what is played later does not change it."""
        self._save()
        kept = self._state.fork()
        kept.trail = self._state.trail
        self._state.trail, self._seen = Trail(kept.trail), False
        self._state.mine = set()
        return kept

    def now(self) -> State:
        """The present state itself, to be read before the next tick and never written."""
        self._save()
        self._seen = True
        return self._state

    @property
    def depth(self) -> int:
        """How many ticks can be undone."""
        return len(self._past)

    def _save(self) -> None:
        """Bring the trail of the state up to date, so that what was known of it can be kept. Where
        nobody has seen the last part of it yet, that part is told the rest."""
        if self._operators:
            self._catch_up()
        state, unsaved = self._state, self._unsaved
        if state.memo:
            state.memo.clear()
        if not unsaved:
            return
        if self._seen:
            state.trail, self._seen = Trail(state.trail), False
        if len(unsaved) >= MOST_UNSAVED:
            state.trail.roll = True
        elif state.trail.journals:
            state.trail.journals += unsaved
        else:
            state.trail.journals = unsaved
        self._unsaved = []
