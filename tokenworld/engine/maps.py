"""Layouts: maps drawn with characters become objects and what stands on them (language.md §12)."""

from __future__ import annotations

from tokenworld.engine.applying import apply
from tokenworld.engine.births import Newborn
from tokenworld.engine.compile import Code, Function, compile_body
from tokenworld.engine.delta import Delta, bounded
from tokenworld.engine.growing import file, grow
from tokenworld.engine.layout import implicit_default
from tokenworld.engine.luck import Luck
from tokenworld.engine.state import State
from tokenworld.ground import Raw
from tokenworld.model import Layout as Map
from tokenworld.model import Term, cell_name

__all__ = ["make_cells", "run_legends"]

TITLE = "layout"
"""Whose draws those of legends are; their arguments are the column and the row."""

Cells = dict[tuple[int, int], int]


def make_cells(state: State, code: Code, drawn: Map) -> Cells:
    """Make the cells of a layout row by row, and link them.

    Raises `Breach` where the map is too large for `x` or `y`.
    """
    cells = _cells(state, code, drawn)
    _link(state, drawn, cells)
    return cells


def run_legends(state: State, code: Code, drawn: Map, cells: Cells, luck: Luck) -> None:
    """Run the legends of a layout cell by cell; `Breach` where one cannot be carried out."""
    legends: dict[str, Function] = {
        legend.symbol: compile_body(code, legend.body, ("here",)) for legend in drawn.legends
    }
    for (x, y), cell in cells.items():
        run = legends.get(drawn.rows[y][x])
        if run is not None:
            delta = Delta(state.layout, luck, state.seed, 0)
            delta.by(TITLE, (), (x, y))
            run(state, state, state.me, delta, cell)
            apply(state, delta)


def _cells(state: State, code: Code, drawn: Map) -> Cells:
    places = [(x, y) for y, row in enumerate(drawn.rows) for x in range(len(row))]
    newborns, cells = list[Newborn](), Cells()
    defaults = _defaults(state, code, drawn.of)
    columns = tuple(state.layout.by_id[key].index for key in defaults)
    for (x, y), number in zip(
        places, range(state.next_id, state.next_id + len(places)), strict=True
    ):
        own = {drawn.x: x, drawn.y: y}
        values = tuple(
            (column, bounded(column, own.get(key, value), (TITLE,)))
            for key, value in defaults.items()
            for column in (state.layout.by_id[key],)
        )
        name = cell_name(drawn.of, x, y)
        newborns.append(Newborn(number, name, drawn.of, values, TITLE, 0, columns))
        cells[x, y] = number
    grow(state, newborns)
    for one in newborns:
        file(state, one)
    return cells


def _defaults(state: State, code: Code, of: str) -> dict[str, Raw]:
    """The first value of each attribute of a type: its default, else that of its value type."""
    from tokenworld.engine.compile import compile_term

    kind = state.layout.instance.program.types[of]
    given: dict[str, Term] = {field.fluent: field.value for field in kind.defaults}
    return {
        key: compile_term(code, given[key])(state, state, state.me)
        if key in given
        else implicit_default(state.layout.by_id[key].fluent.type)
        for key in kind.attributes
    }


def _link(state: State, drawn: Map, cells: Cells) -> None:
    """Fill in the neighbours, where the type has them."""
    if not drawn.step:
        return
    column = state.layout.by_id[drawn.step]
    for (x, y), cell in cells.items():
        for member, dx, dy in drawn.directions:
            neighbour = cells.get((x + dx, y + dy))
            if neighbour is not None:
                state.put(column, column.key((cell, member)), neighbour)
