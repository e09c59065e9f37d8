"""The lines of the action list: what can be done now, narrowed by what is typed."""

from __future__ import annotations

from dataclasses import dataclass

from tokenworld.session import WhyNot
from tokenworld.tools.play.game import Game

__all__ = ["Choice", "Offer", "offer"]

_COMPLETIONS = 12
"""How many commands that cannot be done now are offered for a why-not."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the list: a command in words, a remark, and whether it can be done now."""

    text: str
    remark: str = ""
    legal: bool = True


@dataclass(frozen=True, slots=True)
class Offer:
    """The lines of the list, its title, and what is told where it is empty."""

    choices: tuple[Choice, ...]
    title: str
    otherwise: str


def offer(game: Game, typed: str, *, everything: bool = False) -> Offer:
    """What fits the typed words: legal commands, then what the words could become besides.

    With ``everything`` also what cannot be done, with the reason, where nothing is typed.
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
    if session.simulator().running(session.state) is not None:
        return [Choice("pass", "go on with it"), *listed]
    return [*listed, Choice("pass", "let time go by")]


def _refusable(game: Game, typed: str) -> list[Choice]:
    """Completions of what is typed that cannot be done now."""
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
    """What the rules forbid now, each with its first reason."""
    return [
        Choice(one.text, one.reason, legal=False)
        for one in game.forbidden()
        if all(word in one.text.casefold() for word in words)
    ]


def _otherwise(game: Game, every: list[Choice]) -> str:
    if game.session.ended():
        return "The world is over. Ctrl+Z undoes."
    return "No command fits these words." if every else "Nothing can be done now."
