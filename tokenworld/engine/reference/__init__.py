"""A second evaluator, straight from the language reference, to hold the engine against.

It is slow and plain: a state is a dictionary from slots to values, terms are evaluated by one
`match`, nothing is compiled or kept up to date. It shares no code with the rest of the engine, so
that a mistake is not made twice.
"""

from __future__ import annotations

from tokenworld.engine.reference.chance import forced
from tokenworld.engine.reference.terms import Tedious
from tokenworld.engine.reference.values import Fault, State
from tokenworld.engine.reference.world import Reference, ReferenceSpeaker

__all__ = ["Fault", "Reference", "ReferenceSpeaker", "State", "Tedious", "forced"]
