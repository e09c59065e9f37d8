"""Values that must fit the others: places, unique values, relations without rings.

Each check raises `Breach` where the slot that was written does not fit.
"""

from __future__ import annotations

from tokenworld.engine.delta import Breach
from tokenworld.engine.layout import Column, Key
from tokenworld.engine.state import State
from tokenworld.ground import Raw

__all__ = ["check_acyclic", "check_nested", "check_unique"]


def check_nested(state: State, column: Column, key: Key, rules: tuple[str, ...]) -> None:
    """No place lies in itself; what is destroyed lies nowhere, its contents where it was.

    A ring that does not pass through this slot is another write's, and is told there.
    """
    places, seen = state.cols[column.index], set[Raw]()
    step = places[key]
    while step is not None and step not in seen:
        if step == key:
            what = f"`{column.fluent.name}` would make a cycle."
            raise Breach("TW1005", "cycle", what, rules)
        seen.add(step)
        assert isinstance(step, int)
        step = places[step]


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
            what = f"`{column.fluent.name}` would make a cycle."
            raise Breach("TW1005", "cycle", what, rules)
        for left, right in stored:
            if left == node and right not in seen:
                seen.add(right)
                todo.append(right)
