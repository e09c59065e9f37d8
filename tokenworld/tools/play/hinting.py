"""Asking the planner beside the game: in a thread, on an engine of its own, cancellable."""

from __future__ import annotations

from collections.abc import Callable

from textual.message import Message

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.planning import Verdict
from tokenworld.planning.verdict import Answer
from tokenworld.session import Session
from tokenworld.session.hinting import LastChance, last_winnable
from tokenworld.tools.play.ahead import Ahead, Topic, look_ahead

__all__ = [
    "HINT_SECONDS",
    "AheadReady",
    "HintFailed",
    "HintProgress",
    "HintReady",
    "answer",
    "ask",
    "ask_ahead",
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
        return HintReady(request, verdict, _since(session, say, cancelled))

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
