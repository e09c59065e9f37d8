"""Changes of a state outside of play, where nothing is static: setups, legends, a `given`."""

from __future__ import annotations

from collections.abc import Mapping

from tokenworld.core.nodes import Body, Term
from tokenworld.engine.layout import Layout
from tokenworld.engine.luck import Luck
from tokenworld.engine.rows.commit import commit, store_value
from tokenworld.engine.rows.log import Log, Row
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.engine.state import State
from tokenworld.ground import Instance, Json, Prose, Raw


class Outside:
    """The row of a state on which ``bodies`` are run that are no part of play.

    All facts are in the row, and they may create and destroy objects of any type.
    """

    def __init__(
        self, instance: Instance, layout: Layout, prose: Prose, state: State,
        bodies: tuple[Body, ...],
    ) -> None:  # fmt: skip
        stepper = RowStepper(instance, layout, prose, state, fixed=False, outside=bodies)
        self._slots, self._code, self._me = stepper.slots, stepper.code, state.me
        self._row = Row(self._slots, self._slots.encode(state))

    def run(
        self, body: Body, luck: Luck, title: str, key: tuple[Json, ...] = (),
        given: Mapping[str, Raw] | None = None,
    ) -> None:  # fmt: skip
        """Run a body and write its changes; ``title`` and ``key`` are those of its draws, ``given``
        the variables that it may read. Raises `Breach` if it cannot be executed."""
        S, log = self._row.S, Log(self._row, luck, {})
        self._slots.fill(S)
        log.draws_as(title, key)
        function = self._code.body_of(body, tuple(given or ()))
        function(S, S, self._me, log, *(given or {}).values())
        commit(self._row, log)

    def value(self, term: Term) -> Raw:
        """The value of a term."""
        S = self._row.S
        self._slots.fill(S)
        found: Raw = self._code.value_of(term)(S, S, self._me)
        return found

    def put(self, fluent: str, number: int, value: Raw) -> None:
        """Set an attribute of an object and list the object in its container."""
        store = self._slots.by_id[fluent]
        value = value is True if store.column.truth else value
        store_value(self._row, self._slots.slot(store, (number,)), value)

    def state(self) -> State:
        """The row as a state."""
        return self._slots.decode(self._row.S)
