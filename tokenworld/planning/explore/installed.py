"""Whether what compiles is installed; asked without loading it."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

__all__ = ["available"]


@cache
def available() -> bool:
    """Whether numpy and numba (extra `fast`) are there."""
    return all(find_spec(name) is not None for name in ("numpy", "numba"))
