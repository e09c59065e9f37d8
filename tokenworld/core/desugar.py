"""`desugar`: the checked program in the few words of core.

    x != y             not x == y
    x > y, x >= y      y < x, y <= x
    x implies y        not x or y
    x.n -= e           x.n += -e
    swap a, b          let p = a  let q = b  a = q  b = p
    transfer n of …    let m = n  if m != none { a += -m  b += m }
    chance … or … else let k = branch(…)  if k == 0 { … } else if k == 1 { … } else { … }
    pick x … else      let x = pick { … }  if x != none { … } else { … }
    create w: T        create with the defaults of T filled in

A number with fewer decimals is scaled by a power of ten; an exact one is made a real by ``real``.
Names that desugaring makes begin with a backquote, which no name of a program can.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import assert_never, cast

from tokenworld import model as m
from tokenworld.core import nodes as core
from tokenworld.core.rules import Description
from tokenworld.diagnostics import Span


def _not(term: core.Term) -> core.Call:
    return core.Call("not", (term,), m.BOOL, term.span)


def _is_none(term: core.Term) -> core.Call:
    nothing = core.Constant(None, m.NONE, term.span)
    return core.Call("==", (term, nothing), m.BOOL, term.span)


def _is(term: core.Term, number: int) -> core.Call:
    return core.Call("==", (term, core.Constant(number, term.type, term.span)), m.BOOL, term.span)


def _negated(term: core.Term) -> core.Call:
    return core.Call("neg", (term,), term.type, term.span)


class TermDesugarer:
    """Turns terms, binders and texts of the checked model of any program into core."""

    present = False
    """Whether nothing has changed since the start of the tick: `was` reads the present value."""

    def terms(self, terms: tuple[m.Term, ...]) -> tuple[core.Term, ...]:
        return tuple(self.term(one) for one in terms)

    def maybe(self, term: m.Term | None) -> core.Term | None:
        return None if term is None else self.term(term)

    def term(self, term: m.Term) -> core.Term:
        """One term of the checked model."""
        kind, span = term.type, term.span
        match term:
            case m.BoolLiteral(value=value) | m.NumberLiteral(value=value):
                return core.Constant(value, kind, span)
            case m.EnumLiteral(index=index):
                return core.Constant(index, kind, span)
            case m.NoneLiteral():
                return core.Constant(None, kind, span)
            case m.ObjectLiteral(name=name):
                return core.ObjectName(name, kind, span)
            case m.ParamRead(name=name):
                return core.ParamValue(name, kind, span)
            case m.Local(name=name):
                return core.Variable(name, kind, span)
            case m.Me():
                return core.Actor(kind, span)
            case m.StateTerm():
                return self._state(term)
            case m.LogicTerm() | m.TestTerm():
                return self._truth(term)
            case m.NumberTerm():
                return self._number(term)
            case m.CompositeTerm():
                return self._composite(term)
            case _:
                assert_never(term)

    def _state(self, term: m.Read | m.DeriveCall | m.InverseOf | m.ClosureOf) -> core.Term:
        kind, span, was = term.type, term.span, term.was and not self.present
        match term:
            case m.Read(fluent=fluent, args=args):
                return core.Read(fluent, self.terms(args), kind, span, was)
            case m.DeriveCall(derive=name, args=args):
                return core.DeriveCall(name, self.terms(args), kind, span, was)
            case m.InverseOf(fluent=fluent, of=of):
                return core.Members("inverse", fluent, (self.term(of),), kind, span, was)
            case m.ClosureOf(fluent=fluent, of=of):
                return core.Members("closure", fluent, (self.term(of),), kind, span, was)
            case _:
                assert_never(term)

    def _truth(
        self, term: m.Not | m.And | m.Or | m.Implies | m.Compare | m.Member | m.IsType
    ) -> core.Term:
        span = term.span
        match term:
            case m.Not(term=inner):
                return core.Call("not", (self.term(inner),), m.BOOL, span)
            case m.And(terms=terms):
                return core.Call("and", self.terms(terms), m.BOOL, span)
            case m.Or(terms=terms):
                return core.Call("or", self.terms(terms), m.BOOL, span)
            case m.Implies(left=left, right=right):
                return core.Call("or", (_not(self.term(left)), self.term(right)), m.BOOL, span)
            case m.Member(item=item, collection=collection):
                return core.Call("in", self.terms((item, collection)), m.BOOL, span)
            case m.IsType(term=inner, of=of):
                return core.TypeTest(self.term(inner), of, m.BOOL, span)
            case m.Compare():
                return self._compared(term)
            case _:
                assert_never(term)

    def _compared(self, term: m.Compare) -> core.Term:
        left, right, span = self.term(term.left), self.term(term.right), term.span
        match term.op:
            case "==" | "<" | "<=":
                return core.Call(term.op, (left, right), m.BOOL, span)
            case "!=":
                return core.Call(
                    "not", (core.Call("==", (left, right), m.BOOL, span),), m.BOOL, span
                )
            case ">":
                return core.Call("<", (right, left), m.BOOL, span)
            case ">=":
                return core.Call("<=", (right, left), m.BOOL, span)
            case _:
                assert_never(term.op)

    def _number(self, term: m.Arithmetic | m.Negate | m.Rescale | m.ToReal) -> core.Term:
        kind, span = term.type, term.span
        match term:
            case m.Arithmetic(op=op, left=left, right=right):
                return core.Call(op, self.terms((left, right)), kind, span)
            case m.Negate(term=inner):
                return core.Call("neg", (self.term(inner),), kind, span)
            case m.Rescale(term=inner, digits=digits):
                scale = core.Constant(10**digits, m.NumberType(decimals=digits), span)
                return core.Call("scale", (self.term(inner), scale), kind, span)
            case m.ToReal(term=inner):
                return core.Call("real", (self.term(inner),), kind, span)
            case _:
                assert_never(term)

    def _composite(
        self, term: m.Choose | m.ListTerm | m.Fold | m.BuiltinCall | m.TemplateTerm
    ) -> core.Term:
        kind, span = term.type, term.span
        match term:
            case m.Choose(condition=condition, then=then, otherwise=otherwise):
                tested = self.term(condition)
                return core.Choice(tested, self.term(then), self.term(otherwise), kind, span)
            case m.ListTerm(items=items):
                return core.Members("list", "", self.terms(items), kind, span)
            case m.Fold(fold=fold, value=value, binders=binders, where=where):
                bound = self.binders(binders)
                return core.Fold(fold, self.maybe(value), bound, self.maybe(where), kind, span)
            case m.BuiltinCall(name=name, args=args, detail=detail):
                known = cast(m.BuiltinName, name)  # `check.over_time` compiles the others
                return core.Call(known, self.terms(args), kind, span, detail)
            case m.TemplateTerm(template=template):
                return core.Text(self.template(template), kind, span)
            case _:
                assert_never(term)

    def binders(self, binders: tuple[m.Binder, ...]) -> tuple[core.Binder, ...]:
        """Variables with their domains."""
        return tuple(self._binder(one) for one in binders)

    def _binder(self, binder: m.Binder) -> core.Binder:
        domain = binder.domain
        if isinstance(domain, m.CollectionRange):
            members = self.term(domain.collection)
            return core.Binder(binder.name, members, binder.type, binder.span, domain.only)
        return core.Binder(binder.name, domain, binder.type, binder.span, typed=binder.typed)

    def template(self, template: m.Template) -> core.Template:
        """A text with its holes."""
        return core.Template(tuple(self._part(one) for one in template.parts), template.span)

    def _part(self, part: m.TextPart | m.Slot) -> core.Words | core.Hole:
        if isinstance(part, m.TextPart):
            return core.Words(part.text)
        return core.Hole(part.article, part.listing, self.term(part.term))


@dataclass
class Desugarer(TermDesugarer):
    """Turns the terms and bodies of one program into core."""

    program: m.Program
    present: bool = False
    _numbers: Iterator[int] = field(default_factory=count)

    def _fresh(self) -> str:
        return f"`{next(self._numbers)}"

    def body(self, body: m.Body) -> core.Body:
        """A body: its changes in written order."""
        return tuple(one for effect in body for one in self._effect(effect))

    def _effect(self, effect: m.Effect) -> Iterator[core.Statement]:
        match effect:
            case m.Let():
                yield from self.let(effect)
            case m.WriteEffect():
                yield from self._write(effect)
            case m.NestedEffect():
                yield from self._nested(effect)
            case m.Create():
                yield self._create(effect)
            case m.Destroy(target=target, span=span):
                yield core.Destroy(self.term(target), span)
            case m.OutputEffect():  # it is read after the changes
                told = Desugarer(self.program) if self.present else self
                yield told._output(effect)
            case _:
                assert_never(effect)

    def let(self, effect: m.Let) -> Iterator[core.Let]:
        """A named value; a truth value that is drawn is the first branch of two."""
        value, span = effect.value, effect.span
        match value:
            case m.DrawPick(binders=binders, where=where, key=key, weight=weight):
                drawn = self._pick(binders, where, key, weight, span)
                yield core.Let((effect.name,), drawn, span)
            case m.DrawUniform(low=low, high=high):
                ends = self.term(low), self.term(high)
                yield core.Let((effect.name,), core.UniformDraw(*ends, span), span)
            case m.DrawChance(probability=probability):
                taken = core.Variable(self._fresh(), m.NumberType(0, 1), span)
                share = self.term(probability)
                yield core.Let((taken.name,), core.BranchDraw((share,), span), span)
                yield core.Let((effect.name,), _is(taken, 0), span)
            case (
                m.LeafTerm() | m.StateTerm() | m.LogicTerm() | m.TestTerm() | m.NumberTerm()
                | m.CompositeTerm()
            ):  # fmt: skip
                yield core.Let((effect.name,), self.term(value), span)
            case _:
                assert_never(value)

    def _pick(
        self,
        binders: tuple[m.Binder, ...],
        where: m.Term | None,
        key: m.PickKey,
        weight: m.Term | None,
        span: Span,
    ) -> core.PickDraw:
        bound = self.binders(binders)
        return core.PickDraw(bound, self.maybe(where), key, self.maybe(weight), span)

    def _place(self, target: m.Read) -> core.Place:
        return core.Place(target.fluent, self.terms(target.args), target.type, target.span)

    def _write(
        self, effect: m.Assign | m.AddFact | m.RemoveFact | m.Transfer | m.Swap
    ) -> Iterator[core.Statement]:
        span = effect.span
        match effect:
            case m.Assign(target=target, op=op, value=value):
                given = self.term(value)
                given = _negated(given) if op == "-=" else given
                yield core.Write(self._place(target), "=" if op == "=" else "+", given, span)
            case m.AddFact(target=target):
                truth = core.Constant(True, m.BOOL, span)
                yield core.Write(self._place(target), "add", truth, span)
            case m.RemoveFact(target=target):
                falsehood = core.Constant(False, m.BOOL, span)
                yield core.Write(self._place(target), "remove", falsehood, span)
            case m.Swap():
                yield from self._swap(effect)
            case m.Transfer():
                yield from self._transfer(effect)
            case _:
                assert_never(effect)

    def _swap(self, effect: m.Swap) -> Iterator[core.Statement]:
        span = effect.span
        ends = effect.left, effect.right
        names = tuple(core.Variable(self._fresh(), one.type, span) for one in ends)
        for name, end in zip(names, ends, strict=True):
            yield core.Let((name.name,), self.term(end), span)
        for end, name in zip(ends, reversed(names), strict=True):
            yield core.Write(self._place(end), "=", name, span)

    def _transfer(self, effect: m.Transfer) -> Iterator[core.Statement]:
        span, amount = effect.span, self.term(effect.amount)
        moved = core.Variable(self._fresh(), amount.type, span)
        checked = core.Call("amount", (amount,), amount.type, span)
        yield core.Let((moved.name,), checked, span)
        yield core.If(_not(_is_none(moved)), (
            core.Write(self._place(effect.source), "+", _negated(moved), span),
            core.Write(self._place(effect.target), "+", moved, span),
        ), (), span)  # fmt: skip

    def _nested(self, effect: m.If | m.For | m.Chance | m.Pick) -> Iterator[core.Statement]:
        span = effect.span
        match effect:
            case m.If(condition=condition, then=then, otherwise=otherwise):
                tested = self.term(condition)
                yield core.If(tested, self.body(then), self.body(otherwise), span)
            case m.For(binders=binders, where=where, body=body):
                yield core.For(self.binders(binders), self.maybe(where), self.body(body), span)
            case m.Chance():
                yield from self._chance(effect)
            case m.Pick():
                yield from self._picked(effect)
            case _:
                assert_never(effect)

    def _chance(self, effect: m.Chance) -> Iterator[core.Statement]:
        span, branches = effect.span, effect.branches
        taken = core.Variable(self._fresh(), m.NumberType(0, len(branches)), span)
        shares = self.terms(tuple(one.probability for one in branches))
        yield core.Let((taken.name,), core.BranchDraw(shares, span), span)
        rest = self.body(effect.otherwise)
        for number in range(len(branches) - 1, -1, -1):
            rest = (core.If(_is(taken, number), self.body(branches[number].body), rest, span),)
        yield from rest

    def _picked(self, effect: m.Pick) -> Iterator[core.Statement]:
        span = effect.span
        drawn = self._pick(effect.binders, effect.where, effect.key, effect.weight, span)
        names = tuple(one.name for one in effect.binders)
        yield core.Let(names, drawn, span)
        first = core.Variable(names[0], effect.binders[0].type, span)
        some = _not(_is_none(first))
        yield core.If(some, self.body(effect.body), self.body(effect.otherwise), span)

    def _create(self, effect: m.Create) -> core.Create:
        kind = self.program.types[effect.of]
        given = {one.fluent: one for one in effect.fields}
        values = {**{one.fluent: one for one in kind.defaults}, **given}
        fields = tuple(
            core.Field(key, self.term(values[key].value), values[key].span, key not in given)
            for key in kind.attributes
            if key in values
        )
        named = tuple(one.fluent for one in effect.fields)
        return core.Create(effect.name, effect.of, fields, named, effect.named, effect.span)

    def _output(self, effect: m.Emit | m.Say | m.DescribeEffect | m.Reward) -> core.Statement:
        span = effect.span
        match effect:
            case m.Emit(event=event, args=args):
                return core.Emit(event, self.terms(args), span)
            case m.Say(template=template):
                return core.Say(self.template(template), span)
            case m.DescribeEffect(target=target):
                return core.Describe(self.term(target), span)
            case m.Reward(amount=amount):
                return core.Reward(self.term(amount), span)
            case _:
                assert_never(effect)

    def guard(self, guard: m.Let | m.Require) -> Iterator[core.Let | core.Require]:
        """A let or a require at the head of an action."""
        if isinstance(guard, m.Let):
            yield from self.let(guard)
            return
        text = None if guard.text is None else self.template(guard.text)
        atoms = tuple((one.text, self.term(one.term)) for one in guard.atoms)
        condition = self.term(guard.condition)
        yield core.Require(condition, guard.label, text, guard.source, atoms, guard.span)

    def description(self, rule: m.Describe) -> Description:
        """A `describe` rule."""
        return Description(self._binder(rule.param), self.body(rule.body), rule.span)
