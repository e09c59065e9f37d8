"""`tw plan --luck certain` and `--luck probability`: verdicts that rest on the explicit graph.

*Certain*: a policy keeps the goal in reach whatever luck does. *Probability*: how likely the goal
is for a player who chooses best; exact, or between bounds, or an estimate by playing. These are
different claims and stay apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from tokenworld.diagnostics import Diagnostic, Severity
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.ladder import plan
from tokenworld.planning.search import Cancel, Limits, SearchProgress
from tokenworld.planning.space.certain import Sure, risky_path, sure_states
from tokenworld.planning.space.decisions import Problem, problem_of
from tokenworld.planning.space.graph import Graph, explore
from tokenworld.planning.space.policy import policy_of
from tokenworld.planning.space.sampling import Player, Sample, sampled
from tokenworld.planning.space.values import Value, value_of
from tokenworld.planning.space.verdicts import LuckAnswer, LuckClaim, LuckVerdict
from tokenworld.planning.verdict import PlanStep, ShownStep

__all__ = ["Explorer", "LuckLimits", "certainty", "probability"]

Say = Callable[[str], None]
Told = Callable[[SearchProgress], None]
Explorer = Callable[[StateT, str | None, Limits, Told, Cancel | None], Graph[StateT]]
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
    """When to stop: distinct states, seconds in all, bytes of the graph."""

    states: int = 200_000
    seconds: float = 60.0
    memory: int = 2 << 30


def certainty(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    limits: LuckLimits,
    *,
    say: Say | None = None,
    cancel: Cancel | None = None,
    explorer: Explorer[StateT] | None = None,
) -> LuckVerdict:
    """Whether the goal can be kept in reach whatever luck does.

    A policy that stays within the explored part counts even where the graph is partial.
    ``explorer`` makes the graph, if that is not left to the interpreter.
    """
    began = time.monotonic()
    graph = _explored(simulator, state, goal, limits, limits.seconds, say, cancel, explorer)
    blank = _blank("certain", graph)
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
    path = _path(simulator, graph, bold, sure)
    answer: LuckAnswer = "not certain" if path else "unwinnable"
    return replace(blank, answer=answer, claim="exhausted", path=path)


def _path(
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
    simulator: Simulator[StateT],
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
    began = time.monotonic()
    seconds = limits.seconds * _FOR_GRAPH
    graph = _explored(simulator, state, goal, limits, seconds, say, cancel, explorer)
    left = limits.seconds - (time.monotonic() - began)
    value = value_of(graph, time.monotonic() + left * _FOR_SOLVING)
    policy = policy_of(simulator, graph, value.moves, "probability") if value.low else None
    found = replace(_blank("probability", graph), low=value.low, high=value.high, policy=policy)
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
    simulator: Simulator[StateT],
    graph: Graph[StateT],
    value: Value,
    seconds: float,
    say: Say | None,
) -> Sample | None:
    """Play the policy of the graph, with plans outside of it.

    ``None`` where no way to the goal is found, or no play comes to its end in time.
    """
    if say is not None:
        say("the graph is partial: playing to estimate")
    keys = {
        simulator.key(graph.states[node]): graph.moves[node][move].command
        for node, move in value.moves.items()
    }
    end = time.monotonic() + seconds

    def planned(state: StateT) -> tuple[PlanStep, ...]:
        left = min(end - time.monotonic(), seconds * _FOR_PLAN)
        return plan(simulator, state, graph.goal, time_limit=left).steps if left > 0 else ()

    player = Player(simulator, lambda state: keys.get(simulator.key(state)), planned)
    if player.choose(graph.states[0]) is None:
        return None
    left = max(end - time.monotonic(), 0.1)
    found = sampled(simulator, graph.states[0], graph.goal, player, plays=_PLAYS, seconds=left)
    return found if found.cut < found.plays else None


def _explored(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    limits: LuckLimits,
    seconds: float,
    say: Say | None,
    cancel: Cancel | None,
    explorer: Explorer[StateT] | None,
) -> Graph[StateT]:
    def told(now: SearchProgress) -> None:
        if say is not None:
            say(f"state space: {now.states:,} states seen, {now.waiting:,} waiting")

    caps = Limits(limits.states, seconds, limits.memory)
    if explorer is not None:
        return explorer(state, goal, caps, told, cancel)
    return explore(simulator, state, goal, caps, progress=told, cancel=cancel)


def _blank(luck: str, graph: Graph[StateT]) -> LuckVerdict:
    return LuckVerdict(
        "certain" if luck == "certain" else "probability",
        "unknown",
        graph.goal,
        None,
        states=len(graph),
        complete=graph.complete,
        reason=graph.reason,
    )


def _limit_notes(graph: Graph[StateT]) -> tuple[Diagnostic, ...]:
    """What kept the graph from giving an answer."""
    if graph.limit in ("states", "time", "memory"):
        message = f"The state space was not explored to its end: {graph.reason}."
        return (Diagnostic("TW0813", message, hint="Raise `--states` or `--time-limit`."),)
    if not graph.trusted:
        message = f"The state space proves nothing here: {graph.reason}."
        hint = "Bound the numbers that rules change, and read `tick()` only as `tick() mod n`."
        return (Diagnostic("TW0804", message, hint=hint),)
    names = ", ".join(f"`{name}`" for name in _unsteady(graph))
    message = f"Luck may refuse {names}, or stay the same when it is repeated."
    return (Diagnostic("TW0804", message, hint="Let such an action take time and always succeed."),)


def _unsteady(graph: Graph[StateT]) -> tuple[str, ...]:
    """The actions that cannot be relied on."""
    moves = (move for node in graph.nodes() for move in graph.odds(node))
    found = (move.command.action or "pass" for move in moves if not move.steady)
    return tuple(dict.fromkeys(found))
