"""Advice for a player as lines: hints, the distance to the goal, commands that allow a refused one.

A hint gives away the next step, the next three, or the whole plan. Where there is no way, it says
since when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from tokenworld.diagnostics import counted
from tokenworld.planning.hints import Hint
from tokenworld.planning.verdict import Verdict
from tokenworld.session.session import LastChance, Session, hint, last_winnable
from tokenworld.verbs.output import Glyphs, Line, line

LEVELS = (1, 3, 1_000_000)
"""The number of steps that each level of a hint gives away at most."""


def _goal(verdict: Verdict) -> str:
    names = verdict.reached or ((verdict.goal,) if verdict.goal else ())
    return " and ".join(f"`{name}`" for name in names) or "any goal"


def _steps(number: int) -> str:
    return f"{counted(number, 'more step')}"


def since_sentence(chance: LastChance | None) -> str:
    """The tick at which the goal got out of reach, if known; empty if this was not computed."""
    if chance is None:
        return ""
    if chance.moment is None:
        return "It was never in reach." if chance.known else ""
    if not chance.known:
        return f"It was last known to be in reach at tick {chance.tick}."
    return f"Unwinnable since tick {chance.tick}: {chance.lost_by}"


def hint_sentence(verdict: Verdict, next_step: str | None, chance: LastChance | None = None) -> str:
    """The hint in one sentence; ``next_step`` in words, ``None`` if nothing needs doing."""
    match verdict.answer:
        case "winnable" if next_step is None:
            return f"Goal {_goal(verdict)} is reached: nothing needs to be done."
        case "winnable":
            return f"Winnable in {_steps(len(verdict.steps))}. Next: {next_step}"
        case "unwinnable":
            since = since_sentence(chance)
            return " ".join(
                (
                    "Unwinnable from here: no sequence of commands reaches a goal.",
                    *((f"{since.rstrip('.')}.",) if since else ()),
                    "Undo to go back.",
                )
            )
        case "unknown":
            return "Unknown: no plan was found, and none was ruled out."


def hint_lines(
    verdict: Verdict,
    next_step: str | None,
    glyphs: Glyphs,
    *,
    chance: LastChance | None = None,
    later: Sequence[str] = (),
) -> Iterator[Line]:
    """Hint for the details pane: the answer, who proved it, and the next step.

    ``later`` are the steps after the next one that may be shown, in words.
    """
    match verdict.answer:
        case "winnable":
            yield line(f"{glyphs.executed} Winnable", "good")
            yield from _winnable(verdict, next_step, later)
        case "unwinnable":
            yield line(f"{glyphs.refused} Unwinnable from here", "bad")
            yield line("No sequence of commands reaches a goal.")
            if since_sentence(chance):
                yield line(since_sentence(chance), "bad")
            yield line("Undo (Ctrl+Z) to go back.")
            if verdict.proof is not None:
                yield line("")
                yield line(f"{verdict.claim} by {verdict.proof.by}", "dim")
            yield from (line(one.message, "dim") for one in verdict.notes if one.code == "TW0814")
        case "unknown":
            yield line(f"{glyphs.no_match} Unknown", "warn")
            yield line("No plan was found, and none was ruled out.")
            yield from _tried(verdict)
        case _:
            assert_never(verdict.answer)


def _winnable(verdict: Verdict, next_step: str | None, later: Sequence[str]) -> Iterator[Line]:
    if next_step is None:
        yield line(f"Goal {_goal(verdict)} is reached.")
        return
    yield line(f"Goal {_goal(verdict)} in {_steps(len(verdict.steps))}.")
    yield line("")
    yield (("Next: ", "dim"), (next_step, "head"))
    yield from (((f"{at:>4}: ", "dim"), (text, "plain")) for at, text in enumerate(later, 2))
    rest = len(verdict.steps) - 1 - len(later)
    if rest:
        more = "the next three" if not later and rest > 2 else "all of them"
        yield line(f"The next hint tells {more}.", "dim")
    yield line("")
    yield from _luck(verdict)
    found = f"{verdict.claim} by {verdict.engine}, replayed by the interpreter"
    yield line(f"Plan {found}.", "dim")
    if verdict.optimal is not None:
        better = "shorter" if verdict.optimal == "ticks" else "cheaper"
        yield line(f"No plan is {better}.", "dim")


def _luck(verdict: Verdict) -> Iterator[Line]:
    if not verdict.counts_on_luck:
        return
    if verdict.wins_with_seed:
        yield line(f"It counts on luck, and wins with seed {verdict.seed}.", "dim")
    else:
        yield line("It counts on luck that may not come. Then ask again.", "warn")


def _tried(verdict: Verdict) -> Iterator[Line]:
    for one in verdict.attempts:
        yield line("")
        yield line(f"{one.engine}: {one.result}", "head")
        yield line(f"  {one.detail}", "dim")
    for note in verdict.notes:
        yield line("")
        yield line(f"{note.code}: {note.message}")
        if note.hint:
            yield line(f"  {note.hint}", "dim")


Topic = Literal["way", "distance", "landmarks", "last chance"]
TITLES: dict[Topic, str] = {
    "way": "The way",
    "distance": "Distance to the goal",
    "landmarks": "Landmarks",
    "last chance": "The last chance",
}


@dataclass(frozen=True, slots=True)
class Ahead:
    """The answer to a question. ``found`` is about the present state, unless play has ended.

    ``won``: the goal is reached. ``chance`` tells of the past, where that was asked or is all that
    there is to tell.
    """

    topic: Topic
    won: bool
    found: Hint | None
    chance: LastChance | None


def look_ahead(
    session: Session,
    topic: Topic,
    seconds: float,
    say: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> Ahead:
    """Compute an answer on a session that no other thread uses. Takes up to twice ``seconds``."""
    won = session.won()
    found: Hint | None = None
    if not session.ended() and topic != "last chance":
        found = hint(session, None, seconds=seconds, say=say, cancel=cancelled)
    lost = found is None or found.verdict.answer == "unwinnable"
    chance: LastChance | None = None
    if lost and not won and not cancelled():
        chance = last_winnable(session, None, seconds=seconds, say=say, cancel=cancelled)
    return Ahead(topic, won, found, chance)


def goal_lines(session: Session) -> Iterator[Line]:
    """The goals of the world with their conditions, as far as these are no secret."""
    known = session.known
    for one in session.world.world.endings:
        if one.ending == "goal":
            hidden = not known.is_whole and known.secrets.reads(one.condition)
            told = "it depends on what is hidden" if hidden else one.source
            yield ((f"Goal `{one.name}`", "head"), (f": {told}", "plain"))


def ahead_lines(ahead: Ahead, glyphs: Glyphs) -> Iterator[Line]:
    """The answer for the details pane."""
    if ahead.won:
        yield line(f"{glyphs.won} The goal is reached.", "good")
        return
    answer = "unwinnable" if ahead.found is None else ahead.found.verdict.answer
    if ahead.found is not None and answer == "winnable":
        yield from _way(ahead.found, ahead.topic)
    elif answer == "unknown":
        yield line(f"{glyphs.no_match} Unknown", "warn")
        yield line("No plan was found in time, and none was ruled out.")
    if ahead.chance is not None:
        yield from _chance(ahead.chance, glyphs)


def _way(found: Hint, topic: Topic) -> Iterator[Line]:
    match topic:
        case "distance":
            yield from _distance(found)
        case "landmarks":
            yield from _landmarks(found)
        case "way" | "last chance":
            yield from _distance(found)
            yield line("")
            yield from _landmarks(found)
        case _:
            assert_never(topic)


def _distance(found: Hint) -> Iterator[Line]:
    ticks = found.distance or 0
    yield line(f"The goal is {counted(ticks, 'tick')} away.", "good")
    if found.shortest:
        yield line("No plan is shorter.", "dim")
    else:
        yield line("By the plan that was found; a shorter one may exist.", "dim")
    if found.verdict.counts_on_luck:
        yield line("It counts on luck that may not come.", "warn")


def _landmarks(found: Hint) -> Iterator[Line]:
    if not found.landmarks:
        yield line("No landmarks are known here.", "dim")
        return
    yield line("Every way to the goal passes through:", "head")
    for number, text in enumerate(found.landmarks, 1):
        yield line(f"{number:>2}. {text}")


def _chance(chance: LastChance, glyphs: Glyphs) -> Iterator[Line]:
    if chance.moment is not None and not chance.lost_by:
        yield line(f"{glyphs.executed} The goal is still in reach.", "good")
        return
    if chance.moment is None:
        if chance.known:
            yield line(f"{glyphs.refused} Unwinnable", "bad")
            yield line("The goal was out of reach from the start.")
        else:
            yield line(f"{glyphs.no_match} Unknown", "warn")
            yield line("No moment is known from which the goal was in reach.")
        return
    yield line(f"{glyphs.refused} Unwinnable from here", "bad")
    yield line(f"The goal was last in reach at tick {chance.tick}.")
    yield (("Then came: ", "dim"), (chance.lost_by, "head"))
    if not chance.known:
        yield line("A later moment was not decided in time.", "warn")
    yield line("Undo (Ctrl+Z) to go back.", "dim")
