"""`tw plan --luck certain` and `--luck probability`: verdicts that depend on the explicit graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from math import log, prod
from typing import Literal, assert_never

from tokenworld.diagnostics import Diagnostic, Severity, counted, to_json
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import (
    Instance,
    Json,
    LuckSimulator,
    LuckyDraw,
    Simulator,
    StateT,
    Unfinished,
)
from tokenworld.planning.honest.secrets import secrets_read
from tokenworld.planning.referee import refereed
from tokenworld.planning.search.interpreted import (
    Cancel,
    Limits,
    SearchProgress,
    Watch,
    has_costs,
    platform,
)
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
from tokenworld.planning.verdict import (
    SCHEMA_VERSION,
    PlanStep,
    ShownStep,
    Verdict,
    draw_text,
    step_json,
)

# ---- Plans that count on less luck ---------------------------------------------------------------
# Plans that count on less luck: fewer and likelier draws, and no waiting where a sure way is
# shorter.
#
# A plan from a search or a planner takes every draw as it likes. `least_luck` searches again, with
# a price on the draws of those rules that the plan counts on (`referee.needed_luck`), until no plan
# counts on others; the best of these plans is kept. `expected_ticks` is the measure of players: it
# supposes that a step is given again until its draws fall as the plan wants them.


By = Literal["chance", "ticks", "ties"]
"""The measure of plans: the probability of their draws, the ticks until these are expected to have
come, or their cost and ticks and then the probability."""

_ROUNDS = 4
"""Searches for one plan at most."""
_STATES = {"chance": 20_000, "ticks": 20_000, "ties": 4_000}
"""States of one search at most, which are the same on every machine: it keeps whole states."""


def chance_of(draws: Sequence[LuckyDraw]) -> Fraction:
    """The probability that draws fall as they do here; 1 for draws without weights."""
    shares = (Fraction(one.weights[one.choice], sum(one.weights)) for one in draws if one.weights)
    return prod(shares, start=Fraction(1))


def expected_ticks(steps: Sequence[PlanStep]) -> Fraction:
    """The ticks that a plan is expected to take, if each step is given until its draws fall so."""
    return sum((1 / chance_of(step.draws) for step in steps), Fraction(0))


def _chance(verdict: Verdict) -> Fraction:
    """The probability of all draws that a plan counts on."""
    return prod((chance_of(step.draws) for step in verdict.steps), start=Fraction(1))


def least_luck(
    simulator: Simulator[StateT],
    state: StateT,
    verdict: Verdict,
    by: By,
    *,
    seconds: float,
    cancel: Cancel | None = None,
) -> Verdict:
    """The verdict with the best plan that is found, where its own plan counts on luck.

    By ``chance`` that is the plan whose draws are likeliest, then the shortest; by ``ticks`` the
    one with the fewest `expected_ticks`. No plan is claimed to be the best of all.
    """
    return _better(simulator, state, verdict, by, seconds, cancel)


def likelier(
    simulator: Simulator[StateT],
    state: StateT,
    verdict: Verdict,
    *,
    seconds: float,
    cancel: Cancel | None = None,
) -> Verdict:
    """The verdict with a plan of likelier draws that costs no more and takes no longer, if one is
    found."""
    return _better(simulator, state, verdict, "ties", seconds, cancel)


def _better(
    simulator: Simulator[StateT],
    state: StateT,
    verdict: Verdict,
    by: By,
    seconds: float,
    cancel: Cancel | None,
) -> Verdict:
    """Search again and again, each time with a price on the draws that the last plan counted on."""
    end, best, priced = time.monotonic() + seconds, verdict, frozenset[_Drawer]()
    costs, last = has_costs(simulator), verdict
    for _ in range(_ROUNDS):
        more = priced | _drawers(last)
        left = end - time.monotonic()
        if more == priced or left <= 0:
            break
        priced = more
        found = _planned(simulator, state, verdict, _Prices(by, priced, costs), left, cancel)
        if found is None:
            break
        best, last = min(best, found, key=lambda one: _rank(one, by)), found
    return best


_Drawer = tuple[str, tuple[Json, ...]]
"""A rule that draws, with its arguments."""


def _drawers(verdict: Verdict) -> frozenset[_Drawer]:
    return frozenset((draw.rule, draw.args) for step in verdict.steps for draw in step.draws)


def _rank(verdict: Verdict, by: By) -> tuple[Fraction | int, ...]:
    """The order of plans: the lower, the better."""
    chance = -_chance(verdict)
    match by:
        case "chance":
            return chance, verdict.ticks
        case "ticks":
            return expected_ticks(verdict.steps), chance, verdict.ticks
        case "ties":
            return verdict.cost, verdict.ticks, chance
        case _:
            assert_never(by)


# ---- prices -------------------------------------------------------------------------------------

_Paid = tuple[float, float, float]
"""The costs of a plan, compared part by part."""


@frozen
class _Prices:
    """The price of a step; only draws of the rules in ``priced`` cost anything, for it is not known
    of others that they matter."""

    by: By
    priced: frozenset[_Drawer]
    costs: bool

    def of(self, cost: int, draws: Sequence[LuckyDraw]) -> _Paid:
        chance = chance_of([one for one in draws if (one.rule, one.args) in self.priced])
        surprise = -log(chance)
        match self.by:
            case "chance":
                return surprise, 1.0, 0.0
            case "ticks":
                return float(1 / chance), surprise, 0.0
            case "ties":
                return float(cost) if self.costs else 0.0, 1.0, surprise
            case _:
                assert_never(self.by)


# ---- the search ---------------------------------------------------------------------------------


def _planned(
    simulator: Simulator[StateT],
    state: StateT,
    before: Verdict,
    prices: _Prices,
    seconds: float,
    cancel: Cancel | None,
) -> Verdict | None:
    """The verdict of a cheapest plan, if it is found in time; it keeps the claim of the one
    ``before`` if it is as good."""
    watch = Watch(Limits(_STATES[prices.by], seconds), cancel)
    simulator.bound(lambda outcomes: watch.late(0, outcomes, 0))
    try:
        steps = _cheapest(simulator, state, before.goal, prices, watch)
    except Unfinished:
        return None
    finally:
        simulator.bound(None)
    if steps is None or (before.within is not None and len(steps) > before.within):
        return None
    found = refereed(simulator, state, steps, before.goal, before.engine, before.encoding)
    if isinstance(found, str):
        return None
    same = (found.cost, found.ticks) == (before.cost, before.ticks)
    secrets = secrets_read(simulator.instance.program, [one.command for one in found.steps])
    return replace(
        found,
        optimal=before.optimal if same else None,
        attempts=before.attempts,
        notes=(*(note for note in before.notes if note.code != "TW0808"), *secrets),
        within=before.within,
        seconds=before.seconds,
    )


def _cheapest(
    simulator: Simulator[StateT],
    start: StateT,
    goal: str | None,
    prices: _Prices,
    watch: Watch,
) -> tuple[PlanStep, ...] | None:
    """The steps of a cheapest plan (Dijkstra's algorithm); ``None`` at a limit, or if there is
    none."""
    first, number = simulator.short_key(start), count()
    best: dict[Hashable, _Paid] = {first: (0.0, 0.0, 0.0)}
    waiting: dict[Hashable, StateT] = {first: start}
    came: dict[Hashable, tuple[Hashable, PlanStep]] = {}
    heap: list[tuple[_Paid, int, Hashable]] = [(best[first], next(number), first)]
    while heap and watch.stop(len(best), 0) is None:
        paid, _, key = heappop(heap)
        if key not in waiting:
            continue  # it was reached again at a lower price
        state = waiting.pop(key)
        if simulator.won(state, goal):
            return _steps(came, key)
        for command, ways in () if simulator.lost(state) else simulator.moves(state):
            cost = simulator.cost(state, command)
            for way in ways:
                more = prices.of(cost, way.draws)
                total = (paid[0] + more[0], paid[1] + more[1], paid[2] + more[2])
                known = best.get(way.short_key)
                if known is None or total < known:
                    best[way.short_key], waiting[way.short_key] = total, way.state()
                    came[way.short_key] = key, PlanStep(command, way.draws)
                    heappush(heap, (total, next(number), way.short_key))
    return None


def _steps(came: dict[Hashable, tuple[Hashable, PlanStep]], key: Hashable) -> tuple[PlanStep, ...]:
    """The steps that led to a state, in order."""
    found: list[PlanStep] = []
    while key in came:
        key, step = came[key]
        found.append(step)
    return tuple(reversed(found))


# ---- Verdicts ------------------------------------------------------------------------------------


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
        case "winnable" | "unknown":
            return [f"unknown: whether {goal} can be reached with any luck"]


def _policy(verdict: LuckVerdict) -> list[str]:
    if verdict.policy is None or not verdict.policy.lines:
        return ["the goal holds in the start state: nothing needs to be done"]
    states = counted(len(verdict.policy.lines), "state")
    first = verdict.policy.lines[verdict.policy.start].command
    return [
        f"a policy for {states}, which begins with {first}",
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
    [ObservedSimulator[StateT], Observed[StateT], str | None, Limits, Report],
    Graph[Observed[StateT]],
]
"""Makes the graph where that is not left to `graph.explore`: of states that are packed, say."""
_FOR_GRAPH = 0.6
"""The share of the time that exploring may take, where solving and playing come after it."""
_FOR_SOLVING = 0.5
"""The share of the remaining time that solving may take."""
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
    explorer: Explorer[StateT] | None = None,
) -> LuckVerdict:
    """Return the verdict on whether the goal can be kept reachable for all draws.

    A policy that stays within the explored part counts even if the graph is partial. ``explorer``
    makes the graph, if that is not left to the interpreter.
    """
    began, simulator = time.monotonic(), ObservedSimulator(inner)
    graph = _explored(simulator, state, goal, limits, limits.seconds, say, explorer)
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
    explorer: Explorer[StateT] | None = None,
) -> LuckVerdict:
    """The greatest probability of reaching the goal.

    Where the graph is too large to bound it well, the policy that was found is played and its
    share of wins estimated; outside of the graph it plans anew as it goes.
    """
    began, simulator = time.monotonic(), ObservedSimulator(inner)
    seconds = limits.seconds * _FOR_GRAPH
    graph = _explored(simulator, state, goal, limits, seconds, say, explorer)
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
    explorer: Explorer[StateT] | None,
) -> Graph[Observed[StateT]]:
    def report(now: SearchProgress) -> None:
        if say is not None:
            say(f"state space: {now.states:,} states seen, {now.waiting:,} waiting")

    caps = Limits(limits.states, seconds, limits.memory)
    if explorer is not None:
        return explorer(simulator, Observed(state), goal, caps, report)
    return explore(simulator, Observed(state), goal, caps, progress=report)


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
