"""Players without a person: a script, a plan, and chance (runs-and-quality.md, Players)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from tokenworld.engine import Engine, EngineSimulator, State, draw
from tokenworld.ground import PASS, Command
from tokenworld.planning import PlanStep
from tokenworld.planning.space.policy import Policy, advised
from tokenworld.prose import IntentLine
from tokenworld.session.intents import AnyIntent
from tokenworld.session.session import Session

__all__ = ["Player", "plan_player", "policy_player", "random_command", "random_player",
           "script_player"]  # fmt: skip


class Player(Protocol):
    """Gives intents, one at a time, looking at the session in between."""

    def __call__(self, session: Session) -> Iterator[AnyIntent]: ...


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
    commands = by_action[names[_uniform(seed, turn, "action", len(names))]]
    return commands[_uniform(seed, turn, "arguments", len(commands))]


def _uniform(seed: int, turn: int, what: str, size: int) -> int:
    return draw(seed, turn, "player random", (what,), 0) * size >> 64
