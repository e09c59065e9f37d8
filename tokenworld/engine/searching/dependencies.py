"""On which fluents it rests what actions, laws and endings make of a state.

Places count among the fluents that a search numbers (see `numbering`): what play never changes is
always the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from tokenworld.core.nodes import Body, DeriveCall, Hole, Term, Text
from tokenworld.core.rules import Action, Footprint
from tokenworld.core.walk import binder_terms, subterms, terms_in
from tokenworld.engine.rows.laws import Order
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.engine.searching.key_shape import KeyShape
from tokenworld.engine.searching.numbering import Numbering

Places = tuple[int, ...]
_NO_SLOTS = frozenset({"busy", "id"})
"""What rules may ask that is no slot: while no long action is under way and nobody born since the
search began has died, who lives decides it."""


class Dependencies:
    """The places of the fluents that decide, for one world.

    ``usable``: they do decide everything. Not where a law or an ending rests on more than fluents:
    the score, a text, the number of the tick where keys have the whole of it (``timed``: they have
    some). Laws may rest on fluents at the start of the tick (``past``) and on what somebody did
    (``deeds``).
    """

    def __init__(self, stepper: RowStepper, shape: KeyShape, numbering: Numbering) -> None:
        self._stepper, self._numbering = stepper, numbering
        self._rules = stepper.rules
        self._known = _NO_SLOTS if shape.clock.whole else _NO_SLOTS | {"tick"}
        self.timed = bool(shape.clock)

    @cached_property
    def usable(self) -> bool:
        return None not in (self._laws, self._endings, self._checks)

    @cached_property
    def requires(self) -> dict[str, Places]:
        """What it rests on which commands of each action are applicable, as far as that is known,
        and which of them take no time."""
        found = {name: self._requires(one) for name, one in self._rules.actions.items()}
        return {name: places for name, places in found.items() if places is not None}

    def _requires(self, action: Action) -> Places | None:
        takes = () if action.takes is None else (action.takes,)
        return self._now((*takes, *binder_terms(action.params)), (action.guards,))

    @cached_property
    def actions(self) -> dict[str, Places]:
        """What each action rests on, as far as that is known; what it may write is among it."""
        found = {name: self._action(one) for name, one in self._rules.actions.items()}
        return {name: places for name, places in found.items() if places is not None}

    def _action(self, action: Action) -> Places | None:
        peopled = bool(action.footprint.creates) or action.footprint.destroys
        if peopled or action.takes is not None or action.until is not None:
            return None
        found = self._now(binder_terms(action.params), (action.guards, action.body))
        return None if found is None else _together(found, self._checks or ())

    @cached_property
    def phases(self) -> Places:
        """What the laws rest on, what they may write and what is checked after them."""
        if self._laws is None:
            return ()
        return _together(self._places(self._laws.reads | self._laws.writes), self._checks or ())

    @cached_property
    def past(self) -> Places:
        """What the laws rest on as it was at the start of the tick."""
        return () if self._laws is None else self._places(self._laws.was)

    @cached_property
    def deeds(self) -> bool:
        """Whether the laws rest on what somebody did in the tick."""
        return self._laws is not None and "did" in self._laws.asks

    @cached_property
    def endings(self) -> Places:
        """What endings and awards rest on."""
        return self._endings or ()

    @cached_property
    def watches(self) -> Places | None:
        """What it rests on, at the start of a tick and at its end, whether a watch speaks; ``None``
        where that is not known."""
        every = self._rules.watches.values()
        terms = [term for one in every for term in (*binder_terms(one.params), one.when)]
        return self._now(terms)

    @cached_property
    def _laws(self) -> Footprint | None:
        laws = self._rules.laws.values()
        terms = [term for one in laws for term in binder_terms(one.params)]
        terms += [one.when for one in laws if one.when is not None]
        found = self._touched(terms, [one.body for one in laws])
        if found is None or found.asks - self._known - {"did"}:
            return None
        nests = any(isinstance(one, Order) and one.nesting for one in self._stepper.phases)
        stores = self._stepper.slots.stores if nests else ()
        order = frozenset(one.column.fluent.id for one in stores if one.column.fluent.nested)
        return replace(found, reads=found.reads | order)

    @cached_property
    def _checks(self) -> Places | None:
        """What invariants and conserved sums rest on."""
        held = self._rules.invariants.values()
        sums = self._rules.conserves.values()
        return self._now([*(one.condition for one in held), *(one.value for one in sums)])

    @cached_property
    def _endings(self) -> Places | None:
        world = self._rules.worlds[self._stepper.instance.world.name]
        return self._now([*(x.condition for x in world.endings), *(x.when for x in world.awards)])

    # ---- terms --------------------------------------------------------------------------------

    def _now(self, terms: Iterable[Term], bodies: Iterable[Body] = ()) -> Places | None:
        """The places that terms and bodies touch; ``None`` where they rest on more than that."""
        found = self._touched(tuple(terms), tuple(bodies))
        if found is None or found.was or found.asks - self._known:
            return None
        return self._places(found.reads | found.writes)

    def _touched(self, terms: Iterable[Term], bodies: Iterable[Body]) -> Footprint | None:
        """What they touch; ``None`` where a text names something: its name may be anything."""
        every = [*terms, *(term for body in bodies for term in terms_in(body))]
        seen = set[str]()
        for term in every:  # grows while it is walked
            for part in subterms(term):
                if isinstance(part, Text) and _names(part):
                    return None
                if isinstance(part, DeriveCall) and part.derive not in seen:
                    seen.add(part.derive)
                    every.append(self._rules.derives[part.derive].value)
        return self._rules.footprint(terms, bodies)

    def _places(self, fluents: Iterable[str]) -> Places:
        return self._numbering.places(fluents)


def _names(text: Text) -> bool:
    return any(isinstance(one, Hole) for one in text.template.parts)


def _together(*places: Places) -> Places:
    return tuple(sorted(frozenset[int]().union(*places)))
