"""States as plain dictionaries: who lives, and the value of every slot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from tokenworld import model as m
from tokenworld.core import Rules, lowered
from tokenworld.core.nodes import Term
from tokenworld.engine.reference.chance import Counts
from tokenworld.ground import Command, Instance, Raw, constant, domain_of

Slot = tuple[str, tuple[Raw, ...]]
"""A place that holds one value: the id of a fluent and its arguments."""


class Fault(Exception):
    """An undone change: ``code`` is a TW10xx, ``kind`` the kind of breach."""

    def __init__(self, code: str, kind: str, text: str) -> None:
        super().__init__(text)
        self.code, self.kind, self.text = code, kind, text
        self.witness: tuple[str, ...] = ()


@dataclass(frozen=True)
class Long:
    """A long action under way: ``done`` of ``total`` ticks."""

    command: Command
    done: int
    total: int


@dataclass
class State:
    """A state.

    ``kinds`` holds the type of each living object, in order of number; ``ghosts`` the type of
    destroyed objects that the texts of a body still name. ``values`` holds every slot of the living
    that differs from its fluent's default (attributes always). ``arrivals`` holds the order in
    which `ordered` slots were assigned, ``firsts`` the values of created objects at birth. Between
    the actors of a round ``turn`` counts the turns taken, ``round`` is the state it began with,
    ``reported`` the state that watches reported last; ``drawn`` counts the draws of each rule in
    the tick. ``hash`` is cached.
    """

    kinds: dict[int, str]
    names: dict[int, str]
    values: dict[Slot, Raw] = field(default_factory=dict)
    arrivals: dict[Slot, int] = field(default_factory=dict)
    clock: int = 0
    next_id: int = 0
    seed: int = 0
    tick: int = 0
    outcomes: tuple[str, ...] = ()
    awarded: tuple[int, ...] = ()
    fired: frozenset[tuple[str, tuple[Raw, ...]]] = frozenset()
    long: dict[int | None, Long] = field(default_factory=dict)
    executed: tuple[tuple[int | None, Command], ...] = ()
    actors: tuple[int, ...] = ()
    ghosts: dict[int, str] = field(default_factory=dict)
    firsts: dict[Slot, Raw] = field(default_factory=dict)
    turn: int = 0
    round: State | None = None
    reported: State | None = None
    drawn: Counts = field(default_factory=dict)
    hash: str = ""

    @property
    def me(self) -> int | None:
        """The value of `me` if nobody acts: the first of `turns`, else the first of its type."""
        return self.actors[0] if self.actors else None

    @property
    def seat(self) -> int:
        """The place in the round of the next actor who lives."""
        living = (n for n in range(self.turn, len(self.actors)) if self.actors[n] in self.kinds)
        return next(living, self.turn)

    @property
    def acting(self) -> int | None:
        """The actor whose intent comes next."""
        return self.actors[self.seat] if len(self.actors) > 1 else self.me

    def closes(self, after: State) -> bool:
        """Return whether no living actor in ``after`` comes after the next one in this round."""
        return not any(actor in after.kinds for actor in self.actors[self.seat + 1 :])

    def kind(self, number: Raw) -> str | None:
        """The type of an object that lives, or that prose still sees."""
        if number is None:
            return None
        assert isinstance(number, int)
        return self.kinds.get(number, self.ghosts.get(number))


def copied(state: State) -> State:
    """A state that can be written to without touching the given one."""
    return replace(
        state,
        kinds=dict(state.kinds),
        names=dict(state.names),
        values=dict(state.values),
        arrivals=dict(state.arrivals),
        long=dict(state.long),
        ghosts=dict(state.ghosts),
        firsts=dict(state.firsts),
        hash="",
    )


@dataclass(frozen=True)
class Known:
    """The program and world, its rules in core, and the defaults of its fluents."""

    instance: Instance
    program: m.Program
    rules: Rules
    defaults: dict[str, Raw]

    # ---- reading ----------------------------------------------------------------------------

    def get(self, state: State, fluent: m.Fluent, args: tuple[Raw, ...]) -> Raw:
        """A stored value; what an object does not have is `none`, and so is all of `none`.

        That holds for attributes and, since ``f(x)`` and ``x.f`` mean the same, for every fluent
        of one object; a truth of several arguments is false over `none` (language.md §4).
        """
        if len(args) == 1 and isinstance(fluent.params[0].type, m.ObjectType):
            kind = state.kind(args[0])
            if kind is None or not self.program.is_subtype(kind, fluent.params[0].type.name):
                return None
        elif None in args:
            return False if isinstance(fluent.type, m.BoolType) else None
        if fluent.fluent_kind == "attribute":
            return state.values.get((fluent.id, args))
        return state.values.get(self.slot(fluent, args), self.defaults[fluent.id])

    def slot(self, fluent: m.Fluent, args: tuple[Raw, ...]) -> Slot:
        """The slot of a value: a symmetric relation keeps one fact for both directions."""
        if fluent.symmetric and args[0] > args[1]:  # type: ignore[operator]
            args = (args[1], args[0])
        return (fluent.id, args)

    def rows(self, state: State, fluent: m.Fluent) -> list[tuple[tuple[Raw, ...], Raw]]:
        """The arguments and values of a fluent that are kept."""
        return [(args, value) for (of, args), value in state.values.items() if of == fluent.id]

    def pointing(self, state: State, fluent: m.Fluent, target: Raw) -> list[int]:
        """The living whose slot of a one-argument fluent points at ``target``, in their order."""
        if target is None:
            return []
        if fluent.fluent_kind == "attribute":  # asked for often; only owners have a value
            key, values = fluent.id, state.values
            found = [one for one in state.kinds if values.get((key, (one,))) == target]
        else:
            found = [one for one in state.kinds if self.get(state, fluent, (one,)) == target]
        if fluent.ordered:
            found.sort(key=lambda one: state.arrivals[fluent.id, (one,)])
        return found

    def leading(self, state: State, key: str, target: Raw) -> list[int]:
        """Return all objects in a container, in pre-order, or all that a relation reaches."""
        found: list[int] = []
        if target is None:
            return found
        if self.program.fluents[key].fluent_kind == "relation":
            self._follow(key, target, state, found)
            return sorted(found)
        self._enter(key, target, state, found)
        return found

    def places(self, state: State, key: str, one: Raw) -> Iterator[Raw]:
        """The container of an object, the container of that, and so on; each once."""
        seen = set[Raw]()
        place = self.get(state, self.program.fluents[key], (one,))
        while place is not None and place not in seen:
            yield place
            seen.add(place)
            place = self.get(state, self.program.fluents[key], (place,))

    def _enter(self, key: str, target: Raw, state: State, found: list[int]) -> None:
        for one in self.pointing(state, self.program.fluents[key], target):
            if one not in found:
                found.append(one)
                self._enter(key, one, state, found)

    def _follow(self, key: str, start: Raw, state: State, found: list[int]) -> None:
        fluent = self.program.fluents[key]
        for (one, other), value in self.rows(state, fluent):
            for left, right in [(one, other), (other, one)] if fluent.symmetric else [(one, other)]:
                if value and left == start and right not in found:
                    found.append(right)  # type: ignore[arg-type]
                    self._follow(key, right, state, found)

    def living(self, state: State, kind: str) -> list[int]:
        """All living objects of a type, in order of number."""
        return [one for one, own in state.kinds.items() if self.program.is_subtype(own, kind)]

    def everything(self, state: State, kind: m.ValueType) -> tuple[Raw, ...]:
        """All values of a type that a parameter can have."""
        if isinstance(kind, m.ObjectType):
            return tuple(self.living(state, kind.name))
        return domain_of(self.instance, kind) or ()

    # ---- writing ----------------------------------------------------------------------------

    def put(self, state: State, fluent: m.Fluent, args: tuple[Raw, ...], value: Raw) -> None:
        """Store a value; `ordered` files the object at the end, even if the value is equal."""
        slot = self.slot(fluent, args)
        state.values[slot] = stored(fluent.type, value)
        if fluent.ordered:
            state.clock += 1
            state.arrivals[slot] = state.clock
        if fluent.fluent_kind != "attribute" and value == self.defaults[fluent.id]:
            del state.values[slot]


def stored(kind: m.ValueType, value: Raw) -> Raw:
    """Convert a value for its slot: `none` to false, in a real a whole number to a float."""
    if isinstance(kind, m.BoolType):
        return value is True
    if isinstance(kind, m.RealType) and value is not None:
        return float(value)
    return value


def implied(kind: m.ValueType) -> Raw:
    """The initial value of a slot that nothing sets (language.md §2)."""
    if m.is_optional(kind):
        return None
    match kind:
        case m.BoolType():
            return False
        case m.EnumType():
            return 0
        case m.NumberType(low=None) | m.NumberType(high=None):
            return 0
        case m.NumberType(low=int() as low, high=int() as high):
            return 0 if low <= 0 <= high else low
        case m.RealType():
            return 0.0
        case m.TextType():
            return ""
        case m.ObjectType() | m.NumberType() | m.NoneType() | m.CollectionType():
            return None
        case _:
            assert_never(kind)


def known_of(instance: Instance) -> Known:
    """The defaults of every fluent of a world."""
    defaults: dict[str, Raw] = {}
    for key, fluent in instance.program.fluents.items():
        defaults[key] = implied(fluent.type)
        if fluent.default is not None and fluent.fluent_kind != "attribute":
            defaults[key] = constant(fluent.default, instance.numbers, instance.params)
    return Known(instance, instance.program, lowered(instance.program), defaults)


# ---- The environment of terms --------------------------------------------------------------------
# The environment of terms, and the comparison of values.


@dataclass(frozen=True)
class Env:
    """The environment of a term: a state, the state at the start of the tick, the actor, the
    locals.

    ``given`` are the fields of objects that this very body creates, ``tables`` the recursive
    derives as far as they are known; nothing may be written to the states while it is in use.
    """

    state: State
    was: State
    me: int | None
    locals: dict[str, Any] = field(default_factory=dict)
    given: dict[Slot, Raw] = field(default_factory=dict)
    made: dict[int, str] = field(default_factory=dict)
    tables: dict[tuple[str, int, int], set[tuple[Raw, ...]]] = field(default_factory=dict)
    pasts: dict[tuple[int, int, int], State] = field(default_factory=dict)

    def bind(self, name: str, value: Any) -> Env:
        """The same with one more local."""
        return replace(self, locals={**self.locals, name: value})

    def only(self, names: dict[str, Any]) -> Env:
        """The same with other locals: the inside of a derive or of a name rule."""
        return replace(self, locals=names)


def decimals_of(term: Term) -> int:
    """The number of decimals of the whole number that represents a term's value."""
    return term.type.decimals if isinstance(term.type, m.NumberType) else 0


def compared(op: str, left: Any, right: Any) -> bool:
    """`none` equals `none`; the other comparisons are false over it."""
    if op == "==":
        return bool(left == right)
    if left is None or right is None:
        return False
    return bool(left < right if op == "<" else left <= right)
