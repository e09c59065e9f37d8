"""What an environment shows: text, one vector, or arrays by name, each with its space."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from gymnasium import spaces

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.gym.fields import fields_of
from tokenworld.session import OpenWorld, Session
from tokenworld.session.observation import observation

__all__ = ["Observe", "Observer", "Typed", "one_of"]

Observe = Literal["text", "symbolic", "dict"]
LONGEST = 20_000
"""So many characters of a text are shown; the rest is cut off."""
LONGEST_TYPED = 200
"""So many characters may be typed."""
_PROSE = "–—…‘’“”·×°"


def one_of(what: str, given: str, choices: tuple[str, ...]) -> None:
    """Raises `Failure` (TW0006) for a mode that there is not."""
    if given not in choices:
        listed = ", ".join(f"`{one}`" for one in choices)
        message = f"`{what}` cannot be `{given}`."
        raise Failure(Diagnostic("TW0006", message, hint=f"Give one of {listed}."))


def _letters(world: OpenWorld) -> str:
    """The characters that a world may say: those of its sources in either case, and plain ones."""
    found = {chr(code) for code in range(32, 127)} | set(_PROSE)
    for source in world.loaded.sources:
        found |= set(source.text + source.text.upper() + source.text.lower())
    return "".join(sorted(one for one in found if one.isprintable()))


class Typed(spaces.Text):
    """Commands as words: one line of the characters of a world."""

    def __init__(self, world: OpenWorld) -> None:
        super().__init__(LONGEST_TYPED, min_length=0, charset=_letters(world))


class Observer:
    """The observations of a world in one mode. ``space`` is where they all lie.

    ``text`` is what a player is told, one string. ``dict`` is one array for each field (see
    `fields`), ``symbolic`` the same in one vector of doubles, by the name of the field.
    """

    def __init__(self, world: OpenWorld, mode: Observe, spare: int) -> None:
        one_of("observe", mode, get_args(Observe))
        self._mode = mode
        self._letters = frozenset(_letters(world) + "\n")
        self._fields = () if mode == "text" else fields_of(world, spare)
        self._dict = spaces.Dict(
            {
                one.name: spaces.Box(one.low, one.high, one.shape, one.dtype)
                for one in sorted(self._fields, key=lambda one: one.name)
            }
        )
        self.space = self._space()

    def _space(self) -> spaces.Space[Any]:
        match self._mode:
            case "text":
                return spaces.Text(LONGEST, min_length=0, charset="".join(sorted(self._letters)))
            case "dict":
                return self._dict
            case "symbolic":
                low, high = self._bounds()
                return spaces.Box(low, high, dtype=np.float64)

    def _bounds(self) -> tuple[Any, Any]:
        fields = sorted(self._fields, key=lambda one: one.name)
        sizes = [int(np.prod(one.shape)) for one in fields]
        low = np.repeat(np.array([one.low for one in fields], np.float64), sizes)
        return low, np.repeat(np.array([one.high for one in fields], np.float64), sizes)

    def see(self, session: Session) -> Any:
        """The observation of the present state of a session, new on every call."""
        if self._mode == "text":
            return self.text(session)
        arrays = {one.name: one.array(session.state) for one in self._fields}
        if self._mode == "dict":
            return {name: arrays[name] for name in sorted(arrays)}
        flat = [arrays[name].ravel().astype(np.float64) for name in sorted(arrays)]
        return np.concatenate(flat)

    def text(self, session: Session) -> str:
        """What a player is told, in the letters of the space."""
        told = observation(session)[:LONGEST]
        return "".join(one if one in self._letters else "?" for one in told)
