"""`python -m benchmarks --peers`: run the matches, print as they come, write `RESULTS.md`."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.peers.catalogue import PEERS, Match, Peer, Places, matches
from benchmarks.peers.duel import Measured, ask_in_turns
from benchmarks.peers.environments import Environment, SetupError, prepared
from benchmarks.peers.worker import PeerError, Worker

__all__ = ["RESULTS", "Options", "report"]

RESULTS = Path(__file__).parents[1] / "RESULTS.md"


@dataclass(frozen=True, slots=True)
class Options:
    """What to run; ``command`` is what repeats it, ``seconds`` the patience with one answer."""

    names: tuple[str, ...]
    places: Places
    rounds: int
    seconds: float
    command: str
    target: Path | None = RESULTS


@dataclass(slots=True)
class _Played:
    """What came of one peer."""

    peer: Peer
    versions: str = ""
    why_not: str = ""
    stores: tuple[str, str] = ("", "")
    measured: list[Measured] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)


def report(options: Options) -> Iterator[str]:
    """Lines as results come; the file, if one is asked for, is written at the end, whole."""
    played: list[_Played] = []
    for peer in PEERS:
        if options.names and peer.name not in options.names:
            continue
        one = _Played(peer)
        yield f"== {peer.name}"
        yield from _played(one, options)
        played.append(one)
    if options.target is None:
        return
    options.target.write_text("\n".join(_page(played, options)) + "\n", encoding="utf-8")
    yield f"written: {options.target}"


def _played(one: _Played, options: Options) -> Iterator[str]:
    try:
        environment = prepared(one.peer.name, one.peer.packages)
    except SetupError as error:
        one.why_not = str(error)
        yield f"left out: {error}"
        return
    one.versions = environment.versions
    for match in matches(one.peer, options.places):
        if match.missing:
            one.skipped.append((match.title, match.missing))
            yield f"{match.title}: left out, {match.missing}"
            continue
        yield from _matched(one, match, environment, options)


def _matched(
    one: _Played, match: Match, environment: Environment, options: Options
) -> Iterator[str]:
    """One match in two fresh processes; a side that fails leaves the rest of it unanswered."""
    with (
        Worker(Path(sys.executable), one.peer.ours, options.seconds) as own,
        Worker(environment.python, one.peer.adapter, options.seconds) as other,
    ):
        if match.load:
            try:
                one.stores = _loaded(own, other, match)
            except PeerError as error:
                one.skipped.append((match.title, str(error)))
                yield f"{match.title}: left out, {error}"
                return
        for question in match.questions:
            if own.alive and other.alive:
                found = ask_in_turns(own, other, question, options.rounds)
            else:
                found = Measured(question, failed="not asked after that")
            one.measured.append(found)
            yield _line(found)


def _loaded(own: Worker, other: Worker, match: Match) -> tuple[str, str]:
    """Both sides load; the start states must be the same. What each of them stores."""
    first, second = own.ask("load", **match.load), other.ask("load", **match.load)
    if first["digest"] != second["digest"]:
        raise PeerError("the start states differ")
    return str(first["stores"]), str(second["stores"])


def _line(found: Measured) -> str:
    asked = found.question
    if found.failed:
        return f"{asked.problem}: {asked.what}: left out, {found.failed}"
    low, high = min(found.ratios), max(found.ratios)
    return f"{asked.problem}: {asked.what}: {_times(found.ratio)} ({_times(low)} to {_times(high)})"


# ---- the page -------------------------------------------------------------------------------


def _page(played: Sequence[_Played], options: Options) -> Iterator[str]:
    yield "# Beside other programs"
    yield ""
    yield "Written by"
    yield ""
    yield f"    {options.command}"
    yield ""
    yield (
        "Each program runs in an environment of its own. Both sides do the same, in turns (ours, "
        f"theirs, {options.rounds} rounds), with garbage collection off; what they come to is "
        "compared by a digest before any time counts. A ratio says how many times our CPU time the "
        "other one takes: above 1 ours is faster. It is the median of the rounds, with the least "
        "and the greatest. What failed is named and counts in no median. The goals are those that "
        "the project has set itself."
    )
    yield ""
    yield f"Machine: {_machine()}."
    yield ""
    yield from _goals(played)
    for one in played:
        yield from _section(one)


def _machine() -> str:
    model = ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
        model = names[0] if names else ""
    except OSError:
        pass
    known = model or platform.processor() or platform.machine()
    system = f"{platform.system()} {platform.machine()}"
    return f"{known}, {os.cpu_count()} cores, {system}, Python {platform.python_version()}"


def _goals(played: Sequence[_Played]) -> Iterator[str]:
    """The median over problems of what is about a goal."""
    rows = []
    for one in played:
        asked = {(m.question.goal, m.question.what): m for m in one.measured if m.question.goal}
        for goal, what in asked:
            found = [
                m.ratio for m in one.measured
                if (m.question.goal, m.question.what) == (goal, what) and not m.failed
            ]  # fmt: skip
            rows.append((*goal.split(), one.peer.name, what, found))
    if not rows:
        return
    yield "| goal | beside | what | wanted | median | problems | |"
    yield "|---|---|---|---|---|---|---|"
    for name, wanted, peer, what, found in sorted(rows, key=lambda row: (row[0], row[2], row[3])):
        if not found:
            yield f"| {name} | {peer} | {what} | {wanted} | – | 0 | not measured |"
            continue
        middle = median(found)
        met = "met" if middle >= float(wanted.rstrip("x").replace(",", "")) else "missed"
        yield f"| {name} | {peer} | {what} | {wanted} | {_times(middle)} | {len(found)} | {met} |"
    yield ""


def _section(one: _Played) -> Iterator[str]:
    yield f"## {one.peer.name}"
    yield ""
    if one.why_not:
        yield f"Left out: {one.why_not}."
        yield ""
        return
    if one.versions:
        yield f"{one.versions}."
        yield ""
    if one.stores[0]:
        yield f"- ours stores {one.stores[0]}."
        yield f"- theirs stores {one.stores[1]}."
        yield ""
    if one.measured:
        yield "| problem | what | ours | theirs | ratio | least to greatest |"
        yield "|---|---|---|---|---|---|"
    for found in one.measured:
        yield _row(found)
    if one.measured:
        yield ""
    for title, reason in one.skipped:
        yield f"- {title}: left out, {reason}."
    if one.skipped:
        yield ""


def _row(found: Measured) -> str:
    asked = found.question
    if found.failed:
        return f"| {asked.problem} | {asked.what} | | | – | {found.failed} |"
    ours, theirs = median(found.ours), median(found.theirs)
    low, high = _times(min(found.ratios)), _times(max(found.ratios))
    return (
        f"| {asked.problem} | {asked.what} | {_time(ours)} | {_time(theirs)} per {asked.unit} "
        f"| {_times(found.ratio)} | {low} to {high} |"
    )


def _time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}x" if ratio >= 100 else f"{ratio:.2g}x"
