"""The names of the cells that a layout makes."""

from __future__ import annotations

__all__ = ["cell_name"]


def cell_name(of: str, x: int, y: int) -> str:
    """The name of the cell in column ``x`` and row ``y`` of a layout: ``tile_3_0`` of a `Tile`."""
    words = "".join(
        f"_{letter}" if letter.isupper() and before.islower() else letter
        for before, letter in zip(f"_{of}", of, strict=False)
    )
    return f"{words.lower()}_{x}_{y}"
