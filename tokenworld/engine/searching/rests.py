"""On which columns what actions, laws and endings make of a state rests.

Places count among the columns that keys are made of: what play never writes is always the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from tokenworld.engine.reading import columns_read
from tokenworld.engine.searching.key_shape import KeyShape
from tokenworld.engine.sequence import InTurn
from tokenworld.engine.step import Stepper
from tokenworld.ground import written
from tokenworld.model import (
    Action,
    Binder,
    Body,
    CollectionRange,
    Create,
    Destroy,
    Law,
    Term,
    body_terms,
    effects_in,
    guard_terms,
)

__all__ = ["Rests"]

Places = tuple[int, ...]


class Rests:
    """The places of the columns that decide, for one world.

    ``usable``: they do decide everything. Not where a law or an ending rests on more than columns:
    the score, what somebody did, the state at the start of the tick, the number of the tick but
    for its remainders (``timed``).
    """

    def __init__(self, stepper: Stepper, shape: KeyShape) -> None:
        self._stepper, self._layout = stepper, stepper.layout
        self._program = stepper.instance.program
        self._rings = shape.rings_only
        self.timed = bool(shape.ticks)
        self._place = {index: place for place, index in enumerate(shape.kept)}

    @cached_property
    def usable(self) -> bool:
        return self._laws is not None and self._endings is not None and self._checks is not None

    @cached_property
    def actions(self) -> dict[str, Places]:
        """What each action rests on, as far as that is known; what it may write is among it."""
        found = {}
        for name, action in self._program.actions.items():
            places = self._action(action)
            if places is not None:
                found[name] = places
        return found

    def _action(self, action: Action) -> Places | None:
        peopled = any(isinstance(one, (Create, Destroy)) for one in effects_in(action.body))
        if peopled or action.takes is not None or action.until is not None:
            return None
        checks = self._checks or ()
        read = self._read((*guard_terms(action), *body_terms(action.body)))
        return None if read is None else _together(read, self._written(action.body), checks)

    @cached_property
    def phases(self) -> Places:
        """What the laws rest on, what they may write and what is checked after them."""
        return self._laws or ()

    @cached_property
    def endings(self) -> Places:
        """What endings and awards rest on."""
        return self._endings or ()

    @cached_property
    def _laws(self) -> Places | None:
        laws = self._program.laws.values()
        read = self._read([term for law in laws for term in _law_terms(law)])
        if read is None:
            return None
        touched = [self._written(law.body) for law in laws]
        orders = [self._places(one.places) for one in self._stepper.phases
                  if isinstance(one, InTurn)]  # fmt: skip
        return _together(read, *touched, *orders, self._checks or ())

    @cached_property
    def _checks(self) -> Places | None:
        """What invariants and conserved sums rest on."""
        program = self._program
        return self._read([
            *(one.condition for one in program.invariants.values()),
            *(one.value for one in program.conserves.values()),
        ])  # fmt: skip

    @cached_property
    def _endings(self) -> Places | None:
        world = self._stepper.instance.world
        terms = [line.condition for line in world.endings] + [one.when for one in world.awards]
        return self._read(terms)

    # ---- terms --------------------------------------------------------------------------------

    def _read(self, terms: Iterable[Term]) -> Places | None:
        """The places that terms read; ``None`` where they rest on more."""
        every = list(terms)
        columns = columns_read(self._layout, every, clock=self._rings)
        return None if columns is None else self._places(columns)

    def _places(self, columns: Iterable[int]) -> Places:
        return tuple(sorted(self._place[one] for one in columns if one in self._place))

    def _written(self, body: Body) -> Places:
        by_id = self._layout.by_id
        return self._places(by_id[one].index for one in written(self._program.fluents, body))


def _law_terms(law: Law) -> Iterator[Term]:
    yield from () if law.when is None else (law.when,)
    yield from _ranges(law.params)
    yield from body_terms(law.body)


def _ranges(params: tuple[Binder, ...]) -> Iterator[Term]:
    for one in params:
        if isinstance(one.domain, CollectionRange):
            yield one.domain.collection


def _together(*places: Places) -> Places:
    return tuple(sorted(frozenset[int]().union(*places)))
