"""The passage of time of one tick again, law by law: who fired in which order, and asked for what.

`Stepper` keeps what a tick came to; here it is carried out once more on a state of the past, with
the same functions, and what every binding asked for is kept apart. Nothing of it is a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tokenworld.engine.applying import apply
from tokenworld.engine.births import Newborn
from tokenworld.engine.delta import Breach, Delta, Keyed, RawChange, Rule, Write
from tokenworld.engine.guards import Broken
from tokenworld.engine.luck import Luck, RecordingLuck
from tokenworld.engine.result import Result
from tokenworld.engine.sequence import InTurn, _Course
from tokenworld.engine.state import State
from tokenworld.engine.step import Stepper, is_free, is_last
from tokenworld.ground import Command, NoMatch, Raw
from tokenworld.model import Law, Phase

__all__ = ["Batch", "Firing", "PhaseTrace", "TimeTrace", "Tracer"]


@dataclass(frozen=True, slots=True)
class Firing:
    """One binding of a law whose condition held, and what its body asked for."""

    rule: Rule
    asked: tuple[Write, ...] = ()
    born: tuple[Newborn, ...] = ()
    doomed: tuple[int, ...] = ()


@dataclass(slots=True)
class Batch:
    """Firings that read the same state and were applied at once; ``changes`` is what came of it.

    ``breach`` is what stopped it; then it came to nothing. ``names`` are those of all objects that
    it may speak of.
    """

    firings: tuple[Firing, ...]
    changes: list[RawChange] = field(default_factory=list)
    names: tuple[str, ...] = ()
    breach: Breach | Broken | None = None


@dataclass(frozen=True, slots=True)
class PhaseTrace:
    """One phase: its laws as written, and its batches in order. ``name`` is empty for the last."""

    name: str
    order: str
    laws: tuple[Law, ...]
    batches: tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class TimeTrace:
    """All phases that ran. ``breach`` is what stopped the tick in one of them, the last."""

    phases: tuple[PhaseTrace, ...] = ()
    breach: Breach | Broken | None = None


class Tracer:
    """Traces ticks of one compiled world. Like play itself it must not be used by two threads."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self._phases = tuple(_phases(stepper))
        self._turns: dict[str, _Turns] = {}

    def trace(
        self, state: State, intent: Command | NoMatch, luck: Luck, *, broken: bool
    ) -> TimeTrace:
        """What the laws did in a tick in which time passed, closed by an intent in ``state``.

        ``broken``: time did not pass, as the record tells of a breach. Then the phases ran only if
        the breach did not come before them.
        """
        after = self._acted(state, intent, luck)
        if after is None or (broken and not self._came_to_time(state, intent, after)):
            return TimeTrace()
        return self._time(after, state.round or state, luck)

    def _came_to_time(self, state: State, intent: Command | NoMatch, after: State) -> bool:
        command = intent if isinstance(intent, Command) else None
        return is_last(state, after) and not is_free(self._stepper.unit, state, command)

    def _acted(self, state: State, intent: Command | NoMatch, luck: Luck) -> State | None:
        """The state after what the actor did; ``None`` where that was discarded."""
        last = self._stepper.opened(state, intent, RecordingLuck(luck))[-1]
        return last.after if last.breach is None else None

    def _time(self, state: State, start: State, luck: Luck) -> TimeTrace:
        found: list[PhaseTrace] = []
        for name, order, laws in self._phases:
            batches: list[Batch] = []
            breach: Breach | Broken | None = None
            try:
                if order == "simultaneous":
                    state = self._together(laws, state, start, luck, batches)
                else:
                    turns = self._in_turn(name, order, laws)
                    turns.batches = batches
                    state = turns.run(self._scratch(state), state, start, luck)
            except (Breach, Broken) as error:
                breach = error
            found.append(PhaseTrace(name, order, laws, tuple(batches)))
            if breach is not None:
                return TimeTrace(tuple(found), breach)
        return TimeTrace(tuple(found))

    def _scratch(self, state: State) -> Result:
        """A result for the phase to write to; nobody reads it."""
        return self._stepper.halt(state, "")

    def _in_turn(self, name: str, order: str, laws: tuple[Law, ...]) -> _Turns:
        known = self._turns.get(name)
        if known is None:
            one = self._stepper
            nesting = order == "by_nesting"
            known = self._turns[name] = _Turns(one.instance, one.code, one.guards, laws, nesting)
        return known

    def _together(
        self,
        laws: tuple[Law, ...],
        state: State,
        start: State,
        luck: Luck,
        batches: list[Batch],
    ) -> State:
        """All laws on one state, as `simultaneous.Together` runs them."""
        one, me = self._stepper, state.me
        delta, after = _Marked(one.layout, luck, state.seed, start.tick), state
        batch = Batch(())
        try:
            for law in laws:
                try:
                    one.code.laws[law.name].run(state, start, me, delta)
                except Breach as breach:
                    raise breach.blamed(f"law {law.name}") from None
            if delta.fired:
                after = state.fork()
                batch.changes = apply(after, delta)
                one.guards.check_conserved(state, after, delta, batch.changes, me)
        except (Breach, Broken) as breach:
            batch.breach = breach
            raise
        finally:
            batch.firings = tuple(delta.firings())
            batch.names = (*after.names, *_newborn_names(delta, after))
            if batch.firings:
                batches.append(batch)
        return after


class _Marked(Delta):
    """A delta that knows where the requests of each firing begin."""

    __slots__ = ("marks",)

    def __init__(self, layout: object, luck: Luck, seed: int, tick: int) -> None:
        super().__init__(layout, luck, seed, tick)  # type: ignore[arg-type]
        self.marks: list[tuple[int, int, int]] = []

    def by(self, title: str, args: tuple[Raw, ...], keyed: Keyed) -> None:
        self.marks.append((len(self.writes), len(self.newborns), len(self.doomed)))
        super().by(title, args, keyed)

    def firings(self) -> Iterator[Firing]:
        """What each firing asked for, in order."""
        ends = [*self.marks[1:], (len(self.writes), len(self.newborns), len(self.doomed))]
        for rule, begin, end in zip(self.fired, self.marks, ends, strict=False):
            yield Firing(
                rule,
                tuple(self.writes[begin[0] : end[0]]),
                tuple(self.newborns[begin[1] : end[1]]),
                tuple(number for number, _ in self.doomed[begin[2] : end[2]]),
            )


class _Turns(InTurn):
    """A sequential phase that keeps each of its turns."""

    batches: list[Batch]

    def _apply(self, result: Result, course: _Course, delta: Delta, start: State) -> State:
        known = len(course.changes)
        doomed = tuple(number for number, _ in delta.doomed)
        firing = Firing(delta.fired[0], tuple(delta.writes), tuple(delta.newborns), doomed)
        batch = Batch((firing,))
        self.batches.append(batch)
        after = course.now
        try:
            after = super()._apply(result, course, delta, start)
        except (Breach, Broken) as breach:
            batch.breach = breach
            raise
        finally:
            batch.names = (*after.names, *_newborn_names(delta, after))
            batch.changes = course.changes[known:]
        return after


def _newborn_names(delta: Delta, after: State) -> tuple[str, ...]:
    """Names of those who were asked for and never lived, as what stopped it speaks of them."""
    return tuple(one.name for one in delta.newborns if one.number >= len(after.names))


def _phases(stepper: Stepper) -> Iterator[tuple[str, str, tuple[Law, ...]]]:
    """The phases that have laws, in the order in which a tick runs them."""
    program = stepper.instance.program
    named: Mapping[str, Phase] = program.phases
    for name in (*named, ""):
        laws = tuple(law for law in program.laws.values() if law.phase == name)
        if laws:
            yield name, named[name].order if name else "simultaneous", laws
