"""What the questions about luck are answered with: for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from tokenworld.diagnostics import Diagnostic, to_json
from tokenworld.planning.space.policy import Policy
from tokenworld.planning.space.sampling import Sample
from tokenworld.planning.verdict import SCHEMA_VERSION, ShownStep, draw_text, step_json

__all__ = ["LuckAnswer", "LuckClaim", "LuckVerdict", "luck_lines"]

LuckAnswer = Literal["certain", "not certain", "winnable", "unwinnable", "unknown"]
LuckClaim = Literal["found", "exhausted", "exact", "bounded", "sampled"]
_LONG = 24
"""Fractions with more digits than this are shown as decimals only."""


@dataclass(frozen=True, slots=True)
class LuckVerdict:
    """The answer to a question about luck.

    ``claim`` says on what it rests: *found* (a policy whose states were all seen), *exhausted* (all
    reachable states), *exact* (the probability as a fraction), *bounded* (sound bounds) or
    *sampled* (an estimate by playing; the bounds beside it stay sound). ``path`` leads to where
    luck has put the goal out of reach. ``states`` were seen, all there are if ``complete``, else
    ``reason`` is a clause that says why not.
    """

    luck: Literal["certain", "probability"]
    answer: LuckAnswer
    goal: str | None
    claim: LuckClaim | None
    states: int
    complete: bool
    reason: str
    low: Fraction | float | None = None
    high: Fraction | float | None = None
    sample: Sample | None = None
    policy: Policy | None = None
    path: tuple[ShownStep, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    seconds: float = 0.0

    @property
    def exact(self) -> Fraction | None:
        """The exact probability, where that is the claim."""
        return self.low if self.claim == "exact" and isinstance(self.low, Fraction) else None

    @property
    def exit_code(self) -> int:
        """0 the goal is certain or possible, 1 it is not, 3 unknown."""
        return {"certain": 0, "winnable": 0, "unknown": 3}.get(self.answer, 1)

    def to_json(self) -> dict[str, object]:
        """The verdict for programs: every key is always there."""
        bounds = self.low is not None and self.high is not None
        return {
            "schema_version": SCHEMA_VERSION,
            "luck": self.luck,
            "answer": self.answer,
            "goal": self.goal,
            "claim": self.claim,
            "states": self.states,
            "complete": self.complete,
            "limit": self.reason or None,
            "probability": None if self.exact is None else str(self.exact),
            "bounds": {"low": _number(self.low), "high": _number(self.high)} if bounds else None,
            "sampled": None if self.sample is None else _sample_json(self.sample),
            "policy_states": None if self.policy is None else len(self.policy.lines),
            "path": [step_json(step) for step in self.path],
            "notes": [to_json(note) for note in self.notes],
            "seconds": round(self.seconds, 3),
        }


def _number(value: Fraction | float | None) -> str | float | None:
    """Fractions as text, so that nothing is lost."""
    return str(value) if isinstance(value, Fraction) else value


def _sample_json(sample: Sample) -> dict[str, object]:
    low, high = sample.interval
    return {
        "plays": sample.plays,
        "wins": sample.wins,
        "cut": sample.cut,
        "share": sample.share,
        "interval_95": {"low": low, "high": high, "method": "wilson"},
    }


# ---- for people -------------------------------------------------------------------------------


def luck_lines(verdict: LuckVerdict) -> tuple[str, ...]:
    """The verdict in plain lines, one claim each."""
    lines = _certain(verdict) if verdict.luck == "certain" else _probable(verdict)
    return (*lines, _seen(verdict))


def _seen(verdict: LuckVerdict) -> str:
    if verdict.complete:
        return f"looked at all {verdict.states:,} reachable states"
    return f"looked at {verdict.states:,} states, not at all of them: {verdict.reason}"


def _goal(verdict: LuckVerdict) -> str:
    return "a goal" if verdict.goal is None else f"goal `{verdict.goal}`"


def _unwinnable(verdict: LuckVerdict) -> list[str]:
    return [f"unwinnable: {_goal(verdict)} cannot be reached, with any luck"]


def _certain(verdict: LuckVerdict) -> list[str]:
    goal = _goal(verdict)
    match verdict.answer:
        case "certain":
            return [f"winnable (certain): {goal} is reached whatever luck does", *_policy(verdict)]
        case "not certain":
            last = len(verdict.path)
            return [
                f"not certain: luck can put {goal} out of reach, whatever is done",
                *_path(verdict.path),
                f"after step {last} the goal cannot be reached any more",
            ]
        case "unwinnable":
            return _unwinnable(verdict)
        case _:
            return [f"unknown: whether {goal} can be reached whatever luck does"]


def _policy(verdict: LuckVerdict) -> list[str]:
    if verdict.policy is None or not verdict.policy.lines:
        return ["the goal holds at the start: nothing needs to be done"]
    states = len(verdict.policy.lines)
    first = verdict.policy.lines[verdict.policy.start].command
    return [
        f"a policy for {states:,} state{'' if states == 1 else 's'}, which begins with {first}",
        "it keeps the goal in reach after every outcome, so playing on reaches it",
    ]


def _path(path: tuple[ShownStep, ...]) -> list[str]:
    lines = []
    for number, step in enumerate(path, 1):
        luck = "; ".join(draw_text(draw) for draw in step.draws)
        lines.append(f"  {number}. {step.command}" + (f"   luck: {luck}" if luck else ""))
    return lines


def _probable(verdict: LuckVerdict) -> list[str]:
    goal = _goal(verdict)
    match verdict.claim:
        case "exact":
            lines = [f"winnable: {goal} with probability {_shown(verdict.low)}"]
            lines.append("exact: the best that any way of playing can reach")
        case "exhausted":
            lines = _unwinnable(verdict)
        case "bounded":
            lines = [f"{verdict.answer}: {goal} with probability {_bounds(verdict)}"]
            lines.append("bounded: the best way of playing is between these two")
        case _:
            lines = [f"{verdict.answer}: {goal}, with a probability that is only estimated"]
            lines += _estimate(verdict)
    return lines


def _bounds(verdict: LuckVerdict) -> str:
    return f"at least {_shown(verdict.low)}, at most {_shown(verdict.high)}"


def _estimate(verdict: LuckVerdict) -> list[str]:
    assert verdict.sample is not None
    sample, (low, high) = verdict.sample, verdict.sample.interval
    cut = f", {sample.cut:,} broken off" if sample.cut else ""
    return [
        f"sampled: the policy found won {sample.wins:,} of {sample.plays:,} plays{cut}; "
        f"95 % confidence that it wins between {low:.4f} and {high:.4f} (Wilson)",
        f"bounded: the best way of playing wins with probability {_bounds(verdict)}",
    ]


def _shown(value: Fraction | float | None) -> str:
    if isinstance(value, Fraction) and len(str(value)) <= _LONG:
        return str(value) if value.denominator == 1 else f"{value} (about {float(value):.6g})"
    return "unknown" if value is None else f"{float(value):.12g}"
