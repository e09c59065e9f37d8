"""``tw plan`` and ``tw export``: can the goal be reached, and the world as PDDL."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean, to_json
from tokenworld.planning import Verdict, summary_lines
from tokenworld.session import OpenWorld, load_program, open_world
from tokenworld.tools.output import EXIT_OK, Output
from tokenworld.tools.plan_extras import Extras, plan_with

__all__ = ["check_goal", "export_pddl", "plan", "plan_luck", "show_verdict"]


def plan(target: str, out: Output, *, goal: str | None, time_limit: float, seed: int) -> int:
    """The verdict and the exit code that says it: 0 winnable, 1 unwinnable, 3 unknown."""
    return plan_with(target, out, Extras(), goal=goal, time_limit=time_limit, seed=seed)


def plan_luck(
    target: str,
    out: Output,
    *,
    luck: Literal["possible", "certain", "probability"],
    goal: str | None,
    states: int,
    time_limit: float,
    seed: int,
    policy: Path | None,
    extras: Extras = Extras(),  # noqa: B008 (it cannot be changed)
) -> int:
    """The same for what luck may do: 0 certain or winnable, 1 not, 3 unknown."""
    if extras.asked and (luck != "possible" or policy is not None):
        hint = "Leave out `--luck` and `--policy`: the other options are about *possible* plans."
        raise Failure(Diagnostic("TW0006", "These options do not go together.", hint=hint))
    if luck == "possible":
        if policy is None:
            return plan_with(target, out, extras, goal=goal, time_limit=time_limit, seed=seed)
        hint = "Add `--luck certain` or `--luck probability`."
        raise Failure(Diagnostic("TW0006", "A *possible* plan is no policy.", hint=hint))
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
    written = policy is not None and verdict.policy is not None
    if policy is not None and verdict.policy is not None:
        _write(policy.parent, {policy.name: verdict.policy.text()})
        out.line(f"wrote {policy}")
    out.json({**verdict.to_json(), "policy": str(policy) if written else None})
    return verdict.exit_code


def check_goal(opened: OpenWorld, goal: str | None) -> None:
    """Usage, not a verdict: `Failure` (TW0006) for a goal that the world does not have."""
    world = opened.world
    names = [line.name for line in world.goals]
    if goal is None or goal in names:
        return
    known = ", ".join(f"`{name}`" for name in names)
    hint = did_you_mean(goal, names) or (f"Its goals are {known}." if names else "It has none.")
    what = f"The world `{world.name}` has no goal `{goal}`."
    raise Failure(Diagnostic("TW0006", what, world.span, "this world", hint=hint))


def show_verdict(verdict: Verdict, out: Output) -> None:
    """The verdict, one claim per line; findings go to stderr."""
    for line in summary_lines(verdict):
        out.line(line)
    out.diagnostics(verdict.notes)


def export_pddl(target: str, out: Output, *, folder: Path | None, goal: str | None) -> int:
    """Write ``domain.pddl`` and ``problem.pddl``, or print both."""
    from tokenworld.session.exporting import export

    try:
        world = open_world(target)
    except Failure as failure:
        return _export_domain(target, failure, out, folder)
    check_goal(world, goal)
    exported = export(world, goal)
    out.diagnostics(exported.notes)
    files = {"domain.pddl": exported.domain, "problem.pddl": exported.problem}
    if folder is None:
        for text in files.values():
            out.line(text.rstrip("\n"))
    else:
        _write(folder, files)
        out.line(f"wrote {', '.join(str(folder / name) for name in files)} ({exported.form})")
    out.json(
        {
            "schema_version": 1,
            "form": exported.form,
            "folder": None if folder is None else str(folder),
            **({} if folder is not None else files),
            "notes": [to_json(note) for note in exported.notes],
        }
    )
    return EXIT_OK


def _export_domain(target: str, failure: Failure, out: Output, folder: Path | None) -> int:
    """A file without worlds, such as an imported domain, is a domain alone."""
    from tokenworld.planning.pddl import export_domain

    path = Path(target)
    worlds_missing = [one.code for one in failure.diagnostics] == ["TW0005"] and path.is_file()
    program = load_program(path).program if worlds_missing else None
    if program is None or program.worlds or not (program.actions or program.fluents):
        raise failure
    text = export_domain(program)
    if folder is None:
        out.line(text.rstrip("\n"))
    else:
        _write(folder, {"domain.pddl": text})
        out.line(f"wrote {folder / 'domain.pddl'} (lifted)")
    shown = {"domain.pddl": text} if folder is None else {}
    where = None if folder is None else str(folder)
    out.json({"schema_version": 1, "form": "lifted", "folder": where, **shown, "notes": []})
    return EXIT_OK


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write all files, or say why not; a file is replaced whole."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            part = folder / f".{name}.part"
            part.write_text(text, encoding="utf-8")
            part.replace(folder / name)
    except OSError as error:
        message = f"`{folder}` cannot be written: {error.strerror or error}."
        hint = "Name a folder that can be written, with `-o`."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None
