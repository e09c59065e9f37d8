"""Where a rollout keeps what it works with: one array of whole numbers beside the state.

The first numbers have the fixed places below. Behind them lie regions whose place depends on the
world: `slots.Plan` hands them out and `link` puts their places into the names of `places`.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ARGS", "BROKEN", "DOOMED", "DRAWS", "ENDED_AT", "ERR", "ERROR", "ESCAPE", "FIXED", "FOUND",
    "INTENT", "KEY", "KEYED", "LIMIT", "LOGGED", "MOST_ARGS", "NONE", "NO_MATCH", "OUT_OF_TURN",
    "PAID", "PASS_ACT", "PASSED", "RECORDS", "REFUSABLE", "REWARDS", "RULE", "SAVED", "SEAT",
    "STAMP", "STREAM", "STATUSES", "STATUS_0", "STATUS_1", "TALLY", "TURNS", "U_HIGH", "U_LOW",
]  # fmt: skip

NONE: Final = -(1 << 62) - 1
"""`none` in a slot of any kind: outside every range that the language allows."""

LIMIT: Final = 1 << 30
"""Numbers without bounds are followed up to here; beyond, the interpreter plays the world."""

MOST_ARGS: Final = 8
"""The most parameters of a rule."""

INTENT: Final = 1 + MOST_ARGS
"""The numbers of an intent in a list of them: the action, then its arguments."""

# ---- why the evaluation of a tick went wrong ------------------------------------------------

ERROR: Final = 1
"""A value is undefined or two values meet in one slot: status `error`."""
REFUSABLE: Final = 2
"""A range, `unique` or a ring: an action is refused, elsewhere the tick is rolled back."""
BROKEN: Final = 3
"""An invariant or a conserved sum."""
ESCAPE: Final = 4
"""Not a fault: the world needs more than slots can hold."""

# ---- intents that are no action -------------------------------------------------------------

PASS_ACT: Final = -1
NO_MATCH: Final = -2
OUT_OF_TURN: Final = -3

STATUSES: Final = (
    "executed", "refused", "rolled_back", "no_match", "yielded", "waiting", "interrupted", "error",
    "halted",
)  # fmt: skip

# ---- the fixed places -----------------------------------------------------------------------

ERR: Final = 0
LOGGED: Final = 1
RULE: Final = 2
DRAWS: Final = 3
KEYED: Final = 4
U_HIGH: Final = 5
U_LOW: Final = 6
PAID: Final = 7
REWARDS: Final = 8
STAMP: Final = 9
DOOMED: Final = 10
FOUND: Final = 11
STATUS_0: Final = 12
STATUS_1: Final = 13
PASSED: Final = 14
RECORDS: Final = 15
TURNS: Final = 16
ENDED_AT: Final = 17
SEAT: Final = 18
KEY: Final = 19
ARGS: Final = 20
STREAM: Final = 29
TALLY: Final = 30
SAVED: Final = 40
FIXED: Final = 48
