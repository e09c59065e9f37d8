"""One state of a world seen through a changed program: to encode it without an interpreter."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Generic

from tokenworld.ground import (
    PASS,
    Command,
    Enough,
    Instance,
    LuckyDraw,
    Raw,
    Simulator,
    StateT,
    Successor,
    Way,
    moves_of,
)

__all__ = ["FrozenState"]


class FrozenState(Generic[StateT]):
    """The values of ``state`` under the rules of ``instance``, which has the same objects.

    ``other`` gives slots another value. It cannot be played on: the state is the only one, 0.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        instance: Instance,
        other: Mapping[tuple[str, tuple[Raw, ...]], Raw] | None = None,
    ) -> None:
        self._simulator, self._state, self._other = simulator, state, dict(other or {})
        self.instance = instance

    @property
    def short_of(self) -> Mapping[str, int]:
        return {}

    @property
    def unlisted(self) -> frozenset[str]:
        return frozenset()

    def instance_at(self, state: int) -> Instance:
        return self.instance

    def start(self) -> int:
        return 0

    def commands(self, state: int) -> Sequence[Command]:
        return (PASS,)

    def successors(self, state: int, command: Command) -> Sequence[Successor[int]]:
        return ()

    def leaning(
        self, state: int, command: Command, draws: Sequence[LuckyDraw]
    ) -> Successor[int] | None:
        return None

    def bound(self, enough: Enough | None) -> None:
        """There are no outcomes."""

    def key(self, state: int) -> Hashable:
        return state

    def moves(self, state: int) -> Iterable[tuple[Command, Sequence[Way[int]]]]:
        return moves_of(self, state)

    def mark(self, state: int) -> Hashable:
        return state

    def exact_key(self) -> bool:
        return True

    def won(self, state: int, goal: str | None) -> bool:
        return False

    def lost(self, state: int) -> bool:
        return False

    def read(self, state: int, fluent: str, args: Sequence[Raw]) -> Raw:
        slot = (fluent, tuple(args))
        if slot in self._other:
            return self._other[slot]
        return self._simulator.read(self._state, fluent, args)

    def stored(self, state: int, fluent: str) -> Iterable[tuple[tuple[Raw, ...], Raw]]:
        found = dict(self._simulator.stored(self._state, fluent))
        found |= {args: value for (name, args), value in self._other.items() if name == fluent}
        return list(found.items())

    def tick(self, state: int) -> int:
        return self._simulator.tick(self._state)

    def running(self, state: int) -> tuple[Command, int, int] | None:
        return self._simulator.running(self._state)

    def cost(self, state: int, command: Command) -> int:
        return 0

    def mover(self, state: int) -> str | None:
        return None

    def show(self, state: int, command: Command) -> str:
        return command.action or "pass"
