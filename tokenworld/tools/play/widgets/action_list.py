"""What can be done now: a click or Enter does it. What is typed narrows the list."""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tokenworld.tools.play.offers import Choice, Offer
from tokenworld.tools.play.widgets.lists import KeyedList

__all__ = ["ActionList"]

_MUTED = "$foreground-muted"


class ActionList(KeyedList):
    """Legal commands; behind them, while something is typed, what those words could mean too."""

    class Chosen(Message):
        """A line was clicked or entered."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, refused: str) -> None:
        super().__init__(id="actions", classes="pane", markup=False)
        self.border_title = "You can"
        self._refused = refused
        self._choices: list[Choice] = []
        self._offered: Offer | None = None

    def show_offer(self, offered: Offer) -> None:
        """Show these lines; the highlight stays where it was, as far as there are lines."""
        if offered == self._offered:
            return
        at = self.highlighted
        self._offered, self._choices = offered, list(offered.choices)
        self.set_options(self._prompts())
        self.border_title = offered.title
        if self._choices:
            self.highlighted = min(at or 0, len(self._choices) - 1)
        else:
            otherwise = Content.styled(offered.otherwise, _MUTED)
            self.add_option(Option(otherwise, disabled=True))

    def _prompts(self) -> Iterator[Option]:
        for one in self._choices:
            if one.legal:
                remark = Content.styled(f"  {one.remark}" if one.remark else "", _MUTED)
                yield Option(Content.assemble(one.text, remark))
            else:
                reason = f"  {one.remark}" if one.remark else ""
                yield Option(Content.styled(f"{self._refused} {one.text}{reason}", _MUTED))

    @property
    def chosen(self) -> Choice | None:
        """The highlighted line."""
        at = self.highlighted
        return self._choices[at] if at is not None and at < len(self._choices) else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_index < len(self._choices):
            self.post_message(self.Chosen(self._choices[event.option_index]))
