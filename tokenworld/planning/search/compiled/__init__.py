"""Search on packed states compiled by numba (extra `fast`): `search` runs it, `kernel` is compiled.

`available` and `loaded` answer without importing numpy or numba.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec

from tokenworld.limits import allows

_LOADING = 300 << 20
"""Bytes that numba needs to compile; numpy aborts the process if it gets fewer."""


def available() -> bool:
    """Return whether numpy and numba (extra `fast`) are there, and memory to load them."""
    return _installed() and (loaded() or allows(_LOADING))


@cache
def _installed() -> bool:
    return all(find_spec(name) is not None for name in ("numpy", "numba"))


def loaded() -> bool:
    """Return whether this process has numba already, so that using it costs no loading."""
    return "numba" in sys.modules
