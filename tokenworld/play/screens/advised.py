"""The part of the play screen that asks planners in threads and follows plans, beside the game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from textual import work
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker, get_current_worker

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import State
from tokenworld.ground import Command
from tokenworld.planning.explaining import Explaining
from tokenworld.planning.verdict import Answer, Verdict
from tokenworld.play.model.game import Game
from tokenworld.play.model.hints import (
    LEVELS,
    TITLES,
    Ahead,
    Satisfaction,
    Topic,
    ahead_lines,
    hint_lines,
    look_ahead,
    satisfy,
)
from tokenworld.play.widgets.shown import Content, content, link
from tokenworld.play.widgets.texts import Details
from tokenworld.session import Session
from tokenworld.session.session import LastChance, last_winnable
from tokenworld.verbs.output import Glyphs, Line, line

__all__ = [
    "AdvisedScreen",
    "AheadReady",
    "HINT_SECONDS",
    "HintFailed",
    "HintProgress",
    "HintReady",
    "OFFER",
    "STEP_SECONDS",
    "SatisfyReady",
    "SatisfyingScreen",
    "answer",
    "ask",
    "ask_ahead",
    "satisfaction_lines",
]


HINT_SECONDS = 20.0


class HintProgress(Message):
    """The planner is alive: what it says about its search for a request."""

    def __init__(self, request: int, text: str) -> None:
        super().__init__()
        self.request, self.text = request, text


class HintReady(Message):
    """The planner's verdict on the state that a request was made in.

    ``chance`` says since when there is no way, where there is none.
    """

    def __init__(self, request: int, verdict: Verdict, chance: LastChance | None = None) -> None:
        super().__init__()
        self.request, self.verdict, self.chance = request, verdict, chance


class AheadReady(Message):
    """What lies ahead of the state that a request was made in."""

    def __init__(self, request: int, ahead: Ahead) -> None:
        super().__init__()
        self.request, self.ahead = request, ahead


class HintFailed(Message):
    """The planner could not work at all."""

    def __init__(self, request: int, failure: Failure) -> None:
        super().__init__()
        self.request, self.failure = request, failure


def ask(
    session: Session,
    request: int,
    cancelled: Callable[[], bool],
    post: Callable[[Message], object],
) -> None:
    """Plan from the session's present state and post what comes of it. Runs in a thread."""

    def work(say: Callable[[str], None]) -> Message:
        verdict = session.apart().plan(time_limit=HINT_SECONDS, say=say, cancel=cancelled)
        if verdict.answer != "unwinnable" or cancelled():
            return HintReady(request, verdict)
        explaining = Explaining()
        chance = explaining("the last chance", lambda: _since(session, say, cancelled), None)
        notes = (*verdict.notes, *explaining.notes)
        return HintReady(request, replace(verdict, notes=notes), chance)

    answer(request, work, post)


def _since(
    session: Session, say: Callable[[str], None], cancelled: Callable[[], bool]
) -> LastChance:
    """When the goal was lost that is out of reach now."""
    twin = session.apart(past=True)
    known: dict[str, Answer] = {f"{twin.engine.hash(twin.state)} ": "unwinnable"}
    return last_winnable(twin, None, seconds=HINT_SECONDS, known=known, say=say, cancel=cancelled)


def ask_ahead(
    session: Session,
    request: int,
    topic: Topic,
    cancelled: Callable[[], bool],
    post: Callable[[Message], object],
) -> None:
    """Look ahead from the session's present state, and back. Runs in a thread."""

    def work(say: Callable[[str], None]) -> Message:
        twin = session.apart(past=True)
        return AheadReady(request, look_ahead(twin, topic, HINT_SECONDS, say, cancelled))

    answer(request, work, post)


def answer(
    request: int,
    work: Callable[[Callable[[str], None]], Message],
    post: Callable[[Message], object],
) -> None:
    """Post what comes of some work.

    Whatever goes wrong in the planner must not take the game down with it, so every exception
    becomes a message.
    """

    def say(text: str) -> None:
        post(HintProgress(request, text))

    try:
        post(work(say))
    except Failure as failure:
        post(HintFailed(request, failure))
    except Exception as error:
        reason = str(error) or type(error).__name__
        message = f"The planner stopped unexpectedly: {reason}."
        hint = "Run `tw doctor` to see what is installed; you can play on without hints."
        post(HintFailed(request, Failure(Diagnostic("TW0812", message, hint=hint))))


_SOMETIMES = ("play_step", "play_plan", "accept")
"""What can be done in some states only; see ``check_action``."""

STEP_SECONDS = 0.12
"""Between two steps of a plan that runs by itself, so that one can follow it."""

_OFFER = content(
    link("screen.play_step", "Play this step F6"), "  ", link("screen.play_plan", "Play all F7")
)


class AdvisedScreen(Screen[None]):
    """A game with somebody to ask. Whoever builds on it shows the answers."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.game = game
        self._hint: Worker[None] | None = None
        self._asked = "Hint"
        self._request = 0
        self._level = 0
        self._enabled: tuple[bool | None, ...] = ()
        self._told: tuple[State, Verdict, LastChance | None, str | None] | None = None
        self._stepping: Timer | None = None

    def refresh_all(self) -> None:
        raise NotImplementedError

    def show_keys(self) -> None:
        """Make the row of keys anew, if other keys do something now: it is dear to make."""
        enabled = tuple(self.check_action(one, ()) for one in _SOMETIMES)
        if enabled != self._enabled:
            self._enabled = enabled
            self.refresh_bindings()

    def _explain(self, lines: Iterable[Line], title: str, offer: Content | None = None) -> None:
        raise NotImplementedError

    def _draw_details(self) -> None:
        raise NotImplementedError

    def _after_tick(self) -> None:
        raise NotImplementedError

    # ---- hints and plans ------------------------------------------------------------------------

    def action_hint(self) -> None:
        """Ask the planner, beside the game; asked again, tell more of the answer."""
        if self._tell_more():
            return
        self._stop_waiting()
        if self.game.session.ended():
            self.game.note("The world is over, so there is nothing to hint at: undo with Ctrl+Z.")
            self.refresh_all()
            return
        self._level, self._told = 0, None
        self._begin("Hint")
        self._hint = self._ask(self._request)

    def tell_steps(self, level: int) -> None:
        """The hint at a level (see `hints.LEVELS`), once there is one."""
        self._level = level
        if not self._retell():
            self.action_hint()
            self._level = level

    def _tell_more(self) -> bool:
        """One level more of the hint that is shown; false where none is shown, or all of it."""
        shown = self.query_one(Details).border_title == "Hint"
        if not shown or self._level + 1 >= len(LEVELS) or self._hint is not None:
            return False
        if self._told is None or LEVELS[self._level] >= len(self._told[1].steps):
            return False
        self._level += 1
        return self._retell()

    def _retell(self) -> bool:
        """Show the hint on the present state at the present level; false if there is none."""
        if self._told is None or self._told[0] is not self.game.session.state:
            return False
        _, verdict, chance, words = self._told
        later = self.game.step_texts(verdict, LEVELS[self._level]) if words else ()
        told = hint_lines(verdict, words, self.game.glyphs, chance=chance, later=later)
        self._explain(told, "Hint", None if words is None else _OFFER)
        self._draw_details()
        return True

    def action_ahead(self, topic: Topic) -> None:
        """Ask how far the goal is, what cannot be missed, or where it was lost."""
        self._stop_waiting()
        self._begin(TITLES[topic])
        self._hint = self._ask_ahead(self._request, topic)

    def _begin(self, title: str) -> None:
        self._asked = title
        self._explain([line("Thinking. Esc stops it.", "head")], title)
        self._draw_details()
        self._request += 1

    @work(thread=True, exclusive=True, group="hint")
    def _ask(self, request: int) -> None:
        worker = get_current_worker()
        ask(self.game.session, request, lambda: worker.is_cancelled, self.post_message)

    @work(thread=True, exclusive=True, group="hint")
    def _ask_ahead(self, request: int, topic: Topic) -> None:
        worker = get_current_worker()
        session, stopped = self.game.session, lambda: worker.is_cancelled
        ask_ahead(session, request, topic, stopped, self.post_message)

    def _stop_waiting(self) -> bool:
        """Stop a hint that is being made and a plan that runs by itself."""
        stopped = self._hint is not None or self._stepping is not None
        if self._hint is not None:
            self._hint.cancel()
            self._hint = None
            self._explain([line("The hint was stopped.", "dim")], self._asked)
        if self._stepping is not None:
            self._stepping.stop()
            self._stepping = None
        return stopped

    def _awaits(self, request: int) -> bool:
        """Whether this is the hint that is waited for: not one that was stopped."""
        return self._hint is not None and request == self._request

    def on_hint_progress(self, event: HintProgress) -> None:
        if self._awaits(event.request):
            self._explain([line("Thinking. Esc stops it.", "head"), line(event.text)], self._asked)

    def on_hint_ready(self, event: HintReady) -> None:
        if not self._awaits(event.request):
            return
        self._hint = None
        words = self.game.advise(event.verdict, event.chance)
        self._told = (self.game.session.state, event.verdict, event.chance, words)
        self._retell()
        self.refresh_all()

    def on_ahead_ready(self, event: AheadReady) -> None:
        if not self._awaits(event.request):
            return
        self._hint = None
        self._explain(ahead_lines(event.ahead, self.game.glyphs), self._asked)
        self.refresh_all()

    def on_hint_failed(self, event: HintFailed) -> None:
        if not self._awaits(event.request):
            return
        self._hint = None
        self.game.fault(event.failure)
        self._explain([line("No hint could be made; the story says why.", "warn")], self._asked)
        self.refresh_all()

    def action_play_step(self) -> None:
        """Play the next step of the plan."""
        self._stop_waiting()
        self._play_step()

    def _play_step(self) -> bool:
        before = self.game.session.moments[-1]
        played = self.game.play_step()
        if played:
            self._explain(*self._plan_told())
        elif self.game.session.moments[-1] is not before:
            self._after_tick()
        self.refresh_all()
        return played

    def _plan_told(self) -> tuple[list[Line], str, Content | None]:
        """Where the plan stands, and what it does next."""
        done, total = self.game.progress()
        lines = [line(f"{done} of {total} steps are played.")]
        step = self.game.next_step()
        if step is None:
            return lines, "Plan", None
        words = self.game.session.text_of(step.command)
        return [*lines, line(""), (("Next: ", "dim"), (words, "head"))], "Plan", _OFFER

    def action_play_plan(self) -> None:
        """Play the rest of the plan, a step at a time."""
        self._stop_waiting()
        self._stepping = self.set_interval(STEP_SECONDS, self._play_on)

    def _play_on(self) -> None:
        if not self._play_step() or self.game.next_step() is None:
            self._stop_waiting()


OFFER = link("screen.satisfy", "Make it possible F10")
_ACCEPT = link("screen.accept", "Play these steps Enter")
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
        case "unknown" if found.hidden:
            listed = ", ".join(f"`{one}`" for one in found.hidden)
            yield line(
                f"{glyphs.no_match} The way to `{found.text}` rests on what is hidden.", "warn"
            )
            yield line(f"Find it out in play: {listed}.", "dim")
        case "unknown":
            yield line(f"{glyphs.no_match} No way to `{found.text}` was found.", "warn")
            yield line(f"{found.states:,} states were looked at; more may follow.", "dim")
        case _:
            assert_never(found.answer)


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
