"""Room for states on the compiled explorer: rows that are reserved, and a table that grows.

Rows are asked for all at once: what is not written to takes no memory, and what was written is
never copied. Where the system promises no more than it has, there are fewer rows, and they double.
"""

from __future__ import annotations

from typing import Any

__all__ = ["BATCH", "FIRST_TABLE", "doubled", "fitting", "larger", "reserved_rows", "zeros"]

BATCH = 512
"""So much of what follows states is listed, or a little more, before it is looked up."""
FIRST_TABLE = 1 << 19
"""Places of a table to begin with."""
_QUICK = 1 << 21
"""Tables with fewer places grow fourfold."""
_BYTES = 1 << 28
"""So many bytes of states are reserved, which is some 33 million of one word."""
_FEW = 1 << 18


def reserved_rows(width: int) -> int:
    """How many states of so many words to reserve rows for."""
    return max(_BYTES // (8 * width), _FEW)


def zeros(rows: int, *shape: int, dtype: str) -> Any:
    """An array of zeros with so many rows, or as many as can be promised."""
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
    """How many states fit into a table, so that they are found quickly: seven in ten places."""
    return 7 * len(table) // 10


def larger(places: int) -> Any:
    """An empty table in place of one with so many places."""
    import numpy as np

    return np.zeros(places * (4 if places < _QUICK else 2), np.uint32)
