"""Two themes for eyes that do not tell all colours apart; the colours are those of Okabe and Ito.

Every meaning has a sign or a word besides: a theme only makes it quicker to see.
"""

from __future__ import annotations

from typing import Final

from textual.theme import Theme

__all__ = ["THEMES"]

RED_GREEN: Final = Theme(
    name="red-green-blind",
    primary="#0072b2",
    secondary="#56b4e9",
    accent="#f0e442",
    success="#56b4e9",
    warning="#f0e442",
    error="#e69f00",
    foreground="#e8e8e8",
    background="#101418",
    surface="#1c2228",
    panel="#28303a",
    dark=True,
)
"""For protanopia and deuteranopia: sky blue for good, orange for bad."""

BLUE_YELLOW: Final = Theme(
    name="blue-yellow-blind",
    primary="#a3446f",
    secondary="#009e73",
    accent="#cc79a7",
    success="#009e73",
    warning="#cc79a7",
    error="#ff6a3d",
    foreground="#e8e8e8",
    background="#141214",
    surface="#221e22",
    panel="#302a30",
    dark=True,
)
"""For tritanopia: bluish green for good, vermilion for bad."""

THEMES: Final = (RED_GREEN, BLUE_YELLOW)
