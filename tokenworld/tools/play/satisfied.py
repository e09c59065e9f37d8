"""The part of the play screen that finds a way to what was refused, and plays it on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from textual import work
from textual.content import Content
from textual.message import Message
from textual.worker import get_current_worker

from tokenworld.engine import State
from tokenworld.ground import Command
from tokenworld.session import Session
from tokenworld.session.satisfying import Satisfaction, satisfy
from tokenworld.tools.play.advised import AdvisedScreen
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.hinting import HINT_SECONDS, answer
from tokenworld.tools.play.lines import Line, line

__all__ = ["OFFER", "SatisfyReady", "SatisfyingScreen", "satisfaction_lines"]

OFFER = Content.from_markup("[@click=screen.satisfy] Make it possible F10 [/]")
_ACCEPT = Content.from_markup("[@click=screen.accept] Play these steps Enter [/]")
_TITLE = "A way there"


class SatisfyReady(Message):
    """What was found for a command that was refused."""

    def __init__(self, request: int, found: Satisfaction) -> None:
        super().__init__()
        self.request, self.found = request, found


def _ask(
    session: Session,
    request: int,
    command: Command,
    cancelled: Callable[[], bool],
    post: Callable[[Message], object],
) -> None:
    """Search from the present state and post what comes of it. Runs in a thread."""

    def seek(say: Callable[[str], None]) -> Message:
        twin = session.apart()
        found = satisfy(twin, command, seconds=HINT_SECONDS, say=say, cancel=cancelled)
        return SatisfyReady(request, found)

    answer(request, seek, post)


def satisfaction_lines(found: Satisfaction, glyphs: Glyphs) -> Iterator[Line]:
    """The way, step by step, or that there is none."""
    match found.answer:
        case "found" if not found.steps:
            yield line(f"{glyphs.executed} `{found.text}` can be done now.", "good")
        case "found":
            yield from _way(found, glyphs)
        case "impossible":
            yield line(f"{glyphs.refused} Nothing makes `{found.text}` possible.", "bad")
            yield line(f"All {found.states:,} states that can follow were looked at.", "dim")
        case "unknown":
            yield line(f"{glyphs.no_match} No way to `{found.text}` was found.", "warn")
            yield line(f"{found.states:,} states were looked at; more may follow.", "dim")


def _way(found: Satisfaction, glyphs: Glyphs) -> Iterator[Line]:
    number = len(found.steps)
    if found.aim == "command":
        yield line(f"{glyphs.executed} `{found.text}` becomes possible by:", "good")
    else:
        yield line(f"{glyphs.no_match} `{found.text}` stays out of reach.", "warn")
        yield ((f"{glyphs.executed} ", "good"), (found.condition, "head"), (" holds by:", "good"))
    yield from (line(f"{at:>3}. {text}") for at, text in enumerate(found.words, 1))
    yield line("")
    if not found.certain:
        yield line("It counts on luck that this run does not have.", "warn")
    yield line(f"{number} step{'' if number == 1 else 's'}; Enter plays them.", "dim")


class SatisfyingScreen(AdvisedScreen):
    """Whoever builds on it says which command is meant and where a command can be prepared.

    ``subject`` is the refused command that the details show, if they show one.
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.subject = ""
        self._proposal: tuple[State, Satisfaction] | None = None

    def examine(self, asked: str) -> None:
        raise NotImplementedError

    def meant(self) -> str:
        """The typed or highlighted command; empty for none."""
        raise NotImplementedError

    def prepare(self, text: str) -> None:
        """Write a command where it can be given with Enter."""
        raise NotImplementedError

    def proposed(self) -> Satisfaction | None:
        """The way that waits for a yes, if it starts in the present state."""
        if self._proposal is None or self._proposal[0] is not self.game.session.state:
            return None
        return self._proposal[1]

    def action_satisfy(self) -> None:
        """Look for a way to the typed or highlighted command, else to the one just refused."""
        asked = self.meant() or self.subject
        if asked:
            self.satisfy(asked)
        else:
            self.game.note("Type a command that is refused, or pick one, and press F10.")
            self.refresh_all()

    def satisfy(self, asked: str) -> None:
        """Look for a way to a command, beside the game."""
        self._stop_waiting()
        found = self.game.session.why_not(asked)
        if found.command is None or found.allowed or self.game.session.ended():
            self.examine(asked)
            return
        self._proposal, self.subject = None, asked
        self._begin(_TITLE)
        self._hint = self._seek(self._request, found.command)

    @work(thread=True, exclusive=True, group="hint")
    def _seek(self, request: int, command: Command) -> None:
        worker = get_current_worker()
        session = self.game.session
        _ask(session, request, command, lambda: worker.is_cancelled, self.post_message)

    def on_satisfy_ready(self, event: SatisfyReady) -> None:
        if not self._awaits(event.request):
            return
        self._hint = None
        found = event.found
        if found.steps:
            self._proposal = (self.game.session.state, found)
        told = satisfaction_lines(found, self.game.glyphs)
        self._explain(told, _TITLE, _ACCEPT if found.steps else None)
        self.show_keys()

    def action_accept(self) -> None:
        """Play the proposed steps; the command that they lead to is ready to be given."""
        found = self.proposed()
        if found is None:
            return
        self._proposal = None
        self.game.follow(found.steps, certain=found.certain)
        self.game.note(f"{self.game.glyphs.hint} On the way to `{found.text}`.")
        self.prepare(found.text if found.aim == "command" else "")
        self.action_play_plan()
