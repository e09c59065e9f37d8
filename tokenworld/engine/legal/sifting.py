"""The commands of one action of a small world whose requires hold, with rules of any kind.

Each action has a generated function that loops over its bindings and tests every condition as soon
as all that it speaks of is bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, assert_never

from tokenworld.engine.bodies import BodyWriter
from tokenworld.engine.compile import Code, extend
from tokenworld.engine.delta import Breach
from tokenworld.engine.legal.joins import Join, compile_join
from tokenworld.engine.legal.listing import Listing
from tokenworld.engine.legal.standing import SMALL, Made, is_simple
from tokenworld.engine.probe import is_atom
from tokenworld.engine.state import State
from tokenworld.ground import Command, parameter_domains
from tokenworld.model import (
    Action,
    And,
    Arithmetic,
    Binder,
    BoolLiteral,
    BuiltinCall,
    Compare,
    CompositeTerm,
    DeriveCall,
    Implies,
    IsType,
    LeafTerm,
    Let,
    Local,
    Me,
    Member,
    Not,
    NumberTerm,
    ObjectType,
    Or,
    StateTerm,
    Term,
    conjuncts,
    is_draw,
    subterms,
    terms_of,
)

__all__ = ["Sifting"]

MANY_PARAMS = 3
"""Parameters from which the order in which they are bound matters enough for a join."""

Sift = Callable[..., list[Command]]


@dataclass(slots=True)
class _Sifted:
    """An action: how its list is made, ``by`` a join, a generated function, or nothing where each
    binding is tried on its own; ``few``: it never has too many bindings to be listed."""

    name: str
    made: Made
    by: Join | Sift | None
    rows: bool
    few: bool
    tables: tuple[Any, ...] = ()
    basis: tuple[Any, ...] = ()
    listed: bool = True


class Sifting:
    """``slow`` lists commands whose requires hold by trying each binding of an action."""

    def __init__(
        self,
        code: Code,
        listing: Listing,
        made: dict[str, Made],
        slow: Callable[[State, str], Iterable[Command]],
    ) -> None:
        self._code, self._listing, self._commands, self._slow = code, listing, made, slow
        self._actions: dict[str, _Sifted] = {}

    def knows(self, state: State) -> bool:
        """Whether it can tell: not where the world is large or somebody is busy."""
        return len(state.kinds) <= SMALL and is_simple(state)

    def held(self, state: State, name: str) -> list[Command]:
        """The commands of one action whose requires hold in a state that it can tell of."""
        try:
            return self._held(self._started(state)[name], state)
        except Breach:  # a number is undefined for a binding: each has to be tried on its own
            return list(self._slow(state, name))

    def _started(self, state: State) -> dict[str, _Sifted]:
        if not self._actions:
            self._actions = {name: self._begin(state, name) for name in self._code.actions}
        return self._actions

    # ---- one action -----------------------------------------------------------------------------

    def _held(self, one: _Sifted, state: State) -> list[Command]:
        by = one.by
        if by is None:
            return list(self._slow(state, one.name))
        if isinstance(by, Join):
            self._look(one, by, state)
            if not one.listed:
                return []
            joined: list[Command] = by.commands(state, state, state.me, one.made, *one.tables)
            return joined
        if one.rows:
            rows = self._listing.bindings(state, one.name)
            return by(state, state, state.me, one.made, rows) if rows is not None else []
        if not one.few:
            one.listed = self._listing.bindings(state, one.name) is not None
        return by(state, state, state.me, one.made, ()) if one.listed else []

    def _look(self, one: _Sifted, join: Join, state: State) -> None:
        """See that the tables of a join are right, and whether there are too many bindings."""
        basis = (state.live, *(state.cols[index] for index in join.columns))
        if len(basis) != len(one.basis) or not all(map(is_, basis, one.basis)):
            one.basis, one.tables = basis, join.tables(state)
            one.listed = self._listing.bindings(state, one.name) is not None

    def _begin(self, state: State, name: str) -> _Sifted:
        code, action = self._code, self._code.actions[name].action
        many, rows = len(action.params) >= MANY_PARAMS, self._listing.is_joined(name)
        join = compile_join(code, action, state) if many else None
        by = join if join is not None else _compiled(code, action, rows=rows)
        few = not many and all(
            isinstance(one.type, ObjectType) for one in action.params
        )  # of `SMALL` objects at most
        return _Sifted(name, self._commands[name], by, rows, few)


def _compiled(code: Code, action: Action, *, rows: bool) -> Sift | None:
    """``sift(S, W, me, made, rows)``: the commands of an action whose requires hold, in order;
    ``None`` where a condition may have no value, so that each binding is tried on its own."""
    emitter = code.emitter
    guards = [part for guard in action.steps for part in _parts(guard)]
    if any(_may_break(part) for part in guards) or _shadows(action, guards):
        return None
    writing = _Writing(BodyWriter(emitter), guards, {})
    writing.lines.line(1, "found = []")
    writing.test(frozenset())
    names = {one.name: emitter.fresh("a") for one in action.params}
    writing.loop(action.params, names, rows=rows)
    row = "".join(f"{name}, " for name in names.values())
    lines, depth = writing.lines, writing.depth
    lines.line(depth, f"found.append(made[({row})])")
    lines.line(1, "return found")
    name = emitter.fresh("sift")
    texts = [text for _, text in emitter.texts]
    emitter.texts.clear()
    header = f"def {name}(S, W, me, made, rows):"
    extend(code, "\n".join([*texts, header, *lines.lines, ""]))
    function: Sift = code.space[name]
    return function


def _parts(step: Term | Let) -> Sequence[Term | Let]:
    return [step] if isinstance(step, Let) else list(conjuncts((step,)))


def _shadows(action: Action, guards: Sequence[Term | Let]) -> bool:
    """Whether a name means two things."""
    named = [one.name for one in action.params]
    named += [one.name for one in guards if isinstance(one, Let)]
    inner = {name for part in guards for name in _bound(part)}
    return len(set(named)) < len(named) or not inner.isdisjoint(named)


def _may_break(part: Term | Let) -> bool:
    return (isinstance(part, Let) and is_draw(part)) or any(
        isinstance(one, (Arithmetic, BuiltinCall, DeriveCall)) for one in _every(part)
    )


@dataclass(slots=True)
class _Writing:
    """The loops of one action: each condition at the place where all that it speaks of is bound.
    One that has a value whatever the others say may overtake those written before it."""

    lines: BodyWriter
    waiting: list[Term | Let]
    names: dict[str, str]
    depth: int = 1

    def loop(self, params: Sequence[Binder], names: dict[str, str], *, rows: bool) -> None:
        if rows:
            self.lines.line(1, f"for {''.join(f'{name}, ' for name in names.values())} in rows:")
            self.depth = 2
            self.names.update(names)
            self.test(frozenset(names))
            return
        for binder in params:
            self.lines.line(self.depth, f"for {names[binder.name]} in {self._domain(binder)}:")
            self.depth += 1
            self.names[binder.name] = names[binder.name]
            self.test(frozenset(self.names))

    def _domain(self, binder: Binder) -> str:
        emitter = self.lines.emitter
        if isinstance(binder.type, ObjectType):
            return f"S.live[{emitter.const(binder.type.name)}]"
        domain = parameter_domains(emitter.instance, (binder,))[0]
        return emitter.const(domain if isinstance(domain, range) else tuple(domain))

    def test(self, bound: frozenset[str]) -> None:
        """Test what can be tested now."""
        rest: list[Term | Let] = []
        for part in self.waiting:
            if not _names(part) <= self.names.keys() or (rest and not _is_total(part)):
                rest.append(part)
            elif isinstance(part, Let):
                self.lines.let(part, self.names, self.depth)
            else:
                self.lines.line(self.depth, f"if not {self.lines.emitter.term(part, self.names)}:")
                leave = "continue" if self.depth > 1 else "return found"
                self.lines.line(self.depth + 1, leave)
        self.waiting = rest


def _names(part: Term | Let) -> frozenset[str]:
    every = {one.name for one in _every(part) if isinstance(one, Local)}
    return frozenset(every - _bound(part))


def _bound(part: Term | Let) -> set[str]:
    """The names that a condition binds itself."""
    return {binder.name for one in _every(part) for binder in getattr(one, "binders", ())}


def _every(part: Term | Let) -> Iterator[Term]:
    for term in terms_of(part) if isinstance(part, Let) else (part,):
        yield from subterms(term)


def _is_total(part: Term | Let) -> bool:
    """Whether a condition has a value in any order: a fact, an equation, a type, a constant."""
    match part:
        case Not(term=inner):
            return _is_total(inner)
        case IsType(term=inner):
            return isinstance(inner, (Local, Me))
        case BoolLiteral():
            return True
        case Let():
            return False
        case (
            LeafTerm() | StateTerm() | And() | Or() | Implies() | Compare() | Member()
            | NumberTerm() | CompositeTerm()
        ):  # fmt: skip
            return is_atom(part)
        case _:
            assert_never(part)
