"""Rows with slots that have no value: reading one of them raises `Asked`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import product
from typing import Any

from tokenworld.engine.rows.layout import Slots, Store
from tokenworld.ground import Raw, count_bindings, domain_of
from tokenworld.model import ObjectType, ValueType

MOST = 1_000
"""So often something is evaluated at most before it counts as unknown."""


class Asked(Exception):  # a question, not a defect
    """A secret slot without a value was read; ``row`` is the row that needs the value."""

    def __init__(self, row: HiddenRow, slot: int) -> None:
        super().__init__(slot)
        self.row, self.slot = row, slot


class TooMany(Exception):  # an answer, not a defect
    """There are more than `MOST` values."""


class HiddenRow(list[Any]):
    """A row in which the slots of ``secret`` fluents have no value until one is given.

    ``origin`` is the row that was copied, ``given`` the slots that have a value.
    """

    def __init__(
        self, values: Iterable[Any], slots: Slots, secret: Collection[str],
        origin: HiddenRow | None = None,
    ) -> None:  # fmt: skip
        super().__init__(values)
        self._slots, self._secret = slots, secret
        self.origin = origin or self
        self.given = set[int]()
        self._own = set(self._hidden(0))
        self._open = set(self._own)

    def _hidden(self, first: int) -> Iterator[int]:
        """The secret slots from ``first`` on, with the lists of objects that point by them."""
        lists = self._slots.lists
        for at in range(first, len(self)):
            store = lists[at][0] if at in lists else self._slots.owner[at]
            if store is not None and store.column.fluent.id in self._secret:
                yield at

    def hide(self) -> None:
        """Take back all values but those that were given."""
        self._open = self._own - self.given

    def give(self, slot: int, value: Any) -> None:
        """Give a slot a value."""
        self.given.add(slot)
        self[slot] = value

    def take(self, slot: int) -> None:
        """Take back the value of a slot."""
        self.given.discard(slot)
        self._open.add(slot)

    # ---- as generated code reads and writes rows ----------------------------------------------

    def __getitem__(self, at: Any) -> Any:
        if at.__class__ is slice:
            copy = HiddenRow((), self._slots, self._secret, self.origin)
            list.extend(copy, list.__getitem__(self, at))
            copy._own, copy._open = self._own, set(self._open)
            return copy
        if at not in self._open:
            return list.__getitem__(self, at)
        if at not in self._slots.lists:
            raise Asked(self.origin, at)
        store, parent = self._slots.lists[at]
        children = ((key, self[place]) for key, place in self._slots.places_of(store))
        return tuple([key for key, value in children if value == parent])

    def __setitem__(self, at: Any, value: Any) -> None:
        self._open.discard(at)
        list.__setitem__(self, at, value)

    def extend(self, values: Iterable[Any]) -> None:
        before = len(self)
        super().extend(values)
        new = set(self._hidden(before))
        self._own, self._open = self._own | new, self._open | new

    def absent(self, store: Store, args: tuple[Raw, ...]) -> Any:
        """The value of a slot that the row does not have yet."""
        if store.column.fluent.id not in self._secret:
            return store.column.default
        place = self._slots.slot(store, args)
        self._slots.fill(self)
        return self[place]

    def complete(self, store: Store) -> None:
        """Make all slots of a fluent; raises `TooMany`."""
        if store.column.fluent.id in self._secret and store.offset is None:
            for args in self._tuples(store):
                self._slots.slot(store, args)
            self._slots.fill(self)

    def _tuples(self, store: Store) -> Iterator[tuple[Raw, ...]]:
        domains = [self.allowed(one.type) for one in store.column.fluent.params]
        if count_bindings([tuple(one) for one in domains]) > MOST:
            raise TooMany
        symmetric = store.column.fluent.symmetric
        return (x for x in product(*domains) if not symmetric or x[0] <= x[1])  # type: ignore[operator]

    def allowed(self, kind: ValueType) -> Collection[Raw]:
        """All values that a type allows now; raises `TooMany`."""
        if isinstance(kind, ObjectType):
            alive = self.origin[self._slots.live[kind.name]]
            return (*alive, None) if kind.optional else alive
        low, high = getattr(kind, "low", None), getattr(kind, "high", None)
        if isinstance(low, int) and isinstance(high, int) and high - low >= MOST:
            raise TooMany
        found = domain_of(self._slots.instance, kind)
        if found is None:
            raise TooMany
        return found
