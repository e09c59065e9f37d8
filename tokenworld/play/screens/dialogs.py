"""The screens that lie over the game: help, a question, quitting, saving in one of six formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Markdown, OptionList

from tokenworld.diagnostics import Diagnostic, Failure, Source
from tokenworld.play.model.game import Game
from tokenworld.play.model.transcripts import text_as
from tokenworld.play.screens.keys import KeysHere, as_list, keys_here
from tokenworld.play.widgets.shown import Option, Words, content, entitle, link, option
from tokenworld.play.widgets.texts import KeyedList, key_row, select_key
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.verbs.output import write_file

_ANSWERS = content(
    link("screen.answer(True)", "Quit (y)"), "  ", link("screen.answer(False)", "Play on (n)")
)


def pane_help(pane: str) -> str:
    """Return the text of `panes.md` about a pane; empty if it has none."""
    text = (Path(__file__).parents[1] / "panes.md").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in f"\n{text}".split("\n## ")[1:])
    return next((body.strip() for name, _, body in parts if name.strip() == pane), "")


class HelpDialog(ModalScreen[None]):
    """The help: first of the focused pane with its keys, then of the game, then all other keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,f1,q,enter", "dismiss", "Back to the game", key_display="Esc", id="help.close"
        ),
    ]

    def __init__(self, pane: str, keys: KeysHere) -> None:
        super().__init__()
        self._pane, self._keys = pane, keys

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help", classes="dialog"):
            yield Markdown("\n\n".join(self._parts()))
        yield key_row()

    def _parts(self) -> Iterator[str]:
        about, keys = pane_help(self._pane), self._keys
        if about:
            yield f"# This pane: {self._pane}\n\n{about}"
        if keys.pane:
            yield f"# Keys of this pane\n\n{as_list(keys.pane)}"
        yield (Path(__file__).parents[1] / "help.md").read_text(encoding="utf-8")
        yield f"# Keys everywhere\n\n{as_list(keys.everywhere)}"
        if keys.editing:
            yield f"# Keys that edit a line\n\n{as_list(keys.editing)}"

    def on_mount(self) -> None:
        box = self.query_one("#help")
        entitle(box, "Help")
        box.focus()

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss(result)


Result = TypeVar("Result")


class Overlay(Screen[Result | None]):
    """A screen over the game, with help of its own and a way back; ``pane`` names its help."""

    pane: ClassVar[str]

    def action_help(self) -> None:
        """Show the purpose of this screen."""
        keys = keys_here(self, alone=True)
        self.app.push_screen(HelpDialog(self.pane, keys))

    def action_leave(self) -> None:
        """Go back without a result."""
        self.dismiss(None)


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


# ---- save as -------------------------------------------------------------------------------------


Form = Literal["markdown", "jsonl", "plan", "script", "scenario", "svg"]

_TOLD: dict[Form, tuple[str, str]] = {
    "markdown": ("Story", "Markdown, to read"),
    "jsonl": ("Records", "JSON lines, one for each outcome"),
    "plan": ("Plan", "what was done, as calls"),
    "script": ("Script", "everything that was asked"),
    "scenario": ("Test", "a scenario, put after the rules of the world"),
    "svg": ("Picture", "the screen as SVG"),
}
_ENDINGS: dict[Form, str] = {
    "markdown": ".md",
    "jsonl": ".jsonl",
    "plan": ".plan.txt",
    "script": ".script.txt",
    "scenario": ".tw",
    "svg": ".svg",
}
_HINT = "Name a file in a folder that can be written to."


def suggested(session: Session, form: Form) -> str:
    """The file that is proposed: of a scenario the world's own, else one that does not exist."""
    source = session.world.loaded.sources[0]
    if form == "scenario" and source.path is not None:
        return str(source.path)
    name, number = session.world.world.name, 2
    path = Path(f"{name}{_ENDINGS[form]}")
    while path.exists():
        path, number = Path(f"{name}-{number}{_ENDINGS[form]}"), number + 1
    return str(path)


def save(session: Session, form: Form, path: Path, picture: str) -> str:
    """Write the game to a file and say so; ``picture`` is the screen as SVG.

    A scenario is appended to the file, if the file still checks with it. Nothing is
    overwritten: raises `Failure` with TW0001 where a file exists or cannot be written.
    """
    if form == "scenario":
        return _keep_scenario(session, path)
    if path.exists():
        raise Failure(Diagnostic("TW0001", f"`{path}` exists.", hint="Choose another name."))
    write_file(path, picture if form == "svg" else text_as(session, form, ""), _HINT)
    return f"Saved as `{path}`."


def _keep_scenario(session: Session, path: Path) -> str:
    world = session.world.world.name
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError):
        message = f"`{path}` cannot be read."
        hint = "A scenario stands in the file of its world: name that file."
        raise Failure(Diagnostic("TW0001", message, hint=hint)) from None
    title = _free_title(text)
    whole = f"{text.rstrip()}\n\n{text_as(session, 'scenario', title)}"
    open_text((Source(str(path), path, whole),), world)
    write_file(path, whole, _HINT)
    return f'Saved as scenario "{title}" in `{path}`: `tw test {path}` runs it.'


def _free_title(text: str) -> str:
    number = 1
    while f'scenario "saved game {number}"' in text:
        number += 1
    return f"saved game {number}"


class FormList(KeyedList):
    """The formats."""

    BINDINGS: ClassVar[list[BindingType]] = [select_key("Save")]


class SaveDialog(ModalScreen[None]):
    """Asks for a format, then for a file; c copies the text instead."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "save", "Save", key_display="Enter", id="save.save"),
        Binding("c", "copy", "Copy", key_display="c", id="save.copy"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="save.close"),
    ]

    def __init__(self, game: Game, picture: str) -> None:
        super().__init__()
        self.game, self._picture = game, picture
        self._forms: tuple[Form, ...] = tuple(_TOLD)

    def compose(self) -> ComposeResult:
        with Vertical(id="save", classes="dialog"):
            yield FormList(*map(self._option, self._forms), id="forms")
        yield key_row()

    def _option(self, form: Form) -> Option:
        name, told = _TOLD[form]
        return option((f"{name:<9}", "bold"), (told, "$foreground-muted"))

    def on_mount(self) -> None:
        entitle(self.query_one("#save"), "Save the game as")
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_save()

    @property
    def _form(self) -> Form:
        return self._forms[self.query_one(OptionList).highlighted or 0]

    def action_save(self) -> None:
        self.ask(self._form)

    def ask(self, form: Form) -> None:
        """Ask for the file, then write it."""

        def named(name: str | None) -> None:
            if name:
                self._save(form, Path(name).expanduser())
                self.dismiss(None)

        question = f"File for: {_TOLD[form][0].lower()}, {_TOLD[form][1]}"
        self.app.push_screen(AskDialog(question, suggested(self.game.session, form)), named)

    def _save(self, form: Form, path: Path) -> None:
        try:
            self.game.note(save(self.game.session, form, path, self._picture))
        except Failure as failure:
            self.game.fault(failure)

    def action_copy(self) -> None:
        """Put the text on the clipboard of the terminal."""
        form = self._form
        text = self._picture if form == "svg" else text_as(self.game.session, form, "saved game")
        self.app.copy_to_clipboard(text)
        self.game.note(f"Copied: {_TOLD[form][0].lower()}, {len(text.splitlines())} lines.")
        self.dismiss(None)

    def action_leave(self) -> None:
        self.dismiss(None)
