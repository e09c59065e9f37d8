"""The legal commands that name one object, found from the object instead of a list of all commands.

The object is bound first, in each parameter that takes it; the other parameters follow one by one,
and each part of a require is tested as soon as its variables are bound (see `hoist`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from tokenworld.core.rules import Action
from tokenworld.engine.rows.code.hoist import HoistWriter
from tokenworld.engine.rows.code.program import Program
from tokenworld.engine.rows.layout import KINDS
from tokenworld.engine.rows.legal import Args, Legal, since
from tokenworld.engine.rows.log import Row
from tokenworld.ground import MANY, Command, Raw, count_bindings
from tokenworld.model import ObjectType

__all__ = ["Focus", "focus_on"]


@dataclass(frozen=True, slots=True)
class Focus:
    """The commands that name an object: those executed now, in the order of all legal commands.

    ``bindings`` counts the commands that name it, possible or not. ``unlisted`` are actions with
    too many of them to try (`MANY`).
    """

    legal: tuple[Command, ...]
    bindings: int
    unlisted: tuple[str, ...]
    rest: Callable[[], Iterator[Command]]

    def impossible(self, most: int) -> tuple[Command, ...]:
        """The first commands that name the object and would not be executed now."""
        known = frozenset(self.legal)
        return tuple(islice((one for one in self.rest() if one not in known), most))


@dataclass(frozen=True, slots=True)
class _Spot:
    """A parameter that takes the object: its position, and the candidates of all parameters.

    The earlier parameters that take the object too leave it out: their own spots list those
    commands.
    """

    action: Action
    position: int
    domains: tuple[Sequence[Raw], ...]

    @property
    def size(self) -> int:
        return count_bindings(self.domains)


def focus_on(legal: Legal, row: Row, number: int) -> Focus:
    """Find the legal commands that name an object in a row."""
    actions = legal.stepper.rules.actions
    spots = [x for one in actions.values() for x in _spots(legal, row, one, number)]
    found, many = dict[str, set[Args]](), set[str]()
    for spot in () if legal.is_over(row) else spots:
        try:
            found.setdefault(spot.action.name, set()).update(_possible(legal, row, spot, number))
        except _TooManyError:
            many.add(spot.action.name)
    known = [spot for spot in spots if spot.action.name not in many]
    return Focus(
        tuple(
            legal.made[name][args]
            for name, rows in found.items()
            if name not in many
            for args in sorted(rows, key=_place_of)
        ),
        sum(spot.size for spot in spots),
        tuple(name for name in actions if name in many),
        lambda: (Command(one.action.name, args) for one in known for args in product(*one.domains)),
    )


def _spots(legal: Legal, row: Row, action: Action, number: int) -> Iterator[_Spot]:
    """The parameters of an action that take an object."""
    kind = row.S[KINDS][number]
    if kind is None:
        return
    ancestors = legal.stepper.slots.ancestry[kind]
    domains = [legal.stepper.domain(row, binder) for binder in action.params]
    taken: list[int] = []
    for place, binder in enumerate(action.params):
        if isinstance(binder.type, ObjectType) and binder.type.name in ancestors:
            for before in taken[-1:]:  # the ones before that leave it out already
                domains[before] = [one for one in domains[before] if one != number]
            yield _Spot(action, place, (*domains[:place], (number,), *domains[place + 1 :]))
            taken.append(place)


def _place_of(args: Args) -> tuple[tuple[bool, Any], ...]:
    """Arguments in the order of their domains: ascending, `none` last."""
    return tuple((value is None, 0 if value is None else value) for value in args)


# ---- what is possible -----------------------------------------------------------------------


class _TooManyError(Exception):
    """More bindings were tried than are ever listed."""


class _Found(list[Args]):
    """The bindings that a generated function found; it may try so many values."""

    left = MANY

    def spend(self) -> None:
        """One more value is tried."""
        self.left -= 1
        if self.left < 0:
            raise _TooManyError


def _possible(legal: Legal, row: Row, spot: _Spot, number: int) -> list[Args]:
    """The legal bindings of a spot, and some that another spot has too."""
    tick, name = legal.asking(row), spot.action.name
    if legal.is_tried(row, tick, name):
        if spot.size > MANY:
            raise _TooManyError
        return legal.tried(tick, name, product(*spot.domains))
    found, listed = _Found(), _function(legal.stepper.code, spot)
    listed(row.S, since(row), tick.acting, found, number)
    return legal.kept(row, tick, name, found)


def _function(code: Program, spot: _Spot) -> Callable[..., None]:
    """The function that lists the bindings of a spot, made when it is first asked for."""
    key = "focused", f"{spot.action.name} {spot.position}"
    if key not in code.names:
        name, ok = code.writer.fresh("focused_"), code.names["ok", spot.action.name]
        HoistWriter(code.writer, spot.action, ok, spot.position).write(name)
        code.names[key] = name
        code.load()
    return code[key]
