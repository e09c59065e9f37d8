"""Planning: from a world to a verdict that holds (winnable, unwinnable or unknown).

`plan` climbs the ladder; `Search` is our own exhaustive search; `replay.replay` is the referee;
`engines` says which planners are installed. Nothing here imports a planner.

Its parts, in the order in which a question passes them: `lower` (the rules as cases), `encodings`
(the cases as texts), `planners` (child processes), `space` (our own map of all states), `proof`
(certificates, and why not); `pddl` writes the language of planners and `reader` reads it.
"""

from __future__ import annotations

from tokenworld.planning.ladder import plan
from tokenworld.planning.planners.doctor import (
    FAST_DOWNWARD,
    EngineInfo,
    EnginePackage,
    engines,
    find_engine,
)
from tokenworld.planning.replay import Replay
from tokenworld.planning.search import (
    Capped,
    Exhausted,
    Found,
    Limits,
    Search,
    SearchProgress,
    SearchResult,
)
from tokenworld.planning.verdict import (
    Attempt,
    PlanStep,
    Proof,
    ShownStep,
    Verdict,
    summary_lines,
)

__all__ = [
    "Attempt",
    "Capped",
    "EngineInfo",
    "EnginePackage",
    "Exhausted",
    "FAST_DOWNWARD",
    "Found",
    "Limits",
    "PlanStep",
    "Proof",
    "Replay",
    "Search",
    "SearchProgress",
    "SearchResult",
    "ShownStep",
    "Verdict",
    "engines",
    "find_engine",
    "plan",
    "summary_lines",
]
