"""The line commands are typed in: suggestions while typing, history on the arrow keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from tokenworld.prose.tokens import LONGEST

__all__ = ["CommandLine"]

_SEEN = 20_000
"""Characters of a pasted text that are looked at: a command is among them, or there is none."""


class _Suggester(Suggester):
    """Asks the game; nothing is cached, as the same words mean other things a tick later."""

    def __init__(self, suggest: Callable[[str], str | None]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._suggest = suggest

    async def get_suggestion(self, value: str) -> str | None:
        return self._suggest(value)


class CommandLine(Input):
    """One line of input. Tab or Right takes the suggestion, Up and Down go through history."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "older", "Older command", show=False, id="command.older"),
        Binding("down", "newer", "Newer command", show=False, id="command.newer"),
        Binding("tab", "complete", "Take the suggestion", show=False, id="command.complete"),
    ]

    class Given(Message):
        """A command was entered."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Confirmed(Message):
        """Enter was pressed on an empty line."""

    class Pasted(Message):
        """Several lines were pasted, of which only the first is taken over."""

        def __init__(self, lines: int) -> None:
            super().__init__()
            self.lines = lines

    def __init__(self, suggest: Callable[[str], str | None], placeholder: str) -> None:
        super().__init__(
            placeholder=placeholder,
            suggester=_Suggester(suggest),
            select_on_focus=False,
            compact=True,
            max_length=LONGEST,
            id="command",
        )
        self._given: list[str] = []
        self._at = 0

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        self.value = ""
        if text:
            self._given = [one for one in self._given if one != text] + [text]
            self._at = len(self._given)
            self.post_message(self.Given(text))
        else:
            self.post_message(self.Confirmed())

    def _on_paste(self, event: events.Paste) -> None:
        """Take over the first line with text, up to the length of a command, however much comes."""
        event.stop()
        event.prevent_default()
        head = event.text[:_SEEN].lstrip()
        first = head.splitlines()[0] if head else ""
        self.insert_text_at_cursor(first[: max(0, LONGEST - len(self.value))])
        lines = event.text.count("\n") + (not event.text.endswith("\n"))
        if lines > 1:
            self.post_message(self.Pasted(lines))

    def insert_typed(self, character: str) -> None:
        """Take over a character that was typed elsewhere on the screen."""
        self.focus()
        self.insert_text_at_cursor(character)

    def action_older(self) -> None:
        self._recall(self._at - 1)

    def action_newer(self) -> None:
        self._recall(self._at + 1)

    def _recall(self, at: int) -> None:
        if not 0 <= at <= len(self._given):
            return
        self._at = at
        self.value = self._given[at] if at < len(self._given) else ""
        self.cursor_position = len(self.value)

    def action_complete(self) -> None:
        """Take the suggestion; without one, go to the next pane as Tab does elsewhere."""
        before = self.value
        if self.cursor_position == len(before):
            self.action_cursor_right()
        if self.value == before:
            self.screen.focus_next()
