"""What a record has to tell, as paragraphs of the transcript."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tokenworld.ground import Outcome
from tokenworld.model import World
from tokenworld.tools.play.glyphs import Glyphs

__all__ = ["Entry", "EntryKind", "ending_text", "reported"]

EntryKind = Literal["welcome", "typed", "said", "refused", "puzzled", "ending", "note", "fault"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A paragraph of the transcript."""

    kind: EntryKind
    text: str


def reported(outcome: Outcome, world: World, glyphs: Glyphs) -> Iterator[Entry]:
    """The paragraphs of a record: what was refused, said, broken and reached."""
    if outcome.refusal is not None:
        yield Entry("refused", outcome.refusal.text)
    if outcome.no_match is not None:
        yield Entry("puzzled", outcome.no_match.message)
    yield from (Entry("said", text) for text in outcome.said)
    if outcome.breach is not None:
        yield Entry("fault", f"{outcome.breach['code']}: {outcome.breach['message']}")
    state = _state_of(outcome)
    if state:
        yield Entry("said", state)
    yield from (Entry("ending", ending_text(name, world, glyphs)) for name in outcome.latched)


def _state_of(outcome: Outcome) -> str:
    """A word where the world itself says nothing."""
    match outcome.status:
        case "waiting" if outcome.progress is not None:
            done, total = outcome.progress
            return f"It goes on: {done} of {total} ticks done."
        case "interrupted" if not outcome.said:
            return "What you were doing is broken off."
        case "halted":
            return "The world is over. Undo with Ctrl+Z, or quit with Ctrl+Q."
        case "executed" if not outcome.said and not outcome.latched:
            if outcome.changes:
                return "Done."
            return "Time passes." if outcome.time_passed else "Nothing changes."
    return ""


def ending_text(name: str, world: World, glyphs: Glyphs) -> str:
    """How an ending is announced."""
    ending = next(one for one in world.endings if one.name == name)
    match ending.ending:
        case "goal":
            text = f"{glyphs.won} You have reached the goal `{name}`."
        case "lose":
            text = f"{glyphs.lost} You have lost: `{name}`."
        case _:
            text = f"{glyphs.halted} The world stops: `{name}`."
    after = "You may play on" if world.endless else "The world is over"
    return f"{text} {after}; Ctrl+Z takes the last step back."
