"""States from ``tw-state/1`` JSON: the inverse of `digest.state_json` (language.md §9, §12)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tokenworld import model as m
from tokenworld.diagnostics import Diagnostic, Failure, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.columns import Column, Key, Layout
from tokenworld.engine.state import LongAction, State
from tokenworld.ground import (
    Command,
    GroundObject,
    Instance,
    Json,
    NotConstant,
    Raw,
    constant,
    implicit_default,
    read_value,
)

# ---- The population ------------------------------------------------------------------------------
# The population of a state, its actors, and the values before anything is set.


def fill_columns(state: State) -> None:
    """Give functions and tables the values they have before anything is set."""
    layout = state.layout
    instance = layout.instance
    for column in layout.columns:
        if column.fluent.fluent_kind == "attribute":
            continue
        stored = state.cols[column.index]
        if column.single:
            stored[0] = column.default
        elif column.by_object:
            owners = layout.owners[column.index]
            for number, kind in enumerate(state.kinds):
                if kind in owners:
                    state.put(column, number, column.default)
        for row in column.fluent.rows:
            key = tuple(constant(term, state.numbers, instance.params) for term in row.keys)
            value = constant(row.value, state.numbers, instance.params)
            state.put(column, column.key(key), value)


def seat_actors(state: State) -> None:
    """Say who takes turns: those of `turns` in order, else the first object of the actor's type.

    Done after each step of the setup, since layouts and setups may create them.
    """
    instance = state.layout.instance
    turns = tuple(
        state.numbers[name]
        for name in instance.world.turns
        if name in state.numbers and state.alive(state.numbers[name])
    )
    actor = instance.program.actor
    state.actors = turns or (state.live[actor][:1] if actor is not None else ())


def instance_of(state: State) -> Instance:
    """The instance with exactly the objects of a state; the same instance if they are equal."""
    instance = state.layout.instance
    same = len(state.kinds) == len(instance.objects) and state.live == instance.members
    if same and state.names == instance.names:
        return instance
    objects = tuple(_object(state, number) for number in range(len(state.kinds)))
    actors = tuple(number for number in state.actors if state.alive(number))
    return replace(
        instance, objects=objects, numbers=state.numbers, members=state.live, actors=actors
    )


def _object(state: State, number: int) -> GroundObject:
    instance, name = state.layout.instance, state.names[number]
    known = instance.declared(number, name)
    kind = state.kinds[number]
    if known is not None and kind in (None, known.of):
        return GroundObject(number, known)
    world, kind = instance.world, kind or m.ROOT
    return GroundObject(number, m.ObjectDecl(name, kind, None, (), (), world.name, world.span))


# ---- Restoring -----------------------------------------------------------------------------------


MOST_NUMBERS = 10_000_000
"""Every number ever given to an object has a place, also those of destroyed objects."""


def start_from(layout: Layout, file: m.StartFile, seed: int) -> State:
    """Return the first state of a world with a `start` line; the seed is that of the run.

    Every object that rules name must be in it, unless a game continues with changed rules: there
    it may be destroyed. Raises `Failure` (TW0006) if it does not fit.
    """
    named = frozenset[str]() if file.path == m.CARRIED else mentioned(layout.instance)
    try:
        # Not by pydantic: what a state may hold depends on the program, which `_Reader` asks.
        found = json.loads(file.text)
    except (ValueError, RecursionError) as error:
        raise _failure(Misfit("", f"it is no JSON ({error})"), file.path, file.span) from None
    try:
        state = _restored(layout, found, named=named)
    except Misfit as misfit:
        raise _failure(misfit, file.path, file.span) from None
    state.seed = seed
    return state


def state_from_json(
    layout: Layout, found: Json, *, source: str = "the state", span: Span | None = None
) -> State:
    """The state that ``state_json`` shows; its hash is the same.

    A number below ``next_id`` that no object has is that of a destroyed one. ``source`` and
    ``span`` are the place of the JSON. Raises `Failure` (TW0006) with the path inside the JSON if
    it does not fit the program.
    """
    try:
        return _restored(layout, found, named=frozenset())
    except Misfit as misfit:
        raise _failure(misfit, source, span) from None


def state_revised(base: State, found: Mapping[str, Any], *, source: str = "the state") -> State:
    """A state with the objects of ``base`` in which some slots have other values.

    ``objects`` are shown whole, as in `state_from_json`; the others stay as they are. ``contents``
    has the contents of objects by name, in order. ``functions`` and ``relations`` list values,
    ``gone`` those that had been listed and have their default again. The header is that of
    ``found``. Raises `Failure` (TW0006) as `state_from_json` does.
    """
    reader = _Reader(base.fork(), revises=True)
    try:
        for part, rows in found["gone"].items():
            reader.gone(rows, part)
        for position, one in enumerate(found["objects"]):
            reader.attributes(one, f"objects[{position}]")
        reader.refile(found["contents"])
        for part in ("functions", "relations"):
            reader.rows(found[part], part)
        reader.sound()
        reader.header(found)
    except Misfit as misfit:
        raise _failure(misfit, source, None) from None
    return reader.state


def _failure(misfit: Misfit, source: str, span: Span | None) -> Failure:
    where = f" at `{misfit.path}`" if misfit.path else ""
    message = f"`{source}` does not fit{where}: {misfit.reason}."
    hint = "Correct the file, or record it again with this program."
    label = "this file" if span is not None else ""
    return Failure(Diagnostic("TW0006", message, span, label, hint=hint))


def _restored(layout: Layout, found: Json, *, named: frozenset[str]) -> State:
    shape = _mapping(found, "")
    if shape.get("format", "tw-state/1") != "tw-state/1":
        raise Misfit("format", "only `tw-state/1` is known")
    people = objects_of(layout.instance, shape, named)
    state = _peopled(layout, people)
    fill_columns(state)
    reader = _Reader(state)
    for position, one in enumerate(_sequence(shape.get("objects"), "objects")):
        reader.attributes(one, f"objects[{position}]")
    for position, one in enumerate(_sequence(shape.get("objects"), "objects")):
        reader.orders(one, f"objects[{position}]")
    reader.rows(_mapping(shape.get("functions", {}), "functions"), "functions")
    reader.rows(_mapping(shape.get("relations", {}), "relations"), "relations")
    reader.sound()
    reader.header(shape)
    seat_actors(state)
    if not 0 <= state.turn < max(1, len(state.actors)):
        raise Misfit("turn", f"{len(state.actors)} take turns in this world")
    return state


def _peopled(layout: Layout, people: Population) -> State:
    """A state with these objects and no values."""
    state, program = State(layout), layout.instance.program
    state.kinds, state.names, state.numbers = list(people.kinds), people.names, dict(people.numbers)
    state.next_id = len(people.kinds)
    live: dict[str, list[int]] = {kind: [] for kind in state.live}
    for number, kind in enumerate(people.kinds):
        for ancestor in () if kind is None else {*program.types[kind].ancestors, m.ROOT}:
            live[ancestor].append(number)
    state.live = {kind: tuple(numbers) for kind, numbers in live.items()}
    for column in layout.columns:
        if column.by_object:
            state.cols[column.index] = [None] * len(people.kinds)
        if state.kids[column.index] is not None:
            state.kids[column.index] = [[] for _ in people.kinds]
    return state


# ---- shapes ---------------------------------------------------------------------------------


def _mapping(found: object, path: str) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise Misfit(path, "an object is needed here")
    return found


def _sequence(found: object, path: str) -> Sequence[Any]:
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise Misfit(path, "a list is needed here")
    return found


def _whole(found: object, path: str) -> int:
    if not isinstance(found, int) or isinstance(found, bool):
        raise Misfit(path, "a whole number is needed here")
    return found


def _drawn(found: object, path: str) -> tuple[tuple[str, tuple[Json, ...]], int]:
    """The number of draws of a rule in the tick: rule, arguments, number."""
    row = _sequence(found, path)
    if len(row) != 3 or not isinstance(row[0], str):
        raise Misfit(path, "a rule, its arguments and a number are needed here")
    args = tuple(_sequence(row[1], f"{path}[1]"))
    if not all(isinstance(one, str | int | float | None) for one in args):
        raise Misfit(f"{path}[1]", "arguments are numbers, truths and names")
    number = _whole(row[2], f"{path}[2]")
    if number < 1:
        raise Misfit(f"{path}[2]", "a number from 1 is needed here")
    return (row[0], args), number


class _Reader:
    """Fills one state; every method takes a part of the JSON and the path to it."""

    def __init__(self, state: State, *, revises: bool = False) -> None:
        self.state, self.layout, self._revises = state, state.layout, revises
        self.instance = state.layout.instance
        self.program = self.instance.program
        self._known_members: dict[str, frozenset[Raw]] = {}

    # ---- values -------------------------------------------------------------------------

    def _put(self, column: Column, key: Key, value: Raw) -> None:
        """Store a value; in a state that is revised, only another one than it has."""
        if not self._revises or self.state.get(column, key) != value:
            self.state.put(column, key, value)

    def value(self, kind: m.ValueType, found: object, path: str) -> Raw:
        """One value of a type; an object must live and be of it."""
        try:
            raw = read_value(self.program, self.state.numbers, kind, found)
        except (ValueError, TypeError) as error:
            raise Misfit(path, str(error).rstrip(".")) from None
        if not isinstance(kind, m.ObjectType) or raw is None or raw in self._members(kind.name):
            return raw
        raise Misfit(path, f"`{found}` is not a living `{kind.name}`")

    def _members(self, kind: str) -> frozenset[Raw]:
        if kind not in self._known_members:
            self._known_members[kind] = frozenset(self.state.live[kind])
        return self._known_members[kind]

    def arguments(self, params: Sequence[Any], found: object, path: str) -> tuple[Raw, ...]:
        """The arguments of a fluent, a watch or an action in order."""
        listed = _sequence(found, path)
        if len(listed) != len(params):
            raise Misfit(path, f"{len(params)} values are needed here, not {len(listed)}")
        pairs = enumerate(zip(params, listed, strict=True))
        return tuple(self.value(one.type, each, f"{path}[{n}]") for n, (one, each) in pairs)

    # ---- objects ------------------------------------------------------------------------

    def attributes(self, one: Mapping[str, Any], path: str) -> None:
        """The attributes of an object; a missing one has its default."""
        number = self.state.numbers[one["name"]]
        kind = self.program.types[one["type"]]
        given = dict(_mapping(one.get("attrs", {}), f"{path}.attrs"))
        defaults = {field.fluent: field.value for field in kind.defaults}
        for key in kind.attributes:
            column = self.layout.by_id[key]
            place = f"{path}.attrs.{column.fluent.name}"
            if column.fluent.name in given:
                value = self.value(column.fluent.type, given.pop(column.fluent.name), place)
            elif key in defaults:
                value = self._default(defaults[key], place)
            else:
                value = implicit_default(column.fluent.type)
                if value is None and not getattr(column.fluent.type, "optional", True):
                    raise Misfit(place, "a value is missing, and the type has no default")
            self._put(column, number, value)
        for name in given:
            raise Misfit(f"{path}.attrs.{name}", f"`{one['type']}` has no attribute `{name}`")

    def _default(self, term: Any, path: str) -> Raw:
        try:
            return constant(term, self.state.numbers, self.instance.params)
        except (NotConstant, KeyError):
            raise Misfit(path, "a value is missing, and its default is not fixed") from None

    def refile(self, contents: Mapping[str, Sequence[str]]) -> None:
        """Put objects into their containers, in order."""
        if not contents:
            return
        numbers = self.state.numbers
        (column,) = (one for one in self.layout.columns if one.fluent.nested and one.has_children)
        for holder, listed in contents.items():
            for name in listed:
                self.state.put(column, numbers[name], numbers[holder])

    def orders(self, one: Mapping[str, Any], path: str) -> None:
        """The order of the references to an object: its contents, or those of another fluent."""
        number = self.state.numbers[one["name"]]
        nests = [c for c in self.layout.columns if c.fluent.nested and c.has_children]
        orders = _mapping(one.get("orders", {}), f"{path}.orders")
        if len(nests) == 1 and "contents" in one:
            self._order(nests[0], number, one["contents"], f"{path}.contents")
        for key, listed in orders.items():
            column = self.layout.by_id.get(key)
            if column is None or not column.has_children or not column.by_object:
                raise Misfit(f"{path}.orders.{key}", f"nothing is kept in order by `{key}`")
            self._order(column, number, listed, f"{path}.orders.{key}")

    def _order(self, column: Column, number: int, found: object, path: str) -> None:
        kids = self.state.kids[column.index][number]
        listed = []
        for position, name in enumerate(_sequence(found, path)):
            child = self.state.numbers.get(name) if isinstance(name, str) else None
            if child not in kids or child in listed:
                raise Misfit(f"{path}[{position}]", f"`{name}` does not lead here")
            listed.append(child)
        if len(listed) != len(kids):
            missing = next(child for child in kids if child not in listed)
            raise Misfit(path, f"`{self.state.names[missing]}` is here too and is not listed")
        if column.fluent.ordered:
            self.state.kids[column.index][number] = listed

    # ---- functions and relations ------------------------------------------------------------

    def rows(self, listed: Mapping[str, Any], path: str) -> None:
        """Read the rows of functions or relations; unlisted ones have their default."""
        for name, rows in listed.items():
            column = self.layout.by_id.get(name)
            place = f"{path}.{name}"
            if column is None or column.fluent.fluent_kind not in ("function", "relation"):
                raise Misfit(place, f"the program has no `{name}`")
            truth = column.fluent.type.kind == "bool"
            if truth != (path == "relations"):
                raise Misfit(
                    place, f"`{name}` belongs to the {'relations' if truth else 'functions'}"
                )
            self._blank(column)
            for position, row in enumerate(_sequence(rows, place)):
                self._row(column, row, f"{place}[{position}]", truth=truth)

    def _blank(self, column: Column) -> None:
        """Set all rows of a relation to false before the listed ones are read."""
        if column.fluent.type.kind != "bool" or column.default is not True:
            return
        from tokenworld.engine.saved.digest import shown_keys

        for key in list(shown_keys(self.state, column)):
            self.state.put(column, key, False)

    def _row(self, column: Column, row: object, path: str, *, truth: bool) -> None:
        params = column.fluent.params
        if truth:
            self._put(column, column.key(self.arguments(params, row, path)), True)
            return
        pair = _sequence(row, path)
        if len(pair) != 2:
            raise Misfit(path, "a list of arguments and a value are needed here")
        args = self.arguments(params, pair[0], f"{path}[0]")
        value = self.value(column.fluent.type, pair[1], f"{path}[1]")
        self._put(column, column.key(args), value)

    def gone(self, listed: Mapping[str, Any], path: str) -> None:
        """Set slots to their default; ``listed`` is as for `rows`."""
        for name, rows in listed.items():
            column = self.layout.by_id[name]
            for position, row in enumerate(rows):
                args = row if path == "relations" else row[0]
                place = f"{path}.{name}[{position}]"
                self._put(column, column.key(self.arguments(column.fluent.params, args, place)),
                          column.default)  # fmt: skip

    def sound(self) -> None:
        """Check the flags of fluents: no cycles, no value twice."""
        for column in self.layout.columns:
            fluent, stored = column.fluent, self.state.cols[column.index]
            values = [x for x in (stored.values() if column.tupled else stored) if x is not None]
            if fluent.unique and len(set(values)) < len(values):
                raise Misfit("objects", f"`{fluent.name}` is unique, and a value occurs twice")
            if fluent.nested and column.by_object:
                self._no_cycle(fluent.name, {x: {y} for x, y in enumerate(stored) if y is not None})
            if fluent.acyclic and column.tupled:
                steps: dict[Raw, set[Raw]] = {}
                for left, right in stored:
                    steps.setdefault(left, set()).add(right)
                self._no_cycle(fluent.name, steps)

    def _no_cycle(self, name: str, steps: Mapping[Any, set[Any]]) -> None:
        """Remove ends of chains until nothing is left, or only a cycle."""
        left = {x: set(ends) for x, ends in steps.items()}
        while left:
            loose = [x for x, ends in left.items() if not ends & left.keys()]
            if not loose:
                culprit = self.state.names[next(iter(left))]
                raise Misfit("objects", f"`{name}` leads from `{culprit}` round in a cycle")
            for x in loose:
                del left[x]

    # ---- the rest -----------------------------------------------------------------------------

    def header(self, shape: Mapping[str, Any]) -> None:
        """Tick, seed, endings, awards, watches that spoke, long actions."""
        state, world = self.state, self.instance.world
        state.tick = _whole(shape.get("tick", 0), "tick")
        state.seed = _whole(shape.get("seed", 0), "seed")
        names = {line.name for line in world.endings}
        state.latched = tuple(
            self._known(one, names, f"outcomes[{n}]", "ending")
            for n, one in enumerate(_sequence(shape.get("outcomes", ()), "outcomes"))
        )
        awarded = _sequence(shape.get("awarded", ()), "awarded")
        for n, one in enumerate(awarded):
            if not 0 <= _whole(one, f"awarded[{n}]") < len(world.awards):
                raise Misfit(f"awarded[{n}]", f"the world has {len(world.awards)} awards")
        state.awarded = tuple(awarded)
        fired = _sequence(shape.get("fired", ()), "fired")
        state.fired = frozenset(self._fired(one, f"fired[{n}]") for n, one in enumerate(fired))
        state.turn = _whole(shape.get("turn", 0), "turn")
        drawn = _sequence(shape.get("drawn", ()), "drawn")
        state.drawn = dict(_drawn(one, f"drawn[{n}]") for n, one in enumerate(drawn))
        for actor, running in _mapping(shape.get("long", {}), "long").items():
            self._long(actor, running, f"long.{actor}")

    def _known(self, found: object, names: object, path: str, what: str) -> str:
        if not isinstance(found, str) or found not in names:  # type: ignore[operator]
            raise Misfit(path, f"the program has no {what} `{found}`")
        return found

    def _fired(self, found: object, path: str) -> tuple[str, tuple[Raw, ...]]:
        pair = _sequence(found, path)
        if len(pair) != 2:
            raise Misfit(path, "a watch and its arguments are needed here")
        name = self._known(pair[0], self.program.watches, f"{path}[0]", "watch")
        return name, self.arguments(self.program.watches[name].params, pair[1], f"{path}[1]")

    def _long(self, actor: str, found: object, path: str) -> None:
        running = _mapping(found, path)
        name = self._known(running.get("action"), self.program.actions, f"{path}.action", "action")
        given = _mapping(running.get("args", {}), f"{path}.args")
        params = self.program.actions[name].params
        if set(given) != {binder.name for binder in params}:
            raise Misfit(f"{path}.args", f"the arguments of `{name}` are needed here")
        args = tuple(
            self._argument(one, given[one.name], f"{path}.args.{one.name}") for one in params
        )
        if actor and actor not in self.state.numbers:
            raise Misfit(path, f"there is no object `{actor}`")
        done, total = (_whole(running.get(key), f"{path}.{key}") for key in ("done", "total"))
        who = self.state.numbers[actor] if actor else None
        self.state.begin(who, LongAction(Command(name, args), done, total))

    def _argument(self, binder: m.Binder, found: object, path: str) -> Raw:
        """An argument of a long action: an object may have been destroyed since it began."""
        if isinstance(binder.type, m.ObjectType) and found in self.state.numbers:
            return self.state.numbers[str(found)]
        return self.value(binder.type, found, path)


# ---- who there is -------------------------------------------------------------------------------


class Misfit(Exception):
    """JSON does not fit: the path inside it, and a clause that says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


@frozen
class Population:
    """The objects of a state by number: type (``None``: destroyed) and name; numbers by name."""

    kinds: tuple[str | None, ...]
    names: tuple[str, ...]
    numbers: Mapping[str, int]


def objects_of(instance: Instance, shape: Mapping[str, Any], named: frozenset[str]) -> Population:
    """Read the objects; those ``named`` must be among them.

    An object that rules name keeps the number it was declared with. Raises `Misfit`.
    """
    living = _living(instance, shape)
    size = _size(shape, living)
    kinds: list[str | None] = [None] * size
    names = [""] * size
    for number, (name, of, path) in living.items():
        _check_declared(instance, name, number, path, named)
        kinds[number], names[number] = of, name
    numbers = {name: number for number, (name, _, _) in living.items()}
    _number_the_absent(instance, shape, names, numbers, named)
    return Population(tuple(kinds), tuple(names), numbers)


def _living(instance: Instance, shape: Mapping[str, Any]) -> dict[int, tuple[str, str, str]]:
    """Name, type and path of each object by number."""
    listed = shape.get("objects")
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise Misfit("objects", "a list of objects is needed here")
    found: dict[int, tuple[str, str, str]] = {}
    names: set[str] = set()
    for position, one in enumerate(listed):
        path = f"objects[{position}]"
        if not isinstance(one, Mapping):
            raise Misfit(path, "an object is needed here")
        number, name, of = one.get("id"), one.get("name"), one.get("type")
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise Misfit(f"{path}.id", "a number from 0 is needed here")
        if not isinstance(name, str) or not name:
            raise Misfit(f"{path}.name", "a name is needed here")
        if not isinstance(of, str) or of not in instance.program.types:
            raise Misfit(f"{path}.type", f"the program has no type `{of}`")
        if number in found:
            raise Misfit(f"{path}.id", f"`{found[number][0]}` has this number too")
        if name in names:
            raise Misfit(f"{path}.name", f"another object is called `{name}` too")
        found[number] = (name, of, path)
        names.add(name)
    return found


def _size(shape: Mapping[str, Any], living: Mapping[int, object]) -> int:
    least = max(living, default=-1) + 1
    size = shape.get("next_id", least)
    if not isinstance(size, int) or isinstance(size, bool) or size < least:
        raise Misfit("next_id", f"the next number is at least {least}")
    if size > MOST_NUMBERS:
        raise Misfit("next_id", f"objects are numbered up to {MOST_NUMBERS:,}")
    return size


def _check_declared(
    instance: Instance, name: str, number: int, path: str, named: frozenset[str]
) -> None:
    """Rules know declared objects by number."""
    declared = instance.numbers.get(name)
    if declared is None or declared == number:
        return
    if name in named or name in mentioned(instance):
        raise Misfit(f"{path}.id", f"rules name `{name}`, which has the number {declared}")


def _number_the_absent(
    instance: Instance,
    shape: Mapping[str, Any],
    names: list[str],
    numbers: dict[str, int],
    named: frozenset[str],
) -> None:
    """Give the names of destroyed objects the numbers that are left over.

    Raises `Misfit` where one is absent that must be there, or has no number left to be dead with.
    """
    for name in sorted(named):
        if name not in numbers:
            raise Misfit("objects", f"`{name}` is missing, and rules name it")
    free = [number for number, name in enumerate(names) if not name]
    for one in instance.objects:
        if one.name not in numbers and one.id in free:
            numbers[one.name], names[one.id] = one.id, one.name
            free.remove(one.id)
    absent = (*sorted(mentioned(instance)), *_long_ago(instance, shape))
    for name in dict.fromkeys(name for name in absent if name not in numbers):
        if not free or name in instance.numbers:
            raise Misfit("objects", f"`{name}` is missing, and rules name it")
        number = _own_number(name, free)
        numbers[name], names[number] = number, name
        free.remove(number)


def _own_number(name: str, free: Sequence[int]) -> int:
    """The number that a created object's name ends in, if it may have been that, else the first."""
    _, _, tail = name.rpartition("_")
    return int(tail) if tail.isdecimal() and int(tail) in free else free[0]


def _long_ago(instance: Instance, shape: Mapping[str, Any]) -> Iterator[str]:
    """The objects that long actions are about: one may have been destroyed since."""
    long = shape.get("long")
    for running in long.values() if isinstance(long, Mapping) else ():
        action = running.get("action") if isinstance(running, Mapping) else None
        if not isinstance(action, str) or action not in instance.program.actions:
            continue
        args = running.get("args")
        for binder in instance.program.actions[action].params:
            value = args.get(binder.name) if isinstance(args, Mapping) else None
            if isinstance(binder.type, m.ObjectType) and isinstance(value, str):
                yield value


def mentioned(instance: Instance) -> frozenset[str]:
    """The objects that rules and lines of the world name, apart from its objects' own fields."""
    known = _MENTIONED.get(id(instance))
    if known is None or known[0] is not instance:
        while len(_MENTIONED) >= _KEPT:
            del _MENTIONED[next(iter(_MENTIONED))]
        known = _MENTIONED[id(instance)] = (instance, _mentioned(instance))
    return known[1]


_KEPT = 16
_MENTIONED: dict[int, tuple[Instance, frozenset[str]]] = {}
"""Cache of `mentioned`, by identity of the instance, since many states share one."""


def _mentioned(instance: Instance) -> frozenset[str]:
    program, world = instance.program, instance.world
    rules: list[object] = [
        program.derives, program.actions, program.laws, program.births, program.watches,
        program.invariants, program.conserves, program.called, program.scopes, program.describes,
        world.endings, world.awards, world.pays, world.score,
        [scenario for scenario in program.scenarios if scenario.world == world.name],
    ]  # fmt: skip
    return frozenset((*world.turns, *(name for rule in rules for name in _literals(rule))))


def _literals(node: object) -> Iterator[str]:
    if isinstance(node, m.ObjectLiteral):
        yield node.name
    elif isinstance(node, Mapping):
        for value in node.values():
            yield from _literals(value)
    elif isinstance(node, (tuple, list)):
        for value in node:
            yield from _literals(value)
    elif is_dataclass(node):
        for one in fields(node):
            yield from _literals(getattr(node, one.name))
