"""On which columns what actions, laws and endings make of a state rests.

Places count among the columns that keys are made of: what play never writes is always the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from tokenworld.engine.reading import columns_by_time, columns_read
from tokenworld.engine.searching.key_shape import KeyShape
from tokenworld.engine.sequence import InTurn
from tokenworld.engine.step import Stepper
from tokenworld.ground import written
from tokenworld.model import (
    Action,
    Body,
    Create,
    Destroy,
    Law,
    Term,
    binder_terms,
    body_terms,
    effects_in,
    guard_terms,
)

__all__ = ["Places", "Rests"]

Places = tuple[int, ...]


class Rests:
    """The places of the columns that decide, for one world.

    ``usable``: they do decide everything. Not where a law or an ending rests on more than columns:
    the score, the number of the tick where keys have the whole of it (``timed``: they have some).
    Laws may rest on columns at the start of the tick (``past``) and on what somebody did
    (``deeds``).
    """

    def __init__(self, stepper: Stepper, shape: KeyShape) -> None:
        self._stepper, self._layout = stepper, stepper.layout
        self._program = stepper.instance.program
        self._clock = not shape.clock.whole
        self.timed = bool(shape.clock)
        self._place = {index: place for place, index in enumerate(shape.kept)}

    @cached_property
    def usable(self) -> bool:
        return self._laws is not None and self._endings is not None and self._checks is not None

    @cached_property
    def requires(self) -> dict[str, Places]:
        """What it rests on which commands of each action are applicable, as far as that is known,
        and which of them take no time."""
        found = {}
        for name, action in self._program.actions.items():
            takes = () if action.takes is None else (action.takes,)
            places = self._read((*guard_terms(action), *binder_terms(action.params), *takes))
            if places is not None:
                found[name] = places
        return found

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
        asks = self.requires.get(action.name)
        read = self._read(body_terms(action.body))
        if asks is None or read is None:
            return None
        return _together(asks, read, self._written(action.body), checks)

    @cached_property
    def watches(self) -> Places | None:
        """What it rests on, at the start of a tick and at its end, whether a watch speaks; ``None``
        where that is not known."""
        watches = self._program.watches.values()
        return self._read(term for one in watches for term in (*binder_terms(one.params), one.when))

    @cached_property
    def phases(self) -> Places:
        """What the laws rest on, what they may write and what is checked after them."""
        return () if self._laws is None else self._laws[0]

    @cached_property
    def past(self) -> Places:
        """What the laws rest on as it was at the start of the tick."""
        return () if self._laws is None else self._laws[1]

    @cached_property
    def deeds(self) -> bool:
        """Whether the laws rest on what somebody did in the tick."""
        return self._laws is not None and self._laws[2]

    @cached_property
    def endings(self) -> Places:
        """What endings and awards rest on."""
        return self._endings or ()

    @cached_property
    def _laws(self) -> tuple[Places, Places, bool] | None:
        laws = self._program.laws.values()
        terms = [term for law in laws for term in _law_terms(law)]
        read = columns_by_time(self._layout, terms, clock=self._clock)
        if read is None:
            return None
        touched = [self._written(law.body) for law in laws]
        orders = [self._places(one.places) for one in self._stepper.phases
                  if isinstance(one, InTurn)]  # fmt: skip
        now = _together(self._places(read.now), *touched, *orders, self._checks or ())
        return now, self._places(read.past), read.deeds

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
        columns = columns_read(self._layout, every, clock=self._clock)
        return None if columns is None else self._places(columns)

    def _places(self, columns: Iterable[int]) -> Places:
        return tuple(sorted(self._place[one] for one in columns if one in self._place))

    def _written(self, body: Body) -> Places:
        by_id = self._layout.by_id
        return self._places(by_id[one].index for one in written(self._program.fluents, body))


def _law_terms(law: Law) -> Iterator[Term]:
    yield from () if law.when is None else (law.when,)
    yield from binder_terms(law.params)
    yield from body_terms(law.body)


def _together(*places: Places) -> Places:
    return tuple(sorted(frozenset[int]().union(*places)))
