"""One function for each action that lists the bindings for which the author's requires hold.

``listed(S, W, me, found)`` appends the arguments in order. Each require is tested as soon as all
that it reads is bound. The next parameter to be bound is the one with the fewest values by the
facts of the start; bindings found in another than the written order are sorted at the end. A
parameter that a require makes equal to something bound before, or that points at it, ranges over
that value or over the objects that point at it; one of a relation over those that it leaves; one
whose own slots follow each other is found by a scan of these. A test is moved only if it has a
value for all results of those before it; one whose value may be missing (a division by zero) is
left to the function of all guards, where that makes the command impossible.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice, takewhile
from math import prod
from operator import itemgetter
from typing import Any, ClassVar, assert_never

from tokenworld.core import Rules
from tokenworld.core import nodes as core
from tokenworld.core.desugar import Desugarer
from tokenworld.core.rules import Action, Law
from tokenworld.core.walk import conjuncts, statements_in, subterms, template_terms
from tokenworld.engine.rows.code.terms import MOST_LOOPS, Lines, Name, TermWriter, within_length
from tokenworld.engine.rows.layout import KINDS, MOST_DENSE, Store
from tokenworld.ground import Raw
from tokenworld.model import NumberType, ObjectType, ValueType, is_optional

_SURE = frozenset({"not", "and", "or", "==", "<", "<=", "in", "tick", "busy", "did", "pi", "id",
                   "next", "prev"})  # fmt: skip
"""Operators that always have a value."""
_EXACT = frozenset({"+", "-", "*", "neg", "scale", "min", "max", "abs"})
"""Those that have one where the type of the result is bounded."""


@dataclass(frozen=True)
class _Guard:
    """A conjunct of the requires, or a let; ``reads`` are the parameters and lets that it names."""

    term: core.Term
    reads: frozenset[str]
    name: str = ""
    alone: bool = False


@dataclass(frozen=True)
class _Part:
    """A function under way: the variables that it takes, and its lines so far."""

    name: str
    given: tuple[str, ...]
    lines: Lines = field(default_factory=list)


_DEEP = 60
"""The depth of nested blocks from which code is moved to another function."""


@dataclass
class HoistWriter:
    """Writes the function of one action; ``ok`` is that of all its guards in written order.

    ``given``: the function takes the value of the parameter with this position, which is bound
    first, and counts in ``found`` each value that it tries: ``listed(S, W, me, found, value)``.
    """

    terms: TermWriter
    action: Action
    ok: str
    given: int | None = None
    depth: int = 1
    joins: ClassVar[bool] = True
    """Whether parameters are bound in the order of their numbers of values."""

    def __post_init__(self) -> None:
        self._kinds = {one.name: one.type for one in self.action.params}
        self._names: dict[str, Name] = {}
        self._left = False
        self._guards = list(self._placed())

    def write(self, name: str, more: tuple[str, ...] = ()) -> None:
        """Add the function; its parameters ``more`` precede the list to which it appends.

        Python nests 20 loops and 100 blocks at most: deeper code becomes a function of its own.
        """
        params = list(self.action.params)
        order, left = list[core.Binder](), list(params)
        first = [] if self.given is None else [self.terms.fresh("a")]
        self._parts = [_Part(name, tuple(first))]
        self._more = more
        self._behind()
        while left:
            if first and not order:
                binder = params[self.given or 0]
                self._names[binder.name] = Name(first[0])
            else:
                binder = self._next(left)
                self._bind(binder)
            left.remove(binder)
            order.append(binder)
            if first:
                self._line("found.spend()")
            self._behind()
        self._found([self._names[one.name].code for one in params])
        if order != params and not first:  # a caller that gives a value sorts
            self._parts[0].lines.append((1, "found.sort()"))
        for part in reversed(self._parts):
            self.terms.function(part.name, [*more, "found", *part.given], part.lines)

    def _room(self) -> None:
        """Go on in another function where the nesting is deep."""
        loops = sum(text.startswith("for ") for _, text in self._parts[-1].lines)
        if loops < MOST_LOOPS and self.depth < _DEEP:
            return
        given = tuple(dict.fromkeys(one.code for one in self._names.values()))
        name = self.terms.fresh("listed_")
        self._line(f"{name}({', '.join(['S', 'W', 'me', *self._more, 'found', *given])})")
        self._parts.append(_Part(name, given))
        self.depth = 1

    def _found(self, codes: list[str]) -> None:
        """The lines that append a binding."""
        args = "".join(f"{one}, " for one in codes)
        if self._left:
            self._line(f"if held({self.ok}, S, W, me, {args}):")
            self.depth += 1
        self._line(f"found.append(({args}))")

    def _line(self, text: str) -> None:
        self._parts[-1].lines.append((self.depth, text))

    # ---- the position of a guard ----------------------------------------------------------------

    def _placed(self) -> Iterator[_Guard]:
        """The guards that are tested here; the others are left to ``ok``."""
        lost, params = set[str](), set(self._kinds)
        known = set(params)
        for guard in self.action.guards:
            name = guard.names[0] if isinstance(guard, core.Let) else ""
            for term in _terms(guard):
                read = {one.name for one in subterms(term) if isinstance(one, core.Variable)}
                alone = self._is_alone(term) and read & known <= params
                if read & lost or not is_sure(term, self.terms.rules) or (self._left and not alone):
                    self._left = True
                    lost.add(name)
                    continue
                yield _Guard(term, frozenset(read & known), name, alone)
                if name:
                    known.add(name)

    def _is_alone(self, term: core.Term) -> bool:
        """Return whether the value of a term depends on no earlier require."""
        fluents, derives = self.terms.slots.by_id, self.terms.rules.derives
        for one in subterms(term):
            match one:
                case core.Read(fluent=name):
                    declared: ValueType | None = fluents[name].column.fluent.type
                case core.DeriveCall(derive=name):
                    declared = derives[name].type
                case core.Variable(name=name):
                    declared = self._kinds.get(name)
                case (
                    core.LeafTerm() | core.Members() | core.Call() | core.Fold() | core.Choice()
                    | core.TypeTest() | core.Text()
                ):  # fmt: skip
                    declared = None
                case _:
                    assert_never(one)
            if declared is not None and _narrowed(declared, one.type):
                return False
        return True

    # ---- loops and tests ------------------------------------------------------------------------

    def _behind(self) -> None:
        """The guards of which everything is bound now, in written order."""
        waiting = list[_Guard]()
        for guard in self._guards:
            if not guard.reads <= self._names.keys() or (waiting and not guard.alone):
                waiting.append(guard)
                continue
            self._room()
            if not guard.name:
                self._line(f"if {self.terms.term(guard.term, self._names)}:")
                self.depth += 1
                continue
            loose = self.terms.loose(guard.term, self._names)
            own = self.terms.fresh("l")
            self._line(f"{own} = {self.terms.value(guard.term, self._names)}")
            self._names[guard.name] = Name(own, loose)
        self._guards = waiting

    def _bind(self, binder: core.Binder) -> None:
        """The loop over the values of a parameter."""
        self._room()
        for _, guard in self._ranked(binder):
            for narrowed in (self._related, self._candidates, self.terms.scanned):
                found = narrowed(binder, guard.term, self._names)
                if found is not None:
                    moves = self._values(binder) is None
                    self._loop(binder, found, tested=moves or narrowed == self._candidates)
                    if guard.reads <= self._names.keys():
                        self._guards.remove(guard)  # exactly these make it true
                    return
        self._names, self.depth = self.terms.loops(
            (binder,), None, self._names, self._parts[-1].lines, self.depth
        )

    def _loop(self, binder: core.Binder, found: str, *, tested: bool) -> None:
        """The loop over candidates; ``tested``: some may be of another type."""
        variable = self.terms.fresh()
        self._names[binder.name] = Name(variable)
        self._line(f"for {variable} in {found}:")
        self.depth += 1
        if tested:
            self._line(f"if {self._kind_test(binder, variable)}:")
            self.depth += 1

    def _candidates(
        self, binder: core.Binder, test: core.Term, names: dict[str, Name]
    ) -> str | None:
        """The range of a parameter that a test compares, itself or by a fluent, with a value."""
        if not isinstance(binder.type, ObjectType) or not isinstance(test, core.Call):
            return None
        if test.op not in ("==", "in"):
            return None
        for one, other in (test.args, test.args[::-1]) if test.op == "==" else (test.args,):
            if not self.terms.is_bound(other, names):
                continue
            if isinstance(one, core.Variable) and one.name == binder.name:
                return self._members(other) if test.op == "in" else self._single(other)
            if test.op == "==" and isinstance(one, core.Read) and not one.was:
                at = one.args[0] if len(one.args) == 1 else None
                if isinstance(at, core.Variable) and at.name == binder.name:
                    return self._pointing(one, other)
        return None

    def _single(self, value: core.Term) -> str:
        return f"({self.terms.term(value, self._names)},)"

    def _pointing(self, read: core.Read, value: core.Term) -> str | None:
        """The objects that point at a value, in order of number."""
        store = self.terms.slots.by_id[read.fluent]
        if store.kids is None or self.terms.loose(value, self._names):
            return None
        return self._kids(store, value)

    def _members(self, value: core.Term) -> str | None:
        """The contents of an object, in order of number."""
        if not isinstance(value, core.Members) or value.by != "inverse" or value.was:
            return None
        store = self.terms.slots.by_id[value.fluent]
        return self._kids(store, value.of) if store.column.by_object else None

    def _kids(self, store: Store, value: core.Term) -> str:
        row, of = self.terms.row(store, False), self.terms.term(value, self._names)
        code = self.terms.contents("kids", store, row, of)
        return f"sorted({code})" if store.column.fluent.ordered else code

    def _kind_test(self, binder: core.Binder, variable: str) -> str:
        """The test that a candidate is of the type of a parameter."""
        kind = binder.type
        assert isinstance(kind, ObjectType)
        slots, program = self.terms.slots, self.terms.slots.program
        if kind.name not in slots.moving:
            return f"{variable} in {self.terms.const(frozenset(slots.base.live[kind.name]))}"
        kinds = frozenset(name for name in program.types if program.is_subtype(name, kind.name))
        test = f"S[{KINDS}][{variable}] in {self.terms.const(kinds)}"
        return f"{variable} {self.terms.present} and {test}"

    # ---- the number of values -------------------------------------------------------------------

    def _next(self, left: list[core.Binder]) -> core.Binder:
        """The parameter to bind next: that with the fewest values."""
        if not self.joins or any(map(is_optional, self._kinds.values())):
            return left[0]  # `none` cannot be sorted
        return min(left, key=self._fewest)

    def _fewest(self, binder: core.Binder) -> float:
        """About how many values of a parameter are left; a test leaves half of them."""
        values, bound = self._values(binder), {binder.name, *self._names}
        whole: float = self.terms.slots.numbered if values is None else len(values)
        tests = [one for one in self._about(binder) if one.reads <= bound]
        return min([whole, *(count for count, _ in self._ranked(binder))]) * 0.5 ** len(tests)

    def _about(self, binder: core.Binder) -> list[_Guard]:
        """The tests of a parameter that depend on no other require."""
        guards = [one for one in self._guards if one.alone and not one.name]
        return [one for one in guards if binder.name in one.reads]

    def _ranked(self, binder: core.Binder) -> list[tuple[float, _Guard]]:
        """The guards that may narrow a parameter now, each with about how many values it leaves,
        fewest first."""
        found = [(self._count(binder, one), one) for one in self._about(binder)]
        return sorted(((n, one) for n, one in found if n is not None), key=itemgetter(0))

    def _count(self, binder: core.Binder, guard: _Guard) -> float | None:
        """About how many values of a parameter a guard leaves, by the facts of the start."""
        term, whole = guard.term, guard.reads <= {binder.name, *self._names}
        if isinstance(term, core.Read):
            places = self._places(binder, term)
            if places is None:
                return self.terms.slots.numbered if whole else None
            table = self._table(term.fluent, *places)
            least = self.terms.slots.by_id[term.fluent].live
            return max(sum(map(len, table.values())) / max(len(table), 1), least)
        if not (whole and isinstance(term, core.Call) and term.op in ("==", "in")):
            return None
        equal = term.op == "==" and any(_is(one, binder) for one in term.args)
        return 1 if equal else 2

    def _values(self, binder: core.Binder) -> Sequence[Raw] | None:
        """The range of a parameter; ``None`` where objects come and go."""
        slots, kind = self.terms.slots, binder.type
        if isinstance(kind, ObjectType) and kind.name in slots.moving:
            return None
        return slots.first_values(binder.domain)

    # ---- relations ------------------------------------------------------------------------------

    def _places(self, binder: core.Binder, read: core.Read) -> tuple[int, tuple[int, ...]] | None:
        """The place of a parameter among the arguments of a fact, and the places of those that are
        bound; ``None`` if the fact finds no values of it."""
        store, names = self.terms.slots.by_id[read.fluent], self._names
        own = [at for at, one in enumerate(read.args) if _is(one, binder)]
        bound = tuple(at for at, one in enumerate(read.args) if self.terms.is_bound(one, names))
        free = [one for at, one in enumerate(read.args) if at not in bound]
        plain = all(isinstance(one, core.Variable) for one in free)
        few = len(self.terms.slots.base.cols[store.column.index]) <= MOST_DENSE
        known = store.column.truth and not (store.column.default or read.was)
        if not (self.joins and len(own) == 1 and plain and few and known):
            return None
        return None if store.live and len(free) > 1 else (own[0], bound)

    def _table(
        self, fluent: str, at: int, others: tuple[int, ...]
    ) -> dict[tuple[Raw, ...], tuple[Raw, ...]]:
        """The facts of the start: the values of one argument by those of others."""
        slots, tables = self.terms.slots, self.terms.tables
        if (fluent, at, others) not in tables:
            column = slots.by_id[fluent].column
            stored, found = slots.base.cols[column.index], dict[tuple[Raw, ...], set[Raw]]()
            pairs = stored.items() if column.tupled else enumerate(stored)
            for key in (key for key, value in pairs if value):
                for args in _both(column.args(key), column.fluent.symmetric):
                    found.setdefault(tuple(args[one] for one in others), set()).add(args[at])
            tables[fluent, at, others] = {key: tuple(sorted(x)) for key, x in found.items()}
        return tables[fluent, at, others]

    def _related(self, binder: core.Binder, test: core.Term, names: dict[str, Name]) -> str | None:
        """The values of a parameter for which a fact holds with the bound arguments."""
        places = self._places(binder, test) if isinstance(test, core.Read) else None
        if places is None:
            return None
        assert isinstance(test, core.Read)
        at, bound = places
        store, values = self.terms.slots.by_id[test.fluent], self._values(binder)
        codes = [self.terms.term(test.args[one], names) for one in bound]
        allowed = values if values is None or isinstance(values, range) else frozenset(values)
        key = "".join(f"{one}, " for one in codes)
        if not store.live:
            table = {
                key: tuple(x for x in found if allowed is None or x in allowed)
                for key, found in self._table(test.fluent, at, bound).items()
            }
            if not bound:
                return self.terms.const(table.get((), ()))
            return f"{self.terms.const(table)}.get(({key}), ())"
        if store.column.tupled and store.offset is None:
            return f"{self.terms.const(_holding(store, at, allowed))}(S, {key})"
        return self._sliced(binder, test, at, codes)

    def _sliced(
        self, binder: core.Binder, read: core.Read, at: int, codes: list[str]
    ) -> str | None:
        """The same for slots at equal distances."""
        store, values = self.terms.slots.by_id[read.fluent], self._values(binder)
        inner = {**self._names, binder.name: Name("")}
        follow = values and values[-1] - values[0] == len(values) - 1  # type: ignore[operator]
        if not follow or store.offset is None or not self.terms.sure(store, read.args, inner):
            return None
        assert values is not None
        first, last = (
            self.terms.slot(store, [*codes[:at], f"{one}", *codes[at:]])
            for one in (values[0], values[-1])
        )
        step = prod(size for _, size in store.spans[at + 1 :])
        self.terms.constants["compress"] = compress
        return f"compress({self.terms.const(tuple(values))}, S[{first}:{last}+1:{step}])"


def _is(term: core.Term, binder: core.Binder) -> bool:
    return isinstance(term, core.Variable) and term.name == binder.name


def _both(args: tuple[Raw, ...], symmetric: bool) -> set[tuple[Raw, ...]]:
    """Arguments, for a symmetric relation also in the other order."""
    return {args, args[::-1]} if symmetric else {args}


def _holding(store: Store, at: int, allowed: Container[Raw] | None) -> Callable[..., list[Raw]]:
    """The function of a row and the other arguments of a relation that finds those values of one
    argument for which it holds, in order. As slots are only ever added, each is entered once."""
    known, rows, symmetric = dict[Any, Any](), store.rows, store.column.fluent.symmetric
    seen = 0

    def holding(S: list[Any], *others: Raw) -> list[Raw]:
        nonlocal seen
        if seen < len(rows):
            for args, place in islice(rows.items(), seen, None):
                for row in _both(args, symmetric):
                    if allowed is None or row[at] in allowed:
                        known.setdefault((*row[:at], *row[at + 1 :]), []).append((row[at], place))
            seen = len(rows)
        size = len(S)
        return sorted([x for x, place in known.get(others, ()) if place < size and S[place]])

    return holding


def is_sure(term: core.Term, rules: Rules, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether a term has a value, or is `none`, in every state."""
    for one in subterms(term):
        if isinstance(one, core.Call) and not _has_value(one):
            return False
        match one:
            case core.DeriveCall(derive=name) if name not in seen:
                if not is_sure(rules.derives[name].value, rules, seen | {name}):
                    return False
        if isinstance(one, core.Fold) and one.fold == "sum" and within_length("", one.type):
            return False
    return True


def _has_value(term: core.Call) -> bool:
    exact = term.op in _EXACT and isinstance(term.type, NumberType)
    return term.op in _SURE or (exact and not within_length("", term.type))


def lasting(law: Law, rules: Rules) -> list[core.Term]:
    """The first conditions of a law that are the same for all its bindings, and that no law of its
    phase changes."""
    fellows = [one.footprint for one in rules.laws.values() if one.phase == law.phase]
    if any(one.creates for one in fellows):
        fellows += (one.footprint for one in rules.births)
    changed = frozenset[str]().union(*(one.writes for one in fellows))
    peopled = any(one.creates or one.destroys for one in fellows)
    params = {one.name for one in law.params}

    def lasts(term: core.Term) -> bool:
        touched = rules.footprint((term,))
        if touched.asks - {"tick"} or touched.reads & changed:
            return False
        if peopled and (touched.reads or touched.types or any(map(_is_test, rules.parts(term)))):
            return False
        return not any(isinstance(x, core.Variable) and x.name in params for x in subterms(term))

    return list(takewhile(lasts, conjuncts(() if law.when is None else (law.when,))))


def _is_test(term: core.Term) -> bool:
    return isinstance(term, core.TypeTest)


def words_are_sure(rules: Rules, world: str) -> bool:
    """Return whether all texts and the score of a world have values in every state."""
    bodies: list[core.Body] = [one.body for one in rules.births]
    for action in rules.actions.values():
        bodies += (action.body, action.cancelled)
    bodies += (one.body for one in rules.laws.values())
    bodies += (one.body for one in rules.watches.values())
    sugar, found = Desugarer(rules.program), rules.worlds[world]
    bodies += (sugar.description(one).body for one in rules.program.describes)
    statements = [one for body in bodies for one in statements_in(body)]
    texts = [one.template for one in statements if isinstance(one, core.Say)]
    texts += (one.text for one in found.endings if one.text is not None)
    terms = [one for text in texts for one in template_terms(text)]
    terms += (one.name for one in rules.called)
    terms += (one.target for one in statements if isinstance(one, core.Describe))
    terms += [] if found.score is None else [found.score]
    terms += (one.amount for one in found.awards)
    return all(is_sure(one, rules) for one in terms)


def _terms(guard: core.Let | core.Require) -> tuple[core.Term, ...]:
    """The value of a let, or the conjuncts of a condition."""
    if isinstance(guard, core.Require):
        return tuple(conjuncts((guard.condition,)))
    assert not isinstance(guard.value, core.Draw)
    return (guard.value,)


def _narrowed(declared: ValueType, found: ValueType) -> bool:
    """Return whether a term has a narrower type than the fluent or variable that it names."""
    if is_optional(declared) and not is_optional(found):
        return True
    if isinstance(declared, ObjectType) and isinstance(found, ObjectType):
        return declared.name != found.name
    return False
