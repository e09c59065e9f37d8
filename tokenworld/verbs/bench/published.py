"""Figures that papers report, for the tables; quoted, not measured here."""

from __future__ import annotations

from typing import Final

PAPER: Final = "Agent2World (arXiv 2512.22336), published"

TEXT2WORLD: Final = {"executable": 0.931, "f1": 0.754}
"""Share of executable domains, and F1 (the mean of the four scores)."""
CWMB_DISCRETE: Final = {"accuracy": 0.9174, "return": 0.8333}
"""Accuracy of predicted transitions and normalised return, over the discrete environments."""
BYTESIZED32: Final = {"runnable": 0.8958, "alignment": 0.4768, "winnable": 0.1458}
"""Shares of generated text games."""
