"""Writes the function of a plain rule: requires, then values, then tests, then writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.bodies import BodyWriter
from tokenworld.engine.emit import Emitter, held
from tokenworld.engine.layout import Column
from tokenworld.engine.plain_loops import Many, looped
from tokenworld.model import (
    AddFact,
    Assign,
    Binder,
    Body,
    BoolLiteral,
    Chance,
    Effect,
    For,
    If,
    Let,
    LifeEffect,
    Negate,
    NumberLiteral,
    NumberType,
    OutputEffect,
    Pick,
    Read,
    RemoveFact,
    Swap,
    Term,
    Transfer,
    is_optional,
)

__all__ = ["PlainRule", "hoisted", "plain_text"]

_IN = "    "


@frozen
class PlainRule:
    """What a plain function does: the title that its changes are told by, its parameters, its
    conditions with the lets between them, its body."""

    title: str
    params: tuple[Binder, ...]
    guards: tuple[Term | Let, ...]
    body: Body


@dataclass(slots=True)
class _Change:
    """One write: where its key and its new value stand, as generated names. ``void``: a `remove`
    of the slot that this `add` names is no change."""

    column: Column
    key: str
    value: str
    op: str
    guard: str = ""
    void: list[_Change] = field(default_factory=list)


@dataclass(slots=True)
class _Writer:
    """Writes the statements of one plain function. ``quiet``: what is said is left out; ``guard``
    is the name of the condition under which the present part of the body is done."""

    emitter: Emitter
    title: str
    lines: BodyWriter
    quiet: bool
    guard: str = ""
    opened: tuple[str, int] = ("", 0)
    changes: list[_Change | Many] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)

    # ---- working out ------------------------------------------------------------------------

    def effect(self, effect: Effect, names: dict[str, str]) -> None:
        """Keys and values first: nothing is written before everything is known."""
        match effect:
            case Let():
                self._within(lambda depth: self.lines.let(effect, names, depth))
            case If(condition=condition, then=then, otherwise=otherwise):
                self._branch(condition, then, otherwise, names)
            case For():
                self.changes.append(looped(effect, self.emitter, self.lines, self.title, names,
                                           self.guard))  # fmt: skip
            case Assign(target=target, op=op, value=value):
                taken = Negate(value, value.type, value.span) if op == "-=" else value
                self._write(target, "=" if op == "=" else "+", taken, names)
            case AddFact(target=target):
                self._write(target, "add", None, names)
            case RemoveFact(target=target):
                self._write(target, "remove", None, names)
            case Transfer(amount=amount, source=source, target=target):
                moved = self._named(held(self.emitter.term(amount, names), amount.type))
                if not moved.isdigit():
                    self._otherwise(f"{moved} is None or {moved} < 0")
                self._change(source, "+", f"-{moved}", names)
                self._change(target, "+", moved, names)
            case Swap(left=left, right=right):
                self._write(left, "=", right, names)
                self._write(right, "=", left, names)
            case _ if not self.quiet:
                self._within(lambda depth: self.lines.body((effect,), names, depth))
            case Chance() | Pick() | LifeEffect() | OutputEffect():
                pass
            case _:
                assert_never(effect)

    def _branch(self, condition: Term, then: Body, otherwise: Body, names: dict[str, str]) -> None:
        """Both branches, each under a name for whether it is taken."""
        outer, taken = self.guard, self.emitter.fresh("g")
        given = f"{outer} and " if outer else ""
        self.lines.line(1, f"{taken} = {given}{self.emitter.term(condition, names)}")
        other = self.emitter.fresh("g")
        if otherwise:
            self.lines.line(1, f"{other} = {given}not {taken}")
        for guard, body in ((taken, then), (other, otherwise)):
            self.guard, inner = guard, dict(names)
            for effect in body:
                self.effect(effect, inner)
        self.guard = outer

    def _within(self, write: Callable[[int], None]) -> None:
        """Let statements be written at the depth of the guard."""
        if self.guard:
            self.lines.line(1, f"if {self.guard}:")
        write(2 if self.guard else 1)

    def _write(self, target: Read, op: str, value: Term | None, names: dict[str, str]) -> None:
        column = self.emitter.layout.by_id[target.fluent]
        said = {"add": "True", "remove": "False"}.get(op) or self._value(column, op, value, names)
        self._change(target, op, said, names)

    def _change(self, target: Read, op: str, said: str, names: dict[str, str]) -> None:
        column = self.emitter.layout.by_id[target.fluent]
        key = self._key(column, target.args, names)
        self.changes.append(_Change(column, key, said, op, self.guard))

    def _key(self, column: Column, args: Sequence[Term], names: dict[str, str]) -> str:
        if column.single:
            return "0"
        parts = [self._named(self.emitter.term(arg, names)) for arg in args]
        for part, arg in zip(parts, args, strict=True):
            if not part.isdigit() and (self.emitter.careful or is_optional(arg.type)):
                self._otherwise(f"{part} is None")
            if self.emitter.mortal and arg.type.kind == "object":
                self._otherwise(f"S.kinds[{part}] is None")
        if column.by_object:
            return parts[0]
        row = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if column.fluent.symmetric:
            row = f"{row} if {parts[0]} <= {parts[1]} else ({parts[1]}, {parts[0]})"
        return self._named(row)

    def _value(
        self, column: Column, op: str, value: Term | None, names: dict[str, str]
    ) -> str:  # fmt: skip
        assert value is not None
        known = isinstance(value, (NumberLiteral, BoolLiteral))
        said = self.emitter.term(value, names)
        if op == "+":
            said = held(said, value.type)
        name = said if known else self._named(said)
        may_be_none = (
            is_optional(value.type) or column.truth or self.emitter.is_fragile(value, names)
        )  # a truth of something that is `none` is `none`
        if (
            not (known or name.isdigit())
            and may_be_none
            and (op != "=" or column.always or column.truth)
        ):
            self._otherwise(f"{name} is None")
        return name

    def _named(self, expression: str) -> str:
        if expression.isidentifier() or expression.isdigit():
            return expression
        name = self.emitter.fresh("p")
        self._line(f"{name} = {expression}")
        return name

    def _line(self, text: str) -> None:
        """A statement; within an `if` of the body only where its condition held."""
        if not self.guard:
            self.lines.line(1, text)
            return
        if self.opened != (self.guard, len(self.lines.lines)):
            self.lines.line(1, f"if {self.guard}:")
        self.lines.line(2, text)
        self.opened = (self.guard, len(self.lines.lines))

    def _otherwise(self, case: str) -> None:
        self._line(f"if {case}:")
        self._line(_IN + "return -1")

    # ---- meeting ----------------------------------------------------------------------------

    def settle(self) -> bool:
        """Whether the writes are of different slots: what is not known is tested when it runs."""
        for at, one in enumerate(self.changes):
            for other in self.changes[:at]:
                if other.column is not one.column:
                    continue
                if isinstance(one, Many) or isinstance(other, Many):
                    return False
                if other.key == one.key and one.guard == other.guard:
                    return False
                if one.guard != other.guard:
                    self._apart(one, other)
                elif {one.op, other.op} == {"add", "remove"}:
                    removed, added = (one, other) if one.op == "remove" else (other, one)
                    removed.void.append(added)
                elif not (one.key.isdigit() and other.key.isdigit()):
                    self.guard = one.guard
                    self._otherwise(f"{one.key} == {other.key}")
        self.guard = ""
        return True

    def _apart(self, one: _Change, other: _Change) -> None:
        """Writes under different conditions, which may both hold."""
        self.guard = ""
        both = [guard for guard in (one.guard, other.guard) if guard]
        self._otherwise(" and ".join([*both, f"{one.key} == {other.key}"]))

    # ---- writing ----------------------------------------------------------------------------

    def _single(self) -> list[_Change]:
        return [one for one in self.changes if isinstance(one, _Change)]

    def bound(self) -> None:
        """The old values, and the new ones within their ranges; the last that can go wrong."""
        for one in self._single():
            self.guard = one.guard
            old = self.emitter.fresh("o")
            index = one.column.index
            if one.column.tupled:
                default = self.emitter.const(one.column.default)
                self._line(f"{old} = S.cols[{index}].get({one.key}, {default})")
            else:
                self._line(f"{old} = S.cols[{index}][{one.key}]")
            self.ranges.append(old)
            for other in one.void:  # if the fact holds, adding and removing it changes nothing
                self._otherwise(f"{one.key} == {other.key} and not {old}")
            value = one.value
            if one.op == "+":
                self._otherwise(f"{old} is None or {old}.__class__ is str")
                value = f"{old} + {value}"
            if one.column.bounded and not self._fits(one):
                column = self.emitter.column(one.column)
                value = f"bounded({column}, {value}, ({self.title},))"
            if value != one.value:
                one.value = self._named(value)
            if one.column.shaped and one.value != "None":
                self._fit(one)
        self.guard = ""

    def _fit(self, change: _Change) -> None:
        """Leave a place within itself, or a value that is there already, to the general way."""
        stored, fluent = f"S.cols[{change.column.index}]", change.column.fluent
        key, value = change.key, change.value
        if fluent.nested:
            self._otherwise(f"{value} == {key} or within({stored}, {value}, {key})")
        if fluent.unique:
            values = f"{stored}.values()" if change.column.tupled else stored
            self._otherwise(f"{value} is not None and {value} in {values}")

    def _fits(self, change: _Change) -> bool:
        """Whether a written number surely is within the range of its slot."""
        kind = change.column.fluent.type
        if change.op != "=" or not isinstance(kind, NumberType):
            return False
        if not change.value.strip("()-").isdigit():
            return kind.low is None and kind.high is None
        value = int(change.value.strip("()"))
        low, high = kind.low, kind.high
        return (low is None or value >= low) and (high is None or value <= high)

    def store(self) -> None:
        """Write each slot whose value differs, in the order in which the body names them."""
        olds = iter(self.ranges)
        for change in self.changes:
            if isinstance(change, Many):
                change.store(self.emitter, self.lines, self.title)
                continue
            old, self.guard = next(olds), change.guard
            column, index = self.emitter.column(change.column), change.column.index
            apart = "".join(f" and {change.key} != {one.key}" for one in change.void)
            self._line(f"if {old} != {change.value}{apart}:")
            self._line(_IN + f"J.append(({column}, {change.key}, {old}, {change.value}, "
                               f"{self.title}))")  # fmt: skip
            if change.column.has_children:
                put = "put" if change.column.fluent.ordered else "place"
                self._line(_IN + f"A.{put}({column}, {change.key}, {change.value})")
                if change.column.fluent.ordered:
                    self._line("else:")
                    self._line(_IN + f"A.put({column}, {change.key}, {change.value})")
                continue
            stored = self.emitter.fresh("q")
            mine = f"A.cols[{index}] if {index} in A.mine else A.to_write({column})"
            self._line(_IN + f"{stored} = {mine}")
            self._put(change, stored)
        self.guard = ""

    def _put(self, change: _Change, stored: str) -> None:
        default = change.column.default
        if not change.column.tupled:
            self._line(_IN + f"{stored}[{change.key}] = {change.value}")
        elif change.value == repr(default):  # `add` and `remove` are known when this is written
            self._line(_IN + f"del {stored}[{change.key}]")
        elif change.op in ("add", "remove"):
            self._line(_IN + f"{stored}[{change.key}] = {change.value}")
        else:
            self._line(_IN + f"if {change.value} == {self.emitter.const(default)}:")
            self._line(2 * _IN + f"{stored}.pop({change.key}, None)")
            self._line(_IN + "else:")
            self._line(2 * _IN + f"{stored}[{change.key}] = {change.value}")


def plain_text(
    emitter: Emitter, name: str, rule: PlainRule, *, store: bool = False, quiet: bool = True
) -> str | None:
    """The text of ``do``, or of ``may``; ``None`` where two writes always meet in one slot.
    ``quiet``: what the body says is left out."""
    names = {one.name: emitter.fresh("a") for one in rule.params}
    lines, inner = BodyWriter(emitter), dict(names)
    for guard in rule.guards:
        if isinstance(guard, Let):
            lines.let(guard, inner, 1)
        else:
            lines.line(1, f"if not {emitter.term(guard, inner)}:")
            lines.line(2, "return 0")
    writer = _Writer(emitter, emitter.const(rule.title), lines, quiet)
    for effect in rule.body:
        writer.effect(effect, inner)
    if not writer.settle():
        return None
    writer.bound()
    if store:
        writer.store()
    lines.line(1, "return 1")
    header = ", ".join(("S", *(("A",) if store else ()), "W", "me",
                        *(("J", "D") if store else ()), *names.values()))  # fmt: skip
    return "\n".join([f"def {name}({header}):", *hoisted(lines.lines), ""])


def hoisted(lines: list[str]) -> list[str]:
    """The same statements with the columns named once, where they are read several times."""
    if sum(line.count("S.cols[") for line in lines) < 3:
        return lines
    return [_IN + "C = S.cols", *(line.replace("S.cols[", "C[") for line in lines)]
