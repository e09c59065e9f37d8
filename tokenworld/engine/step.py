"""The tick (language.md §8): the one place where a status is made.

`Stepper.tick` takes a state and an intent and returns one `Result` per record: usually one; two
where the intent cancels a long action. The given state is never written to.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tokenworld.engine.compile import ActionCode, Code, Function
from tokenworld.engine.delta import Breach, Delta, RawChange, apply, net
from tokenworld.engine.endings import Endings
from tokenworld.engine.guards import Broken, Guards
from tokenworld.engine.layout import Layout
from tokenworld.engine.luck import DrawKey, Luck
from tokenworld.engine.result import BreachReport, Result, Spoken
from tokenworld.engine.state import LongAction, State
from tokenworld.engine.watches import Watches
from tokenworld.ground import PASS, Command, Instance, LuckyDraw, NoMatch, show_value
from tokenworld.model import Law, Phase

__all__ = ["Stepper"]

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
        self.phases = _phases(instance)

    @cached_property
    def has_long(self) -> bool:
        """Whether any action may take more than one tick."""
        return any(one.action.takes is not None for one in self.code.actions.values())

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
            cancelled = self._cancel(state, command, luck)
            start = state if cancelled is None else cancelled.after
            unit = self._unit(start, command, luck)
        except (Breach, Broken) as breach:
            return [_broken(state, command, breach, [])]
        results = [unit] if cancelled is None else [cancelled, unit]
        return self._finish(results, state, luck)

    def _finish(self, results: list[Result], state: State, luck: _RecordingLuck) -> list[Result]:
        """Time, phases, invariants, commit, progress, watches: steps 7 to 12."""
        last = results[-1]
        free = last.command is not None and self.free(state, last.command)
        acted = any(one.status in ("executed", "waiting", "interrupted") for one in results)
        passes = not free and (acted or self.instance.world.time_always)
        try:
            after = self._pass_time(last, state, luck) if passes else last.after
            made = [change for one in results for change in (*one.changes, *one.law_changes)]
            self.guards.check_invariants(state, after, made, self.me)
        except (Breach, Broken) as breach:
            return [_broken(state, last.command, breach, [c for r in results for c in r.changes])]
        last.time_passed = passes
        last.draws = luck.taken
        return self._commit(results, state, after)

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

    # ---- the action unit ----------------------------------------------------------------------

    def free(self, state: State, command: Command) -> bool:
        """Whether the action takes no time at all."""
        if command.is_pass:
            return False
        code = self.code.actions[command.action]
        return code.action.takes is not None and self._ticks(state, code, command) == 0

    def _ticks(self, state: State, code: ActionCode, command: Command) -> int:
        return int(code.ticks(state, state, self.me, *command.args))

    def _cancel(self, state: State, command: Command, luck: Luck) -> Result | None:
        """A real intent ends the long action that is under way."""
        if state.long is None or command.is_pass or self.free(state, command):
            return None
        return self._interrupt(state, state.long, "a new intent", luck)

    def _interrupt(self, state: State, long: LongAction, cause: str, luck: Luck) -> Result:
        code = self.code.actions[long.command.action]
        after, result = self._effects(state, long.command, code.cancel, luck)
        after.long = None
        result.status, result.cause, result.progress = "interrupted", cause, (long.done, long.total)
        result.after = after
        return result

    def _unit(self, state: State, command: Command, luck: Luck) -> Result:
        if command.is_pass:
            return self._pass(state, luck)
        return self._start(state, command, luck)

    def _pass(self, state: State, luck: Luck) -> Result:
        if state.long is None:
            return Result("executed", PASS, state, state)
        return self._go_on(state, state.long, luck)

    def _start(self, state: State, command: Command, luck: Luck) -> Result:
        code = self.code.actions[command.action]
        refused = self.refusal(state, code, command, luck)
        if refused is not None:
            return refused
        total = self._ticks(state, code, command)
        if total <= 1 or self._until(state, code, command):
            return self._complete(state, code, command, luck)
        return self._wait(state, LongAction(command, 1, total))

    def _go_on(self, state: State, long: LongAction, luck: Luck) -> Result:
        """One more tick of a long action: it waits, completes, or its requires fail."""
        code, done = self.code.actions[long.command.action], long.done + 1
        if done < long.total and not self._until(state, code, long.command):
            return self._wait(state, LongAction(long.command, done, long.total))
        idle = state.fork()
        idle.long = None
        failed = self._failed_require(state, code, long.command)
        if failed is not None:
            label = code.action.requires[failed].label or f"require {failed + 1}"
            return self._interrupt(state, long, label, luck)
        result = self._complete(idle, code, long.command, luck)
        result.before, result.progress = state, (done, long.total)
        return result

    def _wait(self, state: State, long: LongAction) -> Result:
        after = state.fork()
        after.long = long
        after.deeds = ((self.me, long.command),)
        return Result("waiting", long.command, state, after, progress=(long.done, long.total))

    def _until(self, state: State, code: ActionCode, command: Command) -> bool:
        return code.until is not None and bool(code.until(state, state, self.me, *command.args))

    def _failed_require(self, state: State, code: ActionCode, command: Command) -> int | None:
        """The index of the first false require, ``None`` if all hold."""
        if code.holds(state, state, self.me, *command.args):
            return None
        from tokenworld.engine.why import first_false

        return first_false(self.code, state, code.action, command, self.me)

    def refusal(
        self, state: State, code: ActionCode, command: Command, luck: Luck
    ) -> Result | None:
        """The refused result of a command, ``None`` if it may be executed."""
        failed = self._failed_require(state, code, command)
        if failed is not None:
            return Result("refused", command, state, state, refused=failed)
        try:
            if self._ticks(state, code, command) <= 1:
                self._effects(state, command, code.run, luck)
        except Breach as breach:
            if breach.kind not in ("range", "unique", "cycle"):
                raise
            index = len(code.action.requires)
            return Result(
                "refused", command, state, state, refused=index, generated=breach.kind,
                cause=breach.message,
            )  # fmt: skip
        return None

    def _complete(self, state: State, code: ActionCode, command: Command, luck: Luck) -> Result:
        after, result = self._effects(state, command, code.run, luck)
        after.deeds = ((self.me, command),)
        result.after = after
        return result

    def _effects(
        self, state: State, command: Command, body: Function, luck: Luck
    ) -> tuple[State, Result]:
        """Evaluate a body on ``state`` and apply it to a fork."""
        delta = Delta(self.layout, luck, state.seed, state.tick)
        title = f"action {command.action}"
        delta.by(title, command.args, self._draw_key(command))
        body(state, state, self.me, delta, *command.args)
        after = state.fork()
        changes = apply(after, delta)
        self.guards.check_conserved(state, after, delta, changes, self.me)
        result = Result("executed", command, state, after, changes=net(changes))
        _output(result, delta, after, state)
        return after, result

    def _draw_key(self, command: Command) -> tuple[str | int | float | bool | None, ...]:
        """An action's draws are keyed by the actor (or null), then its arguments."""
        program, names = self.instance.program, self.instance.names
        actor = None if self.me is None else names[self.me]
        params = program.actions[command.action].params
        shown = (
            show_value(program, names, binder.type, value)
            for binder, value in zip(params, command.args, strict=True)
        )
        return (actor, *shown)

    # ---- phases -------------------------------------------------------------------------------

    def _pass_time(self, result: Result, start: State, luck: Luck) -> State:
        """Every phase in order; each reads the state it began with, `was` the tick's start."""
        state = result.after
        for laws in self.phases:
            delta = Delta(self.layout, luck, state.seed, start.tick)
            for law in laws:
                self.code.laws[law.name].run(state, start, self.me, delta)
            if delta.fired:
                state = self._apply_phase(result, state, start, delta)
        return state

    def _apply_phase(self, result: Result, state: State, start: State, delta: Delta) -> State:
        after = state.fork()
        changes = apply(after, delta)
        self.guards.check_conserved(state, after, delta, changes, self.me)
        result.law_changes += net(changes)
        result.fired += delta.fired
        _output(result, delta, after, start)
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


def _output(result: Result, delta: Delta, after: State, was: State) -> None:
    result.spoken += [Spoken(words, args, after, was) for words, args in delta.prose]
    result.events += delta.events
    result.rewards += delta.rewards


def _command(intent: Intent) -> Command | None:
    return intent if isinstance(intent, Command) else None


def _broken(
    state: State, command: Command | None, breach: Breach | Broken, made: list[RawChange]
) -> Result:
    """A breach discards the tick: rolled back, or an error of the world's own rules."""
    if isinstance(breach, Broken):
        report = breach.report
    else:
        culprits = breach.rules
        report = BreachReport(breach.code, breach.kind, breach.message, culprits=culprits)
    status = "error" if report.code in ("TW1003", "TW1006") else "rolled_back"
    return Result(status, command, state, state, discarded=net(made), breach=report)  # type: ignore[arg-type]
