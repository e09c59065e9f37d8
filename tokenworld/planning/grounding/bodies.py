"""Bodies as rules: what a change may make true, where the rule it belongs to may be done.

What takes facts away says nothing here; it is only kept for rules that are exact. A value that
cannot be told may be any of its type.
"""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.model import (
    AddFact,
    Assign,
    Binder,
    Body,
    BoolType,
    Chance,
    Create,
    DescribeEffect,
    Destroy,
    DrawChance,
    DrawPick,
    DrawUniform,
    Effect,
    Emit,
    For,
    If,
    Let,
    Pick,
    Read,
    RemoveFact,
    Reward,
    Say,
    Swap,
    Term,
    Transfer,
)
from tokenworld.planning.grounding.conditions import Conditions
from tokenworld.planning.grounding.context import (
    UNKNOWN,
    Context,
    Later,
    Names,
    Ungroundable,
    Way,
    is_measured,
    is_numeric,
)
from tokenworld.planning.grounding.rules import (
    Atom,
    Const,
    Literal,
    Operation,
    Rule,
    Same,
    Slotted,
    Source,
    Var,
    Widening,
)
from tokenworld.planning.grounding.values import slot_atom

__all__ = ["Bodies"]

Held = tuple[Literal, ...]


class Bodies:
    """Reads bodies in one context, for one action or law after another."""

    def __init__(self, context: Context, conditions: Conditions) -> None:
        self._context, self._conditions = context, conditions
        self._values = conditions.values

    def of(self, source: Source, body: Body, names: Names) -> Iterator[Rule]:
        """The rules of a body; facts that follow from the arguments alone go to the source."""
        held = (source.head,)
        for rule in self._body(body, names, held, source):
            alone = rule.body == held and isinstance(rule.head, Atom)
            if alone and isinstance(rule.head, Atom) and _known(rule.head, source.params):
                source.always.append(rule.head)
            else:
                self._context.exact = False
                yield rule

    def _body(self, body: Body, names: Names, held: Held, source: Source) -> Iterator[Rule]:
        for place, effect in enumerate(body):
            if isinstance(effect, Let):
                for more, seen in self._let(effect, names):
                    yield from self._body(body[place + 1 :], seen, (*held, *more), source)
                return
            yield from self._effect(effect, names, held, source)

    def _effect(self, effect: Effect, names: Names, held: Held, source: Source) -> Iterator[Rule]:
        match effect:
            case RemoveFact(target=target):
                self._removed(target, names, held, source)
            case AddFact(target=target):
                for more, atom in self._target(target, names):
                    yield Rule(atom, (*held, *more))
            case Assign():
                yield from self._assign(effect, names, held)
            case Transfer(amount=amount, source=first, target=second):
                yield from self._moved(first, "-", amount, names, held)
                yield from self._moved(second, "+", amount, names, held)
            case Swap(left=left, right=right):
                yield from self._stored(left, right, names, held)
                yield from self._stored(right, left, names, held)
            case If(condition=test, then=then, otherwise=otherwise):
                for branch, wanted in ((then, True), (otherwise, False)):
                    for way in self._conditions.ways(test, names, wanted) if branch else ():
                        yield from self._body(branch, names, (*held, *way), source)
            case For(binders=binders, where=where, body=inner):
                for more, seen in self._chosen(binders, where, names):
                    yield from self._body(inner, seen, (*held, *more), source)
            case Chance(branches=branches, otherwise=otherwise):
                self._context.exact = False
                for part in (*(one.body for one in branches), otherwise):
                    yield from self._body(part, names, held, source)
            case Pick(binders=binders, where=where, body=inner, otherwise=otherwise):
                for more, seen in self._chosen(binders, where, names):
                    yield from self._body(inner, seen, (*held, *more), source)
                yield from self._body(otherwise, names, held, source)
            case Create(span=span):
                raise Ungroundable("`create`: objects that do not exist yet", span)
            case Destroy():
                self._context.exact = False
            case Let() | Say() | Emit() | DescribeEffect() | Reward():
                pass

    def _let(self, let: Let, names: Names) -> Iterator[tuple[Held, Names]]:
        match let.value:
            case DrawPick(binders=binders, where=where):
                self._context.exact = False
                yield (), {**names, let.name: Const(None)}
                for more, seen in self._chosen(binders, where, names):
                    yield more, {**names, let.name: seen[binders[0].name]}
            case DrawChance() | DrawUniform():
                self._context.exact = False
                yield (), {**names, let.name: UNKNOWN}
            case term:
                yield (), {**names, let.name: Later(term, names)}

    def _chosen(
        self, binders: tuple[Binder, ...], where: Term | None, names: Names
    ) -> Iterator[tuple[Held, Names]]:
        for literals, seen in self._conditions.gathered.bound(binders, names):
            for way in ((),) if where is None else self._conditions.ways(where, seen):
                yield (*literals, *way), seen

    # ---- targets ------------------------------------------------------------------------------

    def _slots(self, target: Read, names: Names) -> Iterator[tuple[Held, tuple[Way, ...]]]:
        """The slots that a target can mean: any, where its arguments cannot be told."""
        params = self._context.program.fluents[target.fluent].params
        every = self._values.arguments(target.args, names)
        if not every:
            self._context.leave(f"which slot of `{target.fluent}` is meant", target.span)
            every = [tuple(Way((), self._context.fresh(), one.type, False) for one in params)]
        for args in every:
            literals = [literal for one in args for literal in one.literals]
            for one, param in zip(args, params, strict=True):
                if not (one.sure and self._context.covers(param.type, one.kind)):
                    fits = self._context.belongs(param.type, one.arg)
                    if fits is None:
                        raise Ungroundable(f"slots of `{target.fluent}`", target.span)
                    literals.append(fits)
                if not isinstance(one.arg, Const):
                    literals.append(Same("!=", one.arg, Const(None)))
            yield _without_idle(tuple(literals), args), args

    def _target(self, target: Read, names: Names) -> Iterator[tuple[Held, Atom]]:
        fluent = self._context.program.fluents[target.fluent]
        for literals, args in self._slots(target, names):
            atom = slot_atom(fluent, args)
            yield literals, atom
            if fluent.symmetric:
                yield literals, Atom(atom.relation, atom.args[::-1])

    def _removed(self, target: Read, names: Names, held: Held, source: Source) -> None:
        if held != (source.head,):
            self._context.exact = False
            return
        for literals, atom in self._target(target, names):
            if literals or not _known(atom, source.params):
                self._context.exact = False
            source.gone.append(atom)

    # ---- values -------------------------------------------------------------------------------

    def _assign(self, effect: Assign, names: Names, held: Held) -> Iterator[Rule]:
        self._context.exact = False
        if effect.op == "=":
            yield from self._stored(effect.target, effect.value, names, held)
        else:
            yield from self._moved(effect.target, effect.op[0], effect.value, names, held)

    def _stored(self, target: Read, value: Term, names: Names, held: Held) -> Iterator[Rule]:
        """``target = value``."""
        fluent = self._context.program.fluents[target.fluent]
        if isinstance(fluent.type, BoolType):
            for more, atom in self._target(target, names):
                for way in self._conditions.ways(value, names):
                    yield Rule(atom, (*held, *more, *way))
        elif is_numeric(fluent.type):
            yield from self._measured(target, value, names, held)
        elif not is_measured(fluent.type):
            for more, args in self._slots(target, names):
                for new in self._written(target, value, names):
                    atom = slot_atom(fluent, args, new.arg)
                    yield Rule(atom, (*held, *more, *new.literals))

    def _written(self, target: Read, value: Term, names: Names) -> list[Way]:
        """The values that may be stored: any, where that cannot be told; `none` too, where the
        slot that is read may be missing."""
        kind = self._context.program.fluents[target.fluent].type
        found = self._values.ways(value, names)
        if not found:
            self._context.leave(f"value for `{target.fluent}`", value.span)
            var = self._context.fresh()
            listed = self._context.belongs(kind, var)
            if listed is None:
                raise Ungroundable(f"values of `{target.fluent}`", target.span)
            found = [Way((listed,), var, kind, False)]
        if all(way.sure for way in found):
            return found
        return [*found, Way((), Const(None), kind, True)]

    def _measured(self, target: Read, value: Term, names: Names, held: Held) -> Iterator[Rule]:
        made = self._values.measures(value, names)
        for more, args in self._slots(target, names):
            slot = tuple(one.arg for one in args)
            for literals, amount in made:
                head = Widening(target.fluent, slot, amount)
                yield Rule(head, (*held, *more, *literals))
            if not made:
                self._context.leave(f"value for `{target.fluent}`", value.span)
                yield Rule(Widening(target.fluent, slot, None), (*held, *more))

    def _moved(
        self, target: Read, sign: str, value: Term, names: Names, held: Held
    ) -> Iterator[Rule]:
        """``target += value`` and ``-=``: again and again, by any number of rules."""
        self._context.exact = False
        fluent = self._context.program.fluents[target.fluent]
        if not is_numeric(fluent.type):
            return
        made = self._values.measures(value, names)
        for more, args in self._slots(target, names):
            slot, own = tuple(one.arg for one in args), slot_atom(fluent, args)
            for literals, amount in made:
                after = Operation(sign, Slotted(fluent.id, slot), amount)
                head = Widening(fluent.id, slot, after)
                yield Rule(head, (*held, *more, own, *literals))
            if not made:
                yield Rule(Widening(fluent.id, slot, None), (*held, *more, own))


def _known(atom: Atom, params: tuple[Var, ...]) -> bool:
    return all(isinstance(arg, Const) or arg in params for arg in atom.args)


def _without_idle(literals: Held, args: tuple[Way, ...]) -> Held:
    """Without tests that an argument is something, where its type says so."""
    sure = {one.arg for one in args if one.sure and not _optional(one)}
    return tuple(
        one
        for one in literals
        if not (isinstance(one, Same) and one.op == "!=" and one.left in sure)
    )


def _optional(way: Way) -> bool:
    return bool(getattr(way.kind, "optional", False))
