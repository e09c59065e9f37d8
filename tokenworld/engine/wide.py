"""A long column in chunks, so that a copy shares all but what is written.

A list of 100,000 slots takes some 100 µs to copy, and a tick writes three of them. In chunks of 256
a copy is a list of 400 chunks, and the first write to a chunk copies that chunk alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

__all__ = ["LONG", "Wide", "column_of", "copied"]

LONG = 2048
"""The length from which a list is kept in chunks."""
SHIFT = 8
SIZE = 1 << SHIFT
MASK = SIZE - 1


class Wide:
    """As much of a list as columns need. ``copy`` shares the chunks; neither copy owns one then."""

    __slots__ = ("_chunks", "_mine", "_size")

    def __init__(self, values: Iterable[Any]) -> None:
        listed = list(values)
        self._chunks = [listed[at : at + SIZE] for at in range(0, len(listed), SIZE)]
        self._size = len(listed)
        self._mine = set(range(len(self._chunks)))

    def copy(self) -> Wide:
        new = Wide.__new__(Wide)
        new._chunks, new._size, new._mine = self._chunks.copy(), self._size, set()
        self._mine = set()
        return new

    def __getitem__(self, index: int) -> Any:
        return self._chunks[index >> SHIFT][index & MASK]

    def __setitem__(self, index: int, value: Any) -> None:
        self._own(index >> SHIFT)[index & MASK] = value

    def _own(self, number: int) -> list[Any]:
        if number not in self._mine:
            self._mine.add(number)
            self._chunks[number] = self._chunks[number].copy()
        return self._chunks[number]

    def append(self, value: Any) -> None:
        if self._size & MASK:
            self._own(self._size >> SHIFT).append(value)
        else:
            self._mine.add(len(self._chunks))
            self._chunks.append([value])
        self._size += 1

    def extend(self, values: Iterable[Any]) -> None:
        for value in values:
            self.append(value)

    def __delitem__(self, tail: slice) -> None:
        """Cut off the end: ``del values[start:]`` is all that columns need."""
        size = tail.start
        chunks = (size + MASK) >> SHIFT
        del self._chunks[chunks:]
        if size & MASK:
            del self._own(chunks - 1)[size & MASK :]
        self._mine = {number for number in self._mine if number < chunks}
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._chunks)

    def __contains__(self, value: object) -> bool:
        return any(value in chunk for chunk in self._chunks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Wide, list)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def column_of(values: list[Any]) -> Any:
    """A column of these values: a long one in chunks."""
    return Wide(values) if len(values) >= LONG else values


def copied(stored: Any) -> Any:
    """A copy of a column that can be written without touching the first: of a long list in chunks,
    of any other at once."""
    return Wide(stored) if isinstance(stored, list) and len(stored) >= LONG else stored.copy()
