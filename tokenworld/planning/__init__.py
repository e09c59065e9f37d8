"""Planning: from a world to a verdict that holds (winnable, unwinnable or unknown).

Where does a plan become a verdict? `ladder.plan` asks one engine after the other; each hands its
steps to `referee.refereed`, which replays them on the interpreter and returns a `verdict.Verdict`.

The rooms, in the order in which a question passes them:

- `search`: our own searches over the interpreter and over packed states; `width`: the width search;
- `grounding`, `lower`, `encodings`: ground actions, rules as guarded effects, tasks as texts;
- `planners`: Fast Downward, SymK, ENHSP and unified-planning as child processes;
- `referee`, `verdict`: a plan is replayed, the answer is written down; `quality`: better plans;
- `proof`: certificates, and the reason behind *unwinnable*; `hints`; `capabilities`;
- `honest`: plans that win whatever is secret; `space`: the graph of all states, for `tw audit`;
- `pddl` writes the language of planners, `reader` reads it.

Nothing here imports a planner; `engines` says which are installed.
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
    from tokenworld.planning.referee import Replay
    from tokenworld.planning.search.interpreted import (
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
    "FAST_DOWNWARD",
    "Attempt",
    "Capped",
    "EngineInfo",
    "EnginePackage",
    "Exhausted",
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
    "Capped": "search.interpreted",
    "EngineInfo": "planners.doctor",
    "EnginePackage": "planners.doctor",
    "Exhausted": "search.interpreted",
    "FAST_DOWNWARD": "planners.doctor",
    "Found": "search.interpreted",
    "Limits": "search.interpreted",
    "PlanStep": "verdict",
    "Proof": "verdict",
    "Replay": "referee",
    "Search": "search.interpreted",
    "SearchProgress": "search.interpreted",
    "SearchResult": "search.interpreted",
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
