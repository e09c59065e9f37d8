"""The one door to a world: open, play, ask, plan, record, replay, test.

The names below are imported on first use, so that `tw check` never loads the planner or the store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenworld.session.loading import (
        Loaded,
        LoadFailure,
        OpenWorld,
        check_file,
        check_text,
        load_program,
        open_world,
    )
    from tokenworld.session.moments import LegalCommand, Moment, WhyNot
    from tokenworld.session.rollouts import Rollout, rollout
    from tokenworld.session.scenarios import ScenarioResult, run_scenario
    from tokenworld.session.session import Session
    from tokenworld.session.solving import plan_for_seed

__all__ = [
    "LegalCommand",
    "LoadFailure",
    "Loaded",
    "Moment",
    "OpenWorld",
    "Rollout",
    "ScenarioResult",
    "Session",
    "WhyNot",
    "check_file",
    "check_text",
    "load_program",
    "open_world",
    "plan_for_seed",
    "rollout",
    "run_scenario",
]

_HOMES = {
    "LegalCommand": "moments",
    "Moment": "moments",
    "Rollout": "rollouts",
    "ScenarioResult": "scenarios",
    "Session": "session",
    "WhyNot": "moments",
    "plan_for_seed": "solving",
    "rollout": "rollouts",
    "run_scenario": "scenarios",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"{__name__}.{_HOMES.get(name, 'loading')}")
    return getattr(module, name)
