"""What can be done with one object now: answered from the object, never by listing everything.

The object is bound first, in each parameter that takes it; the other parameters follow one by one,
and each part of a require is tested as soon as what it speaks of is bound. What is left is put to
the same check that play uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tokenworld.engine.bodies import BodyWriter
from tokenworld.engine.compile import Code, extend, guards_of
from tokenworld.engine.delta import Breach
from tokenworld.engine.engine import Engine
from tokenworld.engine.state import State
from tokenworld.ground import MANY, Command, Raw, count_bindings, parameter_domains
from tokenworld.model import (
    Action,
    And,
    Draw,
    Let,
    Local,
    ObjectType,
    Term,
    subterms,
)

__all__ = ["Focus", "focus_on"]

_UNDEFINED = (Breach, TypeError, KeyError, IndexError)
"""What a part of a require can raise where one before it does not hold."""


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


def focus_on(engine: Engine, state: State, number: int) -> Focus:
    """What can be done with an object in a state."""
    spots = [
        spot
        for one in engine.code.actions.values()
        for spot in _spots(engine, state, one.action, number)
    ]
    over = engine.stepper.endings.over(state)
    found, many = ({}, set()) if over else _legal(engine, state, spots)
    known = [spot for spot in spots if spot.action.name not in many]
    return Focus(
        tuple(one for commands in found.values() for one in sorted(commands, key=_place_of)),
        sum(spot.size for spot in spots),
        tuple(name for name in engine.code.actions if name in many),
        lambda: _every(known),
    )


# ---- where the object can stand -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Spot:
    """A parameter that takes the object: its position, and the candidates of all parameters.

    Of the parameters before it, those that take the object too leave it out: what names it there
    is told there.
    """

    action: Action
    position: int
    domains: tuple[Sequence[Raw], ...]

    @property
    def size(self) -> int:
        return count_bindings(self.domains)

    @property
    def order(self) -> tuple[int, ...]:
        """The positions in the order in which they are bound: the object first."""
        others = (place for place in range(len(self.domains)) if place != self.position)
        return (self.position, *others)


def _spots(engine: Engine, state: State, action: Action, number: int) -> Iterator[_Spot]:
    kind = state.kinds[number]
    if kind is None:
        return
    ancestors = engine.instance.program.types[kind].ancestors
    domains: list[Sequence[Raw]] = [
        state.live[binder.type.name] if isinstance(binder.type, ObjectType) else values
        for binder, values in zip(
            action.params, parameter_domains(engine.instance, action.params), strict=True
        )
    ]
    taken: list[int] = []
    for place, binder in enumerate(action.params):
        of = binder.type
        if isinstance(of, ObjectType) and (of.name == kind or of.name in ancestors):
            for before in taken[-1:]:  # the ones before that leave it out already
                domains[before] = [one for one in domains[before] if one != number]
            yield _Spot(action, place, (*domains[:place], (number,), *domains[place + 1 :]))
            taken.append(place)


def _every(spots: Sequence[_Spot]) -> Iterator[Command]:
    for spot in spots:
        for args in _bound(spot, lambda args, place: True):
            yield Command(spot.action.name, args)


def _bound(
    spot: _Spot, keeps: Callable[[list[Raw], int], bool]
) -> Iterator[tuple[Raw, ...]]:  # fmt: skip
    """Every binding of a spot, the object first; ``keeps`` may cut one short when ``place`` of the
    order has been bound."""
    args: list[Raw] = [None] * len(spot.domains)
    order = spot.order

    def down(place: int) -> Iterator[tuple[Raw, ...]]:
        if place == len(order):
            yield tuple(args)
            return
        for value in spot.domains[order[place]]:
            args[order[place]] = value
            if keeps(args, place):
                yield from down(place + 1)

    return down(0)


# ---- what is possible -----------------------------------------------------------------------


_Found = dict[str, list[Command]]


class _TooManyError(Exception):
    """More bindings were tried than are ever listed."""


def _legal(engine: Engine, state: State, spots: Sequence[_Spot]) -> tuple[_Found, set[str]]:
    """The possible commands by action, and the actions with too many to try."""
    after = engine.stepper.unit.cancelled(state)
    simple = after is state and state.round is None
    found: _Found = {}
    many: set[str] = set()
    for spot in spots:
        name, tests = spot.action.name, _tests(engine.code, spot) if simple else _NO_TESTS
        try:
            for args in _bound(spot, _cutting(state, tests)):
                command = Command(name, args)
                if _is_legal(engine, state, after, command):
                    found.setdefault(name, []).append(command)
        except _TooManyError:
            many.add(name)
    return {name: commands for name, commands in found.items() if name not in many}, many


def _place_of(command: Command) -> tuple[tuple[bool, Any], ...]:
    """Arguments in the order of their domains: ascending, `none` last."""
    return tuple((value is None, 0 if value is None else value) for value in command.args)


def _is_legal(engine: Engine, state: State, after: State | None, command: Command) -> bool:
    """As `Engine.legal` says it: the requires hold, and no range is in the way."""
    unit = engine.stepper.unit
    try:
        if unit.continued(state, command) is not None:
            return True
        now, holds = unit.judged(state, command, after), engine.code.actions[command.action].holds
        if now is None or not holds(now, unit.since(now, command), state.acting, *command.args):
            return False
    except Breach:
        return False  # a number is undefined here: the command would be in error
    return unit.keeps(state, command)


def _cutting(state: State, tests: _Tests) -> Callable[[list[Raw], int], bool]:
    left = MANY

    def keeps(args: list[Raw], place: int) -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            raise _TooManyError
        return all(_may_hold(test, state, args) for test in tests.get(place, ()))

    return keeps


def _may_hold(test: _Test, state: State, args: list[Raw]) -> bool:
    try:
        return bool(test.holds(state, state, state.acting, *(args[one] for one in test.params)))
    except _UNDEFINED:
        return True  # an earlier require decides


# ---- parts of requires ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Test:
    """A part of a require, and the positions of the parameters that it speaks of."""

    params: tuple[int, ...]
    holds: Callable[..., Any]


_Tests = dict[int, list[_Test]]
"""Tests by the place in the order after which all that they need is bound."""
_NO_TESTS: _Tests = {}


def _tests(code: Code, spot: _Spot) -> _Tests:
    found: _Tests = {}
    for test in _compiled(code, spot.action):
        places = [spot.order.index(one) for one in test.params]
        if places:
            found.setdefault(max(places), []).append(test)
    return found


def _compiled(code: Code, action: Action) -> tuple[_Test, ...]:
    """The parts of an action's requires that need not all of its arguments; made once."""
    store: dict[str, tuple[_Test, ...]] = code.space.setdefault("FOCUS", {})
    if action.name not in store:
        parts = (
            _test(code, action, part, lets)
            for require, lets in guards_of(action)
            for part in _parts(require.condition)
        )
        store[action.name] = tuple(test for test in parts if test is not None)
    return store[action.name]


def _parts(term: Term) -> Iterator[Term]:
    if isinstance(term, And):
        for one in term.terms:
            yield from _parts(one)
    else:
        yield term


def _test(code: Code, action: Action, part: Term, lets: tuple[Let, ...]) -> _Test | None:
    """``None`` where a part rests on a draw. Compiled with care: what comes before may fail."""
    used, needed = _needs(part, lets)
    if any(isinstance(let.value, Draw) for let in needed):
        return None
    positions = tuple(at for at, one in enumerate(action.params) if one.name in used)
    emitter = code.emitter
    names = {action.params[at].name: emitter.fresh("a") for at in positions}
    header, name = ", ".join(("S", "W", "me", *names.values())), emitter.fresh("part")
    emitter.careful = True
    try:
        writer = BodyWriter(emitter)
        for let in needed:
            writer.let(let, names, 1)
        writer.line(1, f"return {emitter.term(part, names)}")
    finally:
        emitter.careful = False
    texts = [text for _, text in emitter.texts]
    emitter.texts.clear()
    extend(code, "\n".join([*texts, f"def {name}({header}):", *writer.lines, ""]))
    return _Test(positions, code.space[name])


def _needs(part: Term, lets: tuple[Let, ...]) -> tuple[frozenset[str], tuple[Let, ...]]:
    """The names that a part of a require speaks of, and the lets that make some of them."""
    used, needed = set(_locals(part)), []
    for let in reversed(lets):
        if let.name in used:
            needed.append(let)
            if not isinstance(let.value, Draw):
                used |= set(_locals(let.value))
    return frozenset(used), tuple(reversed(needed))


def _locals(term: Term) -> Iterator[str]:
    return (one.name for one in subterms(term) if isinstance(one, Local))
