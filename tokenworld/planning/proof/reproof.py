"""Proofs on an encoding, done again and taken down: what a certificate of *unwinnable* says."""

from __future__ import annotations

from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, SYMK, find_engine
from tokenworld.planning.planners.downward import BLIND, FF, find_downward, run_searches
from tokenworld.planning.proof.certificate import CertifiedProof
from tokenworld.planning.proof.fixpoint import fixpoint

__all__ = ["NoProof", "prove_on_encoding"]

_ENGINE = "fast-downward"


class NoProof(Exception):
    """Why there is no proof, as a clause. ``limited``: more time or memory might help."""

    def __init__(self, reason: str, *, limited: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.limited = reason, limited


def prove_on_encoding(
    simulator: Simulator[StateT], state: StateT, goal: str | None, engine: str, seconds: float
) -> CertifiedProof:
    """Build encoding E anew and prove on it that the goal is out of reach.

    ``engine`` names the planner's search that is to end without a plan (``fast-downward blind``);
    anything else means relaxed reachability. Raises `NoProof` where there is no such proof, and
    `Failure` (TW0811) where the planner is missing.
    """
    encoding = encode(simulator.instance_at(state), simulator, state, goal)
    if not isinstance(encoding, Encoding):
        one = encoding.obstacles[0]
        raise NoProof(f"no encoding takes {one.construct}: {one.reason}")
    if engine.startswith(_ENGINE):
        return _by_planner(encoding, engine, seconds)
    known = fixpoint(encoding.task)
    if known.reached:
        raise NoProof("the goal can be reached if nothing is undone")
    return CertifiedProof("relaxed", len(known.rounds), known.digest, "E", encoding.digest)


def _by_planner(encoding: Encoding, engine: str, seconds: float) -> CertifiedProof:
    search = next((one for one in (FF, BLIND) if engine == f"{_ENGINE} {one.name}"), None)
    if search is None:
        raise NoProof(f"`{engine}` is no search that proves anything")
    program = find_downward()
    if isinstance(program, Diagnostic):
        raise Failure(program)
    (answer,) = run_searches(program, encoding.text, (search,), seconds=seconds)
    if answer.result != "no plan":
        limited = answer.result in ("limit", "cancelled")
        raise NoProof(f"`{engine}` ended otherwise: {answer.detail}", limited=limited)
    return CertifiedProof(
        "planner",
        encoding="E",
        task=encoding.digest,
        engine=engine,
        version=_version(program),
        exit_code=answer.exit_code or 0,
        closing=answer.closing,
    )


def _version(program: Path) -> str:
    """The version of the package that the program lies in."""
    for package in (FAST_DOWNWARD, SYMK):
        found = find_engine(package)
        if found.path == str(program):
            return f"{found.package} {found.version}"
    return ""
