"""Properties of recorded objects as fluents and back, and the mapping file beside a world.

A record shows an object's attributes and one-object functions under their own names. Only other
names are written to ``mapping.toml``. No game is known by name here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, assert_never

from tokenworld import model as m
from tokenworld.core import lowered
from tokenworld.core.rules import Footprint
from tokenworld.engine import Engine
from tokenworld.engine.rows.questions.speech import name_of
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Json, Raw
from tokenworld.model.schema import CLOSED
from tokenworld.model.toml import read_toml

MAPPING_FILE = "mapping.toml"
"""The name of a mapping file; it lies beside the world's file."""


@dataclass(frozen=True, slots=True)
class ShownAs:
    """The making of a property of the records, where it is not the fluent of its own name.

    Exactly one of: ``value`` (another fluent or derive of the object), ``items`` (a list of
    several), ``entries`` (a map: the values of these fluents of the object and a key, alone or as
    a list), ``members`` (a list of the keys for which this truth of the object and a key holds),
    ``constant`` (always this JSON value). ``keys`` names the enum or type that the keys are of;
    ``having`` a truth of the object and a key that says which keys of a map are shown (without it:
    those whose first value is not `none`). With ``unset`` a map has null instead of values
    whose first is `none`. ``present`` and ``filled`` name truths of the
    object: without the one the property is missing, without the other it is null. ``nothing`` is
    shown for a `none` inside a list.
    """

    __pydantic_config__ = CLOSED
    value: str | None = None
    items: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    members: str | None = None
    keys: str | None = None
    having: str | None = None
    unset: bool = False
    constant: Any = None
    present: str | None = None
    filled: str | None = None
    nothing: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreAs:
    """The recorded score in the world: each part names a function or derive without parameters.

    ``over`` is the recorded ``gameOver`` (without it: an ending was reached), ``won`` the recorded
    ``gameWon`` (without it: a goal was reached). ``kept`` is a function that holds the score of the
    state before, where a game adds to it. The value of a function is read from the score before;
    a derive is only written.
    """

    __pydantic_config__ = CLOSED
    over: str | None = None
    won: str | None = None
    kept: str | None = None


@dataclass(frozen=True, slots=True)
class RecordMapping:
    """The exceptions of one game.

    ``name``: the derive that gives an object's recorded name (without it: its printed name).
    ``label``: the text attribute that keeps a recorded name without its ``(ID: n)``. ``types``:
    recorded types by their name in the world. ``hidden``: fluents that no record shows.
    ``root``: the object that holds everything and that the records leave out. ``parts``: types
    whose contents are listed after them and not named in ``contains``, with their number.
    ``unseen``: truths without parameters that no record shows, and that only the outcome of a row
    determines. ``properties``: by name, or ``Type.name`` where types differ in it. ``task``: a
    regular expression that matches the task sentence; each of its named groups is the value of the
    function of that name, which has no parameters. ``score``: the meaning of the score.
    """

    __pydantic_config__ = CLOSED
    game: str
    name: str | None = None
    label: str | None = None
    root: str | None = None
    unseen: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    parts: Mapping[str, int] = field(default_factory=dict)
    properties: Mapping[str, ShownAs] = field(default_factory=dict)
    task: str | None = None
    score: ScoreAs = ScoreAs()
    path: str = ""


def read_mapping(path: Path) -> RecordMapping:
    """The mapping of a file; `Failure` (TW0001, TW0006) where there is none, or it is not one."""
    hint = "Write it as docs/textgames.md tells, under “The mapping file”."
    message = f"`{path}` is no mapping of records"
    return read_toml(RecordMapping, path, message, hint, path=str(path))


def mapping_beside(world: Path) -> RecordMapping:
    """The mapping that lies beside a world's file."""
    return read_mapping(world.parent / MAPPING_FILE)


MISSING: Final = object()
"""The value that a codec writes where the object has no such property now."""


class Misread(Exception):
    """A value of a record that the world has no place for: a clause that says why."""


@dataclass(slots=True)
class Context:
    """One state being read: the objects of recorded names, and the rows of functions so far."""

    named: Mapping[str, str]
    functions: dict[str, list[Json]]
    relations: dict[str, list[Json]]


Show = Callable[[Tick, Raw], Any]
Get = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a value: a fluent or derive of the world, an object, or an object and a key.

    ``get`` takes the row, object (and key) and gives the shown value; ``stored`` is the name of the
    attribute or the id of the function that keeps it, empty for a derive.
    """

    get: Get
    stored: str
    attribute: bool
    type: m.ValueType

    def read(self, value: Any, owner: str | None, key: str | None, attrs: dict[str, Json],
             context: Context) -> None:  # fmt: skip
        """Add a recorded value; derived values are left to the rules."""
        if not self.stored:
            return
        raw = context.named.get(value, value) if isinstance(self.type, m.ObjectType) else value
        if self.attribute:
            attrs[self.stored] = raw
            return
        args: list[Json] = [one for one in (owner, key) if one is not None]
        if not isinstance(self.type, m.BoolType):
            context.functions.setdefault(self.stored, []).append([args, raw])
            return
        rows = context.relations.setdefault(self.stored, [])
        if raw:
            rows.append(args)


Reader = Callable[[Any, str, "dict[str, Json]", Context], None]
Writer = Callable[[Tick, int], Any]


@dataclass(frozen=True, slots=True)
class Codec:
    """Reads a property of an object into attributes and functions, and writes it from them."""

    name: str
    read: Reader
    write: Writer


@dataclass(frozen=True, slots=True)
class Shown:
    """The columns that the record of an object rests on, by number, its name and contents apart:
    ``own`` in slots of the object alone, ``wide`` in any slot. ``names``: it shows names of
    other objects. ``stores``: the values of others that it shows are stored, not derived."""

    own: frozenset[int]
    wide: frozenset[int]
    names: bool
    stores: bool


class RecordWords:
    """The codecs of every type of one world under one mapping."""

    def __init__(self, engine: Engine, mapping: RecordMapping) -> None:
        self.engine, self.mapping = engine, mapping
        self.program = engine.instance.program
        self._known: dict[str, dict[str, Codec]] = {}
        self._shows: dict[str, Shown] = {}
        self._rules_in_core = lowered(self.program)
        self.name_of = self._name_function()
        self.over = self._told(mapping.score.over)
        self.won = self._told(mapping.score.won)
        self.kept = self._told(mapping.score.kept)
        self.unseen = tuple((name, self._unseen(name)) for name in mapping.unseen)
        self._task = _pattern(mapping.task)
        self._asked = {} if self._task is None else {
            name: self._world_place(name) for name in self._task.groupindex
        }  # fmt: skip

    def _name_function(self) -> Callable[[Tick, int], str]:
        """The recorded name of an object."""
        return name_of if self.mapping.name is None else self._derive(self.mapping.name)

    def _derive(self, name: str) -> Get:
        if name not in self.program.derives:
            raise Misread(f"the world has no derive `{name}`")

        def value(tick: Tick, *args: Raw) -> Any:
            S = tick.row.S
            return tick.code["derive", name](S, S, tick.of.me, *args)

        return value

    def check(self) -> None:
        """Return whether all that the mapping names is there; `Misread` for the first that is
        not."""
        types = self.program.types
        for name in self.mapping.types.values():
            if name not in types:
                raise Misread(f"the world has no type `{name}`")
        for key in self.mapping.properties:
            owner, dot, name = key.rpartition(".")
            if dot and owner not in types:
                raise Misread(f"the world has no type `{owner}`")
            if not dot and not any(name in self._rules(kind) for kind in types):
                raise Misread(f"no type of the world has what `{key}` is made of")
        for kind in types:
            self.codecs(kind)

    def codecs(self, kind: str) -> Mapping[str, Codec]:
        """The properties that objects of a type have, by recorded name."""
        if kind not in self._known:
            self._known[kind] = {codec.name: codec for codec in self._codecs(kind)}
        return self._known[kind]

    def fluents_of(self, name: str) -> frozenset[str]:
        """The fluents by which a property may be shown, whatever the type."""
        rules = (rule for key, rule in self.mapping.properties.items()
                 if key.rpartition(".")[2] == name)  # fmt: skip
        return frozenset((name, *(one for rule in rules for one in _used(rule))))

    # ---- what a record rests on -------------------------------------------------------------

    @cached_property
    def naming(self) -> frozenset[int]:
        """The columns that recorded names rest on."""
        name = self.mapping.name
        return self._printed | (frozenset() if name is None else self._read((name,)))

    @cached_property
    def _printed(self) -> frozenset[int]:
        """The columns that printed names rest on."""
        rules = self._rules_in_core
        return self._numbers(rules.footprint(one.name for one in rules.called))

    def shown(self, kind: str) -> Shown:
        """The columns that the records of objects of a type rest on."""
        found = self._shows.get(kind)
        if found is None:
            found = self._shows[kind] = self._shown_columns(kind)
        return found

    @cached_property
    def truths(self) -> tuple[str, ...]:
        """The stored truths of the world that the score tells."""
        told = (one for one in (self.over, self.won) if one is not None and one.stored)
        return tuple(one.stored for one in told if isinstance(one.type, m.BoolType))

    @cached_property
    def refers(self) -> bool:
        """Return whether a record refers to an object by the name of another."""
        return any(self.shown(kind).stores for kind in self.program.types)

    def _shown_columns(self, kind: str) -> Shown:
        rules = self._rules(kind).values()
        names = [name for rule in rules for name in _used(rule)]
        label = self.mapping.label
        places = [self._place(kind, one) for one in (*names, *(() if label is None else (label,)))]
        derives = [one for one in names if one in self.program.derives]
        fluents = [*self._fluents(kind), *(self.program.fluents[one] for one in names
                                           if one in self.program.fluents)]  # fmt: skip
        own = {self.engine.layout.by_id[one.id].index for one in fluents if not one.symmetric}
        wide = {self.engine.layout.by_id[one.id].index for one in fluents if one.symmetric}
        types = [*(one.type for one in fluents), *(one.type for one in places)]
        keyed = any(rule.keys in self.program.types for rule in rules)
        stores = keyed or any(isinstance(one.type, m.ObjectType) for one in fluents)
        return Shown(
            frozenset(own), self._read(derives) | wide,
            keyed or any(isinstance(one, m.ObjectType) for one in types), stores,
        )  # fmt: skip

    def _read(self, derives: Iterable[str]) -> frozenset[int]:
        """The columns that derives read, with those of the names that a text in them may print."""
        rules = [self._rules_in_core.derives[one] for one in derives]
        found = frozenset[int]().union(*(self._numbers(one.footprint) for one in rules))
        return found | self._printed if rules else found

    def _numbers(self, footprint: Footprint) -> frozenset[int]:
        by_id = self.engine.layout.by_id
        return frozenset(by_id[one].index for one in footprint.read if one in by_id)

    @cached_property
    def timeless(self) -> bool:
        """Return whether records depend on columns only, not on the tick or the score."""
        rules = self._rules_in_core
        asked = rules.footprint(one.name for one in rules.called).asks
        used = {name for rule in self.mapping.properties.values() for name in _used(rule)}
        used |= {self.mapping.name} if self.mapping.name is not None else set()
        found = (rules.derives[one].footprint.asks for one in used if one in rules.derives)
        return not asked.union(*found) - {"id"}

    # ---- which properties a type has --------------------------------------------------------

    def _codecs(self, kind: str) -> Iterator[Codec]:
        rules = self._rules(kind)
        used = {name for rule in rules.values() for name in _used(rule)}
        used |= {self.mapping.label} if self.mapping.label is not None else set()
        for fluent in self._fluents(kind):
            if fluent.name not in used and not self._hidden(kind, fluent.name):
                place = self._fluent_place(fluent)
                yield Codec(fluent.name, _plain_reader(place), place.get)
        for name, rule in rules.items():
            yield self._shown(kind, name, rule)

    def _fluents(self, kind: str) -> Iterator[m.Fluent]:
        fluents = self.program.fluents
        for key in self.program.types[kind].attributes:
            if not fluents[key].nested:
                yield fluents[key]
        for fluent in fluents.values():
            if fluent.fluent_kind == "function" and len(fluent.params) == 1:
                of = fluent.params[0].type
                if isinstance(of, m.ObjectType) and self.program.is_subtype(kind, of.name):
                    yield fluent

    def _hidden(self, kind: str, name: str) -> bool:
        ancestors = self.program.types[kind].ancestors
        names = {name, *(f"{one}.{name}" for one in (kind, *ancestors))}
        return not names.isdisjoint(self.mapping.hidden)

    def _rules(self, kind: str) -> dict[str, ShownAs]:
        """Return the exceptions of a type: those of a near ancestor before those of a far one,
        and those for all types if the type has the fluents that they name."""
        found: dict[str, ShownAs] = {}
        lineage = dict.fromkeys((kind, *self.program.types[kind].ancestors))
        for ancestor in lineage:
            for key, rule in self.mapping.properties.items():
                owner, dot, name = key.rpartition(".")
                if dot and owner == ancestor:
                    found.setdefault(name, rule)
        for key, rule in self.mapping.properties.items():
            if "." not in key and all(self._has(kind, name) for name in _used(rule)):
                found.setdefault(key, rule)
        return found

    def _has(self, kind: str, name: str) -> bool:
        try:
            self._place(kind, name)
        except Misread:
            return False
        return True

    # ---- places -----------------------------------------------------------------------------

    def _told(self, name: str | None) -> Place | None:
        return None if name is None else self._world_place(name)

    def _world_place(self, name: str) -> Place:
        """The function or derive of that name that has no parameters."""
        fluent, derive = self.program.fluents.get(name), self.program.derives.get(name)
        if fluent is not None and not fluent.params:
            return self._fluent_place(fluent)
        if derive is not None and not derive.params:
            return self._derive_place(name, derive.type)
        raise Misread(f"the world has no function or derive `{name}` without parameters")

    def _unseen(self, name: str) -> Place:
        """The truth without parameters of that name, which rules may write."""
        place = self._world_place(name)
        if not place.stored or not isinstance(place.type, m.BoolType):
            raise Misread(f"`{name}` is no function of type bool, so it cannot be unseen")
        return place

    def read_task(self, task: str, context: Context) -> None:
        """Note the values that a task sentence names."""
        if self._task is None:
            return
        found = self._task.fullmatch(task)
        if found is None:
            raise Misread(f"`{self._task.pattern}` does not match the task {task!r}")
        for name, text in found.groupdict().items():
            place = self._asked[name]
            place.read(_from_text(text, place.type), None, None, {}, context)

    def task(self, tick: Tick) -> str:
        """The task sentence of a state: what `read_task` reads; empty where no pattern is given."""
        if self._task is None:
            return ""
        named, asked = re.compile(r"\(\?P<(\w+)>[^)]*\)"), self._asked
        filled = named.sub(lambda one: str(asked[one[1]].get(tick)), self._task.pattern)
        told = re.sub(r"\\(.)", r"\1", filled)
        if self._task.fullmatch(told) is None:
            raise Misread(f"`{self._task.pattern}` does not match {told!r}")
        return told

    def _place(self, kind: str, name: str) -> Place:
        """The attribute, function or derive of that name which objects of a type have."""
        for key in self.program.types[kind].attributes:
            if self.program.fluents[key].name == name:
                return self._fluent_place(self.program.fluents[key])
        fluent, derive = self.program.fluents.get(name), self.program.derives.get(name)
        params = (
            fluent.params if fluent is not None else derive.params if derive is not None else ()
        )
        of = params[0].type if params else None
        if isinstance(of, m.ObjectType) and self.program.is_subtype(kind, of.name):
            if fluent is not None:
                return self._fluent_place(fluent)
            assert derive is not None
            return self._derive_place(name, derive.type)
        raise Misread(f"`{kind}` has no attribute, function or derive `{name}`")

    def _derive_place(self, name: str, kind: m.ValueType) -> Place:
        show, function = self._shower(kind), self._derive(name)
        return Place(lambda tick, *args: show(tick, function(tick, *args)), "", False, kind)

    def _fluent_place(self, fluent: m.Fluent) -> Place:
        show, own = self._shower(fluent.type), fluent.fluent_kind == "attribute"

        def shown(tick: Tick, *args: Raw) -> Any:
            return show(tick, tick.slots.read(tick.row.S, fluent.id, args))

        def shown_attribute(tick: Tick, x: int) -> Any:
            slots, store = tick.slots, tick.slots.by_id[fluent.id]
            value = (tick.row.S if store.live else slots.static)[store.table[x]]
            return value if show is _as_it_is else show(tick, value)

        if own:
            return Place(shown_attribute, fluent.name, True, fluent.type)
        return Place(shown, fluent.id, False, fluent.type)

    def _shower(self, kind: m.ValueType) -> Show:
        """The function that writes a value as the records do: objects by their recorded names."""
        match kind:
            case m.ObjectType():
                return lambda tick, value: (
                    self.name_of(tick, value) if isinstance(value, int) else None
                )
            case m.EnumType(name=name):
                members = self.program.enums[name].members
                return lambda _, value: members[value] if isinstance(value, int) else None
            case m.NumberType(decimals=decimals) if decimals:
                scale = 10**decimals
                return lambda _, value: value / scale if isinstance(value, int) else None
            case (
                m.BoolType() | m.NumberType() | m.RealType() | m.TextType() | m.NoneType()
                | m.CollectionType()
            ):  # fmt: skip
                return _as_it_is
            case _:
                assert_never(kind)

    # ---- properties with other names ----------------------------------------------------------

    def _shown(self, kind: str, name: str, rule: ShownAs) -> Codec:
        if rule.items:
            codec = self._listed(kind, name, rule)
        elif rule.entries:
            codec = self._mapped(kind, name, rule)
        elif rule.members is not None:
            codec = self._keyed(kind, name, rule.members, rule.keys)
        elif rule.constant is not None:
            codec = _constant(name, rule.constant)
        else:
            place = self._place(kind, rule.value or name)
            codec = Codec(name, _plain_reader(place), place.get)
        return self._sometimes(kind, codec, rule)

    def _listed(self, kind: str, name: str, rule: ShownAs) -> Codec:
        places = tuple(self._place(kind, item) for item in rule.items)

        def read(value: Any, owner: str, attrs: dict[str, Json], context: Context) -> None:
            if not isinstance(value, list) or len(value) != len(places):
                raise Misread(f"a list of {len(places)} values is needed")
            for place, one in zip(places, value, strict=True):
                shown = None if one == rule.nothing else one
                place.read(shown, owner, None, attrs, context)

        def write(tick: Tick, x: int) -> Any:
            values = [place.get(tick, x) for place in places]
            return [rule.nothing if one is None else one for one in values]

        return Codec(name, read, write)

    def _mapped(self, kind: str, name: str, rule: ShownAs) -> Codec:
        places = tuple(self._place(kind, entry) for entry in rule.entries)
        having = None if rule.having is None else self._place(kind, rule.having)
        keys, listed = self._keys(rule.keys), len(places) > 1

        def read(value: Any, owner: str, attrs: dict[str, Json], context: Context) -> None:
            if not isinstance(value, dict):
                raise Misread("a map is needed")
            for shown, held in value.items():
                key = context.named.get(shown, shown)
                values = held if listed else [held]
                if rule.unset and held is None:
                    values = [None] * len(places)
                if not isinstance(values, list) or len(values) != len(places):
                    raise Misread(f"`{shown}` needs a list of {len(places)} values")
                if having is not None:
                    having.read(True, owner, key, attrs, context)
                for place, one in zip(places, values, strict=True):
                    place.read(one, owner, key, attrs, context)

        def write(tick: Tick, x: int) -> Any:
            found: dict[str, Any] = {}
            for key, raw in keys(tick):
                if having is not None and not having.get(tick, x, raw):
                    continue
                values = [place.get(tick, x, raw) for place in places]
                if rule.unset and values[0] is None:
                    found[key] = None
                elif having is not None or values[0] is not None:
                    found[key] = values if listed else values[0]
            return found

        return Codec(name, read, write)

    def _keyed(self, kind: str, name: str, members: str, of: str | None) -> Codec:
        holds, keys = self._place(kind, members), self._keys(of)

        def read(value: Any, owner: str, attrs: dict[str, Json], context: Context) -> None:
            if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
                raise Misread("a list of names is needed")
            for shown in value:
                holds.read(True, owner, context.named.get(shown, shown), attrs, context)

        def write(tick: Tick, x: int) -> Any:
            return [shown for shown, key in keys(tick) if holds.get(tick, x, key)]

        return Codec(name, read, write)

    def _keys(self, name: str | None) -> Callable[[Tick], Iterator[tuple[str, int]]]:
        """The keys that a map may have, as shown and as the engine has them."""
        if name is not None and name in self.program.enums:
            members = tuple(zip(self.program.enums[name].members, range(1_000_000), strict=False))
            return lambda _: iter(members)
        if name is None or name not in self.program.types:
            raise Misread(f"the keys of a map are of an enum or a type, and `{name}` is neither")
        kind = name

        def living(tick: Tick) -> Iterator[tuple[str, int]]:
            return ((self.name_of(tick, x), x) for x in tick.row.S[tick.slots.live[kind]])

        return living

    def _sometimes(self, kind: str, codec: Codec, rule: ShownAs) -> Codec:
        """The codec of a property that may be missing, or null."""
        gates = ((rule.present, MISSING), (rule.filled, None))
        for gate, instead in gates:
            if gate is not None:
                codec = _gated(codec, self._place(kind, gate), instead)
        return codec


def _pattern(task: str | None) -> re.Pattern[str] | None:
    try:
        return None if task is None else re.compile(task)
    except re.error as error:
        raise Misread(f"`task` is no regular expression ({error})") from None


def _from_text(text: str, kind: m.ValueType) -> Json:
    """A value that a sentence names, as the world's type of it wants it."""
    if not isinstance(kind, (m.NumberType, m.RealType)):
        return text
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise Misread(f"the task says {text!r} where a number is needed") from None


def _as_it_is(tick: Tick, value: Any) -> Any:
    """Show a value unchanged."""
    return value


def _used(rule: ShownAs) -> Iterator[str]:
    truths = (rule.members, rule.having, rule.present, rule.filled)
    for name in (rule.value, *rule.items, *rule.entries, *truths):
        if name is not None:
            yield name


def _plain_reader(place: Place) -> Reader:
    return lambda value, owner, attrs, context: place.read(value, owner, None, attrs, context)


def _constant(name: str, constant: Any) -> Codec:
    def read(value: Any, owner: str, attrs: dict[str, Json], context: Context) -> None:
        if value != constant:
            raise Misread(f"it is always {constant}")

    return Codec(name, read, lambda tick, x: constant)


def _gated(codec: Codec, gate: Place, instead: object) -> Codec:
    """Return a codec with a condition: the property exists (or is not null) if a truth holds."""

    def read(value: Any, owner: str, attrs: dict[str, Json], context: Context) -> None:
        there = instead is MISSING or value is not None
        gate.read(there, owner, None, attrs, context)
        if there:
            codec.read(value, owner, attrs, context)

    def write(tick: Tick, x: int) -> Any:
        return codec.write(tick, x) if gate.get(tick, x) else instead

    return Codec(codec.name, read, write)
