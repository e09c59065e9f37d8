"""``tw audit``: the state space of a world as text for its author and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from tokenworld.diagnostics import Diagnostic, counted, fields_json, to_json, usage
from tokenworld.ground import Change, value_text
from tokenworld.limits import attempt, left
from tokenworld.planning.honest.secrets import Guess
from tokenworld.planning.space.dead_ends import CRUELTY, DeadEnd
from tokenworld.planning.space.graph import Door
from tokenworld.planning.verdict import ShownStep, draw_text
from tokenworld.session import open_world
from tokenworld.session.solving import check_goal
from tokenworld.verbs import options as opt
from tokenworld.verbs.audit.analysis import Audit, Example
from tokenworld.verbs.audit.analysis import audit as audit_world
from tokenworld.verbs.audit.rules import Idle
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output, limit_notes

_TOLD = {
    "at once": "the player is told at once: play ends",
    "next": "it shows with the next step: play ends or nothing changes any more, whatever is done",
    "later": "it shows sooner or later, whatever is done",
    "never": "nothing ever tells the player: play can go on for ever",
}
_CLASS = {
    "merciful": "no dead end can be reached",
    "polite": "every dead end ends play at once",
    "tough": "every dead end shows by the next step",
    "nasty": "every dead end shows sooner or later, whatever is done",
    "cruel": "play can go on for ever after a dead end, and nothing tells",
}


def audit_lines(found: Audit) -> list[str]:
    """The audit in plain lines."""
    return [
        *_space(found),
        *_solution(found),
        *_dead_ends(found),
        *_doors(found),
        *_never_ends(found),
        *_idle(found),
        *_facts(found),
        *_guesses(found),
        *_cut(found),
    ]


def _cut(found: Audit) -> list[str]:
    return ["", f"not looked at: {', '.join(found.cut)}"] if found.cut else []


def _space(found: Audit) -> list[str]:
    graph, parts = found.graph, found.parts
    states, were = counted(len(graph), "state"), "was" if len(graph) == 1 else "were"
    if graph.complete:
        lines = [
            f"`{found.world}`: {states} can be reached, and all were looked at{found.platform}"
        ]
    else:
        lines = [
            f"`{found.world}`: {states} {were} seen, which is NOT all: {graph.reason}",
            "what follows holds for the part that was seen",
        ]
    lines += [
        f"  won        {parts.count('won'):>9,}   the goal is reached",
        f"  winnable   {parts.count('winnable'):>9,}   the goal can still be reached",
        f"  dead       {parts.count('dead'):>9,}   it cannot be reached any more "
        f"({parts.lost:,} of them are announced)",
    ]
    if parts.count("undecided"):
        lines.append(f"  undecided  {parts.count('undecided'):>9,}   what follows was not explored")
    branching = parts.branching
    lines.append(
        f"choices: {float(branching.mean):.2f} commands on average, {branching.most} at most"
    )
    far = max(parts.histogram(), default=None)
    if far is not None:
        lines.append(f"distance to the goal: {counted(far, 'command')} at most")
    return lines


def _solution(found: Audit) -> list[str]:
    parts = found.parts
    if parts.steps is None:
        how = "cannot be reached" if parts.places[0] == "dead" else "was not reached"
        return ["", f"the goal {how} from the start"]
    length = counted(parts.steps, "command")
    ticks = counted(found.solution_ticks, "tick")
    lines = ["", f"shortest solution: {length} ({ticks})", *_steps(found.solution)]
    if parts.settled:
        lines.append(f"there {_are(parts.solutions)} of that length")
    else:
        lines.append("a shorter one may exist in what was not explored")
    return lines


def _are(solutions: int) -> str:
    return "is 1 solution" if solutions == 1 else f"are {solutions:,} solutions"


def _steps(steps: Iterable[ShownStep], first: int = 1) -> list[str]:
    return [f"  {number}. {_step(step)}" for number, step in enumerate(steps, first)]


def _step(step: ShownStep) -> str:
    luck = "; ".join(draw_text(draw) for draw in step.draws)
    return f"{step.command}   (luck: {luck})" if luck else step.command


def _dead_ends(found: Audit) -> list[str]:
    if found.cruelty is None:
        return []
    so_far = "" if found.graph.complete else ", as far as was seen"
    lines = ["", f"cruelty: {found.cruelty}{so_far}: {_CLASS[found.cruelty]}"]
    for kind, example in found.dead_ends:
        lines += ["", *_dead_end(kind, example)]
    return lines


def _dead_end(kind: DeadEnd, example: Example) -> list[str]:
    name = f"`{kind.action}`" if kind.action else "letting time pass"
    how = f"loses by `{kind.cause}`" if kind.cause else "can put the goal out of reach"
    luck = ", with bad luck" if kind.lucky else ""
    time = ", as letting time pass would" if kind.idle else ""
    edges, states = counted(kind.edges, "way"), counted(kind.states, "state")
    return [
        f"dead end: {name} {how}{luck}{time}   {example.place}",
        f"  {edges} into {states}; {_TOLD[kind.told]}",
        "  for example:",
        *(f"  {line}" for line in _steps(example.path)),
        f"    {len(example.path) + 1}. {_step(example.step)}   <- from here on the goal is lost",
        *(f"       {change_text(change)}" for change in example.changes),
        *(f'       "{line}"' for line in example.said),
    ]


def change_text(change: Change) -> str:
    """A change of a slot, and the rule that made it."""
    return f"{change.slot}: {value_text(change.old)} -> {value_text(change.new)}   by {change.rule}"


def _doors(found: Audit) -> list[str]:
    if "one-way doors" in found.cut:
        return []
    if not found.doors:
        known = "none: all that does not end play can be undone"
        return ["", f"one-way doors: {known if found.graph.complete else 'none known so far'}"]
    regions = counted(found.components, "region")
    told = f"{regions} without a way back" if found.graph.complete else "as far as was seen"
    lines = ["", f"one-way doors: {told}"]
    for door, example in found.doors:
        always = "always" if door.crossings == door.edges else f"{door.crossings:,} times"
        name = f"`{door.action}`" if door.action else "letting time pass"
        first = f"first at step {len(example.path) + 1}: {example.step.command}"
        lines.append(f"  {name}: {always} of {door.edges:,}; {first}   {example.place}")
    return lines


def _never_ends(found: Audit) -> list[str]:
    if not found.never_ends:
        return []
    lines = ["", "long actions that can neither end nor be broken off:"]
    for one in found.never_ends:
        states, way = counted(one.states, "state"), counted(len(one.path), "command")
        lines += [f"  `{one.command}` in {states}, first after {way}   {one.place}"]
        lines += [f"  {line}" for line in _steps(one.path)]
    return lines


def _idle(found: Audit) -> list[str]:
    lines = []
    if found.idle:
        when = "ever happens" if found.graph.complete else "happened so far"
        lines += ["", f"nothing of this {when} before play ends:"]
        lines += [line for one in found.idle for line in _idle_lines(one)]
        if found.looked_at < found.playing:
            lines.append(
                f"  (requires were examined in {found.looked_at:,} of {found.playing:,} states)"
            )
    if found.never_refuses and found.graph.complete:
        lines += ["", "these requires never refuse anything by themselves:"]
        lines += [f"  {one.action}: {one.condition}   {one.place}" for one in found.never_refuses]
    return lines


def _idle_lines(idle: Idle) -> list[str]:
    conditions = "; ".join(idle.blocking)
    told = f": {conditions}" if conditions else ""
    return [f"  {idle.kind} `{idle.name}`: {idle.reason}{told}   {idle.place}"]


def _facts(found: Audit) -> list[str]:
    if not found.unread:
        return []
    lines = ["", "no rule reads these facts:"]
    for one in found.unread:
        shown = " (they are shown in words)" if one.shown else ""
        lines.append(f"  {one.name}{shown}   {one.place}")
    return lines


def _guesses(found: Audit) -> list[str]:
    if not found.guesses:
        return []
    lines = ["", "secrets that can be found out by trying:"]
    for one in found.guesses:
        params, fluents = ", ".join(one.params), ", ".join(one.fluents)
        tries = "1 try is enough" if one.tries == 1 else f"{one.tries:,} tries are enough"
        lines.append(f"  `{one.action}` tests `{params}` against `{fluents}`: {tries}   {one.span}")
    return lines


# ---- for programs -----------------------------------------------------------------------------


def audit_json(
    found: Audit, notes: Iterable[Diagnostic], *, picture: str | None
) -> dict[str, object]:
    """The audit as one object: every key is always there. ``notes`` are more findings."""
    graph, parts = found.graph, found.parts
    places = ("won", "winnable", "dead", "undecided")
    return {
        "schema_version": 1,
        "world": found.world,
        "goal": graph.goal,
        "complete": graph.complete,
        "limit": graph.limit,
        "reason": graph.reason or None,
        "start": parts.places[0],
        "states": {"seen": len(graph), "expanded": graph.expanded, "edges": graph.edges,
                   **{place: parts.places.count(place) for place in places},
                   "announced": parts.lost},
        "branching": {"states": parts.branching.states, "commands": parts.branching.moves,
                      "mean": round(float(parts.branching.mean), 4),
                      "most": parts.branching.most},
        "distances": {str(far): count for far, count in parts.histogram().items()},
        "solution": {"commands": parts.steps, "ticks": found.solution_ticks,
                     "steps": [fields_json(step) for step in found.solution],
                     "optimal": parts.settled,
                     "solutions": parts.solutions if parts.settled else None},
        "cruelty": found.cruelty,
        "dead_ends": [_dead_end_json(kind, example) for kind, example in found.dead_ends],
        "regions": found.components if graph.complete else None,
        "one_way_doors": [_door_json(door, example) for door, example in found.doors],
        "never_happens": [fields_json(one) for one in found.idle],
        "never_ends": [fields_json(one) for one in found.never_ends],
        "never_refuses": [fields_json(one) for one in found.never_refuses],
        "requires_examined": {"states": found.looked_at, "of": found.playing},
        "facts_never_read": [
            {"fact": one.name, **fields_json(one, "name")} for one in found.unread
        ],
        "guessable": [_guess_json(one) for one in found.guesses],
        "notes": [to_json(note) for note in (*found.secrets, *found.notes, *notes)],
        "not_looked_at": list(found.cut),
        "picture": picture,
        "seconds": round(found.seconds, 3),
    }  # fmt: skip


def _dead_end_json(kind: DeadEnd, example: Example) -> dict[str, object]:
    return {
        "action": kind.action or "pass",
        "cause": kind.cause or None,
        "by_luck": kind.lucky,
        "by_time_too": kind.idle,
        "edges": kind.edges,
        "states": kind.states,
        "told": kind.told,
        "cruelty": CRUELTY[kind.told],
        "example": fields_json(example),
    }


def _door_json(door: Door, example: Example) -> dict[str, object]:
    return {
        "action": door.action or "pass",
        "crossings": door.crossings,
        "edges": door.edges,
        "example": fields_json(example),
    }


def _guess_json(one: Guess) -> dict[str, object]:
    return {
        "action": one.action,
        "params": list(one.params),
        "secrets": list(one.fluents),
        "tries": one.tries,
        "place": str(one.span),
    }


_DOT_SECONDS = 20.0
"""So long Graphviz may take for a picture; then our own drawing is used."""


def audit(
    target: opt.World,
    out: Output,
    *,
    goal: opt.Goal = None,
    states: opt.States = 1000000,
    time_limit: opt.Limit = 60.0,
    memory_limit: opt.Memory = None,
    past_goal: Annotated[bool, "Explore the states after the goal too."] = False,
    graph: Annotated[Path | None, "Draw the states: FILE.dot or FILE.svg."] = None,
) -> int:
    """0: winnable, and all was explored; 1: the goal cannot be reached; 3: a part is unknown."""
    if graph is not None and graph.suffix not in (".dot", ".svg"):
        message = f"`{graph}` is neither a `.dot` nor an `.svg` file."
        raise usage(message, "Name a `.dot` or an `.svg` file.")
    if states < 1:
        raise usage("An audit looks at one state at least.", "Give `--states N` with N from 1.")
    world = open_world(target)
    check_goal(world, goal)
    found = audit_world(
        world, goal, states=states, seconds=left(time_limit), past_goal=past_goal, say=out.progress
    )
    for line in audit_lines(found):
        out.line(line)
    out.diagnostics((*found.secrets, *found.notes), world.loaded.sources)
    drawn = None
    if graph is not None:
        drawn = attempt("drawing the picture", lambda: _draw(found, graph), lambda: None)
        out.line(f"wrote {graph} ({drawn})" if drawn is not None else f"{graph} is not written")
    notes = limit_notes()
    out.diagnostics(notes)
    out.json(audit_json(found, notes, picture=None if drawn is None else str(graph)))
    return _code(found)


def _code(found: Audit) -> int:
    if found.parts.places[0] in ("won", "winnable"):
        return EXIT_OK if found.graph.complete else EXIT_UNKNOWN
    return EXIT_NEGATIVE if found.parts.places[0] == "dead" else EXIT_UNKNOWN


def _draw(found: Audit, file: Path) -> str:
    """Write the picture; return the sentence on the meaning of its boxes."""
    from tokenworld.planning.space.drawing import dot_text, picture, svg_text
    from tokenworld.verbs.output import write_file

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
    return None if done is None or done.code != 0 else done.output
