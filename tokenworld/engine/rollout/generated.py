"""What is generated for a world, by the names under which kernels call it (bound by `link`)."""

from __future__ import annotations

from tokenworld.engine.rollout.reading import Row


def holds(S: Row, W: Row, X: Row, me: int, act: int) -> bool:
    raise NotImplementedError


def run(S: Row, W: Row, X: Row, me: int, act: int) -> None:
    raise NotImplementedError


def cancel(S: Row, W: Row, X: Row, me: int, act: int) -> None:
    raise NotImplementedError


def ticks(S: Row, W: Row, X: Row, me: int, act: int) -> int:
    raise NotImplementedError


def until(S: Row, W: Row, X: Row, me: int, act: int) -> bool:
    raise NotImplementedError


def phases(S: Row, W: Row, R: Row, X: Row) -> None:
    raise NotImplementedError


def invariants(S: Row, W: Row, X: Row, me: int) -> None:
    raise NotImplementedError


def conserve(S: Row, before: Row, alone: Row, X: Row, me: int) -> None:
    raise NotImplementedError


def award(S: Row, W: Row, X: Row, me: int, index: int) -> bool:
    raise NotImplementedError


def ending(S: Row, W: Row, X: Row, me: int, index: int) -> bool:
    raise NotImplementedError


def pays(S: Row, W: Row, X: Row, me: int) -> int:
    raise NotImplementedError


def watches(S: Row, W: Row, X: Row, me: int) -> None:
    raise NotImplementedError


def legal(R: Row, X: Row, act: int, later: bool, wanted: int) -> int:
    """How many bindings of an action are allowed (``wanted`` -1), or, as soon as it is found, the
    number behind the wanted one, whose arguments are then in place."""
    raise NotImplementedError
