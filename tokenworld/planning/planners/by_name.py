"""Planning with one engine that the user names, plans proved optimal, and several plans.

The engine alone answers: no ladder, no fallback. Its plan is replayed by the interpreter, its proof
counts only where the encoding is exact. `several_plans` asks SymK for the cheapest plans of the
sliced world; plans that differ only in steps that nobody chooses count once.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean, usage
from tokenworld.ground import Json, Simulator, StateT
from tokenworld.planning.ladder import plan
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode
from tokenworld.planning.planners.answers import Judge, engine_run, obstacle_notes
from tokenworld.planning.planners.by_pddl import plan_by_pddl
from tokenworld.planning.planners.children import answer_of, run_child
from tokenworld.planning.planners.doctor import (
    FAST_DOWNWARD,
    SYMK,
    driver,
    find_engine,
    needed,
)
from tokenworld.planning.planners.downward import (
    BLIND,
    FF,
    HMAX,
    LAMA,
    SYMBOLIC,
    Answer,
    Configuration,
    find_downward,
    run_searches,
)
from tokenworld.planning.referee import refereed
from tokenworld.planning.search.interpreted import Cancel, Limits
from tokenworld.planning.search.own import HEURISTICS, OwnRung, a_star, plan_by_heuristic
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.task import NotAPlan
from tokenworld.planning.verdict import PlanStep, Verdict
from tokenworld.planning.width.search import plan_by_width

Say = Callable[[str], None]


ENGINE_NAMES = ("own", "width", *HEURISTICS, "ff", "blind", "lama", "symk", "enhsp")


_SEARCHES = {one.name: one for one in (FF, BLIND, LAMA, SYMBOLIC)}


_FIRST_STATES = 200_000


_SLICE = 0.1
"""Seconds that our own A* takes between two looks at the planners."""


_FOR_ANYTIME = 0.9
"""The share of the time for an anytime search, so that its last plan can still be printed."""


_ALIAS_SECONDS = 30
"""Seconds that Fast Downward may take to list its aliases."""


_USAGE = "Usage error occurred."


_NOT_TAKEN = (33, 36)
"""Exit codes with which Fast Downward refuses its arguments."""


def plan_by(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    name: str,
    *,
    seconds: float,
    say: Say = lambda line: None,
) -> Verdict:
    """The verdict of one engine: one of `ENGINE_NAMES`, or ``up:NAME`` of unified-planning.

    Raises `Failure`: TW0006 for another name, TW0811 where the engine is not installed.
    """
    if name == "own":
        return _own(simulator, state, goal, seconds, say)
    if name == "width":
        return plan_by_width(simulator, state, goal, seconds=seconds, say=say)
    if name in HEURISTICS:
        return plan_by_heuristic(simulator, state, goal, name, seconds=seconds, say=say)
    if name in _SEARCHES:
        return _on_encoding(simulator, state, goal, [_ready(_SEARCHES[name])], seconds, say)
    if name == "enhsp" or name.startswith("up:"):
        return plan_by_pddl(simulator, state, goal, name, seconds, say)
    check_engine(name)
    raise AssertionError(name)


def check_engine(name: str) -> None:
    """`Failure` (TW0006) for a name that no engine has."""
    if name in ENGINE_NAMES or name.startswith("up:"):
        return
    known = ", ".join(f"`{one}`" for one in ENGINE_NAMES)
    hint = did_you_mean(name, ENGINE_NAMES) or f"Name one of {known}, or `up:NAME`."
    raise Failure(Diagnostic("TW0006", f"There is no engine `{name}`.", hint=hint))


def _own(
    simulator: Simulator[StateT], state: StateT, goal: str | None, seconds: float, say: Say
) -> Verdict:
    return plan(
        simulator, state, goal, time_limit=seconds, classical=None, translated=None, width=False,
        progress=say,
    )  # fmt: skip


def _ready(search: Configuration) -> Configuration:
    """A search with the program that runs it."""
    if search is SYMBOLIC:
        return replace(search, program=needed(SYMK))
    found = find_downward()
    return replace(
        search, program=needed(FAST_DOWNWARD) if isinstance(found, Diagnostic) else found
    )


def plan_by_downward(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    alias: str | None,
    search: str | None,
    *,
    seconds: float,
    say: Say = lambda line: None,
) -> Verdict:
    """The verdict of Fast Downward on encoding E with one of its aliases, or with a search.

    Of a search that goes on after a plan, the last plan counts. Only ``seq-opt`` aliases prove
    something: that a plan is cheapest, or that there is none. Raises `Failure`: TW0006 for aliases
    and searches that Fast Downward does not know, TW0811 if it is not installed.
    """
    chosen = Configuration("search", search or "", complete=False, anytime=True)
    if alias is not None:
        chosen = _by_alias(_ready(chosen), alias)
    option = "--search" if alias is None else "--alias"
    return _on_encoding(
        simulator, state, goal, [_ready(chosen)], seconds * _FOR_ANYTIME, say, option=option
    )


def _by_alias(search: Configuration, alias: str) -> Configuration:
    """The search with this alias; `Failure` (TW0006) where Fast Downward has none of this name."""
    command = driver(search.program or Path())
    if command is None:
        message = "This installation of Fast Downward has no driver, which knows the aliases."
        hint = f"Run `{find_engine(FAST_DOWNWARD).install}`, or give the search with `--search`."
        raise Failure(Diagnostic("TW0811", message, hint=hint))
    listed = answer_of(*command, "--show-aliases", seconds=_ALIAS_SECONDS)
    known = [] if listed is None else listed.output.split()
    if alias not in known:
        hint = did_you_mean(alias, known) or f"Name one of {', '.join(known)}."
        raise usage(f"Fast Downward has no alias `{alias}`.", hint)
    optimal = alias.startswith("seq-opt-")
    return replace(
        search, name=alias, search=alias, driver=command, complete=optimal, optimal=optimal
    )


def plan_optimal(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    seconds: float,
    say: Say = lambda line: None,
    cancel: Cancel = lambda: False,
) -> Verdict:
    """A plan than which none is cheaper (shorter, where nothing has a cost), or why there is none.

    Our own search first; then, side by side, our A* with h-max on packed states, and on encoding E
    A* with hmax and with no heuristic, and SymK. All of them take conditional effects, and E has no
    axioms; lmcut takes neither and is left out. *Optimal* is said only where a search ended that
    proves it, and the interpreter found the same cost.
    """
    began = time.monotonic()
    own = OwnRung(simulator, state, goal, None)

    def left() -> float:
        return max(seconds - (time.monotonic() - began), 0.0)

    def go_on(limits: Limits) -> bool:
        own.run(limits, lambda line: None, cancel)
        return own.answered

    def answer() -> Verdict:
        return replace(own.verdict(), attempts=(), seconds=time.monotonic() - began)

    if go_on(Limits(_FIRST_STATES, min(2.0, 0.4 * seconds))):
        return answer()
    own = _by_hmax(simulator, state, goal) or own
    found: Verdict | None = None
    if searches := _optimal_searches():
        found = _on_encoding(
            simulator, state, goal, searches, left(), say,
            lambda: go_on(Limits(None, _SLICE)) or cancel(), option="--optimal",
        )  # fmt: skip
        if found.answer != "unknown":
            return found
    if own.answered or go_on(Limits(None, left())):
        return answer()
    if found is None:
        needed(FAST_DOWNWARD)
    return found or Verdict("unknown", goal, None, "", "")


def _by_hmax(
    simulator: Simulator[StateT], state: StateT, goal: str | None
) -> OwnRung[StateT] | None:
    """Our A* with h-max, where states can be packed."""
    world = packed(simulator, state, goal)
    if world is None or world.prices is None:
        return None
    search = a_star(simulator, world, state, "max")
    return OwnRung(simulator, state, goal, None, engine="hmax", search=search)


def _optimal_searches() -> list[Configuration]:
    found, program = list[Configuration](), find_downward()
    if not isinstance(program, Diagnostic):
        found += [replace(HMAX, program=program), replace(BLIND, program=program)]
    found += symbolic()
    return found


def symbolic() -> tuple[Configuration, ...]:
    """SymK's search with the program that runs it, where it is installed."""
    symk = find_engine(SYMK)
    if not symk.ready or symk.path is None:
        return ()
    return (replace(SYMBOLIC, program=Path(symk.path)),)


def _on_encoding(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    searches: list[Configuration],
    seconds: float,
    say: Say,
    cancel: Cancel = lambda: False,
    *,
    option: str = "--engine",
) -> Verdict:
    """The verdict of these searches on encoding E; the first definite answer counts.

    ``option`` is how the user named them.
    """
    began = time.monotonic()
    say("encoding the world for a planner")
    encoding = encode(simulator.instance_at(state), simulator, state, goal, spares=True)
    if isinstance(encoding, Unencodable):
        return _refused(encoding, goal, option)
    left = max(seconds - (time.monotonic() - began), 0.0)
    program = searches[0].program or Path()
    say(f"running {', '.join(one.name for one in searches)}")
    judge = Judge(simulator, state, goal, option, polish=option != "--optimal")
    known = {one.name: one for one in searches}

    def accept(answer: Answer) -> bool:
        if answer.exit_code in _NOT_TAKEN:
            raise _usage(answer, option)
        return judge.accept(engine_run(encoding, answer, known[answer.configuration]))

    def better(answer: Answer) -> None:
        judge.accept(engine_run(encoding, answer, known[answer.configuration]))

    text = _with_predicates(encoding.text)
    run_searches(program, text, searches, seconds=left, cancel=cancel, accept=accept, better=better)
    return replace(judge.verdict(), seconds=time.monotonic() - began)


def _with_predicates(text: str) -> str:
    """A SAS+ text in which every fact has a predicate, which landmarks ask for: that of a fact such
    as ``Atom turn = act`` is its name."""
    lines = text.split("\n")
    return "\n".join(
        f"{line}()" if line.startswith("Atom ") and "(" not in line else line for line in lines
    )


def _usage(answer: Answer, option: str) -> Failure:
    """Return TW0006 with the reason, which Fast Downward prints just before its line on usage."""
    said = answer.closing
    place = said.index(_USAGE) if _USAGE in said else 0
    why = said[place - 1] if place else answer.detail
    hint = f"Change `{option}`; www.fast-downward.org describes the searches."
    return usage(f"Fast Downward does not take this search: {why.rstrip('.')}.", hint)


def _refused(found: Unencodable, goal: str | None, option: str) -> Verdict:
    hint = f"Plan without `{option}`: our own search works on the interpreter."
    notes = obstacle_notes(found.obstacles, hint)
    return Verdict("unknown", goal, None, "", "E", notes=notes)


MOST_PLANS = 1_000


_NOTHING_LEFT = (0, 11, 12)
"""Exit codes with which it has looked at all there is, or at as many plans as asked for."""


@dataclass(frozen=True, slots=True)
class SeveralPlans:
    """Plans in order of cost. ``complete``: there are no others (of the cost asked for).

    ``dropped`` plans did not survive the replay. ``reason`` is a clause where there is no plan.
    """

    plans: tuple[Verdict, ...]
    complete: bool
    dropped: int
    seconds: float
    reason: str = ""
    notes: tuple[Diagnostic, ...] = ()

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": 1,
            "engine": "symk",
            "encoding": "E",
            "complete": self.complete,
            "dropped": self.dropped,
            "reason": self.reason or None,
            "seconds": round(self.seconds, 3),
            "plans": [
                {
                    "ticks": one.ticks,
                    "cost": one.cost,
                    "steps": [
                        {"command": step.command, "draws": [draw.to_json() for draw in step.draws]}
                        for step in one.plan
                    ],
                }
                for one in self.plans
            ],
        }


def several_plans(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    most: int,
    only_optimal: bool,
    seconds: float,
    memory: int = 4 << 30,
    say: Say = lambda line: None,
) -> SeveralPlans:
    """The ``most`` cheapest plans without loops, or only those of the least cost.

    Raises `Failure` (TW0811) where SymK is not installed.
    """
    began, program = time.monotonic(), needed(SYMK)
    say("encoding the world for a planner")
    encoding = encode(simulator.instance_at(state), simulator, state, goal)
    if not isinstance(encoding, Encoding):
        one = encoding.obstacles[0]
        reason = f"no encoding takes {one.construct}: {one.reason}"
        return SeveralPlans((), False, 0, time.monotonic() - began, reason)
    asked = min(most, MOST_PLANS)
    while True:
        say(f"running symk for {asked:,} plans")
        left = max(seconds - (time.monotonic() - began), 0.0)
        names, ended_well = _run(program, encoding.text, asked, only_optimal, left, memory)
        plans, dropped = _distinct(simulator, state, goal, encoding, names)
        complete = ended_well and len(names) < asked
        if complete or not ended_well or len(plans) >= most or asked == MOST_PLANS:
            break
        asked = min(4 * asked, MOST_PLANS)  # some differ only after the goal
    complete = complete and len(plans) <= most
    reason = "" if plans else "it found no plan" if ended_well else "its time or memory was up"
    return SeveralPlans(plans[:most], complete, dropped, time.monotonic() - began, reason)


def _distinct(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    encoding: Encoding,
    names: list[tuple[str, ...]],
) -> tuple[tuple[Verdict, ...], int]:
    """The plans that survive the replay, each once, and how many do not."""
    plans: dict[tuple[PlanStep, ...], Verdict] = {}
    dropped = 0
    for found in names:
        verdict = _judged(simulator, state, goal, encoding, found)
        if verdict is None:
            dropped += 1
        else:
            plans.setdefault(verdict.steps, verdict)
    return tuple(plans.values()), dropped


def _run(
    program: Path, text: str, most: int, only_optimal: bool, seconds: float, memory: int
) -> tuple[list[tuple[str, ...]], bool]:
    """The operators of each plan in the order found, and whether the search ended."""
    kind = "symq_bd(quality=1.0," if only_optimal else "symk_bd("
    search = f"{kind}simple=true,plan_selection=top_k(num_plans={most},dump_plans=false))"
    with tempfile.TemporaryDirectory(prefix="tokenworld-") as name:
        folder = Path(name)
        task = folder / "task.sas"
        task.write_text(text, encoding="utf-8")
        command = [str(program), "--search", search, "--internal-plan-file", "plan"]
        ended = run_child(command, folder, seconds=seconds, memory=memory, stdin=task)
        files = sorted(folder.glob("plan.*"), key=lambda path: int(path.suffix[1:]))
        plans = [_operators(path) for path in files]
    return plans, ended.how == "itself" and ended.code in _NOTHING_LEFT


def _operators(path: Path) -> tuple[str, ...]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return tuple(line.strip()[1:-1] for line in lines if line.strip().startswith("("))


def _judged(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    encoding: Encoding,
    operators: tuple[str, ...],
) -> Verdict | None:
    try:
        steps = encoding.plan(operators)
    except NotAPlan:
        return None
    found = refereed(simulator, state, steps, goal, "symk", "E", polish=False)
    return None if isinstance(found, str) else replace(found, optimal=None)
