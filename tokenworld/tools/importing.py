"""``tw import``, and ``tw plan`` on a pair of PDDL files."""

from __future__ import annotations

from collections.abc import Sized
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, Source, to_json
from tokenworld.planning import Verdict
from tokenworld.planning.pddl.text import flat
from tokenworld.session import OpenWorld, Session
from tokenworld.session.importing import import_files, is_pddl, load_imported, open_pddl
from tokenworld.syntax.format import format_source
from tokenworld.tools.files import write_file
from tokenworld.tools.output import EXIT_OK, Output
from tokenworld.tools.solving import check_goal, show_verdict

__all__ = ["import_pddl", "plan_pddl"]


def import_pddl(
    domain: Path, problems: tuple[Path, ...], out: Output, *, folder: Path | None, force: bool
) -> int:
    """Write ``world.tw`` with the domain and its problems as worlds, or print it.

    An existing file is replaced only with ``force``, and then whole or not at all.
    """
    imported = import_files(domain, problems)
    program = load_imported(imported).program
    out.diagnostics(imported.remarks)
    text = _laid_out(imported.text)
    target = None if folder is None else folder / "world.tw"
    if target is None:
        out.line(text.rstrip("\n"))
    else:
        _write(target, text, force)
        out.line(
            f"wrote {target}: {_count(program.actions, 'action')}"
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


def _count(things: Sized, name: str) -> str:
    return f"{len(things)} {name}" + ("" if len(things) == 1 else "s")


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
        hint = "Name another folder with `-o`, or add `--force` to replace the file."
        raise Failure(Diagnostic("TW0006", message, hint=hint))
    hint = "Name a folder that can be written, with `-o`."
    write_file(target, text, hint, folder=target.parent)


# ---- plans ----------------------------------------------------------------------------------


def plan_pddl(
    domain: Path,
    problem: Path | None,
    out: Output,
    *,
    goal: str | None,
    time_limit: float,
    seed: int,
    more: bool,
) -> int:
    """The verdict on a PDDL pair, as for a world; a plan comes in PDDL's form too.

    ``more``: other options were given, which are about `.tw` files.
    """
    if problem is None or not is_pddl(domain):
        given = domain if problem is None else problem
        message = f"`{given}` is half of what is to be planned."
        hint = "Give a PDDL domain and then its problem, or a `.tw` file alone."
        raise Failure(Diagnostic("TW0006", message, hint=hint))
    if more:
        message = "This option is for `.tw` files, and these are PDDL."
        hint = f"Run `tw import {domain} {problem} -o DIR`, then `tw plan DIR/world.tw`."
        raise Failure(Diagnostic("TW0006", message, hint=hint))
    session = Session(open_pddl(domain, problem), seed)
    check_goal(session.world, goal)
    verdict = session.plan(goal, time_limit=time_limit, say=out.progress)
    show_verdict(verdict, out)
    steps = pddl_steps(session.world, verdict)
    if steps:
        out.line("in PDDL:")
    for step in steps:
        out.line(f"  {step}")
    out.json({**verdict.to_json(), "pddl_plan": list(steps)})
    return verdict.exit_code


def pddl_steps(world: OpenWorld, verdict: Verdict) -> tuple[str, ...]:
    """A plan as planners write it, ``(pick-up b1)``; empty where there is none."""
    objects = world.instance.objects

    def step(name: str, args: tuple[object, ...]) -> str:
        words = (objects[arg].name for arg in args if isinstance(arg, int))
        return flat((name, *words))

    return tuple(step(one.command.action, one.command.args) for one in verdict.steps)
