"""The order of the width search: what is new first, then what is near the goal.

BFWS(f5) of Lipovetzky and Geffner (*Best-First Width Search*, AAAI 2017), on the interpreter as in
Francès, Ramírez, Lipovetzky and Geffner (*Purely Declarative Action Descriptions are Overrated*,
IJCAI 2017): states are taken by novelty, then by what the goal still misses, then by the relevant
facts that are still to come. Novelty is measured among states that miss as much and have come as
far. Relevant facts are worked out anew wherever the goal comes nearer. No state is ever left out:
a search which runs dry has seen them all.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from tokenworld.ground import Simulator, StateT
from tokenworld.model import Ending
from tokenworld.planning.frontier import Frontier, Node
from tokenworld.planning.width.graded import GoalDistance
from tokenworld.planning.width.novelty import Novelty
from tokenworld.planning.width.relaxed import Relaxation
from tokenworld.planning.width.relevant import Relevant

__all__ = ["Novel"]

_FREE_VISITS = 200_000
_VISITS_PER_STATE = 20
"""Rules that may be looked at for relevant facts: so many, and so many more for each state."""
_WAITING_BYTES = 400


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a state stands: what the goal misses, the facts to look out for and those that came.

    ``relevant`` is ``None`` as long as the goal has come nearer and nobody has asked.
    """

    missing: int
    relevant: Relevant | None
    came: int
    facts: frozenset[int]

    @property
    def partition(self) -> Hashable:
        return self.missing, self.came.bit_count()

    @property
    def to_come(self) -> int:
        """How many relevant facts were not seen yet."""
        return 0 if self.relevant is None else len(self.relevant.facts) - self.came.bit_count()


class Novel(Frontier[StateT]):
    """Least novelty first, then the nearest to the goal, then the shallowest, then first come."""

    shortest = False

    def __init__(self, simulator: Simulator[StateT], lines: Sequence[Ending]) -> None:
        super().__init__()
        self._simulator = simulator
        self._missing: GoalDistance[StateT] = GoalDistance(simulator, lines)
        self._relaxation: Relaxation[StateT] = Relaxation(simulator, lines)
        self._novelty = Novelty()
        self._seen: set[Hashable] = set()
        self._waiting: dict[Node, tuple[StateT, _Place]] = {}
        self._heap: list[tuple[int, int, int, int, Node]] = []
        self._depths = array("I")
        self._at: _Place | None = None
        self.nearest = -1

    def reach(
        self, key: Hashable, state: StateT, parent: Node, command: int, luck: int, cost: int
    ) -> Node | None:
        if key in self._seen:
            self.merged = True
            return None
        self._seen.add(key)
        node = self._new(parent, command, luck)
        self._depths.append(self._depths[parent] + 1 if parent >= 0 else 0)
        facts = self._novelty.numbered(key)
        place = self._place(state, frozenset(facts))
        before = self._at
        same = before is not None and before.partition == place.partition
        known = before.facts if before is not None and same else None
        novelty = self._novelty.measure(place.partition, facts, known)
        rank = (novelty, place.missing, place.to_come, self._depths[node], node)
        heappush(self._heap, rank)
        self._waiting[node] = (state, place)
        if self.nearest < 0 or place.missing < self.nearest:
            self.nearest = place.missing
        return node

    def pop(self) -> tuple[Node, StateT] | None:
        if not self._heap:
            return None
        *_, self.depth, node = heappop(self._heap)
        state, place = self._waiting.pop(node)
        self._at = self._looking_out(state, place)
        return node, state

    def waiting(self) -> int:
        return len(self._waiting)

    def overhead(self) -> int:
        return self._novelty.bytes() + len(self._waiting) * _WAITING_BYTES

    def _place(self, state: StateT, facts: frozenset[int]) -> _Place:
        """Where a state stands that was reached from the one taken last."""
        missing, before = self._missing(state), self._at
        if before is None or before.relevant is None or missing < before.missing:
            return _Place(missing, None, 0, facts)
        relevant = before.relevant
        came = before.came | relevant.held(self._simulator, state)
        return _Place(missing, relevant, came, facts)

    def _looking_out(self, state: StateT, place: _Place) -> _Place:
        """The same place with relevant facts, worked out from here if the goal has come nearer."""
        if place.relevant is not None:
            return place
        allowed = _FREE_VISITS + _VISITS_PER_STATE * self.count
        if self._relaxation.visits > allowed:
            return _Place(place.missing, _NOTHING, 0, place.facts)
        return _Place(place.missing, self._relaxation.relevant(state), 0, place.facts)


_NOTHING = Relevant((), {}, frozenset())
