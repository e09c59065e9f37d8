"""Planning on one encoding that the user names: E, D or A (docs/planning.md).

The encoding alone answers: no own search, no other route. Its plans are replayed by the
interpreter, its proofs count only where it is exact, as everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Generic

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.planners.classical import Classical, EngineRun, fast_downward
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine
from tokenworld.planning.refereed import refereed
from tokenworld.planning.verdict import Attempt, AttemptResult, Proof, Verdict

__all__ = ["ENCODINGS", "plan_on"]

Say = Callable[[str], None]
ENCODINGS = ("E", "D", "A")
_MEMORY = 4 << 30


def plan_on(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    encoding: str,
    *,
    seconds: float,
    memory: int = _MEMORY,
    say: Say = lambda line: None,
) -> Verdict:
    """The verdict on one of `ENCODINGS`: Fast Downward on E and D, ENHSP on A.

    ``memory`` is in bytes and for each planner. Raises `Failure`: TW0006 for another name, TW0811
    where Fast Downward is not installed.
    """
    began = time.monotonic()
    if encoding not in ENCODINGS:
        known = ", ".join(f"`{one}`" for one in ENCODINGS)
        hint = did_you_mean(encoding, ENCODINGS) or f"Name one of {known}."
        raise Failure(Diagnostic("TW0006", f"There is no encoding `{encoding}`.", hint=hint))
    say(f"planning on encoding {encoding}")
    judge = _Judge(simulator, state, goal)
    if encoding == "A":
        from tokenworld.planning.encodings.numeric import numeric_enhsp

        numeric_enhsp(
            simulator, state, goal,
            program=None, seconds=seconds, memory=memory, cancel=_never, accept=judge.accept,
        )  # fmt: skip
    else:
        classical = fast_downward if encoding == "E" else _translated()
        classical(
            simulator, state, goal,
            program=_program(), seconds=seconds, memory=memory, cancel=_never, accept=judge.accept,
        )  # fmt: skip
    return replace(judge.verdict(), seconds=time.monotonic() - began)


def _never() -> bool:
    return False


def _translated() -> Classical:
    from tokenworld.planning.planners.translated import translated_downward

    return translated_downward


def _program() -> Path:
    """Fast Downward itself; SymK, which contains its search, lacks the translator."""
    found = find_engine(FAST_DOWNWARD)
    if found.ready and found.path is not None:
        return Path(found.path)
    message = f"The planner `{found.engine}` cannot be used: {found.problem}."
    raise Failure(Diagnostic("TW0811", message, hint=f"Run `{found.install}`."))


class _Judge(Generic[StateT]):
    """Turns runs into a verdict, the first definite one."""

    def __init__(self, simulator: Simulator[StateT], state: StateT, goal: str | None) -> None:
        self._simulator, self._state, self._goal = simulator, state, goal
        self._found: Verdict | None = None
        self._attempts: list[Attempt] = []
        self._notes: list[Diagnostic] = []

    def accept(self, run: EngineRun) -> bool:
        """Look at one run; whether it settles the matter."""
        result, detail = run.result, run.detail
        if result == "plan":
            found = refereed(
                self._simulator, self._state, run.steps, self._goal, run.engine, run.encoding
            )
            if isinstance(found, Verdict):
                self._found = found
            else:
                result, detail = "invalid plan", found
        elif result == "no plan" and run.exact:
            by = f"{run.engine} on encoding {run.encoding}: {detail}"
            proof = Proof(by, run.engine, run.encoding, run.digest)
            self._found = Verdict(
                "unwinnable", self._goal, "proved", run.engine, run.encoding, proof=proof
            )
        self._attempts.append(Attempt(run.engine, run.encoding, result, detail, run.seconds))
        self._notes += run.notes or _faults(run.engine, result, detail)
        return self._found is not None

    def verdict(self) -> Verdict:
        """What the runs came to; notes only matter where that is nothing."""
        if self._found is not None:
            return replace(self._found, attempts=tuple(self._attempts))
        attempts, notes = tuple(self._attempts), tuple(dict.fromkeys(self._notes))
        return Verdict("unknown", self._goal, None, "", "", attempts=attempts, notes=notes)


def _faults(engine: str, result: AttemptResult, detail: str) -> Iterator[Diagnostic]:
    """What the user should know of a run that gave no answer."""
    if result == "limit":
        hint = "Raise `--time-limit`, or plan without `--encoding`."
        yield Diagnostic("TW0813", f"The planner `{engine}` was stopped: {detail}.", hint=hint)
    elif result in ("failed", "invalid plan", "no plan"):
        hint = "Plan without `--encoding`: other ways are tried then."
        yield Diagnostic("TW0812", f"The planner `{engine}` gave no answer: {detail}.", hint=hint)
