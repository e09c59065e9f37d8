"""What laws make of a state that is nobody else's: written in place, and told of by title alone.

A phase runs on the fork that a command was played on. Laws with a plain function write by it (see
`plain`); others ask a `Delta`, which is applied as everywhere. What laws say is left out. A
`Breach` or `Broken` leaves the state of no use.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import islice
from operator import is_

from tokenworld.engine.applying import apply
from tokenworld.engine.compile import Code
from tokenworld.engine.delta import Delta, RawChange
from tokenworld.engine.luck import Luck
from tokenworld.engine.plain import plain_law
from tokenworld.engine.sequence import MOST_KEPT, InTurn, Row, Turn
from tokenworld.engine.simultaneous import Together
from tokenworld.engine.state import State
from tokenworld.engine.step import Stepper
from tokenworld.model import Law, ObjectType

__all__ = ["QuickPhase", "quick_phases"]

QuickPhase = Callable[[State, State, Luck, list[str], list[RawChange]], None]
"""``phase(state, start, luck, titles, changes)``: writes to ``state``; ``start`` is what `was`
reads. The laws that fired are added to ``titles``, what they changed to ``changes``."""

_MOST_ORDERS = 1024
"""Orders of bindings that are kept."""


def quick_phases(stepper: Stepper) -> tuple[QuickPhase, ...] | None:
    """The phases of a world; ``None`` where what a law changes is summed up, or laws have so many
    bindings that it is kept for which of them they hold."""
    if stepper.guards.conserves or any(
        isinstance(one, Together) and one.keeps_track for one in stepper.phases
    ):
        return None
    return tuple(
        _together(stepper.code, one.laws)
        if isinstance(one, Together)
        else _Turns(stepper.code, one).run
        for one in stepper.phases
    )


def _together(code: Code, laws: tuple[Law, ...]) -> QuickPhase:
    """A phase whose laws all read the state that it begins with."""
    runs, layout = tuple(code.laws[law.name].run for law in laws), code.emitter.layout

    def run(
        state: State, start: State, luck: Luck, titles: list[str], changes: list[RawChange]
    ) -> None:
        delta, me = Delta(layout, luck, state.seed, start.tick), state.me
        for one in runs:
            one(state, start, me, delta)
        if delta.fired:
            titles += [rule.title for rule in delta.fired]
            changes += apply(state, delta)

    return run


class _Turns:
    """A phase whose laws act in turn."""

    def __init__(self, code: Code, phase: InTurn) -> None:
        self._phase, self._layout = phase, code.emitter.layout
        self._plain = tuple(plain_law(code, turn.law) for turn in phase.turns)
        self._titles = tuple(f"law {turn.law.name}" for turn in phase.turns)
        self._places = frozenset(phase.places)
        self._orders: dict[Hashable, list[tuple[Turn, Row]]] = {}
        self._kept: tuple[list[object], list[tuple[Turn, Row]]] = ([], [])

    def run(
        self,
        state: State,
        start: State,
        luck: Luck,
        titles: list[str],
        changes: list[RawChange],
    ) -> None:
        began, kinds, me = len(changes), state.kinds, state.me
        rows = self._rows(state)
        delta = Delta(self._layout, luck, state.seed, start.tick)
        plain, fired, grown = self._plain, set[int](), False
        for turn, args in rows:
            if state.kinds is not kinds and not _alive(state, turn.law, args):
                continue
            do = plain[turn.number]
            done = -1 if do is None else do(state, state, start, me, changes, None, *args)
            if done < 0:
                turn.one(state, start, me, delta, *args)
                if not delta.fired:
                    continue
                grown = grown or bool(delta.newborns or delta.doomed)
                changes += apply(state, delta)
                delta, done = Delta(self._layout, luck, state.seed, start.tick), 1
            if done and turn.number not in fired:
                fired.add(turn.number)
                titles.append(self._titles[turn.number])
        places = self._places
        if grown or any(one[0].index in places for one in islice(changes, began, None)):
            self._kept = ([], [])  # what the order rests on was written to in place

    def _rows(self, state: State) -> Iterable[tuple[Turn, Row]]:
        """Every binding in its place; it rests on who there is and how they lie in each other."""
        places = self._phase.places
        basis: list[object] = [state.kinds, *[state.cols[index] for index in places]]
        known, rows = self._kept
        if len(known) == len(basis) and all(map(is_, known, basis)):
            return rows
        held = (tuple(state.kinds), *[_contents(state, index) for index in places])
        found = self._orders.get(held)
        if found is None:
            found = list(islice(self._phase.bindings(state), MOST_KEPT + 1))
            if len(found) > MOST_KEPT:
                return self._phase.bindings(state)
            if len(self._orders) >= _MOST_ORDERS:
                self._orders.clear()
            self._orders[held] = found
        self._kept = (basis, found)
        return found


def _contents(state: State, index: int) -> tuple[object, ...]:
    """How the objects of a column lie in each other."""
    children = state.kids[index]
    values = tuple(state.cols[index])
    return values if children is None else (values, tuple(map(tuple, children)))


def _alive(state: State, law: Law, args: Row) -> bool:
    """Whether no object among the arguments was destroyed."""
    return all(
        state.kinds[value] is not None  # type: ignore[index]
        for binder, value in zip(law.params, args, strict=True)
        if isinstance(binder.type, ObjectType) and value is not None
    )
