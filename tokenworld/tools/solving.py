"""``tw plan`` and ``tw export``: can the goal be reached, and the world as PDDL."""

from __future__ import annotations

from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean, to_json
from tokenworld.planning import Verdict, summary_lines
from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.tools.output import EXIT_OK, Output

__all__ = ["check_goal", "export_pddl", "plan", "show_verdict"]


def plan(target: str, out: Output, *, goal: str | None, time_limit: float, seed: int) -> int:
    """The verdict and the exit code that says it: 0 winnable, 1 unwinnable, 3 unknown."""
    session = Session(open_world(target), seed)
    check_goal(session.world, goal)
    verdict = session.plan(goal, time_limit=time_limit, say=out.progress)
    show_verdict(verdict, out)
    out.json(verdict.to_json())
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

    world = open_world(target)
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
