"""One episode of a world: its numbered commands, rewards, end and limit, and each step's answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from tokenworld.diagnostics import did_you_mean, usage
from tokenworld.engine import Engine, State
from tokenworld.engine.births import play_bodies
from tokenworld.engine.step import is_free
from tokenworld.ground import PASS, Command, Outcome, Raw, show_value
from tokenworld.gym.spaces import Observe, Observer, grows, one_of
from tokenworld.model import ObjectType, Reward, effects_in
from tokenworld.prose import CallIntent
from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session.intents import AnyIntent
from tokenworld.session.players import give_once
from tokenworld.session.session import Moment

__all__ = [
    "CommandList",
    "Episode",
    "Options",
    "PlayedWorld",
    "Round",
    "Rules",
    "info_of",
    "seen_by",
]


class CommandList:
    """Every command that the start of seed 0 has objects for, with `pass` as number 0.

    Actions come in written order, then their arguments in order: the list is the same in every
    process. Behind it lie ``spare`` places for commands about objects that come later. They are
    given out in the order in which such commands become possible, and taken back by `begin`.
    ``left_out`` counts the commands that were possible and found no place.
    """

    def __init__(self, engine: Engine, spare: int) -> None:
        self.start, known = engine.start(0), engine.known
        start = self.start
        commands = [PASS]
        for name in engine.instance.program.actions:
            commands += [Command(name, args) for args in known.bindings(start, name) or ()]
        self.fixed = tuple(commands)
        self.size = len(self.fixed) + spare
        self.unlisted = tuple(sorted(known.unlisted(start)))
        self.left_out = 0
        self._commands = commands
        self._numbers = {command: number for number, command in enumerate(self.fixed)}

    def begin(self) -> None:
        """Free the spare places: an episode begins."""
        for command in self._commands[len(self.fixed) :]:
            del self._numbers[command]
        del self._commands[len(self.fixed) :]
        self.left_out = 0

    def command(self, number: int) -> Command | None:
        """The command with a number; ``None`` for a spare place that is not in use."""
        return self._commands[number] if 0 <= number < len(self._commands) else None

    def numbered(self) -> tuple[Command, ...]:
        """All commands that have a number now, in order."""
        return tuple(self._commands)

    def mask(self, possible: Iterable[Command]) -> NDArray[np.int8]:
        """1 for each of these commands, 0 for all others; of shape ``(size,)``."""
        mask = np.zeros(self.size, np.int8)
        self.left_out = 0
        for command in possible:
            number = self._number(command)
            if number is None:
                self.left_out += 1
            else:
                mask[number] = 1
        return mask

    def _number(self, command: Command) -> int | None:
        """The number of a command, that of the next spare place for a new one."""
        number = self._numbers.get(command)
        if number is None and len(self._commands) < self.size:
            number = self._numbers[command] = len(self._commands)
            self._commands.append(command)
        return number


@dataclass(frozen=True, slots=True)
class Rules:
    """When an episode of a world ends, and what it pays.

    ``goal`` names the goal that counts, ``None``: any. ``limit`` is how many steps there are at
    most. Raises `Failure` (TW0006) for a goal that the world lacks and for a limit below 1.
    """

    world: OpenWorld
    goal: str | None
    limit: int

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise usage("An episode needs a step.", "Give `limit=N`, N > 0.")
        goals = [one.name for one in self.world.world.goals]
        if self.goal is not None and self.goal not in goals:
            what = f"World `{self.world.world.name}` has no goal `{self.goal}`."
            hint = did_you_mean(self.goal, goals) or f"Goals: {', '.join(goals) or 'none'}."
            raise usage(what, hint)

    @property
    def paid(self) -> bool:
        """Whether the world pays rewards; if not, a step is worth what it adds to the score."""
        bodies = play_bodies(self.world.program)
        paid = any(isinstance(one, Reward) for body in bodies for one in effects_in(body))
        return paid or self.world.engine.stepper.endings.pays


def _lives(state: State, command: Command) -> bool:
    """Whether every object that a command is about lives, as an object of the type it needs."""
    if command.is_pass:
        return True
    params = state.layout.instance.program.actions[command.action].params
    return all(
        value in state.live[binder.type.name]
        for binder, value in zip(params, command.args, strict=True)
        if isinstance(binder.type, ObjectType) and value is not None
    )


def _named(state: State, command: Command) -> CallIntent:
    """The command as a call by names: its objects are looked for, and found to be gone."""
    params = state.layout.instance.program.actions[command.action].params
    names, args = state.names, {}
    for binder, value in zip(params, command.args, strict=True):
        of_object = isinstance(binder.type, ObjectType) and isinstance(value, int)
        if not of_object:
            args[binder.name] = show_value(state.layout.instance.program, names, binder.type, value)
        else:
            assert isinstance(value, int)
            args[binder.name] = names[value] if value < len(names) else f"object_{value}"
    return CallIntent(command.action, args)


@dataclass(frozen=True, slots=True)
class Round:
    """A round: all its records, those of the command of each actor, and the reward."""

    outcomes: tuple[Outcome, ...]
    given: Mapping[str, tuple[Outcome, ...]]
    reward: float


class Episode:
    """A session that is played step by step. ``steps`` counts those so far."""

    def __init__(self, rules: Rules, seed: int) -> None:
        self.session = Session(rules.world, seed, player="gym")
        self.session.remembers = False  # nothing is undone here, and an episode may be long
        self.steps = 0
        self._halted = False
        self._scored: tuple[State | None, float] = (None, 0.0)
        self._goal, self._limit, self._paid = rules.goal, rules.limit, rules.paid
        self._kinds = {one.name: one.ending for one in rules.world.world.endings}

    def give(self, intent: AnyIntent) -> tuple[tuple[Outcome, ...], float]:
        """One step, an intent of the actor whose turn it is: its records and its reward."""
        before = 0.0 if self._paid else self.score()
        outcomes = self._intend(intent)
        self.steps += 1
        return outcomes, self._worth(outcomes, before)

    def round(self, commands: Mapping[str, Command | str]) -> Round:
        """One step in which every actor acts, in the order of the round.

        Who has no command passes. Who did something that takes no time passes then, and for one
        whose command is fruitless the runner does: else he would be asked again.
        """
        before, session = 0.0 if self._paid else self.score(), self.session
        found: list[Outcome] = []
        given: dict[str, tuple[Outcome, ...]] = {}
        for actor in [session.state.names[one] for one in session.state.actors]:
            if session.ended() or self._halted or session.actor != actor:
                continue  # he is gone, or the play is over
            command = commands.get(actor, PASS)
            meant = command if isinstance(command, Command) else None
            free = is_free(session.engine.stepper.unit, session.state, meant)
            given[actor] = self._intend(command)
            found += given[actor]
            if free and not session.ended() and given[actor][-1].by == "player":
                found += self._intend(PASS)
        self.steps += 1
        return Round(tuple(found), given, self._worth(found, before))

    def _intend(self, intent: AnyIntent) -> tuple[Outcome, ...]:
        state = self.session.state
        if isinstance(intent, Command) and not _lives(state, intent):
            intent = _named(state, intent)
        outcomes = give_once(self.session, intent, "human")
        self._halted = self._halted or outcomes[-1].status == "halted"
        return outcomes

    def score(self) -> float:
        """The score of the present state, kept until there is another one."""
        state = self.session.state
        if self._scored[0] is not state:
            self._scored = (state, float(self.session.engine.score(state)))
        return self._scored[1]

    def _worth(self, outcomes: Sequence[Outcome], before: float) -> float:
        if self._paid:
            return float(sum(one.reward for one in outcomes))
        return self.score() - before

    @property
    def terminated(self) -> bool:
        """Whether a loss or a goal that counts is reached, or play is over by another goal."""
        reached = self.session.latched
        lost = any(self._kinds[name] == "lose" for name in reached)
        won = any(self._counts(name) for name in reached)
        return lost or won or (self.session.ended() and "goal" in map(self._kinds.get, reached))

    def _counts(self, name: str) -> bool:
        return self._kinds[name] == "goal" and self._goal in (None, name)

    @property
    def truncated(self) -> bool:
        """Whether it was cut off, by a `stop` line or by the limit, before it terminated."""
        if self.terminated:
            return False
        stopped = any(self._kinds[name] == "stop" for name in self.session.latched)
        return stopped or self._halted or self.session.ended() or self.steps >= self._limit


def info_of(episode: Episode, outcomes: tuple[Outcome, ...]) -> dict[str, Any]:
    """What is told beside an observation; every list and mapping in it is new.

    ``refusal``, ``no_match`` and ``breach`` are there only where the step came to one, in the form
    of ``tw-outcome/1``; of several records the last one with such a key counts. ``status`` is that
    of the learner's own intent, whatever time or the runner made of it then.
    """
    session = episode.session
    info: dict[str, Any] = {
        "tick": session.tick,
        "score": episode.score(),
        "actor": session.actor or "",
        "endings": list(session.latched),
        "status": next((one.status for one in reversed(outcomes) if one.by == "player"), ""),
        "said": [line for outcome in outcomes for line in outcome.said],
    }
    for outcome in outcomes:
        if outcome.refusal or outcome.no_match or outcome.breach:
            record = outcome.to_json()
            info |= {name: record[name] for name in _WHY_NOT if name in record}
    return info


def _of_another(outcome: Outcome) -> Outcome | None:
    """What somebody learns of another's intent: what is said; why it failed is not his business."""
    if not outcome.said:
        return None
    return replace(outcome, refusal=None, no_match=None, breach=None, progress=None)


_WHY_NOT: tuple[Literal["refusal", "no_match", "breach"], ...] = ("refusal", "no_match", "breach")


def seen_by(session: Session, actor: int, outcomes: tuple[Outcome, ...]) -> Session:
    """The session as if it were this actor's turn after these records: to look, not to act."""
    state: State = session.state
    if len(state.actors) > 1:
        state = state.fork()
        state.turn = state.actors.index(actor)
    view = copy(session)
    last, name = session.moments[-1], state.names[actor]
    told = tuple(one if one.actor == name else _of_another(one) for one in outcomes)
    now = Moment(state, last.asked, tuple(one for one in told if one), None, last.records)
    view.moments = [now] if len(session.moments) == 1 else [session.moments[0], now]
    return view


class Options(TypedDict, total=False):
    """What an environment can be given beside its world; the defaults stand in `PlayedWorld`."""

    observe: Observe
    goal: str | None
    limit: int
    seed: int
    params: Mapping[str, Raw] | None
    spare_objects: int
    spare_commands: int
    render_mode: str | None


class PlayedWorld:
    """A world that learners play, episode by episode; `WorldEnv` says what the options mean.

    Raises `Failure`: TW0006 for a mode, goal or limit that cannot be, and what `open_world` does.
    """

    def __init__(
        self,
        world: str | OpenWorld,
        *,
        observe: Observe = "text",
        goal: str | None = None,
        limit: int = 1000,
        seed: int = 0,
        params: Mapping[str, Raw] | None = None,
        spare_objects: int = 16,
        spare_commands: int = 128,
        render_mode: str | None = None,
    ) -> None:
        one_of("render_mode", render_mode or "ansi", ("ansi",))
        self.world = open_world(world, params) if isinstance(world, str) else world
        self.render_mode = render_mode
        self._rules = Rules(self.world, goal, limit)
        self._spare = spare_objects
        self._observer = Observer(self.world, observe, spare_objects)
        self._spare_commands = spare_commands if grows(self.world) else 0
        self._seed = seed
        self._episode = Episode(self._rules, seed)

    def _commands(self) -> CommandList:
        """The commands of the world, listed for one learner."""
        return CommandList(self.world.engine, self._spare_commands)

    def render(self) -> str | None:
        """What a player is told now, with ``render_mode="ansi"``; in rounds, who begins the next
        one."""
        return self._observer.text(self._episode.session) if self.render_mode else None
