"""The endings that rows have reached, and whether these win or lose (language.md §8, step 11)."""

from __future__ import annotations

from typing import Any

from tokenworld.engine.rows.code.program import Program
from tokenworld.engine.rows.layout import LATCHED

__all__ = ["Goals"]


class Goals:
    """The endings of one world; ``me`` is their actor."""

    def __init__(self, code: Program, me: int | None) -> None:
        self._code, self._me = code, me
        self._world = code.slots.instance.world
        self._live = self._world.outcomes == "live"
        lines = code.world.endings
        self._names = tuple(one.name for one in lines)
        self._goals = tuple(one.name for one in lines if one.ending == "goal")
        self._losses = tuple(one.name for one in lines if one.ending == "lose")

    def over(self, S: list[Any]) -> bool:
        """Whether later intents are halted."""
        return bool(S[LATCHED]) and not self._world.endless

    def reached(self, S: list[Any]) -> tuple[str, ...]:
        """The latched endings; with ``outcomes live`` the one that is true now."""
        if not self._live:
            found: tuple[str, ...] = S[LATCHED]
            return found
        self._code.slots.epoch += 1
        for at, name in enumerate(self._names):
            if self._code["ending", str(at)](S, S, self._me):
                return (name,)
        return ()

    def won(self, S: list[Any], goal: str | None) -> bool:
        """Whether a goal line (this one) is the ending of a row.

        The first ending counts; in an endless world every line latches on its own, and a goal
        counts if no loss came before it.
        """
        goals, reached = self._goals if goal is None else (goal,), self.reached(S)
        if self._world.endless and not self._live:
            return any(name in reached for name in goals) and not self.lost(S)
        return reached[:1] != () and reached[0] in goals

    def lost(self, S: list[Any]) -> bool:
        """Whether no plan goes on from here: a loss, or an end that is no goal."""
        reached = self.reached(S)
        if self._world.endless or self._live:
            return any(name in reached for name in self._losses)
        return reached != () and reached[0] not in self._goals
