"""A world as packed states: what can be done in a state, and what comes of it in the same tick."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from operator import itemgetter
from typing import TYPE_CHECKING

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, Raw
from tokenworld.planning.explore.rows import Row
from tokenworld.planning.explore.tails import STUCK, Follow
from tokenworld.planning.explore.trees import Chooser

if TYPE_CHECKING:
    from tokenworld.planning.encodings.ir import Literal, Task
    from tokenworld.planning.explore.bits import Packing
    from tokenworld.planning.explore.fuse import Fused
    from tokenworld.planning.explore.parts import Parts

__all__ = ["BROKEN", "LOST", "OVER", "PLAYING", "WON", "Doing", "Ends", "Packed", "Running"]

PLAYING, WON, LOST, OVER, BROKEN = range(5)
"""What a state is: an end (``OVER``: at a goal that was not asked for), or ``BROKEN``: an invariant
does not hold there, so that no tick ends in it."""
Doing = tuple[int, int, int, tuple[Row, ...], Follow | None]
"""A way to do a command: its number, the bits it keeps and puts, the tables that say what its
conditional effects put, and what follows in the same tick (nothing after a free action)."""
Ends = Callable[[int], int]
Running = tuple[Command, int, int]
"""A long action with the ticks done and the ticks it takes."""


@frozen
class Packed:
    """A world as packed states: those of ``task``, by the variables of ``fused``.

    ``commands[n]`` is what doing number n stands for. Doings are numbered as the interpreter lists
    commands; of one command without draws at most one can be done in a state. ``choose`` lists
    those of a state, ``breaks`` what first ends a long action in it, and ``instead`` what can be
    done then. ``free`` are the numbers of doings that take no time, ``lucky`` of those with draws;
    ``outcomes`` is what follows a command where laws draw. ``ends`` tells what a state is, by the
    ``ways`` in which it can be so; ``token`` is the variable of the place in the tick. ``parts``
    tells what decides a question about a state. ``plain``: a tick is a command and nothing else,
    and play ends at the goal only. ``stages`` are those of long actions, ``living`` the objects
    that may be destroyed with their variables, ``named`` the objects that a variable is about.
    ``numbers`` are the doings that the operators of the fused task stand for (-1: none), ``prices``
    what each doing costs; ``None`` where that is not known here.
    """

    task: Task
    fused: Fused
    packing: Packing
    start: int
    commands: tuple[Command, ...]
    choose: Chooser[Doing]
    ends: Ends
    ways: tuple[tuple[int, tuple[tuple[Literal, ...], ...]], ...]
    token: int
    parts: Parts
    plain: bool
    free: frozenset[int] = frozenset()
    lucky: frozenset[int] = frozenset()
    outcomes: Callable[[int], list[int]] | None = None
    breaks: Chooser[Doing] | None = None
    instead: Chooser[Doing] | None = None
    stages: Mapping[Raw, Running] = field(default_factory=dict)
    living: tuple[tuple[int, int], ...] = ()
    named: Mapping[int, frozenset[int]] = field(default_factory=dict)
    numbers: tuple[int, ...] = ()
    prices: tuple[int, ...] | None = None

    @property
    def simple(self) -> bool:
        """Whether a command has one outcome and can be given without ending another first."""
        return self.breaks is None and not self.lucky

    def begun(self, state: int) -> list[tuple[int, int]]:
        """What can be done in a state, with the state before the phases of the tick."""
        return [(number, begun) for number, begun, _ in self._begun(state)]

    def moves(self, state: int) -> list[tuple[int, int]]:
        """What can be done in a state, in order, with the state after the tick (which may be
        `BROKEN`); several of the same number where luck decides."""
        found = []
        for number, begun, follow in self._begun(state):
            if self.outcomes is not None and number not in self.free:
                found += [(number, after) for after in self.outcomes(begun)]
            else:
                after = begun if follow is None else follow(begun)
                if after != STUCK:
                    found.append((number, after))
        found.sort(key=itemgetter(0))
        return found

    def _begun(self, state: int) -> Iterator[tuple[int, int, Follow | None]]:
        """What can be done, the state before the phases, and what follows."""
        for doing in self.choose(state):
            yield doing[0], _done(doing, state), doing[4]
        if self.breaks is not None and self.instead is not None:
            for first in self.breaks(state):
                between = _done(first, state)
                for doing in self.instead(between):
                    yield doing[0], _done(doing, between), doing[4]

    def _position(self, state: int, number: int) -> int:
        """The position of the value of a variable of the task."""
        place, _ = self.fused.places[number]
        return self.fused.position(number, self.packing.position(state, place))

    # ---- what a state holds -----------------------------------------------------------------

    def slots(self, state: int) -> list[tuple[str, tuple[Raw, ...], Raw]]:
        """The slots that hold something else than at the start: fluent, arguments, value.

        What was destroyed has no slots any more.
        """
        gone, other = frozenset(self.gone(state)), state ^ self.start
        masks, places = self.packing.masks, self.fused.places
        return [
            (one.fluent, one.args, one.values[self._position(state, number)])
            for number, one in enumerate(self.task.variables)
            if other & masks[places[number][0]]
            and one.fluent is not None
            and not (gone and gone & self.named[number])
        ]

    def running(self, state: int) -> Running | None:
        """The long action under way."""
        for number, one in enumerate(self.task.variables):
            if one.kind == "long":
                return self.stages.get(one.values[self._position(state, number)])
        return None

    def gone(self, state: int) -> list[int]:
        """The objects that were destroyed."""
        variables, position = self.task.variables, self._position
        return [
            number for number, one in self.living if not variables[one].values[position(state, one)]
        ]


def _done(doing: Doing, state: int) -> int:
    """The state after something is done, before the phases."""
    _, keep, put, rows, _ = doing
    after = state & keep | put
    for mask, row in rows:
        after |= row[state & mask]
    return after
