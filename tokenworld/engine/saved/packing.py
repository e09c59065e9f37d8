"""States as bytes, without the compiled world and caches."""

from __future__ import annotations

import pickle
from io import BytesIO
from typing import Any

from tokenworld.engine.layout import Column, Layout
from tokenworld.engine.state import State


class _Packer(pickle.Pickler):
    def __init__(self, file: BytesIO, layout: Layout) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._layout = layout

    def persistent_id(self, obj: Any) -> int | None:
        """-1 for the layout, the index for one of its columns."""
        if isinstance(obj, Layout):
            return -1
        known = isinstance(obj, Column) and 0 <= obj.index < len(self._layout.columns)
        return obj.index if known and self._layout.columns[obj.index] is obj else None


class _Unpacker(pickle.Unpickler):
    def __init__(self, data: bytes, layout: Layout) -> None:
        super().__init__(BytesIO(data))
        self._layout = layout

    def persistent_load(self, pid: Any) -> Layout | Column:
        return self._layout if pid == -1 else self._layout.columns[pid]


def packed_state(state: State) -> bytes:
    """A state, for `unpacked_state` of the same process: nothing checks what comes back."""
    found = BytesIO()
    _Packer(found, state.layout).dump(state)
    return found.getvalue()


def unpacked_state(data: bytes, layout: Layout) -> State:
    """The state of such bytes, laid out as an engine of the same world has it."""
    state: State = _Unpacker(data, layout).load()
    return state
