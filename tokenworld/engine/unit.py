"""One intent's own doing: requires, long actions, effects (language.md §8, steps 3 to 6)."""

from __future__ import annotations

from functools import cached_property, partial

from tokenworld.engine.applying import apply, net
from tokenworld.engine.compile import ActionCode, Code, Function
from tokenworld.engine.delta import Breach, Delta
from tokenworld.engine.guards import Broken, Guards
from tokenworld.engine.luck import Luck, RecordingLuck, SeededLuck
from tokenworld.engine.result import Result
from tokenworld.engine.state import LongAction, State
from tokenworld.engine.why import first_false
from tokenworld.ground import PASS, Command, Instance, show_value

__all__ = ["ActionUnit"]

GENERATED = ("range", "unique", "cycle")
"""Breaches by an action that are refusals: the requires which the language adds."""


class ActionUnit:
    """Works out intents of the actor whose turn it is in the given state."""

    def __init__(self, instance: Instance, code: Code, guards: Guards) -> None:
        self._instance, self._code, self._guards = instance, code, guards

    @cached_property
    def has_long(self) -> bool:
        """Whether any action may take more than one tick."""
        return any(one.action.may_be_long for one in self._code.actions.values())

    def continued(self, state: State, command: Command) -> LongAction | None:
        """The long action that goes on with an intent: with `pass`, or with the same command."""
        long = state.long_of(state.acting) if state.longs else None
        return long if long and (command.is_pass or command == long.command) else None

    def free(self, state: State, command: Command) -> bool:
        """Whether the action takes no time at all."""
        if command.is_pass or self.continued(state, command):
            return False
        code = self._code.actions[command.action]
        return code.action.takes is not None and self._ticks(state, code, command) == 0

    def since(self, state: State, command: Command) -> State:
        """What `was` reads: the state the round began with; free actions are rounds themselves."""
        if state.round is None or self.free(state, command):
            return state
        return state.round

    def refusal(self, state: State, command: Command) -> Result | None:
        """The refused result that a command would have now, with the seed's draws."""
        if command.is_pass:
            return None
        try:
            now = self.judged(state, command)
            result = None if now is None else self.do(now, command, SeededLuck())
        except (Breach, Broken):
            return None  # not a refusal: the tick would be rolled back or be in error
        return result if result is not None and result.status == "refused" else None

    def keeps(self, state: State, command: Command) -> bool:
        """Whether a command whose requires hold is not refused by those that the language adds."""
        return self.refusal(state, command) is None

    # ---- long actions -------------------------------------------------------------------------

    def cancel(self, state: State, command: Command, luck: Luck) -> Result | None:
        """Another command that takes time breaks off the long action that is under way."""
        long = state.long_of(state.acting) if state.longs else None
        if long is None or self.continued(state, command) or self.free(state, command):
            return None
        return self._interrupt(state, long, "a new intent", luck)

    def cancelled(self, state: State) -> State | None:
        """The state in which another command that takes time is judged: a long action is cancelled
        first. ``None`` where that cannot be done, so that no such command can."""
        long = state.long_of(state.acting)
        if long is None:
            return state
        try:
            return self._interrupt(state, long, "a new intent", SeededLuck()).after
        except (Breach, Broken):
            return None

    def judged(self, state: State, command: Command, after: State | None = None) -> State | None:
        """The state in which the requires of a command are tested: this one, or that after
        ``cancelled`` (``after``, where it is known already). ``None`` where they are not: it
        continues the long action, or that cannot be cancelled. `Breach` where it is not defined how
        long the command takes."""
        if not state.longs or state.long_of(state.acting) is None:
            return state
        if self.continued(state, command):
            return None
        return state if self.free(state, command) else after or self.cancelled(state)

    def _interrupt(self, state: State, long: LongAction, cause: str, luck: Luck) -> Result:
        code = self._code.actions[long.command.action]
        delta = self._delta(state, long.command, luck)
        result = self._effects(state, long.command, code.cancel, delta)
        result.after = result.after.fork()  # what the body says still sees it under way
        result.after.begin(state.acting, None)
        result.status, result.cause, result.progress = "interrupted", cause, (long.done, long.total)
        return result

    def _go_on(self, state: State, long: LongAction, luck: Luck) -> Result:
        """One more tick of a long action: it waits, completes, or its requires fail."""
        code, done = self._code.actions[long.command.action], long.done + 1
        if done < long.total and not self._until(state, code, long.command):
            return self._wait(state, LongAction(long.command, done, long.total))
        idle = state.fork()
        idle.begin(state.acting, None)
        result = self._attempt(idle, code, long.command, luck)
        if result.status == "refused":
            return self._fail_at_the_end(state, long, result, luck)
        result.before, result.progress = state, (done, long.total)
        return result

    def _fail_at_the_end(
        self, state: State, long: LongAction, refused: Result, luck: Luck
    ) -> Result:
        """The draws of the attempt count: they decided that it failed, so the draws of
        ``cancelled`` come after them."""
        spent = state.fork()
        spent.drawn = refused.after.drawn
        cause = self._cause(self._code.actions[long.command.action], refused)
        result = self._interrupt(spent, long, cause, luck)
        result.before = state
        return result

    def _cause(self, code: ActionCode, refused: Result) -> str:
        """What stopped a long action at its end: the label of the require, or its kind."""
        if refused.generated:
            return refused.generated
        index = refused.refused or 0
        return code.action.requires[index].label or f"require {index + 1}"

    def _wait(self, state: State, long: LongAction) -> Result:
        after = state.fork()
        after.begin(state.acting, long)
        after.deeds = (*state.deeds, (state.acting, long.command))
        return Result("waiting", long.command, state, after, progress=(long.done, long.total))

    def _until(self, state: State, code: ActionCode, command: Command) -> bool:
        until, was = code.until, state.round or state
        return until is not None and bool(until(state, was, state.acting, *command.args))

    def _ticks(self, state: State, code: ActionCode, command: Command) -> int:
        return int(code.ticks(state, state.round or state, state.acting, *command.args))

    # ---- doing --------------------------------------------------------------------------------

    def do(self, state: State, command: Command, luck: Luck) -> Result:
        """The action unit of a command: executed, refused or waiting."""
        long = self.continued(state, command)
        if long is not None:
            return self._go_on(state, long, luck)
        if command.is_pass:
            return Result("executed", PASS, state, state)
        code = self._code.actions[command.action]
        total = self._ticks(state, code, command)
        if total <= 1 or self._until(state, code, command):
            return self._finish(state, code, command, luck)
        failed = self._failed(state, code, command)
        return failed or self._wait(state, LongAction(command, 1, total))

    def _failed(self, state: State, code: ActionCode, command: Command) -> Result | None:
        """The refusal by a require of the author, ``None`` if all hold."""
        was = self.since(state, command)
        if code.holds(state, was, state.acting, *command.args):
            return None
        index = first_false(self._code, state, was, command)
        return Result("refused", command, state, state, refused=index, start=was)

    def _finish(self, state: State, code: ActionCode, command: Command, luck: Luck) -> Result:
        """Check the requires and apply the effects, or refuse and draw nothing."""
        drawn = len(luck.taken) if isinstance(luck, RecordingLuck) else 0
        result = self._attempt(state, code, command, luck)
        if result.status == "refused":
            result.after = state
            if isinstance(luck, RecordingLuck):
                luck.forget(drawn)
        return result

    def _attempt(self, state: State, code: ActionCode, command: Command, luck: Luck) -> Result:
        """The same; the state behind a refusal counts what was drawn until then."""
        failed = self._failed(state, code, command)
        if failed is not None:
            return failed
        delta = self._delta(state, command, luck)
        try:
            result = self._effects(state, command, code.run, delta)
        except Breach as breach:
            if breach.kind not in GENERATED:
                raise
            spent = state.fork()
            spent.drawn = delta.drawn
            return Result(
                "refused", command, state, spent, refused=len(code.action.requires),
                generated=breach.kind, cause=breach.message, start=self.since(state, command),
            )  # fmt: skip
        result.after.deeds = (*state.deeds, (state.acting, command))
        return result

    def _delta(self, state: State, command: Command, luck: Luck) -> Delta:
        """No changes yet, by an action that begins to draw."""
        delta = Delta(self._code.emitter.layout, luck, state.seed, state.tick, state.drawn)
        key = partial(self._draw_key, state, command)
        delta.by(f"action {command.action}", command.args, key)
        return delta

    def _effects(self, state: State, command: Command, body: Function, delta: Delta) -> Result:
        """Evaluate a body on ``state`` and apply it to a fork."""
        was = self.since(state, command)
        try:
            body(state, was, state.acting, delta, *command.args)
        except Breach as breach:
            raise breach.blamed(delta.rule.title) from None
        after = state.fork()
        after.drawn = delta.drawn
        changes = apply(after, delta)
        self._guards.check_conserved(state, after, delta, changes, state.me)
        result = Result("executed", command, state, after, changes=net(changes))
        return result

    def _draw_key(
        self, state: State, command: Command
    ) -> tuple[str | int | float | bool | None, ...]:
        """An action's draws are keyed by the actor (or null), then its arguments."""
        program, names = self._instance.program, state.names
        actor = None if state.acting is None else names[state.acting]
        params = program.actions[command.action].params
        shown = (
            show_value(program, names, binder.type, value)
            for binder, value in zip(params, command.args, strict=True)
        )
        return (actor, *shown)
