"""Loops in plain rules: what one loop writes is gathered first, then written (see `plain`).

A plain rule may hold loops that change one slot of what they range over, such as everything inside
something. All values are worked out before any is written, so that the loop reads what was there
before; two different values for one slot are left to the general way.
"""

from __future__ import annotations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.bodies import BodyWriter
from tokenworld.engine.emit import Emitter, Locals
from tokenworld.engine.layout import Column
from tokenworld.model import (
    AddFact,
    Assign,
    ClosureOf,
    CollectionRange,
    For,
    If,
    InverseOf,
    Let,
    Local,
    NumberType,
    RemoveFact,
    Term,
    TypeRange,
    effects_in,
    is_optional,
    targets_of,
)

__all__ = ["Many", "is_plain_loop", "looped"]


@frozen
class Many:
    """The writes of one loop: ``values`` names the new values by key, a dict, or where the keys are
    surely different a list of pairs."""

    column: Column
    values: str
    distinct: bool

    def store(self, emitter: Emitter, lines: BodyWriter, title: str) -> None:
        """Write each slot whose value differs, in the order of the loop."""
        column, index = emitter.column(self.column), self.column.index
        key, value, old = (emitter.fresh("p") for _ in range(3))
        pairs = self.values if self.distinct else f"{self.values}.items()"
        lines.line(1, f"for {key}, {value} in {pairs}:")
        if self.column.tupled:
            read = f"S.cols[{index}].get({key}, {emitter.const(self.column.default)})"
        else:
            read = f"S.cols[{index}][{key}]"
        lines.line(2, f"{old} = {read}")
        lines.line(2, f"if {old} != {value}:")
        lines.line(3, f"J.append(({column}, {key}, {old}, {value}, {title}))")
        if self.column.has_children or self.column.tupled:
            lines.line(3, f"A.place({column}, {key}, {value})")
        else:
            stored = f"A.cols[{index}] if {index} in A.mine else A.to_write({column})"
            lines.line(3, f"({stored})[{key}] = {value}")


def is_plain_loop(loop: For, emitter: Emitter) -> bool:
    """Whether a loop makes one change, of a slot that need not fit others."""
    writes = [one for one in effects_in(loop.body) if not isinstance(one, (Let, If))]
    if len(writes) != 1 or not isinstance(writes[0], (Assign, AddFact, RemoveFact)):
        return False
    write = writes[0]
    column = emitter.layout.by_id[write.target.fluent]
    return (
        not (column.shaped or column.fluent.ordered or column.single)
        and (not isinstance(write, Assign) or write.op == "=")
        and all(not isinstance(one, If) or not one.otherwise for one in effects_in(loop.body))
    )


def looped(
    loop: For, emitter: Emitter, lines: BodyWriter, title: str, names: Locals, guard: str
) -> Many:
    """Write the lines that gather what a loop writes."""
    values = emitter.fresh("m")
    distinct = _is_distinct(loop)
    lines.line(1, f"{values} = {'[]' if distinct else '{}'}")
    if guard:
        lines.line(1, f"if {guard}:")
    inner, depth = lines.heads(loop.binders, loop.where, names, 2 if guard else 1)
    writing = _Gathering(emitter, lines, title, values, distinct)
    column = writing.body(loop.body, inner, depth)
    assert column is not None
    return Many(column, values, distinct)


def _is_distinct(loop: For) -> bool:
    """Whether each turn of a loop surely writes to another slot: that of what it ranges over."""
    written = [target.args for one in effects_in(loop.body) for target in targets_of(one)]
    if len(loop.binders) != 1 or len(written) != 1 or len(written[0]) != 1:
        return False
    binder, arg = loop.binders[0], written[0][0]
    lets = {one.name for one in effects_in(loop.body) if isinstance(one, Let)}
    if not isinstance(arg, Local) or arg.name != binder.name or arg.name in lets:
        return False
    match binder.domain:
        case TypeRange():
            return True
        case CollectionRange(collection=collection):
            return isinstance(collection, (InverseOf, ClosureOf))
        case _:
            return False


@frozen
class _Gathering:
    emitter: Emitter
    lines: BodyWriter
    title: str
    values: str
    distinct: bool

    def body(self, body: tuple[object, ...], names: Locals, depth: int) -> Column | None:
        """The column that the body writes to."""
        inner, found = dict(names), None
        for effect in body:
            match effect:
                case Let():
                    self.lines.let(effect, inner, depth)
                case If(condition=condition, then=then):
                    self.lines.line(depth, f"if {self.emitter.term(condition, inner)}:")
                    found = self.body(then, inner, depth + 1) or found
                case Assign(target=target, value=value):
                    found = self.emitter.layout.by_id[target.fluent]
                    self._gather(found, target.args, value, inner, depth)
                case AddFact(target=target):
                    found = self.emitter.layout.by_id[target.fluent]
                    self._gather(found, target.args, True, inner, depth)
                case RemoveFact(target=target):
                    found = self.emitter.layout.by_id[target.fluent]
                    self._gather(found, target.args, False, inner, depth)
                case _:
                    raise TypeError("not a plain loop")
        return found

    def _gather(
        self,
        column: Column,
        args: tuple[Term, ...],
        value: Term | bool,
        names: Locals,
        depth: int,
    ) -> None:
        key = self._key(column, args, names, depth)
        said = repr(value) if isinstance(value, bool) else self._value(column, value, names, depth)
        if self.distinct:
            self.lines.line(depth, f"{self.values}.append(({key}, {said}))")
            return
        self.lines.line(depth, f"if {self.values}.setdefault({key}, {said}) != {said}:")
        self.lines.line(depth + 1, "return -1")

    def _key(self, column: Column, args: tuple[Term, ...], names: Locals, depth: int) -> str:
        parts = [self._named(self.emitter.term(arg, names), depth) for arg in args]
        for part, arg in zip(parts, args, strict=True):
            if not part.isdigit() and (self.emitter.careful or is_optional(arg.type)):
                self._otherwise(f"{part} is None", depth)
            if self.emitter.mortal and arg.type.kind == "object":
                self._otherwise(f"S.kinds[{part}] is None", depth)
        if column.by_object:
            return parts[0]
        row = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if column.fluent.symmetric:
            row = f"{row} if {parts[0]} <= {parts[1]} else ({parts[1]}, {parts[0]})"
        return self._named(row, depth)

    def _value(self, column: Column, value: Term, names: Locals, depth: int) -> str:
        said = self.emitter.fresh("p")
        self.lines.line(depth, f"{said} = {self.emitter.term(value, names)}")
        may_be_none = (
            is_optional(value.type) or column.truth or self.emitter.is_fragile(value, names)
        )
        if may_be_none and (column.always or column.truth):
            self._otherwise(f"{said} is None", depth)
        if column.bounded:
            self._bound(column, said, depth)
        return said

    def _bound(self, column: Column, said: str, depth: int) -> None:
        """Keep a value within its range; a number in it, as most are, is not looked at further."""
        kind = column.fluent.type
        call = f"{said} = bounded({self.emitter.column(column)}, {said}, ({self.title},))"
        if not isinstance(kind, NumberType) or not column.always:
            self.lines.line(depth, call)
            return
        tests = [f"{said} < {kind.low}"] if kind.low is not None else []
        tests += [f"{said} > {kind.high}"] if kind.high is not None else []
        if tests:
            self.lines.line(depth, f"if {' or '.join(tests)}:")
            self.lines.line(depth + 1, call)

    def _named(self, expression: str, depth: int) -> str:
        if expression.isidentifier():
            return expression
        name = self.emitter.fresh("p")
        self.lines.line(depth, f"{name} = {expression}")
        return name

    def _otherwise(self, case: str, depth: int) -> None:
        self.lines.line(depth, f"if {case}:")
        self.lines.line(depth + 1, "return -1")
