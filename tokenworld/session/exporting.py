"""A world as PDDL, from its start state."""

from __future__ import annotations

from tokenworld.engine import EngineSimulator
from tokenworld.planning.pddl import PddlExport, export_world
from tokenworld.session.loading import OpenWorld

__all__ = ["export"]


def export(world: OpenWorld, goal: str | None) -> PddlExport:
    """Domain and problem of a world; ``goal`` names one of its goal lines."""
    start = world.engine.start()
    return export_world(EngineSimulator(world.engine, start), start, goal)
