"""Is there an honest plan: one that wins for every assignment of secrets (language.md §16)?

Our own search runs on sets of states (`Beliefs`) and answers exactly, and so does the sliced search
(`sliced_run`), which sees only what can matter for the goal. Planners know one world only: a plan
for one assignment counts if the interpreter replays it in all of them, and a proof for one
assignment holds for all, because an honest plan is a plan for each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, Unpack

from tokenworld.diagnostics import Diagnostic, Severity, in_seconds
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.honest.beliefs import Beliefs
from tokenworld.planning.honest.secrets import secrets_read
from tokenworld.planning.honest.sliced import Best, Joint, SlicedSearch, best_plan, joint_task
from tokenworld.planning.ladder import plan
from tokenworld.planning.lower.encode import Unencodable
from tokenworld.planning.planners.answers import Asked, Classical, EngineRun
from tokenworld.planning.planners.by_encoding import fast_downward
from tokenworld.planning.planners.doctor import EngineInfo
from tokenworld.planning.proof.certificate import NoProof
from tokenworld.planning.referee import refereed, replay
from tokenworld.planning.search.interpreted import Cancel
from tokenworld.planning.search.own import OWN_SEARCH
from tokenworld.planning.verdict import Honesty, PlanStep, Shortfall, Verdict

Say = Callable[[str], None]
_NOBODY = EngineInfo(OWN_SEARCH, "", "", None, None, "")


@dataclass(frozen=True, slots=True)
class Question(Generic[StateT]):
    """The question: ``starts`` are all states that look to the player like the first of them.

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
    """An engine's verdict about the first start, as a verdict about honest plans.

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


SLICED = "sliced search"
ENCODING = "E"
_LOOK = 0.1
"""Seconds between two looks at what goes on beside."""
_MOST_WORK = 2_000_000
"""Most moves of single states that the search for the best plan may take."""
_BOOKKEEPING = 300
"""Bytes per vector besides eight for each of its states, rounded up."""


@dataclass(frozen=True, slots=True)
class SlicedRun:
    """The result of the sliced search and, where there is no plan, how near the best one comes."""

    run: EngineRun
    shortfall: Shortfall | None = None


def sliced_run(
    simulator: Simulator[StateT],
    starts: Sequence[StateT],
    goal: str | None,
    *,
    seconds: float,
    memory: int,
    cancel: Cancel,
    say: Callable[[str], None] = lambda line: None,
) -> SlicedRun:
    """Search the slice of all ``starts`` at once, for so many seconds and bytes."""
    began = time.monotonic()
    joint = joint_task(simulator, starts, goal)
    if isinstance(joint, Unencodable):
        one = joint.obstacles[0]
        why = f"the slice does not take {one.construct}: {one.reason}"
        return SlicedRun(EngineRun(SLICED, ENCODING, "no proof", why, time.monotonic() - began))
    search, watch = SlicedSearch(joint), _Watch(began, seconds, memory, len(starts), cancel, say)
    ended = search.run(watch.stop)
    spent = time.monotonic() - began
    if ended is None:
        detail = f"it stopped after {search.vectors:,} sets of states"
        how: Literal["cancelled", "limit"] = "cancelled" if watch.cancelled else "limit"
        return SlicedRun(EngineRun(SLICED, ENCODING, how, detail, spent))
    if ended.plan is not None:
        steps = tuple(PlanStep(one) for one in ended.plan)
        return SlicedRun(EngineRun(SLICED, ENCODING, "plan", "it found a plan", spent, steps))
    detail = f"none of the {ended.vectors:,} sets of sliced states is all goal"
    proved = EngineRun(SLICED, ENCODING, "no plan", detail, spent, digest=joint.digest)
    return SlicedRun(proved, _shortfall(simulator, starts[0], joint))


class _Watch:
    """Looks at time, memory and everything else that goes on, not more often than worth it."""

    def __init__(
        self, began: float, seconds: float, memory: int, width: int, cancel: Cancel,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._end, self._most = began + seconds, memory // (_BOOKKEEPING + 8 * width)
        self._cancel, self._say = cancel, say
        self._looked = self._spoke = began
        self.cancelled = False

    def stop(self, vectors: int) -> bool:
        now = time.monotonic()
        if now - self._spoke >= 1:
            self._spoke = now
            self._say(f"{SLICED}: {vectors:,} sets of states seen")
        if now - self._looked >= _LOOK:
            self.cancelled = self._cancel()
            self._looked = time.monotonic()
        return self.cancelled or now > self._end or vectors > self._most


# ---- how near the best plan comes --------------------------------------------------------------


def _shortfall(simulator: Simulator[StateT], state: StateT, joint: Joint) -> Shortfall | None:
    """For how many assignments a plan can win at most; ``None`` where that takes too long."""
    commands = len({one.command for one in joint.task.operators})
    each = max(commands, 1) * len(joint.starts)
    best = best_plan(joint, lambda vectors: vectors * each > _MOST_WORK)
    if best is None:
        return None
    plan = tuple(simulator.show(state, one) for one in best.plan)
    return Shortfall(len(best.wins), plan, _failing(joint, best))


def _failing(joint: Joint, best: Best) -> tuple[str, ...]:
    """The assignments for which the best plan fails, as authors write them, each once.

    They stand in the order of their values: the first start is the real one, which is secret.
    """
    failing = set(range(len(joint.starts))) - set(best.wins)
    return tuple(
        dict.fromkeys(
            " and ".join(f"{one.name} = {one.values[at]}" for one in joint.hidden)
            for at in sorted(failing, key=lambda at: joint.starts[at])
            if joint.hidden
        )
    )


# ---- the proof alone ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SliceProof:
    """All vectors that can be reached on the slice: their number and digest, and the task's."""

    vectors: int
    digest: str
    task: str


def slice_proof(
    simulator: Simulator[StateT],
    starts: Sequence[StateT],
    goal: str | None,
    *,
    seconds: float,
    say: Callable[[str], None] = lambda line: None,
) -> SliceProof:
    """Build the slice anew and see all of it; `NoProof` where it proves nothing."""
    began, joint = time.monotonic(), joint_task(simulator, starts, goal)
    if isinstance(joint, Unencodable):
        one = joint.obstacles[0]
        raise NoProof(f"the slice does not take {one.construct}: {one.reason}")
    search = SlicedSearch(joint)
    watch = _Watch(began, seconds, 1 << 40, len(starts), lambda: False, say)
    ended = search.run(watch.stop)
    if ended is None:
        raise NoProof(f"the limit of {in_seconds(seconds)} was reached", limited=True)
    if ended.plan is not None:
        raise NoProof("a plan wins for all values of the secrets")
    return SliceProof(ended.vectors, search.digest, joint.digest)
