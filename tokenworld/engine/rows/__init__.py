"""The stepper on rows: a state is one list of slots, changed in place, with a journal.

Every rule of core becomes one Python function (`terms`, `bodies`, `program`), which reads slots of
the row and logs its changes; `commit` merges the log by slot and writes it; `stepper` runs the tick
(language.md §8). Undoing is a loop over the journal. `layout` defines the place of each slot and
converts rows from and to `engine.state.State`.
"""

from __future__ import annotations

from tokenworld.engine.rows.code.program import rule_code
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.record import Record
from tokenworld.engine.rows.stepper import RowStepper

__all__ = ["Record", "Row", "RowStepper", "rule_code"]
