"""A world as packed states: the applicable operators of a state, and the states they lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from operator import itemgetter
from typing import TYPE_CHECKING

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, Raw
from tokenworld.planning.search.packed.successors import (
    STUCK,
    PackedOperator,
    SuccessorGenerator,
    Transition,
)

if TYPE_CHECKING:
    from tokenworld.planning.encodings.ir import Literal, Task
    from tokenworld.planning.search.packed.bits import Packing
    from tokenworld.planning.search.packed.dependencies import Dependencies

PLAYING, WON, LOST, OVER, BROKEN = range(5)
"""The kinds of states. ``OVER``: play ended at a goal that was not asked for; ``BROKEN``: an
invariant does not hold, so that no tick ends there."""
Ends = Callable[[int], int]
Running = tuple[Command, int, int]
"""A long action with the ticks done and the ticks it takes."""


@frozen
class Fused:
    """A task with fewer variables: facts of which at most one holds are the values of one.

    ``places[n]`` is the new place of variable n of the old task: a variable, and the position at
    which its fact holds (-1: they are the same variable).
    """

    task: Task
    places: tuple[tuple[int, int], ...]

    def position(self, variable: int, position: int) -> int:
        """The position of an old variable, by that of the new one."""
        _, mine = self.places[variable]
        return position if mine < 0 else int(position == mine)


def apart(task: Task) -> Fused:
    """The task as it is."""
    return Fused(task, tuple((number, -1) for number in range(len(task.variables))))


@frozen
class Packed:
    """A world as packed states: the states of ``task``, in the variables of ``fused``.

    ``commands[n]`` is the command of operator n. Operators are numbered in the order in which the
    interpreter lists commands; of one command without draws at most one is applicable in a state.

    - ``choose`` lists the applicable operators; ``breaks`` those that first end a long action, and
      ``instead`` those that are applicable after that.
    - ``free``: numbers of operators that take no time; ``lucky``: of those with draws.
    - ``outcomes`` lists the states after the phases of the tick, where laws draw.
    - ``ends`` gives the kind of a state (`PLAYING` …), ``ways`` the conditions of each kind.
    - ``token`` is the variable of the current phase; ``parts`` are the dependency sets.
    - ``plain``: a tick is a command and nothing else, and play ends at the goal only.
    - ``stages`` are the values of the variable of the long action under way.
    - ``living``: objects that may be destroyed, with their variables; ``named``: the objects that a
      variable is about.
    - ``numbers[i]`` is the operator that operator i of the fused task became (-1: none).
    - ``prices``: the cost of each operator, ``None`` where costs cannot be compared.
    - ``fails``: a draw may make a command fail, which shows part of the draws of its tick.
    """

    task: Task
    fused: Fused
    packing: Packing
    start: int
    commands: tuple[Command, ...]
    choose: SuccessorGenerator[PackedOperator]
    ends: Ends
    ways: tuple[tuple[int, tuple[tuple[Literal, ...], ...]], ...]
    token: int
    parts: Dependencies
    plain: bool
    free: frozenset[int] = frozenset()
    lucky: frozenset[int] = frozenset()
    outcomes: Callable[[int], list[int]] | None = None
    breaks: SuccessorGenerator[PackedOperator] | None = None
    instead: SuccessorGenerator[PackedOperator] | None = None
    stages: Mapping[Raw, Running] = field(default_factory=dict)
    living: tuple[tuple[int, int], ...] = ()
    named: Mapping[int, frozenset[int]] = field(default_factory=dict)
    numbers: tuple[int, ...] = ()
    prices: tuple[int, ...] | None = None
    fails: bool = False

    @property
    def simple(self) -> bool:
        """Whether a command has one outcome and can be given without ending another first."""
        return self.breaks is None and not self.lucky

    def begun(self, state: int) -> list[tuple[int, int]]:
        """The applicable operators with the state before the phases of the tick."""
        return [(number, begun) for number, begun, _ in self._begun(state)]

    def moves(self, state: int) -> list[tuple[int, int]]:
        """The applicable operators in order, each with the state after the tick (which may be
        `BROKEN`); an operator occurs several times where chance decides."""
        found = list[tuple[int, int]]()
        if self.simple:
            for number, keep, put, rows, follow in self.choose(state):
                after = state & keep | put
                for mask, row in rows:
                    after |= row[state & mask]
                if follow is None or (after := follow(after)) != STUCK:
                    found.append((number, after))
            return found
        for number, begun, follow in self._begun(state):
            if self.outcomes is not None and number not in self.free:
                found += [(number, after) for after in self.outcomes(begun)]
            else:
                after = begun if follow is None else follow(begun)
                if after != STUCK:
                    found.append((number, after))
        found.sort(key=itemgetter(0))
        return found

    def _begun(self, state: int) -> Iterator[tuple[int, int, Transition | None]]:
        """The applicable operators, the state before the phases, and the phases."""
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


def _done(doing: PackedOperator, state: int) -> int:
    """The state after something is done, before the phases."""
    _, keep, put, rows, _ = doing
    after = state & keep | put
    for mask, row in rows:
        after |= row[state & mask]
    return after
