"""Is there an honest plan: one that wins for every assignment of secrets (language.md §16)?

Our own search looks at sets of states (`Beliefs`) and answers exactly, and so does the sliced
search, which only sees what can matter for the goal (`rung`). Planners know one world only: what
they find for one assignment counts if the interpreter replays it in all of them, and what they
prove of one assignment holds of all, because an honest plan is a plan for each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Unpack

from tokenworld.diagnostics import Diagnostic, Severity
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.honest.beliefs import Beliefs
from tokenworld.planning.honest.rung import SLICED, sliced_run
from tokenworld.planning.honesty import Honesty, Shortfall
from tokenworld.planning.ladder import plan
from tokenworld.planning.own import OWN_SEARCH
from tokenworld.planning.planners.classical import Asked, Classical, EngineRun, fast_downward
from tokenworld.planning.planners.doctor import EngineInfo
from tokenworld.planning.refereed import refereed
from tokenworld.planning.replay import replay
from tokenworld.planning.search import Cancel
from tokenworld.planning.secrets import secrets_read
from tokenworld.planning.verdict import PlanStep, Verdict

__all__ = ["Ask", "Question", "honest_plan", "judged"]

Say = Callable[[str], None]
Ask = Callable[[float], Verdict]
"""Asks one engine about the start state, for so many seconds."""
_NOBODY = EngineInfo(OWN_SEARCH, "", "", None, None, "")


@dataclass(frozen=True, slots=True)
class Question(Generic[StateT]):
    """What is asked: ``starts`` are all states that look to the player like the first of them.

    ``secrets`` are the ids of the secret fluents in which they differ.
    """

    simulator: Simulator[StateT]
    starts: tuple[StateT, ...]
    secrets: tuple[str, ...]
    goal: str | None

    def beliefs(self) -> Beliefs[StateT]:
        return Beliefs(self.simulator, self.starts, self.goal)

    def honesty(self, *, together: bool) -> Honesty:
        return Honesty(len(self.starts), self.secrets, together)


def honest_plan(
    question: Question[StateT],
    *,
    seconds: float,
    own_only: bool = False,
    say: Say | None = None,
    cancel: Cancel | None = None,
) -> Verdict:
    """The verdict of the whole ladder; ``own_only`` leaves the planners out.

    Raises `Failure` with TW0201 for a goal that the world does not have.
    """
    beliefs, goal = question.beliefs(), question.goal
    planners = _Planners(question, beliefs, say or (lambda line: None))
    found = plan(
        beliefs,
        beliefs.start(),
        goal,
        time_limit=seconds,
        engine=_NOBODY if own_only else None,
        classical=_nobody if own_only else planners.classical(),
        width=False,
        packs=False,
        progress=say,
        cancel=cancel,
    )
    return _settled(question, beliefs, found, planners.shortfall)


def _settled(
    question: Question[StateT],
    beliefs: Beliefs[StateT],
    found: Verdict,
    shortfall: Shortfall | None,
) -> Verdict:
    """A verdict of the ladder about beliefs, with what luck and costs take from it."""
    if found.answer == "unwinnable" and found.claim == "exhausted" and _inexact(beliefs):
        note = _luck_note() if beliefs.chanced else _crowd_note()
        found = replace(found, answer="unknown", claim=None, engine="", proof=None)
        return _told(question, replace(found, notes=(*found.notes, note)), together=False)
    if found.optimal is not None and (_inexact(beliefs) or beliefs.uneven):
        found = replace(found, optimal=None)
    if found.answer == "unwinnable" and found.engine == SLICED:
        told = _told(question, found, together=True)
        return replace(told, honest=replace(question.honesty(together=True), shortfall=shortfall))
    together = found.answer == "winnable" or found.claim == "exhausted"
    return _told(question, found, together=together)


def _inexact(beliefs: Beliefs[StateT]) -> bool:
    return beliefs.chanced or beliefs.crowded


def _told(question: Question[StateT], found: Verdict, *, together: bool) -> Verdict:
    """The verdict as an honest one; a secret that the plan does without is no matter."""
    notes = tuple(note for note in found.notes if note.code != "TW0808")
    if found.answer == "winnable":
        program = question.simulator.instance.program
        commands = [step.command for step in found.steps]
        known = frozenset(question.secrets)
        notes += secrets_read(program, commands, known)
    else:
        notes = found.notes
    return replace(found, notes=notes, honest=question.honesty(together=together))


# ---- one engine ---------------------------------------------------------------------------------


def judged(question: Question[StateT], found: Verdict) -> Verdict:
    """What an engine's verdict about the first start says of honest plans.

    Its plan counts if it wins in all of ``starts``; its proof counts as it is.
    """
    if found.answer != "winnable":
        return replace(found, honest=question.honesty(together=False))
    beliefs = question.beliefs()
    steps, goal = _plain(found.steps), question.goal
    again = refereed(beliefs, beliefs.start(), steps, goal, found.engine, found.encoding)
    if isinstance(again, Verdict):
        kept = found.optimal if not (beliefs.chanced or beliefs.uneven) else None
        again = replace(
            again, attempts=found.attempts, seconds=found.seconds,
            optimal=kept if again.cost == found.cost and again.ticks == found.ticks else None,
        )  # fmt: skip
        return _told(question, again, together=True)
    unknown = Verdict("unknown", goal, None, "", "", attempts=found.attempts, seconds=found.seconds)
    note = _partial(found.engine, again)
    return replace(unknown, notes=(note,), honest=question.honesty(together=False))


def _plain(steps: Sequence[PlanStep]) -> tuple[PlanStep, ...]:
    """The commands alone: an honest plan counts on no luck."""
    return tuple(PlanStep(step.command) for step in steps)


def _partial(engine: str, detail: str) -> Diagnostic:
    return Diagnostic(
        "TW0808",
        f"The plan of `{engine}` wins only for some values of the secrets: {detail}.",
        hint="Plan without `--engine`: our own search looks at all values at once.",
        severity=Severity.INFO,
    )


def _luck_note() -> Diagnostic:
    return Diagnostic(
        "TW0801",
        "Chance plays a part here, and no plan wins whatever luck does and whatever is hidden.",
        notes=("An honest plan that counts on luck may exist: nothing is looked for that does.",),
        hint="Plan without `--honest` for the best of luck, or with `--luck certain`.",
    )


def _crowd_note() -> Diagnostic:
    message = "Too many states look alike to the player to follow all of them."
    return Diagnostic("TW0813", message, hint="Make what is secret smaller.")


# ---- the planners of the ladder -----------------------------------------------------------------


def _nobody(*_: object, **__: object) -> None:
    """No planner is asked."""


class _Planners(Generic[StateT]):
    """Searches the slice of all assignments, then runs planners on one after the other.

    What a planner finds for one is tried in all. ``shortfall`` is what the proof of the first
    tells of the best plan.
    """

    def __init__(self, question: Question[StateT], beliefs: Beliefs[StateT], say: Say) -> None:
        self._question, self._beliefs, self._say = question, beliefs, say
        self.shortfall: Shortfall | None = None

    def classical(self) -> Classical:
        """This as a rung of the ladder, which knows nothing of beliefs."""

        def ask(simulator: object, state: object, goal: str | None, **asked: Unpack[Asked]) -> None:
            end, starts = time.monotonic() + asked["seconds"], self._question.starts
            done = self._sliced(asked)

            def heard(run: EngineRun) -> bool:
                nonlocal done
                done = asked["accept"](self._tried(run)) or done
                return done

            for number, start in enumerate(starts):
                left = (end - time.monotonic()) / (len(starts) - number)
                if done or asked["cancel"]() or left <= 0:
                    return
                given: Asked = {**asked, "seconds": left, "accept": heard}
                fast_downward(self._question.simulator, start, goal, **given)

        return ask

    def _sliced(self, asked: Asked) -> bool:
        """Search the slice for half of the time; whether that was an answer."""
        question = self._question
        found = sliced_run(
            question.simulator, question.starts, question.goal, seconds=asked["seconds"] / 2,
            memory=asked["memory"], cancel=asked["cancel"], say=self._say,
        )  # fmt: skip
        self.shortfall = found.shortfall
        return asked["accept"](found.run)

    def _tried(self, run: EngineRun) -> EngineRun:
        """A plan that does not win everywhere is no fault of the planner."""
        if run.result != "plan":
            return run
        plain, start = _plain(run.steps), self._beliefs.start()
        found = replay(self._beliefs, start, plain, self._question.goal)
        if found.ok:
            return replace(run, steps=plain)
        detail = "its plan wins only for some values of the secrets"
        note = _partial(run.engine, found.failure(len(plain)))
        return replace(run, result="invalid plan", detail=detail, notes=(note,))
