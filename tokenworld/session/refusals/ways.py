"""A way to make a refused command possible: a search from the present state of a session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tokenworld.engine import EngineSimulator, SeededLuck, State
from tokenworld.engine.rows.questions.asking import is_refused
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Command, Json
from tokenworld.planning.search.interpreted import (
    Exhausted,
    Found,
    Limits,
    Search,
    SearchProgress,
    SearchResult,
)
from tokenworld.planning.verdict import PlanStep
from tokenworld.session.obstacles import requires_held
from tokenworld.session.session import Session, hidden_about, hidden_on


@dataclass(frozen=True, slots=True)
class Satisfaction:
    """The way in which a command can be made possible.

    ``aim`` is the result of the steps: the whole ``command`` is possible, or its first failed
    require, ``condition``, holds. Without a way there are no steps; then ``answer``
    says whether every state was seen. ``certain``: the steps lead there with this run's own draws.
    ``hidden`` are the secrets that a player does not know and on which the answer depends: then it
    is *unknown*, without further content.
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
    hidden: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The ``way`` of ``tw-refusal/1``."""
        return {
            "answer": self.answer,
            "aim": self.aim,
            "condition": self.condition,
            "steps": list(self.words),
            "certain": self.certain,
            "states": self.states,
            "hidden": list(self.hidden),
        }


class _Aiming(EngineSimulator):
    """The simulator of a search whose goal is that requires hold."""

    def __init__(self, session: Session, command: Command, index: int | None) -> None:
        super().__init__(session.engine, session.state)
        self._session, self._command, self._index = session, command, index
        self._who = session.state.acting

    def won(self, state: State, goal: str | None) -> bool:
        engine = self._session.engine
        if state.acting != self._who or engine.over(state):
            return False
        stand, known = requires_held(engine, state, self._command), self._session.known
        if self._index is not None:
            return stand[self._index] is True
        action = self._command.action
        if not all(holds or known.hides(action, n) for n, holds in enumerate(stand)):
            return False
        return known.depends_on_secrets(action) or not engine.asked(state, self._is_refused)

    def _is_refused(self, tick: Tick) -> bool:
        return is_refused(tick, self._command)


def satisfy(
    session: Session,
    command: Command,
    *,
    seconds: float,
    say: Callable[[str], None],
    cancel: Callable[[], bool],
) -> Satisfaction:
    """Look for a way from the present state; at most ``seconds``, half of it for each aim.

    Conditions on secrets are ignored: a way leads to a state in which the command is legal for some
    values of the secrets.
    """
    whole = _sought(session, command, None, seconds / 2, say, cancel)
    if whole.answer == "found" or cancel():
        return whole
    failed = [n for n, holds in enumerate(requires_held(session.engine, session.state, command))
              if holds is not True and not session.known.hides(command.action, n)]  # fmt: skip
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
    search = Search(simulator, session.state, None)
    result: SearchResult | None = search.run(limits, progress=told, cancel=cancel)
    steps = result.steps if isinstance(result, Found) else ()
    hidden = hidden_on(session, steps) if steps else hidden_about(session)
    if hidden:
        result, steps = None, ()
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
        0 if result is None else result.states,
        hidden,
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
        twin.moments = [twin.moments[0].at(state)]
        words.append(twin.text_of(step.command))
        state, _ = engine.play(state, step.command, SeededLuck())
    return tuple(words), bool(steps) and aiming.won(state, None)
