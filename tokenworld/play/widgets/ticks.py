"""The story so far, and the list of the last records with their statuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.message import Message
from textual.widgets import OptionList

from tokenworld.ground import Outcome
from tokenworld.play.model.game import Entry, EntryKind
from tokenworld.play.widgets.sheet import ScrolledSheet
from tokenworld.play.widgets.shown import ENTRY_STYLES, Content, content, entitle, option
from tokenworld.play.widgets.texts import KeyedList
from tokenworld.session import Moment
from tokenworld.verbs.output import Glyphs

__all__ = ["TickList", "Transcript"]


SHOWN = 250
"""Of a long session so many of the last steps are listed at least, and less than twice as many."""
_WELL = ("executed", "waiting")


class TickList(KeyedList):
    """One line per record: sign, tick, status, what was asked."""

    class Picked(Message):
        """A record was walked to, or (``opened``) clicked or entered."""

        def __init__(self, asked: str, outcome: Outcome, opened: bool) -> None:
            super().__init__()
            self.asked, self.outcome, self.opened = asked, outcome, opened

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="ticks", classes="pane")
        entitle(self, "Ticks")
        self._glyphs = glyphs
        self._rows: list[tuple[str, Outcome]] = []

    def refill(self, moments: Sequence[Moment]) -> None:
        """Show the last records of a session, the very last one highlighted."""
        first = max(0, len(moments) // SHOWN - 1) * SHOWN
        rows = [(one.asked, outcome) for one in moments[first:] for outcome in one.outcomes]
        known = len(self._rows)
        if known and rows[:known] == self._rows:  # most ticks only add one: old rows are not remade
            self.add_options(option(self._row(*row)) for row in rows[known:])
        else:
            self.set_options(option(self._row(*row)) for row in rows)
        self._rows = rows
        number = f"last {len(rows)}" if first else f"{len(rows)}"
        entitle(self, f"Ticks ({number})" if rows else "Ticks")
        if self._rows:
            with self.prevent(OptionList.OptionHighlighted):
                self.highlighted = len(self._rows) - 1

    def _row(self, asked: str, outcome: Outcome) -> Content:
        style = "$text-success" if outcome.status in _WELL else "$text-error"
        status = outcome.status.replace("_", " ")
        return content(
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


_Row = tuple[str, EntryKind]


class Transcript(ScrolledSheet[_Row]):
    """Paragraphs in order, the newest in view; a blank row before each command."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(_words, _styled, id="transcript", classes="pane")
        entitle(self, "Story")
        self._told = 0
        self._story: list[_Row] = []
        self._signs: dict[EntryKind, str] = {
            "typed": "> ",
            "refused": f"{glyphs.refused} ",
            "puzzled": f"{glyphs.no_match} ",
            "fault": f"{glyphs.error} ",
        }

    def catch_up(self, entries: Sequence[Entry]) -> None:
        """Add the paragraphs that are not on the screen yet."""
        for entry in entries[self._told :]:
            self._story.extend(self._paragraph(entry))
        self._told = len(entries)
        self.update(self._story)

    def _paragraph(self, entry: Entry) -> Iterator[_Row]:
        if entry.kind == "typed":
            yield "", entry.kind
        text = f"{self._signs.get(entry.kind, '')}{entry.text}"
        yield from ((one, entry.kind) for one in text.split("\n"))


def _words(row: _Row) -> str:
    return row[0]


def _styled(row: _Row) -> Content:
    text, kind = row
    return content((text, ENTRY_STYLES[kind]))
