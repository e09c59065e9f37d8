"""Terms of core as literals of a join: every way in which they can hold or have a value.

This is a relaxation without deletions. A negated fact is judged only if play never changes it; a
universal or unknown condition is assumed to hold, and noted. So in every state in which a condition
holds, some way of it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import assert_never

from tokenworld import model as m
from tokenworld.core import TermVisitor
from tokenworld.core import nodes as core
from tokenworld.core.rules import Derive
from tokenworld.ground import NotConstant, known_value
from tokenworld.planning.grounding.rules import (
    UNKNOWN,
    Amount,
    Arg,
    Atom,
    Const,
    Context,
    Either,
    Later,
    Literal,
    Names,
    Number,
    Operation,
    Range,
    Same,
    Slotted,
    Ungroundable,
    Var,
    Way,
    is_measured,
    is_numeric,
)

MOST_WAYS = 64
"""A condition with more ways to hold than these is taken to hold."""
_DEEPEST = 40
"""Derives within derives are put in place to this depth."""
_ALWAYS: Either = ((),)
_NEVER: Either = ()
_FLIPPED = {"==": "!=", "<": ">=", "<=": ">"}
_CALCULATING = ("+", "-", "*", "/", "div", "mod", "neg", "scale")

Measure = tuple[tuple[Literal, ...], Amount]
"""A way in which a numeric term has a value."""
Wanted = tuple[Names, bool]
"""The input for reading a condition: the names in scope, and whether it is to hold or to fail."""


class Conditions(TermVisitor[Wanted, Either]):
    """Reads conditions in one context; ``values`` and ``measures`` read their terms."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.values = _Values(self)
        self._amounts = _Amounts(self)

    def ways(self, term: core.Term, names: Names, wanted: bool = True) -> Either:
        """Every way in which a condition can hold; with ``wanted`` false, in which it can fail."""
        return self.term(term, (names, wanted))

    def measures(self, term: core.Term, names: Names) -> list[Measure]:
        """Every way in which a numeric term has a value; none where that is not known."""
        return self._amounts.term(term, names)

    # ---- leaves -------------------------------------------------------------------------------

    def constant(self, term: core.Constant, env: Wanted) -> Either:
        if not isinstance(term.value, bool):
            return self.unjudged(term)
        return _ALWAYS if term.value == env[1] else _NEVER

    def param_value(self, term: core.ParamValue, env: Wanted) -> Either:
        given = self.context.instance.params[term.name] is True
        return _ALWAYS if given == env[1] else _NEVER

    def variable(self, term: core.Variable, env: Wanted) -> Either:
        names, wanted = env
        found = names[term.name]
        if isinstance(found, Later):
            return self.ways(found.term, found.names, wanted)
        if isinstance(found, str):
            return self.granted()
        truth = core.Constant(wanted, term.type, term.span)
        judged = self._compared("==", term, truth, names)
        return self.unjudged(term) if judged is None else judged

    def _no_condition(self, term: core.Term, env: Wanted) -> Either:
        return self.unjudged(term)

    object_name = actor = members = text = _no_condition

    def unjudged(self, term: core.Term) -> Either:
        """Taken to hold, and noted, for no join can judge it."""
        name = term.op if isinstance(term, core.Call) else type(term).__name__
        self.context.leave(f"condition on `{name}`", term.span)
        return _ALWAYS

    def granted(self) -> Either:
        """Taken to hold, as everything that could have been undone is."""
        self.context.exact = False
        return _ALWAYS

    # ---- connectives --------------------------------------------------------------------------

    def call(self, term: core.Call, env: Wanted) -> Either:
        names, wanted = env
        match term.op:
            case "not":
                return self.ways(term.args[0], names, not wanted)
            case "and" | "or":
                together = (term.op == "and") == wanted
                return (self._both if together else self._any)(term.args, names, wanted)
            case "==" | "<" | "<=":
                return self._comparison(term, names, wanted)
            case "in":
                return self._member(term, names, wanted)
            case _:
                return self.unjudged(term)

    def _both(self, terms: Iterable[core.Term], names: Names, wanted: bool) -> Either:
        return self.all_of(((one, names) for one in terms), wanted=wanted)

    def all_of(
        self,
        terms: Iterable[tuple[core.Term, Names]],
        begun: Either = _ALWAYS,
        *,
        wanted: bool = True,
    ) -> Either:
        """Every way in which all of these hold (or fail), each with its names, after ``begun``."""
        found = begun
        for term, names in terms:
            more = self.ways(term, names, wanted)
            if len(found) * len(more) > MOST_WAYS:
                self.context.leave("condition with so many ways", term.span)
                continue
            found = tuple((*one, *other) for one in found for other in more)
        return found

    def _any(self, terms: tuple[core.Term, ...], names: Names, wanted: bool) -> Either:
        found = tuple(way for term in terms for way in self.ways(term, names, wanted))
        if len(found) > MOST_WAYS or () in found:
            if len(found) > MOST_WAYS:
                self.context.leave("condition with so many ways", terms[0].span)
            return self.granted()
        return found

    def choice(self, term: core.Choice, env: Wanted) -> Either:
        names, wanted = env
        test = term.condition
        yes = product(self.ways(test, names), self.ways(term.then, names, wanted))
        no = product(self.ways(test, names, False), self.ways(term.otherwise, names, wanted))
        found = tuple((*one, *other) for one, other in (*yes, *no))
        return found if len(found) <= MOST_WAYS else _ALWAYS

    # ---- facts --------------------------------------------------------------------------------

    def read(self, term: core.Read, env: Wanted) -> Either:
        names, wanted = env
        every = self.values.arguments(term.args, names) if isinstance(term.type, m.BoolType) else []
        if not every:
            return self.unjudged(term)
        found = []
        for args in every:
            literals = _literals(args)
            if not wanted and literals and not all(way.sure for way in args):
                return self.granted()
            # That a fact does not hold is judged where it is the same all the time.
            found.append((*literals, Atom(term.fluent, _args(args), absent=not wanted)))
        return tuple(found)

    def derive_call(self, term: core.DeriveCall, env: Wanted) -> Either:
        names, wanted = env
        derive = self.context.rules.derives[term.derive]
        if not isinstance(derive.type, m.BoolType):
            return self.unjudged(term)
        inner = self.values.inside(term, names)
        if inner is not None:
            with self.context.deeper():
                found = self.ways(derive.value, inner, wanted)
            missing = any(m.is_optional(arg.type) for arg in term.args)
            return found if wanted or not missing else self.granted()
        if not wanted or not derive.recursive:
            return self.granted() if derive.recursive else self.unjudged(term)
        self.context.exact = False
        every = self.values.arguments(term.args, names)
        found = tuple((*_literals(one), Atom(f"?{derive.name}", _args(one))) for one in every)
        return found or self.unjudged(term)

    def type_test(self, term: core.TypeTest, env: Wanted) -> Either:
        names, wanted = env
        found = []
        for way in self.values.term(term.term, names):
            if not wanted and not way.sure:
                return self.granted()
            found.append((*way.literals, Atom(f":{term.of}", (way.arg,), absent=not wanted)))
        return tuple(found) or self.unjudged(term)

    # ---- comparisons --------------------------------------------------------------------------

    def _comparison(self, term: core.Call, names: Names, wanted: bool) -> Either:
        left, right = term.args
        if any(_is_drawn(one, names) for one in term.args):
            return self.granted()
        if isinstance(left.type, m.BoolType) and isinstance(right.type, m.BoolType):
            return self._equated(left, right, names, wanted)
        if not wanted and term.op != "==" and (self.may_lack(left) or self.may_lack(right)):
            return self.granted()  # over `none` neither an order nor its opposite holds
        found = self._compared(term.op if wanted else _FLIPPED[term.op], left, right, names)
        return self.unjudged(term) if found is None else found

    def _equated(self, left: core.Term, right: core.Term, names: Names, wanted: bool) -> Either:
        pairs = (
            product(self.ways(left, names, one), self.ways(right, names, one == wanted))
            for one in (True, False)
        )
        found = tuple((*one, *other) for pair in pairs for one, other in pair)
        return found if len(found) <= MOST_WAYS else self.granted()

    def _compared(self, op: str, left: core.Term, right: core.Term, names: Names) -> Either | None:
        """The ways of a comparison; ``None`` where it cannot be judged."""
        kinds = (left.type, right.type)
        if any(isinstance(kind, m.NumberType) for kind in kinds):
            return self._measured(op, left, right, names)
        if any(is_measured(kind) for kind in kinds):
            return None
        found = list[tuple[Literal, ...]]()
        pairs = product(self.values.term(left, names), self.values.term(right, names))
        judged = False
        for one, other in pairs:
            if not _is_judged(op, one, other):
                return None
            judged = True
            holds = _known(op, one, other)
            if holds is not False:
                same = () if holds else (Same(op, one.arg, other.arg),)
                found.append((*one.literals, *other.literals, *same))
        return tuple(found) if judged and len(found) <= MOST_WAYS else None

    def _measured(self, op: str, left: core.Term, right: core.Term, names: Names) -> Either | None:
        for one, other in ((left, right), (right, left)):
            if isinstance(other, core.Constant) and other.value is None:
                return self._nothing(op, one, names)
        lacking = [self.may_lack(left), self.may_lack(right)]
        if (op == "!=" and any(lacking)) or (op == "==" and all(lacking)):
            return None  # a missing slot counts as `none`, which equals itself alone
        pairs = product(self.measures(left, names), self.measures(right, names))
        found = tuple(
            (*mine, *theirs, Range(op, one, other)) for (mine, one), (theirs, other) in pairs
        )
        return found or None

    def _nothing(self, op: str, term: core.Term, names: Names) -> Either | None:
        """Return whether a number is `none`, or ``None`` if that is unknown."""
        found = names[term.name] if isinstance(term, core.Variable) else None
        if op not in ("==", "!=") or (found != Const(None) and self.may_lack(term)):
            return None
        return _ALWAYS if (found == Const(None)) == (op == "==") else _NEVER

    def may_lack(self, term: core.Term) -> bool:
        """Return whether a term may be `none`, by its type or for want of a slot."""
        if m.is_optional(term.type):
            return True
        match term:
            case core.Read(fluent=name, args=args):
                params = self.context.program.fluents[name].params
                return self.context.destroys or any(
                    self.may_lack(arg) or not self.context.covers(param.type, arg.type)
                    for arg, param in zip(args, params, strict=True)
                )
            case (
                core.Constant()
                | core.ObjectName()
                | core.ParamValue()
                | core.Variable()
                | core.Actor()
            ):
                return False
            case core.Call(op=op, args=args) if op in _CALCULATING:
                return any(map(self.may_lack, args))
            case (
                core.Call()
                | core.DeriveCall()
                | core.Members()
                | core.Fold()
                | core.Choice()
                | core.TypeTest()
                | core.Text()
            ):
                return True
            case _:
                assert_never(term)

    # ---- collections --------------------------------------------------------------------------

    def _member(self, term: core.Call, names: Names, wanted: bool) -> Either:
        item, collection = term.args
        if isinstance(collection, core.Members) and collection.by == "list":
            same = tuple(
                core.Call("==", (item, one), m.BOOL, item.span) for one in collection.items
            )
            some = core.Call("or", same, m.BOOL, item.span)
            lacking = any(map(self.may_lack, (item, *collection.items)))
            return self.granted() if lacking and not wanted else self.ways(some, names, wanted)
        if not wanted:
            return self.granted()
        found = []
        for way in self.values.term(item, names):
            inside = self._inside(collection, way.arg, names)
            if inside is None:
                return self.unjudged(collection)
            found += [(*way.literals, *one) for one in inside]
        return tuple(found) or self.unjudged(item)

    def _inside(self, collection: core.Term, arg: Arg, names: Names) -> Either | None:
        """Every way in which something is in a collection; ``None`` where that is not known."""
        self.context.exact = False
        if not isinstance(collection, core.Members):
            return None
        every = [self.values.term(one, names) for one in collection.items]
        if not all(every):
            return None
        fluent, flat = collection.fluent, False
        match collection.by:
            case "list":
                ways = (way for one in every for way in one)
                return tuple((*way.literals, Same("==", arg, way.arg)) for way in ways)
            case "closure":
                flat = self.context.program.fluents[fluent].fluent_kind == "relation"
                fluent = f"*{fluent}"
            case "inverse":
                pass
            case _:
                assert_never(collection.by)
        return tuple(
            (*way.literals, Atom(fluent, (way.arg, arg) if flat else (arg, way.arg)))
            for way in every[0]
        )

    def fold(self, term: core.Fold, env: Wanted) -> Either:
        """Some binding is found by joining; of all of them nothing is asked."""
        names, wanted = env
        if term.fold not in ("any", "all"):
            return self.unjudged(term)
        if (term.fold == "any") != wanted:
            return self.granted()
        self.context.exact = False
        try:
            every = self.bound(term.binders, names)
        except Ungroundable:
            return self.unjudged(term)
        found = list[tuple[Literal, ...]]()
        for literals, inner in every:
            where = self.where(term.where, inner)
            value = _ALWAYS if term.value is None else self.ways(term.value, inner, wanted)
            found += [(*literals, *one, *other) for one in where for other in value]
        return tuple(found) if len(found) <= MOST_WAYS else self.granted()

    def where(self, condition: core.Term | None, names: Names) -> Either:
        """Every way in which the condition of a ``where`` holds."""
        return _ALWAYS if condition is None else self.ways(condition, names)

    def bound(
        self, binders: tuple[core.Binder, ...], names: Names
    ) -> list[tuple[tuple[Literal, ...], Names]]:
        """Every way to bind loop variables, with the names that are seen then."""
        found: list[tuple[tuple[Literal, ...], Names]] = [((), names)]
        for binder in binders:
            found = [
                ((*literals, *more), {**seen, binder.name: var})
                for literals, seen in found
                for more, var in self._binding(binder, seen)
            ]
        return found

    def _binding(self, binder: core.Binder, names: Names) -> list[tuple[tuple[Literal, ...], Arg]]:
        var = self.context.fresh()
        match binder.domain:
            case m.TypeRange(of=of):
                listed = self.context.belongs(of, var)
            case m.IntervalRange(low=low, high=high):
                listed = self.context.belongs(m.NumberType(low, high), var)
            case collection:
                return self._ranging(binder, collection, var, names)
        if listed is None:
            raise Ungroundable(f"the variable `{binder.name}` without bounds", binder.span)
        return [((listed,), var)]

    def _ranging(
        self, binder: core.Binder, collection: core.Term, var: Var, names: Names
    ) -> list[tuple[tuple[Literal, ...], Arg]]:
        kind = Atom(f":{binder.only}", (var,)) if binder.only is not None else None
        kept: tuple[Literal, ...] = () if kind is None else (kind,)
        inside = self._inside(collection, var, names)
        if inside is not None:
            return [((*way, *kept), var) for way in inside]
        self.context.leave("collection", binder.span)
        of = kind or self.context.belongs(_element(collection.type), var)
        if of is None:
            raise Ungroundable(f"the variable `{binder.name}` without bounds", binder.span)
        return [((of,), var)]


class _Values(TermVisitor[Names, list[Way]]):
    """Every way in which a term has a value; none if that is unknown.

    A read becomes a variable and the atom that binds it; a derive is inlined; a term without a
    tuple (the next of a ladder, a draw) has no ways, and the caller leaves it unjudged.
    """

    def __init__(self, conditions: Conditions) -> None:
        self._conditions, self._context = conditions, conditions.context
        self._slots: dict[tuple[str, tuple[Arg, ...], bool], Var] = {}

    def _fixed(self, term: core.Term, env: Names) -> list[Way]:
        instance = self._context.instance
        try:
            value = known_value(term, instance.numbers, instance.params)
        except (NotConstant, KeyError):
            return []
        return [Way((), Const(value), term.type, True)]

    def _untold(self, term: core.Term, env: Names) -> list[Way]:
        return []

    constant = object_name = param_value = _fixed
    members = fold = type_test = text = _untold

    def actor(self, term: core.Actor, env: Names) -> list[Way]:
        actors = self._context.instance.actors
        if not actors and self._context.program.actor is not None:
            return []  # it is not there yet
        if len(actors) <= 1:
            return [Way((), Const(actors[0] if actors else None), term.type, True)]
        var = Var("me")
        return [Way((self._context.listed("actors", actors, var),), var, term.type, True)]

    def variable(self, term: core.Variable, env: Names) -> list[Way]:
        found = env[term.name]
        match found:
            case Later(term=inner, names=seen):
                return self.term(inner, seen)
            case str():
                return []
            case _:
                return [Way((), found, term.type, True)]

    def read(self, term: core.Read, env: Names) -> list[Way]:
        fluent = self._context.program.fluents[term.fluent]
        if is_numeric(fluent.type):
            return list(self._listed(term, env))
        if is_measured(fluent.type) or isinstance(fluent.type, m.BoolType):
            return []  # as a value a fact would need both of its sides
        found = []
        for args in self.arguments(term.args, env):
            var = self._read_once(fluent, args, term)
            sure = self._context.surely(fluent, args)
            found.append(
                Way((*_literals(args), slot_atom(fluent, args, var)), var, term.type, sure)
            )
        return found

    def _read_once(self, fluent: m.Fluent, args: tuple[Way, ...], term: core.Read) -> Var:
        """The variable of a slot: a slot holds one value at a time, however often it is read."""
        key = (fluent.id, _args(args), term.was)
        if key not in self._slots:
            self._slots[key] = self._context.fresh()
        return self._slots[key]

    def call(self, term: core.Call, env: Names) -> list[Way]:
        return list(self._listed(term, env)) if term.op in _CALCULATING else []

    def _listed(self, term: core.Term, names: Names) -> Iterator[Way]:
        """A number as a value: each of its type that lies in its range."""
        for literals, amount in self._conditions.measures(term, names):
            var = self._context.fresh()
            listed = self._context.belongs(term.type, var)
            if listed is None:
                return
            same = Range("==", Number(var), amount)
            yield Way((*literals, listed, same), var, term.type, True)

    def choice(self, term: core.Choice, env: Names) -> list[Way]:
        found = []
        for branch, wanted in ((term.then, True), (term.otherwise, False)):
            values = self.term(branch, env)
            if not values:
                return []
            for literals in self._conditions.ways(term.condition, env, wanted):
                found += [
                    Way((*literals, *one.literals), one.arg, one.kind, one.sure) for one in values
                ]
        return found if len(found) <= MOST_WAYS else []

    def derive_call(self, term: core.DeriveCall, env: Names) -> list[Way]:
        inner, derive = self.inside(term, env), self._derive(term)
        if inner is None or isinstance(derive.type, m.BoolType):
            return []
        with self._context.deeper():
            found = self.term(derive.value, inner)
        missing = any(m.is_optional(arg.type) for arg in term.args)
        return [Way(one.literals, one.arg, one.kind, one.sure and not missing) for one in found]

    def _derive(self, term: core.DeriveCall) -> Derive:
        return self._context.rules.derives[term.derive]

    def inside(self, term: core.DeriveCall, names: Names) -> Names | None:
        """The names that the body of a derive sees; ``None`` where it is not put in place."""
        derive = self._derive(term)
        if derive.recursive or self._context.depth >= _DEEPEST:
            return None
        return {
            param.name: Later(arg, names)
            for param, arg in zip(derive.params, term.args, strict=True)
        }

    def arguments(self, terms: tuple[core.Term, ...], names: Names) -> list[tuple[Way, ...]]:
        """Every way in which all arguments have values."""
        every = list(product(*(self.term(one, names) for one in terms)))
        return every if len(every) <= MOST_WAYS else []


class _Amounts(TermVisitor[Names, list[Measure]]):
    """Every way in which a numeric term has a value; none where that is not known."""

    def __init__(self, conditions: Conditions) -> None:
        self._conditions, self._context = conditions, conditions.context
        self._values = conditions.values

    def _fixed(
        self, term: core.Constant | core.ParamValue | core.Variable, env: Names
    ) -> list[Measure]:
        return [
            (one.literals, Number(one.arg))
            for one in self._values.term(term, env)
            if one.arg != Const(None) and is_measured(one.kind)
        ]

    def _untold(self, term: core.Term, env: Names) -> list[Measure]:
        return []

    constant = param_value = _fixed
    object_name = actor = members = fold = type_test = text = _untold

    def variable(self, term: core.Variable, env: Names) -> list[Measure]:
        found = env[term.name]
        if isinstance(found, Later):
            return self.term(found.term, found.names)
        return self._fixed(term, env)

    def read(self, term: core.Read, env: Names) -> list[Measure]:
        fluent = self._context.program.fluents[term.fluent]
        if not is_numeric(fluent.type):
            return []
        return [
            ((*_literals(args), slot_atom(fluent, args)), Slotted(fluent.id, _args(args)))
            for args in self._values.arguments(term.args, env)
        ]

    def choice(self, term: core.Choice, env: Names) -> list[Measure]:
        found: list[Measure] = []
        for branch, wanted in ((term.then, True), (term.otherwise, False)):
            values = self.term(branch, env)
            if not values:
                return []
            ways = self._conditions.ways(term.condition, env, wanted)
            found += [((*way, *own), amount) for way in ways for own, amount in values]
        return found if len(found) <= MOST_WAYS else []

    def derive_call(self, term: core.DeriveCall, env: Names) -> list[Measure]:
        inner = self._values.inside(term, env)
        if inner is None:
            return []
        with self._context.deeper():
            return self.term(self._context.rules.derives[term.derive].value, inner)

    def call(self, term: core.Call, env: Names) -> list[Measure]:
        if not is_numeric(term.type):
            return []
        match term:
            case core.Call(op="+" | "-" | "*" | "min" | "max" as op, args=(left, right)):
                return self._both(op, left, right, env)
            case core.Call(op="scale", args=(left, right)):
                return self._both("*", left, right, env)
            case core.Call(op="neg", args=(inner,)):
                zero = core.Constant(0, inner.type, inner.span)
                return self._both("-", zero, inner, env)
            case core.Call(op="amount", args=(inner,)):
                return self.term(inner, env)
            case _:
                return []

    def _both(self, op: str, left: core.Term, right: core.Term, names: Names) -> list[Measure]:
        pairs = product(self.term(left, names), self.term(right, names))
        return [
            ((*mine, *theirs), Operation(op, one, other)) for (mine, one), (theirs, other) in pairs
        ]


def _is_drawn(term: core.Term, names: Names) -> bool:
    """Return whether a term is a name for something that is drawn."""
    while isinstance(term, core.Variable) and isinstance(found := names[term.name], Later):
        term, names = found.term, found.names
    return isinstance(term, core.Variable) and names[term.name] == UNKNOWN


def _is_judged(op: str, one: Way, other: Way) -> bool:
    """Return whether the comparison fails where a side lacks its slot, so that the atoms may be
    asked for: a slot that is not there counts as `none`."""
    if (one.sure and other.sure) or op not in ("==", "!="):
        return True
    known = [way.arg.value for way in (one, other) if isinstance(way.arg, Const)]
    if op == "!=":
        return None in known
    solid = (way.sure and not m.is_optional(way.kind) for way in (one, other))
    return any(value is not None for value in known) or any(solid)


def _known(op: str, one: Way, other: Way) -> bool | None:
    """Return whether two values are equal (or not), if no join has to decide it: for constants,
    and for a variable that is never `none`."""
    if op not in ("==", "!="):
        return None
    for way, constant in ((one, other), (other, one)):
        if isinstance(constant.arg, Const):
            if isinstance(way.arg, Const):
                return (way.arg == constant.arg) == (op == "==")
            if constant.arg.value is None and not way.literals and not m.is_optional(way.kind):
                return op == "!="
    return None


def _element(kind: m.ValueType) -> m.ValueType:
    return kind.element if isinstance(kind, m.CollectionType) else kind


def _literals(args: tuple[Way, ...]) -> tuple[Literal, ...]:
    return tuple(literal for one in args for literal in one.literals)


def _args(args: tuple[Way, ...]) -> tuple[Arg, ...]:
    return tuple(one.arg for one in args)


def slot_atom(fluent: m.Fluent, args: tuple[Way, ...], value: Arg | None = None) -> Atom:
    """The atom of a slot: of a fact, of a slot with this value, or of a numeric one."""
    if is_numeric(fluent.type):
        return Atom(f"#{fluent.id}", _args(args))
    whole = _args(args) if value is None else (*_args(args), value)
    return Atom(fluent.id, whole)
