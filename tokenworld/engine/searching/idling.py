"""Commands that change nothing by themselves: in one state they all lead to what `pass` leads to.

Looking around takes a tick in which phases run, and so does examining each thing in sight. A search
lets the first of them run and takes what came of it for the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import is_

from tokenworld.engine.result import Result
from tokenworld.engine.state import State
from tokenworld.ground import Command, Successor
from tokenworld.model import Term, calls

__all__ = ["Idled", "is_idle", "reads_deeds"]


@dataclass(slots=True)
class Idled:
    """What followed in ``state`` when nothing was done: the results, and the successors kept of
    them. ``keys`` are what these are told apart by, once that was asked."""

    state: State
    results: list[Result]
    successors: Sequence[Successor[State]]
    keys: dict[int, Hashable] = field(default_factory=dict)

    def told(self, command: Command, opened: Result) -> Iterable[Result]:
        """The results as those of another command that did nothing either."""
        for one in self.results:
            kept = one.status if one.breach is not None else opened.status
            yield replace(one, command=command, status=kept)

    def leads_to(self, state: State) -> bool:
        """Whether a state is one of the successors."""
        return any(one.state is state for one in self.successors)


def is_idle(opened: Sequence[Result], state: State) -> bool:
    """Whether an intent that drew nothing did nothing in a state: nothing written."""
    one = opened[-1]
    return (
        len(opened) == 1
        and one.status in ("executed", "waiting")
        and not one.changes
        and _same(state, one.after)
    )


def _same(state: State, after: State) -> bool:
    """Whether two states share all that a phase can read."""
    return after is state or (
        after.kinds is state.kinds
        and all(map(is_, after.cols, state.cols))
        and all(map(is_, after.kids, state.kids))
        and after.longs == state.longs
        and after.latched == state.latched
        and after.awarded == state.awarded
    )


def reads_deeds(terms: Iterable[Term]) -> bool:
    """Whether a rule asks what somebody did."""
    return calls(terms, "did", "busy")
