"""Hints from a state: the next step of a shortest plan, the distance to the goal, landmarks.

Landmarks are facts that every plan makes true at some time, read off encoding E; they are shown in
an order in which they first can come true. Facts that only the encoding has, such as the current
phase, are left out; so are monitors, because the conditions that they record are landmarks.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from tokenworld.diagnostics import Failure
from tokenworld.ground import Instance, Json, Raw, Simulator, StateT
from tokenworld.planning.ladder import plan
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.planners.by_name import plan_optimal
from tokenworld.planning.proof.relaxed import Fact, landmarks
from tokenworld.planning.proof.unsolvable_core import slot_text, value_shown
from tokenworld.planning.task import Task, Variable
from tokenworld.planning.verdict import Explaining, ShownStep, Verdict

_SHARE = 0.5
"""The share of the time that a proof of the shortest plan may take."""

_LEAST = 1.0
"""Seconds that landmarks may take even where the search has used up the time."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A hint for the player in one state.

    ``verdict`` says whether the goal can still be reached. ``landmarks`` are conditions that every
    way to the goal must meet, in order; empty where no encoding takes the world.
    """

    verdict: Verdict
    landmarks: tuple[str, ...]

    @property
    def plan(self) -> tuple[ShownStep, ...]:
        """The plan from here."""
        return self.verdict.plan

    @property
    def next_step(self) -> ShownStep | None:
        """The first step of the plan; ``None`` where the goal holds or no plan is known."""
        return self.verdict.plan[0] if self.verdict.plan else None

    @property
    def distance(self) -> int | None:
        """Ticks to the goal by this plan; ``None`` where none is known."""
        return self.verdict.ticks if self.verdict.answer == "winnable" else None

    @property
    def shortest(self) -> bool:
        """Return whether no plan is shorter (cheaper, if actions have costs)."""
        return self.verdict.optimal is not None

    def to_json(self) -> dict[str, Json]:
        step = self.next_step
        draws: list[Json] = [] if step is None else [one.to_json() for one in step.draws]
        return {
            "answer": self.verdict.answer,
            "goal": self.verdict.goal,
            "next": None if step is None else {"command": step.command, "draws": draws},
            "distance": self.distance,
            "shortest": self.shortest,
            "landmarks": list(self.landmarks),
        }


def hint_from(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    seconds: float,
    say: Callable[[str], None] = lambda line: None,
    cancel: Callable[[], bool] = lambda: False,
    heard: Callable[[Verdict], Verdict] = lambda verdict: verdict,
    landmarks: bool = True,
) -> Hint:
    """Hint for a state: the shortest plan if it is proved in time, else any plan.

    ``heard`` removes from a verdict what the player may not see; ``landmarks``: show landmarks.
    """
    end = time.monotonic() + seconds
    verdict: Verdict | None = None
    with suppress(Failure):  # no planner is installed, and our own search alone was too slow
        verdict = plan_optimal(
            simulator, state, goal, seconds=_SHARE * seconds, say=say, cancel=cancel
        )
    if verdict is None or verdict.answer == "unknown":
        left = max(end - time.monotonic(), 0.1)
        verdict = plan(simulator, state, goal, time_limit=left, progress=say, cancel=cancel)
    verdict = heard(verdict)
    if not landmarks or verdict.answer != "winnable" or not verdict.plan:
        return Hint(verdict, ())
    explaining, none = Explaining(), tuple[str, ...]()
    needed = explaining(
        "what every way must pass",
        lambda: landmark_texts(simulator, state, goal),
        none,
        seconds=max(end - time.monotonic(), _LEAST),
    )
    return Hint(replace(verdict, notes=(*verdict.notes, *explaining.notes)), needed)


# ---- landmarks ------------------------------------------------------------------------------


def landmark_texts(
    simulator: Simulator[StateT], state: StateT, goal: str | None
) -> tuple[str, ...]:
    """The landmarks from a state in the author's words; empty where there is no encoding."""
    instance = simulator.instance_at(state)
    encoding = encode(instance, simulator, state, goal, grouped=False)
    if not isinstance(encoding, Encoding) or encoding.unreachable:
        return ()
    texts = (_text(instance, encoding.task, fact) for fact in landmarks(encoding.task))
    return tuple(dict.fromkeys(text for text in texts if text))


def _text(instance: Instance, task: Task, fact: Fact) -> str:
    """Return a fact as a condition; empty for facts that only the encoding has."""
    variable = task.variables[fact[0]]
    if variable.kind == "slot":
        return _condition(instance, variable, (variable.values[fact[1]],))
    if variable.kind == "aux" and variable.values[fact[1]] is True:
        name, inside, values = variable.name.partition(" in {")
        watched = next((one for one in task.variables if one.name == name), None)
        if inside and watched is not None and watched.kind == "slot":
            return _condition(instance, watched, _members(watched, values.rstrip("}")))
    return ""


def _members(variable: Variable, listed: str) -> tuple[Raw, ...]:
    """The values of a variable that a watching one lists as ``1..4, 7``."""
    found: list[Raw] = []
    names = [str(value) for value in variable.values]
    for part in listed.split(", "):
        ends = re.split(r"\.\.(?=.)", part)
        if ends[0] in names and ends[-1] in names:
            found += variable.values[names.index(ends[0]) : names.index(ends[-1]) + 1]
    return tuple(found)


def _condition(instance: Instance, variable: Variable, values: tuple[Raw, ...]) -> str:
    if variable.fluent is None or not values:
        return ""
    fluent = instance.program.fluents[variable.fluent]
    if fluent.monitor:
        return ""
    slot = slot_text(instance, fluent, variable.args)
    shown = [value_shown(instance, fluent.type, value) for value in values]
    if len(shown) == 1:
        return f"{slot} == {shown[0]}"
    if all(isinstance(value, int) for value in values) and len(shown) > 2:
        ends = (0, len(variable.values) - 1)
        places = [variable.values.index(value) for value in values]
        if places == list(range(places[0], places[-1] + 1)):
            if places[-1] == ends[1]:
                return f"{slot} >= {shown[0]}"
            if places[0] == ends[0]:
                return f"{slot} <= {shown[-1]}"
            return f"{slot} in {shown[0]}..{shown[-1]}"
    return f"{slot} in [{', '.join(shown)}]"
