"""``tw simbench``: any world as a benchmark of those who predict what it does."""

from __future__ import annotations
