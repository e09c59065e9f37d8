"""What the loops of several actions share: tables, and what is made once in each listing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.emit import Emitter
from tokenworld.engine.layout import Column
from tokenworld.engine.legal.indexes import Tables
from tokenworld.engine.state import State
from tokenworld.ground import changed_in_play
from tokenworld.model import (
    BoolLiteral,
    Compare,
    EnumLiteral,
    Local,
    NoneLiteral,
    Not,
    NumberLiteral,
    ObjectLiteral,
    ParamRead,
    Read,
    Term,
    subterms,
)

__all__ = ["Hoist", "Hoists", "JoinText", "Loop", "Strides", "Wanted"]


@frozen
class Hoist:
    """Something that is made before the loops, in each listing anew: its name and its lines.

    ``over`` and ``tests``: a list of those candidates ``x`` that pass tests; where one loop alone
    wants it, that loop tests as it goes. ``rare``: a condition without which the list is empty.
    """

    name: str
    lines: tuple[str, ...]
    over: str = ""
    tests: tuple[str, ...] = ()
    rare: str = ""

    @property
    def depth(self) -> int:
        """How many levels a loop over it takes that tests as it goes."""
        return 2 + bool(self.rare)


@frozen
class Loop:
    """A place in the text of an action: a loop over a list that may be hoisted."""

    hoist: Hoist
    variable: str
    depth: int

    def lines(self, *, inline: bool) -> list[str]:
        """The heads of the loop; what is in it is indented by ``hoist.depth`` either way."""
        pad, one = "    " * self.depth, self.hoist
        if not inline:
            return [f"{pad}for {self.variable} in {one.name}:"]
        tests = re.sub(r"\bx\b", self.variable, " and ".join(one.tests))
        heads = [f"if {one.rare}:"] if one.rare else []
        heads += [f"for {self.variable} in {one.over}:", f"if {tests}:"]
        return [pad + "    " * level + head for level, head in enumerate(heads)]


@frozen
class Wanted:
    """A place in the text of an action from which on something hoisted is there."""

    hoist: Hoist
    depth: int

    def lines(self) -> list[str]:
        return ["    " * self.depth + line for line in self.hoist.lines]


@frozen
class Strides:
    """The arguments of a binding as the digits of one number, each with a base of its own."""

    bases: tuple[int, ...]

    def number(self, args: Sequence[int]) -> int:
        found = 0
        for base, value in zip(self.bases, args, strict=True):
            found = found * base + value
        return found

    def args(self, number: int) -> tuple[int, ...]:
        found = []
        for base in reversed(self.bases):
            number, value = divmod(number, base)
            found.append(value)
        return tuple(reversed(found))


@frozen
class JoinText:
    """The loops of one action as text. ``table`` is the name of the commands by the numbers of the
    ``first`` parameters, and then of the ``last`` ones, whose ``candidates`` are tables."""

    action: str
    guards: tuple[str, ...]
    body: tuple[str | Loop | Wanted, ...]
    table: str
    first: Strides
    last: Strides
    candidates: tuple[str, ...]

    @property
    def hoists(self) -> list[Hoist]:
        """All that it wants, each as often as it wants it."""
        return [one.hoist for one in self.body if not isinstance(one, str)]

    def lines(self, inline: frozenset[Hoist], made: frozenset[Hoist]) -> list[str]:
        """The text, one level in. ``inline``: what only one loop wants, so that it may test as it
        goes; ``made``: what is there already."""
        heads = ["    " * (level + 1) + guard for level, guard in enumerate(self.guards)]
        found, there = list[str](), set(made)
        for part in self.body:
            match part:
                case str():
                    found.append(part)
                case Loop(hoist=hoist):
                    if hoist not in there and hoist not in inline:
                        found += Wanted(hoist, part.depth).lines()
                        there.add(hoist)
                    found += part.lines(inline=hoist in inline)
                case Wanted(hoist=hoist):
                    if hoist not in there:
                        found += part.lines()
                        there.add(hoist)
                case _:
                    assert_never(part)
        pad = "    " * (len(self.guards) + 1)
        return [*heads, *(pad + line for line in found)]


@dataclass(slots=True)
class Hoists:
    """The shelf of one world. ``state`` is the one by whose facts costs are guessed, ``readers``
    how many requires read each relation: so many share the work of grouping it."""

    emitter: Emitter
    state: State
    readers: dict[str, int]
    tables: Tables = field(init=False)
    moving: frozenset[str] = field(init=False)
    _made: dict[object, Hoist] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tables = Tables(self.emitter.fresh)
        self.moving = changed_in_play(self.emitter.instance.program)

    def is_still(self, part: Term) -> bool:
        """Whether a part rests on nothing but its names and facts that play never changes."""
        return all(
            one.fluent not in self.moving if isinstance(one, Read) else isinstance(one, _PLAIN)
            for one in subterms(part)
        )

    def candidates_that(self, over: str, tests: tuple[str, ...], rare: str) -> Hoist:
        """The candidates ``x`` that pass tests now."""
        key = (over, tests)
        if key not in self._made:
            name = self.emitter.fresh("u")
            value = f"[x for x in {over} if {' and '.join(tests)}]"
            line = f"{name} = {value}" + (f" if {rare} else ()" if rare else "")
            self._made[key] = Hoist(name, (line,), over, tests, rare)
        return self._made[key]

    def groups(self, column: Column, known: tuple[int, ...]) -> Hoist:
        """The rows of a relation that hold now, by their known places."""
        key = (column.index, known)
        if key not in self._made:
            size = len(column.fluent.params)
            wanted = [place for place in range(size) if place not in known]
            name = self.emitter.fresh("g")
            row = ", ".join(f"x{place}" for place in range(size))
            by, value = (_row(places) for places in (known, wanted))
            self._made[key] = Hoist(name, (
                f"{name} = {{}}",
                f"for {row} in S.cols[{column.index}]:",
                f"    if {by} in {name}:",
                f"        {name}[{by}].append({value})",
                "    else:",
                f"        {name}[{by}] = [{value}]",
            ))  # fmt: skip
        return self._made[key]

    def stored(self, fluent: str) -> tuple[Column, Any]:
        """A column, and what it holds in the state by which costs are guessed."""
        column = self.emitter.layout.by_id[fluent]
        return column, self.state.cols[column.index]


_PLAIN = (
    BoolLiteral, NumberLiteral, EnumLiteral, NoneLiteral, ObjectLiteral, ParamRead,
    Local, Compare, Not,
)  # what has its value from names alone  # fmt: skip


def _row(places: Sequence[int]) -> str:
    names = [f"x{place}" for place in places]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
