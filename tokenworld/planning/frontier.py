"""The states a search still has to look at, in the order in which it takes them.

A node is the number of a distinct state, in order of discovery. Its parent and the two choices
that led to it are three numbers in flat arrays; the state itself is kept only until it is taken.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Hashable
from heapq import heappop, heappush
from typing import Generic

from tokenworld.ground import StateT

__all__ = ["Breadth", "Cheapest", "Frontier", "Node"]

Node = int


class Frontier(Generic[StateT]):
    """The states that wait to be expanded and the keys of all that were seen.

    ``reach`` takes a state reached from a node and answers its node number where that is news.
    """

    early_goal = True
    """Whether a goal may be accepted as soon as it is generated."""
    shortest = True
    """Whether the first plan is one that nothing beats."""

    def __init__(self) -> None:
        self.count = 0
        self.depth = 0  # in ticks, of the node popped last
        self.merged = False
        self.parents = array("q")
        self.commands = array("I")
        self.lucks = array("I")

    def reach(
        self, key: Hashable, state: StateT, parent: Node, command: int, luck: int, cost: int
    ) -> Node | None:
        raise NotImplementedError

    def pop(self) -> tuple[Node, StateT] | None:
        raise NotImplementedError

    def waiting(self) -> int:
        raise NotImplementedError

    def overhead(self) -> int:
        """The bytes held besides keys, states and parents."""
        return 0

    def trail(self, node: Node) -> list[tuple[int, int]]:
        """The choices (number of the command, number of its outcome) from the start to a node."""
        choices = []
        while self.parents[node] >= 0:
            choices.append((self.commands[node], self.lucks[node]))
            node = self.parents[node]
        return choices[::-1]

    def _new(self, parent: Node, command: int, luck: int) -> Node:
        self.parents.append(parent)
        self.commands.append(command)
        self.lucks.append(luck)
        self.count += 1
        return self.count - 1


class Breadth(Frontier[StateT]):
    """First come, first served: nodes are expanded in the order of their numbers."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[Hashable] = set()
        self._states: deque[StateT] = deque()
        self._next = 0
        self._layer_end = 1

    def reach(
        self, key: Hashable, state: StateT, parent: Node, command: int, luck: int, cost: int
    ) -> Node | None:
        if key in self._seen:
            self.merged = True
            return None
        self._seen.add(key)
        self._states.append(state)
        return self._new(parent, command, luck)

    def pop(self) -> tuple[Node, StateT] | None:
        if not self._states:
            return None
        node = self._next
        if node == self._layer_end:
            self.depth, self._layer_end = self.depth + 1, self.count
        self._next += 1
        return node, self._states.popleft()

    def waiting(self) -> int:
        return len(self._states)


class Cheapest(Frontier[StateT]):
    """Least cost first, then fewest ticks, then first come."""

    early_goal = False

    def __init__(self) -> None:
        super().__init__()
        self._nodes: dict[Hashable, Node] = {}
        self._states: dict[Node, StateT] = {}
        self._heap: list[tuple[int, int, Node]] = []
        self._best: list[tuple[int, int]] = []

    def reach(
        self, key: Hashable, state: StateT, parent: Node, command: int, luck: int, cost: int
    ) -> Node | None:
        before = self._best[parent] if parent >= 0 else (0, -1)
        total = (before[0] + cost, before[1] + 1)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = self._new(parent, command, luck)
            self._best.append(total)
        else:
            self.merged = True
            if total >= self._best[node] or node not in self._states:
                return None
            self._best[node] = total
            self.parents[node], self.commands[node], self.lucks[node] = parent, command, luck
        self._states[node] = state
        heappush(self._heap, (*total, node))
        return node

    def pop(self) -> tuple[Node, StateT] | None:
        while self._heap:
            _, self.depth, node = heappop(self._heap)
            if node in self._states:  # else an outdated entry: it was expanded at less cost
                return node, self._states.pop(node)
        return None

    def waiting(self) -> int:
        return len(self._states)
