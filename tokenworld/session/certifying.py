"""Certificates of verdicts: made from what `tw plan` found, and checked as if nobody were trusted.

A plan is checked by playing it twice, in the interpreter and in the reference evaluator, and
comparing the state hash after every tick. A proof is checked by doing it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import EngineSimulator, ForcedLuck, State
from tokenworld.ground import Json, LuckyDraw, Outcome, show_value
from tokenworld.planning import Verdict
from tokenworld.planning.honest.rung import SLICED
from tokenworld.planning.proof.certificate import Certificate, CertifiedProof, CertifiedStep
from tokenworld.planning.proof.exhaustion import NotExhausted, exhaust
from tokenworld.planning.proof.reproof import NoProof, prove_on_encoding
from tokenworld.session.certified_honesty import (
    certify_honesty,
    check_honesty,
    exhaust_beliefs,
    exhaust_slice,
)
from tokenworld.session.certified_plan import DONE, Differs, check_steps
from tokenworld.session.intents import intent_json
from tokenworld.session.loading import OpenWorld

__all__ = ["CertificateReport", "certify", "check_certificate", "source_digest"]

Say = Callable[[str], None]


@dataclass(slots=True)
class CertificateReport:
    """What a check came to.

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
            "verified": list(self.verified),
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
    return Certificate(
        source_digest(world),
        world.world.name,
        _params(world),
        seed,
        verdict.goal,
        verdict.answer,
        world.engine.hash(start),
        steps,
        proof,
        honest,
    )


def _played(world: OpenWorld, state: State, verdict: Verdict) -> tuple[CertifiedStep, ...]:
    """The plan played once, with everything that chance decided written down."""
    engine, found = world.engine, list[CertifiedStep]()
    simulator = EngineSimulator(engine, state)
    for step in verdict.steps:
        if verdict.honest is not None and simulator.won(state, verdict.goal):
            break  # the rest of the plan is for other values of the secrets
        actor = None if state.acting is None else state.names[state.acting]
        state, outcomes = engine.play(state, step.command, ForcedLuck(step.draws))
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
        engine = verdict.engine if verdict.encoding == "E" else "fast-downward blind"
        return prove_on_encoding(simulator, state, verdict.goal, engine, seconds)
    except (NotExhausted, NoProof) as error:
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
        if found.answer == "winnable":
            check_steps(world, start, found, report.verified)
        else:
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
        elif proof.kind == "exhausted":
            space = exhaust(simulator, start, goal, seconds=seconds, say=say)
            again = CertifiedProof("exhausted", space.states, space.digest)
        else:
            named = proof.engine if proof.kind == "planner" else ""
            again = prove_on_encoding(simulator, start, goal, named, seconds)
    except (NotExhausted, NoProof) as error:
        if error.limited:
            report.unknown = f"the proof could not be repeated: {error.reason}"
            return
        raise Differs(f"the proof does not hold: {error.reason}") from None
    _same_proof(proof, again)
    report.verified.append(_proof_line(again))


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
        case "sliced":
            sets = f"none of the {proof.count:,} sets of sliced states is all goal"
            return f"exhausted again on encoding {proof.encoding}: {sets}"
        case "relaxed":
            why = "out of reach even if nothing were ever undone"
            return f"proved again on encoding {proof.encoding}: {why}"
        case "planner":
            return f"proved again by {proof.engine} {proof.version} on encoding {proof.encoding}"
