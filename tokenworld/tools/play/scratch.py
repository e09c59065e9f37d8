"""What was set by hand to try something, told: the edits, and what came to differ by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokenworld.session.differing import SlotChange
from tokenworld.session.scratch import scratch
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.lines import Line, line
from tokenworld.tools.play.records import json_text

__all__ = ["scratch_lines"]


def scratch_lines(game: Game) -> Iterator[Line]:
    """The scratch branch against the moment that it left, and against where that branch stands."""
    found = scratch(game.session)
    if found is None:
        yield line("Nothing is tried here.")
        yield line("e sets a slot by hand: what is played then is a trial, and recorded nowhere.",
                   "dim")  # fmt: skip
        return
    yield line("Set by hand", "head")
    yield from (line(f"  {one}") for one in found.edits)
    timeline = game.timeline
    path = timeline.path(timeline.sync())
    base = next(node for node in reversed(path) if not node.moment.scratch)
    name = timeline.name_of(base.line)
    yield line("")
    yield line(f"Against tick {base.moment.state.tick} of {name}, where the trial began", "head")
    yield from _changed(game, found.changes)
    last = next(nodes[-1] for nodes in timeline.lines if nodes[0].line == base.line)
    if last is not base:
        yield line("")
        yield line(f"Against tick {last.moment.state.tick} of {name}, where that stands", "head")
        yield from _changed(game, timeline.differences(last, path[-1]))
    yield line("")
    yield line("x drops the trial.", "dim")


def _changed(game: Game, changes: Iterable[SlotChange]) -> Iterator[Line]:
    listed = tuple(changes)
    for one in listed:
        values = f"{json_text(one.old)} {game.glyphs.becomes} {json_text(one.new)}"
        yield ((f"  {one.slot}  ", "plain"), (values, "good"))
    if not listed:
        yield line("  Nothing differs.")
