"""Which slots a condition reads: expressions that name them when the rule is tried.

A condition that is false stays false until one of these slots changes. So whoever waits for it need
not look again before that. What cannot be named slot by slot (everything inside something, a count
over all objects) is named column by column; what does not rest on slots alone (the tick, `was`,
what somebody did) has no footprint, and its rule is tried in every state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from tokenworld.engine.emit import Emitter
from tokenworld.engine.layout import Column
from tokenworld.ground import changed_in_play
from tokenworld.model import (
    BuiltinCall,
    Choose,
    ClosureOf,
    CompositeTerm,
    DeriveCall,
    Fold,
    InverseOf,
    LeafTerm,
    ListTerm,
    Local,
    LogicTerm,
    Member,
    NumberTerm,
    Read,
    TemplateTerm,
    Term,
    TestTerm,
    children,
    is_optional,
    subterms,
)

__all__ = ["Footprint", "NoFootprint"]

MOST = 24
"""Slots that one condition may name; more are named by their columns."""
DEPTH = 3
"""How deep derives are looked into for slots."""


class NoFootprint(Exception):
    """A term rests on more than slots."""


@dataclass(slots=True)
class Footprint:
    """Finds the slots of terms. ``fixed`` as long as no key rested on another slot's value."""

    emitter: Emitter
    fixed: bool = True
    _moving: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._moving = changed_in_play(self.emitter.instance.program)

    def slots(
        self, term: Term, names: Mapping[str, str], lets: Mapping[str, list[str]]
    ) -> list[str]:
        """Expressions of the slots that a term reads, the same one once.

        ``lets``: the slots behind each name that a `let` made.
        """
        found = list(dict.fromkeys(self._walk(term, names, lets, 0)))
        if len(found) > MOST:
            self.fixed = False
            found = sorted({f"({one[1:].split(',')[0]}, None)" for one in found})
        return found

    def _walk(
        self, term: Term, names: Mapping[str, str], lets: Mapping[str, list[str]], depth: int
    ) -> Iterator[str]:
        if getattr(term, "was", False):
            raise NoFootprint
        match term:
            case Local(name=name):
                yield from lets.get(name, ())
            case Read():
                yield from self._read(term, names, lets, depth)
            case Member(item=item, collection=InverseOf(fluent=fluent, of=of, was=False)):
                yield from self._walk(item, names, lets, depth)
                yield from self._walk(of, names, lets, depth)
                yield from self._slot(self.emitter.layout.by_id[fluent], (item,), names)
            case InverseOf() | ClosureOf() | Fold():
                yield from self._columns(term)
                yield from self._outer(term, lets)
            case DeriveCall():
                yield from self._derived(term, names, lets, depth)
            case TemplateTerm():
                raise NoFootprint
            case BuiltinCall(name="tick" | "score" | "busy" | "did"):
                raise NoFootprint
            case (
                LeafTerm() | LogicTerm() | TestTerm() | NumberTerm() | Choose() | ListTerm()
                | BuiltinCall()
            ):  # fmt: skip
                for part in children(term):
                    yield from self._walk(part, names, lets, depth)
            case _:
                assert_never(term)

    def _outer(self, term: Term, lets: Mapping[str, list[str]]) -> Iterator[str]:
        """The slots behind the outer names that an inner condition uses."""
        for part in subterms(term):
            if isinstance(part, Local):
                yield from lets.get(part.name, ())

    def _read(
        self, term: Read, names: Mapping[str, str], lets: Mapping[str, list[str]], depth: int
    ) -> Iterator[str]:
        for arg in term.args:
            yield from self._walk(arg, names, lets, depth)
        yield from self._slot(self.emitter.layout.by_id[term.fluent], term.args, names)

    def _slot(
        self, column: Column, args: tuple[Term, ...], names: Mapping[str, str]
    ) -> Iterator[str]:
        if column.fluent.id not in self._moving:
            return
        if column.single:
            yield f"({column.index}, 0)"
            return
        if any(not self._still(arg) for arg in args):
            self.fixed = False
        keys = [self._key(arg, names) for arg in args]
        if column.by_object:
            yield f"({column.index}, {keys[0]})"
        elif column.fluent.symmetric:
            yield f"({column.index}, pair({keys[0]}, {keys[1]}))"
        else:
            yield f"({column.index}, ({', '.join(keys)}{',' if len(keys) == 1 else ''}))"

    def _key(self, term: Term, names: Mapping[str, str]) -> str:
        """A part of a key; with care, for what comes before it in its condition may not hold. A
        key that is `none` stands for the whole column."""
        careful, self.emitter.careful = self.emitter.careful, True
        try:
            return self.emitter.term(term, names)
        finally:
            self.emitter.careful = careful

    def _still(self, term: Term) -> bool:
        """Whether a key is the same in every state: no changing slot is behind it."""
        return not any(
            isinstance(one, (DeriveCall, InverseOf, ClosureOf, Fold))
            or (isinstance(one, Read) and one.fluent in self._moving)
            for one in subterms(term)
        ) and not is_optional(term.type)

    def _derived(
        self, term: DeriveCall, names: Mapping[str, str], lets: Mapping[str, list[str]], depth: int
    ) -> Iterator[str]:
        for arg in term.args:
            yield from self._walk(arg, names, lets, depth)
        derive = self.emitter.instance.program.derives[term.derive]
        if derive.recursive or depth >= DEPTH or any(is_optional(arg.type) for arg in term.args):
            yield from self._columns(term)
            return
        if any(not self._still(arg) for arg in term.args):
            self.fixed = False
        inner = {
            binder.name: self._key(arg, names)
            for binder, arg in zip(derive.params, term.args, strict=True)
        }
        yield from self._walk(derive.value, inner, {}, depth + 1)

    def _columns(self, term: Term) -> Iterator[str]:
        """Every column that a term may read, through derives."""
        derives = self.emitter.instance.program.derives
        todo, seen = [term], set[str]()
        while todo:
            for part in subterms(todo.pop()):
                if getattr(part, "was", False) or isinstance(part, TemplateTerm):
                    raise NoFootprint
                match part:
                    case BuiltinCall(name="tick" | "score" | "busy" | "did"):
                        raise NoFootprint
                    case Read(fluent=fluent) | InverseOf(fluent=fluent) | ClosureOf(fluent=fluent):
                        if fluent in self._moving:
                            yield f"({self.emitter.layout.by_id[fluent].index}, None)"
                    case DeriveCall(derive=name) if name not in seen:
                        seen.add(name)
                        todo.append(derives[name].value)
                    case (
                        LeafTerm() | DeriveCall() | LogicTerm() | TestTerm() | NumberTerm()
                        | CompositeTerm()
                    ):  # fmt: skip
                        pass
                    case _:
                        assert_never(part)
