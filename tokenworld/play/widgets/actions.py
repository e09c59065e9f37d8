"""The lists beside the command line: actions filtered by the typed text, the story, the ticks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, OptionList

from tokenworld.diagnostics import without_invisible
from tokenworld.ground import Outcome
from tokenworld.play.model.game import Entry, EntryKind, Game
from tokenworld.play.widgets.shown import ENTRY_STYLES, Content, Option, content, entitle, option
from tokenworld.play.widgets.texts import KeyedList, ScrolledSheet
from tokenworld.prose.lexicon import LONGEST
from tokenworld.session import Moment, WhyNot
from tokenworld.verbs.output import Glyphs

_COMPLETIONS = 12
"""The number of commands that cannot be done now are offered for a why-not."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the list: a command in words, a remark, and whether it can be done now."""

    text: str
    remark: str = ""
    legal: bool = True


@dataclass(frozen=True, slots=True)
class Offer:
    """The lines of the list, its title, and the text of an empty list."""

    choices: tuple[Choice, ...]
    title: str
    otherwise: str


def offer(game: Game, typed: str, *, everything: bool = False) -> Offer:
    """List the commands that fit the typed words: legal commands, then other completions.

    With ``everything`` and no typed words also illegal commands, with the reason.
    """
    every = _legal(game)
    words = typed.casefold().split()
    fitting = [one for one in every if all(word in one.text.casefold() for word in words)]
    count = f"{len(fitting)} of {len(every)}" if words else f"{len(every)}"
    refusable = _forbidden(game, words) if everything else _refusable(game, typed)
    title = f"You can ({count})"
    if everything:
        title += f", cannot ({len(refusable)})"
    return Offer((*fitting, *refusable), title, _otherwise(game, every))


def _legal(game: Game) -> list[Choice]:
    session = game.session
    listed = [Choice(one.text) for one in game.legal()]
    if not session.can_pass():
        return listed
    if session.engine.running(session.state) is not None:
        return [Choice("pass", "go on with it"), *listed]
    return [*listed, Choice("pass", "let time go by")]


def _refusable(game: Game, typed: str) -> list[Choice]:
    """Return completions of the typed text that are not legal now."""
    if not typed.strip():
        return []
    legal = {one.text for one in game.legal()} | {"pass"}
    found = game.session.complete(typed, _COMPLETIONS)
    session = game.session
    return [
        Choice(one, _reason(session.why_not(one)), legal=False) for one in found if one not in legal
    ]


def _reason(found: WhyNot) -> str:
    if found.no_match is not None:
        return found.no_match.message
    return next((one.text for one in found.requires if one.holds is not True), "")


def _forbidden(game: Game, words: list[str]) -> list[Choice]:
    """List illegal commands, each with its first reason."""
    return [
        Choice(one.text, one.reason, legal=False)
        for one in game.forbidden()
        if all(word in one.text.casefold() for word in words)
    ]


def _otherwise(game: Game, every: list[Choice]) -> str:
    if game.session.ended():
        return "The world is over. Ctrl+Z undoes."
    return "No command fits these words." if every else "Nothing can be done now."


_MUTED = "$foreground-muted"


class ActionList(KeyedList):
    """The list of legal commands; while text is typed also its other completions."""

    class Chosen(Message):
        """A line was clicked or entered."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, refused: str) -> None:
        super().__init__(id="actions", classes="pane")
        entitle(self, "You can")
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
        entitle(self, offered.title)
        if self._choices:
            self.highlighted = min(at or 0, len(self._choices) - 1)
        else:
            self.add_option(option((offered.otherwise, _MUTED), disabled=True))

    def _prompts(self) -> Iterator[Option]:
        for one in self._choices:
            if one.legal:
                yield option(one.text, (f"  {one.remark}" if one.remark else "", _MUTED))
            else:
                reason = f"  {one.remark}" if one.remark else ""
                yield option((f"{self._refused} {one.text}{reason}", _MUTED))

    @property
    def chosen(self) -> Choice | None:
        """The highlighted line."""
        at = self.highlighted
        return self._choices[at] if at is not None and at < len(self._choices) else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_index < len(self._choices):
            self.post_message(self.Chosen(self._choices[event.option_index]))


_SEEN = 20_000
"""Characters of a pasted text that are looked at."""


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
        """Several lines were pasted: the first is in the line, Enter brings the next."""

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
        self.waiting: list[str] = []
        self._given: list[str] = []
        self._at = 0

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        self.value = self.waiting.pop(0) if self.waiting else ""
        if text:
            self._given = [one for one in self._given if one != text] + [text]
            self._at = len(self._given)
            self.post_message(self.Given(text))
        else:
            self.post_message(self.Confirmed())

    def _on_paste(self, event: events.Paste) -> None:
        """Insert the first line with visible text, cut to the length of a command; the lines after
        it wait, up to a limit."""
        event.stop()
        event.prevent_default()
        found = (without_invisible(one).strip() for one in event.text[:_SEEN].splitlines())
        first, *self.waiting = [one[:LONGEST] for one in found if one] or [""]
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


# ---- the story and the ticks ---------------------------------------------------------------------


SHOWN = 250
"""Of a long session so many of the last steps are listed at least, and less than twice as many."""
_WELL = ("executed", "waiting")


class TickList(KeyedList):
    """One line per record: sign, tick, status, intent."""

    class Picked(Message):
        """A record was highlighted, or (``opened``) clicked or entered."""

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
