"""A layered drawing of a picture as SVG, for machines without Graphviz.

Boxes stand in rows by their distance from the start. Within a row they are ordered by where their
neighbours stand, in a few passes up and down; that takes away most crossings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tokenworld.planning.space.picture import COLOURS, Arrow, Picture

__all__ = ["svg_text"]

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
    """Boxes by their distance from the first one; what cannot be reached stands in a last row."""
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
    return f'<text x="{x}" y="{y}" text-anchor="middle" fill="{colour}">{escape(text)}</text>'
