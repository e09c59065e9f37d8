"""A player outside of this program, such as a language model: text out, text in.

Each turn it is sent an `observation` and answers with one line: words, a call, `pass`, or a
``tw-intent`` object. How the text travels is the business of a `Channel`: the standard streams of a
child process, or HTTP. A player that dies, hangs or floods is a `PlayerFailure`: one diagnostic,
and the run is halted where it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.prose import TypedIntent, parse_intent_json
from tokenworld.session.intents import AnyIntent
from tokenworld.session.observation import observation
from tokenworld.session.players import Player
from tokenworld.session.session import Session

__all__ = ["LONGEST_REPLY", "Channel", "PlayerFailure", "remote_player"]

LONGEST_REPLY: Final = 64 * 1024
"""Bytes of one answer; whoever sends more is flooding."""


class PlayerFailure(Failure):
    """A player that can play no longer; ``cause`` is what the record of the halt says."""

    def __init__(self, cause: str, hint: str) -> None:
        super().__init__(Diagnostic("TW1009", f"The player {cause}.", hint=hint))
        self.cause = f"the player {cause}"


class Channel(Protocol):
    """One way to a player."""

    def ask(self, text: str) -> str | None:
        """The answer to an observation, ``None`` if the player left of its own accord.

        Raises `PlayerFailure` where none comes, or too much.
        """

    def close(self) -> None:
        """Leave nothing behind."""


def remote_player(channel: Channel) -> Player:
    """Asks the other side for each intent, until it leaves or the world is over."""

    def play(session: Session) -> Iterator[AnyIntent]:
        while not session.ended():
            answer = channel.ask(observation(session))
            if answer is None:
                return
            yield _intent(answer)

    return play


def _intent(answer: str) -> AnyIntent:
    """The intent of an answer; an object that is none is typed words, and no match."""
    text = answer.strip()
    if text.startswith("{"):
        try:
            return parse_intent_json(text, "the player's answer")
        except Failure:
            return TypedIntent(text)
    return TypedIntent(text)
