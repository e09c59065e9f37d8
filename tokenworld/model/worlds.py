"""Worlds: a start state with its endings, and the names of layout cells."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.effects import Body
from tokenworld.model.terms import Template, Term

EndingKind = Literal["goal", "lose", "stop"]
StatusName = Literal[
    "executed",
    "refused",
    "rolled_back",
    "no_match",
    "yielded",
    "waiting",
    "interrupted",
    "error",
    "halted",
]
"""The status of one intent: a closed set (language.md §9)."""


@frozen
class Ending:
    """A ``goal``, ``lose`` or ``stop`` line; ``source`` quotes the condition."""

    ending: EndingKind
    name: str
    condition: Term
    text: Template | None
    source: str
    span: Span


@frozen
class Award:
    """Added to the score once, when ``when`` first holds."""

    amount: Term
    when: Term
    span: Span


@frozen
class ParamSetting:
    name: str
    value: Term
    span: Span


@frozen
class Spare:
    """At most ``count`` unborn objects of a type for planning."""

    of: str
    count: int
    span: Span


@frozen
class Legend:
    """The body that a character of a layout runs; it sees the new cell as ``here``."""

    symbol: str
    body: Body
    span: Span


@frozen
class Layout:
    """A map: one object of type ``of`` per character, row by row, named after type and place.

    ``x`` and ``y`` are the ids of the attributes that get the column and the row, from 0. ``step``
    is the id of the function ``(cell, direction)`` that gets the neighbours; ``directions`` holds
    ``(member of the enum, dx, dy)``. Each is empty where the type has none.
    """

    of: str
    rows: tuple[str, ...]
    legends: tuple[Legend, ...]
    x: str
    y: str
    step: str
    directions: tuple[tuple[int, int, int], ...]
    span: Span


@frozen
class Born:
    """An object that a setup or a legend always creates under its name (language.md §12)."""

    name: str
    of: str
    span: Span


CARRIED = "<carried state>"
"""The path of a start state that no author wrote: a game that continues with changed rules.
"""


@frozen
class StartFile:
    """A recorded state to begin with: ``text`` is the file's JSON (``tw-state/1``)."""

    path: str
    text: str
    span: Span


@frozen
class World:
    """A start state and its endings. Objects live in `Program.objects` with ``world`` set.

    The start state is made in this order: objects, layouts, setups, the ``start`` file. ``born``
    are the objects that layouts and setups create by name; an `ObjectLiteral` may name one.
    ``endings`` are in written order. ``time_always``: time passes after refusals too.
    ``pays`` are ``reward e when c`` lines.
    """

    name: str
    title: str
    setups: tuple[Body, ...]
    endings: tuple[Ending, ...]
    awards: tuple[Award, ...]
    pays: tuple[Award, ...]
    score: Term | None
    params: tuple[ParamSetting, ...]
    spares: tuple[Spare, ...]
    turns: tuple[str, ...]
    time_always: bool
    ambiguous: Literal["first", "ask"]
    endless: bool
    outcomes: Literal["latched", "live"]
    start: StartFile | None
    span: Span
    layouts: tuple[Layout, ...] = ()
    born: tuple[Born, ...] = ()

    @property
    def goals(self) -> tuple[Ending, ...]:
        """The ``goal`` lines in written order."""
        return tuple(line for line in self.endings if line.ending == "goal")


# ---- The names of the cells that a layout makes --------------------------------------------------


def cell_name(of: str, x: int, y: int) -> str:
    """The name of the cell in column ``x`` and row ``y`` of a layout: ``tile_3_0`` of a `Tile`."""
    words = "".join(
        f"_{letter}" if letter.isupper() and before.islower() else letter
        for before, letter in zip(f"_{of}", of, strict=False)
    )
    return f"{words.lower()}_{x}_{y}"
