"""Recorded states as facts: objects with types, and fluents with values for tuples of arguments.

Both kinds of rows (`textrows`, `worldrows`) are read into these classes, and everything that learns
reads them. Objects are numbers, members of enums and texts are strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

Scalar = bool | int | float | str | None
Value = Scalar | tuple[Scalar, ...]
"""A value, or those of several slots that change together."""
Args = tuple[int | str, ...]
Kind = Literal["bool", "int", "real", "text", "enum", "object"]

HOLDER: Final = "at"
"""The fluent with the container of an object."""
LABEL: Final = "label"
"""The fluent that keeps the name of an object."""
ANY: Final = "Thing"
"""The type of all objects."""


class Missing:
    """The type of `MISSING`: the value of a fluent that an object does not have."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True)
class Fluent:
    """A fluent of the rows: the sorts of its parameters (types or enums) and the kind of its value.

    ``owners`` are the types of the objects that have it as their attribute; empty for functions.
    ``of`` is the enum of an enum value, the unit of a number, or the type of an object, if one is
    declared. ``low`` and ``high`` are the observed bounds of a number.
    """

    name: str
    params: tuple[str, ...]
    kind: Kind
    optional: bool = False
    owners: frozenset[str] = frozenset()
    of: str = ""
    decimals: int = 0
    low: float = 0
    high: float = 0
    values: tuple[Value, ...] = ()

    @property
    def unit(self) -> str:
        """Return the unit of a number; empty for none."""
        return self.of if self.kind in ("int", "real") else ""

    @property
    def attribute(self) -> bool:
        """Return whether it is an attribute of objects."""
        return bool(self.owners) and len(self.params) == 1


@dataclass(slots=True)
class Scene:
    """One state. ``kinds`` are the types of the objects in their order, ``names`` their names,
    ``facts`` the values by fluent and arguments, ``inside`` the contents of each holder in order.
    """

    kinds: dict[int, str]
    names: dict[int, str]
    facts: dict[str, dict[Args, Value]]
    inside: dict[int, list[int]] = field(default_factory=dict)
    key: object = None
    """Equal for scenes that are the same state."""
    cache: dict[object, object] = field(default_factory=dict)

    def get(self, fluent: str, args: Args) -> Value | Missing:
        """Return the value of a fluent; `MISSING` where these arguments have none."""
        return self.facts.get(fluent, {}).get(args, MISSING)

    def holder(self, thing: int) -> int | None:
        """Return the object that contains another."""
        found = self.facts.get(HOLDER, {}).get((thing,))
        return found if isinstance(found, int) else None

    def above(self, thing: int) -> tuple[int, ...]:
        """Return the containers of the object, from the inside outwards."""
        key = ("above", thing)
        found = self.cache.get(key)
        if found is None:
            chain: list[int] = []
            here = self.holder(thing)
            while here is not None and here not in chain:
                chain.append(here)
                here = self.holder(here)
            found = self.cache[key] = tuple(chain)
        assert isinstance(found, tuple)
        return found

    def last(self, thing: int) -> bool:
        """Return whether it is the last of the contents of its holder."""
        holder = self.holder(thing)
        return holder is None or self.inside.get(holder, [])[-1:] == [thing]

    def changed(self, facts: Mapping[str, dict[Args, Value]]) -> Scene:
        """Return the scene with other values for some fluents."""
        key = self.key, frozenset((name, frozenset(one.items())) for name, one in facts.items())
        other = Scene(self.kinds, self.names, {**self.facts, **facts}, self.inside, key)
        if HOLDER in facts:
            other.inside = contents(other)
        return other


def contents(scene: Scene) -> dict[int, list[int]]:
    """Return the contents of each holder, in the order of the objects."""
    found: dict[int, list[int]] = {}
    for (thing,), holder in scene.facts.get(HOLDER, {}).items():
        if isinstance(holder, int) and isinstance(thing, int):
            found.setdefault(holder, []).append(thing)
    return found


@dataclass(frozen=True, slots=True)
class Step:
    """One transition: the state before, after the command, and after the tick.

    ``text`` is the command as typed; ``call`` its action and arguments where the row has them.
    ``accepted`` is false for a command that was refused. ``key`` is equal for steps that are the
    same transition, ``asked`` for those of the same state and command.
    """

    place: str
    text: str
    call: tuple[str, tuple[tuple[str, Value], ...]] | None
    before: Scene
    acted: Scene
    ticked: Scene
    actor: int | None
    accepted: bool = True
    played: tuple[Scene, Scene] | None = None
    """With given rules: the states after the command and after the tick, as these have them."""

    @property
    def commanded(self) -> Scene:
        """The state whose difference from ``acted`` is learned as the effect of the command."""
        return self.before if self.played is None else self.played[0]

    @property
    def passed(self) -> Scene:
        """The state whose difference from ``ticked`` is learned as laws."""
        return self.acted if self.played is None else self.played[1]


@dataclass(slots=True)
class Vocabulary:
    """The types, enums and fluents of all rows. ``types`` in the order of their appearance."""

    types: list[str] = field(default_factory=list)
    fluents: dict[str, Fluent] = field(default_factory=dict)
    enums: dict[str, list[str]] = field(default_factory=dict)
    ordered: bool = False
    """Whether `at` is containment, and the order of contents is recorded."""
    groups: dict[str, frozenset[str]] = field(default_factory=dict)
    """Types that have an attribute in common, by the name of their common type."""
    constants: dict[int, str] = field(default_factory=dict)
    """Objects that rules may name."""
    together: list[tuple[str, ...]] = field(default_factory=list)
    """Fluents of the same arguments that are one property of the records."""
    endings: dict[str, str] = field(default_factory=dict)
    """Fluents that say that an ending is reached, with its name."""
    named: set[int] = field(default_factory=set)
    """Objects that some rule names; the writer notes them."""

    def group(self, owners: frozenset[str]) -> str:
        """Return the name of the type whose objects are those of these types."""
        if len(owners) == 1:
            return next(iter(owners))
        every = ANY if owners == frozenset(self.types) else ""
        return next((name for name, found in self.groups.items() if found == owners), every)

    def covering(self, kinds: frozenset[str]) -> str:
        """Return the name of the smallest type that has these."""
        fitting = [(len(found), name) for name, found in self.groups.items() if kinds <= found]
        exact = next(iter(kinds)) if len(kinds) == 1 else ""
        return exact or (min(fitting)[1] if fitting else ANY)

    def members(self, sort: str) -> frozenset[str]:
        """Return the types whose objects are of a sort; empty for an enum."""
        if sort == ANY:
            return frozenset(self.types)
        return self.groups.get(sort, frozenset((sort,)) if sort in self.types else frozenset())

    def name_groups(self) -> None:
        """Give the types that share an attribute a common type, named after a truth that all of
        them have and no other has (`isOpenable`: `Openable`), or after the attribute."""
        shared: dict[frozenset[str], list[Fluent]] = {}
        for one in self.fluents.values():
            if one.owners:
                shared.setdefault(one.owners, []).append(one)
        for owners, fluents in shared.items():
            if 1 < len(owners) < len(self.types):
                self.groups[self._group_name(fluents)] = owners

    def _group_name(self, fluents: Sequence[Fluent]) -> str:
        plain = [one.name for one in fluents if one.kind == "bool" and one.values == (True,)]
        named = [one for one in plain if one.startswith("is")] or plain
        text = (named or [fluents[0].name])[0]
        text = text.removeprefix("is").strip("_") or text
        name = "".join(word[:1].upper() + word[1:] for word in text.split("_"))
        taken = {*self.types, *self.groups, *self.enums, ANY}
        while name in taken:
            name = f"With{name}" if not name.startswith("With") else f"{name}s"
        return name

    def owned(self, kind: str) -> list[Fluent]:
        """Return the attributes that objects of a type have."""
        return [one for one in self.fluents.values() if kind in one.owners]


def kind_of(values: Iterable[Value]) -> tuple[Kind, bool, int] | None:
    """Return the kind of a fluent with these values, whether it may be none, and its decimals.

    ``None`` where the values are of kinds that no fluent mixes. Texts are told from enums and
    objects by the caller.
    """
    values = list(values)
    seen = set(map(type, values))
    optional = type(None) in seen
    seen.discard(type(None))
    if seen == {bool}:
        return "bool", optional, 0
    if seen and seen <= {int, float}:
        digits = max((_decimals(one) for one in values if isinstance(one, (int, float))), default=0)
        return ("int" if digits == 0 else "real"), optional, digits
    if seen <= {str}:
        return "text", optional, 0
    return None


def _decimals(value: float) -> int:
    text = f"{value:.6f}".rstrip("0")
    return len(text) - text.index(".") - 1


def bounds(values: Iterable[Value]) -> tuple[float, float]:
    """Return the lowest and the highest number among values."""
    numbers = [one for one in values if isinstance(one, (int, float)) and not isinstance(one, bool)]
    return (min(numbers), max(numbers)) if numbers else (0, 0)


def moved(before: Scene, after: Scene) -> frozenset[int]:
    """Return the objects that were put after others: all that do not stand where they stood."""
    found: set[int] = set()
    for holder, now in after.inside.items():
        old = before.inside.get(holder, [])
        if old == now:
            continue
        places = iter(old)
        stay = 0
        for thing in now:
            if not any(one == thing for one in places):
                break
            stay += 1
        found.update(now[stay:])
    return frozenset(found)


# ---- what the steps show -------------------------------------------------------------------------


def varying(steps: Sequence[Step]) -> frozenset[str]:
    """Return the attributes that have several values."""
    values: dict[str, set[Value]] = {}
    seen: set[int] = set()
    for step in steps:
        for scene in (step.before, step.acted, step.ticked):
            if id(scene) not in seen:
                seen.add(id(scene))
                for name, facts in scene.facts.items():
                    values.setdefault(name, set()).update(facts.values())
    return frozenset(name for name, found in values.items() if len(found) > 1)


def lasting(steps: Sequence[Step], vocabulary: Vocabulary) -> dict[str, frozenset[str]]:
    """Return the truths that are always the same for all objects of a type, but not of every type;
    with the types of which they hold."""
    values: dict[str, dict[str, set[Value]]] = {}
    for scene in {id(one): one for step in steps for one in (step.before, step.ticked)}.values():
        for fluent in vocabulary.fluents.values():
            if fluent.kind == "bool" and fluent.attribute:
                by_kind = values.setdefault(fluent.name, {})
                for (thing,), value in scene.facts.get(fluent.name, {}).items():
                    assert isinstance(thing, int)
                    by_kind.setdefault(scene.kinds[thing], set()).add(value)
    found = {}
    for name, by_kind in values.items():
        true = frozenset(kind for kind, one in by_kind.items() if one == {True})
        if all(len(one) == 1 for one in by_kind.values()) and 0 < len(true) < len(vocabulary.types):
            found[name] = true
    return found


def contradiction(steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the places of two rows in which one command in one state has led to different states;
    none where there are none."""
    seen: dict[object, Step] = {}
    for step in steps:
        first = seen.setdefault((step.before.key, step.text, step.call), step)
        if (first.acted.key, first.ticked.key) != (step.acted.key, step.ticked.key):
            return first.place, step.place
    return ()
