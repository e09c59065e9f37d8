"""Rollouts: one world as whole numbers, played many times (docs/rollouts.md).

Read `machine.Machine` first, then `ticking.intend`: it is `engine.step` in the scalar subset. Ticks
that were played before are looked up: `automaton.Automaton`.
"""

from __future__ import annotations

from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.link import compiler_missing
from tokenworld.engine.rollout.machine import Escaped, Machine, Tally

__all__ = ["Escaped", "Inexpressible", "Machine", "Tally", "compiler_missing"]
