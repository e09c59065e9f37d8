"""The state space as a picture: boxes and arrows, as DOT text or as SVG.

Up to `MOST` states each is a box. More are drawn together: first the states that lead back to each
other, then, where these are too many, those that are equally far from the goal or the start.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import StateT
from tokenworld.planning.space.graph import Graph, Node
from tokenworld.planning.space.partition import FAR, Partition, Place

__all__ = ["MOST", "Arrow", "Box", "Picture", "dot_text", "picture"]

MOST = 200
"""So many boxes can still be looked at."""
_LAYERS = 40
_NAMES = 3
"""So many actions are named on an arrow."""

Grouping = Literal["states", "components", "distances"]

COLOURS: Mapping[Place, str] = {
    "won": "#a6dba0",
    "winnable": "#f7f7f7",
    "dead": "#f4a582",
    "undecided": "#d9d9d9",
}


@frozen
class Box:
    """One state, or several that are drawn as one."""

    label: str
    place: Place
    start: bool


@frozen
class Arrow:
    """All edges between two boxes (by number), with the actions that make them."""

    source: int
    target: int
    label: str


@frozen
class Picture:
    """``grouping`` tells what a box stands for. Box 0 holds the start."""

    grouping: Grouping
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def picture(graph: Graph[StateT], parts: Partition[StateT], component: Sequence[int]) -> Picture:
    """Draw a graph with at most about `MOST` boxes."""
    ways: tuple[tuple[Grouping, Callable[[Node], Hashable]], ...] = (
        ("states", lambda node: node),
        ("components", lambda node: (parts.places[node], component[node])),
        ("distances", lambda node: _layer(graph, parts, node)),
    )
    for grouping, key in ways:
        numbers: dict[Hashable, int] = {}
        box_of = [numbers.setdefault(key(node), len(numbers)) for node in graph.nodes()]
        if len(numbers) <= MOST or grouping == "distances":
            break
    members: list[list[Node]] = [[] for _ in numbers]
    for node, box in enumerate(box_of):
        members[box].append(node)
    boxes = tuple(_box(parts, group, index) for index, group in enumerate(members))
    return Picture(grouping, boxes, _arrows(graph, box_of))


def _layer(graph: Graph[StateT], parts: Partition[StateT], node: Node) -> Hashable:
    """What is drawn together in a large graph: one outcome, and about the same distance."""
    far = parts.distance[node]
    known = far != FAR
    longest = max(parts.distance) if known else max(graph.depth)
    number = far if known else graph.depth[node]
    return parts.places[node], number * _LAYERS // max(longest + 1, _LAYERS)


def _box(parts: Partition[StateT], group: list[Node], index: int) -> Box:
    place = parts.places[group[0]]
    far = sorted({parts.distance[node] for node in group})
    name = f"{group[0]}" if len(group) == 1 else f"{len(group):,} states"
    told = "" if place != "winnable" else f", {_span(far)} to go"
    return Box(f"{name}: {place}{told}", place, 0 in group)


def _span(numbers: list[int]) -> str:
    low, high = numbers[0], numbers[-1]
    return str(low) if low == high else f"{low}-{high}"


def _arrows(graph: Graph[StateT], box_of: Sequence[int]) -> tuple[Arrow, ...]:
    """Arrows between boxes; what stays within a box of several states is not drawn."""
    names: dict[tuple[int, int], dict[str, None]] = {}
    for node in graph.nodes():
        for number, _, target in graph.outcomes(node):
            pair = (box_of[node], box_of[target])
            if pair[0] != pair[1]:
                action = graph.moves[node][number].command.action or "pass"
                names.setdefault(pair, {})[action] = None
    return tuple(Arrow(*pair, _label(list(found))) for pair, found in names.items())


def _label(names: list[str]) -> str:
    more = f" +{len(names) - _NAMES}" if len(names) > _NAMES else ""
    return ", ".join(names[:_NAMES]) + more


def dot_text(drawn: Picture) -> str:
    """The picture for Graphviz."""
    lines = ["digraph space {", '  node [shape=box, style=filled, fontname="sans-serif"];']
    lines.append('  edge [fontname="sans-serif", fontsize=10];')
    for index, box in enumerate(drawn.boxes):
        pen = ", penwidth=3" if box.start else ""
        lines.append(f'  n{index} [label="{box.label}", fillcolor="{COLOURS[box.place]}"{pen}];')
    for arrow in drawn.arrows:
        lines.append(f'  n{arrow.source} -> n{arrow.target} [label="{arrow.label}"];')
    return "\n".join([*lines, "}", ""])
