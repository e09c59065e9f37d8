"""``tw hint``: what to do next after a script, how far the goal is, and where it was lost."""

from __future__ import annotations

from tokenworld.diagnostics import counted, fields_json, to_json
from tokenworld.limits import attempt, left
from tokenworld.planning.hints import Hint
from tokenworld.planning.verdict import Answer, Explaining, Verdict
from tokenworld.session import Session, open_world
from tokenworld.session.players import played
from tokenworld.session.session import LastChance, hint, last_winnable
from tokenworld.session.solving import check_goal
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output, limit_notes

_EXITS = {"winnable": EXIT_OK, "unwinnable": EXIT_NEGATIVE, "unknown": EXIT_UNKNOWN}


def hint_after(
    target: opt.World,
    out: Output,
    *,
    script: opt.Played = None,
    goal: opt.Goal = None,
    time_limit: opt.Limit = 20.0,
    operator: opt.Operator = False,
    seed: opt.Seed = 0,
) -> int:
    """Print the hint after a script; returns 0 winnable, 1 lost for good, 3 unknown.

    A player gets only answers that depend on no secret, else *unknown*; an ``operator`` all.
    """
    session = Session(open_world(target), seed, operator=operator)
    check_goal(session.world, goal)
    played(session, script)
    found = None
    if not session.ended():
        found = attempt(
            "looking for a hint",
            lambda: hint(session, goal, seconds=left(time_limit)),
            lambda: Hint(Verdict("unknown", goal, None, "", ""), ()),
        )
    if found is not None:
        answer: Answer = found.verdict.answer
    else:
        answer = "winnable" if session.won(goal) else "unwinnable"
    lost = answer == "unwinnable"
    explaining = Explaining()
    chance = None
    if lost:
        chance = explaining(
            "the last chance",
            lambda: last_winnable(session, goal, seconds=left(time_limit)),
            None,
            seconds=left(time_limit),
        )
    _show(found, chance, answer, out)
    notes = [*explaining.notes, *limit_notes()]
    out.diagnostics(notes)
    if found is not None:
        notes = [*found.verdict.notes, *notes]
    out.json(
        {
            "schema_version": 1,
            "tick": session.tick,
            "answer": answer,
            "hint": None if found is None else found.to_json(),
            "last_winnable": None if chance is None else _chance_json(chance),
            "notes": [to_json(note) for note in notes],
        }
    )
    return _EXITS[answer]


def _chance_json(chance: LastChance) -> dict[str, object]:
    return {**fields_json(chance), "lost_by": chance.lost_by or None}


def _show(found: Hint | None, chance: LastChance | None, answer: str, out: Output) -> None:
    if found is None and answer == "winnable":
        out.line("the goal is reached")
    elif found is not None and answer == "winnable":
        _show_hint(found, out)
    elif answer == "unwinnable" and chance is None:
        out.line("the goal can no longer be reached")
    elif answer == "unknown":
        out.line("unknown: no plan was found, and no proof that there is none")
    if found is not None:
        out.diagnostics(found.verdict.notes)
    if chance is not None:
        _show_chance(chance, out)


def _show_hint(found: Hint, out: Output) -> None:
    step = found.next_step
    if step is None:
        out.line("the goal is reached")
        return
    known = "no plan is shorter" if found.shortest else "a shorter plan may exist"
    out.line(f"next: {step.command}")
    out.line(f"distance: {counted(found.distance or 0, 'tick')} ({known})")
    if step.draws:
        out.line("this step counts on luck")
    for text in found.landmarks:
        out.line(f"on every way: {text}")


def _show_chance(chance: LastChance, out: Output) -> None:
    out.line("the goal can no longer be reached")
    if chance.moment is None:
        out.line("it never could" if chance.known else "no moment is known from which it could")
        return
    by = f", before `{chance.lost_by}`" if chance.lost_by else ""
    sure = "" if chance.known else " (a later moment was not decided in time)"
    out.line(f"it last could at tick {chance.tick}{by}{sure}")
