"""The loop of `tw fuzz`: worlds, intents, the first difference, shrunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tokenworld.diagnostics import Diagnostic, Failure, Span
from tokenworld.ground import Json
from tokenworld.tools.fuzzing.constructs import CONSTRUCTS, in_program, in_record
from tokenworld.tools.fuzzing.corners import CORNERS
from tokenworld.tools.fuzzing.playing import (
    Difference,
    Game,
    Intent,
    NoWorld,
    checked,
    first_difference,
    opened,
    opened_checked,
)
from tokenworld.tools.fuzzing.shrinking import blocks, shorter, smaller, without
from tokenworld.tools.fuzzing.worlds import random_world

__all__ = ["CROWD", "Found", "Report", "fuzz", "playable"]

SEEDS = 3
"""A world is played with one of so many seeds."""
STARTING = ("setup {", "legend", "invariant", "goal", "lose", "stop", "score", "award")
"""Lines that can keep a world from starting, the likeliest first."""
CROWD = 60
"""A world that makes more objects is left: one more tick of it may take minutes."""
REPAIRS = 12
"""How many statements may be taken out of a text before it is given up."""


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
        return {
            "world_seed": self.world,
            "seed": self.seed,
            "world": self.text,
            "intents": list(self.intents),
            "field": self.field,
            "engine": self.engine,
            "reference": self.reference,
        }


@dataclass
class Report:
    """What a campaign came to."""

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


def playable(seed: int) -> str | None:
    """The text of a random world that can be played; ``None`` if the generator failed.

    A statement that the checker can prove wrong (a value always outside its range, a sum that is
    surely not conserved) is taken out; so is a setup that cannot be carried out.
    """
    text = random_world(seed)
    for _ in range(REPAIRS):
        span = _wrong(text)
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
    """Where the first error of a text is, or the setup that its world cannot start with."""
    result = checked(text)
    found: list[Diagnostic] = [one for one in result.diagnostics if one.is_error]
    if found:
        return found[0].span
    try:
        for seed in range(SEEDS):
            opened_checked(result, seed)
    except (NoWorld, Failure):
        return next(filter(None, (_line_of(text, line) for line in STARTING)), None)
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
        text = playable(world)
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
    except Difference as difference:
        report.found = _shrunk(text, intents, seed, world, difference)


def _intents(game: Game, random: Random, ticks: int) -> Iterator[Intent]:
    for tick in range(ticks):
        if tick % 30 == 3:
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
        except Exception:  # a defect of another kind is not what is being shrunk
            return False
        return found is not None and found[1].field == field_

    intents = shorter(intents, lambda fewer: shows(text, fewer))
    text = smaller(text, lambda less: shows(less, intents))
    intents = shorter(intents, lambda fewer: shows(text, fewer))
    found = first_difference(text, intents, seed)
    last = found[1] if found is not None else difference
    return Found(world, seed, text, intents, last.field, last.engine, last.reference)
