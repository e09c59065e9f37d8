"""``tw rollout``: many runs of one world, and a table of their results."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Annotated, Literal

from tokenworld.planning.space.policy import wilson
from tokenworld.session.rollouts import Rollout
from tokenworld.session.rollouts import rollout as roll
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output

_WORDS = {"goal": "won by", "lose": "lost by", "stop": "stopped by"}


def rollout(
    target: opt.World,
    out: Output,
    *,
    policy: opt.Policy = "random",
    worlds: Annotated[int, "How many runs, each with the next seed."] = 100,
    ticks: opt.Length = 1000,
    engine: Annotated[
        Literal["auto", "fast", "plain", "play"],
        "Compiled; in Python; in Python with every text; auto: the fastest.",
    ] = "auto",
    digests: Annotated[bool, "Add the state hash of every run."] = False,
    seed: opt.Seed = 0,
) -> int:
    """Play, and print the table or the JSON."""
    say = out.each_second()
    found = roll(
        target, worlds=worlds, ticks=ticks, seed=seed, policy=policy, engine=engine,
        digests=digests, say=lambda done: say(f"{done} of {worlds} runs"),
    )  # fmt: skip
    if found.note:
        out.note(found.note)
    for line in _table(found):
        out.line(line)
    out.json({"schema_version": 1, **found.to_json()})
    return EXIT_OK


# ---- the table ------------------------------------------------------------------------------


def _table(found: Rollout) -> list[str]:
    last = found.seed + found.worlds - 1
    lines = [
        f"{found.world}: {found.worlds} runs of at most {found.limit} records, policy "
        f"{found.policy}, seeds {found.seed} to {last}, engine {found.engine}",
        f"{'outcome':<28}{'runs':>8}{'share':>8}{'95 %':>16}   ticks to the end: least median most",
    ]
    for number, (name, kind) in enumerate(zip(found.endings, found.kinds, strict=True)):
        ends = [int(t) for e, t in zip(found.ending, found.ended_at, strict=True) if e == number]
        lines.append(_row(f"{_WORDS[kind]} {name}", len(ends), found.worlds, ends))
    running = sum(1 for one in found.ending if int(one) < 0)
    lines.append(_row("still running", running, found.worlds, []))
    lines.append(_statuses(found))
    if any(float(one) for one in found.score):
        lines.append(_spread("score", [float(one) for one in found.score]))
    if any(float(one) for one in found.reward):
        lines.append(_spread("reward", [float(one) for one in found.reward]))
    if found.escaped:
        lines.append(f"{found.escaped} runs had ticks that were not compiled: room did not suffice")
    return lines


def _row(name: str, runs: int, of: int, ends: Sequence[int]) -> str:
    low, high = wilson(runs, of)
    ticks = f"   {min(ends)} {median(ends):g} {max(ends)}" if ends else ""
    return f"{name:<28}{runs:>8}{runs / of:>8.1%}{f'{low:.1%} to {high:.1%}':>16}{ticks}"


def _statuses(found: Rollout) -> str:
    statuses = found.to_json()["statuses"]
    assert isinstance(statuses, dict)
    return "records: " + ", ".join(f"{count} {name}" for name, count in statuses.items())


def _spread(name: str, values: Sequence[float]) -> str:
    mean = sum(values) / len(values)
    ends = f"least {min(values):g}, median {median(values):g}, most {max(values):g}"
    return f"{name}: {ends}, mean {mean:.4g}"
