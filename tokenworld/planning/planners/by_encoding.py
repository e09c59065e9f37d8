"""Planning on an encoding: Fast Downward on E, ENHSP on A (docs/planning.md).

`fast_downward` is a rung of the ladder. `plan_on` runs the one encoding that the user names: no own
search, no other route. The interpreter replays plans (`judged`); a proof counts only where the
encoding is exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Generic, Literal, Unpack

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.ground import Instance, Simulator, StateT
from tokenworld.planning.encodings.ir import NotAPlan
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode
from tokenworld.planning.planners.answers import (
    FAST_DOWNWARD_NAME,
    SAS_ENCODING,
    Asked,
    EngineRun,
    engine_run,
    inexpressible,
    not_started,
    out_of_reach,
)
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, needed
from tokenworld.planning.planners.downward import Answer, Configuration, run_both
from tokenworld.planning.proof.gaps import platform
from tokenworld.planning.referee import refereed
from tokenworld.planning.search.interpreted import has_costs
from tokenworld.planning.verdict import Attempt, AttemptResult, Proof, Verdict

__all__ = ["disproved", "engine_name", "fast_downward", "judged", "plan_on"]


ENCODINGS = ("E", "A")


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
    """The verdict on one of `ENCODINGS`: Fast Downward on E, ENHSP on A.

    ``memory`` is in bytes and for each planner. Raises `Failure`: TW0006 for another name, TW0811
    where Fast Downward is not installed.
    """
    began = time.monotonic()
    if encoding not in ENCODINGS:
        raise Failure(_unknown(encoding))
    say(f"planning on encoding {encoding}")
    judge = _Judge(simulator, state, goal)
    if encoding == "A":
        from tokenworld.planning.encodings.numeric import numeric_enhsp

        numeric_enhsp(
            simulator, state, goal,
            program=None, seconds=seconds, memory=memory, cancel=_never, accept=judge.accept,
        )  # fmt: skip
    else:
        fast_downward(
            simulator, state, goal,
            program=needed(FAST_DOWNWARD), seconds=seconds, memory=memory, cancel=_never,
            accept=judge.accept,
        )  # fmt: skip
    return replace(judge.verdict(), seconds=time.monotonic() - began)


Say = Callable[[str], None]


def _unknown(encoding: str) -> Diagnostic:
    if encoding == "D":
        hint = "Use `--encoding E`: it takes the same worlds and gives the same answers."
        return Diagnostic("TW0006", "Encoding `D` was removed.", hint=hint)
    known = " or ".join(f"`{one}`" for one in ENCODINGS)
    hint = did_you_mean(encoding, ENCODINGS) or f"Name {known}."
    return Diagnostic("TW0006", f"There is no encoding `{encoding}`.", hint=hint)


def _never() -> bool:
    return False


class _Judge(Generic[StateT]):
    """Turns runs into a verdict, the first definite one."""

    def __init__(self, simulator: Simulator[StateT], state: StateT, goal: str | None) -> None:
        self._simulator, self._state, self._goal = simulator, state, goal
        self._found: Verdict | None = None
        self._attempts: list[Attempt] = []
        self._notes: list[Diagnostic] = []

    def accept(self, run: EngineRun) -> bool:
        """Note one run; whether it gives a definite verdict."""
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
            by += platform(self._simulator.instance)
            proof = Proof(by, run.engine, run.encoding, run.digest)
            self._found = Verdict(
                "unwinnable", self._goal, "proved", run.engine, run.encoding, proof=proof
            )
        self._attempts.append(Attempt(run.engine, run.encoding, result, detail, run.seconds))
        self._notes += run.notes or _faults(run.engine, result, detail)
        return self._found is not None

    def verdict(self) -> Verdict:
        """The verdict of all runs; *unknown* with the notes where none was definite."""
        if self._found is not None:
            return replace(self._found, attempts=tuple(self._attempts))
        attempts, notes = tuple(self._attempts), tuple(dict.fromkeys(self._notes))
        return Verdict("unknown", self._goal, None, "", "", attempts=attempts, notes=notes)


def _faults(engine: str, result: AttemptResult, detail: str) -> Iterator[Diagnostic]:
    """The note for the user about a run without an answer."""
    if result == "limit":
        hint = "Raise `--time-limit`, or plan without `--encoding`."
        yield Diagnostic("TW0813", f"The planner `{engine}` was stopped: {detail}.", hint=hint)
    elif result in ("failed", "invalid plan", "no plan"):
        hint = "Plan without `--encoding`: other ways are tried then."
        yield Diagnostic("TW0812", f"The planner `{engine}` gave no answer: {detail}.", hint=hint)


def fast_downward(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    **asked: Unpack[Asked],
) -> None:
    """Encode the world and run ff (to find) and blind (to prove) on it, both at once.

    Where no finite encoding takes the world, its numbers stay numbers and ENHSP is asked.
    """
    began, accept = time.monotonic(), asked["accept"]
    enough = began + asked["seconds"] * _ENCODING_SHARE
    encoding = encode(
        simulator.instance_at(state), simulator, state, goal, late=lambda: time.monotonic() > enough
    )
    spent = time.monotonic() - began
    left = max(asked["seconds"] - spent, 0.0)
    if isinstance(encoding, Unencodable):
        if not accept(inexpressible(encoding.obstacles, spent)):
            _with_numbers(simulator, state, goal, {**asked, "seconds": left})
    elif encoding.unreachable:
        accept(out_of_reach(SAS_ENCODING, spent))
    elif asked["program"] is not None:
        try:
            run_both(
                asked["program"],
                encoding.text,
                seconds=left,
                memory=asked["memory"],
                cancel=asked["cancel"],
                accept=lambda answer: accept(engine_run(encoding, SAS_ENCODING, answer)),
            )
        except OSError as error:
            accept(not_started(FAST_DOWNWARD_NAME, SAS_ENCODING, error, time.monotonic() - began))


def _with_numbers(
    simulator: Simulator[StateT], state: StateT, goal: str | None, asked: Asked
) -> None:
    """Run ENHSP on encoding A; a world without an exact lifted form is skipped silently."""
    from tokenworld.planning.encodings.numeric import numeric_enhsp

    def told(run: EngineRun) -> bool:
        return run.result == "not expressible" or asked["accept"](run)

    given: Asked = {**asked, "program": None, "accept": told}
    numeric_enhsp(simulator, state, goal, **given)


_ENCODING_SHARE = 1 / 3
"""Share of the time for encoding; searches that need no encoding run in the rest."""


_TICKS_PER_COST = 1_000


def engine_name(configuration: str) -> str:
    """The name of a search in verdicts."""
    return configuration if configuration == "symk" else f"fast-downward {configuration}"


def judged(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    encoding: Encoding,
    answer: Answer,
    configuration: Configuration,
    *,
    polish: bool,
) -> Verdict | str | None:
    """The verdict of an answer; a clause where its plan is none, ``None`` where there is none.

    ``polish``: idle steps of a plan are left out.
    """
    engine = engine_name(answer.configuration)
    if answer.result == "no plan":
        return disproved(simulator.instance, encoding, goal, engine, answer.detail)
    if answer.result != "plan":
        return None
    try:
        steps = encoding.plan(answer.operators)
    except NotAPlan as error:
        return str(error)
    found = refereed(simulator, state, steps, goal, engine, "E", polish=polish)
    if isinstance(found, str) or not configuration.optimal:
        return found
    return replace(found, optimal=_proved_measure(simulator, encoding, answer, found))


def disproved(
    instance: Instance, encoding: Encoding, goal: str | None, engine: str, detail: str
) -> Verdict:
    """*Unwinnable*, proved on encoding E."""
    by = f"{engine} on encoding E: {detail}{platform(instance)}"
    proof = Proof(by, engine, "E", encoding.digest)
    return Verdict("unwinnable", goal, "proved", engine, "E", proof=proof)


def _proved_measure(
    simulator: Simulator[StateT], encoding: Encoding, answer: Answer, found: Verdict
) -> Literal["ticks", "cost"] | None:
    """The measure that is proved optimal, if the encoding counts it as the interpreter does.

    With costs the encoding counts them in thousands and ticks below, as long as none is dearer.
    """
    paid = _paid(encoding, answer)
    if not has_costs(simulator):
        return "ticks" if paid == found.ticks else None
    few = found.ticks < _TICKS_PER_COST
    return "cost" if few and paid == found.cost * _TICKS_PER_COST + found.ticks else None


def _paid(encoding: Encoding, answer: Answer) -> int | None:
    """The summed cost of a plan's operators; ``None`` where one is unknown."""
    costs = {one.name.split()[0]: one.cost for one in encoding.task.operators}
    words = [name.split()[0] for name in answer.operators if name.split()]
    return sum(costs[word] for word in words) if all(word in costs for word in words) else None
