"""Checking a certified plan: played in the interpreter and in the reference evaluator.

The two share no code that runs rules, so that a plan which both accept, hash by hash, does not
rest on a mistake of either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from tokenworld.diagnostics import Failure
from tokenworld.engine import EngineSimulator, ForcedLuck, State
from tokenworld.ground import Command, Json, NoMatch
from tokenworld.planning.proof.certificate import Certificate, CertifiedStep
from tokenworld.prose import EnglishProse, parse_intent_json
from tokenworld.session.intents import Resolver
from tokenworld.session.loading import OpenWorld

__all__ = ["DONE", "Differs", "certified_command", "check_steps"]

DONE = ("executed", "waiting")


class Differs(Exception):
    """The first thing of a certificate that is not so; the text is a clause."""


def check_steps(world: OpenWorld, start: State, found: Certificate, verified: list[str]) -> None:
    """Play the steps in both evaluators; `Differs` at the first that is not as certified."""
    commands = _interpreted(world, start, found)
    ticks = f"{len(found.steps):,} step{'' if len(found.steps) == 1 else 's'}"
    verified.append(f"{ticks} replayed by the interpreter: every hash agrees, the goal is reached")
    _referred(world, found, commands)
    verified.append(f"{ticks} replayed by the reference evaluator: every hash agrees")


def _interpreted(world: OpenWorld, state: State, found: Certificate) -> list[Command]:
    """The commands of the steps, played in the interpreter to the goal."""
    engine, resolver = world.engine, Resolver(world)
    simulator, commands = EngineSimulator(engine, state), list[Command]()
    for number, step in enumerate(found.steps, 1):
        if simulator.won(state, found.goal):
            raise Differs(f"step {number} comes after the goal")
        command = certified_command(resolver, state, step.intent, f"step {number}")
        if isinstance(command, NoMatch):
            raise Differs(f"step {number} means nothing here: {command.message.rstrip('.')}")
        state, outcomes = engine.play(state, command, ForcedLuck(step.draws))
        last = outcomes[-1]
        if last.status not in DONE:
            raise Differs(f"step {number} is {last.status} by the interpreter")
        _agree(step, number, engine.hash(state), "the interpreter")
        drawn = {draw for outcome in outcomes for draw in outcome.draws}
        if drawn != set(step.draws):
            raise Differs(f"step {number} draws otherwise than the certificate says")
        if simulator.lost(state):
            raise Differs(f"step {number} leads to the end of the world without the goal")
        commands.append(command)
    if not simulator.won(state, found.goal):
        raise Differs("the goal is not reached at the end")
    return commands


def certified_command(
    resolver: Resolver, state: State, intent: Mapping[str, Json], where: str
) -> Command | NoMatch:
    """What an intent of a certificate means in a state; `Differs` where it is none."""
    try:
        parsed = parse_intent_json(json.dumps(dict(intent)), where)
    except Failure as failure:
        reason = failure.diagnostics[0].message.rstrip(".")
        raise Differs(f"{where} is no intent: {reason}") from None
    return resolver.resolve(state, parsed)


def _agree(step: CertifiedStep, number: int, here: str, who: str) -> None:
    if step.state != here:
        raise Differs(
            f"the state hash after step {number} is `{here}` by {who} "
            f"and `{step.state}` in the certificate"
        )


def _referred(world: OpenWorld, found: Certificate, commands: list[Command]) -> None:
    """The same steps by the reference evaluator."""
    from tokenworld.engine.reference import Fault, Reference, forced

    who = "the reference evaluator"
    reference = Reference(world.instance, EnglishProse())
    try:
        state = reference.start(found.seed)
        here = reference.hash(state)
        if here != found.start:
            raise Differs(f"the hash of the start state is `{here}` by {who}")
        for number, (step, command) in enumerate(zip(found.steps, commands, strict=True), 1):
            with forced(step.draws):
                state, records = reference.play(state, command)
            status = _status(records[-1])
            if status not in DONE:
                raise Differs(f"step {number} is {status} by {who}")
            _agree(step, number, reference.hash(state), who)
    except Fault as fault:
        raise Differs(f"{who} stops: {fault}") from None


def _status(record: Mapping[str, Json]) -> str:
    return str(record["status"])
