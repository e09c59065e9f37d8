"""A way to make a refused command possible: the fewest commands after which it may be given.

Where no way leads to that, a way on which at least its first failed require comes true. The search
is the exhaustive one over the interpreter, with all luck that is possible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from tokenworld.engine import EngineSimulator, SeededLuck, State
from tokenworld.ground import Command
from tokenworld.planning import PlanStep
from tokenworld.planning.search import Exhausted, Found, Limits, Search, SearchProgress
from tokenworld.session.obstacles import stands
from tokenworld.session.session import Session

__all__ = ["Satisfaction", "satisfy"]


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """How a command can be made possible.

    ``aim`` says what the steps bring about: that the whole ``command`` may be given, or that its
    first failed require, ``condition``, holds. Without a way there are no steps; then ``answer``
    says whether every state was seen. ``certain``: the steps lead there with this run's own draws.
    """

    command: Command
    text: str
    answer: Literal["found", "impossible", "unknown"]
    aim: Literal["command", "require"]
    condition: str
    steps: tuple[PlanStep, ...]
    words: tuple[str, ...]
    certain: bool
    states: int


class _Aiming(EngineSimulator):
    """A searcher's world in which what is to be reached is that requires hold."""

    def __init__(self, session: Session, command: Command, index: int | None) -> None:
        super().__init__(session.engine, session.state)
        self._session, self._command, self._index = session, command, index
        self._who = session.state.acting

    def won(self, state: State, goal: str | None) -> bool:
        engine = self._session.engine
        if state.acting != self._who or engine.stepper.endings.over(state):
            return False
        stand = stands(engine, state, self._command)
        if self._index is not None:
            return stand[self._index] is True
        return all(stand) and engine.stepper.unit.keeps(state, self._command)


def satisfy(
    session: Session,
    command: Command,
    *,
    seconds: float,
    say: Callable[[str], None],
    cancel: Callable[[], bool],
) -> Satisfaction:
    """Look for a way from the present state; at most ``seconds``, half of it for each aim."""
    whole = _sought(session, command, None, seconds / 2, say, cancel)
    if whole.answer == "found" or cancel():
        return whole
    failed = [n for n, holds in enumerate(stands(session.engine, session.state, command))
              if holds is not True]  # fmt: skip
    if not failed or len(session.world.program.actions[command.action].requires) == 1:
        return whole
    one = _sought(session, command, failed[0], seconds / 2, say, cancel)
    return one if one.answer == "found" else whole


def _sought(
    session: Session,
    command: Command,
    index: int | None,
    seconds: float,
    say: Callable[[str], None],
    cancel: Callable[[], bool],
) -> Satisfaction:
    simulator = _Aiming(session, command, index)

    def told(now: SearchProgress) -> None:
        say(f"{now.states:,} states seen, {now.depth} steps ahead")

    limits = Limits(seconds=seconds)
    result = Search(simulator, session.state, None).run(limits, progress=told, cancel=cancel)
    steps = result.steps if isinstance(result, Found) else ()
    words, certain = _played(session, simulator, steps)
    requires = session.world.program.actions[command.action].requires
    return Satisfaction(
        command,
        session.text_of(command),
        _answer(result),
        "command" if index is None else "require",
        "" if index is None else requires[index].source,
        steps,
        words,
        certain,
        result.states,
    )


def _answer(result: object) -> Literal["found", "impossible", "unknown"]:
    if isinstance(result, Found):
        return "found"
    return "impossible" if isinstance(result, Exhausted) else "unknown"


def _played(
    session: Session, aiming: _Aiming, steps: tuple[PlanStep, ...]
) -> tuple[tuple[str, ...], bool]:
    """The steps in words, and whether they lead there with the draws of the seed."""
    engine, twin, words = session.engine, session.apart(), []
    state = session.state
    for step in steps:
        twin.moments = [replace(twin.moments[0], state=state)]
        words.append(twin.text_of(step.command))
        state, _ = engine.play(state, step.command, SeededLuck())
    return tuple(words), bool(steps) and aiming.won(state, None)
