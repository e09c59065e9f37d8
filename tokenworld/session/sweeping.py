"""`tw sweep`: one question asked of a world for many values of its params and many seeds.

A sweep is the product of its axes and seeds. Each cell is kept in the run store as soon as its
answer is there, under the digest of all that the answer depends on; so a sweep that was stopped,
in whatever way, goes on where it was, and cells are shared between sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Json
from tokenworld.session.loading import OpenWorld
from tokenworld.session.sweeping_axes import MOST_CELLS, Axis
from tokenworld.session.sweeping_cells import Cell, Lost, Options, Task, What
from tokenworld.session.sweeping_ways import Way
from tokenworld.store import Database
from tokenworld.store.cells import cell_digest, keep_cell, stored_cells

__all__ = ["Row", "Sweep", "Swept", "sweep", "sweep_of"]


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is asked: ``cells`` in the order of the axes, seeds innermost."""

    task: Task
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]

    def __len__(self) -> int:
        return prod(len(axis.values) for axis in self.axes) * len(self.seeds)

    def cells(self) -> Iterator[tuple[tuple[str, ...], Cell]]:
        """Each cell, with the values of its params as authors write them."""
        names = [axis.name for axis in self.axes]
        points = product(*(zip(axis.values, axis.shown, strict=True) for axis in self.axes))
        for point in points:
            params = tuple(zip(names, (value for value, _ in point), strict=True))
            shown = tuple(text for _, text in point)
            for seed in self.seeds:
                yield shown, Cell(params, seed)


@dataclass(frozen=True, slots=True)
class Row:
    """A cell and what came of it: the JSON form of its `Answer`; ``lost`` where there is none."""

    params: tuple[str, ...]
    seed: int
    answer: Mapping[str, Json] | None
    lost: str = ""

    @property
    def status(self) -> str:
        """``done``, ``limit``, ``failed`` or ``lost``."""
        return "lost" if self.answer is None else str(self.answer["status"])

    @property
    def result(self) -> Mapping[str, Json]:
        """What was found; empty where nothing was."""
        found = {} if self.answer is None else self.answer["result"]
        assert isinstance(found, Mapping)
        return found

    @property
    def diagnostics(self) -> tuple[Mapping[str, Json], ...]:
        """Why there is no result."""
        if self.answer is None:
            return ({"code": "TW0812", "severity": "error", "message": self.lost},)
        found = self.answer["diagnostics"]
        assert isinstance(found, list)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Swept:
    """All rows in the order of the sweep; how many were ``stored`` before and ``computed`` now."""

    sweep: Sweep
    rows: tuple[Row, ...]
    stored: int
    computed: int

    def count(self, status: str) -> int:
        return sum(1 for row in self.rows if row.status == status)


def sweep_of(
    world: OpenWorld,
    what: What,
    axes: tuple[Axis, ...],
    *,
    seeds: int,
    seed: int,
    options: Options,
) -> Sweep:
    """A sweep over ``seeds`` seeds from ``seed`` on; `Failure` (TW0006) for too many cells.

    A cell of rollouts takes as many seeds as it has runs, so that no run is counted twice.
    """
    from tokenworld import __version__

    stride = options.worlds if what == "rollout" else 1
    task = Task(
        world.loaded.sources, world.world.name, world.program.digest, __version__, what, options
    )
    count = prod(len(axis.values) for axis in axes) * seeds
    if not 1 <= count <= MOST_CELLS:
        message = f"A sweep has 1 to {MOST_CELLS:,} cells, and this one {count:,}."
        hint = "Give fewer values or a step (`1..1000..50`), and `--seeds N` with N from 1."
        raise Failure(Diagnostic("TW0006", message, hint=hint))
    return Sweep(task, axes, tuple(seed + stride * number for number in range(seeds)))


def sweep(
    asked: Sweep,
    store: Database,
    way: Callable[[int], Way],
    *,
    say: Callable[[int, int], None] = lambda done, stored: None,
) -> Swept:
    """Work out the cells that the store does not have, and keep each at once.

    ``way`` is asked for the number of cells that are left. ``say`` hears how many cells there are
    answers for, and how many of these were there before.
    """
    cells = tuple(asked.cells())
    questions = [cell_digest(asked.task.question(cell)) for _, cell in cells]
    known = stored_cells(store, questions)
    found: dict[int, Mapping[str, Json]] = {
        number: known[digest] for number, digest in enumerate(questions) if digest in known
    }
    before, lost = len(found), {}
    left = tuple((number, cell) for number, (_, cell) in enumerate(cells) if number not in found)
    for number, one in way(len(left))(asked.task, left) if left else ():
        if isinstance(one, Lost):
            lost[number] = one.why
        else:
            question = asked.task.question(cells[number][1])
            found[number] = keep_cell(store, question, one.to_json())
        say(len(found) + len(lost), before)
    rows = tuple(
        Row(shown, cell.seed, found.get(number), lost.get(number, ""))
        for number, (shown, cell) in enumerate(cells)
    )
    return Swept(asked, rows, before, len(found) - before)
