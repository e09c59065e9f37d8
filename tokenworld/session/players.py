"""Players without a person: a script, a plan, a planner, and chance (runs-and-quality.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import Engine, EngineSimulator, State, draw
from tokenworld.ground import PASS, Command
from tokenworld.planning import PlanStep
from tokenworld.planning.space.policy import Policy, advised
from tokenworld.prose import IntentLine
from tokenworld.session.intents import AnyIntent
from tokenworld.session.session import Session
from tokenworld.session.solving import Say, plan_for_seed

__all__ = ["Expecting", "Player", "plan_player", "planner_player", "policy_player",
           "random_command", "random_player", "script_player", "uniform"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Expecting:
    """An intent of a scenario, with the status that the scenario says it must come to."""

    intent: AnyIntent
    status: str


class Player(Protocol):
    """Gives intents, one at a time, looking at the session in between."""

    def __call__(self, session: Session) -> Iterator[AnyIntent | Expecting]: ...


def script_player(lines: tuple[IntentLine, ...]) -> Player:
    """Gives the intents of a script in order."""

    def play(session: Session) -> Iterator[AnyIntent]:
        for line in lines:
            yield line.intent

    return play


def plan_player(steps: tuple[PlanStep, ...]) -> Player:
    """Gives the commands of a plan in order."""

    def play(session: Session) -> Iterator[AnyIntent]:
        for step in steps:
            yield step.command

    return play


def planner_player(goal: str | None, time_limit: float, say: Say | None = None) -> Player:
    """Plans for the seed of the run, then does what the plan says: none of it may be refused.

    Raises `Failure` where there is no plan: TW0803 where the goal is out of reach, TW0813 where the
    time was too short to tell.
    """

    def play(session: Session) -> Iterator[AnyIntent]:
        steps, verdict = plan_for_seed(
            session.engine, session.state, goal, time_limit=time_limit, say=say
        )
        if verdict.answer != "winnable":
            raise Failure(_no_plan(verdict.answer))
        for step in steps:
            yield step.command

    return play


def _no_plan(answer: str) -> Diagnostic:
    if answer == "unwinnable":
        hint = "Ask `tw plan WORLD` for the proof."
        return Diagnostic("TW0803", "The planner has no plan: the goal is out of reach.", hint=hint)
    hint = "Give more time with `--time-limit S`, or name one goal with `--goal NAME`."
    return Diagnostic("TW0813", "The planner found no plan within its limits.", hint=hint)


def policy_player(policy: Policy) -> Player:
    """Does what a policy says, up to its goal or to a state that it does not know."""

    def play(session: Session) -> Iterator[AnyIntent]:
        simulator = EngineSimulator(session.engine, session.state)
        while not simulator.won(session.state, policy.goal):
            command = advised(simulator, session.state, policy)
            if command is None:
                return
            yield command

    return play


def random_player(session: Session) -> Iterator[AnyIntent]:
    """Legal intents only: uniform over the actions that are legal now (`pass` among them), then
    over their legal arguments. Its draws are keyed like those of a rule, apart from the world's.
    """
    turn = 0
    while True:
        yield random_command(session.engine, session.state, session.seed, turn)
        turn += 1


def random_command(engine: Engine, state: State, seed: int, turn: int) -> Command:
    """What the random player does on the turn with this number."""
    by_action: dict[str, list[Command]] = {"pass": [PASS]}
    for command in engine.legal(state):
        by_action.setdefault(command.action, []).append(command)
    names = list(by_action)
    commands = by_action[names[uniform(seed, turn, "action", len(names))]]
    return commands[uniform(seed, turn, "arguments", len(commands))]


def uniform(seed: int, turn: int, what: str, size: int, who: str = "player random") -> int:
    """A number below ``size``, drawn for a player and a turn."""
    return draw(seed, turn, who, (what,), 0) * size >> 64
