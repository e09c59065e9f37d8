"""The one door to a world: open, play, ask, plan, record, replay, test."""

from __future__ import annotations

from tokenworld.session.loading import (
    Loaded,
    LoadFailure,
    OpenWorld,
    check_file,
    check_text,
    load_program,
    open_world,
)
from tokenworld.session.session import LegalCommand, Moment, Session, WhyNot
from tokenworld.session.solving import plan_for_seed

__all__ = [
    "LegalCommand",
    "LoadFailure",
    "Loaded",
    "Moment",
    "OpenWorld",
    "Session",
    "WhyNot",
    "check_file",
    "check_text",
    "load_program",
    "open_world",
    "plan_for_seed",
]
