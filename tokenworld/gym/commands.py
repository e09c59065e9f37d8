"""The commands of a world as numbers: a fixed list, so that a number keeps its meaning."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tokenworld.engine import Engine
from tokenworld.ground import PASS, Command

__all__ = ["CommandList"]


class CommandList:
    """Every command that the start of seed 0 has objects for, with `pass` as number 0.

    Actions come in written order, then their arguments in order: the list is the same in every
    process. Behind it lie ``spare`` places for commands about objects that come later. They are
    given out in the order in which such commands become possible, and taken back by `begin`.
    ``left_out`` counts the commands that were possible and found no place.
    """

    def __init__(self, engine: Engine, spare: int) -> None:
        self.start = start = engine.start(0)
        commands = [PASS]
        for name in engine.instance.program.actions:
            commands += [Command(name, args) for args in engine.bindings(start, name) or ()]
        self.fixed = tuple(commands)
        self.size = len(self.fixed) + spare
        self.unlisted = tuple(sorted(engine.unlisted(start)))
        self.left_out = 0
        self._commands = commands
        self._numbers = {command: number for number, command in enumerate(self.fixed)}

    def begin(self) -> None:
        """Free the spare places: an episode begins."""
        for command in self._commands[len(self.fixed) :]:
            del self._numbers[command]
        del self._commands[len(self.fixed) :]
        self.left_out = 0

    def command(self, number: int) -> Command | None:
        """The command with a number; ``None`` for a spare place that is not in use."""
        return self._commands[number] if 0 <= number < len(self._commands) else None

    def numbered(self) -> tuple[Command, ...]:
        """All commands that have a number now, in order."""
        return tuple(self._commands)

    def mask(self, possible: Iterable[Command]) -> NDArray[np.int8]:
        """1 for each of these commands, 0 for all others; of shape ``(size,)``."""
        mask = np.zeros(self.size, np.int8)
        self.left_out = 0
        for command in possible:
            number = self._number(command)
            if number is None:
                self.left_out += 1
            else:
                mask[number] = 1
        return mask

    def _number(self, command: Command) -> int | None:
        """The number of a command, that of the next spare place for a new one."""
        number = self._numbers.get(command)
        if number is None and len(self._commands) < self.size:
            number = self._numbers[command] = len(self._commands)
            self._commands.append(command)
        return number
