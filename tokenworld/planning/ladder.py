"""The stages of `tw plan`, from the cheapest search to the most expensive.

1. The goal may hold already.
2. Our own search over the interpreter under a cap: the exact answer for small worlds. Counts of
   states end it when others should try (`stages`).
3. If states are not packed, or packing them takes too long: LAMA on a plain world grounded at once,
   or, by Fast Downward's translator, on the PDDL that it was imported from, or on its lifted PDDL,
   if it has one; then a short width search. In a plain world nothing happens but commands, and only
   small ones are packed before that.
4. An encoding: its goal may be unreachable even without deletions. Then Fast Downward on it, if it
   is installed: LAMA or ff finds; later blind, which proves, and our own search join it.
5. Our own search again, where it stopped, in turn with the width search, for the remaining time:
   the one proves, the other finds plans in worlds that no encoding takes.

Everything is checked: a plan counts only after the interpreter replayed it to the goal, a proof
only if its encoding is exact. The verdict lists the attempts and their limits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Generic

from tokenworld.diagnostics import Diagnostic, Severity, no_verdict
from tokenworld.ground import Instance, Simulator, StateT
from tokenworld.limits import attempt_for, halted
from tokenworld.planning.honest.secrets import secrets_read
from tokenworld.planning.lower.encode import is_plain
from tokenworld.planning.planners.answers import (
    RELAXED,
    Classical,
    EngineRun,
    attempt_of,
    judged,
)
from tokenworld.planning.planners.by_encoding import HEAD_START, fast_downward, plain_downward
from tokenworld.planning.planners.by_pddl import translated_downward
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, SYMK, EngineInfo, find_engine
from tokenworld.planning.proof.relaxed import hopeless
from tokenworld.planning.referee import Replay, replay, winnable, without_idle_steps
from tokenworld.planning.search.interpreted import Cancel, Exhausted, Found, Limits
from tokenworld.planning.search.own import OwnRung, Say
from tokenworld.planning.verdict import Attempt, AttemptResult, Verdict, require_goal

_FIRST_STATES = 200_000
_FIRST_SECONDS = 1.0
_FIRST_SHARE = 0.4
"""The first search takes at most this share of the time, so that an engine gets the rest."""
_LOOK_STATES = 2_000
_LOOK_SHARE = 0.25
"""The first look of the width search: so many states, in at most this share of the time."""
_SLICE = 0.1
"""Seconds that our own search takes between two looks at the planners."""
_TURN = 10.0
"""Seconds that a turn of our own search or the width search takes at most. Turns are counted in
states; the clock ends only the very long ones, so that a slow machine finds the same plan."""


def plan(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    time_limit: float = 60.0,
    memory_limit: int = 2 << 30,
    within: int | None = None,
    engine: EngineInfo | None = None,
    classical: Classical | None = fast_downward,
    translated: Classical | None = translated_downward,
    original: Classical | None = None,
    width: bool = True,
    packs: bool = True,
    progress: Say | None = None,
    cancel: Cancel | None = None,
) -> Verdict:
    """Return the verdict on ``goal`` (any goal line if ``None``) from ``state``, with a plan.

    ``time_limit`` is in seconds, ``memory_limit`` in bytes for each search. ``within`` bounds the
    ticks of a plan. ``engine`` is the place of Fast Downward (found by default), ``classical`` runs
    it on an encoding and ``translated`` on exported PDDL; with ``None`` it is not asked.
    ``original`` runs it on the PDDL that the world was imported from, in place of ``translated``,
    and before our own search if there are derived predicates or long actions.
    ``width``: the width search may be used. ``packs``: a state is one of the interpreter and may be
    packed.
    ``progress`` gets a line about every second.

    Raises `Failure` with TW0201 for a goal that the world does not have.
    """
    require_goal(simulator, goal)
    planner = cache(lambda: engine or _installed())
    instance = simulator.instance_at(state)
    plain = within is None and is_plain(instance, goal)
    hurried = plain and classical is not None
    own = OwnRung(simulator, state, goal, within, packs=packs, hurried=hurried)
    begins = original is None or not (_is_for_lama(instance) and planner().ready)
    ladder = _Ladder(
        simulator, state, goal, within, time_limit, memory_limit, own, progress, cancel, plain
    )

    def own_first() -> Verdict | None:
        return ladder.search_first(planner, patient=not packs or within is not None)

    def found() -> Verdict | None:
        return (
            (begins and own_first())
            or (translated and ladder.translate(planner, original or translated))
            or (None if begins else own_first())
            or ladder.look_wide(width=width)
            or (classical and ladder.ask(planner(), classical))
            or ladder.search_on(width=width)
        )

    return attempt_for(time_limit, "planning", found, ladder.cut) or ladder.unknown()


def _is_for_lama(instance: Instance) -> bool:
    """Return whether LAMA may be faster than our own search: derived predicates make each state
    slow, and each tick of a long action is a state."""
    return bool(instance.program.derives) or instance.program.has_durations


def _installed() -> EngineInfo:
    """Fast Downward where it is installed, else SymK, which contains it."""
    found = find_engine(FAST_DOWNWARD)
    if found.ready:
        return found
    other = find_engine(SYMK)
    return other if other.ready else found


class _Ladder(Generic[StateT]):
    """One run: the clock, the attempts so far, and the verdict of an answer."""

    def __init__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        within: int | None,
        time_limit: float,
        memory_limit: int,
        own: OwnRung[StateT],
        progress: Say | None,
        cancel: Cancel | None,
        plain: bool,
    ) -> None:
        self._simulator, self._state, self._goal, self._own = simulator, state, goal, own
        self._plain = plain
        self._within, self._time_limit, self._memory_limit = within, time_limit, memory_limit
        self._say: Say = progress or (lambda line: None)
        self._cancel: Cancel = cancel or (lambda: False)
        self._started = self._spoke = time.monotonic()
        self._asked: float | None = None
        self._attempts: list[Attempt] = []
        self._notes: list[Diagnostic] = []
        self._wide: OwnRung[StateT] | None = None
        self._looked = self._cut = False

    # ---- the rungs ----

    def search_first(self, planner: Callable[[], EngineInfo], *, patient: bool) -> Verdict | None:
        """Our own search under a cap; ``patient``: the whole of it, for no other rung will do."""
        end = time.monotonic() + min(_FIRST_SECONDS, _FIRST_SHARE * self._time_limit)
        for stage in stages(_FIRST_STATES, patient=patient):
            verdict = self._search(self._own, max(end - time.monotonic(), 0.0), stage)
            if verdict is not None or not self._own.can_go_on:
                return verdict
            if self._own.is_put_off and not planner().ready:
                self._own.pack()
            elif is_left_to_others(self._own, stage):
                break
        return None

    def translate(self, planner: Callable[[], EngineInfo], translated: Classical) -> Verdict | None:
        """Run Fast Downward where the general encoding may take long: on a plain world grounded at
        once, or else on the world as PDDL."""
        if not self._is_costly() or self._over() or not planner().ready:
            return None
        plain = self._heard(planner(), plain_downward) if self._plain else None
        return plain or (None if self._over() else self._heard(planner(), translated))

    def _is_costly(self) -> bool:
        """Return whether states are costly to pack or not packed, and so encoding E is costly."""
        return self._own.is_heavy or not self._own.is_packed

    def look_wide(self, *, width: bool) -> Verdict | None:
        """Run the width search under a cap, where an encoding may take long; no ``within``."""
        if not (width and self._is_costly()) or self._within is not None or self._over():
            return None
        seconds, self._looked = _LOOK_SHARE * self._time_limit, True

        def look() -> Verdict | None:
            return self._search(self._by_width(), seconds, _LOOK_STATES)

        return attempt_for(seconds, "the width search", look, lambda: None)

    def search_on(self, *, width: bool) -> Verdict | None:
        """Run our own search and the width search in turn, for the remaining time.

        A bound on ticks is for the first alone. The second begins if no encoding is possible.
        """
        self._own.pack()
        rungs = [self._own]
        if width and self._within is None and not self._own.answered and not self._over():
            pair = [self._own, self._by_width()]
            rungs = pair[::-1] if self._refused() else pair
        for turn in count():
            if self._over() or not any(rung.can_go_on for rung in rungs):
                return None
            for rung in (one for one in rungs if one.can_go_on):
                limits = self._turn(rung, turn) if rungs[1:] else (self._left(), None)
                if (verdict := self._search(rung, *limits)) is not None:
                    return verdict
        return None

    def _turn(self, rung: OwnRung[StateT], number: int) -> tuple[float, int]:
        """The limits of a rung's turn: counted in states, so that the clock decides little."""
        if time.monotonic() - self._spoke >= 1:
            self._spoke = time.monotonic()
            self._say(rung.line())
        number += self._looked and rung is self._wide  # the look was its first turn
        return min(_TURN, max(self._left(), 0.0)), turn_states(rung, number)

    def _by_width(self) -> OwnRung[StateT]:
        """The width search, begun when it is first asked for."""
        from tokenworld.planning.width.search import width_rung

        if self._wide is None:
            self._wide = width_rung(self._simulator, self._state, self._goal)
        return self._wide

    def ask(self, engine: EngineInfo, classical: Classical) -> Verdict | None:
        """Encode the world and run the planners; the first verdict that one of them gives."""
        verdict = self._heard(engine, classical)
        if verdict is None:
            self._miss(engine)
        return verdict

    def _heard(self, engine: EngineInfo, classical: Classical) -> Verdict | None:
        """Return the first verdict of a planner, or of our own search, which runs meanwhile."""
        verdicts: list[Verdict] = []

        def accept(run: EngineRun) -> bool:
            if not self._own.answered:
                verdicts.extend(self._judge(run))
            return bool(verdicts)

        if not self._over():
            self._say("encoding the world for a planner")
            self._spoke, self._asked = time.monotonic(), None
            classical(
                self._simulator,
                self._state,
                self._goal,
                program=Path(engine.path) if engine.ready and engine.path else None,
                seconds=self._left(),
                memory=self._memory_limit,
                cancel=self._meanwhile,
                accept=accept,
            )
        if verdicts:
            return self._closed(verdicts[0])
        return self._settled(self._own) if self._own.answered else None

    def _meanwhile(self) -> bool:
        """Return whether the planners may stop; called often while they run.

        After the planners' head start, our own search runs at the same time; not in a plain world,
        where blind search proves the same faster.
        """
        self._asked = self._asked or time.monotonic()
        beside = self._own.can_go_on and not self._plain
        if beside and time.monotonic() >= self._asked + HEAD_START:
            seconds = min(_SLICE, max(self._left(), 0.0))
            self._own.run(Limits(None, seconds, self._memory_limit), self._say, self._cancel)
        now = time.monotonic()
        if now - self._spoke >= 1:
            self._spoke = now
            self._say(f"planners running; {self._own.line()}")
        return self._own.answered or self._cancel()

    def _miss(self, engine: EngineInfo) -> None:
        """Note that there is no engine and how to get it, where it might have helped."""
        if engine.ready or self._refused():
            return
        self._tried(engine.engine, "", "missing", engine.problem, 0.0)
        message = f"The planner `{engine.engine}` cannot be used: {engine.problem}."
        self._note(Diagnostic("TW0811", message, hint=f"Run `{engine.install}`."))

    def _refused(self) -> bool:
        """Return whether no encoding takes the world."""
        return any(one.result == "not expressible" for one in self._attempts)

    def cut(self) -> None:
        """Note that the limit of time ended a rung."""
        self._cut = True

    def unknown(self) -> Verdict:
        """Verdict if no search succeeded, with notes that say what would help."""
        for note in self._own.notes():
            self._note(note)
        tried = (*self._attempts, *self._searched())
        if self._cancel():
            self._note(Diagnostic("TW0813", "It was cancelled before there was a verdict."))
        elif self._cut or halted() or any(one.result == "limit" for one in tried):
            self._note(no_verdict())
        return self._closed(Verdict("unknown", self._goal, None, "", "", within=self._within))

    # ---- from answers to verdicts ----

    def _search(
        self, rung: OwnRung[StateT], seconds: float, states: int | None = None
    ) -> Verdict | None:
        rung.run(Limits(states, seconds, self._memory_limit), self._say, self._cancel)
        return self._settled(rung) if rung.answered else None

    def _settled(self, rung: OwnRung[StateT]) -> Verdict | None:
        """The verdict of a search of ours that has an answer."""
        match rung.result:
            case Found(steps=steps, optimal=optimal):
                replayed = replay(self._simulator, self._state, steps, self._goal)
                if replayed.ok:
                    if rung is self._wide:
                        replayed = without_idle_steps(self._simulator, replayed, self._goal)
                    verdict = self._won(rung.engine, "", replayed)
                    return self._closed(replace(verdict, optimal=optimal))
                detail = replayed.failure(len(steps))
                rung.disprove(detail)
                self._fault(rung.engine, f"its plan does not survive the replay ({detail})")
            case Exhausted() as exhausted:
                return self._closed(rung.unwinnable(exhausted))
        return None

    def _judge(self, run: EngineRun) -> tuple[Verdict, ...]:
        """The verdict from a planner's answer, if any; the attempt is noted in any case."""
        for note in run.notes:
            self._note(note)
        found = judged(self._simulator, self._state, self._goal, run)
        attempt, late = attempt_of(run, found), False
        if isinstance(found, str):
            self._fault(run.engine, f"its plan does not survive the replay ({found})")
        elif found is None:
            if run.result in ("failed", "invalid plan") and not run.notes:
                self._fault(run.engine, run.detail)
        elif found.answer == "unwinnable" and run.engine == RELAXED:
            self._note(hopeless(self._simulator, self._goal))
        elif found.answer == "winnable" and self._within is not None:
            found, late = replace(found, within=self._within), found.ticks > self._within
            if late:
                detail = f"its plan takes {found.ticks:,} ticks, more than {self._within:,}"
                attempt = replace(attempt, detail=detail)
        self._attempts.append(attempt)
        return (found,) if isinstance(found, Verdict) and not late else ()

    def _won(self, engine: str, encoding: str, replayed: Replay[StateT]) -> Verdict:
        found = winnable(self._simulator, replayed, self._goal, engine, encoding)
        return replace(found, within=self._within)

    # ---- bookkeeping ----

    def _left(self) -> float:
        return self._time_limit - (time.monotonic() - self._started)

    def _over(self) -> bool:
        return self._cancel() or self._left() <= 0

    def _tried(
        self, engine: str, encoding: str, result: AttemptResult, detail: str, seconds: float
    ) -> None:
        self._attempts.append(Attempt(engine, encoding, result, detail, seconds))

    def _searched(self) -> tuple[Attempt, ...]:
        begun = [rung for rung in (self._wide,) if rung is not None and rung.begun]
        return tuple(rung.attempt() for rung in (self._own, *begun))

    def _fault(self, engine: str, detail: str) -> None:
        message = f"The planner `{engine}` gave no usable answer: {detail}."
        hint = "Run `tw doctor` to see whether it is installed well; other ways are still tried."
        self._note(Diagnostic("TW0812", message, hint=hint))

    def _note(self, note: Diagnostic) -> None:
        if note not in self._notes:
            self._notes.append(note)

    def _closed(self, verdict: Verdict) -> Verdict:
        """The verdict with its attempts.

        Beside an answer only planners that misbehaved are noted, why there is no plan, and the
        secrets that the plan should not have known.
        """
        notes = tuple(self._notes)
        if verdict.answer != "unknown":
            faults = (note for note in notes if note.code == "TW0812")
            reasons = (note for note in notes if note.code == "TW0803")
            notes = tuple(replace(note, severity=Severity.INFO) for note in faults)
            notes += tuple(reasons) if verdict.answer == "unwinnable" else ()
            program, steps = self._simulator.instance.program, verdict.steps
            notes += secrets_read(program, [step.command for step in steps])
        attempts, spent = (*self._searched(), *self._attempts), time.monotonic() - self._started
        return replace(verdict, attempts=attempts, notes=notes, seconds=spent)


_TRIED = 100
"""After so many states packing was tried. Where it would have taken too long, that is enough."""
_UNPACKED = 600
"""The largest number of states of a first search on the interpreter."""
_GROWS = {10_000: 0.5, 20_000: 0.4}
"""After so many states, the share that may wait where the first search is to go on."""
_TURN_STATES = 2_000
_TURN_PACKED = 100 * _TURN_STATES
_LONGEST = 30


def stages(most: int, *, patient: bool) -> Iterator[int]:
    """The counts of states after which a first search is checked, the last being ``most``.
    ``patient``: no other planner can answer."""
    if not patient:
        yield from (one for one in (_TRIED, _UNPACKED, *_GROWS) if one < most)
    yield most


def is_left_to_others(search: OwnRung[StateT], stage: int) -> bool:
    """Return whether to stop a search that reached a stage without an answer."""
    if stage == _TRIED:
        return search.is_heavy
    if stage == _UNPACKED:
        return not search.is_packed
    return stage in _GROWS and search.waiting > _GROWS[stage]


def turn_states(search: OwnRung[StateT], number: int) -> int:
    """Up to how many states the turn with this number lasts, each twice as long as the one before.

    Packed states are some hundred times as cheap, and so they are as many times more.
    """
    first = _TURN_PACKED if search.is_packed else _TURN_STATES
    return search.states + (first << min(number, _LONGEST))
