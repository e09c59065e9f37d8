"""One episode of a world: its numbered commands, rewards, end and limit, and each step's answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from tokenworld.core import lowered
from tokenworld.core.nodes import Reward
from tokenworld.core.walk import statements_in
from tokenworld.diagnostics import did_you_mean, usage
from tokenworld.engine import Engine, State
from tokenworld.ground import PASS, Command, Outcome, Raw, show_value
from tokenworld.gym.fields import grows
from tokenworld.gym.spaces import Observe, Observer, one_of
from tokenworld.model import Binder, ObjectType
from tokenworld.prose.intents import CallIntent
from tokenworld.session import OpenWorld, Session, open_world
from tokenworld.session.intents import AnyIntent
from tokenworld.session.moments import Moment
from tokenworld.session.players import give_once
from tokenworld.session.refusals.explained import Explainer


class CommandList:
    """Every command that the start of seed 0 has objects for, with `pass` as number 0.

    Actions come in written order, then their arguments in order: the list is the same in every
    process. After it lie ``spare`` places for commands about objects that come later. They are
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
        self._numbers: dict[str, dict[tuple[Raw, ...], int]] = {}
        for number, command in enumerate(commands):
            self._numbers.setdefault(command.action, {})[command.args] = number

    def begin(self) -> None:
        """Free the spare places: an episode begins."""
        for command in self._commands[len(self.fixed) :]:
            del self._numbers[command.action][command.args]
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
        return self.mask_of((one.action, (one.args,)) for one in possible)

    def mask_of(
        self, possible: Iterable[tuple[str, Sequence[tuple[Raw, ...]]]]
    ) -> NDArray[np.int8]:
        """The same of commands that are given by action."""
        self.left_out, found = 0, list[int]()
        for name, every in possible:
            known = self._numbers.get(name, {})
            for args in every:
                number = known.get(args)
                if number is None:
                    number = self._spare(name, args)
                if number < 0:
                    self.left_out += 1
                else:
                    found.append(number)
        mask = np.zeros(self.size, np.int8)
        mask[found] = 1
        return mask

    def _spare(self, name: str, args: tuple[Raw, ...]) -> int:
        """The next spare place, for a new command; -1 where there is none."""
        number = len(self._commands)
        if number >= self.size:
            return -1
        self._numbers.setdefault(name, {})[args] = number
        self._commands.append(Command(name, args))
        return number


class Rules:
    """The end and the rewards of episodes of a world.

    ``goal`` names the goal that counts, ``None``: any. ``limit`` is the largest number of steps.
    Raises `Failure` (TW0006) for a goal that the world lacks and for a limit below 1. ``paid``: the
    world pays rewards; if not, the reward of a step is the gain in score. ``live``: a reached
    ending may cease.
    """

    def __init__(self, world: OpenWorld, goal: str | None, limit: int) -> None:
        if limit < 1:
            raise usage("An episode needs a step.", "Give `limit=N`, N > 0.")
        goals = [one.name for one in world.world.goals]
        if goal is not None and goal not in goals:
            what = f"World `{world.world.name}` has no goal `{goal}`."
            hint = did_you_mean(goal, goals) or f"Goals: {', '.join(goals) or 'none'}."
            raise usage(what, hint)
        self.world, self.limit = world, limit
        said = (one for body in lowered(world.program).bodies for one in statements_in(body))
        self.paid = any(isinstance(one, Reward) for one in said) or bool(world.world.pays)
        self.live = world.world.outcomes == "live"
        kinds: dict[str, list[str]] = {"goal": [], "lose": [], "stop": []}
        for one in world.world.endings:
            kinds[one.ending].append(one.name)
        self._goals, self._stops = frozenset(kinds["goal"]), frozenset(kinds["stop"])
        counted = kinds["goal"] if goal is None else [goal]
        self._decisive = frozenset((*kinds["lose"], *counted))

    def ends(self, reached: Sequence[str], *, over: bool, halted: bool, steps: int) -> Ends:
        """Return whether an episode has terminated or was truncated, after so many steps with these
        endings reached.

        ``over``: later intents are halted, ``halted``: one was. It terminates with a loss or a goal
        that counts, or if play is over by another goal; it is truncated by a `stop` line, by the
        limit, or because nothing can be done any more.
        """
        if reached:
            if not self._decisive.isdisjoint(reached):
                return True, False
            if over and not self._goals.isdisjoint(reached):
                return True, False
            if not self._stops.isdisjoint(reached):
                return False, True
        return False, halted or over or steps >= self.limit


Ends = tuple[bool, bool]
"""Whether an episode has terminated, and whether it was truncated."""


def lives(
    params: Sequence[Binder], args: tuple[Raw, ...], live: Mapping[str, Sequence[int]]
) -> bool:
    """Return whether every object among arguments lives and has the required type."""
    return all(
        value in live[binder.type.name]
        for binder, value in zip(params, args, strict=True)
        if isinstance(binder.type, ObjectType) and value is not None
    )


def meant(state: State, intent: AnyIntent) -> AnyIntent:
    """Return an intent.

    A command with a destroyed object becomes a call by names, which is then refused.
    """
    if not isinstance(intent, Command) or intent.is_pass:
        return intent
    params = state.layout.instance.program.actions[intent.action].params
    if lives(params, intent.args, state.live):
        return intent
    names, args = state.names, dict[str, Any]()
    for binder, value in zip(params, intent.args, strict=True):
        if isinstance(binder.type, ObjectType) and isinstance(value, int):
            args[binder.name] = names[value] if value < len(names) else f"object_{value}"
        else:
            args[binder.name] = show_value(state.layout.instance.program, names, binder.type, value)
    return CallIntent(intent.action, args)


@dataclass(frozen=True, slots=True)
class Round:
    """A round: all its records, those of the command of each actor, and the reward."""

    outcomes: tuple[Outcome, ...]
    given: Mapping[str, tuple[Outcome, ...]]
    reward: float


class Episode:
    """A session that is played step by step. ``steps`` counts those so far. ``explain``: it says
    since when and by which rule a require fails."""

    def __init__(self, rules: Rules, seed: int, *, explain: bool = False) -> None:
        self.session = Session(rules.world, seed, player="gym")
        # nothing is undone here, and an episode may be long: its past is only asked since when a
        # require fails
        self.session.remembers = explain
        self._why = Explainer(self.session)
        self.steps = 0
        self._halted = False
        self._scored: tuple[State | None, float] = (None, 0.0)
        self._rules, self._paid = rules, rules.paid

    @property
    def state(self) -> State:
        """The present state."""
        return self.session.state

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
            free = meant is not None and not session.takes_time(meant)
            given[actor] = self._intend(command)
            found += given[actor]
            if free and not session.ended() and given[actor][-1].by == "player":
                found += self._intend(PASS)
        self.steps += 1
        return Round(tuple(found), given, self._worth(found, before))

    def _intend(self, intent: AnyIntent) -> tuple[Outcome, ...]:
        outcomes = give_once(self.session, meant(self.session.state, intent), "human")
        self._halted = self._halted or outcomes[-1].status == "halted"
        return outcomes

    def explained(self, outcomes: Iterable[Outcome]) -> dict[str, Any]:
        """The last refusal in full (``tw-refusal/1``), where the episode explains."""
        refused = [one for one in outcomes if one.refusal is not None]
        if not (refused and self.session.remembers):
            return {}
        found = self._why.record(refused[-1])
        return {} if found is None else {"refusal": found.to_json()}

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
    def ends(self) -> Ends:
        """Return whether the episode has terminated, and whether it was truncated."""
        session = self.session
        return self._rules.ends(
            session.latched, over=session.ended(), halted=self._halted, steps=self.steps
        )


def info_of(episode: Episode, outcomes: tuple[Outcome, ...]) -> dict[str, Any]:
    """The ``info`` of an observation; every list and mapping in it is new.

    ``refusal``, ``no_match`` and ``breach`` are there only if the step had one, in the form of
    ``tw-outcome/1`` (a refusal of an episode that explains: ``tw-refusal/1``); of several records
    the last one with such a key counts. ``status`` is that of
    the learner's own intent, also if time or the runner added records.
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
    return info | why_not(outcomes) | episode.explained(outcomes)


def why_not(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Why something was not done, by the words of ``tw-outcome/1``; the last one counts."""
    found: dict[str, Any] = {}
    for outcome in outcomes:
        if outcome.refusal or outcome.no_match or outcome.breach:
            record = outcome.to_json()
            found |= {name: record[name] for name in _WHY_NOT if name in record}
    return found


def _of_another(outcome: Outcome) -> Outcome | None:
    """The part of another's intent that an agent sees: its texts, without the reason of a
    failure."""
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
    seen = tuple(one if one.actor == name else _of_another(one) for one in outcomes)
    now = Moment(state, last.asked, tuple(one for one in seen if one), None, last.records)
    view.moments = [now] if len(session.moments) == 1 else [session.moments[0], now]
    return view


class Options(TypedDict, total=False):
    """The options of an environment beside its world; `PlayedWorld` has the defaults."""

    observe: Observe
    goal: str | None
    limit: int
    seed: int
    params: Mapping[str, Raw] | None
    spare_objects: int
    spare_commands: int
    render_mode: str | None
    explain: bool


class PlayedWorld:
    """A world that learners play, episode by episode; `WorldEnv` describes the options.

    Raises `Failure`: TW0006 for an invalid mode, goal or limit, and the failures of `open_world`.
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
        explain: bool = False,
    ) -> None:
        one_of("render_mode", render_mode or "ansi", ("ansi",))
        self.world = open_world(world, params) if isinstance(world, str) else world
        self.render_mode = render_mode
        self._explain = explain
        self._rules = Rules(self.world, goal, limit)
        self._spare = spare_objects
        self._observer = Observer(self.world, observe, spare_objects)
        self._spare_commands = spare_commands if grows(self.world) else 0
        self._seed = seed

    def _commands(self) -> CommandList:
        """The commands of the world, listed for one learner."""
        return CommandList(self.world.engine, self._spare_commands)
