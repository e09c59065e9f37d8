"""The laws of a model: one for each guessed fluent, which draws its value from the experts.

An expert is a binding of a belief that guesses a slot. With r(v) the weight that it gives a value,
the slot becomes v with a probability in proportion to the product of r(v)^λ over its experts
(Hinton 2002: a product of experts). The total of an r cancels, so it is divided by nothing.

Where every λ is a small whole number and no expert has further parameters, the weights stay exact.
Otherwise the draw is given their logarithms, as doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, assert_never

from tokenworld import model as m
from tokenworld.check.analysis.substitution import substituted
from tokenworld.check.draft import Draft
from tokenworld.check.typing.arithmetic import align_to, aligned, calculated
from tokenworld.check.typing.context import Context, domain_of
from tokenworld.check.typing.types import optional
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import is_optional, without_none

MOST_POWER: Final = 4
"""The greatest whole λ for which weights are multiplied exactly."""


@frozen
class Row:
    """The weight of a value; ``binders`` and ``where``: of each value, as `for` lists them."""

    value: m.Term
    weight: m.Term
    binders: tuple[m.Binder, ...] = ()
    where: m.Term | None = None


@frozen
class Expert:
    """One guess of a belief. ``rest`` is the weight of all values without a row."""

    belief: str
    params: tuple[m.Binder, ...]
    when: m.Term | None
    target: m.Read
    power: m.Term
    rows: tuple[Row, ...]
    rest: m.Term | None
    span: Span
    text: str
    """The belief as it is written."""


def law_of(fluent: m.Fluent, experts: Sequence[Expert], phase: str, draft: Draft) -> m.Law:
    """The law that draws the values of a fluent by the weights of its experts."""
    span = experts[0].span
    params = tuple(
        m.Binder(f"{one.name}`{at}", domain_of(one.type), one.type, span)
        for at, one in enumerate(fluent.params)
    )
    body = _Slot(fluent, params, experts, draft).body()
    told = dict.fromkeys(" ".join(one.text.split()) for one in experts)
    name, doc = f"believe {fluent.id}", "\n".join(told)
    return m.Law(name, params, phase, None, body, span, doc=doc, added=True)


# ---- small terms ------------------------------------------------------------------------------


def _whole(value: int, span: Span) -> m.Term:
    return m.NumberLiteral(value, m.NumberType(value, value), span)


def _all(terms: Sequence[m.Term | None], span: Span) -> m.Term:
    found = tuple(one for one in terms if one is not None)
    if len(found) == 1:
        return found[0]
    return m.And(found, m.BOOL, span) if found else m.BoolLiteral(True, m.BOOL, span)


def _some(terms: Sequence[m.Term], span: Span) -> m.Term:
    if len(terms) == 1:
        return terms[0]
    return m.Or(tuple(terms), m.BOOL, span) if terms else m.BoolLiteral(False, m.BOOL, span)


def _not(term: m.Term) -> m.Term:
    return m.Not(term, m.BOOL, term.span)


def _plain(term: m.Term) -> m.Term:
    """A weight as a number without a unit and without bounds."""
    if not isinstance(term.type, m.NumberType):
        return term
    return replace(term, type=m.NumberType(None, None, term.type.decimals))


def _is_exact(term: m.Term) -> bool:
    return isinstance(term.type, m.NumberType)


def _times_whole(term: m.Term) -> int | None:
    """The whole number that a λ is; ``None`` if it is none."""
    if isinstance(term, m.NumberLiteral) and isinstance(term.type, m.NumberType):
        whole, part = divmod(term.value, 10**term.type.decimals)
        return None if part else whole
    return None


# ---- one guessed fluent -----------------------------------------------------------------------


class _Slot:
    """The body of the law of one guessed fluent."""

    def __init__(
        self, fluent: m.Fluent, params: tuple[m.Binder, ...], experts: Sequence[Expert],
        draft: Draft,
    ) -> None:  # fmt: skip
        self._ctx, self._span, self._draft = Context(draft), experts[0].span, draft
        self._kind, self._domain = fluent.type, without_none(fluent.type)
        args = tuple(m.Local(one.name, one.type, self._span) for one in params)
        self._slot = m.Read(fluent.id, args, fluent.type, self._span)
        self._lets: list[m.Let] = []
        bound = [self._bound(one, args) for one in experts if _times_whole(one.power) != 0]
        self._experts = [self._stated(one, at) for at, one in enumerate(bound)]

    def body(self) -> m.Body:
        """Draw a value where some expert has an opinion; else the slot keeps its own."""
        if not self._experts:
            return ()
        asked = _some([one.applies for one in self._experts], self._span)
        return (*self._lets, m.If(asked, self._drawn(), (), self._span))

    # ---- drawing --------------------------------------------------------------------------------

    def _drawn(self) -> m.Body:
        """The draw of a value. Where it may be absent, `none` is one more candidate: it stands
        beside the first present value, at side 0."""
        binder, value = self._candidates()
        write = m.Assign(self._slot, "=", value, self._span)
        key, weight = self._weights()
        if not is_optional(self._kind):
            return (m.Pick((binder,), None, key, weight(value), (write,), (), self._span),)
        nothing = m.NoneLiteral(m.NONE, self._span)
        sides = m.Binder("side`", m.IntervalRange(0, 1), m.NumberType(0, 1), self._span)
        side = m.Local(sides.name, sides.type, self._span)
        present = m.Compare("==", side, _whole(1, self._span), m.BOOL, self._span)
        kind = optional(self._domain)
        each = m.Fold("first", value, (binder,), None, kind, self._span)
        first = m.Let("first`", each, kind, self._span)
        named = m.Local(first.name, kind, self._span)
        is_first = m.Compare("==", value, named, m.BOOL, self._span)
        either = self._chosen(present, weight(value), weight(nothing))
        gone = m.Assign(self._slot, "=", nothing, self._span)
        split = m.If(present, (write,), (gone,), self._span)
        where = _some([present, is_first], self._span)
        pick = m.Pick((sides, binder), where, key, either, (split,), (gone,), self._span)
        return (first, pick)

    def _candidates(self) -> tuple[m.Binder, m.Term]:
        """A variable for the present values of the fluent, and its value; a truth is 1 or 0."""
        kind = m.NumberType(0, 1) if isinstance(self._domain, m.BoolType) else self._domain
        binder = m.Binder("value`", domain_of(kind), kind, self._span)
        local = m.Local(binder.name, kind, self._span)
        if kind is self._domain:
            return binder, local
        return binder, m.Compare("==", local, _whole(1, self._span), m.BOOL, self._span)

    # ---- the product ----------------------------------------------------------------------------

    def _weights(self) -> tuple[m.PickKey, Callable[[m.Term], m.Term]]:
        """The weight of a value by all experts: a product, or a sum of logarithms."""
        powers = [_times_whole(one.expert.power) for one in self._experts]
        exact = all(
            one.name and power is not None and power <= MOST_POWER and one.exact
            for one, power in zip(self._experts, powers, strict=True)
        )
        if not exact:
            return "log", self._logged
        factors = [(one, power or 0) for one, power in zip(self._experts, powers, strict=True)]
        return "belief", lambda value: self._multiplied(factors, value)

    def _multiplied(self, factors: Sequence[tuple[_Stated, int]], value: m.Term) -> m.Term:
        terms = [
            self._chosen(one.some, one.raw(value), _whole(1, self._span))
            for one, power in factors
            for _ in range(power)
        ]
        return reduce(lambda x, y: _plain(calculated("*", x, y, self._ctx, self._span)), terms)

    def _chosen(self, condition: m.Term, then: m.Term, otherwise: m.Term) -> m.Term:
        then, otherwise = aligned(then, otherwise, self._ctx, self._span)
        return m.Choose(condition, then, otherwise, then.type, self._span)

    def _logged(self, value: m.Term) -> m.Term:
        """Σ λ log r(v), or `none` where an expert excludes the value."""
        terms = [one.log(value) for one in self._experts]
        logs = reduce(lambda x, y: calculated("+", x, y, self._ctx, self._span), terms)
        excluded = _some([one.excludes(value) for one in self._experts], self._span)
        nothing = m.NoneLiteral(m.NONE, self._span)
        return m.Choose(excluded, nothing, logs, m.RealType(optional=True), self._span)

    # ---- experts --------------------------------------------------------------------------------

    def _bound(self, expert: Expert, args: Sequence[m.Local]) -> Expert:
        """The expert with the arguments of the slot instead of its own parameters; relations
        between its other parameters and the slot go into its condition."""
        given: dict[str, m.Term] = {}
        ties: list[m.Term] = []
        binders = {one.name: one for one in expert.params}
        rest: list[tuple[m.Term, m.Local]] = []
        for term, arg in zip(expert.target.args, args, strict=True):
            known = binders.get(term.name) if isinstance(term, m.Local) else None
            fits = known is not None and known.name not in given and (
                known.type == arg.type or isinstance(known.type, m.ObjectType)
            )  # fmt: skip
            if known is None or not fits:
                rest.append((term, arg))
                continue
            if isinstance(known.type, m.ObjectType) and known.type != arg.type:
                ties.append(m.IsType(arg, known.type.name, m.BOOL, expert.span))
            given[known.name] = replace(arg, type=known.type)
        found = replaced(expert, given)
        for term, arg in rest:
            sides = aligned(substituted(term, given), arg, self._ctx, expert.span)
            ties.append(m.Compare("==", *sides, m.BOOL, expert.span))
        when = _all([*ties, found.when], expert.span)
        params = tuple(one for one in found.params if one.name not in given)
        return replace(found, params=params, when=when)

    def _stated(self, expert: Expert, at: int) -> _Stated:
        """An expert; one without parameters of its own is evaluated once, before the draw."""
        found = _Opinion(expert, self._domain, is_optional(self._kind), self._draft)
        if expert.params:
            return _Stated(found, "", found.some(), found.left())
        some, left = f"some`{at}", found.left()
        span = expert.span
        self._lets.append(m.Let(some, found.some(), m.BOOL, span))
        known = m.Local(some, m.BOOL, span)
        if left is not None and not isinstance(left, m.NumberLiteral):
            guarded = self._chosen(known, left, _whole(1, span))
            self._lets.append(m.Let(f"left`{at}", guarded, guarded.type, span))
            left = m.Local(f"left`{at}", guarded.type, span)
        return _Stated(found, some, known, left)


def replaced(expert: Expert, given: Mapping[str, m.Term]) -> Expert:
    """The expert with terms in place of locals."""

    def change(term: m.Term) -> m.Term:
        return substituted(term, given)

    def maybe(term: m.Term | None) -> m.Term | None:
        return None if term is None else change(term)

    rows = tuple(
        Row(change(one.value), change(one.weight), _moved(one.binders, change), maybe(one.where))
        for one in expert.rows
    )
    return replace(
        expert, params=_moved(expert.params, change), when=maybe(expert.when), rows=rows,
        power=change(expert.power), rest=maybe(expert.rest),
    )  # fmt: skip


def _moved(
    binders: tuple[m.Binder, ...], change: Callable[[m.Term], m.Term]
) -> tuple[m.Binder, ...]:
    return tuple(
        replace(one, domain=replace(one.domain, collection=change(one.domain.collection)))
        if isinstance(one.domain, m.CollectionRange)
        else one
        for one in binders
    )


class _Opinion:
    """The terms of one expert. Weights are multiplied by the number of values without a row, so
    that `else` is divided by nothing."""

    def __init__(self, expert: Expert, kind: m.ValueType, optional: bool, draft: Draft) -> None:
        self.expert, self._kind, self._optional = expert, kind, optional
        self._draft, self._ctx, self._span = draft, Context(draft), expert.span

    @property
    def params(self) -> Mapping[str, m.Param]:
        """The params of the program."""
        return self._draft.params

    @property
    def exact(self) -> bool:
        rest = self.expert.rest
        return all(_is_exact(one.weight) for one in self.expert.rows) and (
            rest is None or _is_exact(rest)
        )

    def some(self) -> m.Term:
        """Return whether it applies, and gives a value of the domain more than 0."""
        ways = [self._over(row, self._counts(row)) for row in self.expert.rows]  # fmt: skip
        if self.expert.rest is not None:
            left = self._left()
            more = m.Compare("<", _whole(0, self._span), left, m.BOOL, self._span)
            ways.append(_all([more, self._positive(self.expert.rest)], self._span))
        return _all([self.expert.when, _some(ways, self._span)], self._span)

    def _counts(self, row: Row) -> m.Term:
        return _all([self._inside(row.value), self._positive(row.weight)], self._span)

    def _over(self, row: Row, truth: m.Term) -> m.Term:
        if not row.binders:
            return truth
        return m.Fold("any", truth, row.binders, row.where, m.BOOL, self._span)

    def _positive(self, weight: m.Term) -> m.Term:
        zero = align_to(_whole(0, self._span), weight.type)
        return m.Compare("<", zero, weight, m.BOOL, self._span)

    def left(self) -> m.Term | None:
        """The number of values without a row, at least 1; ``None`` without `else`."""
        if self.expert.rest is None:
            return None
        left = self._left()
        if isinstance(left, m.NumberLiteral):
            return _whole(max(1, left.value), self._span)
        one = _whole(1, self._span)
        return m.BuiltinCall("max", (left, one), m.NumberType(1, None), self._span)

    def _left(self) -> m.Term:
        size, named = self._size(), self._named()
        if isinstance(size, m.NumberLiteral) and isinstance(named, m.NumberLiteral):
            return _whole(size.value - named.value, self._span)
        return m.Arithmetic("-", size, named, m.NumberType(), self._span)

    def _size(self) -> m.Term:
        """The number of values of the domain."""
        more = int(self._optional)
        match self._kind:
            case m.BoolType():
                return _whole(2, self._span)
            case m.EnumType(name=name):
                return _whole(len(self._draft.enums[name].members) + more, self._span)
            case m.NumberType(low=int() as low, high=int() as high):
                return _whole(high - low + 1 + more, self._span)
            case (
                m.NumberType() | m.ObjectType() | m.RealType() | m.TextType() | m.NoneType()
                | m.CollectionType()
            ):  # fmt: skip
                return self._counted(more)
            case _:
                assert_never(self._kind)

    def _counted(self, more: int) -> m.Term:
        """The number of values of a domain that only a state can tell, and ``more``."""
        binder = m.Binder("each`", domain_of(self._kind), self._kind, self._span)
        count = m.Fold("count", None, (binder,), None, m.NumberType(0, None), self._span)
        if not more:
            return count
        return m.Arithmetic("+", count, _whole(1, self._span), m.NumberType(0, None), self._span)

    def _named(self) -> m.Term:
        """The number of different values of the domain that have a row."""
        rows = self.expert.rows
        if any(row.binders for row in rows):
            (row,) = rows
            return self._listed(row)
        values = [one.value for one in rows]
        if all(isinstance(one, m.ConstantTerm) and self._surely_inside(one) for one in values):
            return _whole(len({_key(one) for one in values}), self._span)
        counted = [
            _all([self._inside(value), *(_not(self._same(value, other)) for other in values[:at])],
                 self._span)
            for at, value in enumerate(values)
        ]  # fmt: skip
        return self._count(counted)

    def _count(self, truths: Sequence[m.Term]) -> m.Term:
        one, zero = _whole(1, self._span), _whole(0, self._span)
        kind = m.NumberType(0, None)
        terms: list[m.Term] = [m.Choose(truth, one, zero, kind, self._span) for truth in truths]
        if not terms:
            return zero
        return reduce(lambda x, y: m.Arithmetic("+", x, y, kind, self._span), terms)

    def _listed(self, row: Row) -> m.Term:
        """The same for values that `for` lists: each variable once, or all values one by one."""
        (first, *others), number = row.binders, m.NumberType(0, None)
        if not others and isinstance(row.value, m.Local) and row.value.name == first.name:
            inside = _all([row.where, self._inside(row.value)], self._span)
            return m.Fold("count", None, row.binders, inside, number, self._span)
        kind = m.NumberType(0, 1) if isinstance(self._kind, m.BoolType) else self._kind
        binder = m.Binder("each`", domain_of(kind), kind, self._span)
        value: m.Term = m.Local(binder.name, kind, self._span)
        if kind is not self._kind:
            value = m.Compare("==", value, _whole(1, self._span), m.BOOL, self._span)
        met = self.names(value)
        found: m.Term = m.Fold("count", None, (binder,), met, number, self._span)
        if self._optional:
            absent = self._count([self.names(m.NoneLiteral(m.NONE, self._span))])
            found = m.Arithmetic("+", found, absent, number, self._span)
        return found

    def names(self, value: m.Term) -> m.Term:
        """Return whether a row has this value."""
        rows = self.expert.rows
        return _some([self._over(one, self._same(one.value, value)) for one in rows], self._span)

    def _same(self, left: m.Term, right: m.Term) -> m.Term:
        sides = aligned(left, right, self._ctx, self._span)
        return m.Compare("==", *sides, m.BOOL, self._span)

    def raw(self, value: m.Term, left: m.Term | None) -> m.Term:
        """The weight of a value, times ``left``."""
        terms = [self._weight(row, value) for row in self.expert.rows] or [_whole(0, self._span)]
        total = reduce(lambda x, y: _plain(calculated("+", x, y, self._ctx, self._span)), terms)
        rest = self.expert.rest
        if rest is None or left is None:
            return total
        total = _plain(calculated("*", total, left, self._ctx, self._span))
        total, other = aligned(total, _plain(rest), self._ctx, self._span)
        return m.Choose(self.names(value), total, other, total.type, self._span)

    def _weight(self, row: Row, value: m.Term) -> m.Term:
        weight, same = _plain(row.weight), self._same(row.value, value)
        if row.binders:
            where = _all([row.where, same], self._span)
            return m.Fold("sum", weight, row.binders, where, weight.type, self._span)
        zero = align_to(_whole(0, self._span), weight.type)
        return m.Choose(same, weight, zero, weight.type, self._span)

    # ---- the domain -----------------------------------------------------------------------------

    def _surely_inside(self, value: m.Term) -> bool:
        match value, self._kind:
            case m.NoneLiteral(), _:
                return self._optional
            case m.NumberLiteral(value=number), m.NumberType(low=int() as low, high=int() as high):
                return low <= number <= high
            case ((m.BoolLiteral() | m.EnumLiteral()), _):
                return True
            case _:
                return False

    def _inside(self, value: m.Term) -> m.Term:
        """Return whether a value is one of the domain."""
        span = self._span
        if self._surely_inside(value):
            return m.BoolLiteral(True, m.BOOL, span)
        nothing = m.NoneLiteral(m.NONE, span)
        absent = m.Compare("==", value, nothing, m.BOOL, span)
        match self._kind:
            case m.ObjectType(name=name):
                inside: m.Term = m.IsType(value, name, m.BOOL, span)
            case m.NumberType(low=int() as low, high=int() as high) as kind:
                ends = [
                    m.NumberLiteral(end, replace(kind, low=end, high=end), span)
                    for end in (low, high)
                ]
                lower = m.Compare("<=", *aligned(ends[0], value, self._ctx, span), m.BOOL, span)
                upper = m.Compare("<=", *aligned(value, ends[1], self._ctx, span), m.BOOL, span)
                inside = _all([lower, upper], span)
            case _:
                inside = _not(absent)
        return _some([inside, absent], span) if self._optional else inside


def _key(value: m.Term) -> object:
    if isinstance(value, (m.BoolLiteral, m.NumberLiteral)):
        return value.value
    return value.index if isinstance(value, m.EnumLiteral) else None


@dataclass(frozen=True)
class _Stated:
    """An expert with its names: ``name`` is that of ``some``, whether it applies, and empty where
    the expert has further parameters; ``left``: see `_Opinion.left`."""

    opinion: _Opinion
    name: str
    some: m.Term
    left: m.Term | None

    @property
    def expert(self) -> Expert:
        return self.opinion.expert

    @property
    def exact(self) -> bool:
        return self.opinion.exact

    @property
    def applies(self) -> m.Term:
        """Return whether it says anything, for some value of its further parameters."""
        params, span = self.expert.params, self.expert.span
        return m.Fold("any", self.some, params, None, m.BOOL, span) if params else self.some

    def raw(self, value: m.Term) -> m.Term:
        """The weight of a value."""
        return self.opinion.raw(value, self.left)

    def log(self, value: m.Term) -> m.Term:
        """λ log r(v), summed over the further parameters; 0 where the expert says nothing."""
        span, raw = self.expert.span, align_to(self.raw(value), m.REAL)
        zero = m.ToReal(_whole(0, span), m.REAL, span)
        logs = m.BuiltinCall("log", (raw,), m.REAL, span)
        power = align_to(self.expert.power, m.REAL)
        times = m.Arithmetic("*", power, logs, m.REAL, span)
        asked = _all([self.some, m.Compare("<", zero, raw, m.BOOL, span)], span)
        if self.expert.params:
            return m.Fold("sum", times, self.expert.params, asked, m.REAL, span)
        return m.Choose(asked, times, zero, m.REAL, span)

    def excludes(self, value: m.Term) -> m.Term:
        """Return whether the weight of a value is always 0; 0^0 is 1. A learned λ counts as more
        than 0, so that the likelihood is a smooth function of it."""
        span, raw = self.expert.span, self.raw(value)
        zero = align_to(_whole(0, span), raw.type)
        power = self.expert.power
        some = m.Compare("<", align_to(_whole(0, span), power.type), power, m.BOOL, span)
        params = self.opinion.params
        learned = isinstance(power, m.ParamRead) and params[power.name].learned
        acts = None if learned or isinstance(power, m.NumberLiteral) else some
        asked = _all([self.some, acts, m.Compare("<=", raw, zero, m.BOOL, span)], span)
        if self.expert.params:
            return m.Fold("any", asked, self.expert.params, None, m.BOOL, span)
        return asked
