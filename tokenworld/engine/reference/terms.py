"""What a term means, by one `match` (language.md §4): every expression has a value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tokenworld.engine.reference.env import Env, compared, decimals_of
from tokenworld.engine.reference.numbers import calculated, number_function, over
from tokenworld.engine.reference.values import Known, State, copied
from tokenworld.ground import Raw
from tokenworld.model import (
    And,
    Arithmetic,
    Binder,
    BoolLiteral,
    BoolType,
    BuiltinCall,
    Choose,
    ClosureOf,
    CollectionRange,
    Compare,
    Derive,
    DeriveCall,
    EnumLiteral,
    EnumType,
    Fold,
    Implies,
    IntervalRange,
    InverseOf,
    IsType,
    ListTerm,
    Local,
    Me,
    Member,
    Negate,
    NoneLiteral,
    Not,
    NumberLiteral,
    ObjectLiteral,
    ObjectType,
    Or,
    ParamRead,
    Read,
    RealType,
    Rescale,
    Template,
    TemplateTerm,
    Term,
    ToReal,
    TypeRange,
    subterms,
)

__all__ = ["Terms"]


class Terms:
    """Evaluates terms of one world."""

    def __init__(self, known: Known) -> None:
        self.known, self.program = known, known.program
        self.instance = known.instance

    def text(self, template: Template, env: Env) -> str:
        """A template as prose; see `words`."""
        raise NotImplementedError

    def holds(self, term: Term | None, env: Env) -> bool:
        """A condition: `none` counts as false; no condition holds."""
        return term is None or bool(self.value(term, env))

    def value(self, term: Term, env: Env) -> Any:
        """The raw value of a term (a list for a collection)."""
        match term:
            case BoolLiteral(value=value) | NumberLiteral(value=value):
                return value
            case EnumLiteral(index=index):
                return index
            case NoneLiteral():
                return None
            case ObjectLiteral(name=name):
                return next(x for x, own in env.state.names.items() if own == name)
            case ParamRead(name=name):
                return self.instance.params[name]
            case Local(name=name):
                return env.locals[name]
            case Me():
                return env.me
            case TemplateTerm(template=template):
                return self.text(template, env)
            case ListTerm(items=items):
                return [self.value(item, env) for item in items]
            case Fold():
                return self._fold(term, env)
            case BuiltinCall():
                return self._builtin(term, env)
            case Read() | DeriveCall() | InverseOf() | ClosureOf():
                return self._reading(term, env)
            case _:
                return self._operator(term, env)

    def _operator(self, term: Term, env: Env) -> Any:
        match term:
            case Not(term=inner):
                return not self.holds(inner, env)
            case And(terms=terms):
                return all(self.holds(part, env) for part in terms)
            case Or(terms=terms):
                return any(self.holds(part, env) for part in terms)
            case Implies(left=left, right=right):
                return not self.holds(left, env) or self.holds(right, env)
            case Choose(condition=condition, then=then, otherwise=otherwise):
                return self.value(then if self.holds(condition, env) else otherwise, env)
            case Compare(op=op, left=left, right=right):
                return compared(op, self.value(left, env), self.value(right, env))
            case Member():
                return self._member(term, env)
            case IsType(term=inner, of=of):
                kind = self._kind(self.value(inner, env), env)
                return kind is not None and self.program.is_subtype(kind, of)
            case Arithmetic(op=op, left=left, right=right):
                real = isinstance(term.type, RealType)
                return calculated(op, self.value(left, env), self.value(right, env), real=real)
            case Negate(term=inner):
                value = self.value(inner, env)
                return None if value is None else -value
            case Rescale(term=inner, digits=digits):
                value = self.value(inner, env)
                return None if value is None else value * 10**digits
            case ToReal(term=inner):
                value = self.value(inner, env)
                return None if value is None else over(value, 10 ** decimals_of(inner))
            case _:
                raise TypeError(f"no term: {term!r}")

    def _kind(self, number: Raw, env: Env) -> str | None:
        return env.made[number] if number in env.made else env.state.kind(number)  # type: ignore[index]

    # ---- reading ----------------------------------------------------------------------------

    def _reading(self, term: Read | DeriveCall | InverseOf | ClosureOf, env: Env) -> Any:
        there = replace(env, state=self._past(env), given={}, made={}) if term.was else env
        match term:
            case Read(fluent=key, args=args):
                fluent = self.program.fluents[key]
                given = tuple(self.value(arg, env) for arg in args)
                slot = (key, given)
                if slot in there.given:
                    return there.given[slot]
                return self.known.get(there.state, fluent, given)
            case DeriveCall(derive=name, args=args):
                return self._derived(name, [self.value(arg, env) for arg in args], there)
            case InverseOf(fluent=key, of=of):
                target = self.value(of, env)
                return self.known.pointing(there.state, self.program.fluents[key], target)
            case ClosureOf(fluent=key, of=of):
                return self.known.leading(there.state, key, self.value(of, env))

    def _past(self, env: Env) -> State:
        """The start of the tick, in which objects born since read as they were at birth."""
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

    def _member(self, term: Member, env: Env) -> bool:
        item = self.value(term.item, env)
        if item is None:
            return False
        match term.collection:
            case InverseOf(fluent=key, of=of, was=was):  # `x in c.contents` is `x.at == c`
                there = self._past(env) if was else env.state
                target = self.value(of, env)
                stored = self.known.get(there, self.program.fluents[key], (item,))
                return target is not None and stored == target
            case _:
                return item in self.value(term.collection, env)

    # ---- derives ----------------------------------------------------------------------------

    def _derived(self, name: str, args: list[Any], env: Env) -> Any:
        derive = self.program.derives[name]
        truth = isinstance(derive.type, BoolType)
        if None in args:
            return False if truth else None
        if derive.recursive:
            return tuple(args) in self._table(derive, env)
        names = {binder.name: arg for binder, arg in zip(derive.params, args, strict=True)}
        value = self.value(derive.value, env.only(names))
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
                grown = [self._grown(self.program.derives[name], env, where) for name in group]
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
            for term in subterms(self.program.derives[todo.pop()].value):
                if isinstance(term, DeriveCall) and term.derive not in found:
                    found.append(term.derive)
                    todo.append(term.derive)
        return found

    def _uses(self, name: str, other: str) -> bool:
        return other in self._used_by(name)

    # ---- bindings and folds -------------------------------------------------------------------

    def bindings(self, binders: tuple[Binder, ...], where: Term | None, env: Env) -> Iterator[Env]:
        """Every binding that satisfies ``where``, in order; later binders see earlier ones."""
        if binders:
            for value in self._range(binders[0], env):
                yield from self.bindings(binders[1:], where, env.bind(binders[0].name, value))
        elif self.holds(where, env):
            yield env

    def _range(self, binder: Binder, env: Env) -> list[Any]:
        match binder.domain:
            case TypeRange(of=ObjectType(name=of)):
                return self.known.living(env.state, of)
            case TypeRange(of=EnumType(name=of)):
                return list(range(len(self.program.enums[of].members)))
            case IntervalRange(low=low, high=high):
                return list(range(low, high + 1))
            case CollectionRange(collection=collection, only=only):
                values = [one for one in self.value(collection, env) if one is not None]
                if only is None:
                    return values
                return [one for one in values if self._is(one, only, env)]
            case _:
                raise TypeError(f"nothing ranges over {binder.type.kind}")

    def _is(self, number: int, of: str, env: Env) -> bool:
        kind = self._kind(number, env)
        return kind is not None and self.program.is_subtype(kind, of)

    def _fold(self, term: Fold, env: Env) -> Any:
        every = self.bindings(term.binders, term.where, env)
        if term.value is None:
            return sum(1 for _ in every)
        values = (self.value(term.value, inner) for inner in every)
        match term.fold:
            case "any":
                return any(values)
            case "all":
                return all(values)
            case "count":
                return sum(1 for value in values if value)
            case "sum":
                total: Any = 0.0 if isinstance(term.type, RealType) else 0
                for value in values:
                    total = total + value
                return total
            case "min":
                return min(values, default=None)
            case "max":
                return max(values, default=None)
            case "first":
                return next(values, None)
            case "last":
                found = list(values)
                return found[-1] if found else None

    # ---- built-in functions -------------------------------------------------------------------

    def _builtin(self, term: BuiltinCall, env: Env) -> Any:
        args = [self.value(arg, env) for arg in term.args]
        match term.name:
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
                return any(
                    who == args[0]
                    and deed.action == term.detail
                    and list(deed.args[: len(args) - 1]) == args[1:]
                    for who, deed in env.state.deeds
                )
            case _ if None in args:
                return None
            case "id":
                return args[0]
            case "next":
                return min(args[0] + 1, len(self.program.enums[term.detail].members) - 1)
            case "prev":
                return max(args[0] - 1, 0)
            case _:
                return number_function(term, args)

    def score(self, env: Env) -> Fraction:
        """The world's expression plus the awards that were given (language.md §8, step 11)."""
        world = self.instance.world
        env = env.only({})
        total = Fraction(0)
        if world.score is not None:
            total += self.amount(world.score, env)
        for index in env.state.awarded:
            total += self.amount(world.awards[index].amount, env)
        return total

    def amount(self, term: Term, env: Env) -> Fraction:
        """What a term is worth; if it rests on something destroyed, nothing."""
        value = self.value(term, env)
        return Fraction(0) if value is None else Fraction(value) / 10 ** decimals_of(term)
