"""The variables of an encoding: a slot that can change gets one, the others are constants."""

from __future__ import annotations

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.planning.lower.algebra import ALIVE, COIN, DID, LONG, RING, Refused, Slot
from tokenworld.planning.lower.bodies import DrawSite
from tokenworld.planning.lower.diagram import Diagram, Diagrams
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.units import Unit
from tokenworld.planning.lower.values import ValueAnalysis

__all__ = ["WAS", "WIDEST", "Taken", "Variables"]

WAS = "\nwas"  # (fluent, args…): what a slot held at the start of the tick
WIDEST = 5_000
"""The values of a variable at most."""


@frozen
class Taken:
    """A draw: its site, the rule that makes it, and how many draws that rule made before."""

    site: DrawSite[Diagram]
    unit: Unit
    number: Diagram


class Variables:
    """Slots by variable number and the other way round.

    ``draws`` tells of each coin met so far which draw it stands for,
    ``long_is_read`` whether any rule asked what long action runs.
    """

    def __init__(self, facts: Facts, analysis: ValueAnalysis, diagrams: Diagrams) -> None:
        self.facts, self.analysis, self.diagrams = facts, analysis, diagrams
        self.levels: dict[Slot, int] = {}
        self.slots: list[Slot] = []
        self.coins: dict[Slot, int] = {}
        self.draws: dict[Slot, Taken] = {}
        self.long_is_read = False
        self._first_writes: dict[Slot, int] = {}
        for unit, profile in analysis.profiles.items():
            if profile.feasible:
                for slot in profile.slots:
                    known = self._first_writes.get(slot, unit.phase)
                    self._first_writes[slot] = min(known, unit.phase)

    def read(self, slot: Slot, was: bool, phase: int) -> Diagram:
        """The value of a slot for a reader in a phase (-1: the actor)."""
        self.long_is_read = self.long_is_read or slot[0] == LONG
        if was and self._first_writes.get(slot, phase) < phase:
            slot = (WAS, (slot[0], *slot[1]))
        return self.now(slot)

    def now(self, slot: Slot) -> Diagram:
        """The value of a slot."""
        if slot not in self.levels:
            domain = self.domain(slot)
            if len(domain) == 1:
                return self.diagrams.leaf(domain[0])
            self.levels[slot] = self.diagrams.declare(domain)
            self.slots.append(slot)
        return self.diagrams.variable(self.levels[slot])

    def coin(self, slot: Slot, size: int) -> Diagram:
        """The value of a coin with ``size`` sides."""
        self.coins[slot] = size
        return self.now(slot)

    def domain(self, slot: Slot) -> tuple[Raw, ...]:
        """The values of a slot's variable."""
        name, args = slot
        match name:
            case _ if name == RING and isinstance(args[0], int):
                return tuple(range(args[0]))
            case _ if name == COIN:
                return tuple(range(self.coins[slot]))
            case _ if name == DID:
                return (False, True)
            case _ if name == LONG:
                return (None, *range(self.facts.stage_count))
            case _ if name == WAS:
                return self.domain(self.stored(slot))
            case _:
                return self._stored_domain(slot)

    def _stored_domain(self, slot: Slot) -> tuple[Raw, ...]:
        domain = self.analysis.domain(slot)
        if domain is not None and len(domain) <= WIDEST:
            return domain
        shown = self.facts.slot_name(slot)
        reason = "its values have no bound that is known"
        if domain is not None:
            reason = f"its {len(domain):,} values are too many"
        raise Refused(f"`{shown}`", self.span_of(slot), reason)

    def span_of(self, slot: Slot) -> Span:
        """Where a stored fluent is declared."""
        return self.facts.program.fluents[slot[0]].span

    @staticmethod
    def stored(slot: Slot) -> Slot:
        """The slot whose earlier value a `WAS` slot keeps."""
        fluent, *args = slot[1]
        return str(fluent), tuple(args)

    def initial(self, slot: Slot) -> Raw:
        """The value in the start state."""
        return self.facts.initial(self.stored(slot) if slot[0] == WAS else slot)

    def name(self, slot: Slot) -> str:
        """A readable name."""
        if slot[0] == WAS:
            return f"was {self.facts.slot_name(self.stored(slot))}"
        return self.facts.slot_name(slot)

    def is_stored(self, slot: Slot) -> bool:
        """Whether rules write the slot (the others are kept up by the encoding itself)."""
        return slot[0] == ALIVE or slot[0] in self.facts.program.fluents
