"""The commands of joined actions by the numbers of their arguments, each made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from tokenworld.engine.legal.hoists import JoinText
from tokenworld.ground import Command, Raw

__all__ = ["MOST_MADE", "Made", "NumberedCommands", "NumberedRows"]

MOST_MADE = 1 << 16
"""Commands of one action that are kept: objects that come and go would add to them for ever."""


class Made(dict[tuple[Raw, ...], Command]):
    """The commands of an action by their arguments, each made once."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def __missing__(self, args: tuple[Raw, ...]) -> Command:
        if len(self) >= MOST_MADE:
            self.clear()
        made = self[args] = Command(self._name, args)
        return made


class NumberedCommands:
    """The commands of an action by the number of their arguments. Generated code looks into
    ``known``, which is a plain dict for that reason, and calls `make` for what is not there."""

    __slots__ = ("_text", "known")

    def __init__(self, text: JoinText) -> None:
        self._text = text
        self.known: dict[int, Command] = {}

    def make(self, number: int) -> Command:
        """The command of a number, kept from now on."""
        if len(self.known) >= MOST_MADE:
            self.known.clear()
        made = self.known[number] = Command(self._text.action, self._text.first.args(number))
        return made

    def names(self, table: str) -> Mapping[str, Any]:
        """What the generated code calls these."""
        return {table: self.known, f"{table}_make": self.make}

    def clear(self) -> None:
        """Forget the commands."""
        self.known.clear()


class NumberedRows:
    """The commands of an action by the number of their first arguments, and then of the last ones.

    ``picked`` has those of some of the last arguments alone, by these and by the first ones; it is
    used where the last ones can take a few values at most. ``whole`` has them all, by the first
    ones, for actions that ask nothing more of the last ones.
    """

    __slots__ = ("_count", "_space", "_text", "known", "picked", "whole")

    def __init__(self, text: JoinText, space: Mapping[str, Any]) -> None:
        self._text, self._space, self._count = text, space, 0
        self.known: dict[int, dict[int, Command]] = {}
        self.picked: dict[tuple[int, ...], dict[int, list[Command]]] = {}
        self.whole: dict[int, list[Command]] = {}

    def make(self, number: int) -> dict[int, Command]:
        """The commands of a number, of all candidates of the last parameters."""
        text, args = self._text, self._text.first.args(number)
        every = product(*(self._space[name] for name in text.candidates))
        row = {text.last.number(rest): Command(text.action, (*args, *rest)) for rest in every}
        self._room(len(row))
        self.known[number] = row
        return row

    def all(self, number: int) -> list[Command]:
        """The same as a list."""
        made = [*self.make(number).values()]
        self.known.clear()  # they are looked for in ``whole`` alone
        self.whole[number] = made
        return made

    def pick(self, wanted: Sequence[int]) -> dict[int, list[Command]]:
        """The commands of these last numbers, by the first number, as far as they are known."""
        key = tuple(wanted)
        known = self.picked.get(key)
        return known if known is not None else self.picked.setdefault(key, {})

    def fill(
        self, picked: dict[int, list[Command]], wanted: Sequence[int], number: int
    ) -> list[Command]:
        """The commands of a first and of these last numbers, kept from now on."""
        row = self.known.get(number) or self.make(number)
        made = [row[one] for one in wanted]
        self._room(len(made))
        picked[number] = made
        return made

    def names(self, table: str) -> Mapping[str, Any]:
        """What the generated code calls these."""
        return {
            table: self.known,
            f"{table}_make": self.make,
            f"{table}_whole": self.whole,
            f"{table}_all": self.all,
            f"{table}_pick": self.pick,
            f"{table}_fill": self.fill,
        }

    def clear(self) -> None:
        """Forget the commands."""
        self._count = 0
        self.known.clear()
        self.picked.clear()
        self.whole.clear()

    def _room(self, more: int) -> None:
        if self._count >= MOST_MADE:
            self.clear()
        self._count += more + 1
