"""Writes the loops of a join: which parameter is bound when, and by what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tokenworld.engine.emit import Emitter
from tokenworld.engine.indexes import Index
from tokenworld.engine.layout import Column
from tokenworld.engine.state import State
from tokenworld.ground import Raw, changed_in_play, parameter_domains
from tokenworld.model import ROOT, Binder, Compare, Local, ObjectType, Read, Term, subterms

__all__ = ["Loops"]

_COLUMN = re.compile(r"\bS\.cols\[(\d+)\]")


@dataclass(slots=True)
class _Way:
    """A way to bind parameters: the lines that do it, which, what it may cost, and the part of the
    requires that holds by it."""

    cost: float
    binds: tuple[str, ...]
    lines: list[str]
    index: Index | None = None
    part: Term | None = None
    sorted: bool = True


@dataclass(slots=True)
class Loops:
    """Writes the loops of one action, the cheapest way to bind a parameter first."""

    emitter: Emitter
    params: Sequence[Binder]
    parts: list[Term]
    state: State
    names: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    indexes: list[Index] = field(default_factory=list)
    depth: int = 1
    order: list[str] = field(default_factory=list)
    sorted: bool = True
    _moving: frozenset[str] = frozenset()

    def function(self) -> tuple[str, str]:
        """The text of the function and its name."""
        emitter = self.emitter
        self._moving = changed_in_play(emitter.instance.program)
        all_names = {one.name: emitter.fresh("a") for one in self.params}
        self._line("found = []")
        self._filters()
        while len(self.names) < len(self.params):
            self._bind(min(self._ways(all_names), key=lambda way: way.cost), all_names)
            self._filters()
        row = "".join(f"{all_names[one.name]}, " for one in self.params)
        in_order = self.sorted and self.order == [one.name for one in self.params]
        self._line(f"found.append(made[({row})])" if in_order else f"found.append(({row}))")
        self.depth = 1
        if in_order:
            self._line("return found")
        else:
            self._line("found.sort()")
            self._line("return [made[row] for row in found]")
        name = emitter.fresh("list")
        tables = "".join(f", X{number}" for number in range(len(self.indexes)))
        header = f"def {name}(S, W, me, made{tables}):"
        return "\n".join([header, *_with_names(self.lines), ""]), name

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _filters(self) -> None:
        """Test every part all of whose names are bound."""
        ready = [part for part in self.parts if _names(part) <= self.names.keys()]
        self.parts = [part for part in self.parts if part not in ready]
        if ready:
            tests = " and ".join(self.emitter.term(part, self.names) for part in ready)
            self._line(f"if {tests}:")
            self.depth += 1

    def _bind(self, way: _Way, all_names: dict[str, str]) -> None:
        if way.index is not None:
            self.indexes.append(way.index)
        for line in way.lines:
            self._line(line)
            self.depth += line.endswith(":")
        self.parts = [part for part in self.parts if part is not way.part]
        self.order += way.binds
        self.sorted = self.sorted and way.sorted
        self.names |= {name: all_names[name] for name in way.binds}

    # ---- ways ---------------------------------------------------------------------------------

    def _ways(self, all_names: dict[str, str]) -> list[_Way]:
        free = [one for one in self.params if one.name not in self.names]
        found = [self._each(one, all_names) for one in free]
        for part in self.parts:
            match part:
                case Compare(op="==", left=Read() as read, right=Local() as other):
                    found += self._equal(part, read, other, all_names)
                case Compare(op="==", left=Local() as other, right=Read() as read):
                    found += self._equal(part, read, other, all_names)
                case Read() if part.type.kind == "bool":
                    found += self._related(part, all_names)
                case _:
                    pass
        return found

    def _each(self, binder: Binder, all_names: dict[str, str]) -> _Way:
        """Every candidate; of objects the rows of a fact about them that never changes, if any."""
        name = all_names[binder.name]
        about = [
            part
            for part in self.parts
            if isinstance(part, Read) and [_name_of(arg) for arg in part.args] == [binder.name]
        ]
        if not isinstance(binder.type, ObjectType):
            values = parameter_domains(self.emitter.instance, (binder,))[0]
            head = f"for {name} in {self.emitter.const(values)}:"
            return _Way(_cost(len(values), len(values)), (binder.name,), [head])
        every = len(self.state.live[binder.type.name])
        left = min([every, *(self._rows(part.fluent, binder) for part in about)])
        for part in about:
            column = self.emitter.layout.by_id[part.fluent]
            if part.fluent not in self._moving and column.by_object:
                index = Index(column, (), (0,), valued=False)
                head = f"for {name} in X{len(self.indexes)}.get((), ()):"
                lines = [head, *self._of_type(binder, name, None)]
                cost = _cost(self._rows(part.fluent, binder), left)
                return _Way(cost, (binder.name,), lines, index, part)
        live = f"S.live[{self.emitter.const(binder.type.name)}]"
        return _Way(_cost(every, left), (binder.name,), [f"for {name} in {live}:"])

    def _rows(self, fluent: str, binder: Binder) -> int:
        """How many objects of a parameter's type have a truth now."""
        column = self.emitter.layout.by_id[fluent]
        stored = self.state.cols[column.index]
        if not column.by_object or not isinstance(binder.type, ObjectType):
            return len(stored)
        return sum(1 for one in self.state.live[binder.type.name] if stored[one])

    def _equal(self, part: Term, read: Read, other: Local, all_names: dict[str, str]) -> list[_Way]:
        """``f(…) == x``: x where the rest is bound; what f is x of, where x is bound."""
        binder = next((one for one in self.params if one.name == other.name), None)
        bound = all(name in self.names for arg in read.args if (name := _name_of(arg)))
        if binder is not None and other.name not in self.names and bound:
            name = all_names[other.name]
            value = self.emitter.term(read, self.names)
            lines = [f"{name} = {value}", f"if {name} is not None:"]
            lines += self._of_type(binder, name, read.type)
            return [_Way(0.0, (other.name,), lines)]  # the equation itself tests what is an enum
        column = self.emitter.layout.by_id[read.fluent]
        if read.fluent in self._moving or not column.by_object or other.name not in self.names:
            return []
        return self._looked_up(column, (*read.args, other), all_names, part, valued=True)

    def _related(self, read: Read, all_names: dict[str, str]) -> list[_Way]:
        """A fact about several things that holds: its rows."""
        column = self.emitter.layout.by_id[read.fluent]
        if column.default is not False or not column.tupled:
            return []
        if read.fluent not in self._moving:
            return self._looked_up(column, read.args, all_names, read, valued=False)
        names = [_name_of(arg) for arg in read.args]
        wanted = [name for name in names if name and name not in self.names]
        if column.fluent.symmetric or len(set(wanted)) < len(wanted) or not wanted:
            return []
        tests, parts = list[str](), list[str]()
        for arg, name in zip(read.args, names, strict=True):
            if name in wanted:
                parts.append(all_names[name or ""])
                continue
            parts.append(self.emitter.fresh("r"))
            tests.append(f"if {parts[-1]} == {self.emitter.term(arg, self.names)}:")
        row = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        lines = [f"for {row} in S.cols[{column.index}]:", *tests]
        for place, name in enumerate(names):
            if name in wanted:
                lines += self._of_type(self._binder(name), all_names[name or ""],
                                       column.fluent.params[place].type)  # fmt: skip
        rows = list(self.state.cols[column.index])
        fits = [row for row in rows if self._fits(row, names, wanted)]
        bound = len(names) - len(wanted)
        cost = _cost(len(rows), len(fits) ** (len(wanted) / len(names)) if bound else len(fits))
        binds = tuple(name for name in wanted if name)
        return [_Way(cost, binds, lines, part=read, sorted=False)]

    def _fits(
        self, row: tuple[Raw, ...], names: list[str | None], wanted: Sequence[str | None]
    ) -> bool:
        """Whether the wanted parts of a row are candidates of their parameters now."""
        return all(
            value in self.state.live[kind.name]
            for value, name in zip(row, names, strict=True)
            if name in wanted and isinstance(kind := self._binder(name).type, ObjectType)
        )

    def _looked_up(
        self,
        column: Column,
        args: Sequence[Term],
        all_names: dict[str, str],
        part: Term,
        *,
        valued: bool,
    ) -> list[_Way]:
        """The rows of a fact that never changes, by what is known of them."""
        names = [_name_of(arg) for arg in args]
        wanted = [at for at, name in enumerate(names) if name and name not in self.names]
        free = [name for at in wanted if (name := names[at])]
        if not wanted or len(set(free)) < len(free):
            return []
        known = tuple(at for at in range(len(args)) if at not in wanted)
        key = ", ".join(self.emitter.term(args[at], self.names) for at in known)
        table = f"X{len(self.indexes)}"
        row = ", ".join(all_names[name] for name in free)
        lines = [f"for {row} in {table}.get(({key}{',' if len(known) == 1 else ''}), ()):"]
        for at in wanted:
            name = names[at] or ""
            lines += self._of_type(self._binder(name), all_names[name],
                                   None if valued else column.fluent.params[at].type)  # fmt: skip
        index = Index(column, known, tuple(wanted), valued)
        table_now = index.build(self.state)
        each = sum(map(len, table_now.values())) / max(1, len(table_now))
        return [_Way(_cost(each, each), tuple(free), lines, index, part)]

    def _binder(self, name: str | None) -> Binder:
        return next(one for one in self.params if one.name == name)

    def _of_type(self, binder: Binder, name: str, known: object) -> list[str]:
        """The test that an object is of the parameter's type, where the fact does not say so."""
        kind = binder.type
        if not isinstance(kind, ObjectType):
            return []
        program = self.emitter.instance.program
        if kind.name == ROOT:
            return []
        if isinstance(known, ObjectType) and program.is_subtype(known.name, kind.name):
            return []
        of = frozenset(one for one in program.types if program.is_subtype(one, kind.name))
        return [f"if S.kinds[{name}] in {self.emitter.const(of)}:"]


def _with_names(lines: list[str]) -> list[str]:
    """The same with a name of its own for each column: loops look it up many times."""
    text = "\n".join(lines)
    used = dict.fromkeys(_COLUMN.findall(text))
    return [*(f"    c{one} = S.cols[{one}]" for one in used), _COLUMN.sub(r"c\1", text)]


def _cost(looked_at: float, left: float) -> float:
    """What is left is looked at by all loops further in."""
    return left + 0.1 * looked_at


def _name_of(term: Term) -> str | None:
    return term.name if isinstance(term, Local) else None


def _names(term: Term) -> frozenset[str]:
    return frozenset(one.name for one in subterms(term) if isinstance(one, Local))
