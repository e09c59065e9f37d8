"""The tick (language.md §8). Statuses are made here and in `unit`, and nowhere else.

`Stepper.tick` takes a state and an intent and returns one `Result` per record: usually one; two
where the intent cancels a long action. The given state is never written to. Where several actors
take turns it is called once for each of them; the state knows whose turn it is (see `rounds`).
"""

from __future__ import annotations

from functools import cached_property

from tokenworld.engine.applying import net
from tokenworld.engine.clock import reads_ticks
from tokenworld.engine.compile import Code
from tokenworld.engine.delta import Breach, RawChange
from tokenworld.engine.endings import Endings
from tokenworld.engine.guards import Broken, Guards
from tokenworld.engine.layout import Layout
from tokenworld.engine.luck import Luck, RecordingLuck
from tokenworld.engine.result import BreachReport, Result, Spoken
from tokenworld.engine.rounds import closed, handed_on, is_free, is_last, own_round, took_time
from tokenworld.engine.sequence import InTurn
from tokenworld.engine.simultaneous import Together
from tokenworld.engine.state import State
from tokenworld.engine.unit import ActionUnit
from tokenworld.engine.watches import Watches
from tokenworld.ground import Command, Instance, NoMatch, Status
from tokenworld.model import Phase

__all__ = ["Stepper", "broken"]

Intent = Command | NoMatch


class Stepper:
    """Steps one compiled world."""

    def __init__(self, instance: Instance, layout: Layout, code: Code) -> None:
        self.instance, self.layout, self.code = instance, layout, code
        self.guards = Guards(code, instance.program)
        self.endings = Endings(instance, code)
        self.watches = Watches(instance, code)
        self.unit = ActionUnit(instance, code, self.guards)
        self.phases = self._phases()

    @cached_property
    def waiting_matters(self) -> bool:
        """Whether `pass` can lead anywhere: phases, long actions, or rules that read `tick()`."""
        return bool(self.phases) or self.unit.has_long or reads_ticks(self.instance)

    # ---- one intent -------------------------------------------------------------------------

    def tick(self, state: State, intent: Intent, luck: Luck) -> list[Result]:
        """The intent of the actor whose turn it is: its records, the last with the state it
        leaves. The last actor of a round closes it; a free action is a round of its own."""
        recording = RecordingLuck(luck)
        return self.completed(self.opened(state, intent, recording), state, recording)

    def opened(self, state: State, intent: Intent, luck: RecordingLuck) -> list[Result]:
        """Steps 2 to 6: what an intent does by itself. The same draws go on in `completed`."""
        if self.endings.over(state):
            return [Result("halted", _command(intent), state, state, cause="the world is over")]
        if isinstance(intent, Command):
            return self._unit(state, intent, luck)
        return [Result("no_match", None, state, state, no_match=intent)]

    def completed(self, results: list[Result], state: State, luck: RecordingLuck) -> list[Result]:
        """Steps 7 to 12 after `opened`; the last record then has the state that the tick leaves."""
        last = results[-1]
        unread = last.no_match is not None and last.no_match.out_of_turn
        if last.status == "halted" or (unread and len(state.actors) > 1):
            return results
        return self._finish(results, state, luck)

    def halt(self, state: State, cause: str) -> Result:
        """That the runner stopped here: nothing is asked, nothing happens."""
        return Result("halted", None, state, state, cause=cause)

    def acted(self, state: State, command: Command, luck: Luck) -> State:
        """What steps 3 to 6 alone make of a state."""
        return self.opened(state, command, RecordingLuck(luck))[-1].after

    def _unit(self, state: State, command: Command, luck: RecordingLuck) -> list[Result]:
        """Steps 3 to 6: what an actor does, or that it was discarded."""
        try:
            cancelled = self.unit.cancel(state, command, luck)
            start = state if cancelled is None else cancelled.after
            done = self.unit.do(start, command, luck)
            results = [done] if cancelled is None else [cancelled, done]
            if len(state.actors) > 1:
                was = self.unit.since(state, command)
                self.guards.check_invariants(was, done.after, _made(results), state.me)
        except (Breach, Broken) as breach:
            luck.taken.clear()
            return [broken(state, command, breach)]
        return results

    def _finish(self, results: list[Result], state: State, luck: RecordingLuck) -> list[Result]:
        """The next actor's turn, or the end of the round."""
        last = results[-1]
        free = is_free(self.unit, state, last.command)
        if last.breach is not None and (free or len(state.actors) < 2):
            return results
        last.draws = luck.taken
        if not free and not is_last(state, last.after):
            last.after = handed_on(state, last.after, acted=took_time(results))
            return results
        try:
            return self._close(results, state, luck, free=free)
        except (Breach, Broken) as breach:
            return self._discarded(state, last.command, breach)

    def _discarded(
        self, state: State, command: Command | None, breach: Breach | Broken
    ) -> list[Result]:
        """What a breach at the end of a round leaves: what its earlier actors did, and that they
        did it is still told."""
        started = state.round is not None and is_last(state, state)
        if started and not is_free(self.unit, state, command):
            try:
                return self._commit([broken(state, command, breach)], state, state, free=False)
            except Breach:
                pass  # an ending or a watch has no value either: the round closes without them
        return self.dropped(state, command, breach)

    def dropped(
        self, state: State, command: Command | None, breach: Breach | Broken
    ) -> list[Result]:
        """The record of a breach, and the next actor's turn."""
        result = broken(state, command, breach)
        if len(state.actors) > 1 and not is_free(self.unit, state, command):
            over = is_last(state, state)
            result.after = closed(state) if over else handed_on(state, state, acted=False)
        return [result]

    # ---- the end of a round -----------------------------------------------------------------

    def _close(
        self, results: list[Result], state: State, luck: Luck, *, free: bool
    ) -> list[Result]:
        """Time, phases, invariants, commit, progress, watches: steps 7 to 12."""
        last = results[-1]
        start = state if free else state.round or state
        acted = state.acted or took_time(results) or self.instance.world.time_always
        passes = acted and not free
        after = self._pass_time(last, start, luck) if passes else last.after
        self.guards.check_invariants(start, after, _made(results), state.me)
        last.time_passed = passes
        return self._commit(results, state, after, free=free)

    def _commit(
        self, results: list[Result], state: State, after: State, *, free: bool
    ) -> list[Result]:
        last, me = results[-1], state.me
        said = any(one.spoken for one in results)
        own = not said and after is not state and after is not last.before
        settled = own_round(state, after) if free else closed(after, own=own)
        if last.time_passed:
            settled.tick += 1
        last.start = last.start or (state if free else state.round or state)
        last.latched = self.endings.progress(settled, me)
        spoken, events = self.watches.speak(state.told or state.round or state, settled, me)
        last.spoken += spoken
        last.events += events
        last.spoken += [Spoken(words, (me,), settled, last.start) for words in
                        self.endings.words(last.latched)]  # fmt: skip
        last.after = settled
        return results

    # ---- phases -------------------------------------------------------------------------------

    def _phases(self) -> tuple[Together | InTurn, ...]:
        """The phases that have laws, in order, the unnamed last one included."""
        program = self.instance.program
        order: list[Phase | None] = [*program.phases.values(), None]
        found: list[Together | InTurn] = []
        for phase in order:
            name = phase.name if phase is not None else ""
            laws = tuple(law for law in program.laws.values() if law.phase == name)
            if laws and phase is not None and phase.order != "simultaneous":
                nesting = phase.order == "by_nesting"
                found.append(InTurn(self.instance, self.code, self.guards, laws, nesting))
            elif laws:
                found.append(Together(self.instance, self.code, self.guards, laws))
        return tuple(found)

    def _pass_time(self, result: Result, start: State, luck: Luck) -> State:
        """Every phase in order; `was` is the tick's start in all of them."""
        state = result.after
        for phase in self.phases:
            state = phase.run(result, state, start, luck)
        return state


def _made(results: list[Result]) -> list[RawChange]:
    return [change for one in results for change in (*one.changes, *one.law_changes)]


def _command(intent: Intent) -> Command | None:
    return intent if isinstance(intent, Command) else None


def broken(state: State, command: Command | None, breach: Breach | Broken) -> Result:
    """A breach discards the tick: rolled back, or an error of the world's own rules."""
    made: list[RawChange] = []
    names: tuple[str, ...] | None = None
    if isinstance(breach, Broken):
        report, made, names = breach.report, breach.changes, breach.names
    else:
        culprits = breach.rules
        report = BreachReport(breach.code, breach.kind, breach.message, culprits=culprits)
    status: Status = "error" if report.code in ("TW1003", "TW1006") else "rolled_back"
    return Result(status, command, state, state, discarded=net(made), breach=report, names=names)
