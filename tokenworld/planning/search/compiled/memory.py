"""Memory of the compiled search: reserved rows for states, and a hash table that grows.

Rows are allocated all at once: the system backs only those that are written, and none is ever
copied. Where the system does not overcommit memory there are fewer rows, and they are doubled.
"""

from __future__ import annotations

from typing import Any

BATCH = 512
"""Successors listed, or a few more, before they are looked up in the hash table."""
FIRST_TABLE = 1 << 19
"""Places of the first hash table."""
_QUICK = 1 << 21
"""Tables with fewer places grow fourfold."""
_BYTES = 1 << 28
"""Bytes reserved for states: some 33 million states of one word."""
_FEW = 1 << 18


def reserved_rows(width: int) -> int:
    """The number of rows to reserve for states of ``width`` words."""
    return max(_BYTES // (8 * width), _FEW)


def zeros(rows: int, *shape: int, dtype: str) -> Any:
    """An array of zeros with so many rows, or as many as the system grants."""
    import numpy as np

    while True:
        try:
            return np.zeros((rows, *shape), dtype)
        except MemoryError:
            if rows <= _FEW:
                raise
            rows = max(rows // 2, _FEW)


def doubled(array: Any) -> Any:
    """An array with twice the rows."""
    import numpy as np

    new = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new


def fitting(table: Any) -> int:
    """The number of states that a hash table may hold: a load of 0.7."""
    return 7 * len(table) // 10


def larger(places: int) -> Any:
    """An empty table in place of one with so many places."""
    import numpy as np

    return np.zeros(places * (4 if places < _QUICK else 2), np.uint32)
