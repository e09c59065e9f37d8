"""The rules of a program in core as rules over relations.

A body becomes rules for the facts that it may make true if its action or law can be executed.
Deletions add nothing; they are kept only for exact rules. An unknown value may be any of its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from tokenworld.core import nodes as core
from tokenworld.core import walk
from tokenworld.core.rules import Action, Law
from tokenworld.diagnostics import Span
from tokenworld.ground import Instance
from tokenworld.model import BoolType, Fluent
from tokenworld.planning.grounding.conditions import Conditions, slot_atom
from tokenworld.planning.grounding.rules import (
    UNKNOWN,
    Atom,
    Const,
    Context,
    Either,
    Later,
    Literal,
    Names,
    Operation,
    Rule,
    Same,
    Slotted,
    Source,
    Ungroundable,
    Var,
    Way,
    Widening,
    is_measured,
    is_numeric,
    slots_in,
    variables_in,
)
from tokenworld.planning.lower.numbers import may_break

Held = tuple[Literal, ...]


@dataclass(frozen=True)
class Relaxed:
    """A program as rules. ``sources`` are its actions and laws in order, by ``action name`` and
    ``law name``; ``rules`` all that is no part of one alone."""

    context: Context
    sources: dict[str, Source]
    rules: tuple[Rule, ...]

    @property
    def loose(self) -> tuple[tuple[str, Span], ...]:
        """The conditions left unjudged, each with its place."""
        return tuple(dict.fromkeys(one for source in self.sources.values() for one in source.loose))


def relaxed(instance: Instance) -> Relaxed:
    """The rules of a program in an instance; raises `Ungroundable` where there are none."""
    context = Context(instance)
    if context.rules.births:
        span = context.rules.births[0].span
        raise Ungroundable("`birth`: objects that do not exist yet", span)
    sources, rules = dict[str, Source](), list[Rule]()
    for title, rule in _titled(context):
        reader = _SourceReader(context, title, rule)
        rules += reader.read()
        sources[title] = reader.source
    rules += _recursive_derives(context)
    rules += _moved_out(context)
    return Relaxed(context, sources, (*rules, *_closures(rules, sources.values())))


def _titled(context: Context) -> Iterator[tuple[str, Action | Law]]:
    """The actions and laws with their titles, in the order of the program."""
    rules = context.rules
    yield from ((f"action {name}", one) for name, one in rules.actions.items())
    yield from ((f"law {name}", one) for name, one in rules.laws.items())


def _parameters(
    context: Context, whose: str, params: Iterable[core.Binder]
) -> tuple[tuple[Var, ...], Names, tuple[Literal, ...]]:
    """A variable for each parameter, the names bound to them, and the lists of types."""
    variables, names, listed = list[Var](), dict[str, Var](), list[Literal]()
    for place, binder in enumerate(params):
        var = Var(f"p{place}")
        fits = context.belongs(binder.type, var)
        if fits is None:
            raise Ungroundable(f"{whose} with its parameter `{binder.name}`", binder.span)
        variables.append(var)
        names[binder.name] = var
        listed.append(fits)
    return tuple(variables), names, tuple(listed)


# ---- what follows by itself ---------------------------------------------------------------------


def _recursive_derives(context: Context) -> Iterator[Rule]:
    """The rules whose least fixpoint a recursive derive is."""
    conditions = Conditions(context)
    for derive in context.rules.derives.values():
        if derive.recursive:
            whose = f"the derive `{derive.name}`"
            params, names, listed = _parameters(context, whose, derive.params)
            for way in conditions.all_of([(derive.value, names)], (listed,)):
                yield Rule(Atom(f"?{derive.name}", params), way)


def _moved_out(context: Context) -> Iterator[Rule]:
    """The contents of a destroyed object move to its container."""
    thing, inner, outer = Var("thing"), Var("inner"), Var("outer")
    for fluent in context.program.fluents.values() if context.destroys else ():
        if fluent.nested and len(fluent.params) == 1:
            body = (Atom(fluent.id, (thing, inner)), Atom(fluent.id, (inner, outer)))
            yield Rule(Atom(fluent.id, (thing, outer)), body)


def _closures(rules: Iterable[Rule], sources: Iterable[Source]) -> Iterator[Rule]:
    """Rules for the transitive closures of the fluents whose closure is read."""
    literals = [one for rule in rules for one in rule.body]
    literals += [one for source in sources for way in source.ways for one in way]
    asked = dict.fromkeys(
        one.relation[1:]
        for one in literals
        if isinstance(one, Atom) and one.relation.startswith("*")
    )
    first, second, third = Var("first"), Var("second"), Var("third")
    for name in asked:
        step = Atom(name, (first, second))
        there = Same("!=", second, Const(None))
        yield Rule(Atom(f"*{name}", (first, second)), (step, there))
        on = Atom(f"*{name}", (second, third))
        yield Rule(Atom(f"*{name}", (first, third)), (step, on))


# ---- actions and laws ---------------------------------------------------------------------------


class _SourceReader:
    """Reads one action or law: fills its ``source`` and makes the rules for its changes."""

    def __init__(self, context: Context, title: str, rule: Action | Law) -> None:
        context.loose, context.exact = [], True
        self._context, self._rule = context, rule
        self._conditions = Conditions(context)
        self._values = self._conditions.values
        params, self._names, self._listed = _parameters(context, f"`{rule.name}`", rule.params)
        self.source = Source(title, params)

    def read(self) -> list[Rule]:
        """The rules of its bodies."""
        rule, source = self._rule, self.source
        rules = self._action(rule) if isinstance(rule, Action) else self._law(rule)
        source.loose, source.exact = self._context.loose, self._context.exact
        every = [frozenset(way) for way in source.ways]
        source.sure = every[0].intersection(*every) if every else frozenset()
        facts = (one for one in source.sure if isinstance(one, Atom) and not one.absent)
        source.held = frozenset(facts)
        return rules

    def _action(self, action: Action) -> list[Rule]:
        names, requires = self._names, list[tuple[core.Term, Names]]()
        for guard in action.guards:
            if isinstance(guard, core.Require):
                requires.append((guard.condition, names))
            else:
                names = {**names, **named(guard, names)}
        self.source.ways = self._ways(requires)
        drawn = tuple(one for one in action.guards if walk.is_draw(one))
        rules = list(self._changes((*drawn, *action.body), names))
        if action.cancelled or action.takes is not None or action.until is not None:
            self._context.exact = False
        if action.cost is not None:
            self._priced(action.cost, names)
        return [*rules, *self._changes(action.cancelled, names)]

    def _law(self, law: Law) -> list[Rule]:
        """A law is there where its condition can hold; where the condition may be in error it is
        left in, for an error is not to be lost."""
        self._context.exact = False
        self.source.ways = self._ways([(part, self._names) for part in self._sound(law)])
        return list(self._changes(law.body, self._names))

    def _ways(self, terms: Iterable[tuple[core.Term, Names]]) -> Either:
        return self._conditions.all_of(terms, (self._listed,))

    def _sound(self, law: Law) -> Iterator[core.Term]:
        """The parts of a law's condition before the first that may be in error."""
        for part in walk.conjuncts(() if law.when is None else (law.when,)):
            if may_break(self._context.rules.derives, part):
                self._context.leave("condition after one that may be in error", part.span)
                return
            yield part

    def _priced(self, cost: core.Term, names: Names) -> None:
        """Note the cost of an action, if it depends on its arguments alone."""
        made = self._conditions.measures(cost, names)
        fluents, changing = self._context.program.fluents, self._context.changing
        read = [name for _, amount in made for name in slots_in(amount)]
        if (
            len(made) != 1
            or any(name in changing or name not in fluents for name in read)
            or any(variables_in(one) - set(self.source.params) for one in made[0][0])
        ):
            self._context.exact = False
        else:
            self.source.price = made[0][1]

    # ---- bodies -------------------------------------------------------------------------------

    def _changes(self, body: core.Body, names: Names) -> Iterator[Rule]:
        """The rules of a body; facts that follow from the arguments alone go to the source."""
        held: Held = (self.source.head,)
        for rule in self._body(body, names, held):
            alone = rule.body == held and isinstance(rule.head, Atom)
            if alone and isinstance(rule.head, Atom) and self._is_known(rule.head):
                self.source.always.append(rule.head)
            else:
                self._context.exact = False
                if isinstance(rule.head, Atom):
                    self.source.sometimes.add(rule.head.relation)
                yield rule

    def _body(self, body: core.Body, names: Names, held: Held) -> Iterator[Rule]:
        for place, one in enumerate(body):
            if not isinstance(one, core.Let):
                yield from self._statement(one, names, held)
            elif isinstance(one.value, core.PickDraw):
                yield from self._picked(one, one.value, body[place + 1 :], names, held)
                return
            else:
                if walk.is_draw(one):
                    self._context.exact = False
                names = {**names, **named(one, names)}

    def _picked(
        self, let: core.Let, draw: core.PickDraw, rest: core.Body, names: Names, held: Held
    ) -> Iterator[Rule]:
        """The rules of the statements after a pick: those that use none of its values once, the
        others without a value and with each value that may be picked."""
        self._context.exact = False
        resting, free = _parted(rest, let.names)
        yield from self._body(free, names, held)
        yield from self._body(resting, {**names, **dict.fromkeys(let.names, Const(None))}, held)
        for more, seen in self._chosen(draw.binders, draw.where, names):
            picked = (seen[one.name] for one in draw.binders)
            named = dict(zip(let.names, picked, strict=False))
            yield from self._body(resting, {**names, **named}, (*held, *more))

    def _statement(self, one: core.Statement, names: Names, held: Held) -> Iterator[Rule]:
        match one:
            case core.Write():
                yield from self._written(one, names, held)
            case core.If(condition=test, then=then, otherwise=otherwise):
                for branch, wanted in ((then, True), (otherwise, False)):
                    for way in self._conditions.ways(test, names, wanted) if branch else ():
                        yield from self._body(branch, names, (*held, *way))
            case core.For(binders=binders, where=where, body=inner):
                for more, seen in self._chosen(binders, where, names):
                    yield from self._body(inner, seen, (*held, *more))
            case core.Create(span=span):
                raise Ungroundable("`create`: objects that do not exist yet", span)
            case core.Destroy():
                self._context.exact = False
            case (
                core.Let()
                | core.Require()
                | core.Say()
                | core.Emit()
                | core.Describe()
                | core.Reward()
            ):
                pass
            case _:
                assert_never(one)

    def _chosen(
        self, binders: tuple[core.Binder, ...], where: core.Term | None, names: Names
    ) -> Iterator[tuple[Held, Names]]:
        for literals, seen in self._conditions.bound(binders, names):
            for way in self._conditions.where(where, seen):
                yield (*literals, *way), seen

    # ---- writes -------------------------------------------------------------------------------

    def _written(self, write: core.Write, names: Names, held: Held) -> Iterator[Rule]:
        target = write.target
        match write.op:
            case "remove":
                self._removed(target, names, held)
            case "add":
                for more, atom in self._facts(target, names):
                    yield Rule(atom, (*held, *more))
            case "=":
                self._context.exact = False
                yield from self._stored(target, write.value, names, held)
            case "+":
                self._context.exact = False
                yield from self._added(target, write.value, names, held)
            case _:
                assert_never(write.op)

    def _slots(self, target: core.Place, names: Names) -> Iterator[tuple[Held, tuple[Way, ...]]]:
        """The slots that a target can mean: any, if its arguments are unknown."""
        params = self._fluent(target).params
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

    def _fluent(self, target: core.Place) -> Fluent:
        return self._context.program.fluents[target.fluent]

    def _facts(self, target: core.Place, names: Names) -> Iterator[tuple[Held, Atom]]:
        fluent = self._fluent(target)
        for literals, args in self._slots(target, names):
            atom = slot_atom(fluent, args)
            yield literals, atom
            if fluent.symmetric:
                yield literals, Atom(atom.relation, atom.args[::-1])

    def _removed(self, target: core.Place, names: Names, held: Held) -> None:
        if held != (self.source.head,):
            self._context.exact = False
            return
        for literals, atom in self._facts(target, names):
            if literals or not self._is_known(atom):
                self._context.exact = False
            self.source.gone.append(atom)

    def _is_known(self, atom: Atom) -> bool:
        """Return whether the arguments of the action or law decide which fact an atom is."""
        return all(isinstance(arg, Const) or arg in self.source.params for arg in atom.args)

    def _stored(
        self, target: core.Place, value: core.Term, names: Names, held: Held
    ) -> Iterator[Rule]:
        """``target = value``."""
        fluent = self._fluent(target)
        if isinstance(fluent.type, BoolType):
            for more, atom in self._facts(target, names):
                for way in self._conditions.ways(value, names):
                    yield Rule(atom, (*held, *more, *way))
        elif is_numeric(fluent.type):
            yield from self._measured(target, value, names, held)
        elif not is_measured(fluent.type):
            for more, args in self._slots(target, names):
                for new in self._new_values(target, value, names):
                    atom = slot_atom(fluent, args, new.arg)
                    yield Rule(atom, (*held, *more, *new.literals))

    def _new_values(self, target: core.Place, value: core.Term, names: Names) -> list[Way]:
        """The values that may be stored: any, if that is unknown; `none` too, if the slot that is
        read may be missing."""
        kind = self._fluent(target).type
        found = self._values.term(value, names)
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

    def _measured(
        self, target: core.Place, value: core.Term, names: Names, held: Held
    ) -> Iterator[Rule]:
        made = self._conditions.measures(value, names)
        for more, args in self._slots(target, names):
            slot = tuple(one.arg for one in args)
            for literals, amount in made:
                head = Widening(target.fluent, slot, amount)
                yield Rule(head, (*held, *more, *literals))
            if not made:
                self._context.leave(f"value for `{target.fluent}`", value.span)
                yield Rule(Widening(target.fluent, slot, None), (*held, *more))

    def _added(
        self, target: core.Place, value: core.Term, names: Names, held: Held
    ) -> Iterator[Rule]:
        """``target += value``: again and again, by any number of rules."""
        fluent = self._fluent(target)
        if not is_numeric(fluent.type):
            return
        made = self._conditions.measures(value, names)
        for more, args in self._slots(target, names):
            slot, own = tuple(one.arg for one in args), slot_atom(fluent, args)
            for literals, amount in made:
                after = Operation("+", Slotted(fluent.id, slot), amount)
                head = Widening(fluent.id, slot, after)
                yield Rule(head, (*held, *more, own, *literals))
            if not made:
                yield Rule(Widening(fluent.id, slot, None), (*held, *more, own))


def named(let: core.Let, names: Names) -> dict[str, Later | str]:
    """The meaning of the names of a let: a term with the names that it sees, or a draw."""
    value = let.value
    if isinstance(value, (core.BranchDraw, core.PickDraw, core.UniformDraw)):
        return dict.fromkeys(let.names, UNKNOWN)
    return {name: Later(value, names) for name in let.names}


def _parted(body: core.Body, names: Iterable[str]) -> tuple[core.Body, core.Body]:
    """The statements that use one of the names, or a let made of one, and the others with all
    lets."""
    known, resting, free = set(names), list[core.Statement](), list[core.Statement]()
    for one in body:
        spoken = walk.mentions((one,), known)
        if isinstance(one, core.Let) and spoken:
            known.update(one.names)
        if spoken or isinstance(one, core.Let):
            resting.append(one)
        if not spoken:
            free.append(one)
    return tuple(resting), tuple(free)


def _without_idle(literals: Held, args: tuple[Way, ...]) -> Held:
    """Without tests that an argument is something, where its type says so."""
    sure = {one.arg for one in args if one.sure and not one.optional}
    return tuple(
        one
        for one in literals
        if not (isinstance(one, Same) and one.op == "!=" and one.left in sure)
    )
