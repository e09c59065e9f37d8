"""Sentences of the morning report that both of its forms share."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.quality.morning import Morning, RunReport

__all__ = ["facts_of", "summary", "title"]


def title(report: Morning) -> str:
    """The heading."""
    return f"Morning report, since {report.since}" if report.since else "Morning report"


def summary(report: Morning) -> str:
    """How many runs there are, and how they are."""
    number = len(report.runs)
    if not number:
        return "No run was recorded."
    counts = ", ".join(f"{count} {name}" for name, count in report.verdicts.items())
    return f"{number} {'run' if number == 1 else 'runs'}: {counts}."


def facts_of(one: RunReport) -> Iterator[tuple[str, str]]:
    """What there is to say of a run beside its dimensions, as pairs of a name and a sentence."""
    run = one.run
    began = f", began {run.timing.started}" if run.timing else ""
    ended = run.ending.reason if run.ending else "not finished"
    yield (
        "run",
        f"{run.ticks} records by {run.header.player}, seed {run.header.seed}, {ended}{began}",
    )
    if one.trouble:
        yield "not scored", one.trouble
        return
    yield "goal", _goal(one)
    for halt in one.halts:
        yield "halted", f"tick {halt.tick}: {halt.came_to.removeprefix('halted: ')}"
    if one.reasons:
        yield "refused most", _counted(one.reasons)
    if one.unread:
        yield "not understood", _counted(one.unread)
    if one.gaps:
        ticks = ", ".join(f"tick {gap.tick} ({gap.asked})" for gap in one.gaps)
        yield "open gaps", ticks
    if one.idle:
        yield "never fired", ", ".join(one.idle)


def _goal(one: RunReport) -> str:
    """What was reached, when, and what a plan would have needed."""
    how = {True: "reached", False: "ended by"}
    reached = [f"{how[end.won]} {end.name} at tick {end.tick}" for end in one.reached]
    said = "; ".join(reached) or f"not reached in {one.ticks_used} ticks"
    if one.plan is None:
        return said
    return f"{said} (a plan takes {one.plan}, the run used {one.ticks_used})"


def _counted(pairs: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{text} ({number})" for text, number in pairs)
