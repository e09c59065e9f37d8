"""One episode of a world: a session with rewards, an end and a limit, and what a step tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.engine import State
from tokenworld.engine.births import play_bodies
from tokenworld.engine.rounds import is_free
from tokenworld.ground import PASS, Command, Outcome, show_value
from tokenworld.model import ObjectType, Reward, effects_in
from tokenworld.prose import CallIntent
from tokenworld.session import OpenWorld, Session
from tokenworld.session.intents import AnyIntent
from tokenworld.session.session import Moment

__all__ = ["Episode", "Round", "Rules", "info_of", "seen_by"]


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
            what = "An episode needs a step."
            raise Failure(Diagnostic("TW0006", what, hint="Give `limit=N`, N > 0."))
        goals = [one.name for one in self.world.world.goals]
        if self.goal is not None and self.goal not in goals:
            what = f"World `{self.world.world.name}` has no goal `{self.goal}`."
            hint = did_you_mean(self.goal, goals) or f"Goals: {', '.join(goals) or 'none'}."
            raise Failure(Diagnostic("TW0006", what, hint=hint))

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
        self.steps = 0
        self._goal, self._limit, self._paid = rules.goal, rules.limit, rules.paid
        self._kinds = {one.name: one.ending for one in rules.world.world.endings}

    def give(self, intent: AnyIntent) -> tuple[tuple[Outcome, ...], float]:
        """One step, an intent of the actor whose turn it is: its records and its reward."""
        before = self._score()
        outcomes = self._intend(intent)
        self.steps += 1
        return outcomes, self._worth(outcomes, before)

    def round(self, commands: Mapping[str, Command | str]) -> Round:
        """One step in which every actor acts, in the order of the round.

        Who has no command passes, and so does who did something that takes no time: else he would
        be asked again.
        """
        before, session = self._score(), self.session
        found: list[Outcome] = []
        given: dict[str, tuple[Outcome, ...]] = {}
        for actor in [session.state.names[one] for one in session.state.actors]:
            if session.ended() or session.actor != actor:
                continue  # he is gone, or the play is over
            command = commands.get(actor, PASS)
            meant = command if isinstance(command, Command) else None
            free = is_free(session.engine.stepper.unit, session.state, meant)
            given[actor] = self._intend(command)
            found += given[actor]
            if free and not session.ended():
                found += self._intend(PASS)
        self.steps += 1
        return Round(tuple(found), given, self._worth(found, before))

    def _intend(self, intent: AnyIntent) -> tuple[Outcome, ...]:
        state = self.session.state
        if isinstance(intent, Command) and not _lives(state, intent):
            intent = _named(state, intent)
        outcomes = self.session.intend(intent)
        del self.session.moments[:-2]  # nothing is undone here: an episode may be long
        return outcomes

    def _score(self) -> float:
        return 0.0 if self._paid else float(self.session.engine.score(self.session.state))

    def _worth(self, outcomes: Sequence[Outcome], before: float) -> float:
        if self._paid:
            return float(sum(one.reward for one in outcomes))
        return self._score() - before

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
        return stopped or self.session.ended() or self.steps >= self._limit


def info_of(episode: Episode, outcomes: tuple[Outcome, ...]) -> dict[str, Any]:
    """What is told beside an observation; every list and mapping in it is new.

    ``refusal``, ``no_match`` and ``breach`` are there only where the step came to one, in the form
    of ``tw-outcome/1``; of several records the last one with such a key counts.
    """
    session = episode.session
    info: dict[str, Any] = {
        "tick": session.tick,
        "score": float(session.engine.score(session.state)),
        "actor": session.actor or "",
        "endings": list(session.latched),
        "status": outcomes[-1].status if outcomes else "",
        "said": [line for outcome in outcomes for line in outcome.said],
    }
    for outcome in outcomes:
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
