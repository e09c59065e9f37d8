"""The ways to bind a parameter of an action, and what each may cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.layout import Column
from tokenworld.engine.legal.hoists import Hoist, Hoists
from tokenworld.engine.legal.total import names_of
from tokenworld.ground import Raw, parameter_domains
from tokenworld.model import (
    ROOT,
    Binder,
    Compare,
    CompositeTerm,
    EnumType,
    LeafTerm,
    Local,
    LogicTerm,
    Not,
    NumberTerm,
    ObjectType,
    Read,
    StateTerm,
    Term,
    TestTerm,
)

__all__ = ["Param", "Way", "Ways"]

MANY_CANDIDATES = 6
"""Candidates from which it is worth to ask first whether a rare fact holds of anything."""


@dataclass(slots=True)
class Param:
    """A parameter: the table of its ``candidates``, the parts that speak of it alone and may change
    in play, how many candidates there are, and of how ``few`` these parts may hold. ``members``:
    of an enum. ``tied``: some part speaks of it together with others."""

    binder: Binder
    candidates: str
    still: tuple[Term, ...]
    moving: tuple[Term, ...]
    size: int
    few: int
    members: int
    tied: bool

    @property
    def name(self) -> str:
        return self.binder.name


@dataclass(slots=True)
class Way:
    """A way to bind parameters: by ``each`` candidate, or by lines; the tests that are then to be
    made, what is left and looked at by guess, and the parts that hold by it."""

    cost: float
    left: float
    binds: tuple[str, ...]
    lines: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    each: Param | None = None
    uses: Hoist | None = None
    parts: tuple[Term, ...] = ()
    sorted: bool = True


class Ways:
    """What can be done next for one action."""

    def __init__(self, hoists: Hoists, binders: Sequence[Binder], parts: Iterable[Term]) -> None:
        self._hoists, self._emitter = hoists, hoists.emitter
        every = list(parts)
        self.params = {one.name: self._param(one, every) for one in binders}
        self._parts = [part for part in every if len(names_of(part)) > 1]

    # ---- the parameters -------------------------------------------------------------------------

    def _param(self, binder: Binder, parts: list[Term]) -> Param:
        own = [part for part in parts if names_of(part) == {binder.name}]
        still = tuple(part for part in own if self._hoists.is_still(part))
        moving = tuple(part for part in own if not self._hoists.is_still(part))
        kind, emitter = binder.type, self._emitter
        values: Sequence[Raw] = parameter_domains(emitter.instance, (binder,))[0]
        over, members = emitter.const(tuple(values)), len(values)
        if isinstance(kind, ObjectType):
            values = self._hoists.state.live[kind.name]
            over, members = f"S.live[{emitter.const(kind.name)}]", 0
        candidates = self._hoists.tables.candidates(over, self._tests(still, binder.name, "x"))
        left = [one for one in values if all(self._holds(part, one) for part in still)]
        few = sum(1 for one in left if all(self._holds(part, one) for part in moving))
        tied = any(binder.name in names_of(part) and part not in own for part in parts)
        return Param(binder, candidates, still, moving, len(left), few, members, tied)

    def _tests(self, parts: Iterable[Term], name: str, variable: str) -> tuple[str, ...]:
        return tuple(self._emitter.term(part, {name: variable}) for part in parts)

    def _holds(self, part: Term, value: Raw) -> bool:
        """Whether a part holds of a value now, as far as can be said at a glance."""
        match part:
            case Not(term=Read(args=(Local(),)) as inner):
                return not self._holds(inner, value)
            case Read(args=(Local(),)) if self._emitter.layout.by_id[part.fluent].by_object:
                return bool(self._hoists.stored(part.fluent)[1][value])
            case (
                LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm()
                | CompositeTerm()
            ):  # fmt: skip
                return True
            case _:
                assert_never(part)

    def hoist(self, param: Param) -> Hoist | None:
        """The list of the candidates that pass their tests now; ``None`` where there are none."""
        if not param.moving:
            return None
        rare = self._rare(param) if param.size >= MANY_CANDIDATES and param.few <= 1 else ""
        tests = self._tests(param.moving, param.name, "x")
        return self._hoists.candidates_that(param.candidates, tests, rare)

    def _rare(self, param: Param) -> str:
        """Whether a fact that must hold of a candidate holds of anything at all."""
        for part in param.moving:
            if isinstance(part, Read) and [_name_of(arg) for arg in part.args] == [param.name]:
                column, stored = self._hoists.stored(part.fluent)
                if column.by_object and sum(map(bool, stored)) <= 1:
                    return f"True in S.cols[{column.index}]"
        return ""

    # ---- what is next ---------------------------------------------------------------------------

    def every(self, bound: dict[str, str], variables: dict[str, str], outer: float) -> list[Way]:
        """All ways to bind another one of these variables."""
        free = [self.params[name] for name in variables if name not in bound]
        names = {**variables, **bound}
        found = [_each(one, outer if bound else 0.0) for one in free]
        for part in self._parts:
            match part:
                case Compare(op="==", left=Read() as read, right=Local() as other):
                    found += self._equal(part, read, other, bound, names)
                case Compare(op="==", left=Local() as other, right=Read() as read):
                    found += self._equal(part, read, other, bound, names)
                case Read() if part.type.kind == "bool":
                    found += self._related(part, bound, names, outer)
                case (
                    LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm()
                    | CompositeTerm()
                ):  # fmt: skip
                    pass
                case _:
                    assert_never(part)
        return found

    def done(self, way: Way) -> None:
        """A way was taken."""
        self._parts = [part for part in self._parts if not any(part is one for one in way.parts)]

    def ready(self, bound: dict[str, str]) -> list[str]:
        """The tests of the parts all of whose names are bound."""
        ready = [part for part in self._parts if names_of(part) <= bound.keys()]
        self._parts = [part for part in self._parts if part not in ready]
        return [self._emitter.term(part, bound) for part in ready]

    def _checks(
        self, param: Param, variable: str, known: object, *, still: bool = True
    ) -> list[str]:
        """The tests of a value that some fact gave: that it is a candidate, and passes its tests.
        ``known`` is the type that the fact gives it."""
        found = []
        if still and (param.still or not self._is_of(param, known)):
            found.append(f"{variable} in {self._hoists.tables.members(param.candidates)}")
        return [*found, *self._tests(param.moving, param.name, variable)]

    def _is_of(self, param: Param, known: object) -> bool:
        kind, program = param.binder.type, self._emitter.instance.program
        if isinstance(kind, EnumType):
            return isinstance(known, EnumType)
        if not isinstance(kind, ObjectType) or kind.name == ROOT:
            return True
        return isinstance(known, ObjectType) and program.is_subtype(known.name, kind.name)

    # ---- by facts -------------------------------------------------------------------------------

    def _equal(
        self, part: Term, read: Read, other: Local, bound: dict[str, str], names: dict[str, str]
    ) -> list[Way]:
        """``f(…) == x``: x where the rest is bound; what f is x of, where x is bound."""
        if other.name in names and other.name not in bound and names_of(read) <= bound.keys():
            name = names[other.name]
            lines = [f"{name} = {self._emitter.term(read, bound)}"]
            tests = self._checks(self.params[other.name], name, read.type)
            return [Way(0.0, 1.0, (other.name,), lines, [f"{name} is not None", *tests],
                        parts=(part,))]  # fmt: skip
        column = self._emitter.layout.by_id[read.fluent]
        if read.fluent in self._hoists.moving or not column.by_object or other.name not in bound:
            return []
        return self._looked_up(column, (*read.args, other), bound, names, part, valued=True)

    def _related(
        self, read: Read, bound: dict[str, str], names: dict[str, str], outer: float
    ) -> list[Way]:
        """A fact about several things that holds: its rows."""
        column, stored = self._hoists.stored(read.fluent)
        if column.default is not False or not column.tupled:
            return []
        if read.fluent not in self._hoists.moving:
            return self._looked_up(column, read.args, bound, names, read, valued=False)
        wanted = _wanted(read.args, bound)
        free = [one.name for at in wanted if isinstance(one := read.args[at], Local)]
        if column.fluent.symmetric or len(set(free)) < len(free) or not free:
            return []
        tests = [
            test
            for at, name in zip(wanted, free, strict=True)
            for test in self._checks(self.params[name], names[name], column.fluent.params[at].type)
        ]
        known = tuple(at for at in range(len(read.args)) if at not in wanted)
        fits = [row for row in stored if self._fits(row, wanted, free)]
        left = len(fits) / max(1, len({tuple(row[at] for at in known) for row in fits}))
        made = _Related(
            column, read, tuple(wanted), known, tuple(free), tests, max(1, len(stored)), left
        )
        return [
            self._scanned(made, bound, names),
            *([self._grouped(made, bound, names, outer)] if known and bound else []),
        ]

    def _fits(self, row: Sequence[Raw], wanted: Sequence[int], free: Sequence[str]) -> bool:
        """Whether the wanted parts of a row are candidates of their parameters now."""
        live = self._hoists.state.live
        return all(
            row[at] in live[kind.name]
            for at, name in zip(wanted, free, strict=True)
            if isinstance(kind := self.params[name].binder.type, ObjectType)
        ) and all(
            self._holds(part, row[at])
            for at, name in zip(wanted, free, strict=True)
            for part in (*self.params[name].still, *self.params[name].moving)
        )

    def _scanned(self, one: _Related, bound: dict[str, str], names: dict[str, str]) -> Way:
        """All rows, one by one."""
        row, tests = list[str](), list[str]()
        for at, arg in enumerate(one.read.args):
            if at in one.wanted:
                row.append(names[arg.name])  # type: ignore[union-attr]
                continue
            row.append(self._emitter.fresh("r"))
            tests.append(f"{row[-1]} == {self._emitter.term(arg, bound)}")
        comma = "," if len(row) == 1 else ""
        lines = [f"for ({', '.join(row)}{comma}) in S.cols[{one.column.index}]:"]
        return Way(one.left + 0.1 * one.rows, one.left, one.free, lines, [*tests, *one.tests],
                   parts=(one.read,), sorted=False)  # fmt: skip

    def _grouped(
        self, one: _Related, bound: dict[str, str], names: dict[str, str], outer: float
    ) -> Way:
        """The rows that fit what is known, from groups that are made once."""
        hoist = self._hoists.groups(one.column, one.known)
        key = _tuple([self._emitter.term(one.read.args[at], bound) for at in one.known])
        row = _tuple([names[name] for name in one.free])
        shared = outer * self._hoists.readers.get(one.read.fluent, 1)
        cost = one.left + 0.1 * (one.left + 4 * one.rows / max(1.0, shared))
        return Way(cost, one.left, one.free, [f"for {row} in {hoist.name}.get({key}, ()):"],
                   one.tests, uses=hoist, parts=(one.read,), sorted=False)  # fmt: skip

    def _looked_up(
        self,
        column: Column,
        args: Sequence[Term],
        bound: dict[str, str],
        names: dict[str, str],
        part: Term,
        *,
        valued: bool,
    ) -> list[Way]:
        """The rows of a fact that never changes, by what is known of them."""
        wanted = _wanted(args, bound)
        free = [one.name for at in wanted if isinstance(one := args[at], Local)]
        if not free or len(set(free)) < len(free) or not set(free) <= names.keys():
            return []
        places = {arg.name: f"x{at}" for at, arg in enumerate(args) if isinstance(arg, Local)}
        also = [one for one in self._parts if one is not part and self._hoists.is_still(one)
                and names_of(one) <= places.keys()]  # fmt: skip
        members = self._hoists.tables.members
        inside = tuple(
            [f"x{at} in {members(self.params[name].candidates)}"
             for at, name in zip(wanted, free, strict=True)]
            + [self._emitter.term(one, places) for one in also]
        )  # fmt: skip
        known = tuple(at for at in range(len(args)) if at not in wanted)
        table = self._hoists.tables.index(
            self._emitter.column(column), len(args), known, inside, valued=valued
        )
        key = _tuple([self._emitter.term(args[at], bound) for at in known])
        lines = [f"for {_tuple([names[name] for name in free])} in {table}.get({key}, ()):"]
        tests = [
            test
            for name in free
            for test in self._checks(self.params[name], names[name], None, still=False)
        ]
        each = self._each_row(column, known, valued=valued)
        return [Way(1.1 * each, each, tuple(free), lines, tests, parts=(part, *also))]

    def _each_row(self, column: Column, known: tuple[int, ...], *, valued: bool) -> float:
        """How many rows of a fact there are for what is known, on average."""
        stored: Any = self._hoists.state.cols[column.index]
        if valued:
            rows = [(at, one) for at, one in enumerate(stored) if one is not None]
        elif column.by_object:
            return float(sum(map(bool, stored)))
        else:
            rows = list(stored)
        return len(rows) / max(1, len({tuple(row[at] for at in known) for row in rows}))


@frozen
class _Related:
    """A relation that play changes: which of its places are known, and which are wanted for which
    parameters. ``left``: rows that fit, by guess, for what is known."""

    column: Column
    read: Read
    wanted: tuple[int, ...]
    known: tuple[int, ...]
    free: tuple[str, ...]
    tests: list[str]
    rows: int
    left: float


def _each(param: Param, outer: float) -> Way:
    """Every candidate: those that are left are held to what ties them to others, which costs more
    than a look at a row."""
    looked = param.size / max(1.0, outer) if param.moving else 0.0
    tested = 0.3 * param.few if param.tied and outer > 0 else 0.0
    cost = param.few + tested + 0.1 * looked
    return Way(cost, float(param.few), (param.name,), each=param)


def _wanted(args: Sequence[Term], bound: dict[str, str]) -> list[int]:
    """The places of the arguments that are not bound yet."""
    return [at for at, one in enumerate(args) if isinstance(one, Local) and one.name not in bound]


def _tuple(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _name_of(term: Term) -> str | None:
    return term.name if isinstance(term, Local) else None
