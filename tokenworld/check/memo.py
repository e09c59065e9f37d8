"""What an analysis has found out of parts of a program, kept for the next one who asks.

Parts are told apart by identity: a checked declaration is one object as long as it is not checked
again. A `Workspace` hands what it kept from one check to the next one, so a result may depend on
nothing but its parts and on declarations whose change makes the workspace forget everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any, Final, TypeVar, cast

__all__ = ["Memo"]

PartT = TypeVar("PartT")
ValueT = TypeVar("ValueT")
_ROOM: Final = 50_000
"""More results than this are forgotten: a long session of edits stays small."""


class Memo:
    """Results by the name of a question and the identity of the parts it was asked of."""

    __slots__ = ("_kept", "_rows")

    def __init__(self) -> None:
        self._kept: dict[tuple[object, ...], tuple[tuple[object, ...], object]] = {}
        self._rows: dict[str, tuple[list[Any], list[Any], object]] = {}

    def of(self, what: str, parts: tuple[object, ...], make: Callable[[], ValueT]) -> ValueT:
        """The kept answer, or what ``make`` finds now. The parts stay alive with their answer."""
        key = (what, *map(id, parts))
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = (parts, make())
        return cast(ValueT, found[1])

    def each(
        self,
        what: str,
        parts: Sequence[PartT],
        make: Callable[[PartT], ValueT],
        given: object = None,
    ) -> list[ValueT]:
        """One answer for every part, in order; only parts that were not in their place are asked.

        An answer that is equal to the one before is the one before, so that what is made of all
        answers (`whole`) need not be made again. With another ``given`` everything is asked.
        """
        before = self._rows.get(what)
        if before is None or len(before[0]) != len(parts) or before[2] != given:
            found = [make(part) for part in parts]
        else:
            found = before[1]
            same = list(map(is_, before[0], parts))
            if not all(same):
                found = found.copy()
                for place, alike in enumerate(same):
                    if not alike:
                        made = make(parts[place])
                        found[place] = found[place] if made == found[place] else made
        self._rows[what] = (list(parts), found, given)
        return found

    def whole(self, what: str, parts: Sequence[object], make: Callable[[], ValueT]) -> ValueT:
        """What is made of all parts together; made anew if any of them is another one."""
        before = self._rows.get(what)
        alike = before is not None and len(before[0]) == len(parts)
        if before is not None and alike and all(map(is_, before[0], parts)):
            return cast(ValueT, before[2])
        made = make()
        self._rows[what] = (list(parts), [], made)
        return made

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self._rows.clear()

    def trim(self) -> None:
        """Forget single answers if there are too many of them."""
        if len(self._kept) > _ROOM:
            self._kept.clear()
