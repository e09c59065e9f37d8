"""States of worlds with layouts as maps of characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokenworld.model import World
from tokenworld.model.worlds import cell_name


def maps_of(world: World, shape: Mapping[str, Any]) -> dict[str, list[str]]:
    """Draw a state (``tw-state/1``) as a map for each layout, by the type of its cells.

    A cell shows the initial of an object on it, else that of its first enum value.
    """
    objects: Sequence[Mapping[str, Any]] = shape.get("objects", ())
    cells = {one.of for one in world.layouts}
    standing: dict[str, str] = {}
    for one in objects:
        if one["type"] not in cells:
            for value in one["attrs"].values():
                if isinstance(value, str):
                    standing.setdefault(value, one["name"][:1].upper())
    grounds = {one["name"]: _ground(one["attrs"]) for one in objects if one["type"] in cells}
    return {
        layout.of: [
            "".join(_sign(cell_name(layout.of, x, y), symbol, standing, grounds)
                    for x, symbol in enumerate(row))
            for y, row in enumerate(layout.rows)
        ]
        for layout in world.layouts
    }  # fmt: skip


def _ground(attrs: Mapping[str, Any]) -> str:
    words = (value for value in attrs.values() if isinstance(value, str) and value)
    return next((value[0] for value in words), "")


def _sign(name: str, symbol: str, standing: Mapping[str, str], grounds: Mapping[str, str]) -> str:
    return standing.get(name) or grounds.get(name) or symbol
