"""Values that must fit the others: places, unique values, relations without rings.

`check_unique` and `check_acyclic` raise `Breach` where the slot that was written does not fit;
they look at the state after the body, without the destroyed objects. `in_itself` looks at the state
before these leave: their contents then move along paths without a cycle.
"""

from __future__ import annotations

from tokenworld.engine.delta import Breach
from tokenworld.engine.layout import Column, Key
from tokenworld.engine.state import State
from tokenworld.ground import Raw

__all__ = ["check_acyclic", "check_unique", "cycle", "in_itself"]


def cycle(column: Column, rules: tuple[str, ...]) -> Breach:
    """The breach of a nested or acyclic fluent."""
    return Breach("TW1005", "cycle", f"`{column.fluent.name}` would make a cycle.", rules)


def in_itself(state: State, column: Column, key: Key) -> bool:
    """Whether the places of a nested fluent lead from this slot's object back to it.

    A cycle that does not pass through this slot belongs to another write.
    """
    places, seen = state.cols[column.index], set[Raw]()
    step = places[key]
    while step is not None and step not in seen:
        if step == key:
            return True
        seen.add(step)
        assert isinstance(step, int)
        step = places[step]
    return False


def check_unique(state: State, column: Column, value: Raw, rules: tuple[str, ...]) -> None:
    """No two slots of the fluent hold the same value."""
    stored = state.cols[column.index]
    values = stored.values() if isinstance(stored, dict) else stored
    if value is not None and sum(1 for other in values if other == value) > 1:
        what = f"`{column.fluent.name}` would repeat a value."
        raise Breach("TW1004", "unique", what, rules)


def check_acyclic(state: State, column: Column, key: Key, rules: tuple[str, ...]) -> None:
    """No path of the relation leads back to where it began."""
    stored = state.cols[column.index]
    start, first = column.args(key)
    todo, seen = [first], {first}
    while todo:
        node = todo.pop()
        if node == start:
            raise cycle(column, rules)
        for left, right in stored:
            if left == node and right not in seen:
                seen.add(right)
                todo.append(right)
