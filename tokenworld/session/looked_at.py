"""What the requires of an action look at in a state.

They rest on few attributes. Of all states that agree in these, in who lives and in whose turn it
is, one is enough to see how the requires stand.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from tokenworld.engine import Engine, State
from tokenworld.engine.reading import columns_read, held
from tokenworld.model import Action, Term, guard_terms
from tokenworld.session.witnesses import Told

__all__ = ["LookedAt"]


class LookedAt:
    """Tells apart the states that the requires of one action can tell apart.

    What does not rest on stored values alone tells all states apart. A long action is broken off
    before requires are looked at: then it is the state after that which counts.
    """

    def __init__(self, engine: Engine, action: Action, told: Told) -> None:
        self._seen: set[Hashable] = set()
        terms = tuple(_terms(action))
        self._columns, self._told = columns_read(engine.layout, terms), told(terms)

    def news(self, mark: Hashable, state: State, after: State) -> bool:
        """Whether no state came before that looks the same; it is remembered. ``after`` is the same
        with the long action of the actor broken off, ``mark`` that of the state, if it has one."""
        if self._columns is None:
            return True
        key = self._key(self._columns, mark, state, after)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _key(
        self, columns: tuple[int, ...], mark: Hashable, state: State, after: State
    ) -> Hashable:
        if mark is not None and self._told is not None and after is state:
            return self._told(mark), state.turn
        broken_off = None if after is state else held(after, columns)
        return held(state, columns), broken_off, state.acting


def _terms(action: Action) -> Iterator[Term]:
    yield from guard_terms(action)
    if action.takes is not None:
        yield action.takes
