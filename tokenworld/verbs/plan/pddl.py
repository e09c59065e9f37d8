"""``tw export`` and ``tw import``: a world as PDDL, and PDDL files as a world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tokenworld.diagnostics import Failure, Source, counted, read_source, to_json, usage
from tokenworld.ground import refuse_huge
from tokenworld.planning.pddl.export import PddlExport
from tokenworld.planning.verdict import summary_lines
from tokenworld.session import OpenWorld, load_program, open_world
from tokenworld.session.pddl import import_files, load_imported
from tokenworld.session.solving import check_goal
from tokenworld.syntax.format import format_source
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output, write_file

_HINT = "Name a folder that can be written, with `-o`."


def export_pddl(
    target: opt.World,
    out: Output,
    *,
    pddl: Annotated[bool, "Write PDDL."] = False,
    ppddl: Annotated[bool, "Write PPDDL, with chances."] = False,
    sanitize: Annotated[bool, "Names that every planner takes."] = False,
    output: Annotated[Path | None, opt.OUTPUT, "A folder."] = None,
    plan: Annotated[
        Path | None,
        opt.Option("--read-plan"),
        "Read a plan for the exported files, and play it on the world.",
    ] = None,
    goal: opt.Goal = None,
    time_limit: opt.Limit = 60.0,
) -> int:
    """Write ``domain.pddl`` and ``problem.pddl`` to the folder ``output``, or print both.

    Either ``pddl`` or ``ppddl``, with probabilities. ``sanitize``: with names that every planner
    takes. ``plan`` is a plan of these files: it is played instead, 0 if it reaches the goal.
    """
    from tokenworld.session.pddl import export

    if pddl == ppddl:
        hint = "Add `--pddl`, or `--ppddl` to keep probabilities."
        raise usage("Say which form to export.", hint)
    try:
        world = open_world(target)
    except Failure as failure:
        if sanitize or ppddl or plan is not None:
            raise
        return _export_domain(target, failure, out, output)
    check_goal(world, goal)
    refuse_huge(world.instance, slots=True)
    exported = export(world, goal, names=sanitize, luck=ppddl)
    if plan is not None:
        return _play(world, exported, plan, goal, out)
    out.diagnostics(exported.notes)
    _show(exported, output, out)
    return EXIT_OK


def _show(exported: PddlExport, folder: Path | None, out: Output) -> None:
    files = {"domain.pddl": exported.domain, "problem.pddl": exported.problem}
    _put(files, folder, exported.form, out)
    renamed = [{"kind": kind, "name": new, "was": old} for kind, new, old in exported.renamed]
    out.json(
        {
            "schema_version": 1,
            "form": exported.form,
            "folder": None if folder is None else str(folder),
            **({} if folder is not None else files),
            "renamed": renamed,
            "notes": [to_json(note) for note in exported.notes],
        }
    )


def _put(files: dict[str, str], folder: Path | None, form: str, out: Output) -> None:
    """Write the files, or print them one after the other."""
    if folder is None:
        for text in files.values():
            out.line(text.rstrip("\n"))
        return
    for name, text in files.items():
        write_file(folder / name, text, _HINT, folder=folder)
    out.line(f"wrote {', '.join(str(folder / name) for name in files)} ({form})")


def _export_domain(target: str, failure: Failure, out: Output, folder: Path | None) -> int:
    """A file without worlds, such as an imported domain, is a domain alone."""
    from tokenworld.planning.pddl.export import export_domain

    path = Path(target)
    worlds_missing = [one.code for one in failure.diagnostics] == ["TW0005"] and path.is_file()
    program = load_program(path).program if worlds_missing else None
    if program is None or program.worlds or not (program.actions or program.fluents):
        raise failure
    text = export_domain(program)
    _put({"domain.pddl": text}, folder, "lifted", out)
    shown = {"domain.pddl": text} if folder is None else {}
    where = None if folder is None else str(folder)
    out.json({"schema_version": 1, "form": "lifted", "folder": where, **shown, "notes": []})
    return EXIT_OK


# ---- plans ------------------------------------------------------------------------------------


def _play(world: OpenWorld, exported: PddlExport, path: Path, goal: str | None, out: Output) -> int:
    """The result of a plan of the exported files in the interpreter."""
    from tokenworld.session.pddl import read_plan

    found = read_plan(world, exported, read_source(path).text, goal)
    if isinstance(found, str):
        out.line(f"{path} is no plan: {found}")
        out.json({"schema_version": 1, "wins": False, "reason": found})
        return EXIT_NEGATIVE
    for line in summary_lines(found):
        out.line(line)
    out.json({**found.to_json(), "wins": True})
    return EXIT_OK


def import_pddl(
    domain: Annotated[Path, "A PDDL domain."],
    problems: Annotated[tuple[Path, ...], "Problems of the domain."],
    out: Output,
    *,
    output: Annotated[Path | None, opt.OUTPUT, "A folder; printed without it."] = None,
    force: Annotated[bool, "Replace a file that is there."] = False,
) -> int:
    """Write ``world.tw`` with the domain and its problems as worlds to a folder, or print it.

    An existing file is replaced only with ``force``, and then whole or not at all.
    """
    imported = import_files(domain, problems)
    program = load_imported(imported).program
    out.diagnostics(imported.remarks)
    text = _laid_out(imported.text)
    target = None if output is None else output / "world.tw"
    if target is None:
        out.data(text.rstrip("\n"))
    else:
        _write(target, text, force)
        out.line(
            f"wrote {target}: {counted(len(program.actions), 'action')}"
            + (f", {_worlds(imported.worlds)}" if imported.worlds else "")
        )
    out.json(
        {
            "schema_version": 1,
            "file": None if target is None else str(target),
            "actions": len(program.actions),
            "worlds": list(imported.worlds),
            "notes": [to_json(note) for note in imported.remarks],
            **({"text": text} if target is None else {}),
        }
    )
    return EXIT_OK


def _worlds(names: tuple[str, ...]) -> str:
    plural = "world" if len(names) == 1 else "worlds"
    return f"{plural} {', '.join(f'`{name}`' for name in names)}"


def _laid_out(text: str) -> str:
    """The text in the one style; only long lines are left to break."""
    formatted, _ = format_source(Source("world.tw", None, text))
    return text if formatted is None else formatted


def _write(target: Path, text: str, force: bool) -> None:
    if target.exists() and not force:
        message = f"`{target}` is there already."
        raise usage(message, "Name another folder with `-o`, or add `--force` to replace the file.")
    hint = "Name a folder that can be written, with `-o`."
    write_file(target, text, hint, folder=target.parent)
