"""Objects that bodies create (language.md §5, §12): asked for, seen in the body, brought to life.

A body asks its `Delta` for a `Newborn`. What the rest of the body reads of it comes from a copy of
the state in which it has its fields, but is in no population and in nobody's contents: everything
else reads the state before the body. `grow` and `file` bring it to life when the body is applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from tokenworld.engine.delta import RawChange
    from tokenworld.engine.state import State

__all__ = [
    "LIFE",
    "Maker",
    "Newborn",
    "ancestry",
    "creates",
    "creates_in_play",
    "early",
    "file",
    "given_bodies",
    "grow",
    "life",
    "play_bodies",
    "sight",
]


@dataclass(frozen=True, slots=True)
class Maker:
    """What every `create` at one place has in common; ``columns`` are the slots it fills.

    ``named``: the object keeps the name ``name``, otherwise its number is added.
    """

    of: str
    name: str
    named: bool
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Newborn:
    """An object asked for: its number to be, name, type, first values and the title of the rule.

    ``after`` is the number of changes asked for before it, which decides where it is filed among
    those that arrive in a container. ``void``: the number is spent, the object never lives.
    """

    number: int
    name: str
    of: str
    values: tuple[tuple[Column, Raw], ...]
    rule: str
    after: int
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


# ---- growing ---------------------------------------------------------------------------------


def grow(state: State, newborns: Sequence[Newborn], *, seen_only: bool = False) -> None:
    """Give newborns a number, a name and their slots; what points at others is filed by `file`.

    ``seen_only``: the body's own view of them. Then they are in no population, every slot is
    filled at once, and the counter of numbers stays where it is.
    """
    layout = state.layout
    _enrol(state, newborns, seen_only=seen_only)
    for column in layout.columns:
        if not column.by_object and state.kids[column.index] is None:
            continue
        stored = state.own(column)
        if column.by_object:
            later = column.has_children and not seen_only
            stored.extend(None if later else _first(state, column, one) for one in newborns)
        if state.kids[column.index] is not None:
            state.kids[column.index].extend([] for _ in newborns)


def _enrol(state: State, newborns: Sequence[Newborn], *, seen_only: bool) -> None:
    """Names, kinds and, unless only seen, the population of every type that it belongs to."""
    state.memo.clear()
    state.own_roll()
    recent = state.newborn[1]
    for one in newborns:
        state.kinds.append(None if one.void else one.of)
        state.numbers[one.name] = one.number
        recent[one.number] = one
    state.names = (*state.names, *(one.name for one in newborns))
    if seen_only:
        return
    state.next_id = len(state.kinds)
    more: dict[str, list[int]] = {}
    for one in newborns:
        if not one.void:
            for kind in ancestry(state.layout.instance.program, one.of):
                more.setdefault(kind, []).append(one.number)
    state.live = {**state.live, **{kind: (*state.live[kind], *new) for kind, new in more.items()}}


def ancestry(program: Program, kind: str) -> tuple[str, ...]:
    """A type and all its ancestors, the root last."""
    known = program.types[kind].ancestors if kind in program.types else ()
    return tuple(dict.fromkeys((*known, ROOT)))


def _first(state: State, column: Column, one: Newborn) -> Raw:
    """What a slot of one object holds at first: its field, else what a function starts with."""
    if one.void:
        return None
    for other, value in one.values:
        if other is column:
            return value
    stored = column.fluent.fluent_kind != "attribute"
    return column.default if stored and one.of in state.layout.owners[column.index] else None


def file(state: State, one: Newborn) -> None:
    """Put a newborn where its fields say: at the end of its containers."""
    if one.void:
        return
    for column, value in one.values:
        if column.has_children and value is not None:
            state.put(column, one.number, value)


def life(state: State, one: Newborn) -> list[RawChange]:
    """The changes that tell of a birth: that it exists, and each value that it begins with."""
    if one.void:
        return []
    values = [pair for pair in one.values if pair[1] is not None]
    for column in state.layout.columns:
        if column.by_object and column.fluent.fluent_kind != "attribute":
            value = _first(state, column, one)
            if value is not None:
                values.append((column, value))
    begun: list[RawChange] = [(LIFE, one.number, None, one.of, one.rule)]
    return begun + [(column, one.number, None, value, one.rule) for column, value in values]


def sight(state: State, known: State | None, newborns: Sequence[Newborn]) -> State:
    """``state`` with newborns readable; ``known`` is an earlier view of some of them."""
    seen = known if known is not None else state.fork()
    missing = newborns[len(seen.kinds) - seen.next_id :]
    if missing:
        grow(seen, missing, seen_only=True)
    return seen


def early(S: State, W: State) -> State:
    """The start of the tick, in which objects born since read as they were born.

    So that `was x.f` has a value of its type for every object there is.
    """
    if len(W.kinds) >= len(S.kinds):
        return W
    known: tuple[State, State] | None = S.memo.get("early")
    if known is None or known[0] is not W:
        known = S.memo["early"] = (W, _padded(S, W))
    return known[1]


def _padded(S: State, W: State) -> State:
    padded, born = W.fork(), S.newborn[1]
    late = [
        born.get(number) or _as_it_is(S, number) for number in range(len(W.kinds), len(S.kinds))
    ]
    grow(padded, late, seen_only=True)
    return padded


def _as_it_is(state: State, number: int) -> Newborn:
    """An object born in an earlier tick than the last one, which nobody remembers as a newborn."""
    kind = state.kinds[number]
    columns = (column for column in state.layout.columns if column.by_object)
    values = tuple((column, state.cols[column.index][number]) for column in columns)
    return Newborn(number, state.names[number], kind or "", values, "", 0, void=kind is None)
