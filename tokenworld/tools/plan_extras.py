"""The options of ``tw plan``: certificates, reasons, engines by name, several plans, the matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import EngineSimulator
from tokenworld.ground import Json
from tokenworld.planning import Verdict
from tokenworld.planning.secrets import secrets_read
from tokenworld.session import Session, open_world
from tokenworld.session.solving import wins_under_seed
from tokenworld.tools.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output

if TYPE_CHECKING:
    from tokenworld.planning.anytime import Improvement, Quality

__all__ = ["Extras", "plan_with"]

_SHORT_REASON = 6.0
"""Seconds at most for the reason that comes with every *unwinnable*."""


@frozen
class Extras:
    """What was asked for beside the verdict.

    ``certificate`` and ``check`` name files. ``why``: the full reason of an *unwinnable*.
    ``explain``: the matrix. ``engine`` answers alone; ``top`` plans, or ``all_optimal`` ones.
    ``encoding`` (E, D or A) answers alone, with the planner that reads it. ``honest``: the plan
    may not rest on secrets. ``quality``: any plan at once, or ever better ones.
    """

    certificate: Path | None = None
    check: Path | None = None
    why: bool = False
    explain: bool = False
    engine: str | None = None
    optimal: bool = False
    top: int | None = None
    all_optimal: bool = False
    encoding: str | None = None
    honest: bool = False
    quality: Quality | None = None

    @property
    def asked(self) -> bool:
        """Whether anything was asked for."""
        return self != Extras()

    def refuse_contradictions(self) -> None:
        """`Failure` (TW0006) for options that exclude each other."""
        alone = {
            "--check": self.check is not None,
            "--explain": self.explain,
            "--top": self.top is not None,
            "--all-optimal": self.all_optimal,
            "--engine": self.engine is not None,
            "--optimal": self.optimal,
            "--encoding": self.encoding is not None,
            "--quality": self.quality is not None,
        }
        given = [name for name, there in alone.items() if there]
        more = {
            "--certificate": self.certificate is not None,
            "--why": self.why,
            "--honest": self.honest,
        }
        if self.quality is not None and self.honest:
            given += ["--honest"]
        elif given and given[0] not in ("--engine", "--optimal", "--encoding", "--quality"):
            given += [name for name, there in more.items() if there]
        if len(given) > 1:
            message = f"{given[0]} and {given[1]} do not go together."
            raise Failure(Diagnostic("TW0006", message, hint=f"Leave out `{given[1]}`."))
        if self.top is not None and not 1 <= self.top <= 1_000:
            message = f"{self.top:,} plans cannot be asked for."
            raise Failure(Diagnostic("TW0006", message, hint="Ask for 1 to 1,000 with `--top`."))


def plan_with(
    target: str, out: Output, extras: Extras, *, goal: str | None, time_limit: float, seed: int
) -> int:
    """``tw plan`` with these options; the exit code as always."""
    from tokenworld.tools.solving import check_goal, show_verdict

    extras.refuse_contradictions()
    if extras.check is not None:
        from tokenworld.tools.certifying import check_file

        return check_file(target, extras.check, out, seconds=time_limit)
    session = Session(open_world(target), seed)
    check_goal(session.world, goal)
    if extras.explain:
        return _matrix(session, goal, out)
    if extras.top is not None or extras.all_optimal:
        return _several(session, goal, extras, time_limit, out)
    improved: tuple[Improvement, ...] = ()
    if extras.quality is not None:
        verdict, improved = _of_quality(session, goal, extras.quality, time_limit, out)
    else:
        verdict = _verdict(session, goal, extras, time_limit, out)
    show_verdict(verdict, out)
    answer: dict[str, object] = dict(verdict.to_json())
    if extras.quality is not None:
        answer["quality"] = extras.quality
        answer["improvements"] = [one.to_json() for one in improved]
    left = time_limit if extras.why else min(_SHORT_REASON, time_limit)
    answer["why"] = _why(session, verdict, out, seconds=left, full=extras.why)
    if extras.certificate is not None:
        from tokenworld.tools.certifying import write_certificate

        write_certificate(extras.certificate, session.world, verdict, seed, out, seconds=time_limit)
        answer["certificate"] = None if verdict.answer == "unknown" else str(extras.certificate)
    out.json(answer)
    return verdict.exit_code


def _verdict(
    session: Session, goal: str | None, extras: Extras, seconds: float, out: Output
) -> Verdict:
    if extras.honest:
        return _honest(session, goal, extras, seconds, out)
    if extras.engine is None and not extras.optimal and extras.encoding is None:
        return session.plan(goal, time_limit=seconds, say=out.progress)
    verdict, state = _by_one_engine(session, goal, extras, seconds, out), session.state
    if verdict.answer != "winnable":
        return verdict
    return verdict.with_seed(
        state.seed, wins_under_seed(session.engine, state, verdict.steps, goal)
    )


def _of_quality(
    session: Session, goal: str | None, quality: Quality, seconds: float, out: Output
) -> tuple[Verdict, tuple[Improvement, ...]]:
    """A plan of this quality, also tried under the draws of the seed, and those before it."""
    from tokenworld.planning.anytime import plan_quality

    simulator, state = EngineSimulator(session.engine, session.state), session.state
    found = plan_quality(simulator, state, goal, quality, seconds=seconds, say=out.progress)
    verdict = found.verdict
    if verdict.answer == "winnable":
        commands = [step.command for step in verdict.steps]
        notes = (*verdict.notes, *secrets_read(session.world.program, commands))
        wins = wins_under_seed(session.engine, state, verdict.steps, goal)
        verdict = replace(verdict, notes=notes).with_seed(state.seed, wins)
    return verdict, found.improvements


def _honest(
    session: Session, goal: str | None, extras: Extras, seconds: float, out: Output
) -> Verdict:
    """An honest plan: by the ladder, by our own search where that is enough, by one engine."""
    from tokenworld.session.honesty import solve_honest

    own = extras.engine == "own" or extras.optimal
    named = not own and (extras.engine is not None or extras.encoding is not None)
    return solve_honest(
        session.engine,
        session.seed,
        goal,
        time_limit=seconds,
        own_only=own,
        ask=(lambda: _by_one_engine(session, goal, extras, seconds, out)) if named else None,
        say=out.progress,
    )


def _by_one_engine(
    session: Session, goal: str | None, extras: Extras, seconds: float, out: Output
) -> Verdict:
    from tokenworld.planning.planners.by_name import plan_by, plan_optimal

    simulator, state = EngineSimulator(session.engine, session.state), session.state
    if extras.encoding is not None:
        from tokenworld.planning.planners.by_encoding import plan_on

        return plan_on(simulator, state, goal, extras.encoding, seconds=seconds, say=out.progress)
    if extras.engine is not None:
        return plan_by(simulator, state, goal, extras.engine, seconds=seconds, say=out.progress)
    return plan_optimal(simulator, state, goal, seconds=seconds, say=out.progress)


def _why(
    session: Session, verdict: Verdict, out: Output, *, seconds: float, full: bool
) -> list[dict[str, Json]]:
    """The reason of an *unwinnable*, shown; empty for any other verdict."""
    if verdict.answer != "unwinnable" or _of_many(verdict):
        return []
    from tokenworld.planning.proof.unwinnable import explanation_lines
    from tokenworld.session.unwinnable import explain_unwinnable

    out.progress("looking for the reason")
    found = explain_unwinnable(session.world, session.state, verdict, seconds=seconds, full=full)
    for one in found:
        for line in explanation_lines(one, full=full):
            out.line(line)
    if not full and found:
        out.note("`--why` tells the whole reason, with the core and more repairs")
    return [one.to_json() for one in found]


def _of_many(verdict: Verdict) -> bool:
    """Whether the proof is about all assignments of secrets at once: each alone may be winnable."""
    return verdict.honest is not None and verdict.honest.together and verdict.honest.assignments > 1


def _matrix(session: Session, goal: str | None, out: Output) -> int:
    from tokenworld.planning.capabilities import capabilities, capability_lines

    found = capabilities(session.simulator(), session.state, goal)
    for line in capability_lines(found):
        out.line(line)
    out.json(found.to_json())
    return EXIT_OK


def _several(
    session: Session, goal: str | None, extras: Extras, seconds: float, out: Output
) -> int:
    """Several plans, cheapest first: 0 with a plan, 1 if there is none, 3 unknown."""
    from tokenworld.planning.planners.many import MOST_PLANS, several_plans

    found = several_plans(
        session.simulator(),
        session.state,
        goal,
        most=extras.top or MOST_PLANS,
        only_optimal=extras.all_optimal,
        seconds=seconds,
        say=out.progress,
    )
    for number, verdict in enumerate(found.plans, 1):
        out.line(f"plan {number}: {verdict.ticks:,} ticks (cost {verdict.cost:,})")
        out.line("  " + "; ".join(step.command for step in verdict.plan))
    out.line(_told(len(found.plans), found.complete, extras.all_optimal))
    if found.reason:
        out.line(f"symk on encoding E: {found.reason}")
    out.diagnostics(found.notes)
    out.json(found.to_json())
    if found.plans:
        return EXIT_OK
    return EXIT_NEGATIVE if found.complete else EXIT_UNKNOWN


def _told(count: int, complete: bool, optimal: bool) -> str:
    kind = "optimal plan" if optimal else "plan"
    counted = f"{count:,} {kind}{'' if count == 1 else 's'}"
    if complete:
        return f"{counted}, and no other without loops"
    return f"{counted}; there may be more"
