"""What the loops of joins look things up in: made of facts that play never changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.layout import Column
from tokenworld.engine.state import State
from tokenworld.ground import Raw

__all__ = ["Table", "Tables", "grouped", "rows_of"]


@frozen
class Table:
    """A global of the generated code: its name, and the text of ``build_NAME(S, W, me)``, which
    makes it for a state."""

    name: str
    text: str


@dataclass(slots=True)
class Tables:
    """The tables of all joins of a world; equal ones are one."""

    fresh: Callable[[str], str]
    made: dict[str, Table] = field(default_factory=dict)

    def candidates(self, values: str, tests: Iterable[str]) -> str:
        """A tuple of those values that pass the tests, which name one ``x``."""
        return self._named("D", f"tuple([x for x in {values}{_if(tests)}])")

    def members(self, candidates: str) -> str:
        """The same as a set; to be asked for after them."""
        return self._named("M", f"frozenset({candidates})")

    def index(
        self, column: str, size: int, known: Sequence[int], tests: Iterable[str], *, valued: bool
    ) -> str:
        """The rows of a fact by their known places: the other places, as a value or a tuple, in
        order. The tests name the places ``x0``, ``x1`` …; ``valued``: the last one is the value."""
        wanted = [place for place in range(size) if place not in known]
        every = ", ".join(f"x{place}" for place in range(size))
        rows = f"rows_of(S, {column}, {valued})"
        pairs = f"({_row(known)}, {_row(wanted)}) for {every}, in {rows}{_if(tests)}"
        return self._named("X", f"grouped([{pairs}])")

    def _named(self, prefix: str, value: str) -> str:
        if value not in self.made:
            name = self.fresh(prefix)
            self.made[value] = Table(name, f"def build_{name}(S, W, me):\n    return {value}\n")
        return self.made[value].name


def _row(places: Iterable[int]) -> str:
    names = [f"x{place}" for place in places]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _if(tests: Iterable[str]) -> str:
    joined = " and ".join(tests)
    return f" if {joined}" if joined else ""


def grouped(pairs: list[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """The second parts by the first ones, in order."""
    found: dict[Any, list[Any]] = {}
    for key, wanted in sorted(pairs):
        found.setdefault(key, []).append(wanted)
    return found


def rows_of(state: State, column: Column, valued: bool) -> list[tuple[Raw, ...]]:
    """The rows of a fluent that hold, or with ``valued`` each living object with its value."""
    stored = state.cols[column.index]
    alive = (number for number, kind in enumerate(state.kinds) if kind is not None)
    if valued:
        return [(one, stored[one]) for one in alive if stored[one] is not None]
    if column.by_object:
        return [(one,) for one in alive if stored[one]]
    held = [key for key, holds in stored.items() if holds]
    return [*held, *((b, a) for a, b in held if a != b)] if column.fluent.symmetric else held
