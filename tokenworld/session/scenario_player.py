"""A scenario played as a run: its steps become intents, its checks what they are expected to be.

So a refusal that a scenario asks for on purpose does not count against the run that records it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.ground import PASS, Command, constant
from tokenworld.model import (
    CallStep,
    Expect,
    Given,
    PassStep,
    RefusedCheck,
    Replay,
    Scenario,
    ScenarioStep,
    Seed,
    StatusCheck,
    TypedStep,
    When,
)
from tokenworld.prose import TypedIntent
from tokenworld.session.intents import AnyIntent
from tokenworld.session.loading import OpenWorld
from tokenworld.session.players import Expecting, Player
from tokenworld.session.session import Session

__all__ = ["find_scenario", "scenario_player", "seed_of"]


def find_scenario(world: OpenWorld, title: str) -> Scenario:
    """The scenario of a world with this title; `Failure` TW0006 if there is none, or if it edits
    the state, so that it is no run that could be replayed."""
    listed = [one for one in world.program.scenarios if one.world == world.world.name]
    found = next((one for one in listed if one.title == title), None)
    if found is None:
        titles = [one.title for one in listed]
        hint = did_you_mean(title, titles) or "Name a scenario of this world by its title."
        _fail(f"World `{world.world.name}` has no scenario `{title}`.", hint)
    for place, step in enumerate(found.steps):
        if isinstance(step, Given | Replay) or (isinstance(step, Seed) and place):
            what = f"Scenario `{title}` changes the state by hand, which a run cannot record."
            _fail(what, "Choose one with `when` steps only, or run it with `tw test`.")
    return found


def _fail(message: str, hint: str) -> NoReturn:
    raise Failure(Diagnostic("TW0006", message, hint=hint))


def seed_of(scenario: Scenario, seed: int) -> int:
    """The seed that a scenario begins with, else the given one."""
    first = scenario.steps[0] if scenario.steps else None
    return first.seed if isinstance(first, Seed) else seed


def scenario_player(scenario: Scenario) -> Player:
    """Gives the intents of the `when` steps; those before an actor in a round pass."""

    def play(session: Session) -> Iterator[AnyIntent | Expecting]:
        for place, step in enumerate(scenario.steps):
            if isinstance(step, When):
                wanted = _wanted(scenario.steps[place + 1 :])
                for again in range(step.times):
                    yield from _passes(session, step.by)
                    intent = _intent(session, step)
                    last = again == step.times - 1
                    yield Expecting(intent, wanted) if last and wanted else intent
                    yield from _passes(session, None)

    return play


def _wanted(following: Sequence[ScenarioStep]) -> str | None:
    """The status that the checks up to the next step ask for."""
    for step in following:
        if isinstance(step, When):
            return None
        for check in step.checks if isinstance(step, Expect) else ():
            if isinstance(check, RefusedCheck):
                return "refused"
            if isinstance(check, StatusCheck):
                return check.status
    return None


def _passes(session: Session, actor: str | None) -> Iterator[AnyIntent]:
    """Those before an actor pass; without one, all that are left in the round."""
    names = [session.state.names[one] for one in session.state.actors]
    going = actor in names and session.actor != actor if actor else session.state.turn > 0
    while going and not session.ended():
        yield PASS
        going = session.state.turn > 0 and session.actor != actor


def _intent(session: Session, step: When) -> AnyIntent:
    if step.by is not None and step.by != session.actor:
        return TypedIntent(step.source, step.by)
    match step.intent:
        case TypedStep(text=text):
            return text
        case PassStep():
            return PASS
        case CallStep(action=action, args=args):
            numbers, params = session.state.numbers, session.engine.instance.params
            return Command(action, tuple(constant(arg, numbers, params) for arg in args))
