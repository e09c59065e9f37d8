"""``tw simbench``: any world as a benchmark of predictors."""

from __future__ import annotations
