"""The quality of the run on a screen: every dimension, its course, and the ticks against it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tokenworld.quality import Dimension
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.grades import (
    Scored,
    dimension_lines,
    outcome_of,
    strip_line,
    summary_lines,
)
from tokenworld.tools.play.styles import styled_line
from tokenworld.tools.play.widgets.frame import framed
from tokenworld.tools.play.widgets.lists import KeyedList, select_key
from tokenworld.tools.play.widgets.texts import Details, TitleBar

__all__ = ["QualityScreen"]

_Row = tuple[Dimension | None, int | None]
"""A dimension (``None``: the verdict over all), and a tick that speaks against it."""


class GradeList(KeyedList):
    """Dimensions, and the ticks against each."""

    BINDINGS: ClassVar[list[BindingType]] = [select_key("Go to tick")]


class QualityScreen(Screen[int | None]):
    """Gives back the tick to go to; ``None`` for none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "Go to tick", key_display="Enter", id="quality.go"),
        Binding("f1", "help", "Help", key_display="F1", id="quality.help"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="quality.close"),
    ]

    def __init__(self, game: Game, scored: Scored) -> None:
        super().__init__()
        self.game, self._scored = game, scored
        self._rows: list[_Row] = []

    def compose(self) -> ComposeResult:
        listed = GradeList(id="grades", classes="pane", markup=False)
        return framed(Horizontal(listed, Details(), id="grading"))

    def on_mount(self) -> None:
        grades = self.query_one(OptionList)
        grades.border_title = "Quality"
        self.show(self._scored)
        grades.focus()

    def show(self, scored: Scored) -> None:
        """Show a newer scorecard; what was highlighted stays so, if it is still there."""
        grades = self.query_one(OptionList)
        chosen = self._key(grades.highlighted)
        self._scored = scored
        self._rows = [(None, None)]
        for one in scored.card.dimensions:
            self._rows += [(one, None), *((one, tick) for tick in one.evidence)]
        grades.set_options(Option(self._prompt(row)) for row in self._rows)
        keys = [self._key(at) for at in range(len(self._rows))]
        grades.highlighted = keys.index(chosen) if chosen in keys else 0
        title = f"{scored.card.subject.title} {self.game.glyphs.dot} {scored.card.subject.run}"
        self.query_one(TitleBar).update(title)
        self._tell()

    def _key(self, at: int | None) -> tuple[str, int | None]:
        if at is None or at >= len(self._rows):
            return "", None
        dimension, tick = self._rows[at]
        return (dimension.id if dimension else ""), tick

    def _prompt(self, row: _Row) -> Content:
        dimension, tick = row
        glyphs, card = self.game.glyphs, self._scored.card
        if dimension is None:
            return styled_line((("Verdict ", "head"), strip_line(card, glyphs)[-1]))
        if tick is None:
            at = card.dimensions.index(dimension)
            sign, role = strip_line(card, glyphs)[at]
            return styled_line(((f"{sign[0]} {dimension.title}", role),))
        found = outcome_of(self.game.session, self._scored, tick)
        asked, status = ("", "") if found is None else (found[0], found[1].status)
        text = f"   {tick:>4} {status.replace('_', ' ')} {asked}".rstrip()
        return styled_line(((text, "dim" if found is None else "plain"),))

    def _tell(self) -> None:
        at = self.query_one(OptionList).highlighted
        dimension = self._rows[at][0] if at is not None else None
        glyphs, details = self.game.glyphs, self.query_one(Details)
        if dimension is None:
            details.tell(summary_lines(self._scored.card, glyphs), "All dimensions")
        else:
            details.tell(dimension_lines(dimension, glyphs), dimension.title)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._tell()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_go()

    def action_go(self) -> None:
        """Back to the game, at the highlighted tick."""
        at = self.query_one(OptionList).highlighted
        tick = None if at is None else self._rows[at][1]
        if tick is not None:
            self.dismiss(tick)

    def action_help(self) -> None:
        from tokenworld.tools.play.dialogs import HelpDialog

        self.app.push_screen(HelpDialog("quality"))

    def action_leave(self) -> None:
        self.dismiss(None)
