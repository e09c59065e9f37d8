"""``tw audit``: the state space of a world, its dead ends, and what never happens in it."""

from __future__ import annotations

from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.session import open_world
from tokenworld.session.auditing import Audit
from tokenworld.session.auditing import audit as audit_world
from tokenworld.tools.audit_report import audit_json, audit_lines
from tokenworld.tools.goals import check_goal
from tokenworld.tools.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output

__all__ = ["audit"]

_DOT_SECONDS = 20.0
"""So long Graphviz may take for a picture; then our own drawing is used."""


def audit(
    target: str,
    out: Output,
    *,
    goal: str | None,
    states: int,
    time_limit: float,
    graph: Path | None,
    past_goal: bool = False,
) -> int:
    """0: winnable, and all was explored; 1: the goal cannot be reached; 3: a part is unknown."""
    if graph is not None and graph.suffix not in (".dot", ".svg"):
        message = f"`{graph}` is neither a `.dot` nor an `.svg` file."
        raise Failure(Diagnostic("TW0006", message, hint="Name a `.dot` or an `.svg` file."))
    if states < 1:
        raise Failure(Diagnostic("TW0006", "An audit looks at one state at least.",
                                 hint="Give `--states N` with N from 1."))  # fmt: skip
    world = open_world(target)
    check_goal(world, goal)
    found = audit_world(
        world, goal, states=states, seconds=time_limit, past_goal=past_goal, say=out.progress
    )
    for line in audit_lines(found):
        out.line(line)
    out.diagnostics(found.secrets, world.loaded.sources)
    drawn = None if graph is None else _draw(found, graph)
    if drawn is not None:
        out.line(f"wrote {graph} ({drawn})")
    out.json({**audit_json(found), "picture": None if graph is None else str(graph)})
    return _code(found)


def _code(found: Audit) -> int:
    if found.parts.places[0] in ("won", "winnable"):
        return EXIT_OK if found.graph.complete else EXIT_UNKNOWN
    return EXIT_NEGATIVE if found.parts.places[0] == "dead" else EXIT_UNKNOWN


def _draw(found: Audit, file: Path) -> str:
    """Write the picture; what its boxes stand for."""
    from tokenworld.planning.space.drawing import svg_text
    from tokenworld.planning.space.picture import dot_text, picture
    from tokenworld.tools.files import write_file

    drawn = picture(found.graph, found.parts, found.component)
    text = dot_text(drawn)
    if file.suffix == ".svg":
        text = _graphviz(text) or svg_text(drawn)
    write_file(file, text, "Name a file that can be written, with `--graph`.")
    boxes = {"states": "state", "components": "group of states that lead to each other",
             "distances": "group of states at one distance"}[drawn.grouping]  # fmt: skip
    return f"a box for each {boxes}"


def _graphviz(text: str) -> str | None:
    """The picture as Graphviz lays it out, where it is installed and fast enough."""
    from tokenworld.planning.planners.children import answer_of

    done = answer_of("dot", "-Tsvg", seconds=_DOT_SECONDS, given=text)
    return None if done is None or done.returncode != 0 else done.stdout
