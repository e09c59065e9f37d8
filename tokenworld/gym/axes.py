"""The places of an array: which object or value stands for which number."""

from __future__ import annotations

from collections.abc import Mapping

from tokenworld.engine import State
from tokenworld.engine.births import play_bodies
from tokenworld.ground import Instance, Raw, domain_of
from tokenworld.model import Body, Create, Destroy, ObjectType, Program, ValueType, effects_in
from tokenworld.session import OpenWorld
from tokenworld.session.rollouts import draws_in_setup

__all__ = ["Axes", "Axis", "grows"]


class Axis:
    """The places of one type. Objects of the start keep theirs, also when they are destroyed.

    Objects that came later take the ``spare`` places behind them, the living ones in order; those
    that find none are not seen.
    """

    def __init__(self, of: str | None, first: tuple[Raw, ...], spare: int) -> None:
        self.size = len(first) + spare
        self._of = of
        self._first = {value: place for place, value in enumerate(first)}
        self._known: tuple[tuple[int, ...], Mapping[Raw, int]] | None = None

    def places(self, state: State) -> Mapping[Raw, int]:
        """The place of every value that has one now."""
        if self._of is None:
            return self._first
        living = state.live[self._of]
        if self._known is None or self._known[0] is not living:
            self._known = (living, self._placed(living))
        return self._known[1]

    def _placed(self, living: tuple[int, ...]) -> Mapping[Raw, int]:
        first = self._first
        placed: dict[Raw, int] = {one: first[one] for one in living if one in first}
        later = (one for one in living if one not in first)
        spare = range(len(first), self.size)
        return placed | dict(zip(later, spare, strict=False))


class Axes:
    """The axes of a world, one a type; they are made from its start with seed 0."""

    def __init__(self, world: OpenWorld, spare: int) -> None:
        self._instance: Instance = world.instance
        self._start = world.engine.start(0)
        self._spare = spare
        self._born = _born(world)
        self._made: dict[str, Axis] = {}

    @property
    def comes_and_goes(self) -> bool:
        """Whether there may be other objects than at the start."""
        bodies = _bodies(self._instance.program)
        effects = (effect for body in bodies for effect in effects_in(body))
        return bool(self._born) or any(isinstance(one, Destroy) for one in effects)

    def of(self, value_type: ValueType) -> Axis | None:
        """The axis of a type; ``None`` where its values cannot be listed."""
        if isinstance(value_type, ObjectType):
            return self.of_objects(value_type.name)
        values = domain_of(self._instance, value_type)
        return None if values is None else Axis(None, values, 0)

    def of_objects(self, name: str) -> Axis:
        """The axis of the objects of a type, subtypes included."""
        if name not in self._made:
            grows = any(self._instance.program.is_subtype(one, name) for one in self._born)
            spare = self._spare if grows else 0
            self._made[name] = Axis(name, self._start.live[name], spare)
        return self._made[name]


def _bodies(program: Program) -> list[Body]:
    """What may run in play; what happens at a birth too."""
    return [*play_bodies(program), *(birth.body for birth in program.births)]


def grows(world: OpenWorld) -> bool:
    """Whether there may be objects that the start with seed 0 lacks."""
    return bool(_born(world))


def _born(world: OpenWorld) -> frozenset[str]:
    """The types of objects that may be there beside those of the start with seed 0."""
    bodies = _bodies(world.program)
    if draws_in_setup(world):
        bodies += world.world.setups
        bodies += [one.body for map_ in world.world.layouts for one in map_.legends]
    created = (one for body in bodies for one in effects_in(body) if isinstance(one, Create))
    return frozenset(one.of for one in created)
