"""Certificates of verdicts: written by ``--certificate FILE``, checked by ``--check FILE``.

A plan is checked by playing it twice, in the interpreter and in the reference evaluator, which
share no code that runs rules, and comparing the state hash after every tick. A proof is checked by
doing it again. For an honest verdict all states that the setup can hide are enumerated and played
again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, assert_never

from tokenworld.diagnostics import Diagnostic, Failure, counted, read_source, usage
from tokenworld.engine import EngineSimulator, ForcedLuck, State, in_tick
from tokenworld.ground import Command, Json, LuckyDraw, NoMatch, Outcome, show_value
from tokenworld.planning.honest.branching import Node
from tokenworld.planning.honest.plans import ENCODING, SLICED, slice_proof
from tokenworld.planning.planners.answers import FAST_DOWNWARD_NAME
from tokenworld.planning.proof.certificate import (
    REPEATED,
    Certificate,
    CertifiedBranch,
    CertifiedHonesty,
    CertifiedNode,
    CertifiedProof,
    CertifiedStep,
    NoProof,
    certificate_from_json,
    exhaust,
    prove_on_encoding,
)
from tokenworld.planning.search.interpreted import platform
from tokenworld.planning.verdict import Verdict
from tokenworld.prose.intents import parse_intent_json
from tokenworld.prose.wording import EnglishProse
from tokenworld.session.intents import Resolver, intent_json
from tokenworld.session.loading import OpenWorld
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, EXIT_UNKNOWN, Output, write_file
from tokenworld.verbs.plan.branching import BranchingVerdict, EnginePlayer, branching_verdict
from tokenworld.verbs.plan.honesty import PossibleStart, possible_starts, question_from

if TYPE_CHECKING:
    from tokenworld.engine.reference import Reference

DONE = ("executed", "waiting")
_BLIND = f"{FAST_DOWNWARD_NAME} blind"


class Differs(Exception):
    """The first thing of a certificate that is not so; the text is a clause."""


def check_steps(world: OpenWorld, start: State, found: Certificate, verified: list[str]) -> None:
    """Play the steps in both evaluators; `Differs` at the first that is not as certified."""
    commands = _interpreted(world, start, found)
    ticks = counted(len(found.steps), "step")
    verified.append(f"{ticks} replayed by the interpreter: every hash agrees, the goal is reached")
    steps = [(one.draws, one.state) for one in found.steps]
    _by_reference(_reference(world), found.seed, found.start, commands, steps)
    verified.append(f"{ticks} replayed by the reference evaluator: every hash agrees")


def _interpreted(world: OpenWorld, state: State, found: Certificate) -> list[Command]:
    """The commands of the steps, played in the interpreter to the goal."""
    engine, resolver = world.engine, Resolver(world)
    simulator, commands = EngineSimulator(engine, state), list[Command]()
    for number, step in enumerate(found.steps, 1):
        if simulator.won(state, found.goal):
            raise Differs(f"step {number} comes after the goal")
        command = _meant(resolver, state, step.intent, f"step {number}")
        state, outcomes = engine.play(state, command, ForcedLuck(step.draws))
        last = outcomes[-1]
        if last.status not in DONE:
            raise Differs(f"step {number} is {last.status} by the interpreter")
        _agree(step.state, number, engine.hash(state), "the interpreter")
        drawn = {draw for outcome in outcomes for draw in outcome.draws}
        if drawn != set(step.draws):
            raise Differs(f"step {number} draws otherwise than the certificate says")
        if simulator.lost(state):
            raise Differs(f"step {number} leads to the end of the world without the goal")
        commands.append(command)
    if not simulator.won(state, found.goal):
        raise Differs("the goal is not reached at the end")
    return commands


def _meant(resolver: Resolver, state: State, intent: Mapping[str, Json], where: str) -> Command:
    """The command of an intent of a certificate in a state; `Differs` where it is none."""
    try:
        parsed = parse_intent_json(json.dumps(dict(intent)), where)
    except Failure as failure:
        reason = failure.diagnostics[0].message.rstrip(".")
        raise Differs(f"{where} is no intent: {reason}") from None
    command = resolver.resolve(state, parsed)
    if isinstance(command, NoMatch):
        raise Differs(f"{where} means nothing here: {command.message.rstrip('.')}")
    return command


def _agree(certified: str, number: object, here: str, who: str) -> None:
    if certified != here:
        raise Differs(
            f"the state hash after step {number} is `{here}` by {who} "
            f"and `{certified}` in the certificate"
        )


def _by_reference(
    reference: Reference,
    seed: int,
    start: str,
    commands: Sequence[Command],
    steps: Sequence[Step],
    setup: Sequence[LuckyDraw] = (),
    where: str = "",
    *,
    tries: bool = False,
) -> None:
    """The same steps by the reference evaluator, hash by hash, from the start with this hash.

    ``setup`` are draws of the setup that fall otherwise than the seed says. ``where`` names the
    start for messages. With ``tries`` steps may be refused.
    """
    from tokenworld.engine.reference import Fault, forced

    who = "the reference evaluator"
    try:
        with forced(setup):
            state = reference.start(seed)
        here = reference.hash(state)
        if here != start:
            raise Differs(f"the hash of the start state{where} is `{here}` by {who}")
        for number, (command, (draws, after)) in enumerate(zip(commands, steps, strict=True), 1):
            with forced(draws):
                state, records = reference.play(state, command)
            status = str(records[-1]["status"])
            if status not in DONE and not tries:
                raise Differs(f"step {number}{where} is {status} by {who}")
            _agree(after, f"{number}{where}", reference.hash(state), who)
    except Fault as fault:
        raise Differs(f"{who} stops{where}: {fault}") from None


Say = Callable[[str], None]
Step = tuple[tuple[LuckyDraw, ...], str]
"""The draws of a tick and the state hash after it."""


def certify_honesty(world: OpenWorld, verdict: Verdict, seed: int) -> CertifiedHonesty:
    """The evidence of an honest verdict: all start states, and the intents of the whole plan."""
    starts = possible_starts(world.engine, seed)
    digest = _digest(world, starts)
    if verdict.answer != "winnable":
        return CertifiedHonesty(len(starts), digest)
    return CertifiedHonesty(len(starts), digest, _intents(world, verdict, seed))


def certify_branching(world: OpenWorld, verdict: BranchingVerdict, seed: int) -> Certificate | None:
    """The certificate of a plan that branches, or that there is none; ``None`` for *unknown*."""
    if verdict.answer == "unknown":
        return None
    starts = possible_starts(world.engine, seed)
    tree = None
    if verdict.plan is not None:
        player = _player(world, starts[0].state, verdict.goal)
        tree = _certified(world, player, verdict.plan, [one.state for one in starts])
    none = CertifiedProof("branching") if verdict.answer == "unwinnable" else None
    honest = CertifiedHonesty(len(starts), _digest(world, starts), (), tree)
    return _certificate(world, seed, verdict.goal, verdict.answer, proof=none, honest=honest)


def _player(world: OpenWorld, start: State, goal: str | None) -> EnginePlayer:
    """The player whose sights decide which branch is taken."""
    return EnginePlayer(world.engine, EngineSimulator(world.engine, start), goal, 0.0)


def _certified(
    world: OpenWorld, player: EnginePlayer, node: Node, states: Sequence[State]
) -> CertifiedNode | None:
    """A step and those that follow it, from states that look alike; none from the goal."""
    states = [one for one in states if not player.won(one)]
    if not states:
        return None
    first = states[0]
    actor = None if first.acting is None else first.names[first.acting]
    _, outcomes = world.engine.play(first, node.command)
    intent = intent_json(node.command, actor, outcomes[-1].args)
    came = [one for state in states for one in player.outcomes(state, node.command) or ()]
    branches = []
    for branch in node.branches:
        after = [one.state for one in came if one.sight == branch.sight]
        if after:
            then = None if branch.then is None else _certified(world, player, branch.then, after)
            branches.append(CertifiedBranch(branch.sight.digest, branch.sight.lines, then))
    return CertifiedNode(intent, tuple(branches))


def _digest(world: OpenWorld, starts: tuple[PossibleStart, ...]) -> str:
    """SHA-256 over the hashes of all start states, in whatever order they were found."""
    hashes = sorted(world.engine.hash(one.state) for one in starts)
    return sha256("\n".join(hashes).encode()).hexdigest()


def _intents(world: OpenWorld, verdict: Verdict, seed: int) -> tuple[Mapping[str, Json], ...]:
    """The plan as intents, each told from a state in which the goal is still ahead."""
    engine, beliefs = world.engine, question_from(world.engine, seed, verdict.goal).beliefs()
    belief, found = beliefs.start(), list[Mapping[str, Json]]()
    for step in verdict.steps:
        state = belief.first
        actor = None if state.acting is None else state.names[state.acting]
        _, outcomes = engine.play(state, step.command)
        found.append(intent_json(step.command, actor, outcomes[-1].args))
        belief = beliefs.successors(belief, step.command)[0].state
    return tuple(found)


def exhaust_beliefs(
    world: OpenWorld, seed: int, goal: str | None, *, seconds: float, say: Say
) -> CertifiedProof:
    """Every set of states that an honest plan could pass; `NoProof` where that is no proof."""
    beliefs = question_from(world.engine, seed, goal).beliefs()
    space = exhaust(beliefs, beliefs.start(), goal, seconds=seconds, say=say)
    if beliefs.chanced or beliefs.crowded:
        raise NoProof("chance plays a part, or too many states look alike")
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
    assert found.honest is not None
    reference, here = _reference(world), world.engine.hash(start.state)
    tree, where = found.honest.tree, f" in start {number}"
    ways = _ways if tree is None else _branches
    for commands, steps in ways(world, found, start.state, number):
        _by_reference(
            reference, found.seed, here, commands, steps, start.draws, where, tries=tree is not None
        )


def _reference(world: OpenWorld) -> Reference:
    """The reference evaluator of a world, imported where it is asked for."""
    from tokenworld.engine.reference import Reference

    return Reference(world.instance, EnglishProse())


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
            command = _meant(resolver, state, intent, where)
            results = simulator.successors(state, command)
            if sum(one.probability for one in results) != 1 or simulator.lost(state):
                raise Differs(f"{where} is not executed")
            after += (
                (one.state, [*commands, command], [*steps, (draws, engine.hash(one.state))])
                for one in results
                for draws in (in_tick(state.drawn, one.draws),)
            )
        open_ = after
    return done


def _branches(
    world: OpenWorld, found: Certificate, start: State, number: int
) -> list[tuple[list[Command], list[Step]]]:
    """The tree played from a start to the goal, once for each way in which luck can fall."""
    assert found.honest is not None
    player, resolver = _player(world, start, found.goal), Resolver(world)
    open_: list[tuple[CertifiedNode | None, State, list[Command], list[Step]]] = [
        (found.honest.tree, start, [], [])
    ]
    done = list[tuple[list[Command], list[Step]]]()
    while open_:
        node, state, commands, steps = open_.pop()
        if player.won(state):
            done.append((commands, steps))
            continue
        if node is None or player.lost(state):
            raise Differs(f"the plan does not reach the goal in start {number}")
        where = f"step {len(steps) + 1} in start {number}"
        command = _meant(resolver, state, node.intent, where)
        came = player.outcomes(state, command)
        if came is None:
            raise Differs(f"a draw decides whether {where} is executed")
        for one in came:
            taken = [x for x in node.branches if x.seen == one.sight.digest]
            if len(taken) != 1:
                raise Differs(f"the plan has no branch for what is seen of {where}")
            step = (in_tick(state.drawn, one.draws), world.engine.hash(one.state))
            open_.append((taken[0].then, one.state, [*commands, command], [*steps, step]))
    return done


@dataclass(slots=True)
class CertificateReport:
    """The result of checking a certificate.

    ``verified`` are the claims that held, in order. ``difference`` is the first that did not, a
    clause; ``unknown`` says why a claim could not be decided. Both empty: the certificate holds.
    """

    certificate: Certificate
    verified: list[str] = field(default_factory=list)
    difference: str = ""
    unknown: str = ""

    @property
    def holds(self) -> bool:
        return not self.difference and not self.unknown

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": 1,
            "holds": self.holds,
            "answer": self.certificate.answer,
            "world": self.certificate.world,
            "goal": self.certificate.goal,
            "verified": self.verified,
            "difference": self.difference or None,
            "unknown": self.unknown or None,
        }


def source_digest(world: OpenWorld) -> str:
    """SHA-256 over the texts of all source files, wherever they lie, in hexadecimal."""
    texts = (sha256(one.text.encode()).hexdigest() for one in world.loaded.sources)
    return sha256("\n".join(texts).encode()).hexdigest()


def _params(world: OpenWorld) -> dict[str, Json]:
    instance = world.instance
    declared = instance.program.params
    return {
        name: show_value(instance.program, instance.names, declared[name].type, value)
        for name, value in instance.params.items()
    }


# ---- making -----------------------------------------------------------------------------------


def certify(
    world: OpenWorld, verdict: Verdict, seed: int, *, seconds: float, say: Say = lambda line: None
) -> Certificate | None:
    """The certificate of a verdict about the start state; ``None`` for *unknown*.

    A proof is done once more to take down its figures, for which it may take ``seconds``. Raises
    `Failure` (TW0813) where that does not end.
    """
    if verdict.answer == "unknown":
        return None
    start = world.engine.start(seed)
    steps: tuple[CertifiedStep, ...] = ()
    proof = None
    honest = None if verdict.honest is None else certify_honesty(world, verdict, seed)
    if verdict.answer == "winnable":
        steps = _played(world, start, verdict)
    else:
        proof = _proved(world, start, verdict, seconds, say)
    return _certificate(world, seed, verdict.goal, verdict.answer, steps, proof, honest)


def _certificate(
    world: OpenWorld,
    seed: int,
    goal: str | None,
    answer: Literal["winnable", "unwinnable"],
    steps: tuple[CertifiedStep, ...] = (),
    proof: CertifiedProof | None = None,
    honest: CertifiedHonesty | None = None,
) -> Certificate:
    """A certificate about this world from the start state of a seed."""
    digest, start = source_digest(world), world.engine.hash(world.engine.start(seed))
    name, params = world.world.name, _params(world)
    return Certificate(digest, name, params, seed, goal, answer, start, steps, proof, honest)


def _played(world: OpenWorld, state: State, verdict: Verdict) -> tuple[CertifiedStep, ...]:
    """The plan played once, with everything that chance decided written down."""
    engine, found = world.engine, list[CertifiedStep]()
    simulator = EngineSimulator(engine, state)
    for step in verdict.steps:
        if verdict.honest is not None and simulator.won(state, verdict.goal):
            break  # the rest of the plan is for other values of the secrets
        actor = None if state.acting is None else state.names[state.acting]
        luck = ForcedLuck(in_tick(state.drawn, step.draws))
        state, outcomes = engine.play(state, step.command, luck)
        last = outcomes[-1]
        if last.status not in DONE:  # the verdict's own replay went through
            raise AssertionError(f"a replayed plan is {last.status}")
        intent = intent_json(step.command, actor, last.args)
        found.append(CertifiedStep(intent, _draws(outcomes), engine.hash(state)))
    return tuple(found)


def _draws(outcomes: tuple[Outcome, ...]) -> tuple[LuckyDraw, ...]:
    return tuple(draw for outcome in outcomes for draw in outcome.draws)


def _proved(
    world: OpenWorld, state: State, verdict: Verdict, seconds: float, say: Say
) -> CertifiedProof:
    simulator = EngineSimulator(world.engine, state)
    try:
        if verdict.engine == SLICED:
            return exhaust_slice(world, state.seed, verdict.goal, seconds=seconds, say=say)
        if verdict.honest is not None and verdict.honest.together:
            return exhaust_beliefs(world, state.seed, verdict.goal, seconds=seconds, say=say)
        if verdict.claim == "exhausted":
            space = exhaust(simulator, state, verdict.goal, seconds=seconds, say=say)
            return CertifiedProof("exhausted", space.states, space.digest)
        engine = verdict.engine if verdict.encoding == "E" else _BLIND
        if engine.startswith(FAST_DOWNWARD_NAME) and engine not in REPEATED:
            engine = _BLIND  # an alias, or a heuristic: another version may have another one
        return prove_on_encoding(simulator, state, verdict.goal, engine, seconds)
    except NoProof as error:
        hint = "Raise `--time-limit`: the proof is done once more for the certificate."
        message = f"The proof could not be repeated for a certificate: {error.reason}."
        raise Failure(Diagnostic("TW0813", message, hint=hint)) from None


# ---- checking ---------------------------------------------------------------------------------


def check_certificate(
    world: OpenWorld, found: Certificate, *, seconds: float, say: Say = lambda line: None
) -> CertificateReport:
    """Work out anew all that a certificate says about ``world``.

    Raises `Failure` with TW0811 where the planner that a proof names is not installed.
    """
    report = CertificateReport(found)
    try:
        start = _same_start(world, report)
        if found.honest is not None:
            check_honesty(world, found, report.verified)
        branches = found.honest is not None and found.honest.tree is not None
        if found.answer == "winnable" and not branches:
            check_steps(world, start, found, report.verified)
        elif found.answer == "unwinnable":
            _check_proof(world, start, report, seconds, say)
    except Differs as error:
        report.difference = str(error)
    return report


def _compare(what: str, certified: object, here: object) -> None:
    if certified != here:
        raise Differs(f"{what} is {_shown(here)} here and {_shown(certified)} in the certificate")


def _shown(value: object) -> str:
    return "none" if value is None else f"`{value}`"


def _same_start(world: OpenWorld, report: CertificateReport) -> State:
    found = report.certificate
    _compare("the world", found.world, world.world.name)
    _compare("the digest of the program", found.program, source_digest(world))
    _compare("the params", dict(found.params), _params(world))
    goals = [line.name for line in world.world.goals]
    if not goals or (found.goal is not None and found.goal not in goals):
        raise Differs(f"the world has no goal {_shown(found.goal)}")
    start = world.engine.start(found.seed)
    _compare("the hash of the start state", found.start, world.engine.hash(start))
    report.verified.append(f"program, params, seed {found.seed} and start state are the same")
    return start


def _check_proof(
    world: OpenWorld, start: State, report: CertificateReport, seconds: float, say: Say
) -> None:
    proof, goal = report.certificate.proof, report.certificate.goal
    assert proof is not None  # the reader asks for one
    simulator = EngineSimulator(world.engine, start)
    try:
        if proof.kind in ("honest", "sliced"):
            exhaust_sets = exhaust_beliefs if proof.kind == "honest" else exhaust_slice
            seed = report.certificate.seed
            again = exhaust_sets(world, seed, goal, seconds=seconds, say=say)
        elif proof.kind == "branching":
            again = _no_branching_plan(world, report.certificate.seed, goal, seconds, say)
        elif proof.kind == "exhausted":
            space = exhaust(simulator, start, goal, seconds=seconds, say=say)
            again = CertifiedProof("exhausted", space.states, space.digest)
        else:
            named = proof.engine if proof.kind == "planner" else ""
            again = prove_on_encoding(simulator, start, goal, named, seconds)
    except NoProof as error:
        if error.limited:
            report.unknown = f"the proof could not be repeated: {error.reason}"
            return
        raise Differs(f"the proof does not hold: {error.reason}") from None
    _same_proof(proof, again)
    report.verified.append(_proof_line(again) + platform(world.instance))


def _no_branching_plan(
    world: OpenWorld, seed: int, goal: str | None, seconds: float, say: Say
) -> CertifiedProof:
    """Search once more for a plan that branches; `NoProof` where that does not end without one."""
    found = branching_verdict(world.engine, seed, goal, time_limit=seconds, say=say)
    if found.answer != "unwinnable":
        why = found.limit if found.answer == "unknown" else "a plan that branches wins"
        raise NoProof(why, limited=found.answer == "unknown")
    return CertifiedProof("branching")


def _same_proof(certified: CertifiedProof, again: CertifiedProof) -> None:
    _compare("the kind of proof", certified.kind, again.kind)
    _compare("the encoding", certified.encoding, again.encoding)
    _compare("the digest of the encoding", certified.task, again.task)
    what = "states" if again.kind in ("exhausted", "honest", "sliced") else "facts"
    _compare(f"the number of {what}", certified.count, again.count)
    _compare(f"the digest of the {what}", certified.result, again.result)
    _compare("the exit code of the planner", certified.exit_code, again.exit_code)
    if certified.version == again.version:  # another version may count differently
        _compare("what the planner says last", list(certified.closing), list(again.closing))


def _proof_line(proof: CertifiedProof) -> str:
    match proof.kind:
        case "exhausted":
            return f"exhausted again: none of the {proof.count:,} states is the goal"
        case "honest":
            return f"exhausted again: none of the {proof.count:,} sets of states is all goal"
        case "branching":
            return "exhausted again: no plan that branches on what is seen wins in all of them"
        case "sliced":
            sets = f"none of the {proof.count:,} sets of sliced states is all goal"
            return f"exhausted again on encoding {proof.encoding}: {sets}"
        case "relaxed":
            why = "unreachable even if nothing is ever deleted"
            return f"proved again on encoding {proof.encoding}: {why}"
        case "planner":
            return f"proved again by {proof.engine} {proof.version} on encoding {proof.encoding}"
        case _:
            assert_never(proof.kind)


_LARGEST = 64 << 20


def write_certificate(
    path: Path,
    world: OpenWorld,
    verdict: Verdict | BranchingVerdict,
    seed: int,
    out: Output,
    *,
    seconds: float,
) -> str | None:
    """Write the certificate of a verdict; none for *unknown*, which says so."""
    if isinstance(verdict, BranchingVerdict):
        found = certify_branching(world, verdict, seed)
    else:
        found = certify(world, verdict, seed, seconds=seconds, say=out.progress)
    if found is None:
        out.note(f"no certificate is written to {path}: there is nothing to certify")
        return None
    text = json.dumps(found.to_json(), ensure_ascii=False, indent=1) + "\n"
    hint = "Name a file that can be written, with `--certificate`."
    write_file(path, text, hint, folder=path.parent)
    out.line(f"certificate: {path}")
    return str(path)


def read_certificate(path: Path) -> Certificate:
    """The certificate in a file; `Failure` where it cannot be read (TW0001, TW0003) or is none
    (TW0006)."""
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise _not_json(path, "it is too large")
    text = read_source(path).text
    try:
        # Not by pydantic: the keys of a proof depend on its kind, and a message names the step.
        return certificate_from_json(json.loads(text), str(path))
    except (ValueError, RecursionError) as error:
        raise _not_json(path, f"it is not JSON ({str(error)[:100]})") from None


def _not_json(path: Path, reason: str) -> Failure:
    hint = "Write it anew with `tw plan WORLD --certificate FILE`."
    return usage(f"`{path}` is no certificate: {reason}.", hint)


def check_file(world: OpenWorld, path: Path, out: Output, *, seconds: float) -> int:
    """Check a certificate against a world: 0 it holds, 1 it does not, 3 time ran out."""
    found = read_certificate(path)
    report = check_certificate(world, found, seconds=seconds, say=out.progress)
    _show(report, path, out)
    out.json(report.to_json())
    if report.difference:
        return EXIT_NEGATIVE
    return EXIT_UNKNOWN if report.unknown else EXIT_OK


def _show(report: CertificateReport, path: Path, out: Output) -> None:
    goal = report.certificate.goal
    asked = "any goal" if goal is None else f"goal `{goal}`"
    for line in report.verified:
        out.line(line)
    if report.difference:
        out.line(f"{path} does not hold: {report.difference}")
    elif report.unknown:
        out.line(f"unknown whether {path} holds: {report.unknown}")
        hint = "Raise `--time-limit`."
        out.diagnostics((Diagnostic("TW0813", "The check ran into its limit.", hint=hint),))
    else:
        out.line(f"{path} holds: {report.certificate.answer}, {asked}")
