"""Fast Downward's own translator on encoding D: grounded PDDL of micro-actions, read back.

A second way to the same planner: the text is plain STRIPS with costs, so that nothing but PDDL
stands between the world and the search. It takes longer than encoding E, which is that task
written in the planner's own format.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Instance, Simulator, StateT
from tokenworld.planning.encodings.decode import NotAPlan, check_plan, decoded
from tokenworld.planning.encodings.ir import Operator, Task
from tokenworld.planning.encodings.micro import micro_task
from tokenworld.planning.encodings.sas import single_valued
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode
from tokenworld.planning.pddl.ground import ground_pair
from tokenworld.planning.pddl.text import domain_text, problem_text
from tokenworld.planning.pddl.vocabulary import Vocabulary
from tokenworld.planning.planners.children import Ended, limited
from tokenworld.planning.planners.classical import (
    Asked,
    EngineRun,
    engine_run,
    inexpressible,
    not_started,
    out_of_reach,
)
from tokenworld.planning.planners.downward import run_both
from tokenworld.planning.planners.texts import PddlTexts
from tokenworld.planning.search import Cancel
from tokenworld.planning.verdict import PlanStep

__all__ = ["MicroPddl", "micro_pddl", "translate", "translated_downward"]

_ENGINE = "fast-downward"
_ENCODING = "D"
_START = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('fast_downward.translate', run_name='__main__', alter_sys=True)"
)
"""The translator is a package beside the search program; it is run, never imported."""
_UNSOLVABLE = 10
"""Its exit code where it sees that the goal is out of reach; the task it writes says so too."""


@dataclass(frozen=True)
class MicroPddl(PddlTexts):
    """Encoding D of one world: the two texts, and the operators in the order of the actions."""

    task: Task
    operators: dict[str, Operator]

    def plan(self, names: Sequence[str]) -> tuple[PlanStep, ...]:
        """The plan that a planner's actions mean; raises `NotAPlan` where they are none."""
        found: list[Operator] = []
        for name in names:
            operator = self.operators.get(name.strip().lower())
            if operator is None:
                raise NotAPlan(f"it names an action `{name.strip()}` that does not exist")
            found.append(operator)
        check_plan(self.task, found)
        return decoded(found)


def micro_pddl(instance: Instance, encoding: Encoding) -> MicroPddl:
    """Encoding D, from what encoding E is written from."""
    task = single_valued(micro_task(encoding.plain or encoding.task))
    comments = (f"World `{instance.world.name}` in micro-actions, one per case of a law.",)
    pair = ground_pair(Vocabulary(instance), task, comments)
    names = (action.name.lower() for action in pair.domain.actions)
    operators = dict(zip(names, task.operators, strict=True))
    return MicroPddl(domain_text(pair.domain), problem_text(pair.problem), task, operators)


def translated_downward(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    **asked: Unpack[Asked],
) -> None:
    """Write encoding D, translate it, and run ff and blind on the result, both at once."""
    began, accept, program = time.monotonic(), asked["accept"], asked["program"]
    instance = simulator.instance_at(state)
    encoding = encode(instance, simulator, state, goal)
    if isinstance(encoding, Unencodable):
        accept(inexpressible(encoding.obstacles, time.monotonic() - began, _ENCODING))
        return
    if encoding.unreachable:
        accept(out_of_reach(_ENCODING, time.monotonic() - began))
        return
    if program is None:
        return
    pddl = micro_pddl(instance, encoding)
    memory, cancel = asked["memory"], asked["cancel"]

    def left() -> float:
        return max(asked["seconds"] - (time.monotonic() - began), 0.0)

    try:
        text = translate(program, pddl, left(), memory, cancel)
        if not isinstance(text, str):
            accept(_stopped(text))
            return
        run_both(
            program,
            text,
            seconds=left(),
            memory=memory,
            cancel=cancel,
            accept=lambda answer: accept(engine_run(pddl, _ENCODING, answer)),
        )
    except OSError as error:
        accept(not_started(_ENGINE, _ENCODING, error, time.monotonic() - began))


def translate(
    program: Path, pddl: PddlTexts, seconds: float, memory: int, cancel: Cancel
) -> str | Ended:
    """What the translator makes of the pair, as SAS+ text, or how it ended without a text."""
    files = ("domain.pddl", "problem.pddl", "--sas-file", "task.sas")
    command = limited([sys.executable, "-c", _START, str(program.parent), *files], memory)
    ended, task = pddl.run(command, "task.sas", seconds=seconds, cancel=cancel)
    return ended if task is None or ended.code not in (0, _UNSOLVABLE) else task


def _stopped(ended: Ended) -> EngineRun:
    """A translator that wrote nothing."""
    engine = f"{_ENGINE} translator"
    if ended.how == "cancelled":
        return EngineRun(engine, _ENCODING, "cancelled", "it was cancelled", ended.seconds)
    if ended.how == "limit":
        detail = f"its limit of {ended.seconds:.3g} s was reached"
        hint = "Raise `--time-limit`, or plan on encoding E."
        note = Diagnostic("TW0813", f"{engine} was stopped: {detail}.", hint=hint)
        return EngineRun(engine, _ENCODING, "limit", detail, ended.seconds, notes=(note,))
    said = ended.last_line()
    detail = f"it ended with exit code {ended.code}{f', saying `{said}`' if said else ''}"
    return EngineRun(engine, _ENCODING, "failed", detail, ended.seconds)
