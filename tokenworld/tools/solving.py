"""``tw plan``: can the goal be reached."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.planning import Verdict, summary_lines
from tokenworld.session import open_world
from tokenworld.tools.files import write_file
from tokenworld.tools.goals import check_goal
from tokenworld.tools.output import Output
from tokenworld.tools.plan_extras import Extras, plan_with

__all__ = ["check_goal", "plan", "plan_luck", "show_verdict"]

Luck = Literal["possible", "certain", "probability"]


def plan(target: str, out: Output, *, goal: str | None, time_limit: float, seed: int) -> int:
    """The verdict and the exit code that says it: 0 winnable, 1 unwinnable, 3 unknown."""
    return plan_with(target, out, Extras(), goal=goal, time_limit=time_limit, seed=seed)


def plan_luck(
    target: str,
    out: Output,
    *,
    luck: Luck,
    goal: str | None,
    states: int,
    time_limit: float,
    seed: int,
    policy: Path | None,
    extras: Extras = Extras(),  # noqa: B008 (it cannot be changed)
) -> int:
    """The same for what luck may do: 0 certain or winnable, 1 not, 3 unknown."""
    _go_together(luck, policy, extras)
    if luck == "possible":
        return plan_with(target, out, extras, goal=goal, time_limit=time_limit, seed=seed)
    from tokenworld.planning.space.verdicts import luck_lines
    from tokenworld.session.solving import solve_luck

    world = open_world(target)
    check_goal(world, goal)
    verdict = solve_luck(
        world.engine,
        world.engine.start(seed),
        goal,
        luck,
        states=states,
        time_limit=time_limit,
        say=out.progress,
    )
    for line in luck_lines(verdict):
        out.line(line)
    out.diagnostics(verdict.notes)
    written = None
    if policy is not None and verdict.policy is not None:
        hint = "Name a file that can be written, with `--policy`."
        write_file(policy, verdict.policy.text(), hint, folder=policy.parent)
        out.line(f"wrote {policy}")
        written = str(policy)
    out.json({**verdict.to_json(), "policy": written})
    return verdict.exit_code


def _go_together(luck: Luck, policy: Path | None, extras: Extras) -> None:
    """`Failure` (TW0006) for options of which one is about *possible* plans and one is not."""
    if extras.asked and (luck != "possible" or policy is not None):
        hint = "Leave out `--luck` and `--policy`: the other options are about *possible* plans."
        raise Failure(Diagnostic("TW0006", "These options do not go together.", hint=hint))
    if luck == "possible" and policy is not None:
        hint = "Add `--luck certain` or `--luck probability`."
        raise Failure(Diagnostic("TW0006", "A *possible* plan is no policy.", hint=hint))


def show_verdict(verdict: Verdict, out: Output) -> None:
    """The verdict, one claim per line; findings go to stderr."""
    for line in summary_lines(verdict):
        out.line(line)
    out.diagnostics(verdict.notes)
