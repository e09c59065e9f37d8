"""What our grounding is asked: the ground actions and facts of a PDDL pair, and its SAS+ task."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from shared import Json, named, once, told

from tokenworld.engine import EngineSimulator
from tokenworld.ground import Command
from tokenworld.planning.grounding.reach import Reached, reached
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.plain import grounded as plain_task
from tokenworld.planning.lower.plain import plain_goal
from tokenworld.session.importing import open_pddl


def grounded(domain: str, problem: str) -> Json:
    """Relaxed reachability, from the loaded program and its start state; told by the names of all
    ground actions and of all facts that may come to hold or be lost."""
    facts, _, _ = _opened(domain, problem)
    seconds, found = once(lambda: reached(facts))
    return {"seconds": seconds, **named(_actions(facts, found.commands), _facts(facts, found))}


def translated(domain: str, problem: str) -> Json:
    """From the texts to a SAS+ task in memory, told by the ground actions it keeps."""
    seconds, found = once(lambda: _translated(domain, problem))
    if isinstance(found, str):
        return {"error": found}
    return {"seconds": seconds, **told(_actions(*found))}


def _translated(domain: str, problem: str) -> tuple[Facts, tuple[Command, ...]] | str:
    facts, simulator, first = _opened(domain, problem)
    line = plain_goal(facts, None)
    task = None if line is None else plain_task(facts, line, grouped=True)
    if task is not None and task.goal is not None:
        return facts, tuple(Command(one[0], one[1]) for one in task.operators)
    made = encode(facts.instance, simulator, first, None)
    if not isinstance(made, Encoding):
        return "; ".join(str(one) for one in made.obstacles)[:200]
    return facts, tuple(one.command for one in made.task.operators if one.command)


def _opened(domain: str, problem: str) -> tuple[Facts, EngineSimulator, Any]:
    engine = open_pddl(Path(domain), Path(problem)).engine
    first = engine.start()
    simulator = EngineSimulator(engine, first)
    facts = Facts(
        engine.instance,
        lambda fluent, args: simulator.read(first, fluent, args),
        stored=lambda fluent: simulator.stored(first, fluent),
    )
    return facts, simulator, first


def _actions(facts: Facts, commands: Iterable[Command]) -> Iterable[str]:
    names = facts.instance.names
    return (" ".join((one.action, *(names[arg] for arg in one.args))) for one in commands)  # type: ignore[index]


def _facts(facts: Facts, found: Reached) -> Iterable[str]:
    names = facts.instance.names
    return (" ".join((name, *(names[arg] for arg in args))) for name, args in found.facts)  # type: ignore[index]
