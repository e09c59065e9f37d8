"""What an analysis has found out of parts of a program, kept for the next one who asks.

Parts are told apart by identity: a checked declaration is one object as long as it is not checked
again. A `Workspace` hands what it kept from one check to the next one, so a result may depend on
nothing but its parts and on declarations whose change makes the workspace forget everything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, cast

__all__ = ["Memo"]

ValueT = TypeVar("ValueT")
_ROOM: Final = 50_000
"""More results than this are forgotten: a long session of edits stays small."""


class Memo:
    """Results by the name of a question and the identity of the parts it was asked of."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], tuple[tuple[object, ...], object]] = {}

    def of(self, what: str, parts: tuple[object, ...], make: Callable[[], ValueT]) -> ValueT:
        """The kept answer, or what ``make`` finds now. The parts stay alive with their answer."""
        key = (what, *map(id, parts))
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = (parts, make())
        return cast(ValueT, found[1])

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()

    def trim(self) -> None:
        """Forget everything if there is too much of it."""
        if len(self._kept) > _ROOM:
            self._kept.clear()
