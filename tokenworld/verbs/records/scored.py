"""``tw conform --score``: how likely recorded transitions are by the rules of a world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, isfinite
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, counted
from tokenworld.engine.outcomes.listing import Scored
from tokenworld.ground import Json
from tokenworld.session import open_world
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.records.rows import BadRow
from tokenworld.verbs.records.transitions import Transition, transitions

_NOTED = 5
"""Rows that cannot be used, and impossible ones, that are printed."""


@dataclass(slots=True)
class _Scores:
    """The rows so far."""

    told: list[Json] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    impossible: list[tuple[str, Scored]] = field(default_factory=list)
    possible: int = 0
    logp: float = 0.0

    def add(self, row: Transition, found: Scored) -> None:
        """Count a row."""
        likely = isfinite(found.logp)
        if likely:
            self.possible += 1
            self.logp += found.logp
        else:
            self.impossible.append((row.place, found))
        difference = found.first_difference
        self.told.append({
            "place": row.place,
            "logp": found.logp if likely else None,
            "sites": [one.to_json() for one in found.sites],
            "difference": None if difference is None else difference.to_json(),
        })  # fmt: skip


def score_rows(target: str, paths: Sequence[Path], out: Output) -> int:
    """Score every row; 0 where there are rows and all of them are possible and usable."""
    if not paths:
        hint = "Name files that `tw runs rows` has written: `.jsonl`, or `.jsonl.gz`."
        raise Failure(Diagnostic("TW0001", "No file of rows is named.", hint=hint))
    world = open_world(target)
    found, tell = _Scores(), out.each_second()
    for row in transitions(world, paths):
        if isinstance(row, BadRow):
            found.bad.append(row)
            continue
        try:
            scored = world.engine.logp(row.state, row.intent, row.seen, row.fields)
        except Failure as failure:
            found.bad.append(BadRow(row.place, failure.diagnostics[0].message.rstrip(".")))
            continue
        found.add(row, scored)
        tell(f"{len(found.told)} rows, {len(found.impossible)} impossible")
    _print(found, out)
    out.json({
        "schema_version": 1,
        "ok": not found.impossible and not found.bad,
        "rows": found.told,
        "possible": found.possible,
        "logp": found.logp,
        "first_impossible": found.impossible[0][0] if found.impossible else None,
        "skipped": [{"place": one.place, "why": one.why} for one in found.bad],
    })  # fmt: skip
    fine = found.possible and not found.impossible and not found.bad
    return EXIT_OK if fine else EXIT_NEGATIVE


def _print(found: _Scores, out: Output) -> None:
    every = found.possible + len(found.impossible)
    mean = f", {exp(found.logp / found.possible):.4g} a row" if found.possible else ""
    out.line(f"{counted(every, 'row')}: log probability {found.logp:.4f}{mean}")
    if found.impossible:
        out.line(f"{counted(len(found.impossible), 'row')} impossible by the rules, the first:")
    for place, scored in found.impossible[:_NOTED]:
        why = "" if scored.first_difference is None else scored.first_difference.text()
        out.line(f"  {place}: {why}")
    for bad in found.bad[:_NOTED]:
        out.note(f"{bad.place}: {bad.why}")
    if found.bad:
        out.note(f"{counted(len(found.bad), 'row')} skipped")
    elif not every:
        out.note("the files have no rows")
