"""The state inspector: every slot before and after the last tick, who is in what, and maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import TabbedContent, TabPane

from tokenworld.session.inspecting import Inspection, Map, Place, SlotRow
from tokenworld.session.scratch import editable_slots
from tokenworld.tools.play.dialogs import AskDialog
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.lines import Line, line
from tokenworld.tools.play.records import json_text
from tokenworld.tools.play.scratch import scratch_lines
from tokenworld.tools.play.title import title_text
from tokenworld.tools.play.widgets.frame import key_row
from tokenworld.tools.play.widgets.texts import TextPane, TitleBar

__all__ = ["InspectScreen", "map_lines", "slot_lines", "tree_lines"]

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
            yield ((f"  {slot} ", "plain"), (json_text(one.after), "plain"))
            continue
        values = f"{json_text(one.before)} {glyphs.becomes} {json_text(one.after)}"
        rules = f"  {', '.join(one.rules)}" if one.rules else ""
        yield ((f"{glyphs.changed} {slot} ", "head"), (values, "good"), (rules, "dim"))


def tree_lines(places: tuple[Place, ...], depth: int = 0) -> Iterator[Line]:
    """Objects, each with what is in it below, further in."""
    for one in places:
        yield ((f"{'  ' * depth}{one.name}", "plain"), (f" ({one.kind})", "dim"))
        yield from tree_lines(one.inside, depth + 1)


def map_lines(maps: tuple[Map, ...]) -> Iterator[Line]:
    """Maps row by row, with the objects that stand on them."""
    for one in maps:
        yield from (line(row) for row in one.rows)
        yield line("")
        for sign, names in one.signs:
            yield ((f"{sign} ", "head"), (names, "plain"))


class InspectScreen(Screen[None]):
    """The state in tabs, as it is now."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "changed", "Changed only", key_display="c", id="inspect.changed"),
        Binding("e", "edit", "Edit", key_display="e", id="inspect.edit",
                tooltip="Set a slot by hand and play on from there, on a trial branch"),
        Binding("x", "drop", "Drop trial", key_display="x", id="inspect.drop"),
        Binding("u", "undo", "Undo", key_display="u", id="inspect.undo"),
        Binding("r", "redo", "Redo", key_display="r", id="inspect.redo"),
        Binding("f1", "help", "Help", show=False, id="inspect.help"),
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
            self.query_one("#map", TextPane).tell(map_lines(found.maps))

    def action_changed(self) -> None:
        """Show only what the last tick changed, or everything again."""
        self._changed = not self._changed
        self._tell()

    def action_edit(self) -> None:
        """Set a slot by hand, on a trial branch."""

        def given(text: str | None) -> None:
            if text and self.game.edit(text) is None:
                self.notify(self.game.entries[-1].text, severity="error", markup=False)
            self._tell()

        known = [f"{one} = " for one in editable_slots(self.game.session)]
        question = "Set a slot, as in: robot.wound = 2"
        self.app.push_screen(AskDialog(question, known=known), given)

    def action_drop(self) -> None:
        """Forget the trial branch, and stand where it began."""
        self.game.drop_scratch()
        self._tell()

    def action_undo(self) -> None:
        self.game.undo()
        self._tell()

    def action_redo(self) -> None:
        self.game.redo()
        self._tell()

    def action_help(self) -> None:
        from tokenworld.tools.play.dialogs import HelpDialog

        self.app.push_screen(HelpDialog("inspect"))

    def action_leave(self) -> None:
        self.dismiss(None)
