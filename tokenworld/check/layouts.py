"""Layouts: maps of characters, and what each character stands for (language.md §12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from tokenworld.check.bodies import check_block
from tokenworld.check.context import Context
from tokenworld.check.grid import COMPASS, coordinate_of, step_of
from tokenworld.check.literals import object_type
from tokenworld.diagnostics import Related
from tokenworld.model import (
    Body,
    Create,
    EnumType,
    Layout,
    Legend,
    NumberType,
    ObjectType,
    cell_name,
)
from tokenworld.syntax import nodes as syn

__all__ = ["cells_of", "check_layout", "created_by_name", "named_creations", "symbols"]


def symbols(layout: syn.Layout) -> Counter[str]:
    """How often each character occurs."""
    return Counter(symbol for row in layout.rows for symbol in row.value)


def cells_of(layout: syn.Layout) -> Iterator[str]:
    """The names of the cells, row by row."""
    for y, row in enumerate(layout.rows):
        for x, _ in enumerate(row.value):
            yield cell_name(layout.type.value, x, y)


def created_by_name(line: syn.WorldItem) -> Iterator[syn.Create]:
    """What a line of a world always creates once, and so under its own name."""
    match line:
        case syn.Setup(block=block):
            yield from _creations(block)
        case syn.Layout(legends=legends):
            often = symbols(line)
            for legend in legends:
                if often[legend.symbol.value] == 1:
                    yield from _creations(legend.block)
        case _:
            pass


def _creations(block: syn.Block) -> Iterator[syn.Create]:
    yield from (effect for effect in block.effects if isinstance(effect, syn.Create))


def named_creations(body: Body) -> Body:
    """A body that runs once: what it creates outside branches and loops keeps its name."""
    return tuple(replace(one, named=True) if isinstance(one, Create) else one for one in body)


def check_layout(line: syn.Layout, ctx: Context) -> Layout:
    """A layout whose rows, legends and coordinates fit each other."""
    draft, of = ctx.draft, object_type(ctx.draft, line.type)
    width = _width(line, ctx)
    legends = _legends(line, of, ctx)
    _explained(line, ctx)
    x, y = (_coordinate(line, of, name, size, ctx)
            for name, size in (("x", width), ("y", len(line.rows))))  # fmt: skip
    step = step_of(draft, of)
    directions: tuple[tuple[int, int, int], ...] = ()
    if step is not None and isinstance(step.params[1].type, EnumType):
        members = draft.enums[step.params[1].type.name].members
        directions = tuple((members.index(name), dx, dy) for name, (dx, dy) in COMPASS.items())
    rows = tuple(row.value for row in line.rows)
    return Layout(
        of, rows, legends, x, y, "" if step is None else step.id, directions, line.span
    )  # fmt: skip


def _width(line: syn.Layout, ctx: Context) -> int:
    width = len(line.rows[0].value)
    for row in line.rows:
        if not row.value:
            hint = "Write one character for each cell."
            ctx.draft.stop("TW0606", "A row of the layout is empty.", row.span, "no cell", hint)
        if len(row.value) != width:
            what = f"The rows of the layout have different lengths: {width} and {len(row.value)}."
            hint = "Give every row as many characters as the first one."
            related = (Related(line.rows[0].span, f"{width} cells"),)
            label = f"{len(row.value)} cells"
            ctx.draft.stop("TW0606", what, row.span, label, hint, related)
    return width


def _explained(line: syn.Layout, ctx: Context) -> None:
    """Every character but `.` has a legend (TW0606), and every legend a character."""
    often = symbols(line)
    known = {legend.symbol.value for legend in line.legends}
    for symbol in often:
        if symbol != "." and symbol not in known:
            row = next(row for row in line.rows if symbol in row.value)
            what = f"The character `{symbol}` of the layout has no legend."
            hint = f'Add `legend "{symbol}" {{ … }}`, or write `.` for a plain cell.'
            ctx.draft.tell("TW0606", what, row.span, f"`{symbol}` stands here", hint)
    for legend in line.legends:
        if len(legend.symbol.value) == 1 and legend.symbol.value not in often:
            what = f"The layout has no `{legend.symbol.value}`."
            hint = "Remove the legend, or use its character in a row."
            ctx.draft.tell("TW0904", what, legend.symbol.span, "unused", hint)


def _legends(line: syn.Layout, of: str, ctx: Context) -> tuple[Legend, ...]:
    often, found = symbols(line), dict[str, Legend]()
    inner = ctx.bind("here", ObjectType(of))
    for legend in line.legends:
        symbol = legend.symbol.value
        if len(symbol) != 1:
            hint = "Write one character between the quotes."
            what = "A legend stands for one character."
            ctx.draft.tell("TW0606", what, legend.symbol.span, f"{len(symbol)} characters", hint)
            continue
        if symbol in found:
            what = f"The character `{symbol}` has two legends."
            related = (Related(found[symbol].span, "the first one"),)
            ctx.draft.tell(
                "TW0203", what, legend.symbol.span, "again", "Keep one of the two.", related
            )
            continue
        body = check_block(legend.block, inner, "setup")
        body = named_creations(body) if often[symbol] == 1 else body
        found[symbol] = Legend(symbol, body, legend.span)
    return tuple(found.values())


def _coordinate(line: syn.Layout, of: str, name: str, size: int, ctx: Context) -> str:
    """The id of the attribute that counts columns or rows, wide enough for the map."""
    fluent = coordinate_of(ctx.draft, of, name)
    if fluent is None or not isinstance(fluent.type, NumberType):
        return ""
    low, high = fluent.type.low, fluent.type.high
    if (low is not None and low > 0) or (high is not None and high < size - 1):
        what = f"The layout has {size} {'columns' if name == 'x' else 'rows'}, counted from 0."
        hint = f"Widen the range of `{fluent.name}`."
        related = (Related(fluent.span, f"`{fluent.name}` is declared here"),)
        ctx.draft.stop("TW0308", what, line.span, "does not fit the range", hint, related)
    return fluent.id
