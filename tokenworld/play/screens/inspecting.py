"""The state inspector: slots before and after the last tick, contents, maps, and slots set by hand.

Secret slots are left out, as everywhere in play.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import TabbedContent, TabPane

from tokenworld.ground import value_text
from tokenworld.play.model.game import Game
from tokenworld.play.model.inspection import Inspection, Place, SlotRow, map_lines
from tokenworld.play.model.timeline import editable_slots, scratch
from tokenworld.play.model.view import title_text
from tokenworld.play.screens.dialogs import AskDialog, Overlay
from tokenworld.play.widgets.texts import TextPane, TitleBar, key_row
from tokenworld.session.moments import SlotChange
from tokenworld.verbs.output import Glyphs, Line, line


def scratch_lines(game: Game) -> Iterator[Line]:
    """Yield the differences of a scratch branch from its beginning and from the end of its line."""
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
        values = f"{value_text(one.old)} {game.glyphs.becomes} {value_text(one.new)}"
        yield ((f"  {one.slot}  ", "plain"), (values, "good"))
    if not listed:
        yield line("  Nothing differs.")


_WIDEST = 34


def slot_lines(rows: tuple[SlotRow, ...], glyphs: Glyphs, *, changed: bool) -> Iterator[Line]:
    """A line per slot: changed ones are marked and tell both values and the rules."""
    shown = [one for one in rows if one.changed or not changed]
    width = min(_WIDEST, max((len(one.slot) for one in shown), default=0))
    if not shown:
        yield line("The last tick changed nothing.", "dim")
    for one in shown:
        slot = one.slot.ljust(width)
        if not one.changed:
            yield ((f"  {slot} ", "plain"), (value_text(one.after), "plain"))
            continue
        values = f"{value_text(one.before)} {glyphs.becomes} {value_text(one.after)}"
        rules = f"  {', '.join(one.rules)}" if one.rules else ""
        yield ((f"{glyphs.changed} {slot} ", "head"), (values, "good"), (rules, "dim"))


def tree_lines(places: tuple[Place, ...], depth: int = 0) -> Iterator[Line]:
    """Yield objects with their contents below them, indented."""
    for one in places:
        yield ((f"{'  ' * depth}{one.name}", "plain"), (f" ({one.kind})", "dim"))
        yield from tree_lines(one.inside, depth + 1)


class InspectScreen(Overlay[None]):
    """The state in tabs, as it is now."""

    pane = "inspect"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "changed", "Changed only", key_display="c", id="inspect.changed"),
        Binding("e", "edit", "Edit", key_display="e", id="inspect.edit",
                tooltip="Set a slot by hand and play on from there, on a trial branch"),
        Binding("x", "drop", "Drop trial", key_display="x", id="inspect.drop"),
        Binding("u", "undo", "Undo", key_display="u", id="inspect.undo"),
        Binding("r", "redo", "Redo", key_display="r", id="inspect.redo"),
        Binding("f1,question_mark", "help", "Help", show=False, id="inspect.help"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="inspect.close"),
    ]  # fmt: skip

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game
        self._changed = False

    def compose(self) -> ComposeResult:
        yield TitleBar()
        with TabbedContent(id="inspection"):
            with TabPane("State", id="tab-slots"):
                yield TextPane("slots", "State")
            with TabPane("World", id="tab-tree"):
                yield TextPane("tree", "World")
            if self.game.session.world.world.layouts:
                with TabPane("Map", id="tab-map"):
                    yield TextPane("map", "Map")
            with TabPane("Trial", id="tab-scratch"):
                yield TextPane("scratch", "Trial")
        yield key_row()

    def on_mount(self) -> None:
        self._tell()
        self.query_one("#slots").focus()

    def _tell(self) -> None:
        found, session = Inspection(self.game.session), self.game.session
        self.query_one(TitleBar).update(title_text(session, self.game.glyphs))
        changes = sum(one.changed for one in found.rows)
        asked = session.moments[-1].asked
        title = f"State: {changes} of {len(found.rows)} changed" + (f" by {asked}" if asked else "")
        told = slot_lines(found.rows, self.game.glyphs, changed=self._changed)
        self.query_one("#slots", TextPane).tell(told, title)
        self.query_one("#tree", TextPane).tell(tree_lines(found.tree))
        self.query_one("#scratch", TextPane).tell(scratch_lines(self.game))
        if session.world.world.layouts:
            width, height = self.app.size.width - 4, self.app.size.height - 8
            maps = found.windows(width, height)
            self.query_one("#map", TextPane).tell(map_lines(found, maps))

    def action_changed(self) -> None:
        """Show only the changes of the last tick, or everything again."""
        self._changed = not self._changed
        self._tell()

    def action_edit(self) -> None:
        """Set a slot by hand, on a trial branch."""

        def given(text: str | None) -> None:
            if text and self.game.edit(text) is None:
                self.notify(self.game.entries[-1].text, severity="error")
            self._tell()

        known = [f"{one} = " for one in editable_slots(self.game.session)]
        question = "Set a slot, as in: robot.wound = 2"
        self.app.push_screen(AskDialog(question, known=known), given)

    def action_drop(self) -> None:
        """Drop the trial branch, and return to its beginning."""
        self.game.drop_scratch()
        self._tell()

    def action_undo(self) -> None:
        self.game.undo()
        self._tell()

    def action_redo(self) -> None:
        self.game.redo()
        self._tell()
