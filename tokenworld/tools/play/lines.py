"""Text with meaning and without colours: what the panes show, made without a screen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

__all__ = ["Line", "Piece", "Role", "line", "plain_text"]

Role = Literal["plain", "head", "dim", "good", "bad", "warn", "typed", "link"]
"""What a piece is, not how it looks; `styles` gives each role its looks."""

Piece = tuple[str, Role]
Line = tuple[Piece, ...]


def line(text: str, role: Role = "plain") -> Line:
    """A line in one role."""
    return ((text, role),)


def plain_text(lines: Iterable[Line]) -> str:
    """The lines without roles, as a reader without colours has them."""
    return "\n".join("".join(text for text, _ in one) for one in lines)
