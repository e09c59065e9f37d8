"""The verb `tw fuzz`: runs the campaign and prints what it came to."""

from __future__ import annotations

import json
import time

from tokenworld.tools.fuzzing.constructs import CONSTRUCTS
from tokenworld.tools.fuzzing.fuzzing import Found, Report, fuzz
from tokenworld.tools.output import EXIT_NEGATIVE, EXIT_OK, Output

__all__ = ["run_fuzz"]

MOST = 1200
"""Characters of a differing value that are printed."""


def run_fuzz(count: int, seed: int, per_world: int, coverage: bool, output: Output) -> int:
    """Compare ``count`` ticks; 1 if the two evaluators differ anywhere."""
    told = [time.monotonic()]

    def say(report: Report) -> None:
        if time.monotonic() - told[0] >= 1:
            told[0] = time.monotonic()
            output.progress(f"{report.ticks} of {count} ticks, {report.worlds} worlds")

    report = fuzz(count, seed, per_world, say)
    output.json(report.to_json())
    _print(report, coverage, output)
    return EXIT_OK if report.found is None else EXIT_NEGATIVE


def _print(report: Report, coverage: bool, output: Output) -> None:
    statuses = ", ".join(f"{count} {name}" for name, count in sorted(report.statuses.items()))
    output.line(f"{report.ticks} ticks in {report.worlds} worlds: {statuses}.")
    if report.unusable:
        output.line(f"{report.unusable} generated texts were no worlds and were skipped.")
    shown = len(CONSTRUCTS) - len(report.missing)
    output.line(f"{shown} of {len(CONSTRUCTS)} constructs were exercised.")
    if coverage:
        for name in CONSTRUCTS:
            output.line(f"  {report.seen[name]:7}  {name}")
    elif report.missing:
        output.line(f"Not exercised: {', '.join(report.missing)}.")
    if report.found is None:
        output.line("The engine and the reference evaluator agree everywhere.")
    else:
        _print_found(report.found, output)


def _print_found(found: Found, output: Output) -> None:
    output.line()
    output.line(f"They differ in `{found.field}` (world {found.world}, seed {found.seed}):")
    for name, value in (("engine", found.engine), ("reference", found.reference)):
        text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
        output.line(f"  {name:9}  {text[:MOST]}")
    output.line()
    output.line("The world:")
    output.line(found.text)
    output.line("The intents:")
    for intent in found.intents:
        output.line(f"  {json.dumps(intent, ensure_ascii=False)}")
