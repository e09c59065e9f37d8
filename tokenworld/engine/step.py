"""The tick (language.md §8). Statuses are made here and in `unit`, and nowhere else.

`Stepper.tick` takes a state and an intent and returns one `Result` per record: usually one; two
where the intent cancels a long action. The given state is never written to.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.engine.applying import apply, net, prose_state
from tokenworld.engine.compile import Code
from tokenworld.engine.delta import Breach, Delta, RawChange
from tokenworld.engine.endings import Endings
from tokenworld.engine.guards import Broken, Guards
from tokenworld.engine.layout import Layout
from tokenworld.engine.luck import DrawKey, Luck
from tokenworld.engine.result import BreachReport, Result, Spoken
from tokenworld.engine.state import State
from tokenworld.engine.unit import ActionUnit, output
from tokenworld.engine.watches import Watches
from tokenworld.ground import Command, Instance, LuckyDraw, NoMatch, Status
from tokenworld.model import Law, Phase

__all__ = ["Stepper", "broken"]

Intent = Command | NoMatch


class _RecordingLuck:
    """Passes draws on and remembers those with more than one alternative."""

    def __init__(self, luck: Luck) -> None:
        self._luck = luck
        self.taken: list[LuckyDraw] = []

    def choose(self, key: DrawKey, seed: int, tick: int, weights: Sequence[int]) -> int:
        choice = self._luck.choose(key, seed, tick, weights)
        if sum(1 for weight in weights if weight > 0) > 1:
            self.taken.append(LuckyDraw(*key, choice, len(weights)))
        return choice

    def uniform(self, key: DrawKey, seed: int, tick: int) -> float:
        return self._luck.uniform(key, seed, tick)


class Stepper:
    """Steps one compiled world."""

    def __init__(self, instance: Instance, layout: Layout, code: Code) -> None:
        self.instance, self.layout, self.code = instance, layout, code
        self.me = instance.me
        self.guards = Guards(code, instance.program)
        self.endings = Endings(instance, code)
        self.watches = Watches(instance, code)
        self.unit = ActionUnit(instance, code, self.guards)
        self.phases = _phases(instance)

    # ---- the round --------------------------------------------------------------------------

    def tick(self, state: State, intent: Intent, luck: Luck) -> list[Result]:
        """One round for the one actor: its records, the last with the state it leaves."""
        recording = _RecordingLuck(luck)
        if self.endings.over(state):
            return [Result("halted", _command(intent), state, state, cause="the world is over")]
        if isinstance(intent, NoMatch):
            result = Result("no_match", None, state, state, no_match=intent)
            return self._finish([result], state, recording)
        return self._round(state, intent, recording)

    def _round(self, state: State, command: Command, luck: _RecordingLuck) -> list[Result]:
        try:
            cancelled = self.unit.cancel(state, command, luck)
            start = state if cancelled is None else cancelled.after
            unit = self.unit.do(start, command, luck)
        except (Breach, Broken) as breach:
            return [broken(state, command, breach)]
        results = [unit] if cancelled is None else [cancelled, unit]
        return self._finish(results, state, luck)

    def _finish(self, results: list[Result], state: State, luck: _RecordingLuck) -> list[Result]:
        """Time, phases, invariants, commit, progress, watches: steps 7 to 12."""
        last = results[-1]
        free = last.command is not None and self.unit.free(state, last.command)
        acted = any(one.status in ("executed", "waiting", "interrupted") for one in results)
        passes = not free and (acted or self.instance.world.time_always)
        try:
            after = self._pass_time(last, state, luck) if passes else last.after
            made = [change for one in results for change in (*one.changes, *one.law_changes)]
            self.guards.check_invariants(state, after, made, self.me)
            last.time_passed = passes
            last.draws = luck.taken
            return self._commit(results, state, after)
        except (Breach, Broken) as breach:
            return [broken(state, last.command, breach)]

    def _commit(self, results: list[Result], state: State, after: State) -> list[Result]:
        last = results[-1]
        settled = after.fork()
        settled.deeds = ()
        if last.time_passed:
            settled.tick += 1
        last.latched = self.endings.progress(settled, self.me)
        spoken, events = self.watches.speak(state, settled, self.me)
        last.spoken += spoken
        last.events += events
        last.spoken += [Spoken(words, (self.me,), settled, state) for words in
                        self.endings.words(last.latched)]  # fmt: skip
        last.after = settled
        return results

    # ---- phases -------------------------------------------------------------------------------

    def _pass_time(self, result: Result, start: State, luck: Luck) -> State:
        """Every phase in order; each reads the state it began with, `was` the tick's start."""
        state = result.after
        for laws in self.phases:
            delta = Delta(self.layout, luck, state.seed, start.tick)
            for law in laws:
                self._evaluate(law, state, start, delta)
            if delta.fired:
                state = self._apply_phase(result, state, start, delta)
        return state

    def _evaluate(self, law: Law, state: State, start: State, delta: Delta) -> None:
        try:
            self.code.laws[law.name].run(state, start, self.me, delta)
        except Breach as breach:
            raise breach.blamed(f"law {law.name}") from None

    def _apply_phase(self, result: Result, state: State, start: State, delta: Delta) -> State:
        after = state.fork()
        changes = apply(after, delta)
        self.guards.check_conserved(state, after, delta, changes, self.me)
        result.law_changes += net(changes)
        result.fired += delta.fired
        output(result, delta, prose_state(state, after, delta), start)
        return after


def _phases(instance: Instance) -> tuple[tuple[Law, ...], ...]:
    """The laws of each phase that has any, the unnamed last phase included."""
    program = instance.program
    order: list[Phase | None] = [*program.phases.values(), None]
    found = []
    for phase in order:
        name = phase.name if phase is not None else ""
        laws = tuple(law for law in program.laws.values() if law.phase == name)
        if laws:
            found.append(laws)
    return tuple(found)


def _command(intent: Intent) -> Command | None:
    return intent if isinstance(intent, Command) else None


def broken(state: State, command: Command | None, breach: Breach | Broken) -> Result:
    """A breach discards the tick: rolled back, or an error of the world's own rules."""
    made: list[RawChange] = []
    if isinstance(breach, Broken):
        report, made = breach.report, breach.changes
    else:
        culprits = breach.rules
        report = BreachReport(breach.code, breach.kind, breach.message, culprits=culprits)
    status: Status = "error" if report.code in ("TW1003", "TW1006") else "rolled_back"
    return Result(status, command, state, state, discarded=net(made), breach=report)
