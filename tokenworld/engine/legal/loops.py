"""Writes the loops of a join: which parameter is bound when, and by what.

Each parameter has its candidates: the objects of its type for which the facts hold that play never
changes (a table). The last parameters of which no require says anything together with another one
are left to the end: their values are looked for once, and each binding of the others takes the
commands of all of them at once. The others are bound one after another, by what says most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from tokenworld.engine.legal.hoists import Hoist, Hoists, JoinText, Loop, Strides, Wanted
from tokenworld.engine.legal.total import names_of
from tokenworld.engine.legal.ways import Param, Way, Ways
from tokenworld.model import Binder, Term

__all__ = ["Loops"]

MOST_AT_ONCE = 2048
"""Commands that are kept side by side for one binding of the first parameters."""
MOST_PICKED = 3
"""Values of the last parameters of which each choice has its commands."""


@dataclass(slots=True)
class Loops:
    """Writes the loops of one action. ``parts`` are all its requires; ``size``: numbers of objects
    are below it."""

    hoists: Hoists
    action: str
    binders: Sequence[Binder]
    parts: list[Term]
    size: int
    body: list[str | Loop | Wanted] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    depth: int = 0
    outer: float = 1.0
    sorted: bool = True
    before: int = 0
    outside: int = 0

    def write(self) -> JoinText:
        """The loops, and what is to be made before them."""
        ways = Ways(self.hoists, self.binders, self.parts)
        emitter, every = self.hoists.emitter, list(ways.params.values())
        tests = [emitter.term(part, {}) for part in self.parts if not names_of(part)]
        guards = (f"if {' and '.join(tests)}:",) if tests else ()
        last = self._last(every)
        first = every[: len(every) - len(last)]
        table = self.hoists.emitter.fresh("R" if last else "T")
        if not last:
            self._each_alone(ways, first, table)
        else:
            self._product(ways, first, last, table)
        return JoinText(
            self.action, guards, tuple(self.body), table,
            Strides(tuple(self._stride(one) for one in first)),
            Strides(tuple(self._stride(one) for one in last)),
            tuple(one.candidates for one in last),
        )  # fmt: skip

    # ---- which come last ------------------------------------------------------------------------

    def _last(self, every: list[Param]) -> list[Param]:
        """The last parameters that nothing ties to another one."""
        found: list[Param] = []
        bindings = 1
        for one in reversed(every[1:]):
            bindings *= max(1, one.size)
            if one.tied or bindings > MOST_AT_ONCE:
                break
            found.insert(0, one)
        return found

    def _stride(self, param: Param) -> int:
        return param.members or self.size

    # ---- what is written ------------------------------------------------------------------------

    def _line(self, text: str) -> None:
        self.body.append("    " * self.depth + text)

    def _id(self, params: Sequence[Param], names: dict[str, str]) -> str:
        """The number of a binding: its arguments as the digits of a number."""
        text = ""
        for one in params:
            value = names[one.name]
            text = f"({text}) * {self._stride(one)} + {value}" if text else value
        return text or "0"

    def _each_alone(self, ways: Ways, first: list[Param], table: str) -> None:
        """Each binding has its command; they are sorted where the loops do not find them so."""
        self._bind_all(ways, first)
        number = self._id(first, self.names)
        if self.sorted and [*self.names] == [one.name for one in first]:
            self._found(number, table)
            return
        self._line(f"k.append({number})")
        self.body.insert(0, "k = []")
        self.depth = 0
        self._line("if k:")
        self._line("    k.sort()")
        self._line("    for i in k:")
        self.depth = 2
        self._found("i", table)

    def _found(self, number: str, table: str) -> None:
        """The command of a number; a try costs nothing where the command is there."""
        if not number.isidentifier():
            self._line(f"i = {number}")
            number = "i"
        self._line("try:")
        self._line(f"    found.append({table}[{number}])")
        self._line("except KeyError:")
        self._line(f"    found.append({table}_make({number}))")

    def _product(self, ways: Ways, first: list[Param], last: list[Param], table: str) -> None:
        """Each binding of the first parameters takes the commands of all bindings of the last."""
        rare = sum(one.few for one in last) < sum(one.few for one in first)
        moving = any(one.moving for one in last)
        if rare and moving:
            self._columns(ways, last)
            self._rows(ways, first)
        else:
            self._rows(ways, first)
            if moving:
                self._columns(ways, last)
        if not moving:
            self._line("for i in k:")
            self._line("    try:")
            self._line(f"        found += {table}_whole[i]")
            self._line("    except KeyError:")
            self._line(f"        found += {table}_all(i)")
            return
        self._line("if len(k) > 2 and len(q) > 1:")
        self.depth += 1
        if prod(one.size for one in last) <= MOST_PICKED:
            self._line(f"some = {table}_pick(q)")
            self._line("for i in k:")
            self._line("    try:")
            self._line("        found += some[i]")
            self._line("    except KeyError:")
            self._line(f"        found += {table}_fill(some, q, i)")
        else:
            self._line("take = itemgetter(*q)")
            self._each_row(table, "found += take(some)")
        self.depth -= 1
        self._line("else:")
        self.depth += 1
        self._each_row(table, "for j in q:", "    found.append(some[j])")

    def _each_row(self, table: str, *lines: str) -> None:
        self._line("for i in k:")
        self._line("    try:")
        self._line(f"        some = {table}[i]")
        self._line("    except KeyError:")
        self._line(f"        some = {table}_make(i)")
        for line in lines:
            self._line(f"    {line}")

    def _rows(self, ways: Ways, first: list[Param]) -> None:
        """`k`: the numbers of the bindings of the first parameters, in order, and not none."""
        if len(first) == 1 and not first[0].tied:
            self._line(f"k = {self._listed(ways, first[0])}")
        else:
            self._line("k = []")
            depth = self.depth
            self._bind_all(ways, first)
            self._line(f"k.append({self._id(first, self.names)})")
            self.depth = depth
            if not (self.sorted and [*self.names] == [one.name for one in first]):
                self._line("k.sort()")
        self._line("if k:")
        self.depth += 1

    def _columns(self, ways: Ways, last: list[Param]) -> None:
        """`q`: the numbers of the bindings of the last parameters, in order, and not none."""
        if len(last) == 1:
            self._line(f"q = {self._listed(ways, last[0])}")
        else:
            names = {one.name: self.hoists.emitter.fresh("x") for one in last}
            loops = " ".join(f"for {names[one.name]} in {self._listed(ways, one)}" for one in last)
            self._line(f"q = [{self._id(last, names)} {loops}]")
        self._line("if q:")
        self.depth += 1

    # ---- binding --------------------------------------------------------------------------------

    def _bind_all(self, ways: Ways, params: list[Param]) -> None:
        variables = {one.name: self.hoists.emitter.fresh("a") for one in params}
        self.before, self.outside = len(self.body), self.depth
        while len(self.names) < len(params):
            found = ways.every(self.names, variables, self.outer)
            self._bind(ways, min(found, key=lambda way: way.cost), variables)

    def _bind(self, ways: Ways, way: Way, variables: dict[str, str]) -> None:
        if way.each is not None:
            self._loop(ways, way.each, variables[way.binds[0]])
        if way.uses is not None:
            self._want(way.uses)
        for line in way.lines:
            self._line(line)
            self.depth += line.endswith(":")
        self.sorted = self.sorted and way.sorted
        self.outer *= max(0.1, way.left)
        self.names |= {name: variables[name] for name in way.binds}
        ways.done(way)
        tests = [*way.tests, *ways.ready(self.names)]
        if tests:
            self._line(f"if {' and '.join(tests)}:")
            self.depth += 1

    def _loop(self, ways: Ways, param: Param, variable: str) -> None:
        """All candidates that pass their tests. The outermost loop may test as it goes."""
        hoist = ways.hoist(param)
        if hoist is None or self.names:
            if hoist is not None:
                self._want(hoist)
            self._line(f"for {variable} in {hoist.name if hoist else param.candidates}:")
            self.depth += 1
            return
        self.body.append(Loop(hoist, variable, self.depth))
        self.depth += hoist.depth

    def _listed(self, ways: Ways, param: Param) -> str:
        """The name of the list of candidates that pass their tests now."""
        hoist = ways.hoist(param)
        if hoist is None:
            return param.candidates
        self.body.append(Wanted(hoist, self.depth))
        return hoist.name

    def _want(self, hoist: Hoist) -> None:
        """Have something made before all loops."""
        self.body.insert(self.before, Wanted(hoist, self.outside))
        self.before += 1
