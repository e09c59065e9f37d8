"""Planning: from a world to a verdict that holds (winnable, unwinnable or unknown).

`plan` climbs the ladder; `Search` is our own exhaustive search; `replay.replay` is the referee;
`engines` says which planners are installed. Nothing here imports a planner.

Its parts, in the order in which a question passes them: `lower` (the rules as cases), `encodings`
(the cases as texts), `planners` (child processes), `space` (our own map of all states), `proof`
(certificates, and why not); `pddl` writes the language of planners and `reader` reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_HOMES = {
    "Attempt": "verdict",
    "Capped": "search",
    "EngineInfo": "planners.doctor",
    "EnginePackage": "planners.doctor",
    "Exhausted": "search",
    "FAST_DOWNWARD": "planners.doctor",
    "Found": "search",
    "Limits": "search",
    "PlanStep": "verdict",
    "Proof": "verdict",
    "Replay": "replay",
    "Search": "search",
    "SearchProgress": "search",
    "SearchResult": "search",
    "ShownStep": "verdict",
    "Verdict": "verdict",
    "engines": "planners.doctor",
    "find_engine": "planners.doctor",
    "plan": "ladder",
    "summary_lines": "verdict",
}


def __getattr__(name: str) -> object:
    """Import a name from its module when it is first asked for: an audit needs no planner."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
