"""When rules read a state: in the actor's turn, at its end, or in a phase (language.md §8)."""

from __future__ import annotations

from tokenworld.planning.lower.algebra import LONG, DiagramAlgebra, Slot
from tokenworld.planning.lower.bodies import Bodies
from tokenworld.planning.lower.diagram import Diagram
from tokenworld.planning.lower.terms import Terms
from tokenworld.planning.lower.variables import Variables

__all__ = ["Moment"]


class Moment:
    """When rules read: which phase (-1: the actor's turn), and the evaluators for it.

    ``idle``: no long action is under way any more, as for an intent that broke one off.
    """

    def __init__(self, variables: Variables, phase: int, *, idle: bool = False) -> None:
        self.variables, self.phase = variables, phase
        self.diagrams = variables.diagrams

        def read(slot: Slot, was: bool) -> Diagram:
            if idle and slot[0] == LONG:
                return variables.diagrams.none
            return variables.read(slot, was, phase)

        algebra = DiagramAlgebra(self.diagrams, read)
        self.terms: Terms[Diagram] = Terms(variables.facts, algebra)
        self.bodies: Bodies[Diagram] = Bodies(self.terms, variables.coin)
