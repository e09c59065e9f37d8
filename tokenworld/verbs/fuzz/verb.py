"""The verb `tw fuzz`: runs a campaign and prints what it came to."""

from __future__ import annotations

import json

from tokenworld.verbs.fuzz.campaign import Found, Report, fuzz
from tokenworld.verbs.fuzz.constructs import CONSTRUCTS
from tokenworld.verbs.fuzz.verdicts import Disagreement, compare_verdicts
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output

__all__ = ["run_fuzz", "run_verdicts"]


MOST = 1200
"""Characters of a differing value that are printed."""


def run_fuzz(count: int, seed: int, per_world: int, coverage: bool, output: Output) -> int:
    """Compare ``count`` ticks; 1 if the two evaluators differ anywhere."""
    tell = output.each_second()

    def say(report: Report) -> None:
        tell(f"{report.ticks} of {count} ticks, {report.worlds} worlds")

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
        output.line("The engine, the reference evaluator and the stepper on rows agree everywhere.")
    else:
        _print_found(report.found, output)


def _print_found(found: Found, output: Output) -> None:
    output.line()
    output.line(f"They differ in `{found.field}` (world {found.world}, seed {found.seed}):")
    other = "rows" if found.field.startswith("rows.") else "reference"
    for name, value in (("engine", found.engine), (other, found.reference)):
        text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
        output.line(f"  {name:9}  {text[:MOST]}")
    output.line()
    output.line("The world:")
    output.line(found.text)
    output.line("The intents:")
    for intent in found.intents:
        output.line(f"  {json.dumps(intent, ensure_ascii=False)}")


# ---- verdicts -----------------------------------------------------------------------------------


def run_verdicts(count: int, seed: int, output: Output) -> int:
    """Compare the planners' verdicts about ``count`` small worlds; 1 if play contradicts one."""
    tell = output.each_second()
    report = compare_verdicts(
        count, seed, say=lambda report: tell(f"{report.worlds} of {count} worlds")
    )
    output.json(report.to_json())
    output.line(f"{report.worlds} small worlds; what play says / what an engine answers:")
    for name, answers in report.answers.items():
        shown = ", ".join(f"{count:,} {pair}" for pair, count in sorted(answers.items()))
        output.line(f"  {name:10} {shown}")
    output.line(
        f"{report.seeds['tried']:,} plans were tried with real seeds, "
        f"{report.reasons:,} reasons were held against the states of play."
    )
    for found in report.found:
        _print_disagreement(found, output)
    if not report.found:
        output.line("Play contradicts no verdict, plan or reason.")
    return EXIT_NEGATIVE if report.found else EXIT_OK


def _print_disagreement(found: Disagreement, output: Output) -> None:
    output.line()
    engine = f"engine {found.engine}" if found.engine else "`tw plan`"
    output.line(f"Play contradicts {engine} (world {found.world}): {found.what}.")
    output.line(f"  {found.detail[:MOST]}")
    output.line()
    output.line("The world:")
    output.line(found.text)
    if found.way:
        output.line("A way to a goal, by some luck:")
        for line in found.way:
            output.line(f"  {line}")
