"""Walkers: who draws the next command of a walk, in a world or in a program of a game."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from tokenworld.engine import State
from tokenworld.engine.rows.live import Halves
from tokenworld.ground import PASS, Command
from tokenworld.prose.matching import command_texts
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld
from tokenworld.session.players import typed_command

Walker = Literal["uniform", "changing", "after"]
WALKERS: Final[tuple[Walker, ...]] = ("uniform", "changing", "after")
TRIES: Final = 8
"""Commands that the walker ``changing`` tries at each step."""
ILLEGAL: Final = 0.3
"""The share of commands of the others that are drawn whether they are legal or not."""

C = TypeVar("C")


def drawn_command(
    verbs: Mapping[str, Sequence[C]],
    changes: Callable[[C], bool],
    walker: Walker,
    chosen: random.Random,
) -> C:
    """A verb, then one of its commands; ``changing`` takes the first of a few that changes
    something, or the last one."""
    names = list(verbs)
    command = chosen.choice(verbs[chosen.choice(names)])
    for _ in range(TRIES - 1 if walker == "changing" else 0):
        if changes(command):
            break
        command = chosen.choice(verbs[chosen.choice(names)])
    return command


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a walk: the words, the command that they mean, and what it came to."""

    before: State
    text: str
    verb: str
    command: Command
    halves: Halves


class WorldWalk:
    """Walks through one world."""

    def __init__(self, world: OpenWorld) -> None:
        self.world, self.engine = world, world.engine
        self.words = Resolver(world)

    def steps(self, walker: Walker, seed: int, most: int) -> Iterator[Step]:
        """The steps of one walk; ``after`` goes on after the end where the world does."""
        chosen = random.Random(f"{self.world.world.name} {walker} {seed}")
        state, over = self.engine.start(seed), self.engine.over
        for _ in range(most):
            if over(state) or (state.latched and walker != "after"):
                return
            command = self._command(state, walker, chosen)
            text = self._text(state, command)
            halves = self.engine.halves(state, command)
            yield Step(state, text, command.action or "pass", command, halves)
            state = halves.after

    def _text(self, state: State, command: Command) -> str:
        lexicon = self.words.lexicon(state)
        (text,) = command_texts((command,), self.world.program, lexicon.speaker, lexicon)
        return text

    def _command(self, state: State, walker: Walker, chosen: random.Random) -> Command:
        if walker != "changing" and chosen.random() < ILLEGAL:
            command = typed_command(self.world, state, chosen)
            if command is not None:
                return command
        verbs: dict[str, list[Command]] = {"pass": [PASS]}
        for command in self.engine.legal(state):
            verbs.setdefault(command.action, []).append(command)
        return drawn_command(verbs, lambda one: self._changes(state, one), walker, chosen)

    def _changes(self, state: State, command: Command) -> bool:
        after = self.engine.halves(state, command).acted
        return not self.engine.same_facts(state, after)
