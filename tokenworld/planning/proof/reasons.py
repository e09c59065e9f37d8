"""The reason behind *unwinnable*: the chain of causes, the minimal core, and repairs, as text and
JSON. `session.solving` calls `explain` after the verdict is known."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from tokenworld.diagnostics import Failure, Span
from tokenworld.ground import Json, Simulator, StateT
from tokenworld.model import Body, Program
from tokenworld.planning.ladder import plan
from tokenworld.planning.planners.by_encoding import plan_on
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine
from tokenworld.planning.proof.causes import Missing, Way, Why
from tokenworld.planning.proof.repairs import MOST_TRIED, Repair, find_repairs
from tokenworld.planning.proof.unsolvable_core import Core, Part, Variants, find_core
from tokenworld.planning.verdict import Verdict

_CORE_STATES = 10_000
"""Most states of a world whose core is searched without `--why`: a core takes tens of proofs."""

_ENCODED = 5
"""Most changed worlds that are encoded for a planner beside a verdict."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one goal line is out of reach.

    ``missing``: its conjuncts that never hold; empty where each may hold for itself. ``core`` is
    ``None`` where it was not asked for, or not found in time.
    """

    goal: str
    missing: tuple[Missing, ...]
    core: Core | None
    repairs: tuple[Repair, ...]

    def to_json(self) -> dict[str, Json]:
        core: Json = None
        if self.core is not None:
            core = {
                "oracle": self.core.oracle,
                "minimal": self.core.minimal,
                "untried": self.core.unsure,
                "parts": [_part_json(one) for one in self.core.parts],
            }
        return {
            "goal": self.goal,
            "missing": [_missing_json(one) for one in self.missing],
            "core": core,
            "repairs": [
                {"kind": r.kind, "text": r.text, "place": _place(r.span), "ticks": r.ticks}
                for r in self.repairs
            ],
        }


def explain(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str,
    variants: Variants[StateT],
    *,
    seconds: float,
    full: bool,
) -> Explanation:
    """Explain an unwinnable goal line. ``full``: with the core and several repairs.

    The core takes at most half of ``seconds``, a quarter if not ``full``; repairs take the rest.
    Not ``full``, it is left out where a world is too large for it.
    """
    end = time.monotonic() + seconds
    why = Why(simulator, state, variants.quote)
    missing, core = why.goal(goal), None
    if full or (not missing and (variants.states or 0) <= _CORE_STATES):
        share = seconds / (2 if full else 4)
        core = find_core(simulator, state, goal, variants, seconds=share)

    by_planner = variants.states is None and find_engine(FAST_DOWNWARD).ready

    def replan(program: Program, body: Body, limit: float) -> Verdict | None:
        try:
            other, start = variants.rebuild(program, body)
            if by_planner:  # our own search has not seen the end of the world itself
                return plan_on(other, start, goal, "E", seconds=limit)
            return plan(other, start, goal, time_limit=limit)
        except Failure:
            return None

    repairs: tuple[Repair, ...] = ()
    if why.sound:
        left = max(end - time.monotonic(), 0.0)
        most, tries = (3, MOST_TRIED) if full else (1, _ENCODED if by_planner else MOST_TRIED)
        repairs = find_repairs(
            why, missing, core, plan=replan, seconds=left, most=most, tries=tries
        )
    return Explanation(goal, missing, core, repairs)


# ---- for programs -----------------------------------------------------------------------------


def _place(span: Span) -> str:
    return f"{span.file}:{span.line}"


def _part_json(part: Part) -> dict[str, Json]:
    return {"kind": part.kind, "of": part.name, "text": part.text, "place": _place(part.span)}


def _missing_json(missing: Missing) -> dict[str, Json]:
    return {
        "condition": missing.text,
        "place": _place(missing.span),
        "holds": {one.name: one.values for one in missing.held},
        "rules": [_way_json(one) for one in missing.ways],
    }


def _way_json(way: Way) -> dict[str, Json]:
    return {
        "kind": way.kind,
        "name": way.name,
        "rule": way.shown,
        "place": _place(way.span),
        "no_object_of": list(way.empty),
        "lacks": [_missing_json(one) for one in way.lacks],
    }


# ---- for people -------------------------------------------------------------------------------


def explanation_lines(found: Explanation, *, full: bool) -> tuple[str, ...]:
    """The explanation in plain lines: the chain of causes, the core if ``full``, repairs."""
    lines: list[str] = []
    for missing in found.missing:
        lines += _missing_lines(missing, 0, f"nothing ever makes `{missing.text}` true", full)
    if not found.missing:
        lines.append(f"goal `{found.goal}`: each part can be had for itself, not all at once")
    if found.core is not None:
        lines += _core_lines(found.core)
    for repair in found.repairs:
        ticks = "1 tick is" if repair.ticks == 1 else f"{repair.ticks:,} ticks are"
        lines.append(f"it would help to {repair.text}: then {ticks} enough")
    return tuple(_once(lines))


def _once(lines: Sequence[str]) -> Sequence[str]:
    """Lines without those that repeat an earlier one at any depth, with what is below them."""
    seen, kept, below = set[str](), list[str](), None
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if below is not None and depth > below:
            continue
        below = depth if line.strip() in seen else None
        if below is None:
            seen.add(line.strip())
            kept.append(line)
    return kept


def _missing_lines(missing: Missing, depth: int, begin: str, full: bool) -> list[str]:
    indent = "  " * depth
    held = "; ".join(f"`{one.name}` is only ever {one.values}" for one in missing.held)
    why = f": {held}" if held else ""
    lines = [f"{indent}{begin} ({_place(missing.span)}){why}"]
    ways = missing.ways if full else missing.ways[:1]
    for way in ways:
        lines += _way_lines(way, depth + 1, full)
    return lines


def _way_lines(way: Way, depth: int, full: bool) -> list[str]:
    indent = "  " * depth
    if way.empty:
        types = " and no ".join(f"`{one}`" for one in way.empty)
        return [
            f"{indent}{way.kind} `{way.shown}` would, but there is no {types} ({_place(way.span)})"
        ]
    lines: list[str] = []
    for one in way.lacks if full else way.lacks[:2]:
        begin = f"{way.kind} `{way.shown}` would, and needs `{one.text}`"
        lines += _missing_lines(one, depth, begin, full)
    return lines


def _core_lines(core: Core) -> Sequence[str]:
    how = "minimal" if core.minimal else f"reduced; time ran out with {core.unsure} parts untried"
    lines = [f"core ({how}, by {core.oracle}): without any of these it could not be proved"]
    if not core.minimal:
        lines = [f"core ({how}, by {core.oracle}):"]
    for part in core.parts:
        lines.append(f"  {_WORDS[part.kind].format(part=part)} ({_place(part.span)})")
    return lines


_WORDS = {
    "goal": "goal {part.name}: {part.text}",
    "ending": "ending {part.name}: {part.text}",
    "invariant": "invariant {part.name}: {part.text}",
    "law": "law {part.name} happens by itself",
    "when": "law {part.name} when {part.text}",
    "require": "{part.name}: require {part.text}",
    "fluent": "start values of {part.text}",
    "fact": "start: {part.text}",
}
