"""`python -m benchmarks --peers`: run the matches, print as they come, write `RESULTS.md`."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.peers.alone import Alone, measured_alone
from benchmarks.peers.catalogue import PEERS, Match, Peer, Places, matches
from benchmarks.peers.duel import Measured, ask_in_turns
from benchmarks.peers.environments import SetupError, own, prepared
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
    alone = list[Alone]()
    if not options.names:
        yield "== alone"
        for goal in measured_alone(options.rounds):
            alone.append(goal)
            yield f"{goal.what}: {_time(goal.middle)}"
    if options.target is None:
        return
    options.target.write_text("\n".join(_page(played, alone, options)) + "\n", encoding="utf-8")
    yield f"written: {options.target}"


def _played(one: _Played, options: Options) -> Iterator[str]:
    try:
        ours, environment = own(), prepared(one.peer.name, one.peer.packages)
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
        other = ours if one.peer.kind == "own" else environment
        yield from _matched(one, match, (ours.python, other.python), options)


def _matched(
    one: _Played, match: Match, pythons: tuple[Path, Path], options: Options
) -> Iterator[str]:
    """One match in two fresh processes; a side that fails leaves the rest of it unanswered."""
    with (
        Worker(pythons[0], one.peer.ours, options.seconds) as own,
        Worker(pythons[1], one.peer.adapter, options.seconds) as other,
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


def _page(played: Sequence[_Played], alone: Sequence[Alone], options: Options) -> Iterator[str]:
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
    yield from _alone(alone)
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
                m for m in one.measured
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
        middle, met = _judged(wanted, found)
        yield f"| {name} | {peer} | {what} | {wanted} | {middle} | {len(found)} | {met} |"
    yield ""


def _judged(wanted: str, found: Sequence[Measured]) -> tuple[str, str]:
    """The median, and whether it is enough: a ratio at least, or bytes of ours at most."""
    if wanted.endswith("B"):
        weight = median(byte for one in found for byte in one.ours)
        return f"{weight:.3g} B", "met" if weight <= float(wanted.rstrip("B")) else "missed"
    ratio = median(one.ratio for one in found)
    met = ratio >= float(wanted.rstrip("x").replace(",", ""))
    return _times(ratio), "met" if met else "missed"


def _alone(found: Sequence[Alone]) -> Iterator[str]:
    """Goals without anybody beside: CPU seconds, each round in a process of its own."""
    if not found:
        return
    yield "| goal | alone | wanted | median | least to greatest | |"
    yield "|---|---|---|---|---|---|"
    for one in found:
        low, high = _time(min(one.rounds)), _time(max(one.rounds))
        met = "met" if one.met else "missed"
        wanted, middle = f"at most {_time(one.wanted)}", _time(one.middle)
        yield f"| {one.goal} | {one.what} | {wanted} | {middle} | {low} to {high} | {met} |"
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
    told = _time if asked.measure == "seconds" else _bytes
    return (
        f"| {asked.problem} | {asked.what} | {told(ours)} | {told(theirs)} per {asked.unit} "
        f"| {_times(found.ratio)} | {low} to {high} |"
    )


def _time(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _bytes(count: float) -> str:
    return f"{count:.3g} B"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}x" if ratio >= 100 else f"{ratio:.2g}x"
