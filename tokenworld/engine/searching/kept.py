"""The states of a search: rows, and columns only where somebody asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenworld.engine.rows.layout import ROUND, TOLD, Slots
from tokenworld.engine.state import State


class Kept(State):
    """A state as a row ``S`` of ``of``; the attributes of `State` are worked out when first read.

    ``parts`` and ``roll`` are what the search ``by`` has numbered of it (see `numbering`);
    ``mark`` is made of them.
    """

    __slots__ = ("S", "by", "mark", "of", "parts", "roll")

    def __init__(self, of: Slots, S: list[Any]) -> None:
        self.of, self.S = of, S
        self.by: object = None
        self.parts: Sequence[int] = ()
        self.roll: Any = None
        self.mark: Any = None

    def __getattr__(self, name: str) -> Any:
        if name not in State.__slots__:
            raise AttributeError(name)
        slots, S = self.of, self.S
        slots.read_back(S, self)
        self.round = None if S[ROUND] is None else Kept(slots, S[ROUND])
        self.told = None if S[TOLD] is None else Kept(slots, S[TOLD])
        return getattr(self, name)
