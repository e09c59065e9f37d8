"""Evaluate terms of core (language.md §4), and their arithmetic on raw numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any, assert_never

from tokenworld import model as m
from tokenworld.core import TermVisitor
from tokenworld.core import nodes as core
from tokenworld.core.rules import Derive
from tokenworld.core.walk import subterms
from tokenworld.diagnostics.limits import TOO_LARGE, TOO_LONG
from tokenworld.engine.reference.values import (
    Env,
    Fault,
    Known,
    State,
    compared,
    copied,
    decimals_of,
)
from tokenworld.ground import Raw

# ---- Numbers -------------------------------------------------------------------------------------
# Arithmetic on raw numbers: scaled whole numbers stay exact, doubles are doubles (§2).


def fitting(number: Any) -> Any:
    """An exact number that is not too long to be kept and shown."""
    if number is not None and abs(number) >= TOO_LARGE:
        raise _undefined(TOO_LONG)
    return number


def _undefined(text: str) -> Fault:
    return Fault("TW1006", "undefined", text)


def over(left: Any, right: Any) -> float:
    """`/`: always a real."""
    if right == 0:
        raise _undefined("A number is divided by zero.")
    return float(left / right)


def calculated(op: m.ArithmeticOp, left: Any, right: Any, *, real: bool) -> Any:
    """One operation; over `none` it is `none`."""
    if left is None or right is None:
        return None
    match op:
        case "+":
            return left + right if real else fitting(left + right)
        case "-":
            return left - right if real else fitting(left - right)
        case "*":
            return left * right if real else fitting(left * right)
        case "/":
            return over(left, right)
        case _ if right == 0:
            raise _undefined("A number is divided by zero.")
        case "div":
            return left // right
        case "mod":
            return left - right * math.floor(left / right) if real else left % right
        case _:
            assert_never(op)


def number_function(term: core.Call, args: list[Any]) -> Any:
    """The functions on numbers; none of the arguments is `none`."""
    match term.op:
        case "abs":
            return abs(args[0])
        case "min":
            return min(args)
        case "max":
            return max(args)
        case "clamp":
            value, low, high = args
            return min(max(value, low), high)
        case "toward":
            value, target, step = args
            moved = min(value + step, target) if value < target else max(value - step, target)
            return fitting(moved) if isinstance(moved, int) else moved
        case "sign":
            return (args[0] > 0) - (args[0] < 0)
        case "pow":
            return _power(args[0], args[1])
        case "floor":
            return math.floor(_exact(term, args[0]))
        case "round":
            return fitting(round(_exact(term, args[0]) * 10 ** args[1]))
        case "sqrt" | "sin" | "cos" | "exp" | "log":
            return _analytic(term.op, args[0])
        case _:
            raise ValueError(f"`{term.op}` is no function on numbers")


def _exact(term: core.Call, value: Any) -> Fraction:
    """The number that a raw argument represents."""
    kind = term.args[0].type
    if isinstance(kind, m.NumberType):
        return Fraction(value, 10**kind.decimals)
    if not math.isfinite(value):
        raise _undefined("A result is outside the reals.")
    return Fraction(value)


def _power(base: float, exponent: int) -> float:
    if exponent < 0:
        raise _undefined("An exponent is negative.")
    result = 1.0
    for _ in range(exponent):
        result = result * base
    return result


def _analytic(name: str, value: float) -> float:
    try:
        return float(getattr(math, name)(value))
    except (ValueError, OverflowError):
        raise _undefined(f"`{name}` has no real result here.") from None


# ---- Terms ---------------------------------------------------------------------------------------


class Tedious(Exception):
    """More bindings were tried than the caller allows."""


class Terms(TermVisitor[Env, Any]):
    """Evaluates terms of one world: the raw value, or a list for a collection.

    `Tedious` is raised once ``left`` bindings were tried; the caller sets it anew.
    """

    left = float("inf")

    def __init__(self, known: Known) -> None:
        self.known, self.program, self.rules = known, known.program, known.rules
        self.instance = known.instance

    def holds(self, term: core.Term | None, env: Env) -> bool:
        """A condition: `none` counts as false; no condition holds."""
        return term is None or bool(self.term(term, env))

    # ---- names and constants ------------------------------------------------------------------

    def constant(self, term: core.Constant, env: Env) -> Any:
        return term.value

    def object_name(self, term: core.ObjectName, env: Env) -> Any:
        return next(number for number, own in env.state.names.items() if own == term.name)

    def param_value(self, term: core.ParamValue, env: Env) -> Any:
        return self.instance.params[term.name]

    def variable(self, term: core.Variable, env: Env) -> Any:
        return env.locals[term.name]

    def actor(self, term: core.Actor, env: Env) -> Any:
        return env.me

    def choice(self, term: core.Choice, env: Env) -> Any:
        return self.term(term.then if self.holds(term.condition, env) else term.otherwise, env)

    def type_test(self, term: core.TypeTest, env: Env) -> Any:
        kind = self._kind(self.term(term.term, env), env)
        return kind is not None and self.program.is_subtype(kind, term.of)

    def text(self, term: core.Text, env: Env) -> Any:
        return self.rendered(term.template, env)

    def rendered(self, template: core.Template, env: Env) -> str:
        """A template as prose; see `words`."""
        raise NotImplementedError

    def _kind(self, number: Raw, env: Env) -> str | None:
        return env.made[number] if number in env.made else env.state.kind(number)  # type: ignore[index]

    # ---- reading ----------------------------------------------------------------------------

    def read(self, term: core.Read, env: Env) -> Any:
        there = self._there(term, env)
        slot = (term.fluent, tuple(self.term(arg, env) for arg in term.args))
        if slot in there.given:
            return there.given[slot]
        return self.known.get(there.state, self.program.fluents[term.fluent], slot[1])

    def derive_call(self, term: core.DeriveCall, env: Env) -> Any:
        args = [self.term(arg, env) for arg in term.args]
        return self.derived(term.derive, args, self._there(term, env))

    def members(self, term: core.Members, env: Env) -> Any:
        if term.by == "list":
            return [self.term(item, env) for item in term.items]
        state, target = self._there(term, env).state, self.term(term.of, env)
        if term.by == "closure":
            return self.known.leading(state, term.fluent, target)
        return self.known.pointing(state, self.program.fluents[term.fluent], target)

    def _there(self, term: core.Read | core.DeriveCall | core.Members, env: Env) -> Env:
        return replace(env, state=self._past(env), given={}, made={}) if term.was else env

    def _past(self, env: Env) -> State:
        """The start of the tick; objects created since have the values of their creation."""
        late = [number for number in (*env.state.names, *env.made) if number not in env.was.names]
        if not late:
            return env.was
        key = (id(env.state), id(env.was), len(env.made))
        if key not in env.pasts:
            past = env.pasts[key] = copied(env.was)
            past.names.update(dict.fromkeys(late, ""))
            past.ghosts.update({x: kind for x in late if (kind := self._kind(x, env)) is not None})
            past.values.update({**env.state.firsts, **env.given, **env.was.values})
        return env.pasts[key]

    # ---- operators and built-in functions -----------------------------------------------------

    def call(self, term: core.Call, env: Env) -> Any:
        match term.op:
            case "and":
                return all(self.holds(part, env) for part in term.args)
            case "or":
                return any(self.holds(part, env) for part in term.args)
            case "not":
                return not self.holds(term.args[0], env)
            case "in":
                return self._member(term.args[0], term.args[1], env)
            case _:
                return self._called(term, [self.term(arg, env) for arg in term.args], env)

    def _member(self, item: core.Term, collection: core.Term, env: Env) -> bool:
        value = self.term(item, env)
        if value is None:
            return False
        if isinstance(collection, core.Members) and self._is_of_places(collection):
            there = self._past(env) if collection.was else env.state
            target = self.term(collection.of, env)  # `x in c.contents` is `x.at == c`
            places = self.known.places(there, collection.fluent, value)
            found = islice(places, 1) if collection.by == "inverse" else places
            return target is not None and target in found
        return value in self.term(collection, env)

    def _is_of_places(self, members: core.Members) -> bool:
        """Return whether the term lists the contents of an object."""
        along = self.program.fluents.get(members.fluent)
        return along is not None and along.fluent_kind != "relation"

    def _called(self, term: core.Call, args: list[Any], env: Env) -> Any:
        match term.op:
            case "==" | "<" | "<=":
                return compared(term.op, *args)
            case "+" | "-" | "*" | "/" | "div" | "mod":
                return calculated(term.op, *args, real=isinstance(term.type, m.RealType))
            case "tick":
                return env.state.tick
            case "score":
                total = self.score(env)
                return int(total) if total.denominator == 1 else total
            case "pi":
                return math.pi
            case "busy":
                long = env.state.long.get(args[0]) if args[0] is not None else None
                return long is not None and term.detail in ("", long.command.action)
            case "did":
                return self._did(term.detail, args, env)
            case _:
                return None if None in args else self._number(term, args)

    def _number(self, term: core.Call, args: list[Any]) -> Any:
        match term.op:
            case "neg":
                return -args[0]
            case "real":
                return over(args[0], 10 ** decimals_of(term.args[0]))
            case "amount":
                if args[0] < 0:
                    text = "A negative amount cannot be transferred."
                    raise Fault("TW1004", "range", text)
                return args[0] if isinstance(args[0], float) else fitting(args[0])
            case "scale":
                return args[0] * args[1]
            case "id":
                return args[0]
            case "next":
                return min(args[0] + 1, len(self.program.enums[term.detail].members) - 1)
            case "prev":
                return max(args[0] - 1, 0)
            case _:
                return number_function(term, args)

    def _did(self, action: str, args: list[Any], env: Env) -> bool:
        return any(
            who == args[0]
            and command.action == action
            and list(command.args[: len(args) - 1]) == args[1:]
            for who, command in env.state.executed
        )

    def score(self, env: Env) -> Fraction:
        """The world's expression plus the awards that were given (language.md §8, step 11)."""
        world = self.rules.worlds[self.instance.world.name]
        env = env.only({})
        total = Fraction(0)
        if world.score is not None:
            total += self.amount(world.score, env)
        for index in env.state.awarded:
            total += self.amount(world.awards[index].amount, env)
        return total

    def amount(self, term: core.Term, env: Env) -> Fraction:
        """The exact value of an amount; 0 if it depends on a destroyed object."""
        value = self.term(term, env)
        return Fraction(0) if value is None else Fraction(value) / 10 ** decimals_of(term)

    # ---- derives ----------------------------------------------------------------------------

    def derived(self, name: str, args: list[Any], env: Env) -> Any:
        derive = self.rules.derives[name]
        truth = isinstance(derive.type, m.BoolType)
        if None in args:
            return False if truth else None
        if derive.recursive:
            return tuple(args) in self._table(derive, env)
        names = {binder.name: arg for binder, arg in zip(derive.params, args, strict=True)}
        value = self.term(derive.value, env.only(names))
        return bool(value) if truth else value

    def _table(self, derive: Derive, env: Env) -> set[tuple[Raw, ...]]:
        """The least fixpoint of a recursive derive with those that use each other."""
        where = (id(env.state), id(env.was))
        if (derive.name, *where) not in env.tables:
            group = [one for one in self._used_by(derive.name) if self._uses(one, derive.name)]
            for name in group:
                env.tables[name, *where] = set()
            growing = True
            while growing:
                grown = [self._grown(self.rules.derives[name], env, where) for name in group]
                growing = any(grown)
        return env.tables[derive.name, *where]

    def _grown(self, derive: Derive, env: Env, where: tuple[int, int]) -> bool:
        table = env.tables[derive.name, *where]
        before = len(table)
        for inner in self.bindings(derive.params, None, env.only({})):
            if self.holds(derive.value, inner):
                table.add(tuple(inner.locals[binder.name] for binder in derive.params))
        return len(table) > before

    def _used_by(self, name: str) -> list[str]:
        found: list[str] = []
        todo = [name]
        while todo:
            for term in subterms(self.rules.derives[todo.pop()].value):
                if isinstance(term, core.DeriveCall) and term.derive not in found:
                    found.append(term.derive)
                    todo.append(term.derive)
        return found

    def _uses(self, name: str, other: str) -> bool:
        return other in self._used_by(name)

    # ---- bindings and folds -------------------------------------------------------------------

    def bindings(
        self, binders: tuple[core.Binder, ...], where: core.Term | None, env: Env
    ) -> Iterator[Env]:
        """Every binding that satisfies ``where``, in order; later binders see earlier ones."""
        if binders:
            for value in self._range(binders[0], env):
                self.left -= 1
                if self.left < 0:
                    raise Tedious
                yield from self.bindings(binders[1:], where, env.bind(binders[0].name, value))
        elif self.holds(where, env):
            yield env

    def _range(self, binder: core.Binder, env: Env) -> list[Any]:
        match binder.domain:
            case m.TypeRange(of=m.ObjectType(name=of)):
                return self.known.living(env.state, of)
            case m.TypeRange(of=m.EnumType(name=of)):
                return list(range(len(self.program.enums[of].members)))
            case m.TypeRange():
                raise TypeError(f"nothing ranges over {binder.type.kind}")
            case m.IntervalRange(low=low, high=high):
                return list(range(low, high + 1))
            case collection:
                values = [one for one in self.term(collection, env) if one is not None]
                if binder.only is None:
                    return values
                return [one for one in values if self._is(one, binder.only, env)]

    def _is(self, number: int, of: str, env: Env) -> bool:
        kind = self._kind(number, env)
        return kind is not None and self.program.is_subtype(kind, of)

    def fold(self, term: core.Fold, env: Env) -> Any:
        every = self.bindings(term.binders, term.where, env)
        if term.value is None:
            return sum(1 for _ in every)
        values = (self.term(term.value, inner) for inner in every)
        match term.fold:
            case "any":
                return any(values)
            case "all":
                return all(values)
            case "count":
                return sum(1 for value in values if value)
            case "sum" | "min" | "max":
                return self._calculated(term, list(values))
            case "first":
                return next(values, None)
            case "last":
                found = list(values)
                return found[-1] if found else None

    def _calculated(self, term: core.Fold, values: list[Any]) -> Any:
        """An aggregate over elements; `none` if it depends on a destroyed object."""
        if None in values:
            return None
        if term.fold == "min":
            return min(values, default=None)
        if term.fold == "max":
            return max(values, default=None)
        real = isinstance(term.type, m.RealType)
        total: Any = 0.0 if real else 0
        for value in values:  # in order: doubles are not associative
            total = total + value
        return total if real else fitting(total)
