"""The verdict: winnable, unwinnable or unknown, never merged, and which engine claims it.

*Found*: a plan, replayed by the interpreter to the goal. *Proved*: a planner showed on an exact
encoding that there is none. *Exhausted*: our own search saw every reachable state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal, TypeVar, assert_never

from tokenworld.diagnostics import (
    Diagnostic,
    Failure,
    counted,
    did_you_mean,
    in_seconds,
    joined,
    to_json,
)
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, LuckyDraw, Simulator, StateT, refuse_huge
from tokenworld.limits import Halted, attempt, attempt_for, halted

SCHEMA_VERSION = 1

Answer = Literal["winnable", "unwinnable", "unknown"]
Claim = Literal["found", "proved", "exhausted"]
AttemptResult = Literal[
    "plan", "no plan", "no proof", "invalid plan", "limit", "failed", "missing",
    "not expressible", "cancelled",
]  # fmt: skip


@frozen
class PlanStep:
    """A command and the outcomes of chance that the plan counts on."""

    command: Command
    draws: tuple[LuckyDraw, ...] = ()


@frozen
class ShownStep:
    """A step for output: ``tick`` is its tick, counted from the start.

    ``command`` is the call (``take(ruby)``), ``cost`` the cost of the step.
    """

    command: str
    cost: int
    tick: int
    draws: tuple[LuckyDraw, ...] = ()


@frozen
class Proof:
    """The proof that there is no plan: the engine that claims it, and the encoding it read.

    ``encoding`` and ``digest`` name the text that an engine read (empty for our own search, which
    reads the interpreter); ``states`` is the number of states seen, where it is known. ``within``
    is set where the proof is only about plans of at most so many ticks.
    """

    by: str
    engine: str
    encoding: str = ""
    digest: str = ""
    states: int | None = None
    within: int | None = None


@frozen
class Attempt:
    """One attempt and its result; ``detail`` is a clause without a full stop."""

    engine: str
    encoding: str
    result: AttemptResult
    detail: str
    seconds: float


@frozen
class Verdict:
    """The answer to "can ``goal`` be reached" (any goal line if ``None``).

    ``ticks`` is the length of the plan in ticks, ``reached`` the goal lines that hold at its end,
    and ``optimal`` the measure that no other plan beats, if that is proved. ``wins_with_seed``:
    whether the plan also wins with the draws of ``seed`` (with any seed, if ``seed`` is ``None``);
    ``None`` if this was not tested. ``notes`` are findings for the author: constructs that an
    encoding or the search leaves out, planners that are missing or failed, limits that were hit.
    ``honest`` is set if the plan may not depend on secrets; ``cost`` is then the maximum over all
    assignments. ``luck``: a plan with as little luck as possible was requested; ``told_luck``
    describes the draws that it needs, a line each.
    """

    answer: Answer
    goal: str | None
    claim: Claim | None
    engine: str
    encoding: str
    plan: tuple[ShownStep, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    ticks: int = 0
    reached: tuple[str, ...] = ()
    optimal: Literal["ticks", "cost"] | None = None
    proof: Proof | None = None
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    within: int | None = None
    wins_with_seed: bool | None = None
    seed: int | None = None
    seconds: float = 0.0
    honest: Honesty | None = None
    luck: Literal["possible", "least"] = "possible"
    told_luck: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 winnable, 1 unwinnable, 3 unknown (the command line contract)."""
        match self.answer:
            case "winnable":
                return 0
            case "unwinnable":
                return 1
            case "unknown":
                return 3
        assert_never(self.answer)

    @property
    def cost(self) -> int:
        """The cost of the plan."""
        return sum(step.cost for step in self.plan)

    @property
    def counts_on_luck(self) -> bool:
        """Return whether the plan needs an outcome of chance."""
        return any(step.draws for step in self.plan)

    @property
    def limits_hit(self) -> tuple[str, ...]:
        """The limits that stopped an attempt, each as a clause."""
        return tuple(one.detail for one in self.attempts if one.result == "limit")

    def with_seed(self, seed: int, wins: bool) -> Verdict:
        """The same verdict, knowing whether its plan wins with the draws of ``seed``."""
        return replace(self, wins_with_seed=wins, seed=seed)

    def to_json(self) -> dict[str, object]:
        """The verdict for programs: every key is always there."""
        return {
            "schema_version": SCHEMA_VERSION,
            "answer": self.answer,
            "goal": self.goal,
            "claim": self.claim,
            "engine": self.engine,
            "encoding": self.encoding,
            "within": self.within,
            "luck": self.luck,
            "ticks": self.ticks if self.answer == "winnable" else None,
            "cost": self.cost if self.answer == "winnable" else None,
            "optimal": self.optimal,
            "reached": list(self.reached),
            "plan": [step_json(step) for step in self.plan],
            "told_luck": list(self.told_luck),
            "wins_with_seed": self.wins_with_seed,
            "seed": self.seed,
            "honest": None if self.honest is None else self.honest.to_json(),
            "proof": None if self.proof is None else _proof_json(self.proof),
            "attempts": [_attempt_json(attempt) for attempt in self.attempts],
            "limits": list(self.limits_hit),
            "notes": [to_json(note) for note in self.notes],
            "seconds": round(self.seconds, 3),
        }


def step_json(step: ShownStep) -> dict[str, object]:
    """A step for programs."""
    return {
        "command": step.command,
        "cost": step.cost,
        "tick": step.tick,
        "draws": [draw.to_json() for draw in step.draws],
    }


def _proof_json(proof: Proof) -> dict[str, object]:
    return {
        "by": proof.by,
        "engine": proof.engine,
        "encoding": proof.encoding,
        "digest": proof.digest,
        "states": proof.states,
        "within": proof.within,
    }


def _attempt_json(attempt: Attempt) -> dict[str, object]:
    return {
        "engine": attempt.engine,
        "encoding": attempt.encoding,
        "result": attempt.result,
        "detail": attempt.detail,
        "seconds": round(attempt.seconds, 3),
    }


# ---- for people -----------------------------------------------------------------------


def summary_lines(verdict: Verdict) -> tuple[str, ...]:
    """The verdict in plain lines, one claim each; notes are left to the diagnostic printer."""
    match verdict.answer:
        case "winnable":
            lines = [_winnable(verdict), *_plan_lines(verdict), *_luck_lines(verdict)]
        case "unwinnable":
            lines = [f"unwinnable: {_out_of_reach(verdict)}", *_proof_lines(verdict)]
        case "unknown":
            asked = f"whether {_goal(verdict)} can be reached{_how(verdict)}"
            lines = [f"unknown: {asked}", *_tried_lines(verdict)]
        case _:
            assert_never(verdict.answer)
    return (*lines, *honest_lines(verdict.answer, verdict.honest))


def _goal(verdict: Verdict) -> str:
    if verdict.answer == "winnable" and verdict.reached:
        names = (verdict.goal,) if verdict.goal in verdict.reached else verdict.reached
        return ", ".join(f"goal `{name}`" for name in names)
    return "any goal" if verdict.goal is None else f"goal `{verdict.goal}`"


def _out_of_reach(verdict: Verdict) -> str:
    if verdict.goal is None:
        return f"no goal can be reached{_how(verdict)}"
    return f"goal `{verdict.goal}` cannot be reached{_how(verdict)}"


def _how(verdict: Verdict) -> str:
    """The restriction that the question put on plans."""
    return f"{'' if verdict.honest is None else ' by an honest plan'}{_bound(verdict)}"


def _bound(verdict: Verdict) -> str:
    return "" if verdict.within is None else f" within {counted(verdict.within, 'tick')}"


def _source(engine: str, encoding: str) -> str:
    return f"{engine} on encoding {encoding}" if encoding else engine


def _winnable(verdict: Verdict) -> str:
    ticks = counted(verdict.ticks, "tick")
    return f"winnable: {_goal(verdict)} in {ticks} (cost {verdict.cost:,})"


def _plan_lines(verdict: Verdict) -> list[str]:
    lines = list(_step_lines(verdict.plan))
    if not verdict.plan:
        return ["the goal holds in the start state: nothing needs to be done"]
    lines.append(f"{verdict.claim} by {_source(verdict.engine, verdict.encoding)}")
    if verdict.optimal is not None:
        better = "shorter" if verdict.optimal == "ticks" else "cheaper"
        lines.append(f"optimal: no plan is {better}")
    else:
        lines.append("not known to be optimal: a shorter plan may exist")
    lines.append("replayed by the interpreter: every step is legal and the goal is reached")
    return lines


_MANY = 5


def _step_lines(plan: Sequence[ShownStep]) -> Iterator[str]:
    """The steps with their numbers; more than `_MANY` times `pass` in a row are one line."""
    for command, run in groupby(enumerate(plan, 1), key=lambda pair: pair[1].command):
        numbers = [number for number, _ in run]
        if command == "pass" and len(numbers) > _MANY:
            yield f"  {numbers[0]} to {numbers[-1]}. pass ({len(numbers):,} times)"
        else:
            yield from (f"  {number}. {command}" for number in numbers)


def _luck_lines(verdict: Verdict) -> list[str]:
    lines = list(verdict.told_luck) or [
        f"counts on luck: step {number}, {draw_text(draw)}"
        for number, step in enumerate(verdict.plan, 1)
        for draw in step.draws
    ]
    if verdict.luck == "least" and verdict.plan:
        lines.append(
            "least luck: a plan that needs less may exist" if lines else "no luck is needed"
        )
    if verdict.counts_on_luck and verdict.wins_with_seed is not None:
        how = "wins" if verdict.wins_with_seed else "does not win"
        lines.append(f"with the draws of seed {verdict.seed} this plan {how}")
    return lines


def draw_text(draw: LuckyDraw) -> str:
    """A draw as people read it: whose it is, which of the rule's, and how it falls."""
    arguments = ", ".join(str(one) for one in draw.args)
    return f"{draw.rule}({arguments}), draw {draw.draw + 1}: {draw.text()}"


def _proof_lines(verdict: Verdict) -> list[str]:
    if verdict.proof is None:
        return []
    lines = [f"{verdict.claim} by {verdict.proof.by}"]
    if verdict.proof.digest:
        lines.append(f"encoding {verdict.proof.encoding}: sha256 {verdict.proof.digest}")
    return lines


def _tried_lines(verdict: Verdict) -> list[str]:
    return [
        f"tried {_source(one.engine, one.encoding)}: {one.result}, {one.detail}"
        f" ({one.seconds:.1f} s)"
        for one in verdict.attempts
    ]


_MOST_SHOWN = 3
"""The largest number of steps of a plan, and of values for which it fails, in one line."""


@frozen
class Shortfall:
    """The best plan, if no plan wins for all values of the secrets.

    No plan wins for more than ``wins`` assignments of secrets. ``plan`` wins for so many; it fails
    (a step is refused, a loss comes, the goal is not reached) for those that ``fails`` lists.
    """

    wins: int
    plan: tuple[str, ...]
    fails: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        return {"wins": self.wins, "plan": list(self.plan), "fails": list(self.fails)}


@frozen
class Honesty:
    """The question was about an *honest* plan: one that wins for all values of the secrets.

    ``assignments`` is the number of ways in which the setup can fill the secrets that a player does
    not see, ``secrets`` are those that differ. ``together``: the plan wins for all of them, or the
    proof is one about all of them at once; otherwise it is about a single one, and holds for all
    the same. ``shortfall`` is the best plan if there is no honest one, if that is known.
    """

    assignments: int
    secrets: tuple[str, ...] = ()
    together: bool = True
    shortfall: Shortfall | None = None

    def to_json(self) -> dict[str, object]:
        return {
            "assignments": self.assignments,
            "secrets": list(self.secrets),
            "together": self.together,
            "shortfall": None if self.shortfall is None else self.shortfall.to_json(),
        }


def honest_lines(answer: str, honest: Honesty | None) -> list[str]:
    """Lines with the number of values of secrets that an ``answer`` is about."""
    if honest is None:
        return []
    count, names = honest.assignments, ", ".join(f"`{one}`" for one in honest.secrets)
    if count == 1:
        return ["honest: the setup can fill the secrets in one way only"]
    ways = f"{count:,} ways in which the setup can fill {names}"
    claims = {"winnable": "the same plan wins in", "unwinnable": "no plan wins in"}
    line = f"honest: {claims.get(answer, 'asked of')} all {ways}"
    return [line, *([] if honest.shortfall is None else _shortfall_lines(honest.shortfall))]


def _shortfall_lines(found: Shortfall) -> list[str]:
    """Lines about the best plan, and the values for which it fails."""
    if found.wins == 0:
        return ["best: no plan wins in any of them"]
    most = f"best: no plan wins in more than {found.wins:,} of them"
    steps = ", ".join(found.plan[:_MOST_SHOWN]) + (", …" if len(found.plan) > _MOST_SHOWN else "")
    which = f"`{steps}` fails" if steps else "a plan without steps fails"
    shown = [f"`{one}`" for one in found.fails[:_MOST_SHOWN]]
    more = len(found.fails) - len(shown)
    shown += [f"{more:,} more"] if more else []
    return [f"{most}; {which} for {joined(shown, 'and')}"] if shown else [most]


def require_goal(simulator: Simulator[StateT], goal: str | None) -> None:
    """`Failure` with TW0201 for a goal that the world does not have, or where it has none.

    TW0813 where the world is too large for any tick of it.
    """
    refuse_huge(simulator.instance)
    world = simulator.instance.world
    names = [line.name for line in world.goals]
    if goal in names or (goal is None and names):
        return
    if not names:
        message = f"The world `{world.name}` has no goal."
        hint: str | None = "Add a line such as `goal done: …` to the world."
    else:
        message = f"The world `{world.name}` has no goal `{goal}`."
        known = ", ".join(f"`{name}`" for name in names)
        hint = did_you_mean(str(goal), names) or f"Name one of its goals: {known}."
    raise Failure(Diagnostic("TW0201", message, world.span, "this world", hint=hint))


# ---- Explanations beside a verdict --------------------------------------------------------------
# Reasons, repairs, landmarks and the like are computed after the verdict is known. One that fails
# or takes too long becomes a note, and costs nothing else.

T = TypeVar("T")

_REPORT = "Please report it with the world, if it is small."


class Explaining:
    """Computes explanations; ``notes`` list those that are missing (TW0814)."""

    def __init__(self) -> None:
        self.notes: list[Diagnostic] = []

    def __call__(
        self, what: str, work: Callable[[], T], otherwise: T, *, seconds: float | None = None
    ) -> T:
        """The result of ``work``; ``otherwise`` where it fails or takes more than ``seconds``.

        ``what`` is its name in a sentence: "the reason".
        """

        def late() -> T:
            if halted() is None:  # else the command names the limit that was hit
                why = f"its limit of {in_seconds(seconds or 0)} was reached"
                self._miss(what, why, "Make the world smaller.")
            return otherwise

        try:
            if seconds is None:
                return attempt(f"looking for {what}", work, late)
            return attempt_for(seconds, f"looking for {what}", work, late)
        except Halted:
            return late()
        except Failure as failure:
            self._miss(what, failure.diagnostics[0].message.rstrip("."))
        except Exception as error:
            self._miss(what, f"{type(error).__name__}: {error}".rstrip(". "))
        return otherwise

    def _miss(self, what: str, why: str, more: str = _REPORT) -> None:
        message = f"{what[0].upper()}{what[1:]} could not be computed: {why}."
        hint = f"The verdict holds without it. {more}"
        self.notes.append(Diagnostic("TW0814", message, hint=hint))
