"""One world of a program with its objects numbered, and the limit of their size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from math import prod
from typing import Protocol, assert_never, overload

from tokenworld import model as m
from tokenworld.diagnostics import Diagnostic, Failure, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground.values import Raw


@frozen
class GroundObject:
    """An object with its dense number ``id`` (language.md §4: ``id(x)``)."""

    id: int
    decl: m.ObjectDecl

    @property
    def name(self) -> str:
        return self.decl.name

    @property
    def of(self) -> str:
        return self.decl.of


class Objects(Sequence[GroundObject]):
    """The objects of declarations, by number. They are made on first use: most worlds
    with many objects never look at most of them."""

    __slots__ = ("decls",)

    def __init__(self, decls: tuple[m.ObjectDecl, ...]) -> None:
        self.decls = decls

    @overload
    def __getitem__(self, index: int) -> GroundObject: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[GroundObject, ...]: ...
    def __getitem__(self, index: int | slice) -> GroundObject | tuple[GroundObject, ...]:
        if isinstance(index, slice):
            return tuple(map(self.__getitem__, range(len(self.decls))[index]))
        number = range(len(self.decls))[index]
        return GroundObject(number, self.decls[number])

    def __len__(self) -> int:
        return len(self.decls)

    def __iter__(self) -> Iterator[GroundObject]:
        return map(GroundObject, range(len(self.decls)), self.decls)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Objects):
            return self.decls == other.decls
        return isinstance(other, tuple) and tuple(self) == other

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Instance:
    """A program, one of its worlds, the numbered objects and the values of the params.

    ``numbers`` maps names to object numbers, ``members`` each type to the numbers of its objects
    (subtypes included) in declaration order. ``params`` holds constant terms: overrides applied,
    evaluated to raw values. ``actors`` are the objects that take turns, in their order (none
    without `actor`, or where the setup creates them: a state knows).
    """

    program: m.Program
    world: m.World
    objects: Sequence[GroundObject]
    numbers: Mapping[str, int]
    members: Mapping[str, tuple[int, ...]]
    params: Mapping[str, Raw]
    actors: tuple[int, ...]

    @property
    def me(self) -> int | None:
        """The first of the actors: the value of `me` if nobody acts."""
        return self.actors[0] if self.actors else None

    def declared(self, number: int, name: str) -> m.ObjectDecl | None:
        """The declaration of an object; ``None`` for one that was created, with any number."""
        if number >= len(self.objects) or self.objects[number].name != name:
            return None
        return self.objects[number].decl

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Object names by number."""
        return tuple([decl.name for decl in self.decls])

    @property
    def decls(self) -> Sequence[m.ObjectDecl]:
        """The declarations of the objects, by number."""
        if isinstance(self.objects, Objects):
            return self.objects.decls
        return tuple(one.decl for one in self.objects)


def _declared(program: m.Program, world: m.World) -> tuple[m.ObjectDecl, ...]:
    """The objects of a world in the order of their numbers."""
    top = [decl for decl in program.objects.values() if decl.world is None]
    return (*top, *(decl for decl in program.objects.values() if decl.world == world.name))


def _members(program: m.Program, decls: tuple[m.ObjectDecl, ...]) -> dict[str, tuple[int, ...]]:
    exact = defaultdict[str, list[int]](list)
    for number, decl in enumerate(decls):
        exact[decl.of].append(number)
    members: dict[str, list[list[int]]] = {name: [] for name in (m.ROOT, *program.types)}
    for of, ids in exact.items():
        for ancestor in dict.fromkeys((*program.types[of].ancestors, m.ROOT)):
            members[ancestor].append(ids)
    return {name: tuple(sorted(chain(*lists))) for name, lists in members.items()}


def instantiate(program: m.Program, world: m.World, params: Mapping[str, Raw]) -> Instance:
    """Number the objects of ``world``; ``params`` are the final raw values of all params."""
    program = rules_of(program, world)
    decls = _declared(program, world)
    members = _members(program, decls)
    actors = members[program.actor] if program.actor is not None else ()
    numbers = {decl.name: number for number, decl in enumerate(decls)}
    turns = tuple(numbers[name] for name in world.turns if name in numbers) or actors[:1]
    return Instance(program, world, Objects(decls), numbers, members, dict(params), turns)


_MOST_VALUES = 10_000_000


def domain_of(instance: Instance, value_type: m.ValueType) -> tuple[Raw, ...] | None:
    """All raw values of a type in declaration order (``none`` last).

    ``None`` if there are infinitely many, or more numbers than can be listed.
    """
    match value_type:
        case m.BoolType():
            return (False, True)
        case m.EnumType(name=name, optional=optional):
            values: tuple[Raw, ...] = tuple(range(len(instance.program.enums[name].members)))
        case m.ObjectType(name=name, optional=optional):
            values = instance.members[name]
        case m.NumberType(low=int() as low, high=int() as high) if high - low > _MOST_VALUES:
            return None
        case m.NumberType(low=int() as low, high=int() as high, optional=optional):
            values = tuple(range(low, high + 1))
        case m.NumberType() | m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
            return None
        case _:
            assert_never(value_type)
    return (*values, None) if optional else values


MANY = 100_000
"""More bindings of one rule than this are not listed; each can still be given by name."""


class Ranged(Protocol):
    """A binder of the checked model or of core."""

    @property
    def domain(self) -> object: ...


def parameter_domains(instance: Instance, params: Iterable[Ranged]) -> list[Sequence[Raw]]:
    """The candidates of each parameter of a rule, in declaration order; numbers as a `range`."""

    def one(binder: Ranged) -> Sequence[Raw]:
        match binder.domain:
            case m.TypeRange(of=m.NumberType(low=int() as low, high=int() as high, optional=False)):
                return range(low, high + 1)
            case m.TypeRange(of=of):
                return domain_of(instance, of) or ()
            case m.IntervalRange(low=low, high=high):
                return range(low, high + 1)
            case _:
                raise TypeError("a rule's parameter ranges over a type or an interval")

    return [one(binder) for binder in params]


def count_bindings(domains: Iterable[Sequence[Raw]]) -> int:
    """The number of bindings: the product of the sizes."""
    return prod(_size(domain) for domain in domains)


def _size(domain: Sequence[Raw]) -> int:
    """`len` of a range fails beyond the machine's word."""
    if isinstance(domain, range):
        return max(0, domain.stop - domain.start)
    return len(domain)


def bindings(instance: Instance, params: Iterable[Ranged]) -> Iterator[tuple[Raw, ...]]:
    """All bindings of a rule's parameters, in order."""
    return product(*parameter_domains(instance, params))


def slots(instance: Instance, fluent: m.Fluent) -> Iterator[tuple[Raw, ...]]:
    """The argument tuples of a fluent: one stored slot each, in order."""
    domains = (domain_of(instance, param.type) or () for param in fluent.params)
    return product(*domains)


# ---- size ----------------------------------------------------------------------------------------
# Worlds that are too large to be grounded: found by their sizes, before anything is made.


_MOST = 100_000_000
"""Bindings of a law are all looked at in every tick; so many take minutes."""


def refuse_huge(instance: Instance, *, slots: bool = False) -> None:
    """Raise `Failure` (TW0813) for a world too large to finish one tick.

    With ``slots`` also for one whose facts are too many to be written down one by one.
    """
    program = instance.program
    for law in program.laws.values():
        number = count_bindings(parameter_domains(instance, law.params))
        if number > _MOST:
            raise _huge(f"The law `{law.name}` has {number:,} bindings", law.span, "each tick")
    for fluent in program.fluents.values() if slots else ():
        number = count_bindings(domain_of(instance, one.type) or () for one in fluent.params)
        if number > _MOST:
            raise _huge(f"`{fluent.name}` has {number:,} slots", fluent.span, "the text")


def _huge(what: str, place: Span, whose: str) -> Failure:
    message = f"{what}; {whose} would go through all of them."
    hint = f"Let it have fewer parameters, or smaller ones: {_MOST:,} are the limit."
    return Failure(Diagnostic("TW0813", message, place, "too many to go through", hint=hint))


# ---- The rules of one world ---------------------------------------------------------------------
# The rules of one world: without the monitors of conditions that only other worlds ask about.


def rules_of(program: m.Program, world: m.World) -> m.Program:
    """The program with the monitors (`check.over_time`) that a world needs, and no other worlds.

    A world needs those of its endings, of requires and of costs. The same program is returned
    where these are all, or none.
    """
    monitors = frozenset(name for name, one in program.fluents.items() if one.monitor)
    dropped = monitors - _needed(program, world) if monitors else monitors
    if not dropped:
        return program
    return replace(
        program,
        worlds={world.name: world},
        fluents={name: one for name, one in program.fluents.items() if name not in dropped},
        derives={
            name: one
            for name, one in program.derives.items()
            if m.fluents_read((one.value,), program.derives).isdisjoint(dropped)
        },
        actions={
            name: replace(one, notes=tuple(_others(one.notes, dropped)))
            for name, one in program.actions.items()
        },
        laws={name: one for name, one in program.laws.items() if not _sets(one.body) & dropped},
    )


def _needed(program: m.Program, world: m.World) -> frozenset[str]:
    """The fluents that the conditions of a world read, directly or through the rules that note."""
    asked = [line.condition for line in world.endings]
    for action in program.actions.values():
        asked += (*m.guard_terms(action), *(() if action.cost is None else (action.cost,)))
    notes: list[tuple[m.Term | None, m.Body]] = [
        (None, (one,)) for action in program.actions.values() for one in action.notes
    ]
    notes += ((one.when, one.body) for one in program.laws.values() if one.added)
    found = m.fluents_read(asked, program.derives)
    while True:
        terms = [
            term
            for when, body in notes
            if _sets(body) & found
            for term in (*m.body_terms(body), *(() if when is None else (when,)))
        ]
        more = found | m.fluents_read(terms, program.derives)
        if more == found:
            return found
        found = more


def _others(notes: Iterable[m.Effect], dropped: frozenset[str]) -> Iterator[m.Effect]:
    return (one for one in notes if not _sets((one,)) & dropped)


def _sets(body: m.Body) -> frozenset[str]:
    """The fluents that a body changes."""
    return frozenset(
        one.target.fluent for effect in m.effects_in(body) for one in m.slot_writes(effect)
    )
