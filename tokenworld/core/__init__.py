"""Core: what a checked program means, in eight statements and thirteen terms.

`lowered` makes it of a checked program. What executes, enumerates, encodes or proves reads core;
the checker, the formatter and the rulebook read the checked model.
"""

from __future__ import annotations

from tokenworld.core.program import Rules, lowered
from tokenworld.core.rules import Footprint
from tokenworld.core.visitor import StatementVisitor, TermVisitor

__all__ = ["Footprint", "Rules", "StatementVisitor", "TermVisitor", "lowered"]
