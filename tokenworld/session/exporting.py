"""A world as PDDL, from its start state."""

from __future__ import annotations

from tokenworld.engine import EngineSimulator
from tokenworld.ground import Raw
from tokenworld.planning.pddl import PddlExport, export_pddl
from tokenworld.session.loading import OpenWorld

__all__ = ["export"]


def export(world: OpenWorld, goal: str | None) -> PddlExport:
    """Domain and problem of a world; ``goal`` names one of its goal lines."""
    start = world.engine.start()
    simulator = EngineSimulator(world.engine, start)

    def value(fluent: str, args: tuple[Raw, ...]) -> Raw:
        return simulator.read(start, fluent, args)

    return export_pddl(world.instance, value, goal)
