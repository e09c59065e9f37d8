"""A state with secret slots that ask before they are read: for what holds for *some* of their
values.

Whoever evaluates something on `Veil.state` runs the same compiled code as play does. Where that
reads a secret slot, `Asked` names the slot, and the evaluation begins anew for each value that the
type of the slot allows. So only slots that are read are enumerated, and only as far as they matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, MutableMapping, MutableSequence
from itertools import product
from typing import Any, TypeVar, overload

from tokenworld.engine.layout import Column, Key
from tokenworld.engine.state import State
from tokenworld.ground import Raw, count_bindings, domain_of
from tokenworld.model import ObjectType, ValueType

__all__ = ["MOST", "TooMany", "Veil"]

T = TypeVar("T")

MOST = 1_000
"""So often something is evaluated at most before it counts as unknown."""


class Asked(Exception):  # a question, not a defect
    """A secret slot is read that has no value yet."""

    def __init__(self, column: _Hidden, key: Key) -> None:
        super().__init__(key)
        self.column, self.key = column, key


class TooMany(Exception):  # an answer, not a defect
    """There are more values than are looked at."""


class _Hidden:
    """A secret column: the values ``given`` so far, and what is stored where no slot is.

    ``origin`` is the column that a copy was made of: who is asked for a slot.
    """

    def __init__(self, state: State, column: Column, origin: _Hidden | None = None) -> None:
        self.world, self.column = state, column
        self.stored = state.cols[column.index]
        self.origin = origin or self
        self.given: dict[Key, Raw] = {}

    def read(self, key: Key) -> Raw:
        if key not in self.given:
            raise Asked(self.origin, key)
        return self.given[key]

    def all_read(self) -> None:
        """Ask for the first slot without a value."""
        missing = next((key for key in self.keys_of() if key not in self.given), None)
        if missing is not None:
            raise Asked(self.origin, missing)

    def keys_of(self) -> Iterator[Key]:
        """The storage keys of all slots."""
        raise NotImplementedError


class _Row(_Hidden, MutableSequence[Any]):
    """A secret attribute, or a fact without arguments."""

    def _is_slot(self, key: int) -> bool:
        column, kinds = self.column, self.world.kinds
        if column.single:
            return True
        return key < len(kinds) and kinds[key] in self.world.layout.owners[column.index]

    def keys_of(self) -> Iterator[Key]:
        return (key for key in range(len(self.stored)) if self._is_slot(key))

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> MutableSequence[Any]: ...
    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            return list(self)[key]
        return self.read(key) if self._is_slot(key) else self.stored[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.given[key] = value

    def __delitem__(self, key: int | slice) -> None:
        del self.stored[key]

    def __len__(self) -> int:
        return len(self.stored)

    def __iter__(self) -> Iterator[Any]:
        return (self[key] for key in range(len(self.stored)))

    def insert(self, index: int, value: Any) -> None:
        self.given[index] = value
        self.stored.insert(index, value)

    def append(self, value: Any) -> None:
        self.given[len(self.stored)] = value
        self.stored.append(value)

    def copy(self) -> _Row:
        """One of its own to write, as the slots are now."""
        new = _Row(self.world, self.column, self.origin)
        new.stored, new.given = self.stored.copy(), dict(self.given)
        return new


class _Table(_Hidden, MutableMapping[Any, Any]):
    """A secret relation, or a function of several arguments."""

    def keys_of(self) -> Iterator[Key]:
        state, fluent = self.world, self.column.fluent
        domains = [_values(state, one.type) for one in fluent.params]
        if any(one is None for one in domains) or _size(domains) > MOST:
            raise TooMany
        keys = product(*(one for one in domains if one is not None))
        return (key for key in keys if self.column.key(key) == key)

    def __getitem__(self, key: Any) -> Any:
        if None in key:
            raise KeyError(key)
        value = self.read(key)
        if value == self.column.default:
            raise KeyError(key)
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        self.given[key] = value

    def __delitem__(self, key: Any) -> None:
        self.given[key] = self.column.default

    def __iter__(self) -> Iterator[Any]:
        self.all_read()
        return iter([key for key, value in self.given.items() if value != self.column.default])

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def copy(self) -> _Table:
        """One of its own to write, as the slots are now."""
        new = _Table(self.world, self.column, self.origin)
        new.given = dict(self.given)
        return new


class _Children(MutableSequence[Any]):
    """The objects that point at each object, by a secret attribute."""

    def __init__(self, parents: _Row, size: int) -> None:
        self._parents, self._size = parents, size
        self._lists: list[list[int]] | None = None

    def _made(self) -> list[list[int]]:
        if self._lists is not None:
            return self._lists
        self._parents.all_read()
        lists: list[list[int]] = [[] for _ in range(self._size)]
        for child, parent in enumerate(self._parents):
            if parent is not None:
                lists[parent].append(child)
        return lists

    @overload
    def __getitem__(self, key: int) -> Any: ...
    @overload
    def __getitem__(self, key: slice) -> MutableSequence[Any]: ...
    def __getitem__(self, key: int | slice) -> Any:
        return self._made()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._made()[key] = value

    def __delitem__(self, key: int | slice) -> None:
        del self._made()[key]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self._made())

    def insert(self, index: int, value: Any) -> None:
        self._made().insert(index, value)
        self._size += 1

    def copy(self) -> _Children:
        """One of its own to write, as the slots are now."""
        new = _Children(self._parents, self._size)
        new._lists = self._made().copy()
        return new


def _values(state: State, kind: ValueType) -> Collection[Raw] | None:
    """All values that a type allows now, ``None`` for too many."""
    if not isinstance(kind, ObjectType):
        low, high = getattr(kind, "low", None), getattr(kind, "high", None)
        if isinstance(low, int) and isinstance(high, int) and high - low >= MOST:
            return None
        return domain_of(state.layout.instance, kind)
    alive = state.live[kind.name]
    return (*alive, None) if kind.optional else alive


def _size(domains: list[Collection[Raw] | None]) -> int:
    return count_bindings([tuple(one) for one in domains if one is not None])


class Veil:
    """A state in which the columns of secret fluents ask for their values."""

    def __init__(self, state: State, secret: Collection[str]) -> None:
        self.state = self._over(state, secret)
        if state.round is not None:
            self.state.round = self._over(state.round, secret)

    def _over(self, state: State, secret: Collection[str]) -> State:
        veiled = state.fork()
        for column in state.layout.columns:
            if column.fluent.id not in secret:
                continue
            hidden = (_Table if column.tupled else _Row)(state, column)
            veiled.cols[column.index] = hidden
            if isinstance(hidden, _Row) and column.has_children:
                veiled.kids[column.index] = _Children(hidden, len(state.kinds))
        return veiled

    def some(self, test: Callable[[State], bool]) -> bool:
        """Whether a test holds for some values of the secrets; it does for too many to look at."""
        try:
            return any(self._each(test))
        except TooMany:
            return True

    def every(self, read: Callable[[State], T]) -> frozenset[T] | None:
        """All results of a reading; ``None`` where there are too many values to look at."""
        try:
            return frozenset(self._each(read))
        except TooMany:
            return None

    def _each(self, read: Callable[[State], T]) -> Iterator[T]:
        open_slots: list[tuple[Asked, Iterator[Raw]]] = []
        try:
            for _ in range(MOST):
                self._forget()
                try:
                    yield read(self.state)
                except Asked as asked:
                    open_slots.append((asked, iter(self._allowed(asked))))
                if not _advance(open_slots):
                    return
            raise TooMany
        finally:
            for slot, _ in open_slots:
                slot.column.given.pop(slot.key, None)

    def _forget(self) -> None:
        self.state.memo.clear()
        if self.state.round is not None:
            self.state.round.memo.clear()

    def _allowed(self, asked: Asked) -> Collection[Raw]:
        found = _values(asked.column.world, asked.column.column.fluent.type)
        if found is None:
            raise TooMany
        return found


def _advance(open_slots: list[tuple[Asked, Iterator[Raw]]]) -> bool:
    """Give the last slot its next value, the one before where it has none; false at the end."""
    while open_slots:
        asked, values = open_slots[-1]
        for value in values:
            asked.column.given[asked.key] = value
            return True
        asked.column.given.pop(asked.key, None)
        open_slots.pop()
    return False
