"""The verbs that go from a world to PDDL and back: export, import, equiv."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tokenworld.cli.frame import app, verb
from tokenworld.cli.parameters import Flag, Goal, Json, World

if TYPE_CHECKING:
    from tokenworld.tools.output import Output


@app.command
def export(
    world: World,
    /,
    *,
    pddl: Annotated[Flag, Parameter(help="Write PDDL.")] = False,
    ppddl: Annotated[Flag, Parameter(help="Write PPDDL, with chances.")] = False,
    sanitize: Annotated[Flag, Parameter(help="Names that every planner takes.")] = False,
    output: Annotated[Path | None, Parameter(name=["-o", "--output"], help="A folder.")] = None,
    plan: Annotated[
        Path | None, Parameter(name="--read-plan", help="Play a plan of these files.")
    ] = None,
    goal: Goal = None,
    json: Json = False,
) -> int:
    """Write a world as PDDL: `domain.pddl` and `problem.pddl`."""
    from tokenworld.diagnostics import Diagnostic, Failure
    from tokenworld.tools.exporting import export_pddl

    def work(out: Output) -> int:
        if pddl == ppddl:
            hint = "Add `--pddl`, or `--ppddl` to keep probabilities."
            raise Failure(Diagnostic("TW0006", "Say which form to export.", hint=hint))
        return export_pddl(
            world, out, folder=output, goal=goal, names=sanitize, plan=plan, luck=ppddl
        )

    return verb(json, work)


@app.command(name="import")
def import_pddl_(
    domain: Annotated[Path, Parameter(help="A PDDL domain.")],
    problems: Annotated[tuple[Path, ...], Parameter(help="Problems of the domain.")] = (),
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["-o", "--output"], help="A folder; printed without it.")
    ] = None,
    force: Annotated[Flag, Parameter(help="Replace a file that is there.")] = False,
    json: Json = False,
) -> int:
    """Take a PDDL domain and its problems as a `.tw` file, each problem a world."""
    from tokenworld.tools.importing import import_pddl

    return verb(json, lambda out: import_pddl(domain, problems, out, folder=output, force=force))


@app.command
def equiv(
    first: Annotated[str, Parameter(help="A PDDL domain or a `.tw` FILE[:world].")],
    second: Annotated[str, Parameter(help="Another one.")],
    problems: Annotated[tuple[Path, ...], Parameter(help="PDDL problems for both.")] = (),
    /,
    *,
    limit: Annotated[int, Parameter(help="States to explore at most.")] = 10_000,
    walks: Annotated[int, Parameter(help="Random walks beyond the limit.")] = 100,
    json: Json = False,
) -> int:
    """Do two domains behave alike? Equivalent (0), different (1), no difference found (3)."""
    from tokenworld.tools.equivalence import equivalence

    def work(out: Output) -> int:
        return equivalence(first, second, problems, out, limit=limit, walks=walks)

    return verb(json, work)
