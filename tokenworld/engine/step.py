"""The tick (language.md §8) as searches carry it out: nothing is said, and no watch is asked.

`Stepper.tick` takes a state and an intent and returns one `Result` per record: usually one; two
where the intent breaks off a long action, or is fruitless and time passes all the same. The given
state is never written to. Where several actors
take turns it is called once for each of them; the state knows whose turn it is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from tokenworld.engine.applying import net
from tokenworld.engine.clock import waits
from tokenworld.engine.compile import Code
from tokenworld.engine.delta import Breach, RawChange
from tokenworld.engine.endings import Endings, Watches
from tokenworld.engine.guards import Broken, Guards
from tokenworld.engine.layout import Layout
from tokenworld.engine.luck import NO_DRAWS, Luck, RecordingLuck
from tokenworld.engine.result import BreachReport, Result
from tokenworld.engine.sequence import InTurn
from tokenworld.engine.simultaneous import Together
from tokenworld.engine.state import State
from tokenworld.engine.unit import ActionUnit
from tokenworld.ground import PASS, By, Command, Instance, NoMatch, Status
from tokenworld.model import Phase

__all__ = ["Stepper", "broken", "is_free", "is_last"]

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
        """Whether `pass` can lead anywhere: phases, long actions, or rules that read the clock."""
        return bool(self.phases) or self.unit.has_long or waits(self.instance)

    # ---- one intent -------------------------------------------------------------------------

    def tick(self, state: State, intent: Intent, luck: Luck, by: By = "player") -> list[Result]:
        """The intent of the actor whose turn it is: its records, the last with the state it
        leaves. The last actor of a round closes it; a free action is a round of its own."""
        recording = RecordingLuck(luck)
        results = self.completed(self.opened(state, intent, recording), state, recording)
        for one in results:
            one.by = by if one.by == "player" else one.by
        return results

    def opened(self, state: State, intent: Intent, luck: RecordingLuck) -> list[Result]:
        """Steps 2 to 6: what an intent does by itself. The same draws go on in `completed`."""
        if self.endings.over(state):
            return [Result("halted", _command(intent), state, state, cause="the world is over")]
        if isinstance(intent, Command):
            return self._unit(state, intent, luck)
        return [Result("no_match", None, state, state, no_match=intent)]

    def completed(self, results: list[Result], state: State, luck: RecordingLuck) -> list[Result]:
        """Steps 7 to 11 after `opened`; the last record then has the state that the tick leaves."""
        last = results[-1]
        if last.status == "halted":
            return results
        if last.fruitless:
            return self._fruitless(last, state, luck)
        free = is_free(self.unit, state, last.command)
        try:
            return self._finish(results, state, luck, free=free)
        except (Breach, Broken) as breach:
            return [broken(state, last.command, breach)]

    def halt(self, state: State, cause: str) -> Result:
        """That the runner stopped here: nothing is asked, nothing happens."""
        return Result("halted", None, state, state, cause=cause)

    def acted(self, state: State, command: Command, luck: Luck) -> State:
        """What steps 3 to 6 alone make of a state."""
        return self.opened(state, command, RecordingLuck(luck))[-1].after

    def _unit(self, state: State, command: Command, luck: RecordingLuck) -> list[Result]:
        """Steps 3 to 6: what an actor does, or that he is refused, or that it was discarded."""
        try:
            cancelled = self.unit.cancel(state, command, luck)
            start = state if cancelled is None else cancelled.after
            done = self.unit.do(start, command, luck)
            if done.fruitless:
                luck.forget(0)
                done.judged, done.before, done.after = done.before, state, state
                return [done]
            results = [done] if cancelled is None else [cancelled, done]
            if len(state.actors) > 1:
                was = self.unit.since(state, command)
                self.guards.check_invariants(was, done.after, _made(results), state.me)
        except (Breach, Broken) as breach:
            luck.forget(0)
            return [broken(state, command, breach)]
        return results

    # ---- fruitless intents ------------------------------------------------------------------

    def _fruitless(self, result: Result, state: State, luck: RecordingLuck) -> list[Result]:
        """A fruitless intent changes nothing; where time always passes, its actor passes then."""
        no_match, command = result.no_match, result.command
        if (
            not self.instance.world.time_always
            or result.status in ("rolled_back", "error")
            or (no_match is not None and no_match.out_of_turn and len(state.actors) > 1)
            or is_free(self.unit, state, command)
        ):
            return [result]
        if state.long_of(state.acting) is not None:
            passed = self.completed(self._unit(state, PASS, luck), state, luck)
            return [result, *map(self._by_time, passed)]
        try:
            return self._finish([_bare(result, state)], state, luck, free=False)
        except (Breach, Broken) as breach:
            return [result, self._by_time(broken(state, PASS, breach))]

    def _by_time(self, result: Result) -> Result:
        result.by = "time"
        return result

    # ---- the end of a turn, the end of a round ------------------------------------------------

    def _finish(
        self, results: list[Result], state: State, luck: RecordingLuck, *, free: bool
    ) -> list[Result]:
        """The next actor's turn, or the end of the round."""
        last = results[-1]
        last.draws = luck.taken
        if not free and not is_last(state, last.after):
            last.after = handed_on(state, last.after)
            return results
        return self._close(results, state, luck, free=free)

    def _close(
        self, results: list[Result], state: State, luck: Luck, *, free: bool
    ) -> list[Result]:
        """Time, phases, invariants, commit, progress: steps 7 to 11."""
        last = results[-1]
        start = state if free else state.round or state
        after = last.after if free else self._pass_time(last, start, luck)
        self.guards.check_invariants(start, after, _made(results), state.me)
        last.time_passed = not free
        return self._commit(results, state, after, free=free)

    def _commit(
        self, results: list[Result], state: State, after: State, *, free: bool
    ) -> list[Result]:
        last, me = results[-1], state.me
        own = after is not state and after is not last.before
        settled = own_round(state, after) if free else closed(after, own=own)
        if last.time_passed:
            settled.tick += 1
        last.start = last.start or (state if free else state.round or state)
        last.latched = self.endings.progress(settled, me)
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
                found.append(Together(self.code, self.guards, laws))
        return tuple(found)

    def _pass_time(self, result: Result, start: State, luck: Luck) -> State:
        """Every phase in order; `was` is the tick's start in all of them."""
        state = result.after
        for phase in self.phases:
            state = phase.run(result, state, start, luck)
        return state


def _made(results: list[Result]) -> list[RawChange]:
    return [change for one in results for change in (*one.changes, *one.law_changes)]


def _bare(result: Result, state: State) -> Result:
    """A fruitless record as it was before time passed."""
    return replace(
        result, after=state, time_passed=False, law_changes=[], fired=[], draws=[], latched=(),
        start=None if result.refused is None else result.start,
    )  # fmt: skip


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


# ---- whose turn it is ---------------------------------------------------------------------------


def is_free(unit: ActionUnit, state: State, command: Command | None) -> bool:
    """Whether an intent is a round of its own, after which the same actor is asked again."""
    try:
        return command is not None and unit.free(state, command)
    except Breach:
        return False  # how long it takes has no value: the intent is in error


def is_last(state: State, after: State) -> bool:
    """Whether nobody is left in the round behind the actor whose turn it is in ``state``."""
    if len(state.actors) < 2:
        return True
    return not any(after.alive(actor) for actor in state.actors[state.seat + 1 :])


def handed_on(state: State, after: State) -> State:
    """What the actor whose turn it is in ``state`` leaves to the next one."""
    new = after.fork()
    new.turn = state.seat + 1
    new.round = state.round or state
    return new


def own_round(state: State, after: State) -> State:
    """The state after a free action: the round of ``state``, if one is under way, goes on."""
    new = after.fork()
    new.deeds = state.deeds
    if state.round is not None:
        new.told = after.fork()
        new.told.told = None  # or a round of many free actions keeps a state for each
    return new


def closed(after: State, *, own: bool = False) -> State:
    """The state at the end of a round; its tick number is the caller's business. ``own``: nobody
    else keeps ``after``, so that it may become that state itself."""
    new = after if own else after.fork()
    new.memo = {}
    new.deeds, new.drawn = (), NO_DRAWS
    new.turn, new.round, new.told = 0, None, None
    if len(new.actors) > 1:
        new.longs = tuple(pair for pair in new.longs if pair[0] is None or new.alive(pair[0]))
    return new
