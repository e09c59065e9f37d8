"""The world that `tw plan` is asked about: of a `.tw` file, or of a PDDL domain and its problem."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from tokenworld.diagnostics import Diagnostic, Failure, Span, usage
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import EngineSimulator
from tokenworld.ground import Raw
from tokenworld.planning.pddl.tree import flat
from tokenworld.planning.pddl.words import made, metric_of, pddl_entries
from tokenworld.planning.search.interpreted import has_costs
from tokenworld.planning.verdict import Verdict
from tokenworld.session import LoadFailure, OpenWorld, open_world
from tokenworld.session.pddl import OpenPair, is_pddl, open_pair
from tokenworld.verbs.output import Output, write_file

if TYPE_CHECKING:
    from tokenworld.planning.pddl.export import PddlExport


@dataclass(frozen=True, slots=True)
class Target:
    """A world with its texts; ``pair`` is set where they are PDDL."""

    world: OpenWorld
    pair: OpenPair | None = None

    @property
    def remarks(self) -> tuple[Diagnostic, ...]:
        """Remarks on the differences between the rules and the PDDL."""
        found = () if self.pair is None else self.pair.imported.remarks
        return tuple(one for one in found if one.code in ("TW0201", "TW0810"))

    def place(self, span: Span) -> Span:
        """A place in the texts of the user."""
        return span if self.pair is None else self.pair.place(span)

    def told(self, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Findings at their places in the texts of the user."""
        return tuple(found) if self.pair is None else tuple(map(self.pair.told, found))

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Let a `Failure` about a PDDL pair name places in the PDDL."""
        try:
            yield
        except Failure as failure:
            if self.pair is None:
                raise
            raise LoadFailure(self.told(failure.diagnostics), ()) from None

    def actions(self, verdict: Verdict) -> tuple[str, ...]:
        """The steps of a plan for a PDDL pair, as planners write them; none for a `.tw` file."""
        return () if self.pair is None else pddl_steps(self.world, verdict)

    def metric(self, verdict: Verdict) -> Fraction | None:
        """The metric of a plan where costs are another measure of it: of preferences, for one."""
        return metric_of(self.world.program, verdict.cost) if verdict.plan else None


def opened(path: str, problem: Path | None) -> Target:
    """The world of ``FILE[:world]``, or of a PDDL domain and its problem; `Failure` where there is
    none."""
    if problem is None and not is_pddl(path):
        return Target(open_world(path))
    if problem is None or not is_pddl(path):
        given = path if problem is None else str(problem)
        message = f"`{given}` is half of what is to be planned."
        raise usage(message, "Give a PDDL domain and then its problem, or a `.tw` file alone.")
    pair = open_pair(Path(path), problem)
    return Target(pair.world, pair)


def pddl_steps(world: OpenWorld, verdict: Verdict) -> tuple[str, ...]:
    """A plan for an imported problem as planners write it, ``(pick-up b1)``; empty where there is
    none.

    Where actions take time it is ``0: (drive t1 a b) [5]``, one action after the other.
    """
    given = _acts(world, verdict)
    if not world.program.has_durations:
        return tuple(one.text for one in given)
    unit = int(pddl_entries(world.program).get("ticks", ("1",))[0])
    return tuple(
        f"{one.tick / unit + number * _APART:.3f}: {one.text} [{(one.end - one.tick) / unit:.3f}]"
        for number, one in enumerate(given)
    )


@frozen
class _Act:
    """An action of the problem in a plan: as planners write it, and the ticks that it takes."""

    text: str
    tick: int
    end: int


def _acts(world: OpenWorld, verdict: Verdict) -> tuple[_Act, ...]:
    """The actions of a plan, without `pass` and what preferences and constraints add."""
    objects, added = world.instance.objects, made(world.program)
    done = [
        (shown.tick, one.command)
        for shown, one in zip(verdict.plan, verdict.steps, strict=True)
        if not one.command.is_pass
    ]
    ends = (*(tick for tick, _ in done[1:]), verdict.ticks) if done else ()
    return tuple(
        _Act(flat((one.action, *(objects[arg].name for arg in one.args if isinstance(arg, int)))),
             tick, end)
        for (tick, one), end in zip(done, ends, strict=True)
        if one.action not in added
    )  # fmt: skip


def _makespan(world: OpenWorld, verdict: Verdict) -> Fraction:
    """The time at which the last action ends."""
    unit = int(pddl_entries(world.program).get("ticks", ("1",))[0])
    return Fraction(max((one.end for one in _acts(world, verdict)), default=0), unit)


_APART = 0.01
"""The time between two actions that validators require if one needs an end effect of the other."""


# ---- plan files ---------------------------------------------------------------------------------


class PlanFiles:
    """Writes plans for validators: in the actions of a PDDL pair, or of the exported world."""

    def __init__(self, target: Target, seed: int, goal: str | None) -> None:
        self._target, self._seed, self._goal = target, seed, goal
        self._exported: PddlExport | None = None

    def write(self, path: Path, verdict: Verdict, out: Output) -> str | None:
        """Write the plan of a verdict; return ``None``, with a note, if it has none."""
        if verdict.answer != "winnable":
            out.note(f"no plan is written to {path}: there is none")
            return None
        self.put(path, verdict)
        out.line(f"plan: {path}")
        return str(path)

    def put(self, path: Path, verdict: Verdict) -> None:
        """Write the plan of a verdict that has one."""
        from tokenworld.planning.pddl.plans import plan_text

        lines, cost = self._lines(verdict)
        timed = self._target.pair is not None and self._target.world.program.has_durations
        text = plan_text(lines, cost, _makespan(self._target.world, verdict) if timed else None)
        hint = "Name a file that can be written, with `--plan-file`."
        write_file(path, text, hint, folder=path.parent)

    def _lines(self, verdict: Verdict) -> tuple[tuple[str, ...], int | Fraction | None]:
        """The actions, and their cost where the problem counts it."""
        world = self._target.world
        simulator = EngineSimulator(world.engine, world.engine.start(self._seed))
        if self._target.pair is not None:
            metric = self._target.metric(verdict)
            paid = verdict.cost if metric is None and has_costs(simulator) else metric
            return self._target.actions(verdict), paid
        from tokenworld.planning.pddl.export import export_world
        from tokenworld.planning.pddl.plans import plan_lines
        from tokenworld.planning.referee import replay

        start = simulator.start()
        if self._exported is None:
            self._exported = export_world(simulator, start, self._goal)
        steps, instance = verdict.steps, simulator.instance_at(start)
        states = replay(simulator, start, steps, self._goal).states

        def held(number: int, fluent: str, args: tuple[Raw, ...]) -> Raw:
            return simulator.read(states[number], fluent, args)

        return plan_lines(self._exported, instance, steps, verdict.cost, held)
