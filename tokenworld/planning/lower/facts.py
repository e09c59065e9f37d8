"""Input of the encoding: one instance, the values of its state, and the fluents that rules change.

`Facts` answers questions about slots that do not depend on the rules: which exist, their values in
the start state, the values that their types allow, their names in a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product

from tokenworld import model as m
from tokenworld.core import Rules, lowered
from tokenworld.core.nodes import Binder, Create
from tokenworld.core.walk import statements_in
from tokenworld.ground import (
    MANY,
    Command,
    GroundObject,
    Instance,
    Pattern,
    Raw,
    Simulator,
    StateT,
    constant,
    count_bindings,
    domain_of,
    implicit_default,
    parameter_domains,
    show_value,
)
from tokenworld.planning.lower.algebra import (
    ALIVE,
    AWARD,
    CLOCK,
    COIN,
    DID,
    LONG,
    RING,
    Refused,
    Slot,
    ordered_values,
)

Running = tuple[Command, int, int]
Read = Callable[[str, Sequence[Raw]], Raw]
Stored = Callable[[str], Iterable[tuple[tuple[Raw, ...], Raw]]]
_MOST_ROWS = 1_000_000


class Facts:
    """An instance in its start state.

    ``read(fluent, args)`` gives stored values, ``tick`` the number of ticks committed so far,
    ``running`` the long action in progress with the ticks done and needed. ``others`` read further
    start states that differ in secrets only: results then hold for all of them. ``stored`` lists
    the slots of a fluent that hold a value, if the caller knows them. ``awarded`` are the numbers
    of the awards that were given. ``unborn`` are the numbers of the objects of the instance that
    play may create, with their types (`enlarged`).
    """

    def __init__(
        self,
        instance: Instance,
        read: Read,
        tick: int = 0,
        running: Running | None = None,
        others: Sequence[Read] = (),
        stored: Stored | None = None,
        awarded: Collection[int] = (),
        unborn: Mapping[int, str] | None = None,
    ) -> None:
        self.instance, self.program = instance, instance.program
        self.rules = lowered(self.program)
        self.running, self._stored = running, stored
        self.unborn = {} if unborn is None else unborn
        self.reach: tuple[object] | None = None
        """The result of the grounding, once it was asked for."""
        self._read, self._tick, self._others = read, tick, others
        self._awarded = awarded
        self._values: dict[Slot, Raw] = {}
        self._starts: dict[Slot, frozenset[Raw]] = {}
        self._members = {name: frozenset(ids) for name, ids in instance.members.items()}
        self._rows: dict[str, tuple[tuple[Raw, ...], ...] | None] = {}
        self._stages: dict[tuple[Command, int], int] = {}

    # ---- slots ----------------------------------------------------------------------------

    def initial(self, slot: Slot) -> Raw:
        """The value of a slot in the start state."""
        if slot not in self._values:
            self._values[slot] = self._initial(slot)
        return self._values[slot]

    def starts(self, slot: Slot) -> frozenset[Raw]:
        """All that a slot may hold at the start: one value, unless it is secret."""
        if slot not in self._starts:
            name, args = slot
            others = self._others if name in self.program.fluents else ()
            more = (read(name, args) for read in others)
            self._starts[slot] = frozenset((self.initial(slot), *more))
        return self._starts[slot]

    def _initial(self, slot: Slot) -> Raw:
        name, args = slot
        if name == RING:
            modulus = args[0]
            return self._tick % modulus if isinstance(modulus, int) else None
        if name == CLOCK:
            last = args[0]
            return min(self._tick, last) if isinstance(last, int) else None
        if name == LONG:
            return None if self.running is None else self.stage(*self.running[:2])
        if name == AWARD:
            return args[0] in self._awarded
        if name == ALIVE:
            return args[0] not in self.unborn
        if name in (DID, COIN):
            return {DID: False, COIN: 0}[name]
        if self.is_unborn(slot):
            return self.default(self.program.fluents[name])
        return self._read(name, args)

    def is_unborn(self, slot: Slot) -> bool:
        """Return whether a slot belongs to an object that play may create."""
        return bool(self.unborn) and any(one in self.unborn for one in self.objects_in(slot))

    def is_birth(self, slot: Slot) -> bool:
        """Return whether a write to a slot creates an object."""
        return slot[0] == ALIVE and slot[1][0] in self.unborn

    def unborn_of(self, of: str) -> list[int]:
        """The objects that a ``create`` of a type may make, the first one that does not exist."""
        return [number for number, kind in self.unborn.items() if kind == of]

    def stage(self, command: Command, done: int) -> int:
        """The number that represents ``command`` having run for ``done`` ticks."""
        return self._stages.setdefault((command, done), len(self._stages))

    @property
    def stage_count(self) -> int:
        """The number of stages of long actions."""
        return len(self._stages)

    def stages_of(self, action: str) -> frozenset[int]:
        """The numbers of all stages of an action seen so far."""
        return frozenset(
            number for (command, _), number in self._stages.items() if command.action == action
        )

    def fits(self, value: Raw, value_type: m.ValueType) -> bool:
        """Return whether a value is one of the type; only object types leave any out."""
        if isinstance(value_type, m.ObjectType) and value is not None:
            return value in self._members[value_type.name]
        return True

    def has_slot(self, fluent: m.Fluent, args: Sequence[Raw]) -> bool:
        """Return whether the fluent has a slot for these arguments."""
        for arg, param in zip(args, fluent.params, strict=True):
            if arg is None or not self.fits(arg, param.type):
                return False
        return True

    def missing(self, fluent: m.Fluent, args: Sequence[Raw]) -> Raw:
        """The value of a read where there is no slot: `none` for an attribute, else the default."""
        one_object = len(fluent.params) == 1 and isinstance(fluent.params[0].type, m.ObjectType)
        if one_object or (None in args and not isinstance(fluent.type, m.BoolType)):
            return None
        return False if None in args else self.default(fluent)

    def default(self, fluent: m.Fluent) -> Raw:
        """Return the value of a slot that nothing sets (language.md §2), or of a destroyed
        object."""
        given = isinstance(fluent.default, (m.BoolLiteral, m.NumberLiteral))
        if fluent.default is None or (fluent.fluent_kind == "attribute" and not given):
            return implicit_default(fluent.type)
        return constant(fluent.default, self.instance.numbers, self.instance.params)

    def slot(self, fluent: m.Fluent, args: tuple[Raw, ...]) -> Slot:
        """The slot of a fluent; a symmetric relation has one for both directions."""
        if fluent.symmetric:
            left, right = sorted(arg for arg in args if isinstance(arg, int))
            args = (left, right)
        return fluent.id, args

    def objects_in(self, slot: Slot) -> tuple[int, ...]:
        """The objects among the arguments of a stored fluent's slot."""
        fluent = self.program.fluents[slot[0]]
        return tuple(
            arg
            for arg, param in zip(slot[1], fluent.params, strict=True)
            if isinstance(param.type, m.ObjectType) and isinstance(arg, int)
        )

    def pointing(self, number: int) -> Iterator[m.Fluent]:
        """The stored fluents whose value may be this object."""
        for fluent in self.program.fluents.values():
            kind = fluent.type
            stored = fluent.fluent_kind != "table" and isinstance(kind, m.ObjectType)
            if stored and isinstance(kind, m.ObjectType) and self.is_a(number, kind.name):
                yield fluent

    def is_a(self, value: Raw, type_name: str) -> bool:
        """Return whether an object is of a type."""
        return value in self._members[type_name]

    # ---- what never changes ---------------------------------------------------------------

    @cached_property
    def changing(self) -> frozenset[str]:
        """The fluents that play may change, or that start states differ in."""
        secret = (one.id for one in self.program.fluents.values() if one.secret)
        return self.rules.changing | frozenset(secret if self._others else ())

    def rows(self, pattern: Pattern) -> Sequence[tuple[Raw, ...]] | None:
        """The rows that may match a pattern; ``None`` where finding them would take too long."""
        fluent = self.program.fluents[pattern.fluent]
        if pattern.valued:
            if any(value is None for _, value in pattern.known):
                return None
            of = fluent.params[0].type
            objects = self.objects(of.name) if isinstance(of, m.ObjectType) else ()
            return [(one, self._read(fluent.id, (one,))) for one in objects]
        if fluent.id not in self._rows:
            domains = self.arguments(fluent)
            few = count_bindings(domains) <= _MOST_ROWS
            held = (args for args in product(*domains) if self._read(fluent.id, args) is True)
            self._rows[fluent.id] = tuple(held) if few else None
        return self._rows[fluent.id]

    def lists(self, fluent: m.Fluent) -> bool:
        """Return whether `held` need not go through all slots of a fluent."""
        if self._stored is None or self._others:
            return False
        whole = not fluent.params or (
            len(fluent.params) == 1 and isinstance(fluent.params[0].type, m.ObjectType)
        )
        return whole or (isinstance(fluent.type, m.BoolType) and not self.default(fluent))

    def held(self, fluent: m.Fluent) -> Iterator[tuple[tuple[Raw, ...], Raw]]:
        """The slots of a fluent with each value that they may hold at the start; of a fact those
        that may hold, and of a symmetric one a single direction."""
        fact = isinstance(fluent.type, m.BoolType)
        if self._stored is not None and self.lists(fluent):
            every = self._stored(fluent.id)
            yield from (one for one in every if one[1] is True) if fact else every
            return
        for args in product(*self.arguments(fluent)):
            for value in ordered_values(self.starts((fluent.id, args))):
                if value is True or not fact:
                    yield args, value

    # ---- values ---------------------------------------------------------------------------

    def domain(self, value_type: m.ValueType) -> tuple[Raw, ...] | None:
        """All values of a type, ``None`` if there are infinitely many."""
        if isinstance(value_type, m.NumberType) and _wide(value_type):
            return None
        return domain_of(self.instance, value_type)

    def arguments(self, fluent: m.Fluent) -> list[tuple[Raw, ...]]:
        """The candidates of each argument of a fluent."""
        return [self.domain(param.type) or () for param in fluent.params]

    def choices(self, params: tuple[Binder, ...]) -> list[Sequence[Raw]]:
        """The candidates of each parameter of a rule; refused where there are too many."""
        domains = parameter_domains(self.instance, params)
        number = count_bindings(domains)
        if number > MANY:
            reason = f"it has {number:,} bindings, more than {MANY:,}"
            raise Refused("a rule with so many bindings", params[0].span, reason)
        return domains

    def objects(self, type_name: str) -> tuple[int, ...]:
        """The objects of a type in declaration order."""
        return self.instance.members[type_name]

    def show(self, value_type: m.ValueType, value: Raw) -> bool | int | float | str | None:
        """A value as plans and logs show it."""
        if isinstance(value_type, m.ObjectType) and isinstance(value, int):  # nearly all: quickly
            return self.instance.names[value]
        return show_value(self.program, self.instance.names, value_type, value)

    def shown_args(self, params: tuple[Binder, ...], args: Sequence[Raw]) -> tuple[Raw, ...]:
        """The arguments of a rule as plans and logs show them."""
        return tuple(self.show(param.type, arg) for param, arg in zip(params, args, strict=True))

    def slot_name(self, slot: Slot) -> str:
        """A readable name: ``at(ruby)``, ``tick mod 12``."""
        name, args = slot
        if name in self.program.fluents:
            fluent = self.program.fluents[name]
            shown = (
                self.show(param.type, arg) for param, arg in zip(fluent.params, args, strict=True)
            )
            return f"{fluent.name}({', '.join(str(one) for one in shown)})"
        if name == ALIVE:
            return f"exists({self.show(m.ObjectType(m.ROOT), args[0])})"
        if name == RING:
            return f"tick mod {args[0]}"
        if name == CLOCK:
            return f"tick up to {args[0]}"
        return " ".join((name.strip(), *(str(arg) for arg in args)))


def _wide(kind: m.NumberType) -> bool:
    """A range with more values than a finite encoding can enumerate in reasonable size."""
    return kind.low is not None and kind.high is not None and kind.high - kind.low > MANY


def enlarged(instance: Instance, kinds: Sequence[str]) -> tuple[Instance, dict[int, str]]:
    """The instance with one more object for each of the types, and the numbers of these."""
    program, world = instance.program, instance.world
    unborn = dict(enumerate(kinds, start=len(instance.objects)))
    objects, members = list(instance.objects), dict(instance.members)
    for number, of in unborn.items():
        decl = m.ObjectDecl(f"new {of} {number}", of, None, (), (), world.name, world.span)
        objects.append(GroundObject(number, decl))
        for kind in dict.fromkeys((*program.types[of].ancestors, of, m.ROOT)):
            members[kind] = (*members[kind], number)
    return replace(instance, objects=tuple(objects), members=members), unborn


def created_in(rules: Rules) -> Iterator[Create]:
    """The places where play makes objects."""
    bodies = [law.body for law in rules.laws.values()]
    bodies += [(*one.body, *one.cancelled) for one in rules.actions.values()]
    for body in bodies:
        yield from (one for one in statements_in(body) if isinstance(one, Create))


def facts_of(
    simulator: Simulator[StateT],
    state: StateT,
    instance: Instance | None = None,
    others: Sequence[StateT] = (),
    *,
    spares: bool = False,
) -> Facts:
    """The facts of a state; ``others`` are start states that differ from it in secrets only.

    ``instance`` has other rules for the same objects (by default it is that of the state).
    ``spares``: the objects of the world's `spare` lines are there too, unborn.
    """

    def reader(one: StateT) -> Read:
        return lambda fluent, args: simulator.read(one, fluent, args)

    instance = simulator.instance_at(state) if instance is None else instance
    unborn: dict[int, str] = {}
    if spares and any(created_in(lowered(instance.program))):
        lines = instance.world.spares
        instance, unborn = enlarged(instance, [one.of for one in lines for _ in range(one.count)])
    return Facts(
        instance,
        reader(state),
        simulator.tick(state),
        simulator.running(state),
        [reader(one) for one in others],
        lambda fluent: simulator.stored(state, fluent),
        () if others else simulator.awarded(state),  # given again where the start is one of several
        unborn,
    )
