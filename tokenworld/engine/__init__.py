"""The interpreter: a checked instance becomes generated code, states, ticks and refusals.

Read `rows.stepper.RowStepper.tick` first: it is language.md §8, and everything that runs goes
through it. `searching` is for those who look at many states, `reference` is the second, plain
engine: the oracle of the tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenworld.engine.engine import Engine
from tokenworld.engine.knowledge import HIDDEN, Knowledge
from tokenworld.engine.luck import ForcedLuck, Luck, SeededLuck, in_tick
from tokenworld.engine.rows.questions.clauses import Clause, ClauseKind
from tokenworld.engine.saved.restore import state_from_json
from tokenworld.engine.speaker import EngineSpeaker
from tokenworld.engine.state import State

if TYPE_CHECKING:
    from tokenworld.engine.searching.simulator import EngineSimulator

__all__ = [
    "HIDDEN",
    "Clause",
    "ClauseKind",
    "Engine",
    "EngineSimulator",
    "EngineSpeaker",
    "ForcedLuck",
    "Knowledge",
    "Luck",
    "SeededLuck",
    "State",
    "in_tick",
    "state_from_json",
]


def __getattr__(name: str) -> object:
    """The simulator of searches, for those who search: `tw check` loads none of it."""
    if name != "EngineSimulator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tokenworld.engine.searching.simulator import EngineSimulator

    return EngineSimulator
