"""Every record so far with its status; the highlighted one is shown in the details."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tokenworld.ground import Outcome
from tokenworld.session import Moment
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.widgets.lists import KeyedList

__all__ = ["TickList"]

_WELL = ("executed", "waiting")


class TickList(KeyedList):
    """One line per record: sign, tick, status, what was asked."""

    class Picked(Message):
        """A record was walked to, or (``opened``) clicked or entered."""

        def __init__(self, asked: str, outcome: Outcome, opened: bool) -> None:
            super().__init__()
            self.asked, self.outcome, self.opened = asked, outcome, opened

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="ticks", classes="pane", markup=False)
        self.border_title = "Ticks"
        self._glyphs = glyphs
        self._rows: list[tuple[str, Outcome]] = []

    def refill(self, moments: Sequence[Moment]) -> None:
        """Show the records of a session, the last one highlighted."""
        rows = [(one.asked, outcome) for one in moments for outcome in one.outcomes]
        known = len(self._rows)
        if known and rows[:known] == self._rows:  # most ticks only add one: old rows are not remade
            self.add_options(Option(self._row(*row)) for row in rows[known:])
        else:
            self.set_options(Option(self._row(*row)) for row in rows)
        self._rows = rows
        self.border_title = f"Ticks ({len(self._rows)})" if self._rows else "Ticks"
        if self._rows:
            with self.prevent(OptionList.OptionHighlighted):
                self.highlighted = len(self._rows) - 1

    def _row(self, asked: str, outcome: Outcome) -> Content:
        style = "$text-success" if outcome.status in _WELL else "$text-error"
        status = outcome.status.replace("_", " ")
        return Content.assemble(
            (f"{self._glyphs.of(outcome.status)} ", style),
            (f"{outcome.tick:>3} ", "$foreground-muted"),
            (f"{status:<8} ", style),
            asked,
        )

    @property
    def chosen(self) -> Outcome | None:
        """The highlighted record."""
        at = self.highlighted
        return self._rows[at][1] if at is not None and at < len(self._rows) else None

    def point_at(self, outcome: Outcome) -> None:
        """Highlight a record without telling of it."""
        with self.prevent(OptionList.OptionHighlighted):
            for at, row in enumerate(self._rows):
                if row[1] is outcome:
                    self.highlighted = at

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self.has_focus:
            self._pick(event.option_index, opened=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._pick(event.option_index, opened=True)

    def _pick(self, index: int, *, opened: bool) -> None:
        if index < len(self._rows):
            self.post_message(self.Picked(*self._rows[index], opened))
