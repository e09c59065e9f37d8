"""`RESULTS.md`: the table of all figures, then the problems of each figure."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.speed.figures import Figure, Goal, Sample, Unit

__all__ = ["line", "page"]


def line(figure: Figure) -> str:
    """One figure on a terminal."""
    beside = f", beside {figure.beside}" if figure.beside else ""
    told = figure.missing or f"{_value(figure)} (wanted: {_goal(figure.goal)}; {figure.verdict})"
    failed = "".join(f"\n   {one.problem}: {one.failed}" for one in figure.samples if one.failed)
    return f"{figure.name} {figure.what}{beside}: {told}{failed}"


def page(figures: Sequence[Figure], command: str, when: str, note: str) -> Iterator[str]:
    """The lines of the page. ``when`` names date and commit, ``note`` the state of the machine."""
    yield "# Speed"
    yield ""
    yield f"Written by `{command}`, {when}."
    yield ""
    yield f"Machine: {_machine()}.{f' {note}' if note else ''}"
    yield ""
    yield (
        "All figures are the CPU time of a verb, an environment or a public call. Two sides do the "
        "same work alternately. If both have a result, its digest comes from the timed calls, and "
        "a problem whose digests differ has no time. A figure is the median of its problems, each "
        "the median of its rounds."
    )
    yield ""
    yield "| | what | beside | wanted | measured | problems | |"
    yield "|---|---|---|---|---|---|---|"
    for one in figures:
        yield _row(one)
    for name in dict.fromkeys(one.name for one in figures):
        yield from _section(name, [one for one in figures if one.name == name])


def _row(one: Figure) -> str:
    cells = (one.name, one.what, one.beside, _goal(one.goal))
    told = one.missing or _value(one)
    count = str(len(one.counted)) if one.samples else ""
    return f"| {' | '.join(cells)} | {told} | {count} | {one.verdict} |"


def _section(name: str, figures: Sequence[Figure]) -> Iterator[str]:
    if not any(one.samples for one in figures):
        return
    yield ""
    yield f"## {name}"
    yield ""
    yield "| problem | what | ours | theirs | ratio | least to greatest |"
    yield "|---|---|---|---|---|---|"
    for figure in figures:
        for sample in figure.samples:
            yield _sample(figure, sample)


def _sample(figure: Figure, one: Sample) -> str:
    head = f"| {one.problem} | {figure.what} |"
    if one.failed:
        return f"{head} | | – | {one.failed} |"
    values, goal = one.values(figure.goal), figure.goal
    spread = f"{_shown(min(values), goal.unit)} to {_shown(max(values), goal.unit)}"
    unit: Unit = "modules" if goal.unit == "modules" else "s"
    ours = _shown(median(one.ours), unit)
    if not one.theirs:
        return f"{head} {ours} {one.unit} | | | {spread} |"
    theirs = _shown(median(one.theirs), unit)
    return f"{head} {ours} | {theirs} {one.unit} | {_shown(median(values), 'x')} | {spread} |"


def _goal(goal: Goal) -> str:
    return f"at {'most' if goal.at_most else 'least'} {_shown(goal.limit, goal.unit)}"


def _value(figure: Figure) -> str:
    value = figure.value
    return "–" if value is None else _shown(value, figure.goal.unit)


def _shown(value: float, unit: Unit) -> str:
    match unit:
        case "x":
            return f"{value:,.0f}x" if value >= 100 else f"{value:.3g}x"
        case "modules":
            return f"{value:.0f} modules"
        case "s":
            return _time(value)


def _time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _machine() -> str:
    model = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [text.partition(":")[2].strip() for text in file if "model name" in text]
        model = names[0] if names else ""
    except OSError:
        pass
    known = model or platform.processor() or platform.machine()
    system = f"{platform.system()} {platform.machine()}"
    return f"{known}, {os.cpu_count()} cores, {system}, Python {platform.python_version()}"
