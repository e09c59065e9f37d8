"""``tw plan``: can the goal be reached? Options, text and JSON, for worlds and PDDL pairs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tokenworld.diagnostics import Failure, counted, limit_reached, to_json, usage
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import EngineSimulator
from tokenworld.ground import Json
from tokenworld.limits import attempt, halted, left
from tokenworld.planning.honest.secrets import secrets_read
from tokenworld.planning.pddl.words import shown_metric
from tokenworld.planning.verdict import Explaining, Verdict, summary_lines
from tokenworld.session import OpenWorld, Session
from tokenworld.session.solving import check_goal, wins_under_seed
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import (
    EXIT_NEGATIVE,
    EXIT_OK,
    EXIT_UNKNOWN,
    Output,
    limit_notes,
    write_file,
)
from tokenworld.verbs.plan.luck import told_luck
from tokenworld.verbs.plan.target import PlanFiles, Target, opened

if TYPE_CHECKING:
    from tokenworld.planning.quality import Improved, Quality
    from tokenworld.verbs.plan.branching import BranchingVerdict

_SHORT_REASON = 6.0
"""Seconds at most for the reason that comes with every *unwinnable*."""


@frozen
class Extras:
    """Output that the user asked for beside the verdict.

    ``certificate`` and ``check`` name files. ``why``: the full reason of an *unwinnable*.
    ``explain``: the matrix. ``engine`` answers alone; ``top`` plans, or ``all_optimal`` ones.
    ``alias`` and ``search`` are Fast Downward's own and answer alone. ``encoding`` (E or A) answers
    alone, with the planner that reads it. ``honest``: the plan may not rest on secrets;
    ``branches``: it may depend on what its steps show. ``quality``: any plan at once, or ever
    better ones. ``plan_file`` gets the plan in PDDL.
    """

    plan_file: Annotated[Path | None, "Write the plan in PDDL, for validators such as VAL."] = None
    certificate: Annotated[Path | None, "Write a certificate here."] = None
    check: Annotated[Path | None, "Check a certificate; 1 if it fails."] = None
    why: Annotated[bool, "Print the whole reason why a goal is unwinnable."] = False
    explain: Annotated[bool, "List what each encoding supports."] = False
    engine: Annotated[
        str | None,
        "Only this engine: own, width, hmax, hadd, ff, blind, lama, symk, enhsp or up:NAME.",
    ] = None
    encoding: Annotated[str | None, "Only on this encoding: E (Fast Downward) or A (ENHSP)."] = None
    alias: Annotated[str | None, "Only Fast Downward with this alias, as lama-first."] = None
    search: Annotated[str | None, "Only Fast Downward with this search, as 'astar(lmcut())'."] = (
        None
    )
    optimal: Annotated[bool, "Find a plan that is proved cheapest."] = False
    top: Annotated[int | None, "This many plans, cheapest first."] = None
    all_optimal: Annotated[bool, "All cheapest plans."] = False
    honest: Annotated[bool, "Find one plan that wins whatever the secrets are."] = False
    branches: Annotated[bool, "With --honest: a plan that branches on what the player sees."] = (
        False
    )
    quality: Annotated[
        Literal["satisficing", "anytime"] | None,
        "Stop at the first plan, or look for better ones until the time is over.",
    ] = None

    @property
    def asked(self) -> bool:
        """Return whether any of these options was given."""
        return self != Extras()

    @property
    def names_engine(self) -> bool:
        """Return whether one engine answers alone."""
        named = (self.engine, self.encoding, self.alias, self.search)
        return any(one is not None for one in named)

    @property
    def leaves_search(self) -> bool:
        """Return whether no option chooses the search."""
        several = self.top is not None or self.all_optimal
        asked = self.optimal or self.honest or self.explain or self.check is not None
        return not (self.names_engine or several or asked or self.quality is not None)

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
            "--alias": self.alias is not None,
            "--search": self.search is not None,
        }
        given = [name for name, there in alone.items() if there]
        several = self.top is not None or self.all_optimal
        more = {
            "--certificate": self.certificate is not None,
            "--why": self.why,
            "--honest": self.honest,
            "--plan-file": self.plan_file is not None and not several,
        }
        if self.branches and not self.honest:
            raise usage("`--branches` is about honest plans.", "Add `--honest`.")
        if self.branches:
            del more["--honest"], more["--certificate"]
            given = [*given, *(name for name, there in more.items() if there), "--branches"]
        elif self.quality is not None and self.honest:
            given += ["--honest"]
        elif self.check is not None or self.explain or several:
            given += [name for name, there in more.items() if there]
        if len(given) > 1:
            message = f"{given[0]} and {given[1]} do not go together."
            raise usage(message, f"Leave out `{given[1]}`.")
        if self.top is not None and not 1 <= self.top <= 1_000:
            message = f"{self.top:,} plans cannot be asked for."
            raise usage(message, "Ask for 1 to 1,000 with `--top`.")


def plan_with(
    target: Target,
    out: Output,
    extras: Extras,
    *,
    luck: Literal["possible", "least"],
    goal: str | None,
    time_limit: float,
    seed: int,
) -> int:
    """``tw plan`` with these options; the exit code as always."""
    if extras.check is not None:
        from tokenworld.verbs.plan.certificates import check_file

        return check_file(target.world, extras.check, out, seconds=left(time_limit))
    session = Session(target.world, seed, operator=True)
    check_goal(session.world, goal)
    out.diagnostics(target.remarks)
    if extras.explain:
        return _matrix(target, session, goal, out)
    if extras.branches:
        return _branching(session, goal, extras.certificate, seed, left(time_limit), out)
    if extras.top is not None or extras.all_optimal:
        return _several(target, session, goal, extras, left(time_limit), out)
    verdict, improved = attempt(
        "planning",
        lambda: _answer(target, session, goal, extras, luck, left(time_limit), out),
        lambda: (_undecided(goal), None),
    )
    verdict = told_luck(session.engine, session.state, verdict)
    verdict = replace(verdict, notes=target.told(verdict.notes))
    show_verdict(verdict, out)
    show_actions(target, verdict, out)
    if improved is not None and extras.quality == "anytime" and verdict.answer == "winnable":
        from tokenworld.planning.quality import gap_line

        out.line(gap_line(improved.bound, improved.gap))
    if verdict.answer != "winnable" and verdict.honest is not None and verdict.honest.secrets:
        out.note("`--branches` asks for a plan that depends on what its steps show")
    seconds = left(time_limit if extras.why else min(_SHORT_REASON, time_limit))
    explaining = Explaining()

    def explained() -> list[dict[str, Json]]:
        return _why(target, session, verdict, out, seconds=seconds, full=extras.why)

    untold: list[dict[str, Json]] = []
    why = explaining("the reason", explained, untold, seconds=seconds)
    out.diagnostics(explaining.notes)
    told = replace(verdict, notes=(*target.remarks, *verdict.notes, *explaining.notes))
    answer: dict[str, object] = {**told.to_json(), "why": why}
    if target.pair is not None:
        answer["pddl_plan"] = list(target.actions(verdict))
    if (metric := target.metric(verdict)) is not None:
        answer["metric"] = float(metric)
    code = verdict.exit_code
    if extras.quality is not None:
        answer["quality"] = extras.quality
        answer |= _improved_json(improved)
    if extras.plan_file is not None:
        files = PlanFiles(target, seed, goal)
        answer["plan_file"] = files.write(extras.plan_file, verdict, out)
    if extras.certificate is not None:
        written = _certificate(
            extras.certificate, session.world, verdict, seed, out, left(time_limit)
        )
        answer["certificate"] = written
        code = EXIT_UNKNOWN if written is None else code
    if (notes := limit_notes()) and verdict.answer != "unknown":
        out.diagnostics(notes)
        answer["notes"] = [to_json(one) for one in (*told.notes, *notes)]
    out.json(answer)
    return code


def _branching(
    session: Session, goal: str | None, path: Path | None, seed: int, seconds: float, out: Output
) -> int:
    """A plan that branches, with its certificate at ``path``."""
    from tokenworld.verbs.plan.branching import plan_branching

    def certify(verdict: BranchingVerdict) -> str | None:
        assert path is not None
        return _certificate(path, session.world, verdict, seed, out, seconds)

    asked = None if path is None else certify
    return plan_branching(session, goal, time_limit=seconds, out=out, certify=asked)


def _undecided(goal: str | None) -> Verdict:
    """There is no answer within the limits of the command."""
    found = halted()
    note = limit_reached(found.why if found is not None else "time", "planning")
    return Verdict("unknown", goal, None, "", "", notes=(note,))


def _certificate(
    path: Path,
    world: OpenWorld,
    verdict: Verdict | BranchingVerdict,
    seed: int,
    out: Output,
    seconds: float,
) -> str | None:
    """Write the certificate; the file, or ``None`` where there is none within the limits."""
    from tokenworld.verbs.plan.certificates import write_certificate

    try:
        return attempt(
            "making the certificate",
            lambda: write_certificate(path, world, verdict, seed, out, seconds=seconds),
            lambda: None,
        )
    except Failure as failure:
        if any(one.code != "TW0813" for one in failure.diagnostics):
            raise
        out.diagnostics(failure.diagnostics)
        return None


def _improved_json(improved: Improved | None) -> dict[str, object]:
    """The plans that led to the answer, and how far the last may be from the best."""
    if improved is None:
        return {"improvements": [], "bound": 0, "gap": 0}
    plans = [one.to_json() for one in improved.improvements]
    return {"improvements": plans, "bound": improved.bound, "gap": improved.gap}


def _answer(
    target: Target,
    session: Session,
    goal: str | None,
    extras: Extras,
    luck: Literal["possible", "least"],
    seconds: float,
    out: Output,
) -> tuple[Verdict, Improved | None]:
    """The verdict, and the plans that led to it where ever better ones were asked for."""
    if extras.quality is not None:
        return _of_quality(target, session, goal, extras, extras.quality, seconds, out)
    return _verdict(target, session, goal, extras, luck, seconds, out), None


def _verdict(
    target: Target,
    session: Session,
    goal: str | None,
    extras: Extras,
    luck: Literal["possible", "least"],
    seconds: float,
    out: Output,
) -> Verdict:
    if extras.honest:
        return _honest(session, goal, extras, seconds, out)
    if not extras.names_engine and not extras.optimal:
        original = None if target.pair is None else target.pair.original
        return session.plan(
            goal, time_limit=seconds, luck=luck, original=original, say=out.progress
        )
    verdict, state = _by_one_engine(session, goal, extras, seconds, out), session.state
    if verdict.answer != "winnable":
        return verdict
    return verdict.with_seed(
        state.seed, wins_under_seed(session.engine, state, verdict.steps, goal)
    )


def _of_quality(
    target: Target, session: Session, goal: str | None, extras: Extras, quality: Quality,
    seconds: float, out: Output,
) -> tuple[Verdict, Improved]:  # fmt: skip
    """A plan of this quality, also tried under the draws of the seed, and those before it; a plan
    file always has the best so far."""
    from tokenworld.planning.quality import plan_quality

    files = PlanFiles(target, session.seed, goal)

    def better(verdict: Verdict) -> None:
        if extras.plan_file is not None:
            with suppress(Failure):  # the last plan tells why it cannot be written
                files.put(extras.plan_file, verdict)

    simulator, state = EngineSimulator(session.engine, session.state), session.state
    found = plan_quality(
        simulator, state, goal, quality, seconds=seconds, say=out.progress, better=better
    )
    verdict = found.verdict
    if verdict.answer == "winnable":
        commands = [step.command for step in verdict.steps]
        notes = (*verdict.notes, *secrets_read(session.world.program, commands))
        wins = wins_under_seed(session.engine, state, verdict.steps, goal)
        verdict = replace(verdict, notes=notes).with_seed(state.seed, wins)
    return verdict, found


def _honest(
    session: Session, goal: str | None, extras: Extras, seconds: float, out: Output
) -> Verdict:
    """An honest plan: by the ladder, by our own search where that is enough, by one engine."""
    from tokenworld.verbs.plan.honesty import solve_honest

    own = extras.engine == "own" or extras.optimal
    named = not own and extras.names_engine
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
    from tokenworld.planning.planners.by_name import plan_by, plan_by_downward, plan_optimal

    simulator, state = EngineSimulator(session.engine, session.state), session.state
    if extras.alias is not None or extras.search is not None:
        return plan_by_downward(
            simulator, state, goal, extras.alias, extras.search, seconds=seconds, say=out.progress
        )
    if extras.encoding is not None:
        from tokenworld.planning.planners.by_encoding import plan_on

        return plan_on(simulator, state, goal, extras.encoding, seconds=seconds, say=out.progress)
    if extras.engine is not None:
        return plan_by(simulator, state, goal, extras.engine, seconds=seconds, say=out.progress)
    return plan_optimal(simulator, state, goal, seconds=seconds, say=out.progress)


def _why(
    target: Target,
    session: Session,
    verdict: Verdict,
    out: Output,
    *,
    seconds: float,
    full: bool,
) -> list[dict[str, Json]]:
    """The reason of an *unwinnable*, shown; empty for any other verdict."""
    if verdict.answer != "unwinnable" or _of_many(verdict):
        return []
    from tokenworld.planning.proof.reasons import explanation_lines
    from tokenworld.session.solving import explain_unwinnable

    out.progress("looking for the reason")
    found = explain_unwinnable(session.world, session.state, verdict, seconds=seconds, full=full)
    found = tuple(one.placed(target.place) for one in found)
    for one in found:
        for line in explanation_lines(one, full=full):
            out.line(line)
    if not full and found:
        out.note("`--why` tells the whole reason, with the core and more repairs")
    return [one.to_json() for one in found]


def _of_many(verdict: Verdict) -> bool:
    """Return whether the proof is about all assignments of secrets at once."""
    return verdict.honest is not None and verdict.honest.together and verdict.honest.assignments > 1


def _matrix(target: Target, session: Session, goal: str | None, out: Output) -> int:
    from tokenworld.planning.capabilities import capabilities, capability_lines

    found = capabilities(session.simulator(), session.state, goal).placed(target.place)
    for line in capability_lines(found):
        out.line(line)
    out.json(found.to_json())
    return EXIT_OK


def _several(
    target: Target,
    session: Session,
    goal: str | None,
    extras: Extras,
    seconds: float,
    out: Output,
) -> int:
    """Several plans, cheapest first: 0 with a plan, 1 if there is none, 3 unknown.

    The plan files are numbered from 1.
    """
    from tokenworld.planning.planners.by_name import MOST_PLANS, several_plans

    found = several_plans(
        session.simulator(),
        session.state,
        goal,
        most=extras.top or MOST_PLANS,
        only_optimal=extras.all_optimal,
        seconds=seconds,
        say=out.progress,
    )
    pddl = [target.actions(verdict) for verdict in found.plans]
    for number, verdict in enumerate(found.plans, 1):
        out.line(f"plan {number}: {verdict.ticks:,} ticks (cost {verdict.cost:,})")
        out.line("  " + "; ".join(step.command for step in verdict.plan))
        if target.pair is not None:
            out.line("  " + " ".join(pddl[number - 1]))
    out.line(_told(len(found.plans), found.complete, extras.all_optimal))
    if found.reason:
        out.line(f"symk on encoding E: {found.reason}")
    out.diagnostics(target.told(found.notes))
    answer = found.to_json()
    if target.pair is not None:
        answer["pddl_plans"] = [list(one) for one in pddl]
    if extras.plan_file is not None:
        files = PlanFiles(target, session.seed, goal)
        answer["plan_files"] = [
            files.write(Path(f"{extras.plan_file}.{number}"), verdict, out)
            for number, verdict in enumerate(found.plans, 1)
        ]
    out.json(answer)
    if found.plans:
        return EXIT_OK
    return EXIT_NEGATIVE if found.complete else EXIT_UNKNOWN


def _told(count: int, complete: bool, optimal: bool) -> str:
    kind = "optimal plan" if optimal else "plan"
    if complete:
        return f"{counted(count, kind)}, and no other without loops"
    return f"{counted(count, kind)}; there may be more"


Luck = Literal["possible", "least", "certain", "probability"]
_PLAIN = Extras()


def plan_asked(
    target: opt.World,
    problem: Annotated[Path | None, "The problem, where the first file is a PDDL domain."],
    out: Output,
    *,
    goal: opt.Goal = None,
    luck: Annotated[
        Luck, "Who decides draws: the planner; it, but rarely; an adversary; or chance."
    ] = "possible",
    policy: Annotated[Path | None, "Write the command of each state to this file."] = None,
    extras: Extras = _PLAIN,
    time_limit: opt.Limit = 60.0,
    states: opt.States = 200000,
    memory_limit: opt.Memory = None,
    seed: opt.Seed = 0,
) -> int:
    """``tw plan`` as it was asked.

    The exit code says the verdict: 0 winnable (or certain), 1 not, 3 unknown.
    """
    _go_together(luck, policy, extras)
    extras.refuse_contradictions()
    found = opened(target, problem)
    with found.telling():
        if luck == "possible" or luck == "least":
            return plan_with(
                found, out, extras, luck=luck, goal=goal, time_limit=time_limit, seed=seed
            )
        return plan_luck(
            found, out, luck=luck, goal=goal, states=states, time_limit=time_limit, seed=seed,
            policy=policy,
        )  # fmt: skip


def plan_luck(
    target: Target,
    out: Output,
    *,
    luck: Literal["certain", "probability"],
    goal: str | None,
    states: int,
    time_limit: float,
    seed: int,
    policy: Path | None,
) -> int:
    """Print whether the goal is certain, or its probability; return the exit code."""
    from tokenworld.planning.space.luck import luck_lines
    from tokenworld.session.solving import solve_luck

    world = target.world
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
    verdict = replace(verdict, notes=target.told(verdict.notes))
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
    """Raise `Failure` (TW0006) for an option about plans beside one about policies."""
    policies = luck in ("certain", "probability")
    if extras.asked and (policies or policy is not None):
        hint = "Leave out `--luck` and `--policy`: the other options are about *possible* plans."
        raise usage("These options do not go together.", hint)
    if not policies and policy is not None:
        hint = "Add `--luck certain` or `--luck probability`."
        raise usage(f"`--luck {luck}` gives a plan, which is no policy.", hint)
    if luck == "least" and not extras.leaves_search:
        hint = "Leave out `--luck least`, or the option that names a way to plan."
        raise usage("The search for the least luck is one of its own.", hint)


def show_verdict(verdict: Verdict, out: Output) -> None:
    """The verdict, one claim per line; findings go to stderr."""
    for line in summary_lines(verdict):
        out.line(line)
    out.diagnostics(verdict.notes)


def show_actions(target: Target, verdict: Verdict, out: Output) -> None:
    """The plan for a PDDL pair in PDDL's form too."""
    steps = target.actions(verdict)
    if steps:
        out.line("in PDDL:")
    for step in steps:
        out.line(f"  {step}")
    metric = target.metric(verdict)
    if metric is not None:
        out.line(f"metric: {shown_metric(metric)}")
