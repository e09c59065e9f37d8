"""The screens that lie over the game: help, and the question before quitting."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Markdown

from tokenworld.play.widgets.shown import Words, content, entitle, link
from tokenworld.play.widgets.texts import key_row

__all__ = ["AskDialog", "HelpDialog", "QuitDialog", "pane_help"]


_ANSWERS = content(
    link("screen.answer(True)", "Quit (y)"), "  ", link("screen.answer(False)", "Play on (n)")
)


def pane_help(pane: str) -> str:
    """What `panes.md` says of a pane; empty where it says nothing."""
    text = (Path(__file__).parents[1] / "panes.md").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in f"\n{text}".split("\n## ")[1:])
    return next((body.strip() for name, _, body in parts if name.strip() == pane), "")


class HelpDialog(ModalScreen[None]):
    """What the game is and which keys there are; before that, what the pane at hand is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,f1,q,enter", "dismiss", "Back to the game", key_display="Esc", id="help.close"
        ),
    ]

    def __init__(self, pane: str = "") -> None:
        super().__init__()
        self._pane = pane

    def compose(self) -> ComposeResult:
        text = (Path(__file__).parents[1] / "help.md").read_text(encoding="utf-8")
        about = pane_help(self._pane)
        if about:
            text = f"# This pane: {self._pane}\n\n{about}\n\n{text}"
        with VerticalScroll(id="help", classes="dialog"):
            yield Markdown(text)
        yield key_row()

    def on_mount(self) -> None:
        box = self.query_one("#help")
        entitle(box, "Help")
        box.focus()

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss(result)


class AskDialog(ModalScreen[str | None]):
    """Asks for a line of text; ``None`` if Esc was pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "give_up", "Back", key_display="Esc", id="ask.no"),
    ]

    def __init__(self, question: str, value: str = "", known: Sequence[str] = ()) -> None:
        """``known`` are answers that are proposed while one types."""
        super().__init__()
        self._question, self._value, self._known = question, value, known

    def compose(self) -> ComposeResult:
        with Vertical(id="ask", classes="dialog"):
            yield Words(self._question)
            suggester = SuggestFromList(self._known) if self._known else None
            yield Input(self._value, suggester=suggester, compact=True, id="answer")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())

    def action_give_up(self) -> None:
        self.dismiss(None)


class QuitDialog(ModalScreen[bool]):
    """Asked only where quitting would throw something away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter,ctrl+q", "answer(True)", "Quit", key_display="y", id="quit.yes"),
        Binding("n,escape", "answer(False)", "Play on", key_display="n", id="quit.no"),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(id="quit", classes="dialog"):
            yield Words("Quit? This game is not recorded, so it cannot be taken up again.")
            yield Words(_ANSWERS, id="quit-keys")

    def action_answer(self, sure: bool) -> None:
        self.dismiss(sure)
