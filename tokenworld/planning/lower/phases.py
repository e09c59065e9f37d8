"""The part of a tick that nobody chooses: coins, phases, and what the last step keeps up."""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.encodings.ir import Effect, Literal
from tokenworld.planning.encodings.slice import Cone
from tokenworld.planning.lower.algebra import COIN, DID, RING, Slot
from tokenworld.planning.lower.blocks import Block
from tokenworld.planning.lower.diagram import Diagram, Value
from tokenworld.planning.lower.operators import Draft, Operators, Results
from tokenworld.planning.lower.outcomes import label_of
from tokenworld.planning.lower.variables import WAS, Taken
from tokenworld.planning.lower.world import Phase, TakenApart

__all__ = ["ACT", "MUST", "Phases"]

ACT, MUST = 0, 1
"""Places of the token: the actor chooses, or must now give the intent that broke something off."""
_FIRST = 2


@frozen
class _Step:
    """A step after the command: a draw, or a phase."""

    name: str
    phase: Phase
    coin: Taken | None = None


class Phases:
    """The steps after the command that matter. ``token`` is set once its variable is declared."""

    def __init__(self, world: TakenApart, cone: Cone, operators: Operators) -> None:
        self._world, self._cone, self._operators = world, cone, operators
        self._diagrams, self._all = world.diagrams, world.variables
        self._steps: list[_Step] = []
        for phase in world.phases:
            coins = self.coins(phase.block)
            matters = bool(operators.matters(phase.block)) or phase.ok() != self._diagrams.true
            if coins or matters:
                self._steps += [_Step(f"draw {_key_name(one)}", phase, one) for one in coins]
                self._steps.append(_Step(phase.name, phase))
        self.token = -1

    @property
    def names(self) -> tuple[str, ...]:
        """The places of the token."""
        return ("act", "must", *(step.name for step in self._steps))

    @property
    def any(self) -> bool:
        """Whether anything comes after a command."""
        return bool(self._steps)

    def coins(self, block: Block) -> list[Taken]:
        """The draws of a block that matter, in order of evaluation."""
        units = {unit: position for position, unit in enumerate(block.units)}
        found = [
            self._all.draws[slot]
            for slot in self._cone.slots
            if slot[0] == COIN and self._all.draws[slot].unit in units
        ]

        def order(one: Taken) -> tuple[int, int]:
            number = one.site.coin[1][-1]
            return units[one.unit], number if isinstance(number, int) else 0

        return sorted(found, key=order)

    # ---- what is kept up --------------------------------------------------------------------

    def begun(self) -> Effect:
        """How the token moves when a command is done."""
        return Effect((), self.token, _FIRST if self._steps else ACT)

    def turned(self) -> Results:
        """The rings of `tick()`, one further."""
        return [(slot, self._next(slot)) for slot in self._cone.slots if slot[0] == RING]

    def _next(self, slot: Slot) -> Diagram:
        size = len(self._all.domain(slot))

        def following(value: Value) -> Value:
            return (value + 1) % size if isinstance(value, int) else value

        return self._diagrams.lift(("turn", size), following, self._all.now(slot))

    def started(self, last: Block | None) -> Results:
        """What `was` reads in the next tick, if ``last`` is what happened before it."""
        found = []
        for slot in self._cone.slots:
            if slot[0] == WAS:
                stored = self._all.stored(slot)
                held = self._all.now(stored) if last is None else last.after(stored)
                found.append((slot, held))
        return found

    # ---- steps ------------------------------------------------------------------------------

    def add(self) -> None:
        """The operators of all steps."""
        for position, step in enumerate(self._steps, start=_FIRST):
            last = position - _FIRST == len(self._steps) - 1
            here: tuple[Literal, ...] = ((self.token, (position,)),)
            move = Effect((), self.token, ACT if last else position + 1)
            if step.coin is not None:
                self._draw(step, step.coin, here, move)
            else:
                self._phase(step.phase, here, move, last)

    def _phase(self, phase: Phase, here: tuple[Literal, ...], move: Effect, last: bool) -> None:
        index, results, extra = self._operators.index, self._operators.results(phase.block), [move]
        extra += [Effect((), index[coin.site.coin], 0) for coin in self.coins(phase.block)]
        if last:
            results = results + self.turned() + self.started(phase.block)
            extra += [Effect((), variable, 0) for slot, variable in index.items() if slot[0] == DID]
        self._operators.add(Draft(phase.name, phase.ok(), results, here, tuple(extra)))

    def _draw(self, step: _Step, coin: Taken, here: tuple[Literal, ...], move: Effect) -> None:
        """One operator per side that has a chance, and one where nothing is drawn."""
        diagrams, site = self._diagrams, coin.site
        for side in site.order:
            show = (Effect((), self._operators.index[site.coin], side),) if side else ()
            chosen = diagrams.both(site.taken, site.possible(side))
            for draws, condition in label_of(self._world, coin, side, chosen, {}):
                name = f"{step.name}: {side}"
                self._operators.add(Draft(name, condition, [], here, (move, *show), draws=draws))
        skipped = diagrams.negate(site.taken)
        self._operators.add(Draft(f"{step.name}: none", skipped, [], here, (move,)))


def _key_name(taken: Taken) -> str:
    return " ".join(str(part) for part in taken.site.coin[1])
