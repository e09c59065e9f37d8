"""Core: the meaning of a checked program, in eight statements and thirteen terms.

`lowered` translates a checked program to core. The engine, the planner, encodings and proofs read
core; the checker, the formatter and the rulebook read the checked model.
"""

from __future__ import annotations

from tokenworld.core.program import Rules, lowered
from tokenworld.core.rules import Footprint
from tokenworld.core.visitor import StatementVisitor, TermVisitor

__all__ = ["Footprint", "Rules", "StatementVisitor", "TermVisitor", "lowered"]
