"""What lies ahead of a player, and where it was lost: distance, landmarks, the last chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, assert_never

from tokenworld.planning.hints import Hint
from tokenworld.session import Session
from tokenworld.session.hinting import LastChance, hint, last_winnable
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.lines import Line, line

__all__ = ["TITLES", "Ahead", "Topic", "ahead_lines", "look_ahead"]

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
    """Work an answer out, on a session that nobody else uses. Takes up to twice ``seconds``."""
    won = session.won()
    found: Hint | None = None
    if not session.ended() and topic != "last chance":
        found = hint(session, None, seconds=seconds, say=say, cancel=cancelled)
    lost = found is None or found.verdict.answer == "unwinnable"
    chance: LastChance | None = None
    if lost and not won and not cancelled():
        chance = last_winnable(session, None, seconds=seconds, say=say, cancel=cancelled)
    return Ahead(topic, won, found, chance)


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
    yield line(f"The goal is {ticks:,} tick{'' if ticks == 1 else 's'} away.", "good")
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
