"""The slots written between two states.

Every state has a node whose parent is the node of the state that it was forked from. A caller that
computed something on one state (its legal actions, its hash) asks for the slots that may differ in
another, and looks at those alone. A node keeps a few hundred ancestors, so that a long run does not
hold its whole past; for older states the answer is "anything".
"""

from __future__ import annotations

from typing import Any

__all__ = ["ALL", "Slot", "Trail", "between"]

Slot = tuple[int, Any]
"""A column's index and a key in it; the key `ALL` is the whole column."""

ALL = None
REACH = 64
"""Nodes between two anchors; the links behind the last anchor but one are let go."""


class Trail:
    """The ``slots`` written in one state since it was forked. ``moved``: its population changed."""

    __slots__ = ("anchor", "depth", "moved", "parent", "slots")

    def __init__(self, parent: Trail | None = None) -> None:
        self.parent = parent
        self.slots: list[Slot] = []
        self.moved = False
        self.anchor: Trail | None = None  # an anchor names none: it would hold itself
        if parent is None:
            self.depth = 0
            return
        self.depth, anchor = parent.depth + 1, parent.anchor or parent
        if self.depth % REACH == 0:
            anchor.parent = None
        else:
            self.anchor = anchor


def between(one: Trail, other: Trail) -> set[Slot] | None:
    """The slots that may differ between two states; ``None`` for anything."""
    found: set[Slot] = set()
    while one is not other:
        if one.depth < other.depth:
            one, other = other, one
        if one.moved or one.parent is None:
            return None
        found.update(one.slots)
        one = one.parent
    return found
