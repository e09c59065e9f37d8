"""The kernels and the generated functions of one world in one namespace: as they are, or compiled.

A kernel is taken by its code: in the namespace of a world the names of `places` stand for the
places and tables of that world. numba is imported here alone, and only where it is asked for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any, Final, cast

from tokenworld.engine.rollout import (
    acting,
    choosing,
    drawing,
    following,
    foreseeing,
    merging,
    places,
    plainly,
    reading,
    scratch,
    slots,
    storing,
    ticking,
    walking,
)
from tokenworld.engine.rollout.places import ROW
from tokenworld.ground import draws

__all__ = ["KERNELS", "Space", "compiler_missing", "linked"]

KERNELS: Final[tuple[ModuleType, ...]] = (
    reading, walking, merging, storing, drawing, acting, ticking, foreseeing, choosing, following
)  # fmt: skip
Space = dict[str, Any]
BOUND: Final = ("real_of", "bits_of", "absorbed", "nth", "moment")
"""What is compiled apart from a world."""


def compiler_missing() -> str:
    """What is missing to compile: `numba` or `numpy`, empty where both are there."""
    from importlib.util import find_spec

    return next((name for name in ("numpy", "numba") if find_spec(name) is None), "")


def linked(source: str, values: Space, *, fast: bool) -> Space:
    """The namespace of a world: its places and tables, the kernels and its own functions."""
    space: Space = {"__builtins__": __builtins__, "math": math}
    for module in (scratch, places):
        names = (name for name in vars(module) if name.isupper() and name != "STATUSES")
        space.update((name, getattr(module, name)) for name in names)
    for kernel in KERNELS if fast else (*KERNELS, plainly):
        space.update(_constants(kernel))
        space.update((name, one) for name, one in _functions(kernel))
    space.update(values)
    space.update(real_of=slots.real_of, bits_of=slots.bits_of)
    space.update(absorbed=draws.absorbed, nth=draws.nth, moment=draws.moment)
    exec(compile(source, "<token world rollout>", "exec"), space)  # generated from the model only
    functions = {
        name: _moved(one, space)
        for name, one in list(space.items())
        if isinstance(one, FunctionType) and name not in BOUND
    }
    space.update(functions)
    if fast:
        _compile(space, functions)
    return space


def _moved(function: FunctionType, space: Space) -> FunctionType:
    """The same code, to which the names of the namespace are known."""
    moved = FunctionType(function.__code__, space, function.__name__)
    moved.__annotations__ = function.__annotations__
    return moved


def _constants(module: ModuleType) -> Space:
    return {name: value for name, value in vars(module).items()
            if name.isupper() and isinstance(value, (int, float))}  # fmt: skip


def _functions(module: ModuleType) -> list[tuple[str, FunctionType]]:
    return [
        (name, one)
        for name, one in vars(module).items()
        if isinstance(one, FunctionType) and one.__module__ == module.__name__
    ]


OPTIONS: Final[dict[str, Any]] = {"error_model": "numpy", "_nrt": False}
"""Nothing is allocated in compiled functions, and whoever calls them holds their arrays: without
numba's runtime no references are counted, which took five sixths of the time of a tick."""

# ---- compiled -------------------------------------------------------------------------------


def _compile(space: Space, functions: dict[str, FunctionType]) -> None:
    """Replace tables by arrays and functions by compiled ones; each is compiled when first met."""
    import numba
    import numpy as np

    def njit(function: Callable[..., Any]) -> Any:
        return numba.njit(function, **OPTIONS)

    for name, value in list(space.items()):
        if isinstance(value, (tuple, list)):
            space[name] = np.array(value or [0], np.int64)
    space.update(draws.compiled())
    space["real_of"], space["bits_of"] = _bits(njit, np)
    functions["copy"] = _moved(cast(FunctionType, _copied), space)
    for name in _needed(functions, ROOTS):
        kinds = _signature(functions[name], numba.types)
        space[name] = numba.njit(kinds, **OPTIONS)(functions[name])


ROOTS: Final = ("play", "intend", "choose", "note", "fresh", "score_of", "follow", "restart")
"""What is called from outside; all else is compiled only where these need it."""
_REAL = re.compile(r"r\d+")
_ROWS = ("S", "W", "V", "X", "to", "of", "back", "before", "alone", "now", "was", "script")


def _needed(functions: dict[str, FunctionType], roots: Sequence[str]) -> list[str]:
    """The functions that some need, each behind those that it calls."""
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in found or name not in functions:
            return
        for called in functions[name].__code__.co_names:
            visit(called)
        found[name] = None

    for root in roots:
        visit(root)
    return list(found)


def _copied(to: reading.Row, of: reading.Row) -> None:
    """`ticking.copy`, in the form that is quickly compiled."""
    for i in range(1, ROW):
        to[i] = of[i]


def _signature(function: FunctionType, types: Any) -> tuple[Any, ...]:
    """One signature for each function, told by the names and notes of its parameters.

    Left to itself numba compiles a function for every mixture of literals that it is called with.
    """
    code = function.__code__
    notes = function.__annotations__

    def kind(name: str) -> Any:
        if name == "R":
            return types.Array(types.int64, 2, "C")
        if name in _ROWS and notes.get(name, "Row").endswith("Row"):
            return types.Array(types.int64, 1, "C")
        if notes.get(name) == "float" or _REAL.fullmatch(name):
            return types.float64
        return types.boolean if notes.get(name) == "bool" or name == "later" else types.int64

    return tuple(kind(name) for name in code.co_varnames[: code.co_argcount])


def _bits(njit: Callable[..., Any], np: Any) -> tuple[Any, Any]:
    nothing = slots.NAN_BITS

    def real_of(bits):  # type: ignore[no-untyped-def]
        return np.int64(bits).view(np.float64)

    def bits_of(value):  # type: ignore[no-untyped-def]
        if value != value:
            return nothing
        return np.float64(value).view(np.int64)

    return njit(real_of), njit(bits_of)
