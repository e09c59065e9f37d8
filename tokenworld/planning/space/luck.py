"""`tw plan --luck certain` and `--luck probability`: verdicts that depend on the explicit graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from tokenworld.diagnostics import Diagnostic, Severity, to_json
from tokenworld.ground import Instance, LuckSimulator, Simulator, StateT
from tokenworld.planning.search.interpreted import Cancel, Limits, SearchProgress, platform
from tokenworld.planning.space.decisions import (
    Problem,
    Sure,
    Value,
    problem_of,
    risky_path,
    sure_states,
    value_of,
)
from tokenworld.planning.space.graph import Graph, explore
from tokenworld.planning.space.observed_draws import Observed, ObservedSimulator, planned_on
from tokenworld.planning.space.policy import Player, Policy, Sample, policy_of, sampled
from tokenworld.planning.verdict import SCHEMA_VERSION, PlanStep, ShownStep, draw_text, step_json

# ---- Verdicts and answers, for people and for programs ------------------------------------------

LuckAnswer = Literal["certain", "not certain", "winnable", "unwinnable", "unknown"]
LuckClaim = Literal["found", "exhausted", "exact", "bounded", "sampled"]
_LONG = 24
"""Fractions with more digits than this are shown as decimals only."""


@dataclass(frozen=True, slots=True)
class LuckVerdict:
    """The answer to a question about luck.

    ``claim`` is its evidence: *found* (a policy whose states were all seen), *exhausted* (all
    reachable states), *exact* (the probability as a fraction), *bounded* (sound bounds) or
    *sampled* (an estimate by playing; the bounds beside it stay sound). ``path`` leads to where
    luck has made the goal unreachable. ``states`` were seen, all there are if ``complete``, else
    ``reason`` is a clause that says why not. ``platform`` is what to add to a proof about reals.
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
    platform: str = ""

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
    return [f"unwinnable: {_goal(verdict)} cannot be reached, with any luck{verdict.platform}"]


def _certain(verdict: LuckVerdict) -> list[str]:
    goal = _goal(verdict)
    match verdict.answer:
        case "certain":
            return [f"winnable (certain): {goal} is reached with any luck", *_policy(verdict)]
        case "not certain":
            last = len(verdict.path)
            return [
                f"not certain: luck can make {goal} unreachable, for all ways of playing",
                *_path(verdict.path),
                f"after step {last} the goal cannot be reached any more{verdict.platform}",
            ]
        case "unwinnable":
            return _unwinnable(verdict)
        case _:
            return [f"unknown: whether {goal} can be reached with any luck"]


def _policy(verdict: LuckVerdict) -> list[str]:
    if verdict.policy is None or not verdict.policy.lines:
        return ["the goal holds in the start state: nothing needs to be done"]
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
            lines.append(f"exact: the best that any way of playing can reach{verdict.platform}")
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


# ---- Finding them -------------------------------------------------------------------------------
# *Certain*: a policy keeps the goal in reach with any luck. *Probability*: how likely the goal
# is for a player who chooses best; exact, or between bounds, or an estimate by playing. These are
# different claims and stay apart.

Say = Callable[[str], None]
Report = Callable[[SearchProgress], None]
Explorer = Callable[
    [ObservedSimulator[StateT], Observed[StateT], str | None, Limits, Report, Cancel | None],
    Graph[Observed[StateT]],
]
"""Makes the graph where that is not left to `graph.explore`: of states that are packed, say."""
_FOR_GRAPH = 0.6
"""The share of the time that exploring may take, where solving and playing come after it."""
_FOR_SOLVING = 0.5
"""The share of what is left that solving may take."""
_NARROW = 0.01
"""Bounds at most so far apart need no estimate beside them."""
_FOR_PLAN = 0.6
"""The share of the time for playing that one plan may take."""
_PLAYS = 1_000


@dataclass(frozen=True, slots=True)
class LuckLimits:
    """Limits: distinct states, seconds in all, bytes of the graph."""

    states: int = 200_000
    seconds: float = 60.0
    memory: int = 2 << 30


def certainty(
    inner: LuckSimulator[StateT],
    state: StateT,
    goal: str | None,
    limits: LuckLimits,
    *,
    say: Say | None = None,
    cancel: Cancel | None = None,
    explorer: Explorer[StateT] | None = None,
) -> LuckVerdict:
    """Whether the goal can be kept reachable with all luck.

    A policy that stays within the explored part counts even if the graph is partial. ``explorer``
    makes the graph, if that is not left to the interpreter.
    """
    began, simulator = time.monotonic(), ObservedSimulator(inner)
    graph = _explored(simulator, state, goal, limits, limits.seconds, say, cancel, explorer)
    blank = _blank("certain", graph, simulator.instance)
    cautious = problem_of(graph, cautious=True)
    sure = sure_states(cautious)
    if sure.holds:
        moves = {node: choice.move for node, choice in sure.policy.items()}
        policy = policy_of(simulator, graph, moves, "certain")
        found = replace(blank, answer="certain", claim="found", policy=policy)
    else:
        bold = problem_of(graph, cautious=False)
        found = _not_certain(simulator, graph, bold, sure_states(bold), blank)
    return replace(found, seconds=time.monotonic() - began)


def _not_certain(
    simulator: Simulator[StateT],
    graph: Graph[StateT],
    bold: Problem,
    sure: Sure,
    blank: LuckVerdict,
) -> LuckVerdict:
    """Why there is no such policy, or that it is not known."""
    if sure.holds:
        return replace(blank, notes=_limit_notes(graph))
    path = _risky_steps(simulator, graph, bold, sure)
    answer: LuckAnswer = "not certain" if path else "unwinnable"
    return replace(blank, answer=answer, claim="exhausted", path=path)


def _risky_steps(
    simulator: Simulator[StateT], graph: Graph[StateT], problem: Problem, sure: Sure
) -> tuple[ShownStep, ...]:
    """The way by which luck leads to where the goal is out of reach; empty if it always was."""
    if sure.rank.get(problem.start) == 0:
        return ()
    steps = []
    for node, choice, after in risky_path(problem, sure):
        move, state = graph.moves[node][choice.move], graph.states[node]
        outcome = [problem.ends[target] for target in move.targets].index(after)
        shown = simulator.show(state, move.command)
        cost = simulator.cost(state, move.command)
        steps.append(ShownStep(shown, cost, simulator.tick(state), move.draws[outcome]))
    return tuple(steps)


def probability(
    inner: LuckSimulator[StateT],
    state: StateT,
    goal: str | None,
    limits: LuckLimits,
    *,
    say: Say | None = None,
    cancel: Cancel | None = None,
    explorer: Explorer[StateT] | None = None,
) -> LuckVerdict:
    """The greatest probability of reaching the goal.

    Where the graph is too large to bound it well, the policy that was found is played and its
    share of wins estimated; outside of the graph it plans anew as it goes.
    """
    began, simulator = time.monotonic(), ObservedSimulator(inner)
    seconds = limits.seconds * _FOR_GRAPH
    graph = _explored(simulator, state, goal, limits, seconds, say, cancel, explorer)
    left = limits.seconds - (time.monotonic() - began)
    value = value_of(graph, time.monotonic() + left * _FOR_SOLVING)
    policy = policy_of(simulator, graph, value.moves, "probability") if value.low else None
    found = replace(
        _blank("probability", graph, simulator.instance),
        low=value.low,
        high=value.high,
        policy=policy,
    )
    if value.exact is not None:
        answer: LuckAnswer = "winnable" if value.exact else "unwinnable"
        found = replace(found, answer=answer, claim="exact" if value.exact else "exhausted")
    elif value.high - value.low <= _NARROW or graph.complete:
        answer = "winnable" if value.low else "unknown"
        found = replace(found, answer=answer, claim="bounded")
    else:
        left = limits.seconds - (time.monotonic() - began)
        sample = _sample(simulator, graph, value, left, say)
        wins = sample is not None and sample.wins > 0
        answer = "winnable" if value.low or wins else "unknown"
        notes = tuple(
            replace(note, severity=Severity.INFO) if answer == "winnable" else note
            for note in _limit_notes(graph)
        )
        claim: LuckClaim = "bounded" if sample is None else "sampled"
        found = replace(found, answer=answer, claim=claim, sample=sample, notes=notes)
    return replace(found, seconds=time.monotonic() - began)


def _sample(
    simulator: ObservedSimulator[StateT],
    graph: Graph[Observed[StateT]],
    value: Value,
    seconds: float,
    say: Say | None,
) -> Sample | None:
    """Play the policy of the graph, with plans outside of it.

    ``None`` if no way to the goal is found, or no play ends in time.
    """
    if say is not None:
        say("the graph is partial: playing to estimate")
    keys = {
        simulator.key(graph.states[node]): graph.moves[node][move].command
        for node, move in value.moves.items()
    }
    end = time.monotonic() + seconds

    def planned(state: Observed[StateT]) -> tuple[PlanStep, ...]:
        left = min(end - time.monotonic(), seconds * _FOR_PLAN)
        return planned_on(simulator.inner, state, graph.goal, left) if left > 0 else ()

    player = Player(simulator, lambda state: keys.get(simulator.key(state)), planned)
    if player.choose(graph.states[0]) is None:
        return None
    left = max(end - time.monotonic(), 0.1)
    found = sampled(simulator, graph.states[0], graph.goal, player, plays=_PLAYS, seconds=left)
    return found if found.cut < found.plays else None


def _explored(
    simulator: ObservedSimulator[StateT],
    state: StateT,
    goal: str | None,
    limits: LuckLimits,
    seconds: float,
    say: Say | None,
    cancel: Cancel | None,
    explorer: Explorer[StateT] | None,
) -> Graph[Observed[StateT]]:
    def report(now: SearchProgress) -> None:
        if say is not None:
            say(f"state space: {now.states:,} states seen, {now.waiting:,} waiting")

    caps = Limits(limits.states, seconds, limits.memory)
    if explorer is not None:
        return explorer(simulator, Observed(state), goal, caps, report, cancel)
    return explore(simulator, Observed(state), goal, caps, progress=report, cancel=cancel)


def _blank(luck: str, graph: Graph[StateT], instance: Instance) -> LuckVerdict:
    return LuckVerdict(
        "certain" if luck == "certain" else "probability",
        "unknown",
        graph.goal,
        None,
        states=len(graph),
        complete=graph.complete,
        reason=graph.reason,
        platform=platform(instance),
    )


def _limit_notes(graph: Graph[StateT]) -> tuple[Diagnostic, ...]:
    """The limit or gap that keeps the graph from giving an answer."""
    if graph.limit in ("states", "time", "memory"):
        message = f"The state space was not explored to its end: {graph.reason}."
        return (Diagnostic("TW0813", message, hint="Raise `--states` or `--time-limit`."),)
    message = f"The state space proves nothing here: {graph.reason}."
    hint = "Write rules whose outcomes can be listed, and raise `spare` where objects ran out."
    return (Diagnostic("TW0804", message, hint=hint),)
