"""Seeing every reachable state once more, with a digest of them that does not depend on order.

It shares no code with `search`: a certificate says "these are all the states there are", and
whoever checks it counts them anew.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Generic

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.proof.gaps import gaps

__all__ = ["NotExhausted", "Space", "exhaust", "key_text"]

_SPAN = 1 << 256
_EVERY = 2_000


@dataclass(frozen=True, slots=True)
class Space:
    """All states reachable without passing the goal.

    ``digest`` is the sum modulo 2**256 of the SHA-256 of each state's key, in hexadecimal: equal
    for equal sets of states, in whatever order they were met.
    """

    states: int
    digest: str


class NotExhausted(Exception):
    """Why the states could not be counted, as a clause. ``limited``: more time might help."""

    def __init__(self, reason: str, *, limited: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.limited = reason, limited


def exhaust(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    seconds: float,
    say: Callable[[str], None] = lambda line: None,
) -> Space:
    """Visit every state reachable from ``state``; none may reach ``goal`` (any if ``None``).

    Raises `NotExhausted` where a state reaches the goal, where the states cannot be told apart or
    listed exactly, or where ``seconds`` are over.
    """
    if not simulator.exact_key():
        raise NotExhausted("the world has infinitely many states, or some that look alike")
    found = gaps(simulator.instance, simulator.unlisted)
    if found:
        raise NotExhausted(f"not every outcome can be listed: {found[0].message.rstrip('.')}")
    walk = _Walk(simulator, state, goal)
    end, told = time.monotonic() + seconds, 0
    while walk.step():
        if time.monotonic() > end:
            raise NotExhausted(f"the limit of {seconds:.3g} s was reached", limited=True)
        if walk.seen >= told + _EVERY:
            told = walk.seen
            say(f"{told:,} states counted")
    if simulator.short_of:
        raise NotExhausted("the world has too few spare objects")
    return Space(walk.seen, f"{walk.total:064x}")


class _Walk(Generic[StateT]):
    """A breadth-first walk; ``total`` is the sum of the digests so far."""

    def __init__(self, simulator: Simulator[StateT], state: StateT, goal: str | None) -> None:
        self._simulator, self._goal = simulator, goal
        self._keys: set[Hashable] = set()
        self._waiting: deque[StateT] = deque()
        self.total = 0
        self._meet(state)

    @property
    def seen(self) -> int:
        return len(self._keys)

    def _meet(self, state: StateT) -> None:
        key = self._simulator.key(state)
        if key in self._keys:
            return
        self._keys.add(key)
        digest = sha256(key_text(key).encode()).digest()
        self.total = (self.total + int.from_bytes(digest, "big")) % _SPAN
        if self._simulator.won(state, self._goal):
            raise NotExhausted("a state that can be reached is the goal")
        self._waiting.append(state)

    def step(self) -> bool:
        """Expand one state; false when none is left."""
        if not self._waiting:
            return False
        state, simulator = self._waiting.popleft(), self._simulator
        if not simulator.lost(state):
            for command in simulator.commands(state):
                for successor in simulator.successors(state, command):
                    self._meet(successor.state)
        return True


def key_text(key: object) -> str:
    """A state's key as text: equal keys have equal texts, whatever order sets are listed in."""
    match key:
        case frozenset() | set():
            return "{" + ",".join(sorted(key_text(part) for part in key)) + "}"
        case tuple() | list():
            return "(" + ",".join(key_text(part) for part in key) + ")"
        case bool():
            return str(int(key))
        case Fraction() if key.denominator == 1:
            return str(key.numerator)
        case _ if is_dataclass(key) and not isinstance(key, type):
            return "<" + ",".join(_parts(key)) + ">"
        case _:
            return repr(key)


def _parts(key: object) -> Iterator[str]:
    yield type(key).__name__
    if is_dataclass(key) and not isinstance(key, type):
        for field in fields(key):
            yield key_text(getattr(key, field.name))
