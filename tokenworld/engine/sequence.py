"""Sequential phases: objects in turn, each reading what earlier ones wrote (language.md §7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, product
from typing import Any

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.applying import apply, net
from tokenworld.engine.bodies import BodyWriter
from tokenworld.engine.compile import HEADER, Code, Function, extend, keyed
from tokenworld.engine.delta import Breach, Delta, RawChange
from tokenworld.engine.guards import Guards
from tokenworld.engine.layout import Column
from tokenworld.engine.luck import Luck
from tokenworld.engine.result import Result
from tokenworld.engine.state import State
from tokenworld.ground import Instance, Raw, domain_of
from tokenworld.model import Binder, IntervalRange, Law, ObjectType, TypeRange

__all__ = ["MOST_KEPT", "InTurn", "Row", "Turn", "compile_turn", "preorder"]

Row = tuple[Raw, ...]
FEW = 256
"""Objects up to which the bindings of laws about one object each are listed at once."""
MOST_KEPT = 4096
"""Bindings of a phase up to which their list is kept from tick to tick."""


@frozen
class Turn:
    """A law of the phase, its number there, and ``one(S, W, me, D, *args)``, which evaluates one
    binding of it."""

    law: Law
    number: int
    one: Function


@dataclass(slots=True)
class _Course:
    """A phase under way: the present state and all that was changed so far.

    ``own``: the state belongs to the phase alone and nobody has kept it, so it may be written to.
    """

    now: State
    own: bool = False
    changes: list[RawChange] = field(default_factory=list)


class InTurn:
    """One sequential phase of a compiled world."""

    def __init__(
        self, instance: Instance, code: Code, guards: Guards, laws: tuple[Law, ...], nesting: bool
    ) -> None:
        self._instance, self._guards, self._layout = instance, guards, code.emitter.layout
        self._nesting = nesting
        turns = tuple(Turn(law, at, compile_turn(code, law)) for at, law in enumerate(laws))
        self.turns = turns
        self._first = tuple(turn for turn in turns if _type(turn.law.params[:1]) is None)
        self._rest = tuple(turn for turn in turns if _type(turn.law.params[:1]) is not None)
        nested = (c.index for c in self._layout.columns if c.fluent.nested and c.by_object)
        self.places = tuple(nested) if nesting else ()
        self._single = not self._first and all(len(turn.law.params) == 1 for turn in turns)
        self._order: tuple[list[object], list[int]] = ([], [])
        self._kept: tuple[list[int], list[tuple[Turn, Row]]] = ([], [])
        self._of_kind: dict[str, tuple[Turn, ...]] = {}

    def run(self, result: Result, state: State, start: State, luck: Luck) -> State:
        """The state after all bindings in turn; what they did and said goes to ``result``."""
        course, kinds, me = _Course(state), state.kinds, state.me
        delta = Delta(self._layout, luck, state.seed, start.tick)
        now, turn = state, None
        try:
            for turn, args in self._schedule(state):
                if now.kinds is not kinds and not _alive(now, turn.law, args):
                    continue
                turn.one(now, start, me, delta, *args)
                if delta.fired:
                    now = self._apply(result, course, delta, start)
                    delta = Delta(self._layout, luck, state.seed, start.tick)
        except Breach as breach:
            raise breach.blamed(f"law {turn.law.name}" if turn else "") from None
        result.law_changes += net(course.changes)
        return now

    def _apply(self, result: Result, course: _Course, delta: Delta, start: State) -> State:
        """Apply what one binding asked for, at once; the state from then on."""
        before = course.now
        watched = bool(delta.doomed) or self._guards.conserves
        after = before if course.own and not watched else before.fork()
        changes = apply(after, delta)
        self._guards.check_conserved(before, after, delta, changes, after.me)
        result.fired += delta.fired
        course.changes += changes
        course.now, course.own = after, True
        return after

    # ---- the order of bindings ----------------------------------------------------------------

    def _schedule(self, state: State) -> Iterable[tuple[Turn, Row]]:
        """Every binding in its place; the list of objects is taken when the phase begins.

        It rests on the order of objects alone, and is kept while that stays, if it is short.
        """
        order = self._ordered(state)
        if self._kept[0] is not order:
            found = self.bindings(state, order)
            if not isinstance(found, list):
                return found
            self._kept = (order, found)
        return self._kept[1]

    def bindings(self, state: State, order: list[int] | None = None) -> Iterable[tuple[Turn, Row]]:
        """The same, worked out now; a list where they are few."""
        if order is None:
            order = self._worked_out(state)
        if self._single and len(order) <= FEW:
            of_kind, kinds = self._of_kind, state.kinds
            found: list[tuple[Turn, Row]] = []
            for number in order:
                kind = kinds[number] or ""
                turns = of_kind[kind] if kind in of_kind else self._taking(kind)
                if turns:
                    found += [(turn, (number,)) for turn in turns]
            return found
        bindings = self._bindings(state, order)
        first = list(islice(bindings, MOST_KEPT + 1))
        return first if len(first) <= MOST_KEPT else chain(first, bindings)

    def _bindings(self, state: State, order: list[int]) -> Iterator[tuple[Turn, Row]]:
        for turn in self._first:
            for row in product(*self._domains(state, order, turn.law.params)):
                yield turn, row
        rows = {
            turn.law.name: list(product(*self._domains(state, order, turn.law.params[1:])))
            for turn in self._rest
            if len(turn.law.params) > 1
        }
        kinds = state.kinds
        for number in order if self._rest else ():
            only = (number,)
            for turn in self._taking(kinds[number] or ""):
                if turn.law.name not in rows:
                    yield turn, only
                    continue
                for row in rows[turn.law.name]:
                    yield turn, (number, *row)

    def _ordered(self, state: State) -> list[int]:
        """The objects in their order; worked out again when somebody came, went or moved."""
        basis: list[object] = [state.kinds]
        for index in self.places:
            basis += (state.cols[index], state.kids[index])
        known, order = self._order
        if len(known) != len(basis) or any(
            one is not now for one, now in zip(known, basis, strict=True)
        ):
            order = self._worked_out(state)
            self._order = (basis, order)
        return order

    def _worked_out(self, state: State) -> list[int]:
        return preorder(state) if self._nesting else _by_number(state)

    def _taking(self, kind: str) -> tuple[Turn, ...]:
        """The laws whose first argument may be an object of this type, in written order."""
        found = self._of_kind.get(kind)
        if found is None:
            subtype = self._instance.program.is_subtype
            found = self._of_kind[kind] = tuple(
                turn for turn in self._rest if subtype(kind, _type(turn.law.params) or "")
            )
        return found

    def _domains(
        self, state: State, order: list[int], params: tuple[Binder, ...]
    ) -> list[tuple[Raw, ...]]:
        return [self._domain(state, order, binder) for binder in params]

    def _domain(self, state: State, order: list[int], binder: Binder) -> tuple[Raw, ...]:
        match binder.domain:
            case TypeRange(of=ObjectType(name=name)):
                members = state.live[name]
                if not self._nesting:
                    return members
                chosen = frozenset(members)
                return tuple(number for number in order if number in chosen)
            case TypeRange(of=of):
                return domain_of(self._instance, of) or ()
            case IntervalRange(low=low, high=high):
                return tuple(range(low, high + 1))
            case _:
                raise TypeError("a law's parameter ranges over a type or an interval")


def _type(params: tuple[Binder, ...]) -> str | None:
    """The object type of the first parameter; ``None`` if there is none, or it is no object."""
    kind = params[0].type if params else None
    return kind.name if isinstance(kind, ObjectType) else None


def _alive(state: State, law: Law, args: Row) -> bool:
    """Whether no object among the arguments was destroyed."""
    return all(
        binder.type.kind != "object" or (isinstance(value, int) and state.alive(value))
        for binder, value in zip(law.params, args, strict=True)
    )


def _by_number(state: State) -> list[int]:
    return [number for number, kind in enumerate(state.kinds) if kind is not None]


def preorder(state: State) -> list[int]:
    """All live objects, containers before their contents: roots by number, children as kept.

    Without a ``nested`` attribute this is the order of their numbers.
    """
    nested = state.layout.nested
    alive = _by_number(state)
    if not nested:
        return alive
    if len(nested) == 1 and state.kids[nested[0].index] is not None:
        found = _descended(state.cols[nested[0].index], state.kids[nested[0].index], alive)
        if len(found) == len(alive):
            return found
    parents = [state.cols[column.index] for column in nested]
    roots = [number for number in alive if all(parent[number] is None for parent in parents)]
    contents: dict[int, list[int]] = {}
    for column in nested:
        for holder, children in _contents(state, column, alive):
            contents.setdefault(holder, []).extend(children)
    return _walked(roots, contents, alive)


def _descended(parents: Any, children: Any, alive: list[int]) -> list[int]:
    """The objects within those that lie nowhere, each before its contents."""
    todo = [number for number in reversed(alive) if parents[number] is None]
    found: list[int] = []
    while todo:
        number = todo.pop()
        found.append(number)
        if inner := children[number]:
            todo += inner[::-1]
    return found


def _contents(
    state: State, column: Column, alive: list[int]
) -> Iterator[tuple[int, Sequence[int]]]:
    """Every holder of a nested attribute with what it holds, in kept order."""
    kept = state.kids[column.index]
    if kept is not None:
        yield from ((holder, children) for holder, children in enumerate(kept) if children)
        return
    stored = state.cols[column.index]
    yield from ((stored[number], (number,)) for number in alive if stored[number] is not None)


def _walked(roots: list[int], contents: dict[int, list[int]], alive: list[int]) -> list[int]:
    found: dict[int, None] = {}
    todo = list(reversed(roots))
    while todo:
        number = todo.pop()
        if number not in found:
            found[number] = None
            todo.extend(reversed(contents.get(number, ())))
    return [*found, *(number for number in alive if number not in found)]


def compile_turn(code: Code, law: Law) -> Function:
    """``one(S, W, me, D, *args)``: the law for one binding, its condition first."""
    emitter = code.emitter
    names = {binder.name: emitter.fresh("a") for binder in law.params}
    writer = BodyWriter(emitter)
    if law.when is not None:
        writer.line(1, f"if not {emitter.term(law.when, names)}:")
        writer.line(2, "return")
    row = "".join(f"{name}, " for name in names.values())
    title = emitter.const(f"law {law.name}")
    writer.line(1, f"D.by({title}, ({row}), {keyed(emitter, law.params, names)})")
    writer.body(law.body, names, 1)
    name = emitter.fresh("turn")
    texts = [text for _, text in emitter.texts]
    emitter.texts.clear()
    header = ", ".join((HEADER, "D", *names.values()))
    extend(code, "\n".join([*texts, f"def {name}({header}):", *writer.lines, ""]))
    found: Function = code.space[name]
    return found
