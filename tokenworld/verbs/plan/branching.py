"""``tw plan --honest --branches``: a plan that branches on the player's observations."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import product
from typing import Literal, assert_never

from tokenworld.core import lowered
from tokenworld.diagnostics import Diagnostic, Failure, counted, to_json
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.luck import ExploringLuck, NoUniform
from tokenworld.engine.saved.digest import facts_hash
from tokenworld.ground import (
    PASS,
    Command,
    Json,
    LuckyDraw,
    Outcome,
    count_bindings,
    parameter_domains,
    value_text,
)
from tokenworld.limits import attempt, left
from tokenworld.planning.honest.branching import (
    Blocked,
    BranchSearch,
    Came,
    Node,
    Played,
    Sight,
    Stopped,
    played,
)
from tokenworld.planning.ladder import plan
from tokenworld.planning.verdict import SCHEMA_VERSION, Honesty
from tokenworld.session import Session
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output
from tokenworld.verbs.plan.honesty import question_from

_MOST_TRIES = 1_000
"""At most so many bindings of an action whose requires read secrets are tried; of more, only those
that public facts allow."""
_ONE_STATE = 2.0
"""Seconds for a plan from one known state."""
_MOST_SHOWN = 12
"""Branches of a step that the text shows."""
_BYTES = 4_000
"""Memory of a set or a state, roughly."""


class EnginePlayer:
    """A player on the engine, who has so many ``seconds`` for a plan from one known state.

    ``inexact`` says why a proof would not hold; it is empty where it does.
    """

    def __init__(
        self, engine: Engine, simulator: EngineSimulator, goal: str | None, seconds: float
    ) -> None:
        self._engine, self._simulator, self._goal = engine, simulator, goal
        self._seconds = seconds
        self.inexact = ""

    def won(self, state: State) -> bool:
        return self._simulator.won(state, self._goal)

    def lost(self, state: State) -> bool:
        return self._simulator.lost(state)

    def key(self, state: State) -> Hashable:
        """All facts, and what else rules and texts read."""
        told = (state.tick if "tick" in self._asked else 0, self._score(state))
        facts = (facts_hash(state), state.awarded, state.latched, state.fired)
        return (self._simulator.key(state), facts, told)

    def _score(self, state: State) -> int | float:
        return self._engine.score(state) if "score" in self._asked else 0

    @cached_property
    def _asked(self) -> frozenset[str]:
        return lowered(self._engine.instance.program).texts_ask

    # ---- commands -----------------------------------------------------------------------------

    def tries(self, state: State) -> Sequence[Command]:
        """The legal commands, and all of actions that secrets may forbid."""
        engine = self._engine
        if engine.over(state):
            return ()
        if engine.unlisted(state):
            self.inexact = "an action has too many bindings to try them all"
        waits = [one for one in self._simulator.commands(state) if one.is_pass]
        hidden = (one for name in self._guessed for one in self._guesses(state, name))
        return tuple(dict.fromkeys((*engine.legal(state), *waits, *hidden)))

    @cached_property
    def _guessed(self) -> tuple[str, ...]:
        known = self._engine.known
        return tuple(
            x for x in self._engine.instance.program.actions if known.depends_on_secrets(x)
        )

    def _guesses(self, state: State, name: str) -> Sequence[Command]:
        params = self._engine.instance.program.actions[name].params
        domains = parameter_domains(self._engine.settled(state), params)
        if count_bindings(domains) <= _MOST_TRIES:
            return [Command(name, args) for args in product(*domains)]
        found = self._engine.known.bindings(state, name)
        self.inexact = f"`{name}` has too many bindings to try them all"
        return [Command(name, args) for args in found or ()]

    # ---- outcomes -----------------------------------------------------------------------------

    def outcomes(self, state: State, command: Command) -> tuple[Came[State], ...] | None:
        found, prefix = list[Came[State]](), tuple[int, ...]()
        following: tuple[int, ...] | None = prefix
        while following is not None:
            luck = ExploringLuck(following)
            try:
                after, records = self._engine.play(state, command, luck)
            except NoUniform:
                self.inexact = "play draws a number whose outcomes cannot be listed"
                return None
            fruitless = any(one.fruitless for one in records if one.by == "player")
            following = luck.next_prefix()
            if luck.choices:
                self.inexact = "draws take part, and no plan counts on them"
            if luck.choices and fruitless:
                return None
            found.append(self._came(state, command, after, records, fruitless, tuple(luck.taken)))
        return tuple(found)

    def _came(
        self, state: State, command: Command, after: State, records: Sequence[Outcome],
        fruitless: bool, draws: tuple[LuckyDraw, ...],
    ) -> Came[State]:  # fmt: skip
        ticks = after.tick - state.tick
        paid = 0
        if ticks or not fruitless:
            paid = self._simulator.cost(state, PASS if fruitless else command)
        return Came(after, self._sight(after, records, ticks), paid, ticks, draws)

    def _sight(self, after: State, records: Sequence[Outcome], ticks: int) -> Sight:
        shown = [self._engine.known.outcome(one) for one in records]
        lines = tuple(dict.fromkeys(line for one in shown for line in _lines(one)))
        told = [_without(one.to_json(), _ABSOLUTE) for one in shown]
        told.append(_without(self._engine.known.json(after), (*_ABSOLUTE, *_UNSEEN)))
        whole = json.dumps([ticks, told], sort_keys=True)
        return Sight(lines, blake2b(whole.encode(), digest_size=16).hexdigest())

    def show(self, state: State, command: Command) -> str:
        return self._simulator.show(state, command)

    @cached_property
    def least(self) -> int:
        actions = self._engine.instance.program.actions.values()
        return 0 if any(one.cost is not None for one in actions) else 1

    # ---- one state ----------------------------------------------------------------------------

    def known_way(self, state: State) -> tuple[Sequence[Command], bool] | bool | None:
        simulator = EngineSimulator(self._engine, state)
        found = plan(simulator, state, self._goal, time_limit=left(self._seconds))
        if found.answer == "unwinnable":
            return False
        certain = found.answer == "winnable" and not found.counts_on_luck
        steps = [one.command for one in found.steps]
        return (steps, found.optimal is not None) if certain else None


_ABSOLUTE = ("tick", "seed", "score", "hash_before", "hash_after")
"""Keys of a record or a state that count from the start of play, or identify its secrets."""
_UNSEEN = ("fired", "drawn")
"""Keys of a state that no record shows."""


def _without(shown: Mapping[str, Json], names: tuple[str, ...]) -> dict[str, Json]:
    return {name: value for name, value in shown.items() if name not in names}


def _lines(one: Outcome) -> list[str]:
    """Return the lines about the player's observations of a record."""
    if one.refusal is not None:
        return [f'refused: {one.refusal.label} "{one.refusal.text}"']
    found = [f'"{text}"' for text in one.said]
    found += [
        f"{change.slot} = {value_text(change.new)}" for change in (*one.changes, *one.law_changes)
    ]
    if one.fruitless:
        found.append(one.status.replace("_", " "))
    return [*found, *(f"`{name}` is reached" for name in one.latched)]


# ---- the verdict --------------------------------------------------------------------------------

Answer = Literal["winnable", "unwinnable", "unknown"]


@frozen
class BranchingVerdict:
    """The verdict on whether a plan that branches on observations wins for all secrets.

    ``goals`` are the lines that count. ``plan`` is ``None`` also where the goal holds at the start.
    ``ways`` are the starts, by number, that may pass each branch. ``cost`` and ``ticks`` are the
    most that a start pays and takes. ``few``: so many starts cannot be won by one plan. ``limit``
    is a clause.
    """

    answer: Answer
    goal: str | None
    honest: Honesty | None
    goals: tuple[str, ...] = ()
    plan: Node | None = None
    shown: Mapping[Command, str] = field(default_factory=dict)
    ways: Mapping[tuple[int, ...], frozenset[int]] = field(default_factory=dict)
    cost: int = 0
    ticks: int = 0
    optimal: bool = False
    sets: int = 0
    few: int = 0
    limit: str = ""
    notes: tuple[Diagnostic, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, object]:
        """The verdict for programs: every key is always there."""
        won, lost = self.answer == "winnable", self.answer == "unwinnable"
        return {
            "schema_version": SCHEMA_VERSION,
            "answer": self.answer,
            "goal": self.goal,
            "claim": "found" if won else "exhausted" if lost else None,
            "engine": "own search",
            "ticks": self.ticks if won else None,
            "cost": self.cost if won else None,
            "optimal": "cost" if self.optimal else None,
            "branches": None if self.plan is None else self._node_json(self.plan, ()),
            "honest": None if self.honest is None else self.honest.to_json(),
            "proof": {"sets": self.sets, "starts": self.few} if lost else None,
            "limit": self.limit or None,
            "notes": [to_json(note) for note in self.notes],
            "seconds": round(self.seconds, 3),
        }

    def _node_json(self, node: Node, place: tuple[int, ...]) -> dict[str, object]:
        return {
            "command": self.shown[node.command],
            "observations": [
                {
                    "seen": list(one.sight.lines),
                    "starts": len(self.ways.get((*place, at), ())),
                    "then": None if one.then is None else self._node_json(one.then, (*place, at)),
                }
                for at, one in enumerate(node.branches)
            ],
        }


def branching_lines(verdict: BranchingVerdict) -> list[str]:
    """The verdict in plain lines, one claim each."""
    names = ", ".join(f"`{one}`" for one in verdict.goals)
    goal = f"goal {names}" if len(verdict.goals) == 1 else f"a goal of {names}"
    how = "by a plan that branches on what it sees"
    match verdict.answer:
        case "winnable":
            most = f"at most {counted(verdict.ticks, 'tick')} (cost at most {verdict.cost:,})"
            lines = [f"winnable: {goal} in {most}, {how}"]
            lines += _tree_lines(verdict)
        case "unwinnable":
            lines = [f"unwinnable: {goal} cannot be reached {how}"]
            seen = f"{counted(verdict.sets, 'set')} of states"
            lines += [f"exhausted by own search: {seen}, none of them won for all its states"]
            if verdict.few > 1:
                lines += [f"no plan wins in {verdict.few:,} of the starts together"]
        case "unknown":
            lines = [f"unknown: whether {goal} can be reached {how}"]
            lines += [verdict.limit] if verdict.limit else []
        case _:
            assert_never(verdict.answer)
    if verdict.honest is not None:
        names = ", ".join(f"`{one}`" for one in verdict.honest.secrets)
        ways = counted(verdict.honest.assignments, "way")
        lines.append(f"honest: {ways} in which the setup can fill {names or 'the secrets'}")
    return lines


def _tree_lines(verdict: BranchingVerdict) -> list[str]:
    if verdict.plan is None:
        return ["the goal holds in the start state: nothing needs to be done"]
    lines = [*_steps(verdict, verdict.plan, (), 1, "  "), "found by own search"]
    if verdict.optimal:
        lines.append("optimal: no plan is cheaper in the worst case")
    played = "played in every start with every draw: each branch reaches the goal"
    return [*lines, played]


def _steps(
    verdict: BranchingVerdict, node: Node, place: tuple[int, ...], number: int, indent: str
) -> Iterator[str]:
    """Yield a step and those after it, each branch under its observation."""
    yield f"{indent}{number}. {verdict.shown[node.command]}"
    if len(node.branches) == 1:
        (only,) = node.branches
        if only.then is not None:
            yield from _steps(verdict, only.then, (*place, 0), number + 1, indent)
        return
    shared = set(node.branches[0].sight.lines).intersection(
        *(one.sight.lines for one in node.branches)
    )
    for at, one in enumerate(node.branches[:_MOST_SHOWN]):
        here = (*place, at)
        told = [line for line in one.sight.lines if line not in shared]
        seen = "; ".join(told) or "none of these"
        ways = len(verdict.ways.get(here, ()))
        end = "" if one.then is not None else " the goal is reached"
        yield f"{indent}   if {seen}:{end} ({counted(ways, 'way')})"
        if one.then is not None:
            yield from _steps(verdict, one.then, here, number + 1, indent + "     ")
    if more := len(node.branches[_MOST_SHOWN:]):
        yield f"{indent}   and {more:,} more, in `--json`"


# ---- asking -------------------------------------------------------------------------------------


def branching_verdict(
    engine: Engine,
    seed: int,
    goal: str | None,
    *,
    time_limit: float,
    memory_limit: int = 1 << 30,
    say: Callable[[str], None] = lambda line: None,
) -> BranchingVerdict:
    """Return whether a plan that branches on observations wins for all values of the secrets."""
    began = time.monotonic()
    say("listing what the setup can hide")
    try:
        question = question_from(engine, seed, goal)
    except Failure as failure:
        if not {one.code for one in failure.diagnostics} <= {"TW0801", "TW0813"}:
            raise
        return BranchingVerdict("unknown", goal, None, (goal or "any",), notes=failure.diagnostics)
    simulator = EngineSimulator(engine, question.starts[0])
    alone = len(question.starts) == 1
    player = EnginePlayer(engine, simulator, goal, time_limit if alone else _ONE_STATE)
    watch = _Watch(began + time_limit, memory_limit // _BYTES, say)
    search = BranchSearch(player, watch.stop)
    goals = (goal,) if goal else tuple(one.name for one in engine.instance.world.goals)
    base = BranchingVerdict("unknown", goal, question.honesty(together=True), goals)

    def run() -> Node | Blocked[State] | Literal["stopped"] | None:
        try:
            return search.run(question.starts)
        except (Stopped, RecursionError):
            return "stopped"

    found = attempt("planning", run, lambda: "stopped")
    if found == "stopped":
        limit = f"own search stopped after {counted(search.sets, 'set')} of states"
        return replace(base, limit=limit, seconds=time.monotonic() - began)
    base = replace(base, sets=search.sets)
    if isinstance(found, Blocked):
        few = len(found.singles)
        answer: Answer = "unknown" if player.inexact else "unwinnable"
        base = replace(base, answer=answer, few=few, limit=player.inexact)
    else:
        base = _winnable(base, player, found, question.starts, search.bound)
    return replace(base, seconds=time.monotonic() - began)


def _winnable(
    base: BranchingVerdict,
    player: EnginePlayer,
    plan: Node | None,
    starts: Sequence[State],
    bound: int,
) -> BranchingVerdict:
    """The verdict of a plan, which has to win when it is played from every start."""
    again = played(player, plan, starts)
    if not isinstance(again, Played):
        message = f"The branching plan of own search gave no usable answer: {again}."
        note = Diagnostic("TW0812", message, hint="Report this: the search and play disagree.")
        return replace(base, limit=again, notes=(note,))
    shown = {one: player.show(starts[0], one) for one in _commands(plan)}
    return replace(
        base, answer="winnable", plan=plan, shown=shown, ways=again.passed, cost=again.cost,
        ticks=again.ticks, optimal=again.cost == bound and not player.inexact,
    )  # fmt: skip


def _commands(plan: Node | None) -> Iterator[Command]:
    waiting = [plan]
    while waiting:
        one = waiting.pop()
        if one is not None:
            yield one.command
            waiting += [branch.then for branch in one.branches]


class _Watch:
    """The limits of a search, and its lines of progress."""

    def __init__(self, end: float, most: int, say: Callable[[str], None]) -> None:
        self._end, self._most, self._say = end, most, say
        self._spoke = time.monotonic()

    def stop(self, count: int) -> bool:
        now = time.monotonic()
        if now - self._spoke >= 1:
            self._spoke = now
            self._say(f"own search: {count:,} states and sets of states seen")
        return now > self._end or count > self._most


def plan_branching(
    session: Session,
    goal: str | None,
    *,
    time_limit: float,
    out: Output,
    certify: Callable[[BranchingVerdict], str | None] | None,
) -> int:
    """``tw plan --honest --branches``: 0 winnable, 1 unwinnable, 3 unknown.

    ``certify`` writes the certificate that was asked for, and returns its file.
    """
    verdict = branching_verdict(
        session.engine, session.seed, goal, time_limit=time_limit, say=out.progress
    )
    for line in branching_lines(verdict):
        out.line(line)
    out.diagnostics(verdict.notes)
    answer = verdict.to_json()
    if certify is not None:
        answer["certificate"] = certify(verdict)
        if answer["certificate"] is None:
            verdict = replace(verdict, answer="unknown")
    out.json(answer)
    return {"winnable": EXIT_OK, "unwinnable": EXIT_NEGATIVE, "unknown": EXIT_UNKNOWN}[
        verdict.answer
    ]
