"""The facts to look out for on the way to a goal, and how many of them a state has.

What play is yet to create has no number: two *newborns* of each type stand for all of them (two, as
rules may ask for one and another), and a fact about one holds in a state if it holds of any object
that was created since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from tokenworld.ground import GroundObject, Instance, Raw, Simulator, StateT
from tokenworld.model import ROOT, Body, Create, Fluent, ObjectDecl, ObjectType, effects_in
from tokenworld.planning.lower.algebra import ALIVE, Slot
from tokenworld.planning.lower.diagram import Value
from tokenworld.planning.width.costs import Fact

_NEWBORNS = 2

__all__ = ["Relevant", "objects_among", "with_newborns"]


@dataclass(frozen=True, slots=True)
class Relevant:
    """Facts to look out for. ``newborn`` are the numbers that stand for objects yet to be created,
    with their types; ``born`` are the objects that lived before."""

    facts: tuple[Fact, ...]
    newborn: Mapping[int, str]
    born: frozenset[int]

    def held(self, simulator: Simulator[StateT], state: StateT) -> int:
        """The facts that a state has, as bits."""
        members = simulator.instance_at(state).members if self.newborn else {}
        new = {
            number: [one for one in members[of] if one not in self.born]
            for number, of in self.newborn.items()
        }
        found = 0
        for place, (slot, value) in enumerate(self.facts):
            if self._holds(simulator, state, slot, value, new):
                found |= 1 << place
        return found

    def _holds(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        slot: Slot,
        value: Value,
        new: Mapping[int, Sequence[int]],
    ) -> bool:
        name, args = slot
        if name == ALIVE:
            (number,) = args
            if isinstance(number, int) and number in new:
                return bool(new[number])
            return (number in simulator.instance_at(state).members[ROOT]) is value
        fluent = simulator.instance.program.fluents[name]
        stands = isinstance(fluent.type, ObjectType)
        wanted = new[value] if stands and isinstance(value, int) and value in new else (value,)
        kinds = [isinstance(one.type, ObjectType) for one in fluent.params]
        choices = [
            new[arg] if kind and isinstance(arg, int) and arg in new else (arg,)
            for arg, kind in zip(args, kinds, strict=True)
        ]
        return any(simulator.read(state, name, one) in wanted for one in product(*choices))


def with_newborns(instance: Instance) -> tuple[Instance, dict[int, str]]:
    """The instance with two more objects of each type that play creates, and their numbers."""
    program, world = instance.program, instance.world
    made = [of for rule in program.laws.values() for of in _made(rule.body)]
    made += [of for rule in program.actions.values() for of in _made(rule.body)]
    if not made:
        return instance, {}
    twice = [of for of in dict.fromkeys(made) for _ in range(_NEWBORNS)]
    newborn = dict(enumerate(twice, start=len(instance.objects)))
    objects, members = list(instance.objects), dict(instance.members)
    for number, of in newborn.items():
        decl = ObjectDecl(f"new {of} {number}", of, None, (), (), world.name, world.span)
        objects.append(GroundObject(number, decl))
        for kind in dict.fromkeys((*program.types[of].ancestors, of, ROOT)):
            members[kind] = (*members[kind], number)
    return replace(instance, objects=tuple(objects), members=members), newborn


def _made(body: Body) -> Iterator[str]:
    yield from (effect.of for effect in effects_in(body) if isinstance(effect, Create))


def objects_among(fluent: Fluent, args: Sequence[Raw]) -> Iterator[int]:
    """The objects among the arguments of a slot."""
    for arg, param in zip(args, fluent.params, strict=True):
        if isinstance(param.type, ObjectType) and isinstance(arg, int):
            yield arg
