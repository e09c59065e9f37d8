"""Planning: from a world to a verdict that holds (winnable, unwinnable or unknown).

`plan` climbs the ladder; `Search` is our own exhaustive search; `replay.replay` is the referee;
`engines` says which planners are installed. Nothing here imports a planner.
"""

from __future__ import annotations

from tokenworld.planning.doctor import (
    FAST_DOWNWARD,
    EngineInfo,
    EnginePackage,
    engines,
    find_engine,
)
from tokenworld.planning.ladder import plan
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
