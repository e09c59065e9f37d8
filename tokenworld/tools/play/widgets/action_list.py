"""What can be done now: a click or Enter does it. What is typed narrows the list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

__all__ = ["ActionList", "Choice"]


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the list: a command in words, a remark, and whether it can be done now."""

    text: str
    remark: str = ""
    legal: bool = True


class ActionList(OptionList):
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

    def offer(self, choices: Sequence[Choice], typed: str, total: int) -> None:
        """Show these lines, of ``total`` legal commands, for what was typed."""
        at = self.highlighted
        self._choices = list(choices)
        self.set_options(self._prompts())
        count = sum(one.legal for one in choices)
        self.border_title = f"You can ({count} of {total})" if typed else f"You can ({total})"
        if self._choices:
            self.highlighted = min(at or 0, len(self._choices) - 1)

    def _prompts(self) -> Iterator[Option]:
        for one in self._choices:
            if one.legal:
                parts = [(one.text, ""), (f"  {one.remark}" if one.remark else "", "$text-muted")]
            else:
                parts = [(f"{self._refused} {one.text}", "$text-muted")]
            yield Option(Content.assemble(*parts))

    @property
    def chosen(self) -> Choice | None:
        """The highlighted line."""
        at = self.highlighted
        return self._choices[at] if at is not None and at < len(self._choices) else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_index < len(self._choices):
            self.post_message(self.Chosen(self._choices[event.option_index]))
