"""A condition split into clauses, each with its truth and the values that decide it.

*and*, *or*, *not* and *if … then* are split into their terms, *any* and *all* into their cases, a
derived truth into its definition. The rest are leaves with the values that they read. Each clause
is compiled once for an action.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Literal, assert_never

from tokenworld import model as m
from tokenworld.core.nodes import Fold as CoreFold
from tokenworld.core.nodes import Let
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.rows.code.program import Function, Program
from tokenworld.engine.rows.layout import NAMES
from tokenworld.engine.rows.questions.why import UNDEFINED, guards_of
from tokenworld.engine.rows.stepper import Tick
from tokenworld.ground import Command, Json, show_value, value_text

ClauseKind = Literal["and", "or", "not", "implies", "any", "all", "case", "derive", "leaf"]

_CASES: Final = 5
"""So many cases of *any* and *all* are shown: those that decide come first."""
_DEEP: Final = 4
"""Derives within derives are taken apart so far."""

_READING = (m.Read, m.DeriveCall, m.Fold, m.ParamRead, m.InverseOf, m.ClosureOf, m.BuiltinCall)


@frozen
class Clause:
    """One clause: its place, its truth (``None``: it has no value), its parts.

    ``case`` names the values of the variables of *any* or *all*. ``values`` are the values that a
    leaf reads, by place. ``left_out`` counts cases that are not among the parts.
    """

    kind: ClauseKind
    span: Span
    holds: bool | None
    parts: tuple[Clause, ...] = ()
    values: tuple[tuple[Span, Json], ...] = ()
    case: str = ""
    left_out: int = 0


@frozen
class _Scope:
    """The variables that a term may name, with their values, and the lets before it."""

    key: str
    types: Mapping[str, m.ValueType]
    values: tuple[Any, ...]
    lets: tuple[Let, ...] = ()
    depth: int = 0

    def with_cases(self, types: Mapping[str, m.ValueType], values: Sequence[Any]) -> _Scope:
        known = dict(zip(self.types, self.values, strict=True)) | dict(
            zip(types, values, strict=True)
        )
        kinds = {**self.types, **types}
        key = f"{self.key}+{','.join(types)}"
        return _Scope(key, kinds, tuple(known[x] for x in kinds), self.lets, self.depth)


def clauses_of(tick: Tick, command: Command) -> tuple[Clause, ...]:
    """The requires of a command, split into clauses, evaluated for the actor whose turn it is."""
    asking = _Asking(tick, tick.since(command))
    action = tick.of.rules.program.actions[command.action]
    types = {binder.name: binder.type for binder in action.params}
    lets = [before for _, before in guards_of(tick.of.rules.actions[command.action])]
    return tuple(
        asking.clause(
            require.condition, _Scope(f"{action.name}:{index}", types, command.args, lets[index])
        )
        for index, require in enumerate(action.requires)
    )


@frozen
class _Asking:
    tick: Tick
    was: list[Any]

    @property
    def _code(self) -> Program:
        return self.tick.code

    def clause(self, term: m.Term, scope: _Scope) -> Clause:
        """Split a term as far as its parts explain more than the term itself."""
        holds = self._truth(term, scope)
        match term:
            case m.And(terms=terms):
                return Clause("and", term.span, holds, self._each(terms, scope))
            case m.Or(terms=terms):
                return Clause("or", term.span, holds, self._each(terms, scope))
            case m.Not(term=inner):
                return Clause("not", term.span, holds, self._each((inner,), scope))
            case m.Implies(left=left, right=right):
                return Clause("implies", term.span, holds, self._each((left, right), scope))
            case m.Fold(fold="any" | "all") if term.value is not None:
                return self._cases(term, holds, scope)
            case m.DeriveCall() if self._opens(term, scope):
                return self._derived(term, holds, scope)
            case m.LeafTerm() | m.StateTerm() | m.TestTerm() | m.NumberTerm() | m.CompositeTerm():
                return Clause("leaf", term.span, holds, (), tuple(self._values(term, scope)))
            case _:
                assert_never(term)

    def _each(self, terms: Sequence[m.Term], scope: _Scope) -> tuple[Clause, ...]:
        return tuple(self.clause(one, scope) for one in terms)

    # ---- any and all ----------------------------------------------------------------------------

    def _cases(self, term: m.Fold, holds: bool | None, scope: _Scope) -> Clause:
        """The cases that decide first: those that fail of an *all*, those that hold of an *any*."""
        assert term.value is not None
        types = {binder.name: binder.type for binder in term.binders}
        decides = term.fold == "any"
        rows = self._asked(term, scope, cases=True)
        if rows is None:
            return Clause(_kind(term), term.span, holds)
        scopes = [scope.with_cases(types, row) for row in rows]
        truths = [self._truth(term.value, one) for one in scopes]
        order = sorted(range(len(scopes)), key=lambda at: truths[at] is not decides)
        parts = tuple(
            Clause("case", term.value.span, truths[at], (self.clause(term.value, scopes[at]),),
                   case=self._case(types, rows[at]))
            for at in islice(order, _CASES)
        )  # fmt: skip
        return Clause(_kind(term), term.span, holds, parts, left_out=len(scopes) - len(parts))

    def _case(self, types: Mapping[str, m.ValueType], row: Sequence[Any]) -> str:
        values = zip(types.items(), row, strict=True)
        return ", ".join(
            f"{name} = {value_text(self._shown(kind, value))}" for (name, kind), value in values
        )

    def _shown(self, kind: m.ValueType, value: Any) -> Json:
        return show_value(self._code.rules.program, self.tick.row.S[NAMES], kind, value)

    # ---- derives --------------------------------------------------------------------------------

    def _opens(self, term: m.DeriveCall, scope: _Scope) -> bool:
        derive = self._code.rules.program.derives[term.derive]
        return (
            scope.depth < _DEEP
            and not term.was
            and not derive.recursive
            and derive.type.kind == "bool"
        )

    def _derived(self, term: m.DeriveCall, holds: bool | None, scope: _Scope) -> Clause:
        derive = self._code.rules.program.derives[term.derive]
        args = [self._value(one, scope) for one in term.args]
        types = {binder.name: binder.type for binder in derive.params}
        values = tuple(self._values(term, scope, inner=True))
        if any(found is _NOTHING for found in args):
            return Clause("derive", term.span, holds, (), values)
        inner = _Scope(f"derive {derive.name}", types, tuple(args), (), scope.depth + 1)
        return Clause("derive", term.span, holds, (self.clause(derive.value, inner),), values)

    # ---- values ---------------------------------------------------------------------------------

    def _values(
        self, term: m.Term, scope: _Scope, *, inner: bool = False
    ) -> Iterator[tuple[Span, Json]]:
        """The reads of a leaf with their values, outermost first, each place once, without its
        truth."""
        seen = set[tuple[str, int, int]]()
        lets = frozenset(name for let in scope.lets for name in let.names)
        for one in _reading(term, lets, skip=inner or isinstance(term, _READING)):
            place = (one.span.file, one.span.start, one.span.end)
            value = self._value(one, scope)
            if place not in seen and value is not _NOTHING:
                seen.add(place)
                yield (
                    one.span,
                    self._shown(one.type, value),
                )

    def _truth(self, term: m.Term, scope: _Scope) -> bool | None:
        value = self._value(term, scope)
        return None if value is _NOTHING else bool(value)

    def _value(self, term: m.Term, scope: _Scope) -> Any:
        return self._asked(term, scope, cases=False, nothing=_NOTHING)

    def _asked(self, term: m.Term, scope: _Scope, *, cases: bool, nothing: Any = None) -> Any:
        function = _compiled(self._code, term, scope, cases=cases)
        try:
            return function(self.tick.row.S, self.was, self.tick.acting, *scope.values)
        except UNDEFINED:
            return nothing


_NOTHING: Final = object()
"""The value of a term that has none."""


def _kind(term: m.Fold) -> ClauseKind:
    return "any" if term.fold == "any" else "all"


def _reading(term: m.Term, lets: frozenset[str], *, skip: bool = False) -> Iterator[m.Term]:
    telling = isinstance(term, _READING) or (isinstance(term, m.Local) and term.name in lets)
    if telling and not skip and not isinstance(term.type, m.CollectionType):
        yield term
    if isinstance(term, m.Fold):
        return  # its variables have no single value
    for child in m.children(term):
        yield from _reading(child, lets)


def _compiled(code: Program, term: m.Term, scope: _Scope, *, cases: bool) -> Function:
    """The function of a term's value, or of the rows of values that an *any* or *all* ranges over;
    kept as long as the program."""
    known: dict[tuple[int, str, bool], tuple[m.Term, Function]] = code.space.setdefault(
        "CLAUSES", {}
    )
    key = (id(term), scope.key, cases)
    if key not in known:
        params, lets = tuple(scope.types), scope.lets
        lowered = code.rules.term(term)
        if cases:
            assert isinstance(lowered, CoreFold)
            binders, where = lowered.binders, lowered.where
            made = code.bindings_of(binders, where, params, lets, careful=True)
        else:
            made = code.value_of(lowered, params, lets, careful=True)
        known[key] = (term, made)
    return known[key][1]
