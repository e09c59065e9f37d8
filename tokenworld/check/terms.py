"""Checked terms as linear forms and formulas (see `linear`)."""

from __future__ import annotations

from fractions import Fraction

from tokenworld.check.aliasing import skeleton
from tokenworld.check.forms import MINUS_ONE, ONE, ZERO, step_of
from tokenworld.check.linear import (
    FALSE,
    TRUE,
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
    unknown,
)
from tokenworld.check.rulebook import Vocabulary
from tokenworld.check.substitution import inlined
from tokenworld.model import (
    And,
    Arithmetic,
    BoolLiteral,
    BoolType,
    BuiltinCall,
    Choose,
    Compare,
    CompareOp,
    DeriveCall,
    EnumLiteral,
    EnumType,
    Fold,
    Implies,
    ListTerm,
    Member,
    Negate,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Or,
    RealType,
    Rescale,
    Term,
    ToReal,
    is_optional,
)

__all__ = ["Translator"]

_OPPOSITE: dict[CompareOp, CompareOp] = {
    "==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<",
}  # fmt: skip


class Translator:
    """Turns terms into forms; equal terms become one unknown, whoever asks.

    `none` is read as -1 where a member or an object may be missing. Terms whose value may be
    `none` and that are calculated with stay unknowns of their own.
    """

    def __init__(self, words: Vocabulary) -> None:
        # Not the words themselves: what is kept of a rule would keep a whole draft.
        self._enums, self._derives = words.enums, words.derives
        self._atoms: dict[object, Atom] = {}
        self._objects: dict[str, int] = {}
        self._known: dict[tuple[int, bool], tuple[Term, Formula]] = {}

    # ---- values ---------------------------------------------------------------------------

    def form(self, term: Term) -> Form:
        """A term as a linear form; an unknown where it is not linear."""
        match term:
            case NumberLiteral(value=value):
                return constant(Fraction(value) * step_of(term))
            case BoolLiteral(value=truth):
                return constant(int(truth))
            case EnumLiteral(index=index):
                return constant(index)
            case NoneLiteral():
                return constant(-1)
            case ObjectLiteral(name=name):
                return constant(self._objects.setdefault(name, len(self._objects)))
            case ToReal(term=NumberLiteral(value=value) as number):
                return constant(Fraction(float(Fraction(value) * step_of(number))))
            case Rescale(term=inner):
                return self.form(inner)
            case _ if is_optional(term.type) and isinstance(term.type, NumberType):
                return self._opaque(term)
            case Negate(term=inner) if isinstance(term.type, NumberType):
                return self.form(inner).times(-1)
            case Arithmetic() if isinstance(term.type, NumberType):
                return self._arithmetic(term)
            case Choose() if not isinstance(term.type, RealType):
                return self._choose(term)
            case BuiltinCall() if isinstance(term.type, (NumberType, EnumType)):
                return self._builtin(term)
            case DeriveCall() if not isinstance(term.type, BoolType):
                return self._derived(term)
            case _:
                return self._opaque(term)

    def _opaque(self, term: Term) -> Form:
        low, high = self._range(term)
        return self._atom(skeleton(term), low, high, step_of(term))

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

    def _range(self, term: Term) -> tuple[Fraction | None, Fraction | None]:
        match term.type:
            case NumberType(low=low, high=high):
                step = step_of(term)
                ends = (None if end is None else end * step for end in (low, high))
                least, greatest = ends
                return (self._least_sum(term) if least is None else least), greatest
            case EnumType(name=name, optional=absent):
                last = Fraction(len(self._enums[name].members) - 1)
                return (MINUS_ONE if absent else ZERO), last
            case ObjectType(optional=absent):
                return (MINUS_ONE if absent else ZERO), None
            case BoolType():
                return ZERO, ONE
            case _:
                return None, None

    def _least_sum(self, term: Term) -> Fraction | None:
        """A sum of numbers that are never negative is not negative."""
        if isinstance(term, Fold) and term.fold == "sum" and term.value is not None:
            found = interval_of(self.form(term.value), ())
            if found is not None and found.low is not None and found.low >= 0:
                return ZERO
        return None

    # ---- calculation ----------------------------------------------------------------------

    def _arithmetic(self, term: Arithmetic) -> Form:
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
            case _:
                return self._opaque(term)

    def _choose(self, term: Choose) -> Form:
        parts = (term.then, term.otherwise)
        absent = any(is_optional(part.type) for part in parts)
        if isinstance(term.type, NumberType) and absent:
            return self._opaque(term)
        low, high = self._range(term)
        then, otherwise = (self.form(part) for part in parts)
        cases = (
            (self.condition(term.condition), then),
            (self.condition(term.condition, holds=False), otherwise),
        )
        return self._atom(skeleton(term), low, high, step_of(term), cases)

    def _builtin(self, term: BuiltinCall) -> Form:
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
            case "sign" if isinstance(term.args[0].type, NumberType):
                return self._sign(key, args[0], step_of(term.args[0]))
            case "next" if not absent and high is not None:
                return self._extreme(key, [args[0].plus(constant(1)), constant(high)], step, ONE)
            case "prev" if not absent:
                return self._extreme(
                    key, [args[0].minus(constant(1)), constant(0)], step, MINUS_ONE
                )
            case _:
                return self._opaque(term)

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

    def _derived(self, call: DeriveCall) -> Form:
        opened = inlined(call, self._derives)
        if opened is None or any(is_optional(arg.type) for arg in call.args):
            return self._opaque(call)
        return self.form(opened)

    # ---- conditions -----------------------------------------------------------------------

    def known(self, term: Term, holds: bool) -> Formula:
        """The same as `condition`, kept for the next one who asks about this very term."""
        found = self._known.get((id(term), holds))
        if found is None:
            found = self._known[id(term), holds] = (term, self.condition(term, holds))
        return found[1]

    def condition(self, term: Term, holds: bool = True) -> Formula:
        """What is known where a condition holds, or where it does not."""
        match term:
            case BoolLiteral(value=value):
                return TRUE if value == holds else FALSE
            case Not(term=inner):
                return self.condition(inner, not holds)
            case And(terms=terms):
                parts = tuple(self.condition(part, holds) for part in terms)
                return AllOf(parts) if holds else AnyOf(parts)
            case Or(terms=terms):
                parts = tuple(self.condition(part, holds) for part in terms)
                return AnyOf(parts) if holds else AllOf(parts)
            case Implies(left=left, right=right):
                parts = (self.condition(left, not holds), self.condition(right, holds))
                return AnyOf(parts) if holds else AllOf(parts)
            case Choose(condition=chosen, then=then, otherwise=otherwise):
                first = (self.condition(chosen), self.condition(then, holds))
                second = (self.condition(chosen, False), self.condition(otherwise, holds))
                return AnyOf((AllOf(first), AllOf(second)))
            case Compare():
                return AllOf((self._compare(term, holds), self._truth(term, holds)))
            case Member(collection=ListTerm()):
                return AllOf((self._member(term, holds), self._truth(term, holds)))
            case DeriveCall():
                return AllOf((self._call(term, holds), self._truth(term, holds)))
            case _:
                return self._truth(term, holds)

    def _truth(self, term: Term, holds: bool) -> Formula:
        """The condition as an unknown of its own: 0 or 1."""
        if isinstance(term, (Compare, Member)) and not _any_absent(term):
            return TRUE  # said in numbers already
        form = self._atom(skeleton(term), ZERO, ONE, ONE)
        return AtMost(constant(1).minus(form)) if holds else AtMost(form)

    def _compare(self, term: Compare, holds: bool) -> Formula:
        left, right = term.left, term.right
        op = term.op if holds else _OPPOSITE[term.op]
        numbers = any(isinstance(side.type, (NumberType, RealType)) for side in (left, right))
        absent = [is_optional(side.type) for side in (left, right)]
        if any(isinstance(side.type, BoolType) for side in (left, right)):
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

    def _alike(self, left: Term, right: Term, same: bool) -> Formula:
        """Two truths are equal, or not."""
        ways = [
            AllOf((self.condition(left, one), self.condition(right, one == same)))
            for one in (True, False)
        ]
        return AnyOf(tuple(ways))

    def _member(self, term: Member, holds: bool) -> Formula:
        assert isinstance(term.collection, ListTerm)
        op: CompareOp = "==" if holds else "!="
        parts: list[Formula] = []
        for item in term.collection.items:
            if not holds and is_optional(term.item.type) and is_optional(item.type):
                continue
            parts.append(self._compare(Compare(op, term.item, item, term.type, term.span), True))
        return AnyOf(tuple(parts)) if holds else AllOf(tuple(parts))

    def _call(self, call: DeriveCall, holds: bool) -> Formula:
        """A derive opened; a false one only where no argument can be `none`."""
        opened = inlined(call, self._derives)
        if opened is None or (not holds and any(is_optional(arg.type) for arg in call.args)):
            return TRUE
        return self.condition(opened, holds)

    # ---- plain intervals ------------------------------------------------------------------

    def interval_of(self, form: Form) -> Interval:
        """Where a form lies by declared ranges alone."""
        return interval_of(form, ()) or Interval(None, None)


def _any_absent(term: Compare | Member) -> bool:
    if isinstance(term, Compare):
        return is_optional(term.left.type) or is_optional(term.right.type)
    items = term.collection.items if isinstance(term.collection, ListTerm) else ()
    return any(is_optional(part.type) for part in (term.item, *items))
