"""Places and tables that differ from world to world, under the names by which kernels know them.

The values here are those of a world without anything; `link` gives each world its own.
"""

from __future__ import annotations

from collections.abc import Sequence

ROW = 8
"""Slots of the row that may change; the rest never does in play."""
TICK, SEED, TURN, ACTED, LATCHED_N, AWARDED_N = 1, 2, 3, 4, 5, 6
LATCHED = AWARDED = LONGS = DEEDS = KINDS = 7
OBJECTS = 0

# Regions of the scratch array.
LOG_SLOT = LOG_OP = LOG_VALUE = LOG_RULE = MARK = SUM_SLOT = SUM_OPS = SUM_SET = SUM_BY = 0
OFFERED = SEEN = WALK = TOUCHED = MEMO = DOOM = 0
LOG_SIZE = MEMO_SIZE = 0

# What the columns are like, by column.
COL_OF: Sequence[int] = ()
C_KIND: Sequence[int] = ()
C_LOW: Sequence[int] = ()
C_HIGH: Sequence[int] = ()
C_CLAMPED: Sequence[int] = ()
C_BASE: Sequence[int] = ()
C_SIZE: Sequence[int] = ()
C_DEFAULT: Sequence[int] = ()
C_SHAPE: Sequence[int] = ()
C_UNIQUE: Sequence[int] = ()
C_ORDERED: Sequence[int] = ()
C_NESTED: Sequence[int] = ()
C_ACYCLIC: Sequence[int] = ()
C_SYMMETRIC: Sequence[int] = ()
C_KIDS: Sequence[int] = ()
C_OFF0: Sequence[int] = ()
C_LEN0: Sequence[int] = ()
C_OFF1: Sequence[int] = ()
C_LEN1: Sequence[int] = ()
C_REFS: Sequence[int] = ()
COLUMNS = 0
ORDERING = 0
SHAPED = 0
"""Whether any column that play writes is unique, nested or acyclic."""

ISA: Sequence[int] = ()
KIND_COUNT = 0
ACTORS: Sequence[int] = ()
ACTOR_COUNT = 1
ME = 0
"""The first of the actors, or `none`."""

WORDS: Sequence[int] = ()
"""Words of keys of draws, in two's complement."""
PLAYER_ACTION = PLAYER_ARGUMENTS = 0

ACTIONS = 0
LONG_SIZE = 3
TAKES: Sequence[int] = ()
ARITY: Sequence[int] = ()
RISKY: Sequence[int] = ()
HAS_LONG = HAS_CONSERVES = TIME_ALWAYS = ENDLESS = LIVE = ENDINGS = AWARDS = DEEDED = 0
PASS_OFFERED = 1
EXEMPT: Sequence[int] = ()
CONSERVES = RULES = 0
