"""What the requires of an action look at in a state.

They rest on few attributes. Of all states that agree in these, in who lives and in whose turn it
is, one is enough to see how the requires stand.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from tokenworld.engine import Engine, State
from tokenworld.engine.reading import columns_read, held
from tokenworld.model import Action, Term, guard_terms

__all__ = ["LookedAt"]


class LookedAt:
    """Tells apart the states that the requires of one action can tell apart.

    What does not rest on stored values alone tells all states apart. A long action is broken off
    before requires are looked at: then it is the state after that which counts.
    """

    def __init__(self, engine: Engine, action: Action) -> None:
        self._seen: set[Hashable] = set()
        self._columns = columns_read(engine.layout, _terms(action))

    def news(self, state: State, after: State) -> bool:
        """Whether no state came before that looks the same; it is remembered. ``after`` is the same
        with the long action of the actor broken off."""
        if self._columns is None:
            return True
        broken_off = None if after is state else held(after, self._columns)
        key = held(state, self._columns), broken_off, state.acting
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


def _terms(action: Action) -> Iterator[Term]:
    yield from guard_terms(action)
    if action.takes is not None:
        yield action.takes
