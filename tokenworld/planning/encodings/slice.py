"""The cone of influence: which variables and commands can matter for the goal.

From the goal, the losses and everything else that can stop a plan, backwards over what they depend
on. What lies outside is left out: a command that changes nothing inside does no more than waiting
does, and where waiting is no command it does nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tokenworld.planning.lower.algebra import COIN, DID, LONG, RING, WAS, Obstacle, Refused, Slot
from tokenworld.planning.lower.diagram import Diagram
from tokenworld.planning.lower.world import Commanded, TakenApart


@dataclass(slots=True)
class Cone:
    """The relevant slots and commands in order of discovery, and the obstacles.

    ``won``, ``safe`` and the phases are the conditions that started it: the goal, and where a plan
    may go on; ``kept`` is what both say of invariants. ``idle`` is a command kept only because it
    ends a long action. ``whole``: all draws are told, those too that decide nothing.
    """

    won: Diagram
    safe: Diagram
    kept: Diagram
    whole: bool = False
    slots: dict[Slot, None] = field(default_factory=dict)
    commands: dict[Commanded, None] = field(default_factory=dict)
    obstacles: dict[Obstacle, None] = field(default_factory=dict)


def cone_of(world: TakenApart, *, whole: bool = False) -> Cone:
    """The cone of influence of a world's goal; ``whole``: all there is, needed or not."""
    return _Slicer(world).run(whole)


class _Slicer:
    def __init__(self, world: TakenApart) -> None:
        self._world, self._diagrams = world, world.diagrams
        self._cone = Cone(world.diagrams.false, world.diagrams.true, world.diagrams.true)
        self._waiting: list[Slot] = []

    def run(self, whole: bool) -> Cone:
        cone, guards = self._cone, self._world.guards
        cone.whole = whole
        kept = cone.kept = self._asked(self._kept)
        both, negate = self._diagrams.both, self._diagrams.negate
        cone.won = both(self._asked(guards.won), kept)
        cone.safe = both(negate(self._asked(guards.over)), kept)
        for phase in self._world.phases:
            self._asked(phase.ok)
        if whole:
            self._everything()
        self._spread()
        if whole:
            self._every_draw()
        self._keep_idle()
        self._spread()
        return cone

    def _everything(self) -> None:
        """Add every command, and every slot that a rule may write."""
        now = self._world.variables.now
        slots = [slot for one in self._world.phases for slot in one.block.slots]
        slots += [slot for one in self._world.commands for slot in one.slots]
        for slot in dict.fromkeys(slots):
            self._asked(lambda slot=slot: now(slot))  # type: ignore[misc]
        for command in self._world.commands:
            self._keep(command)

    def _every_draw(self) -> None:
        """Every draw of every rule, as the interpreter counts them, and what decides about it."""
        world = self._world
        for block in (*(one.block for one in world.phases), *(one.block for one in world.commands)):
            block.meet_draws()
        for slot in world.variables.draws:
            if len(world.variables.domain(slot)) > 1:
                self._matter(world.variables.now(slot))

    # ---- asking ---------------------------------------------------------------------------

    def _asked(self, compute: Callable[[], Diagram]) -> Diagram:
        """A diagram whose variables are added to the cone; an obstacle is recorded."""
        try:
            found = compute()
        except Refused as refused:
            self._cone.obstacles[refused.obstacle] = None
            return self._diagrams.true
        self._matter(found)
        return found

    def _matter(self, diagram: Diagram) -> None:
        for level in sorted(self._diagrams.support(diagram)):
            slot = self._world.variables.slots[level]
            if slot not in self._cone.slots:
                self._cone.slots[slot] = None
                self._waiting.append(slot)

    def _kept(self) -> Diagram:
        """Where every invariant that can break holds: a tick that breaks one does not happen."""
        world = self._world
        blocks = [(phase.block, phase.ok) for phase in world.phases]
        for command in world.commands:
            blocks.append((command.block, command.possible))
            if command.cancelled is not None:
                blocks.append((command.cancelled, command.cancellable))
        return world.guards.invariants(blocks)

    # ---- spreading ------------------------------------------------------------------------

    def _spread(self) -> None:
        while self._waiting:
            self._explain(self._waiting.pop(0))

    def _explain(self, slot: Slot) -> None:
        """Add all that a slot depends on."""
        variables, world = self._world.variables, self._world
        name, args = slot
        if name == WAS:
            self._matter(variables.now(variables.stored(slot)))
        elif name == COIN:
            self._coin(slot)
        elif name == LONG:
            for command in world.commands:
                if command.is_long:
                    self._keep(command)
        elif name == DID:
            for command in world.commands:
                if (command.command.action, *command.command.args)[: len(args)] == args:
                    self._keep(command)
        elif name != RING:
            self._stored(slot)

    def _stored(self, slot: Slot) -> None:
        for phase in self._world.phases:
            if phase.block.writes(slot):
                self._asked(lambda block=phase.block: block.after(slot))  # type: ignore[misc]
        for command in self._world.commands:
            if slot in command.slots:
                self._keep(command)
                for block in (command.block, command.cancelled):
                    if block is not None and block.writes(slot):
                        self._asked(lambda block=block: block.after(slot))  # type: ignore[misc]

    def _coin(self, slot: Slot) -> None:
        site = self._world.variables.draws[slot].site
        number = self._world.variables.draws[slot].number
        self._matter(site.taken)
        self._matter(number)
        self._asked(site.count)
        for side in range(site.sides):
            self._asked(lambda side=side: site.possible(side))  # type: ignore[misc]
            self._asked(lambda side=side: site.choice(side))  # type: ignore[misc]

    def _keep(self, command: Commanded) -> None:
        """Add a command and all that decides whether it can be given."""
        if command in self._cone.commands:
            return
        self._cone.commands[command] = None
        self._asked(command.exists)
        self._asked(command.possible)
        self._asked(command.cost)
        if command.is_long:
            self._asked(command.requires)
            self._asked(command.fails)
            for under_way in (False, True):
                self._asked(partial(command.until, under_way=under_way))
            self._asked(command.cancellable)
            self._matter(self._world.variables.now((LONG, ())))

    # ---- commands that change nothing -------------------------------------------------------

    def _keep_idle(self) -> None:
        """Keep a command that changes nothing where doing so differs from waiting."""
        if not self._idling_matters():
            return
        rest = [one for one in self._world.commands if one not in self._cone.commands]
        rest = [one for one in rest if one.takes > 0 and not one.is_long]
        free = [one for one in rest if self._asked_possible(one) == self._diagrams.true]
        for command in free[:1] or rest:
            self._keep(command)

    def _asked_possible(self, command: Commanded) -> Diagram:
        try:
            return self._diagrams.both(command.exists(), command.possible())
        except Refused:
            return self._diagrams.false

    def _idling_matters(self) -> bool:
        """Whether another command than `pass` can be of use although it changes nothing.

        It may end a long action that runs in the start state, whose ``cancelled`` block matters or
        which a rule asks for (``busy``, ``did``). To end any other long action is no better than
        not to begin it.
        """
        slots, world = self._cone.slots, self._world
        if (LONG, ()) not in slots:
            return False
        asked = world.variables.long_is_read or any(name == DID for name, _ in slots)
        return (
            asked
            or world.facts.running is not None
            or any(
                command.cancelled is not None
                and any(slot in slots for slot in command.cancelled.slots)
                for command in self._cone.commands
            )
        )
