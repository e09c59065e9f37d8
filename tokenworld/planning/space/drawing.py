"""The state space as a picture: boxes and arrows, as DOT text or as SVG."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from html import escape
from typing import Literal

from tokenworld.diagnostics import visible
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import StateT
from tokenworld.planning.space.dead_ends import FAR, Partition, Place
from tokenworld.planning.space.graph import Graph, Node

# ---- The picture, and its DOT text --------------------------------------------------------------
# Up to `MOST` states each is a box. More are drawn together: first the states that lead back to
# each other, then, where these are too many, those that are equally far from the goal or the
# start.

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
    """``grouping`` names the meaning of a box. Box 0 holds the start."""

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
    """The key of states that share a box in a large graph: one outcome, about the same distance."""
    far = parts.distance[node]
    known = far != FAR
    longest = max(parts.distance) if known else max(graph.depth)
    number = far if known else graph.depth[node]
    return parts.places[node], number * _LAYERS // max(longest + 1, _LAYERS)


def _box(parts: Partition[StateT], group: list[Node], index: int) -> Box:
    place = parts.places[group[0]]
    far = sorted({parts.distance[node] for node in group})
    name = f"{group[0]}" if len(group) == 1 else f"{len(group):,} states"
    distance = "" if place != "winnable" else f", {_span(far)} to go"
    return Box(f"{name}: {place}{distance}", place, 0 in group)


def _span(numbers: list[int]) -> str:
    low, high = numbers[0], numbers[-1]
    return str(low) if low == high else f"{low}-{high}"


def _arrows(graph: Graph[StateT], box_of: Sequence[int]) -> tuple[Arrow, ...]:
    """Arrows between boxes; moves within a box of several states are not drawn."""
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
        lines.append(f"  n{arrow.source} -> n{arrow.target} [label={dot_quoted(arrow.label)}];")
    return "\n".join([*lines, "}", ""])


def dot_quoted(text: str) -> str:
    """A text escaped so that Graphviz shows it unchanged."""
    inside = visible(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'


# ---- Layered SVG, for machines without Graphviz -------------------------------------------------
# Boxes are in rows by their distance from the start. Within a row they are ordered by the places of
# their neighbours, in a few passes up and down; that removes most crossings.

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _EDGE = 150, 30, 24, 70, 20
_PASSES = 6

Point = tuple[int, int]


def svg_text(drawn: Picture) -> str:
    """The picture as an SVG document."""
    rows = _ordered(_rows(drawn), drawn.arrows)
    spots = _spots(rows)
    width = max((x for x, _ in spots.values()), default=0) + _WIDTH + _EDGE
    height = max((y for _, y in spots.values()), default=0) + _HEIGHT + _EDGE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#555"/></marker></defs>',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for arrow in drawn.arrows:
        lines += _arrow(arrow, spots[arrow.source], spots[arrow.target])
    for index, box in enumerate(drawn.boxes):
        x, y = spots[index]
        pen = 3 if box.start else 1
        lines.append(
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" stroke="#333" '
            f'stroke-width="{pen}" fill="{COLOURS[box.place]}"/>'
        )
        lines.append(_text(x + _WIDTH // 2, y + _HEIGHT // 2 + 4, box.label, "#000"))
    return "\n".join([*lines, "</svg>", ""])


def _rows(drawn: Picture) -> list[list[int]]:
    """Boxes by their distance from the first one; unreachable ones are in the last row."""
    targets: dict[int, list[int]] = {}
    for arrow in drawn.arrows:
        targets.setdefault(arrow.source, []).append(arrow.target)
    seen = {0} if drawn.boxes else set[int]()
    rows, row = list[list[int]](), list(seen)
    while row:
        rows.append(row)
        after = dict.fromkeys(t for box in row for t in targets.get(box, ()) if t not in seen)
        row = list(after)
        seen |= set(row)
    rest = [box for box in range(len(drawn.boxes)) if box not in seen]
    return [*rows, rest] if rest else rows


def _ordered(rows: list[list[int]], arrows: Sequence[Arrow]) -> list[list[int]]:
    """The same rows, each ordered by the mean place of the neighbours of its boxes."""
    near: dict[int, list[int]] = {}
    for arrow in arrows:
        near.setdefault(arrow.source, []).append(arrow.target)
        near.setdefault(arrow.target, []).append(arrow.source)
    for number in range(_PASSES):
        order = range(len(rows)) if number % 2 == 0 else reversed(range(len(rows)))
        for index in order:
            beside = index - 1 if number % 2 == 0 else index + 1
            if 0 <= beside < len(rows):
                rows[index] = _sorted(rows[index], rows[beside], near)
    return rows


def _sorted(row: list[int], beside: list[int], near: dict[int, list[int]]) -> list[int]:
    places = {box: index for index, box in enumerate(beside)}

    def mean(box: int) -> float:
        found = [places[other] for other in near.get(box, ()) if other in places]
        return sum(found) / len(found) if found else len(beside) / 2

    return sorted(row, key=mean)


def _spots(rows: list[list[int]]) -> dict[int, Point]:
    """The upper left corner of every box, rows centred below each other."""
    widest = max((len(row) for row in rows), default=0)
    step, found = _WIDTH + _GAP_X, dict[int, Point]()
    for number, row in enumerate(rows):
        left = _EDGE + (widest - len(row)) * step // 2
        for index, box in enumerate(row):
            found[box] = (left + index * step, _EDGE + number * (_HEIGHT + _GAP_Y))
    return found


def _arrow(arrow: Arrow, source: Point, target: Point) -> Iterable[str]:
    """A line from box to box with its label; lines in a row or upwards are bent."""
    down = target[1] > source[1]
    x1, y1 = source[0] + _WIDTH // 2, source[1] + (_HEIGHT if down else 0)
    x2, y2 = target[0] + _WIDTH // 2, target[1] + (0 if down else _HEIGHT)
    if target[1] == source[1]:
        y2 = target[1]
        bend = (x1 + x2) // 2, y1 - _GAP_Y // 2
    elif down:
        bend = (x1 + x2) // 2, (y1 + y2) // 2
    else:
        bend = (x1 + x2) // 2 + _WIDTH, (y1 + y2) // 2
    path = f"M{x1} {y1} Q{bend[0]} {bend[1]} {x2} {y2}"
    yield f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#tip)"/>'
    middle = (x1 + 2 * bend[0] + x2) // 4, (y1 + 2 * bend[1] + y2) // 4
    yield _text(*middle, arrow.label, "#333")


def _text(x: int, y: int, text: str, colour: str) -> str:
    return (
        f'<text x="{x}" y="{y}" text-anchor="middle" fill="{colour}">{escape(visible(text))}</text>'
    )
