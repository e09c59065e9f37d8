"""Where the goal slips out of reach: the edges that cross the line, and when a player learns of it.

An edge crosses the line if it leads from a state that is winnable to one that is dead. Crossings
of one action, with one cause, are one kind of dead end. How cruel a world is depends on what the
player is told after a crossing:

* ``at once``: play ends (a `lose` line, or another end that is not the goal);
* ``next``: it shows with the next step: whatever is done, play ends or nothing changes any more;
* ``later``: whatever is done, it comes to that sooner or later;
* ``never``: one may play on for ever without being told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import StateT
from tokenworld.planning.space.graph import Graph, Node
from tokenworld.planning.space.partition import Partition

__all__ = ["CRUELTY", "Cruelty", "DeadEnd", "Told", "cruelty", "dead_ends", "told"]

Told = Literal["at once", "next", "later", "never"]
Cruelty = Literal["merciful", "polite", "tough", "nasty", "cruel"]
CRUELTY: dict[Told, Cruelty] = {
    "at once": "polite",
    "next": "tough",
    "later": "nasty",
    "never": "cruel",
}
_ORDER: tuple[Told, ...] = ("at once", "next", "later", "never")


@frozen
class DeadEnd:
    """One kind of dead end: all crossings of one action with one cause.

    ``action`` is empty for `pass`. ``cause`` names the ending, or is empty where play goes on.
    ``lucky``: another outcome of the same command would have left the goal in reach. ``idle``:
    letting time pass instead might have crossed the line as well. ``edges``
    cross the line into ``states`` distinct states; ``told`` is the worst case of them all.
    ``node``, ``move`` and ``outcome`` are an example: no crossing of this kind is nearer the start.
    """

    action: str
    cause: str
    lucky: bool
    idle: bool
    edges: int
    states: int
    told: Told
    node: Node
    move: int
    outcome: int


@dataclass(slots=True)
class _Kind:
    node: Node
    move: int
    outcome: int
    edges: int
    entered: set[Node]


def dead_ends(
    graph: Graph[StateT], parts: Partition[StateT], ending: Callable[[Node], str]
) -> tuple[DeadEnd, ...]:
    """All kinds of dead ends, in order of their first crossing.

    ``ending`` names the ending of a node, empty if play goes on there.
    """
    kinds: dict[tuple[str, str, bool, bool], _Kind] = {}
    for node in graph.nodes():
        if parts.places[node] != "winnable":
            continue
        if not any(parts.places[one] == "dead" for one in graph.targets(node)):
            continue
        waiting = (move for move in graph.moves[node] if move.command.is_pass)
        slips = any(parts.places[one] == "dead" for move in waiting for one in move.targets)
        for number, outcome, target in graph.outcomes(node):
            if parts.places[target] != "dead":
                continue
            move = graph.moves[node][number]
            lucky = any(parts.places[one] != "dead" for one in move.targets)
            idle = slips and not move.command.is_pass
            key = (move.command.action, ending(target), lucky, idle)
            kind = kinds.setdefault(key, _Kind(node, number, outcome, 0, set()))
            kind.edges += 1
            kind.entered.add(target)
    news = told(graph, parts, ending)
    return tuple(
        DeadEnd(
            *key, kind.edges, len(kind.entered), _worst(news, kind.entered),
            kind.node, kind.move, kind.outcome,
        )
        for key, kind in kinds.items()
    )  # fmt: skip


def _worst(news: dict[Node, Told], entered: set[Node]) -> Told:
    return max((news[node] for node in entered), key=_ORDER.index)


def told(
    graph: Graph[StateT], parts: Partition[StateT], ending: Callable[[Node], str]
) -> dict[Node, Told]:
    """When a player who is in a dead state learns of it."""
    dead = [node for node in graph.nodes() if parts.places[node] == "dead"]
    found: dict[Node, Told] = {node: "at once" for node in dead if ending(node)}
    over = frozenset(found)
    for node in dead:
        if node not in over and all(t in over or t == node for t in graph.targets(node)):
            found[node] = "next"
    _spread(graph, dead, found)
    return {node: found.get(node, "never") for node in dead}


def _spread(graph: Graph[StateT], dead: list[Node], found: dict[Node, Told]) -> None:
    """Add the states from which all ways lead, without a cycle, to those in ``found``."""
    sources: dict[Node, list[Node]] = {}
    missing: dict[Node, int] = {}
    for node in dead:
        if node in found:
            continue
        targets = graph.targets(node)
        missing[node] = len(targets)
        for target in targets:
            sources.setdefault(target, []).append(node)
    ready = deque(found)
    while ready:
        for node in sources.get(ready.popleft(), ()):
            missing[node] -= 1
            if missing[node] == 0:
                found[node] = "later"
                ready.append(node)


def cruelty(kinds: tuple[DeadEnd, ...]) -> Cruelty:
    """The class of a world with these dead ends: the worst of them."""
    if not kinds:
        return "merciful"
    return CRUELTY[max((kind.told for kind in kinds), key=_ORDER.index)]
