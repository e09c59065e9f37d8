"""What a search of Fast Downward on encoding E is worth: its plan replayed, its proof put down."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.encodings.decode import NotAPlan
from tokenworld.planning.lower.encode import Encoding
from tokenworld.planning.planners.downward import Answer, Configuration
from tokenworld.planning.refereed import refereed
from tokenworld.planning.search import has_costs
from tokenworld.planning.verdict import Proof, Verdict

__all__ = ["disproved", "engine_name", "judged"]

_TICKS_PER_COST = 1_000


def engine_name(configuration: str) -> str:
    """How verdicts name a search."""
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
        return disproved(encoding, goal, engine, answer.detail)
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


def disproved(encoding: Encoding, goal: str | None, engine: str, detail: str) -> Verdict:
    """*Unwinnable*, proved on encoding E."""
    by = f"{engine} on encoding E: {detail}"
    proof = Proof(by, engine, "E", encoding.digest)
    return Verdict("unwinnable", goal, "proved", engine, "E", proof=proof)


def _proved_measure(
    simulator: Simulator[StateT], encoding: Encoding, answer: Answer, found: Verdict
) -> Literal["ticks", "cost"] | None:
    """What the plan has least of, if the encoding counted it as the interpreter does.

    With costs the encoding counts them in thousands and ticks below, as long as none is dearer.
    """
    paid = _paid(encoding, answer)
    if not has_costs(simulator):
        return "ticks" if paid == found.ticks else None
    few = found.ticks < _TICKS_PER_COST
    return "cost" if few and paid == found.cost * _TICKS_PER_COST + found.ticks else None


def _paid(encoding: Encoding, answer: Answer) -> int | None:
    """What the operators of a plan cost together."""
    costs = {one.name.split()[0]: one.cost for one in encoding.task.operators}
    words = [name.split()[0] for name in answer.operators if name.split()]
    return sum(costs[word] for word in words) if all(word in costs for word in words) else None
