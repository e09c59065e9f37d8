"""Objects that bodies create (language.md §5, §12): what is asked for, and which programs do so.

A body asks its `Delta` for a `Newborn`, and `growing` brings it to life when the body is applied.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.layout import Column
from tokenworld.ground import Raw
from tokenworld.model import (
    ROOT,
    Fluent,
    FluentParam,
    Given,
    ObjectType,
    Program,
    TextType,
    effects_in,
)
from tokenworld.model.effects import Body, Create

__all__ = [
    "LIFE",
    "Maker",
    "Newborn",
    "ancestry",
    "creates",
    "creates_in_play",
    "given_bodies",
    "play_bodies",
]


@frozen
class Maker:
    """What every `create` at one place has in common; ``columns`` are the slots it fills.

    ``named``: the object keeps the name ``name``, otherwise its number is added.
    """

    of: str
    name: str
    named: bool
    columns: tuple[int, ...]


class Newborn(NamedTuple):
    """An object asked for: its number to be, name, type, first values and the title of the rule.

    ``columns`` are the indexes of those of the values. ``after`` is the number of changes asked for
    before it, which decides where it is filed among those that arrive in a container. ``void``: the
    number is spent, the object never lives.
    """

    number: int
    name: str
    of: str
    values: tuple[tuple[Column, Raw], ...]
    rule: str
    after: int
    columns: tuple[int, ...]
    void: bool = False


def _life() -> Column:
    from tokenworld.diagnostics import Span

    nowhere = Span("", 0, 0, 1, 1, 1, 1)
    params = (FluentParam("x", ObjectType(ROOT)),)
    fluent = Fluent(ROOT, ROOT, "attribute", params, TextType(optional=True), None, nowhere)
    return Column(-1, fluent, True, False, None)


LIFE = _life()
"""The slot under which records show that an object begins or ceases to exist: its type or `none`.

No state stores it; it only stands in changes.
"""


# ---- which programs create -----------------------------------------------------------------


def play_bodies(program: Program) -> list[Body]:
    """The bodies that run in play."""
    found: list[Body] = [law.body for law in program.laws.values()]
    for action in program.actions.values():
        found += [action.body, action.cancelled]
    return found


def given_bodies(program: Program) -> list[Body]:
    """The bodies by which scenarios edit a state between ticks."""
    steps = (step for scenario in program.scenarios for step in scenario.steps)
    return [step.body for step in steps if isinstance(step, Given)]


def creates(bodies: Iterable[Body]) -> bool:
    """Whether any of these bodies may create an object."""
    return any(isinstance(effect, Create) for body in bodies for effect in effects_in(body))


def creates_in_play(program: Program) -> bool:
    """Whether a tick, or a `given` between ticks, may create an object."""
    return creates([*play_bodies(program), *given_bodies(program)])


def ancestry(program: Program, kind: str) -> tuple[str, ...]:
    """A type and all its ancestors, the root last."""
    known = program.types[kind].ancestors if kind in program.types else ()
    return tuple(dict.fromkeys((*known, ROOT)))
