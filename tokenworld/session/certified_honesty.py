"""Certificates of honest verdicts: all that the setup can hide is listed anew and played anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING

from tokenworld.engine import EngineSimulator, State
from tokenworld.ground import Command, Json, LuckyDraw, NoMatch
from tokenworld.planning import Verdict
from tokenworld.planning.honest.rung import ENCODING, slice_proof
from tokenworld.planning.proof.certificate import Certificate, CertifiedHonesty, CertifiedProof
from tokenworld.planning.proof.exhaustion import NotExhausted, exhaust
from tokenworld.prose import EnglishProse
from tokenworld.session.certified_plan import DONE, Differs, certified_command
from tokenworld.session.honesty import PossibleStart, possible_starts, question_from
from tokenworld.session.intents import Resolver, intent_json
from tokenworld.session.loading import OpenWorld

if TYPE_CHECKING:
    from tokenworld.engine.reference import Reference

__all__ = ["certify_honesty", "check_honesty", "exhaust_beliefs", "exhaust_slice"]

Say = Callable[[str], None]
Step = tuple[tuple[LuckyDraw, ...], str]
"""The draws of a tick and the state hash after it."""


def certify_honesty(world: OpenWorld, verdict: Verdict, seed: int) -> CertifiedHonesty:
    """What an honest verdict rests on: all start states, and the intents of the whole plan."""
    starts = possible_starts(world.engine, seed)
    digest = _digest(world, starts)
    if verdict.answer != "winnable":
        return CertifiedHonesty(len(starts), digest)
    return CertifiedHonesty(len(starts), digest, _intents(world, verdict, seed))


def _digest(world: OpenWorld, starts: tuple[PossibleStart, ...]) -> str:
    """SHA-256 over the hashes of all start states, in whatever order they were found."""
    hashes = sorted(world.engine.hash(one.state) for one in starts)
    return sha256("\n".join(hashes).encode()).hexdigest()


def _intents(world: OpenWorld, verdict: Verdict, seed: int) -> tuple[Mapping[str, Json], ...]:
    """The plan as intents, each told from a state in which the goal is still ahead."""
    engine, beliefs = world.engine, question_from(world.engine, seed, verdict.goal).beliefs()
    belief, found = beliefs.start(), list[Mapping[str, Json]]()
    for step in verdict.steps:
        state = belief.open[0][1]
        actor = None if state.acting is None else state.names[state.acting]
        _, outcomes = engine.play(state, step.command)
        found.append(intent_json(step.command, actor, outcomes[-1].args))
        belief = beliefs.successors(belief, step.command)[0].state
    return tuple(found)


def exhaust_beliefs(
    world: OpenWorld, seed: int, goal: str | None, *, seconds: float, say: Say
) -> CertifiedProof:
    """Every set of states that an honest plan could pass; `NotExhausted` where that is no proof."""
    beliefs = question_from(world.engine, seed, goal).beliefs()
    space = exhaust(beliefs, beliefs.start(), goal, seconds=seconds, say=say)
    if beliefs.chanced or beliefs.crowded:
        raise NotExhausted("chance plays a part, or too many states look alike")
    return CertifiedProof("honest", space.states, space.digest)


def exhaust_slice(
    world: OpenWorld, seed: int, goal: str | None, *, seconds: float, say: Say
) -> CertifiedProof:
    """The same on the slice that matters for the goal; `NoProof` where that is no proof."""
    question = question_from(world.engine, seed, goal)
    found = slice_proof(question.simulator, question.starts, goal, seconds=seconds, say=say)
    return CertifiedProof("sliced", found.vectors, found.digest, ENCODING, found.task)


# ---- checking ---------------------------------------------------------------------------------


def check_honesty(world: OpenWorld, found: Certificate, verified: list[str]) -> None:
    """List the start states anew and play the plan in each, in both evaluators.

    Raises `Differs` at the first thing that is not as certified.
    """
    assert found.honest is not None
    starts = possible_starts(world.engine, found.seed)
    here, there = len(starts), found.honest.assignments
    if here != there:
        raise Differs(f"the setup can fill the secrets in {here:,} ways here and {there:,} there")
    if _digest(world, starts) != found.honest.starts:
        raise Differs("the start states that look alike are others here")
    verified.append(f"the setup can fill the secrets in {here:,} ways, the same as certified")
    if found.answer != "winnable":
        return
    for number, start in enumerate(starts, 1):
        _check_start(world, found, start, number)
    verified.append(f"the plan wins in all {here:,} of them by both evaluators")


def _check_start(world: OpenWorld, found: Certificate, start: PossibleStart, number: int) -> None:
    from tokenworld.engine.reference import Fault, Reference

    reference = Reference(world.instance, EnglishProse())
    try:
        for commands, steps in _ways(world, found, start.state, number):
            _referred(world, reference, found.seed, start, commands, steps)
    except Fault as fault:
        raise Differs(f"the reference evaluator stops in start {number}: {fault}") from None


def _ways(
    world: OpenWorld, found: Certificate, start: State, number: int
) -> list[tuple[list[Command], list[Step]]]:
    """The plan played from a start to the goal, once for each way in which luck can fall."""
    assert found.honest is not None
    engine, resolver = world.engine, Resolver(world)
    simulator = EngineSimulator(engine, start)
    open_: list[tuple[State, list[Command], list[Step]]] = [(start, [], [])]
    done = list[tuple[list[Command], list[Step]]]()
    for at, intent in enumerate((*found.honest.intents, None), 1):
        after = list[tuple[State, list[Command], list[Step]]]()
        for state, commands, steps in open_:
            if simulator.won(state, found.goal):
                done.append((commands, steps))
                continue
            where = f"step {at} in start {number}"
            if intent is None:
                raise Differs(f"the plan does not reach the goal in start {number}")
            command = certified_command(resolver, state, intent, where)
            if isinstance(command, NoMatch):
                raise Differs(f"{where} means nothing: {command.message.rstrip('.')}")
            results = simulator.successors(state, command)
            if sum(one.probability for one in results) != 1 or simulator.lost(state):
                raise Differs(f"{where} is not executed")
            after += (
                (one.state, [*commands, command], [*steps, (one.draws, engine.hash(one.state))])
                for one in results
            )
        open_ = after
    return done


def _referred(
    world: OpenWorld,
    reference: Reference,
    seed: int,
    start: PossibleStart,
    commands: list[Command],
    steps: list[Step],
) -> None:
    """The same way by the reference evaluator, hash by hash."""
    from tokenworld.engine.reference import forced

    with forced(start.draws):
        state = reference.start(seed)
    if reference.hash(state) != world.engine.hash(start.state):
        raise Differs("the reference evaluator begins in another state")
    for number, (command, (draws, after)) in enumerate(zip(commands, steps, strict=True), 1):
        with forced(draws):
            state, records = reference.play(state, command)
        if str(records[-1]["status"]) not in DONE or reference.hash(state) != after:
            raise Differs(f"step {number} comes to another state by the reference evaluator")
