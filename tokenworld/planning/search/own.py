"""Our own searches as engines: the choice of the search, and the claim of its answer.

`OwnSearch` begins on the interpreter, continues on packed states after 100 states, and on compiled
code in large searches. `OwnRung` runs it in slices for the ladder. `a_star` is A* with h-max or
h-add on packed states (`--engine hmax`, `--engine hadd`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Generic, NoReturn

from tokenworld.diagnostics import Diagnostic, no_verdict
from tokenworld.ground import Simulator, StateT, count_bindings, parameter_domains
from tokenworld.limits import attempt_for
from tokenworld.planning.lower.algebra import Explosion, Obstacle
from tokenworld.planning.referee import refereed
from tokenworld.planning.search.interpreted import (
    Cancel,
    Capped,
    Exhausted,
    Found,
    Frontier,
    Limits,
    Progress,
    Resumable,
    Search,
    SearchProgress,
    SearchResult,
    has_costs,
    platform,
)
from tokenworld.planning.search.packed.lowered import packed, packed_in_time
from tokenworld.planning.search.packed.searches import Heuristic, PackedAStar, PackedBreadthFirst
from tokenworld.planning.search.packed.world import Packed
from tokenworld.planning.verdict import Attempt, AttemptResult, Proof, Verdict

if TYPE_CHECKING:
    from tokenworld.planning.search.compiled.search import CompiledAStar, CompiledBreadthFirst

Say = Callable[[str], None]
OWN_SEARCH = "own search"

_KINDS: dict[str, AttemptResult] = {
    "cancelled": "cancelled",
    "gaps": "no proof",
    "spare": "no proof",
    "digits": "no proof",
}


_PACKED_FROM = 100
"""States that the interpreter expands before packed states take over."""
_LARGE = 200_000
"""Packed states before the search is compiled, where a tick is a command and nothing else: phases
are memo tables, which are as quick as compiled code."""
_MOST_BINDINGS = 100_000
"""Worlds with more choices of arguments are left to planners: to lower them takes too long."""
_SMALL, _HURRY = (5_000, 30), 1.0
"""In a hurry, states are packed of worlds with no more ground actions, plain ones and others; and
no longer than so many seconds."""


Stage = tuple[int, Callable[[], Resumable | None]]


class Staged(Generic[StateT]):
    """A search that switches to a faster one after some states.

    ``stages`` has for each switch the number of states and the function that makes the faster
    search; that function returns ``None`` if there is none.
    """

    is_heavy = False
    """Whether packing was tried and given up, as it would take too long."""
    is_put_off = False
    """Whether it is to be tried again, with more time."""
    is_packed = False
    """Whether it runs on packed states; this is tried after some states."""

    def __init__(self, search: Resumable, *stages: Stage) -> None:
        self._search, self._stages = search, list(stages)

    @property
    def gaps(self) -> tuple[Diagnostic, ...]:
        """The rules that it does not follow."""
        return ()

    def pack(self) -> None:
        """Pack states after all, where that was put off."""

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit; another call continues."""
        while self._stages:
            most, following = self._stages[0]
            first = min(most, limits.states or most)
            result = self._search.run(
                replace(limits, states=first), progress=progress, cancel=cancel
            )
            if not isinstance(result, Capped) or result.limit != "states" or first < most:
                return result
            del self._stages[0]
            self._search = following() or self._search
        return self._search.run(limits, progress=progress, cancel=cancel)

    def so_far(self) -> SearchProgress:
        """The progress so far."""
        return self._search.so_far()

    @property
    def hopeless(self) -> int:
        """The number of states pruned because nothing leads from them to the goal."""
        return self._search.hopeless


class OwnSearch(Staged[StateT]):
    """Our own search: `interpreted.Search`, then packed states where a world has them.

    It stays on the interpreter with a bound on ticks, with a ``frontier`` of another order, and
    without ``packs``, where states are not those of the interpreter. ``hurried``: packing that
    takes long is put off until `pack`.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        *,
        within: int | None = None,
        frontier: Frontier[StateT] | None = None,
        packs: bool = True,
        hurried: bool = False,
    ) -> None:
        self._simulator, self._start, self._goal = simulator, state, goal
        self._asked = simulator, state, goal
        self._hurried = hurried
        search = Search(simulator, state, goal, within=within, frontier=frontier)
        super().__init__(search)
        self._first = search
        if within is None and frontier is None and packs:
            self._stages.append((_PACKED_FROM, self._begun))

    @property
    def gaps(self) -> tuple[Diagnostic, ...]:
        return self._first.gaps

    def pack(self) -> None:
        if self.is_put_off:
            self.is_put_off = self.is_heavy = self._hurried = False
            self._stages.append((self.so_far().states, self._begun))

    def _begun(self) -> Resumable | None:
        """A search of packed states: by ticks, or by costs where there are such."""
        world, costs = self._packed(), has_costs(self._simulator)
        if world is None:
            return None
        self.is_packed = True
        asked = self._simulator, world, self._start
        if world.plain:
            heuristic: Heuristic | None = "blind" if costs else None
            self._stages.append((_LARGE, partial(_compiled, *asked, heuristic)))
        return PackedAStar(*asked) if costs else PackedBreadthFirst(*asked)

    def _packed(self) -> Packed | None:
        instance = self._simulator.instance_at(self._start)
        domains = (
            parameter_domains(instance, action.params)
            for action in instance.program.actions.values()
        )
        try:
            if sum(count_bindings(one) for one in domains) > _MOST_BINDINGS:
                raise Explosion(_MOST_BINDINGS)
            world = self._packed_soon() if self._hurried else packed_in_time(*self._asked)
        except Explosion:
            self.is_heavy, self.is_put_off = True, self._hurried
            return None
        if world is not None and world.prices is None and has_costs(self._simulator):
            return None
        return world

    def _packed_soon(self) -> Packed | None:
        """The world packed, unless that takes long."""

        def too_long() -> NoReturn:
            raise Explosion(0, late=True)

        packing = partial(packed_in_time, *self._asked, sizes=_SMALL)
        return attempt_for(_HURRY, "packing", packing, too_long)


def _compiled(
    simulator: Simulator[StateT], world: Packed, start: StateT, heuristic: Heuristic | None
) -> CompiledAStar[StateT] | CompiledBreadthFirst[StateT] | None:
    """A* or (without a ``heuristic``) a breadth-first search as numba compiles it, where it is
    installed; it is quicker to begin anew."""
    from tokenworld.planning.search.compiled import available
    from tokenworld.planning.search.compiled.search import CompiledAStar, CompiledBreadthFirst
    from tokenworld.planning.search.compiled.tables import Tables

    tables = Tables.of(world, to_goal=True) if available() else None
    if tables is None:
        return None
    if heuristic is None:
        return CompiledBreadthFirst(simulator, world, start, tables)
    return CompiledAStar(simulator, world, start, tables, heuristic)


def share_waiting(progress: SearchProgress) -> float:
    """The share of the states seen that wait to be expanded: near 0 where nearly all was seen."""
    return progress.waiting / max(progress.states, 1)


class OwnRung(Generic[StateT]):
    """A search with the time it took. Each run continues where the last one stopped.

    ``engine`` is the name it goes by; ``frontier`` is the order in which it takes states, if that
    is not the one that finds the shortest or cheapest plan. ``packs``: a state is one of the
    interpreter, which may be packed; a set of states is none. ``hurried`` is that of `OwnSearch`;
    ``search`` is run in its place.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        within: int | None,
        *,
        engine: str = OWN_SEARCH,
        frontier: Frontier[StateT] | None = None,
        packs: bool = True,
        hurried: bool = False,
        search: Staged[StateT] | None = None,
    ) -> None:
        self._simulator, self._start, self.engine = simulator, state, engine
        self._search: Staged[StateT] = search or OwnSearch(
            simulator, state, goal, within=within, frontier=frontier, packs=packs, hurried=hurried
        )
        self._goal = goal
        self._disproved, self.begun = "", False
        self.seconds = 0.0
        self.result: SearchResult | None = None

    def run(self, limits: Limits, say: Say, cancel: Cancel) -> None:
        """Search on under these limits, with a line about every second.

        A search that is interrupted while it expands a state cannot continue.
        """
        began, self.begun, self.result = time.monotonic(), True, None
        try:
            self.result = self._search.run(
                limits, progress=lambda _: say(self.line()), cancel=cancel
            )
        finally:
            self.seconds += time.monotonic() - began

    def pack(self) -> None:
        """Pack states after all, where that was put off."""
        self._search.pack()

    @property
    def can_go_on(self) -> bool:
        """Return whether an answer is possible with more time."""
        match self.result:
            case Capped(limit=limit):
                return limit in ("states", "time")
            case None:
                return not self.begun
        return False

    @property
    def is_heavy(self) -> bool:
        """Return whether there were too many states to pack, so encodings may take long."""
        return self._search.is_heavy

    @property
    def is_put_off(self) -> bool:
        """Return whether packing was tried with a short limit only."""
        return self._search.is_put_off

    @property
    def is_packed(self) -> bool:
        """Return whether it runs on packed states, which cost about a fiftieth."""
        return self._search.is_packed

    @property
    def states(self) -> int:
        """The number of states seen."""
        return self._search.so_far().states

    @property
    def waiting(self) -> float:
        """The share of the states seen that wait: how much its space still grows."""
        return share_waiting(self._search.so_far())

    @property
    def answered(self) -> bool:
        """Return whether it found a plan or explored all states."""
        return isinstance(self.result, (Found, Exhausted)) and not self._disproved

    def line(self) -> str:
        """The progress as a line for people."""
        now = self._search.so_far()
        seen = f"{now.states:,} states seen, {now.waiting:,} waiting"
        return f"{self.engine}: {seen}, depth {now.depth}"

    def disprove(self, detail: str) -> None:
        """Its plan did not survive the replay."""
        self._disproved = detail

    def attempt(self) -> Attempt:
        """The search as an entry of a verdict's attempts."""
        result, detail = self._came_to()
        return Attempt(self.engine, "", result, detail, self.seconds)

    def _came_to(self) -> tuple[AttemptResult, str]:
        match self.result:
            case None if self.begun:
                return "limit", f"it was stopped after {self.states:,} states"
            case None:
                return "cancelled", "it was not begun"
            case _ if self._disproved:
                return "invalid plan", self._disproved
            case Found():
                return "plan", "it found a plan"
            case Exhausted():
                return "no plan", self._exhausted(self.result)
            case Capped(limit="time", states=states):
                return "limit", f"its time was up after {states:,} states"
            case Capped(limit=limit, reason=reason, states=states):
                return _KINDS.get(limit, "limit"), f"{reason} after {states:,} states"

    def notes(self) -> tuple[Diagnostic, ...]:
        """Diagnostics that say why the search proves nothing; empty if it was complete."""
        if isinstance(self.result, Capped):
            return (*self._search.gaps, *self._short())
        return ()

    def _short(self) -> tuple[Diagnostic, ...]:
        """The types that the search needed more spare objects of (TW0802)."""
        lines = {line.of: line for line in self._simulator.instance.world.spares}
        return tuple(
            Diagnostic(
                "TW0802",
                f"The search needs more than {count:,} spare `{of}`.",
                lines[of].span,
                "the search ran into this bound",
                hint=f"Raise it, as in `spare {of} {2 * count or 1}`: what needs more objects was "
                "left out, so that no proof is possible.",
            )
            for of, count in self._simulator.short_of.items()
        )

    def unwinnable(self, exhausted: Exhausted) -> Verdict:
        """The verdict that no plan is left."""
        detail = self._exhausted(exhausted)
        states, within = exhausted.states, exhausted.within
        by = self.engine
        proof = Proof(f"{by}: {detail}", by, states=states, within=within)
        return Verdict("unwinnable", self._goal, "exhausted", by, "", proof=proof, within=within)

    def _exhausted(self, result: Exhausted) -> str:
        within = "" if result.within is None else f" within {result.within:,} ticks"
        seen = f"none of the {result.states:,} states reachable{within} is the goal"
        if hopeless := self._search.hopeless:
            seen = f"none of the {result.states:,} states seen is the goal"
            seen += f", and nothing leads from {hopeless:,} of them to it"
        return seen + platform(self._simulator.instance)

    def verdict(self) -> Verdict:
        """The verdict of this search alone: a plan is replayed, and loses idle steps if it may be
        longer or dearer than others."""
        notes = self.notes()
        match self.result:
            case Exhausted() as exhausted:
                found: Verdict | str = self.unwinnable(exhausted)
            case Found(steps=steps, optimal=optimal):
                found = refereed(
                    self._simulator, self._start, steps, self._goal, self.engine, "",
                    polish=optimal is None,
                )  # fmt: skip
                if isinstance(found, Verdict):
                    found = replace(found, optimal=optimal)
                else:
                    self.disprove(found)
                    message = f"The search `{self.engine}` gave no usable answer: {found}."
                    note = Diagnostic("TW0812", message, hint="Plan without `--engine`.")
                    notes = (*notes, note)
            case _:
                found = ""
                if self.attempt().result == "limit":
                    notes = (*notes, no_verdict())
        if isinstance(found, str):
            found = Verdict("unknown", self._goal, None, "", "", notes=notes)
        return replace(found, attempts=(self.attempt(),), seconds=self.seconds)


HEURISTICS: dict[str, Heuristic] = {"hmax": "max", "hadd": "add"}
_COMPILED_FROM = 1_000
"""States that A* searches in Python before it is compiled."""


def a_star(
    simulator: Simulator[StateT], world: Packed, start: StateT, heuristic: Heuristic
) -> Staged[StateT]:
    """A* in Python, compiled where it is long and numba is installed."""
    following = partial(_compiled, simulator, world, start, heuristic)
    search = PackedAStar(simulator, world, start, heuristic)
    return Staged(search, (_COMPILED_FROM, following))


def plan_by_heuristic(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    name: str,
    *,
    seconds: float,
    say: Say = lambda line: None,
) -> Verdict:
    """The verdict of one of `HEURISTICS` alone, within ``seconds``."""
    began, obstacles = time.monotonic(), list[Obstacle]()
    say("packing the world's states")
    world = packed(simulator, state, goal, obstacles)
    if world is None or world.prices is None:
        return Verdict("unknown", goal, None, "", "", notes=_not_packed(simulator, obstacles))
    search = a_star(simulator, world, state, HEURISTICS[name])
    rung = OwnRung(simulator, state, goal, None, engine=name, search=search)
    left = max(seconds - (time.monotonic() - began), 0.0)
    rung.run(Limits(None, left), say, lambda: False)
    return replace(rung.verdict(), seconds=time.monotonic() - began)


def _not_packed(simulator: Simulator[StateT], obstacles: list[Obstacle]) -> tuple[Diagnostic, ...]:
    """The constructs that cannot be packed, each at its place."""
    hint = "Plan without `--engine`: our own search works on the interpreter."
    if not obstacles:
        world = simulator.instance.world
        message = f"The states of `{world.name}` cannot be packed."
        return (Diagnostic("TW0801", message, world.span, "this world", hint=hint),)
    return tuple(
        Diagnostic(
            one.code,
            f"States cannot be packed: {one.construct}, {one.reason}.",
            one.span,
            "not expressible for this search",
            hint=hint,
        )
        for one in obstacles
    )
