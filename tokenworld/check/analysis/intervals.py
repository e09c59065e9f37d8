"""Intervals of checked terms where conditions are known to hold (language.md §7).

A `Translator` turns checked terms into linear forms and formulas (`analysis.linear`). `Facts` hold
what is known at a place: conditions that hold or do not, and the values that `let` names. They
bound numbers and tell whether conditions can hold together. Answers are conservative: an interval
contains every possible value, and "impossible" is never said wrongly. `placed_writes` lists the
writes of a body with the facts at each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from fractions import Fraction
from typing import assert_never

from tokenworld import model as m
from tokenworld.check.analysis.aliasing import Knowledge, skeleton
from tokenworld.check.analysis.linear import (
    FALSE,
    MINUS_ONE,
    ONE,
    TRUE,
    ZERO,
    AllOf,
    AnyOf,
    AtMost,
    Atom,
    Form,
    Formula,
    Interval,
    Nonzero,
    constant,
    interval_of,
    step_of,
    unknown,
)
from tokenworld.check.analysis.substitution import Vocabulary, inlined, substituted
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import is_optional, show_type, slot_writes

_OPPOSITE: dict[m.CompareOp, m.CompareOp] = {
    "==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<",
}  # fmt: skip


class Translator:
    """Turns terms into forms; equal terms become one unknown, for every caller.

    `none` is read as -1 where a member or an object may be missing. Terms whose value may be
    `none` and that are calculated with stay unknowns of their own. ``values`` are the positions
    that fluents with members or truths may have, where not any.
    """

    def __init__(
        self, words: Vocabulary, values: Mapping[str, frozenset[int]] | None = None
    ) -> None:
        self._values = values or {}
        # Not the vocabulary itself: a memoized result would keep the whole draft alive.
        self._enums, self._derives = words.enums, words.derives
        self._atoms: dict[object, Atom] = {}
        self._objects: dict[str, int] = {}
        self._known: dict[tuple[int, bool], tuple[m.Term, Formula]] = {}

    # ---- values ---------------------------------------------------------------------------

    def form(self, term: m.Term) -> Form:
        """A term as a linear form; an unknown where it is not linear."""
        match term:
            case m.NumberLiteral(value=value):
                return constant(Fraction(value) * step_of(term))
            case m.BoolLiteral(value=truth):
                return constant(int(truth))
            case m.EnumLiteral(index=index):
                return constant(index)
            case m.NoneLiteral():
                return constant(-1)
            case m.ObjectLiteral(name=name):
                return constant(self._objects.setdefault(name, len(self._objects)))
            case m.ToReal(term=m.NumberLiteral(value=value) as number):
                return constant(Fraction(float(Fraction(value) * step_of(number))))
            case m.Rescale(term=inner):
                return self.form(inner)
            case _ if is_optional(term.type) and isinstance(term.type, m.NumberType):
                return self._opaque(term)
            case m.Negate(term=inner) if isinstance(term.type, m.NumberType):
                return self.form(inner).times(-1)
            case m.Arithmetic() if isinstance(term.type, m.NumberType):
                return self._arithmetic(term)
            case m.Choose() if not isinstance(term.type, m.RealType):
                return self._choose(term)
            case m.BuiltinCall() if isinstance(term.type, (m.NumberType, m.EnumType)):
                return self._builtin(term)
            case m.DeriveCall() if not isinstance(term.type, m.BoolType):
                return self._derived(term)
            case (
                m.LeafTerm() | m.StateTerm() | m.LogicTerm() | m.TestTerm() | m.Arithmetic()
                | m.Negate() | m.ToReal() | m.CompositeTerm()
            ):  # fmt: skip
                return self._opaque(term)
            case _:
                assert_never(term)

    def _opaque(self, term: m.Term) -> Form:
        key = skeleton(term)
        if key in self._atoms:
            return unknown(self._atoms[key])
        low, high = self._range(term)
        given = self._values.get(term.fluent, ()) if isinstance(term, m.Read) else ()
        cases = tuple((TRUE, constant(value)) for value in sorted(given))
        return self._atom(key, low, high, step_of(term), cases)

    def _atom(
        self,
        key: object,
        low: Fraction | None,
        high: Fraction | None,
        step: Fraction,
        cases: tuple[tuple[Formula, Form], ...] = (),
    ) -> Form:
        if key not in self._atoms:
            self._atoms[key] = Atom(low, high, step, cases)
        return unknown(self._atoms[key])

    def _range(self, term: m.Term) -> tuple[Fraction | None, Fraction | None]:
        match term.type:
            case m.NumberType(low=low, high=high):
                step = step_of(term)
                ends = (None if end is None else end * step for end in (low, high))
                least, greatest = ends
                return (self._least_sum(term) if least is None else least), greatest
            case m.EnumType(name=name, optional=absent):
                last = Fraction(len(self._enums[name].members) - 1)
                return (MINUS_ONE if absent else ZERO), last
            case m.ObjectType(optional=absent):
                return (MINUS_ONE if absent else ZERO), None
            case m.BoolType():
                return ZERO, ONE
            case m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
                return None, None
            case _:
                assert_never(term.type)

    def _least_sum(self, term: m.Term) -> Fraction | None:
        """A sum of numbers that are never negative is not negative."""
        if isinstance(term, m.Fold) and term.fold == "sum" and term.value is not None:
            found = interval_of(self.form(term.value), ())
            if found is not None and found.low is not None and found.low >= 0:
                return ZERO
        return None

    # ---- calculation ----------------------------------------------------------------------

    def _arithmetic(self, term: m.Arithmetic) -> Form:
        left, right = self.form(term.left), self.form(term.right)
        match term.op:
            case "+":
                return left.plus(right)
            case "-":
                return left.minus(right)
            case "*" if not left.parts:
                return right.times(left.const)
            case "*" if not right.parts:
                return left.times(right.const)
            case "*" | "/" | "div" | "mod":
                return self._opaque(term)
            case _:
                assert_never(term.op)

    def _choose(self, term: m.Choose) -> Form:
        parts = (term.then, term.otherwise)
        absent = any(is_optional(part.type) for part in parts)
        if isinstance(term.type, m.NumberType) and absent:
            return self._opaque(term)
        low, high = self._range(term)
        then, otherwise = (self.form(part) for part in parts)
        cases = (
            (self.condition(term.condition), then),
            (self.condition(term.condition, holds=False), otherwise),
        )
        return self._atom(skeleton(term), low, high, step_of(term), cases)

    def _builtin(self, term: m.BuiltinCall) -> Form:
        args = [self.form(arg) for arg in term.args]
        key, step = skeleton(term), step_of(term)
        low, high = self._range(term)
        absent = is_optional(term.type)
        match term.name:
            case "min":
                return self._extreme(key, args, step, Fraction(1))
            case "max":
                return self._extreme(key, args, step, MINUS_ONE)
            case "clamp":
                floor = self._extreme((key, "low"), args[:2], step, MINUS_ONE)
                return self._extreme(key, [floor, args[2]], step, Fraction(1))
            case "abs":
                (x,) = args
                flipped = x.times(-1)
                cases = ((AtMost(flipped), x), (AtMost(x), flipped))
                return self._atom(key, low, high, step, cases)
            case "toward":
                return self._toward(key, args, step)
            case "sign" if isinstance(term.args[0].type, m.NumberType):
                return self._sign(key, args[0], step_of(term.args[0]))
            case "next" if not absent and high is not None:
                return self._extreme(key, [args[0].plus(constant(1)), constant(high)], step, ONE)
            case "prev" if not absent:
                return self._extreme(
                    key, [args[0].minus(constant(1)), constant(0)], step, MINUS_ONE
                )
            case (
                "sign" | "next" | "prev" | "floor" | "round" | "sqrt" | "sin" | "cos" | "exp"
                | "log" | "pow" | "pi" | "tick" | "id" | "born" | "busy" | "did" | "score"
                | "number" | "sometime" | "always" | "at_most_once" | "sometime_after"
                | "sometime_before"
            ):  # fmt: skip
                return self._opaque(term)
            case _:
                assert_never(term.name)

    def _extreme(self, key: object, args: list[Form], step: Fraction, sign: Fraction) -> Form:
        """The least of the arguments (``sign`` 1), or the largest (-1)."""
        cases: list[tuple[Formula, Form]] = []
        for one in args:
            others = [other for other in args if other is not one]
            extreme = tuple(AtMost(one.minus(other).times(sign)) for other in others)
            cases.append((AllOf(extreme), one))
        return self._atom(key, None, None, step, tuple(cases))

    def _toward(self, key: object, args: list[Form], step: Fraction) -> Form:
        """``min(x + by, target)`` below the target, ``max(x - by, target)`` from it on."""
        x, target, by = args
        up = self._extreme((key, "up"), [x.plus(by), target], step, ONE)
        down = self._extreme((key, "down"), [x.minus(by), target], step, MINUS_ONE)
        below = AtMost(x.minus(target).plus(constant(step)))
        return self._atom(key, None, None, step, ((below, up), (AtMost(target.minus(x)), down)))

    def _sign(self, key: object, x: Form, step: Fraction) -> Form:
        flipped, nearest = x.times(-1), constant(step)
        cases: tuple[tuple[Formula, Form], ...] = (
            (AtMost(x.plus(nearest)), constant(-1)),
            (AllOf((AtMost(x), AtMost(flipped))), constant(0)),
            (AtMost(flipped.plus(nearest)), constant(1)),
        )
        return self._atom(key, MINUS_ONE, ONE, ONE, cases)

    def _derived(self, call: m.DeriveCall) -> Form:
        opened = inlined(call, self._derives)
        if opened is None or any(is_optional(arg.type) for arg in call.args):
            return self._opaque(call)
        return self.form(opened)

    # ---- conditions -----------------------------------------------------------------------

    def known(self, term: m.Term, holds: bool) -> Formula:
        """The result of `condition`, cached by the identity of the term."""
        found = self._known.get((id(term), holds))
        if found is None:
            found = self._known[id(term), holds] = (term, self.condition(term, holds))
        return found[1]

    def condition(self, term: m.Term, holds: bool = True) -> Formula:
        """The formula of a condition that holds, or of one that does not."""
        match term:
            case m.BoolLiteral(value=value):
                return TRUE if value == holds else FALSE
            case m.Not(term=inner):
                return self.condition(inner, not holds)
            case m.And(terms=terms):
                parts = tuple(self.condition(part, holds) for part in terms)
                return AllOf(parts) if holds else AnyOf(parts)
            case m.Or(terms=terms):
                parts = tuple(self.condition(part, holds) for part in terms)
                return AnyOf(parts) if holds else AllOf(parts)
            case m.Implies(left=left, right=right):
                parts = (self.condition(left, not holds), self.condition(right, holds))
                return AnyOf(parts) if holds else AllOf(parts)
            case m.Choose(condition=chosen, then=then, otherwise=otherwise):
                first = (self.condition(chosen), self.condition(then, holds))
                second = (self.condition(chosen, False), self.condition(otherwise, holds))
                return AnyOf((AllOf(first), AllOf(second)))
            case m.Compare():
                return AllOf((self._compare(term, holds), self._truth(term, holds)))
            case m.Member(collection=m.ListTerm()):
                return AllOf((self._member(term, holds), self._truth(term, holds)))
            case m.DeriveCall():
                return AllOf((self._call(term, holds), self._truth(term, holds)))
            case (
                m.LeafTerm() | m.Read() | m.InverseOf() | m.ClosureOf() | m.Member() | m.IsType()
                | m.NumberTerm() | m.ListTerm() | m.Fold() | m.BuiltinCall() | m.TemplateTerm()
            ):  # fmt: skip
                return self._truth(term, holds)
            case _:
                assert_never(term)

    def _truth(self, term: m.Term, holds: bool) -> Formula:
        """The condition as an unknown of its own: 0 or 1."""
        if isinstance(term, (m.Compare, m.Member)) and not _any_absent(term):
            return TRUE  # said in numbers already
        form = self._opaque(term)
        return AtMost(constant(1).minus(form)) if holds else AtMost(form)

    def _compare(self, term: m.Compare, holds: bool) -> Formula:
        left, right = term.left, term.right
        op = term.op if holds else _OPPOSITE[term.op]
        numbers = any(isinstance(side.type, (m.NumberType, m.RealType)) for side in (left, right))
        absent = [is_optional(side.type) for side in (left, right)]
        if any(isinstance(side.type, m.BoolType) for side in (left, right)):
            return self._alike(left, right, op == "==")
        if op in ("==", "!="):
            if numbers and (all(absent) or (op == "!=" and any(absent))):
                return TRUE
            return self._equal(self.form(left).minus(self.form(right)), op == "==")
        if not holds and any(absent):
            return TRUE
        difference = self.form(left).minus(self.form(right))
        if op in (">", ">="):
            difference = difference.times(-1)
        strict = min(step_of(left), step_of(right)) if op in ("<", ">") else ZERO
        return AtMost(difference.plus(constant(strict)))

    def _equal(self, difference: Form, same: bool) -> Formula:
        if not same:
            return Nonzero(difference)
        return AllOf((AtMost(difference), AtMost(difference.times(-1))))

    def _alike(self, left: m.Term, right: m.Term, same: bool) -> Formula:
        """Two truths are equal, or not."""
        ways = [
            AllOf((self.condition(left, one), self.condition(right, one == same)))
            for one in (True, False)
        ]
        return AnyOf(tuple(ways))

    def _member(self, term: m.Member, holds: bool) -> Formula:
        assert isinstance(term.collection, m.ListTerm)
        op: m.CompareOp = "==" if holds else "!="
        parts: list[Formula] = []
        for item in term.collection.items:
            if not holds and is_optional(term.item.type) and is_optional(item.type):
                continue
            parts.append(self._compare(m.Compare(op, term.item, item, term.type, term.span), True))
        return AnyOf(tuple(parts)) if holds else AllOf(tuple(parts))

    def _call(self, call: m.DeriveCall, holds: bool) -> Formula:
        """A derive opened; a false one only where no argument can be `none`."""
        opened = inlined(call, self._derives)
        if opened is None or (not holds and any(is_optional(arg.type) for arg in call.args)):
            return TRUE
        return self.condition(opened, holds)

    # ---- plain intervals ------------------------------------------------------------------

    def interval_of(self, form: Form) -> Interval:
        """The interval of a form by declared ranges alone."""
        return interval_of(form, ()) or Interval(None, None)


def _any_absent(term: m.Compare | m.Member) -> bool:
    if isinstance(term, m.Compare):
        return is_optional(term.left.type) or is_optional(term.right.type)
    items = term.collection.items if isinstance(term.collection, m.ListTerm) else ()
    return any(is_optional(part.type) for part in (term.item, *items))


@frozen
class Facts:
    """The conditions and `let` values known at one place of a rule.

    ``names`` replaces locals: `let` names by their values, parameters by those of another rule.
    Conditions become formulas only when something is asked: few places are ever asked about.
    """

    words: Translator
    known: tuple[tuple[m.Term, bool], ...] = ()
    names: Mapping[str, m.Term] = field(default_factory=dict)

    def given(self, condition: m.Term | None, holds: bool = True) -> Facts:
        """The same where a condition holds (or does not)."""
        if condition is None:
            return self
        known = (*self.known, (self.open(condition), holds))
        return Facts(self.words, known, self.names)

    def let(self, effect: m.Let) -> Facts:
        """The same with one more name; a drawn value stays unknown."""
        if isinstance(effect.value, m.Draw):
            return self
        names = {**self.names, effect.name: self.open(effect.value)}
        return Facts(self.words, self.known, names)

    def also(self, other: Facts) -> Facts:
        """The facts of two places together, of one rule or of rules with unified names."""
        return replace(self, known=(*self.known, *other.known))

    def moved(self, change: Callable[[m.Term], m.Term]) -> Facts:
        """The same conditions in other words: under other names, after a change."""
        facts = Facts(self.words)
        for term, holds in self.known:
            facts = facts.given(change(term), holds)
        return facts

    @property
    def true(self) -> tuple[m.Term, ...]:
        """The conditions that hold, without `let` names."""
        return tuple(term for term, holds in self.known if holds)

    def open(self, term: m.Term) -> m.Term:
        """A term without `let` names."""
        return substituted(term, self.names)

    def form(self, term: m.Term) -> Form:
        """A term as a linear form."""
        return self.words.form(self.open(term))

    def interval(self, value: m.Term | Form) -> Interval | None:
        """The interval of a value; ``None`` if this place is never reached."""
        form = value if isinstance(value, Form) else self.form(value)
        formulas = [self.words.known(term, holds) for term, holds in self.known]
        return interval_of(form, formulas)

    @property
    def impossible(self) -> bool:
        """Return whether the conditions provably never hold together."""
        return self.interval(Form(())) is None

    def proves(self, condition: m.Term | None) -> bool:
        """Return whether a condition provably holds here."""
        return condition is None or self.given(condition, holds=False).impossible

    def implies(self, other: Facts) -> bool:
        """Return whether another place is provably reached whenever this one is."""
        return all(self.given(term, not holds).impossible for term, holds in other.known)

    def excludes(self, other: Facts) -> bool:
        """Return whether this place and another are provably never reached together."""
        return self.also(other).impossible

    def knowledge(self, words: Vocabulary) -> Knowledge:
        """The same facts as they tell slots apart."""
        known = Knowledge(words.types, words.fluents)
        for term, holds in self.known:
            known = known.given(term, holds)
        return known


def unlike(here: Facts, one: m.Term, there: Facts, other: m.Term) -> bool:
    """Return whether two values at two places are provably different where both are reached."""
    for value in (one, other):
        optional = isinstance(value.type, m.NumberType) and value.type.optional
        if optional or isinstance(value.type, m.TextType):
            return False
    gap = here.also(there).interval(here.form(one).minus(there.form(other)))
    return gap is not None and gap.without_zero


@frozen
class Step:
    """One change of a body and its place.

    ``loops`` are the variables of the loops around it. ``path`` tells branches apart: each entry
    is an effect with branches and which of them is taken. ``certain``: no draw decides on it.
    """

    effect: m.Effect
    facts: Facts
    loops: tuple[m.Binder, ...] = ()
    path: tuple[tuple[Span, int], ...] = ()
    certain: bool = True


def entry(rule: m.Action | m.Law, words: Translator) -> Facts:
    """The facts at the start of the body of a rule."""
    facts = Facts(words)
    if isinstance(rule, m.Law):
        return facts.given(rule.when)
    for guard in rule.guards:
        facts = facts.let(guard) if isinstance(guard, m.Let) else facts.given(guard.condition)
    return facts


def steps_of(body: m.Body, facts: Facts) -> Iterator[Step]:
    """Every change of a body with the facts known there, in written order."""
    yield from _steps(body, _Place(facts))


@frozen
class _Place:
    """The surroundings of a body: see `Step`."""

    facts: Facts
    loops: tuple[m.Binder, ...] = ()
    path: tuple[tuple[Span, int], ...] = ()
    certain: bool = True


def _steps(body: m.Body, at: _Place) -> Iterator[Step]:
    facts = at.facts
    for effect in body:
        yield Step(effect, facts, at.loops, at.path, at.certain)
        if isinstance(effect, m.Let):
            facts = facts.let(effect)
        for number, (inner, below, binders) in enumerate(_branches(effect, facts)):
            path = at.path if isinstance(effect, m.For) else (*at.path, (effect.span, number))
            certain = at.certain and not isinstance(effect, (m.Chance, m.Pick))
            yield from _steps(inner, _Place(below, (*at.loops, *binders), path, certain))


def _branches(
    effect: m.Effect, facts: Facts
) -> Iterator[tuple[m.Body, Facts, tuple[m.Binder, ...]]]:
    """The nested bodies, the facts known in them, and the loop variables they add."""
    match effect:
        case m.If(condition=condition, then=then, otherwise=otherwise):
            yield then, facts.given(condition), ()
            yield otherwise, facts.given(condition, holds=False), ()
        case m.For(binders=binders, where=where, body=body):
            yield body, facts.given(where), binders
        case m.Chance(branches=branches, otherwise=otherwise):
            for branch in branches:
                yield branch.body, facts, ()
            yield otherwise, facts, ()
        case m.Pick(where=where, body=body, otherwise=otherwise):
            yield body, facts.given(where), ()
            yield otherwise, facts, ()
        case m.Let() | m.WriteEffect() | m.LifeEffect() | m.OutputEffect():
            return
        case _:
            assert_never(effect)


@frozen
class PlacedWrite(m.SlotWrite):
    """One write of a rule to a slot, and its place (see `Step`).

    ``binders`` are the variables of the rule and of the loops around it. ``optional``: other
    writes may happen without it.
    """

    rule: str
    binders: tuple[m.Binder, ...]
    step: Step
    facts: Facts
    optional: bool = False

    @property
    def span(self) -> Span:
        return self.step.effect.span

    @property
    def form(self) -> Form:
        """The value, or the step up or down."""
        return self.facts.form(self.value).times(-1 if self.op == "-=" else 1)

    def moved(self, change: Callable[[m.Term], m.Term]) -> PlacedWrite:
        """The same write in other words: under other names, after a change."""
        target = replace(self.target, args=tuple([change(arg) for arg in self.target.args]))
        facts = self.facts.moved(change)
        return replace(self, target=target, value=change(self.value), facts=facts)


def placed_writes(
    body: m.Body, facts: Facts, rule: str, params: tuple[m.Binder, ...]
) -> Iterator[PlacedWrite]:
    """The writes of a body to slots that it names, `let` names replaced by their values."""
    for step in steps_of(body, facts):
        known, binders = step.facts, (*params, *step.loops)
        for one in slot_writes(step.effect):
            args = tuple([known.open(arg) for arg in one.target.args])
            target, value = replace(one.target, args=args), known.open(one.value)
            yield PlacedWrite(target, one.op, value, rule, binders, step, known)


def range_of(fluent: m.Fluent) -> tuple[Fraction, Fraction]:
    kind = fluent.type
    assert isinstance(kind, m.NumberType)
    assert kind.low is not None
    assert kind.high is not None
    step = Fraction(1, 10**kind.decimals)
    return kind.low * step, kind.high * step


def outside(found: Interval, low: Fraction, high: Fraction) -> bool:
    return (found.low is not None and found.low > high) or (
        found.high is not None and found.high < low
    )


def said(found: Interval, fluent: m.Fluent) -> str:
    """An interval as an author would write it."""
    kind = fluent.type
    assert isinstance(kind, m.NumberType)

    def one(value: Fraction) -> str:
        scaled = int(value * 10**kind.decimals)
        return show_type(replace(kind, low=scaled, high=scaled, optional=False))

    match found:
        case Interval(low=None, high=None):
            return "any number"
        case Interval(low=None, high=Fraction() as high):
            return f"{one(high)} or less"
        case Interval(low=Fraction() as low, high=None):
            return f"{one(low)} or more"
        case Interval(low=Fraction() as low, high=Fraction() as high):
            return one(low) if low == high else f"{one(low)} to {one(high)}"
        case _:
            raise AssertionError(found)
