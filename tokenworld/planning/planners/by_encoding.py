"""Planning on an encoding: Fast Downward on E, ENHSP on A (docs/planning.md).

`fast_downward` is a rung of the ladder. `plan_on` runs the one encoding that the user names: no own
search, no other route.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Unpack

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode, encode_plain
from tokenworld.planning.lower.facts import facts_of
from tokenworld.planning.planners.answers import (
    FAST_DOWNWARD_NAME,
    SAS_ENCODING,
    Asked,
    EngineRun,
    Judge,
    engine_run,
    inexpressible,
    not_started,
    out_of_reach,
    too_few_spares,
)
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, needed
from tokenworld.planning.planners.downward import BLIND, FF, LAMA, run_searches
from tokenworld.planning.task import sas_text
from tokenworld.planning.verdict import Verdict

Say = Callable[[str], None]
ENCODINGS = ("E", "A")
_MEMORY = 4 << 30
HEAD_START = 1.0
"""Seconds that a search for a plan runs alone before others run beside it: most plans take less."""
_ENCODING_SHARE = 1 / 3
"""Share of the time for encoding; searches that need no encoding run in the rest."""
_PROVING_AFTER, _PROVING_SHARE = 3.0, 1 / 4
"""The head start of LAMA, as a multiple of the usual one, and the share of the time for the proving
search beside it: on one core they share the processor."""


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
    judge = Judge(simulator, state, goal, "--encoding")
    asked: Asked = {
        "program": None, "seconds": seconds, "memory": memory, "cancel": lambda: False,
        "accept": judge.accept,
    }  # fmt: skip
    if encoding == "A":
        from tokenworld.planning.planners.by_pddl import numeric_enhsp

        numeric_enhsp(simulator, state, goal, **asked)
    else:
        asked["program"] = needed(FAST_DOWNWARD)
        fast_downward(simulator, state, goal, **asked)
    return replace(judge.verdict(), seconds=time.monotonic() - began)


def _unknown(encoding: str) -> Diagnostic:
    if encoding == "D":
        hint = "Use `--encoding E`: it takes the same worlds and gives the same answers."
        return Diagnostic("TW0006", "Encoding `D` was removed.", hint=hint)
    known = " or ".join(f"`{one}`" for one in ENCODINGS)
    hint = did_you_mean(encoding, ENCODINGS) or f"Name {known}."
    return Diagnostic("TW0006", f"There is no encoding `{encoding}`.", hint=hint)


def fast_downward(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    **asked: Unpack[Asked],
) -> None:
    """Encode the world and run a search that finds plans, and soon blind beside it, to prove.

    LAMA finds plans where operators are commands and nothing else, ff where a tick is a sequence
    of operators. Where no finite encoding takes the world, its numbers stay numbers and ENHSP is
    asked.
    """
    began, accept = time.monotonic(), asked["accept"]
    enough = began + asked["seconds"] * _ENCODING_SHARE
    encoding = encode(
        simulator.instance_at(state),
        simulator,
        state,
        goal,
        spares=True,
        late=lambda: time.monotonic() > enough,
    )
    spent = time.monotonic() - began
    if isinstance(encoding, Unencodable):
        left = max(asked["seconds"] - spent, 0.0)
        if not accept(inexpressible(encoding.obstacles, spent)):
            _with_numbers(simulator, state, goal, {**asked, "seconds": left})
    elif encoding.unreachable:
        run = out_of_reach(spent)
        accept(too_few_spares(run) if encoding.unborn else run)
    else:
        _search(encoding, asked, began)


def plain_downward(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    **asked: Unpack[Asked],
) -> None:
    """The same where commands ask for facts and change facts, which are grounded at once. Any other
    world is skipped silently."""
    began = time.monotonic()
    encoding = encode_plain(facts_of(simulator, state), goal)
    if encoding is not None:
        _search(encoding, asked, began)


def _search(encoding: Encoding, asked: Asked, began: float) -> None:
    """Run a finding search and a proving one; without a program, nothing."""
    program, accept = asked["program"], asked["accept"]
    if program is None:
        return
    left = max(asked["seconds"] - (time.monotonic() - began), 0.0)
    commands = all(one.command is not None for one in encoding.task.operators)
    finding = LAMA if commands else FF  # forced operators cost nothing, and ff sees that
    proving = replace(BLIND, after=HEAD_START)
    if commands:
        most = max(_PROVING_SHARE * left, HEAD_START)
        proving = replace(BLIND, after=_PROVING_AFTER * HEAD_START, most=most)
    try:
        run_searches(
            program,
            sas_text(encoding.task, costs=not commands),
            (finding,) if encoding.unborn else (finding, proving),  # it would prove nothing
            seconds=left,
            memory=asked["memory"],
            cancel=asked["cancel"],
            accept=lambda answer: accept(engine_run(encoding, answer, finding)),
        )
    except OSError as error:
        accept(not_started(FAST_DOWNWARD_NAME, SAS_ENCODING, error, time.monotonic() - began))


def _with_numbers(
    simulator: Simulator[StateT], state: StateT, goal: str | None, asked: Asked
) -> None:
    """Run ENHSP on encoding A; a world without an exact lifted form is skipped silently."""
    from tokenworld.planning.planners.by_pddl import numeric_enhsp

    def accept_run(run: EngineRun) -> bool:
        return run.result == "not expressible" or asked["accept"](run)

    given: Asked = {**asked, "program": None, "accept": accept_run}
    numeric_enhsp(simulator, state, goal, **given)
