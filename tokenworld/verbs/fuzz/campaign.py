"""``tw fuzz``: worlds, intents, the first difference, and its smallest example."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from tokenworld.diagnostics import Diagnostic, Failure, Span, fields_json
from tokenworld.engine.reference import Tedious
from tokenworld.ground import Json
from tokenworld.verbs.fuzz.constructs import CONSTRUCTS, in_program, in_record
from tokenworld.verbs.fuzz.playing import (
    CORNERS,
    Difference,
    Game,
    Intent,
    NoWorld,
    checked,
    first_difference,
    opened,
    opened_checked,
)
from tokenworld.verbs.fuzz.small import small_world
from tokenworld.verbs.fuzz.worlds import random_world
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output

T = TypeVar("T")


def _balance(line: str) -> int:
    """The number of braces that a line opens minus those it closes, outside of strings."""
    outside = "".join(part for index, part in enumerate(_quoted(line)) if index % 2 == 0)
    return outside.count("{") - outside.count("}")


def _quoted(line: str) -> list[str]:
    """The parts of a line outside and inside of strings, in turn."""
    return line.replace('\\"', "").split('"')


def blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The ranges of lines that belong together: every line with the block that it opens."""
    found = []
    for start, line in enumerate(lines):
        depth, end = _balance(line), start + 1
        if depth < 0:
            continue
        while depth > 0 and end < len(lines):
            depth += _balance(lines[end])
            end += 1
        if depth <= 0:
            found.append((start, end))
    return found


def without(lines: Sequence[str], start: int, end: int) -> list[str]:
    """The lines but for a range; an `else` after it goes too."""
    rest = list(lines[end:])
    while rest and rest[0].strip().startswith(("else", "or ")):
        first = next(b for b in blocks(rest) if b[0] == 0)
        rest = rest[first[1] :]
    return [*lines[:start], *rest]


def smaller(text: str, shows: Callable[[str], bool], limit: int = 600) -> str:
    """Drop blocks and lines, the largest first, while the rest still ``shows`` it."""
    lines, tries = text.splitlines(), 0
    shrunk = True
    while shrunk and tries < limit:
        shrunk = False
        for start, end in sorted(blocks(lines), key=lambda one: one[0] - one[1]):
            if end > len(lines):
                continue
            tries += 1
            for fewer in _fewer(lines, start, end):
                if shows("\n".join(fewer) + "\n"):
                    lines, shrunk = fewer, True
                    break
            if shrunk or tries >= limit:
                break
    return "\n".join(lines) + "\n"


def _fewer(lines: list[str], start: int, end: int) -> list[list[str]]:
    """The text without a block, and with the content of the block in its place."""
    found = [without(lines, start, end)]
    if end - start > 2 and lines[start].startswith(" "):
        found.append([*lines[:start], *lines[start + 1 : end - 1], *lines[end:]])
    return found


_MOST_TRIES = 300
"""Lists that are tried to make one shorter."""


def shorter(things: list[T], shows: Callable[[list[T]], bool]) -> list[T]:
    """Drop halves, quarters … and single things while the rest still ``shows`` it."""
    size, tries = max(len(things) // 2, 1), 0
    while size >= 1 and tries < _MOST_TRIES:
        start = 0
        while start < len(things) and tries < _MOST_TRIES:
            fewer = things[:start] + things[start + size :]
            tries += 1
            if fewer != things and shows(fewer):
                things = fewer
            else:
                start += size
        size //= 2
    return things


SEEDS = 3
"""A world is played with one of so many seeds."""
STARTING = ("setup {", "legend", "invariant", "goal", "lose", "stop", "score", "award")
"""Lines that can keep a world from starting, the likeliest first."""
CROWD = 60
"""A world that makes more objects is left: one more tick of it may take minutes."""
REPAIRS = 12
"""The number of statements that may be taken out of a text before it is given up."""


@dataclass
class Found:
    """A difference: the world and intents, shrunk, that show it."""

    world: int
    seed: int
    text: str
    intents: list[Intent]
    field: str
    engine: Any
    reference: Any

    def to_json(self) -> dict[str, Json]:
        return {**fields_json(self, "text"), "world_seed": self.world, "world": self.text}


@dataclass
class Report:
    """The result of a campaign."""

    ticks: int = 0
    worlds: int = 0
    unusable: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    found: Found | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """Constructs that no world and no record has shown."""
        return tuple(name for name in CONSTRUCTS if not self.seen[name])

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": 1,
            "ticks": self.ticks,
            "worlds": self.worlds,
            "unusable": self.unusable,
            "statuses": dict(sorted(self.statuses.items())),
            "constructs": {name: self.seen[name] for name in CONSTRUCTS},
            "difference": self.found.to_json() if self.found is not None else None,
        }


def playable(seed: int, make: Callable[[int], str] = random_world) -> str | None:
    """The text of a random world that can be played; ``None`` if the generator failed.

    A statement that the checker can prove wrong (a value always outside its range, a sum that is
    surely not conserved) is taken out; so is a setup that cannot be carried out.
    """
    text = make(seed)
    for _ in range(REPAIRS):
        try:
            span = _wrong(text)
        except NoWorld:
            return None
        if span is None:
            return text
        lines = text.splitlines()
        around = [one for one in blocks(lines) if one[0] < span.line <= one[1]]
        if not around:
            return None
        start, end = min(around, key=lambda one: one[1] - one[0])
        text = "\n".join(without(lines, start, end)) + "\n"
    return None


def _wrong(text: str) -> Span | None:
    """The line of the first error of a text, or of the line that may prevent its world from
    starting.

    Raises `NoWorld` if the world cannot start and there is no such line.
    """
    result = checked(text)
    found: list[Diagnostic] = [one for one in result.diagnostics if one.is_error]
    if found:
        return found[0].span
    try:
        for seed in range(SEEDS):
            opened_checked(result, seed)
    except (NoWorld, Failure):
        for line in STARTING:
            span = _line_of(text, line)
            if span is not None:
                return span
        raise NoWorld("it cannot start") from None
    except Difference:
        pass  # that is what we look for
    return None


def _line_of(text: str, start: str) -> Span | None:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith(start):
            return Span("fuzz.tw", 0, 0, number, 1, number, 1)
    return None


def fuzz(
    ticks: int,
    seed: int = 0,
    per_world: int = 40,
    say: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Compare so many ticks; stop at the first difference."""
    report = Report()
    for corner, intents in CORNERS:
        if report.found is None:
            _play(corner, 0, len(intents), report, intents)
    world = seed * 1_000_003
    while report.ticks < ticks and report.found is None:
        text = playable(world, small_world if world % 4 == 0 else random_world)
        if text is None:
            report.unusable += 1
        else:
            report.worlds += 1
            _play(text, world, min(per_world, ticks - report.ticks), report)
        world += 1
        say(report)
    return report


def _play(text: str, world: int, ticks: int, report: Report, given: Sequence[Intent] = ()) -> None:
    random, seed, intents = Random(world), world % SEEDS, list[Intent]()
    try:
        game = opened(text, seed)
        game.start_agrees()
        report.seen.update(in_program(game.program, game.engine.instance.world))
        for intent in given or _intents(game, random, ticks):
            intents.append(intent)
            if intent.get("ask"):
                game.asked()
                continue
            for outcome in game.step(intent):
                report.statuses[outcome.status] += 1
                report.seen.update(in_record(outcome))
            report.ticks += 1
            if outcome.status == "halted" or len(game.state.kinds) > CROWD:
                break
    except Tedious:
        pass  # its next tick may take minutes: the campaign takes another world
    except Difference as difference:
        report.found = _shrunk(text, intents, seed, world, difference)


def _intents(game: Game, random: Random, ticks: int) -> Iterator[Intent]:
    for tick in range(ticks):
        if tick % 10 == 3:
            yield {"ask": True}
        yield game.random_intent(random)


def _shrunk(
    text: str, intents: list[Intent], seed: int, world: int, difference: Difference
) -> Found:
    """The least text and intents that still show a difference in the same field."""
    field_ = difference.field

    def shows(text_: str, intents_: list[Intent]) -> bool:
        try:
            found = first_difference(text_, intents_, seed)
        except Exception:  # only the same kind of defect is minimised
            return False
        return found is not None and found[1].field == field_

    intents = shorter(intents, lambda fewer: shows(text, fewer))
    text = smaller(text, lambda less: shows(less, intents))
    intents = shorter(intents, lambda fewer: shows(text, fewer))
    found = first_difference(text, intents, seed)
    last = found[1] if found is not None else difference
    return Found(world, seed, text, intents, last.field, last.engine, last.reference)


# ---- the verb ---------------------------------------------------------------------------------


MOST_SHOWN = 1200
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
        output.line(f"  {name:9}  {text[:MOST_SHOWN]}")
    output.line()
    output.line("The world:")
    output.line(found.text)
    output.line("The intents:")
    for intent in found.intents:
        output.line(f"  {json.dumps(intent, ensure_ascii=False)}")
