"""The interpreter: a checked instance becomes generated code, states, ticks and refusals.

Read `step.Stepper.tick` first: it is language.md §8, and the only place that makes a status.
Rooms beside it: `legal` lists commands, `inplace` plays without keeping states, `searching` is for
those who look at many states, `rollout` plays many worlds, `reference` is the second, plain engine.
"""

from __future__ import annotations

from tokenworld.engine.clauses import Clause, ClauseKind
from tokenworld.engine.engine import Engine
from tokenworld.engine.luck import ForcedLuck, Luck, SeededLuck, draw
from tokenworld.engine.restore import state_from_json
from tokenworld.engine.searching.simulator import EngineSimulator
from tokenworld.engine.speaker import EngineSpeaker
from tokenworld.engine.state import State

__all__ = [
    "Clause",
    "ClauseKind",
    "Engine",
    "EngineSimulator",
    "EngineSpeaker",
    "ForcedLuck",
    "Luck",
    "SeededLuck",
    "State",
    "draw",
    "state_from_json",
]
