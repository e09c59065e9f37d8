"""Effects of a body: its writes, the demands that must hold, and its draws (language.md §5).

A body is walked once with every name bound; all reads are of the state before it. Each write
carries the condition under which it happens. Only requested writes are evaluated, so that an
irrelevant construct costs nothing and cannot block the encoding.

Each draw becomes a coin, a variable whose value the planner chooses (§13). A coin's sides carry the
condition under which they are possible. If a draw is not taken its coin shows 0 and counts for
nothing. ``pick by least`` and ``by most`` draw nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Generic, Literal, Protocol, TypeVar, assert_never

from tokenworld.core import Footprint, StatementVisitor
from tokenworld.core import nodes as core
from tokenworld.core.program import changes
from tokenworld.core.walk import evaluated, is_draw, statements_in
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.planning.lower.algebra import (
    ALIVE,
    COIN,
    Algebra,
    Env,
    Later,
    Mark,
    Refused,
    Slot,
    V,
    Value,
    conj,
    disj,
)
from tokenworld.planning.lower.numbers import compare, may_break
from tokenworld.planning.lower.terms import Terms, decimals_of

Demand = Literal["range", "error"]
Wanted = Callable[[Slot], bool]
V_co = TypeVar("V_co", covariant=True)


class Coins(Protocol[V_co]):
    """Gives the value of a coin with ``size`` sides."""

    def __call__(self, slot: Slot, size: int) -> V_co: ...


@frozen
class DrawSite(Generic[V]):
    """A place where a body draws.

    ``taken`` is the condition under which it does, ``possible(side)`` whether that side can happen,
    ``choice(side)`` and ``count()`` are the number of the alternative and of all. ``order`` lists
    the sides, likely ones first if that is known: of otherwise equal plans the one that counts on
    ordinary luck is found first.
    """

    coin: Slot
    order: tuple[int, ...]
    taken: V
    possible: Callable[[int], V]
    choice: Callable[[int], V]
    count: Callable[[], V]

    @property
    def sides(self) -> int:
        """The number of sides of the coin."""
        return len(self.order)


@frozen
class Change(Generic[V]):
    """One write to a slot under a condition; ``+`` adds to the present value."""

    slot: Slot
    op: core.WriteOp
    condition: V
    value: V
    span: Span


@dataclass(slots=True)
class Effects(Generic[V]):
    """The effects of a body.

    Where a demand is not true the body cannot happen: an action is refused (``range``), or the tick
    is an error. ``destroyed`` are the objects that go, each with the condition under which it does,
    ``born`` those that come, or that rules before it create at the same time.
    """

    writes: list[Change[V]] = field(default_factory=list)
    destroyed: list[tuple[int, V]] = field(default_factory=list)
    born: dict[int, V] = field(default_factory=dict)
    demands: list[tuple[Demand, V]] = field(default_factory=list)
    draws: list[DrawSite[V]] = field(default_factory=list)


def no_objects_for(create: core.Create) -> Refused:
    """The refusal of a ``create`` without objects that it could make."""
    return Refused("`create`", create.span, "objects that do not exist yet are not encoded")


class Bodies(Generic[V]):
    """Walks bodies in one algebra. ``coins`` gives the values of the alternatives of a draw.

    A ``create`` makes the first of the facts' unborn objects of its type that does not exist, or
    ``every`` one of them; without any it is refused.
    """

    def __init__(self, terms: Terms[V], coins: Coins[V], *, every: bool = False) -> None:
        self.terms, self.algebra, self.coins, self.every = terms, terms.algebra, coins, every
        self._changes: dict[int, tuple[core.Body, Footprint]] = {}
        self._breakable: dict[int, tuple[core.Statement, tuple[core.Term, ...]]] = {}
        self._stored: dict[Hashable, frozenset[str]] = {}

    def run(
        self,
        body: core.Body,
        env: Env[V],
        condition: V,
        rule: tuple[Raw, ...],
        wanted: Wanted,
        born: Mapping[int, V] | None = None,
    ) -> Effects[V]:
        """The effects of a body under a condition; ``rule`` names it and its arguments.

        ``born`` are objects that other rules create at the same time, with the conditions.
        """
        return _Walk(self, rule, wanted, born or {}).run(body, env, condition)

    def breakable(self, statement: core.Statement) -> tuple[core.Term, ...]:
        """The terms of a statement whose value may be undefined; of a draw, its odds tell."""
        found = self._breakable.get(id(statement))
        if found is None:
            derives = self.terms.facts.rules.derives
            terms = () if is_draw(statement) else evaluated(statement)
            breaking = tuple(term for term in terms if may_break(derives, term))
            found = self._breakable[id(statement)] = (statement, breaking)
        return found[1]

    def makes_facts(self, rule: Hashable, body: Callable[[], core.Body], fluent: str) -> bool:
        """Return whether the body of a rule writes a fluent only by adding and removing facts."""
        if rule not in self._stored:
            writes = (one for one in statements_in(body()) if isinstance(one, core.Write))
            named = (one.target.fluent for one in writes if one.op in ("=", "+"))
            self._stored[rule] = frozenset(named)
        return fluent not in self._stored[rule]

    def mentions(self, body: core.Body, fluents: Callable[[str], bool]) -> bool:
        """Return whether a body writes a requested fluent, creates or destroys objects, or draws.

        Draws are always visited, so that their numbers stay the same.
        """
        found = self._changes.get(id(body))
        if found is None:
            found = self._changes[id(body)] = (body, changes(body))
        made = found[1]
        lives = made.draws or made.destroys or bool(made.creates)
        return lives or any(fluents(name) for name in made.writes)


class _Picked(Later[V]):
    """A value that was picked: the candidates' values, each with the condition that it is the one.

    ``envs`` are the names as each candidate sees them, ``none`` where nothing was picked.
    """

    def __init__(
        self, algebra: Algebra[V], name: str, envs: list[Env[V]], chosen: list[V], none: V
    ) -> None:
        super().__init__(self._put_together)
        self._algebra, self._name = algebra, name
        self.envs, self.chosen, self.none = envs, chosen, none

    def _put_together(self) -> V:
        value = self._algebra.const(None)
        for env, held in zip(self.envs, self.chosen, strict=True):
            picked = partial(env.look, self._name)
            value = self._algebra.choose(held, picked, lambda value=value: value)  # type: ignore[misc]
        return value


@frozen
class _Here(Generic[V]):
    """The position of a walk: the meaning of names, and the condition under which it is reached."""

    env: Env[V]
    condition: V


class _Walk(StatementVisitor[_Here[V], Env[V]]):
    """One walk over one body; a statement gives the names that are visible after it."""

    def __init__(
        self, bodies: Bodies[V], rule: tuple[Raw, ...], wanted: Wanted, born: Mapping[int, V]
    ) -> None:
        self._terms, self._algebra, self._bodies = bodies.terms, bodies.algebra, bodies
        self._facts = bodies.terms.facts
        self._rule, self._wanted = rule, wanted
        self._effects: Effects[V] = Effects(born=dict(born))

    def run(self, body: core.Body, env: Env[V], condition: V) -> Effects[V]:
        self._walk(body, env, condition)
        return self._effects

    def _walk(self, body: core.Body, env: Env[V], condition: V) -> None:
        for statement in body:
            if self._algebra.never(condition):
                return
            for term in self._bodies.breakable(statement):
                self._sound(term, env, condition)
            env = self.statement(statement, _Here(env, condition))

    def _needed(self, body: core.Body) -> bool:
        return self._bodies.mentions(body, lambda fluent: self._wanted((fluent, ())))

    def _both(self, left: V, right: V) -> V:
        return conj(self._algebra, left, right)

    def _demand(self, kind: Demand, condition: V, demand: V) -> None:
        idle = self._algebra.negate(condition)
        self._effects.demands.append((kind, disj(self._algebra, idle, demand)))

    def _defined(self, value: V) -> V:
        return self._algebra.lift("defined", lambda one: one is not Mark.BROKEN, value)

    def _sound(self, term: core.Term, env: Env[V], condition: V) -> None:
        """Demand that a term is defined, also if its value is not used."""
        self._demand("error", condition, self._defined(self._terms.value(term, env)))

    # ---- statements -------------------------------------------------------------------------

    def let(self, statement: core.Let, env: _Here[V]) -> Env[V]:
        value = statement.value
        if not isinstance(value, core.BranchDraw | core.PickDraw | core.UniformDraw):
            if isinstance(value, core.Call) and value.op == "amount":
                self._amount(self._terms.value(value, env.env), env.condition)
            later = Later(partial(self._terms.value, value, env.env))
            return env.env.bind(statement.names[0], later)
        match value:
            case core.BranchDraw():
                return env.env.bind(statement.names[0], self._branch(value, env))
            case core.PickDraw():
                return self._pick(value, statement.names, env)
            case core.UniformDraw():
                refused = Refused("`uniform`", statement.span, "a real number has too many values")
                return env.env.bind(statement.names[0], self._algebra.refuse(refused))
            case _:
                assert_never(value)

    def _amount(self, amount: V, condition: V) -> None:
        """An amount that is transferred must not be negative."""
        zero = self._algebra.const(0)
        below = self._algebra.lift(("compare", "<"), compare("<"), amount, zero)
        self._demand("range", condition, self._algebra.negate(below))

    def choose(self, statement: core.If, env: _Here[V]) -> Env[V]:
        then, otherwise = statement.then, statement.otherwise
        if not (self._needed(then) or self._needed(otherwise)):
            return env.env
        picked = _tested_pick(statement.condition, env.env)
        if picked is not None:
            for inner, chosen in zip(picked.envs, picked.chosen, strict=True):
                names = {**env.env.names, **inner.names}
                seen = Env(names, env.env.was, env.env.actor)
                self._walk(then, seen, self._both(env.condition, chosen))
            self._walk(otherwise, env.env, self._both(env.condition, picked.none))
            return env.env
        held = self._terms.condition(statement.condition, env.env)
        self._walk(then, env.env, self._both(env.condition, held))
        failed = self._algebra.negate(held)
        self._walk(otherwise, env.env, self._both(env.condition, failed))
        return env.env

    def loop(self, statement: core.For, env: _Here[V]) -> Env[V]:
        if self._needed(statement.body):
            every = self._terms.bindings(statement.binders, statement.where, env.env)
            for inner, member in every:
                self._walk(statement.body, inner, self._both(env.condition, member))
        return env.env

    def write(self, statement: core.Write, env: _Here[V]) -> Env[V]:
        target = statement.target
        if self._wanted((target.fluent, ())):
            made: Later[V] = Later(partial(self._terms.value, statement.value, env.env))
            for slot, chosen in self._slots(target, env.env):
                held = self._both(env.condition, chosen)
                if self._wanted(slot) and not self._algebra.never(held):
                    change = Change(slot, statement.op, held, made.value(), statement.span)
                    self._effects.writes.append(change)
        return env.env

    def _slots(self, target: core.Place, env: Env[V]) -> Iterator[tuple[Slot, V]]:
        """The slots a target can mean, each with the condition under which it does."""
        fluent = self._facts.program.fluents[target.fluent]
        values = [self._terms.value(arg, env) for arg in target.args]
        known = tuple([one for value in values for one in self._algebra.single(value)])
        if len(known) == len(values):
            if self._facts.has_slot(fluent, known):
                yield self._facts.slot(fluent, known), self._terms.true
            return
        choices = [
            self._algebra.possible(value, self._terms.universe(param.type)) or ()
            for value, param in zip(values, fluent.params, strict=True)
        ]
        for args in product(*choices):
            if not self._facts.has_slot(fluent, args):
                continue
            chosen = self._terms.true
            for value, arg in zip(values, args, strict=True):
                same = self._terms.equals(value, self._algebra.const(arg))
                chosen = self._both(chosen, same)
            yield self._facts.slot(fluent, args), chosen

    def create(self, statement: core.Create, env: _Here[V]) -> Env[V]:
        """Make an unborn object, without `birth` rules. Where all exist the body cannot happen."""
        numbers = self._facts.unborn_of(statement.of)
        if not numbers:
            raise no_objects_for(statement)
        values = [(one.fluent, self._terms.value(one.value, env.env)) for one in statement.fields]
        left, made = env.condition, self._terms.none
        for number in numbers:
            here, left = self._born(number, left)
            for name, value in ((ALIVE, self._terms.true), *values):
                change = Change((name, (number,)), "=", here, value, statement.span)
                self._effects.writes.append(change)
            one = partial(self._algebra.const, number)
            made = self._algebra.choose(here, one, lambda made=made: made)  # type: ignore[misc]
        self._demand("error", left, self._terms.false)
        return env.env.bind(statement.name, made)

    def _born(self, number: int, condition: V) -> tuple[V, V]:
        """Return the condition under which an object is created, and that under which it exists."""
        algebra, born = self._algebra, self._effects.born
        if self._bodies.every:
            return condition, condition
        taken = self._terms.alive(number)
        if number in born:
            taken = disj(algebra, taken, born[number])
        here = self._both(condition, algebra.negate(taken))
        born[number] = disj(algebra, born[number], here) if number in born else here
        return here, self._both(condition, taken)

    def destroy(self, statement: core.Destroy, env: _Here[V]) -> Env[V]:
        value = self._terms.value(statement.target, env.env)
        universe = self._terms.universe(statement.target.type)
        for number in self._algebra.possible(value, universe) or ():
            if not isinstance(number, int):
                continue
            same = self._terms.equals(value, self._algebra.const(number))
            held = self._both(self._both(env.condition, same), self._terms.alive(number))
            if not self._algebra.never(held):
                self._effects.destroyed.append((number, held))
        return env.env

    def require(self, statement: core.Require, env: _Here[V]) -> Env[V]:
        raise TypeError("a require stands at the head of an action, not in its body")

    def _output(
        self, statement: core.Emit | core.Say | core.Describe | core.Reward, env: _Here[V]
    ) -> Env[V]:
        return env.env  # prose and rewards change nothing

    emit = say = describe = reward = _output

    # ---- draws ------------------------------------------------------------------------------

    def _coin(self, site: DrawSite[V]) -> V:
        """The coin of a draw that was met; its odds must be defined wherever it is taken."""
        self._effects.draws.append(site)
        self._demand("error", site.taken, self._defined(site.possible(0)))
        return self._bodies.coins(site.coin, site.sides)

    def _key(self) -> Slot:
        return COIN, (*self._rule, len(self._effects.draws))

    def _branch(self, draw: core.BranchDraw, env: _Here[V]) -> V:
        """The position of the branch that is taken; the last side means none of them."""
        odds, sides = draw.probabilities, len(draw.probabilities) + 1
        site = DrawSite(
            self._key(),
            self._likely_first(odds, env.env),
            env.condition,
            partial(self._has_chance, odds, env.env),
            self._algebra.const,
            lambda: self._algebra.const(sides),
        )
        return self._coin(site)

    def _has_chance(self, odds: tuple[core.Term, ...], env: Env[V], side: int) -> V:
        """Return the condition that branch ``side`` (the last: the rest) has a chance."""
        values = [self._terms.value(term, env) for term in odds]
        scales = tuple(10 ** decimals_of(term.type) for term in odds)

        def has_chance(*parts: Value) -> Value:
            shares = [
                Fraction(part) / scale
                for part, scale in zip(parts, scales, strict=True)
                if isinstance(part, (int, float))
            ]
            if len(shares) < len(parts) or min(shares) < 0 or sum(shares) > 1:
                return Mark.BROKEN
            return bool(shares[side] > 0 if side < len(shares) else sum(shares) < 1)

        return self._algebra.lift(("odds", side, scales), has_chance, *values)

    def _likely_first(self, odds: tuple[core.Term, ...], env: Env[V]) -> tuple[int, ...]:
        """The sides by their probabilities, in written order where these are not fixed."""
        shares: list[Fraction] = []
        for term in odds:
            found = self._algebra.possible(self._terms.value(term, env), lambda: None) or ()
            if len(found) == 1 and isinstance(found[0], (int, float)):
                shares.append(Fraction(found[0]) / 10 ** decimals_of(term.type))
        sides = range(len(odds) + 1)
        if len(shares) < len(odds):
            return tuple(sides)
        shares.append(1 - sum(shares, Fraction(0)))
        return tuple(sorted(sides, key=lambda side: -shares[side]))

    def _pick(self, draw: core.PickDraw, names: tuple[str, ...], env: _Here[V]) -> Env[V]:
        """Return the environment with the names of the picked objects."""
        if not self._terms.in_settled_order(draw.binders):
            reason = "its candidates come in an order that changes"
            raise Refused("`pick` from a collection", draw.span, reason)
        if draw.key in ("belief", "log"):
            raise Refused("a belief", draw.span, "it is drawn by weights that the state decides")
        found = list(self._terms.bindings(draw.binders, draw.where, env.env))
        members = [member for _, member in found]
        envs = [_renamed(inner, draw.binders, names) for inner, _ in found]
        heavy = members if draw.key != "weight" else self._heavy(draw, envs, members)
        none = self._terms.false
        for one in heavy:
            none = disj(self._algebra, none, one)
        none = self._algebra.negate(none)
        if draw.key in ("least", "most"):
            chosen = self._best(draw, envs, members)
        else:
            chosen = self._drawn(members, heavy, none, env.condition) if members else []
        seen = env.env
        for name in names:
            seen = seen.bind(name, _Picked(self._algebra, name, envs, chosen, none))
        return seen

    def _heavy(self, draw: core.PickDraw, envs: list[Env[V]], members: list[V]) -> list[V]:
        """For each candidate whether it has a chance, that is, a weight above 0."""
        assert draw.weight is not None
        return [
            self._both(member, self._above_zero(self._terms.value(draw.weight, env)))
            for env, member in zip(envs, members, strict=True)
        ]

    def _above_zero(self, weight: V) -> V:
        """Return the condition that a weight is above 0; a negative one is undefined (TW1006)."""

        def above(value: Value) -> Value:
            if not isinstance(value, (int, float)) or value < 0:
                return Mark.BROKEN
            return value > 0

        return self._algebra.lift("weight", above, weight)

    def _drawn(self, members: list[V], heavy: list[V], none: V, condition: V) -> list[V]:
        """For each candidate the condition under which the coin shows it."""
        sides = len(members)
        site = DrawSite(
            self._key(),
            tuple(range(sides)),
            self._both(condition, self._algebra.negate(none)),
            lambda side: heavy[side],
            lambda side: self._terms.counted(members[:side]),
            lambda: self._terms.counted(members),
        )
        coin = self._coin(site)
        return [self._both(one, self._is_side(coin, side)) for side, one in enumerate(heavy)]

    def _is_side(self, coin: V, side: int) -> V:
        return self._algebra.lift(("side", side), lambda value: value == side, coin)

    def _best(self, draw: core.PickDraw, envs: list[Env[V]], members: list[V]) -> list[V]:
        """For each candidate whether it is the first of those with the least or most weight."""
        assert draw.weight is not None
        weights = [self._terms.value(draw.weight, env) for env in envs]
        chosen = []
        for side, member in enumerate(members):
            best = member
            for other, rival in enumerate(members):
                if other != side:
                    ends = weights[side], weights[other]
                    ends = ends if draw.key == "least" else ends[::-1]
                    loses = self._before(*ends, strict=other < side)
                    best = self._both(best, disj(self._algebra, self._algebra.negate(rival), loses))
            chosen.append(best)
        return chosen

    def _before(self, left: V, right: V, *, strict: bool) -> V:
        op: Literal["<", "<="] = "<" if strict else "<="
        return self._algebra.lift(("compare", op), compare(op), left, right)


def _renamed(env: Env[V], binders: tuple[core.Binder, ...], names: tuple[str, ...]) -> Env[V]:
    """The picked values under the names of the ``let`` as well."""
    for name, binder in zip(names, binders, strict=True):
        env = env.bind(name, env.look(binder.name))
    return env


def _tested_pick(condition: core.Term, env: Env[V]) -> _Picked[V] | None:
    """The pick that gave ``x`` its value where the condition is ``x != none``.

    Its candidates are looked at one by one then, and not put together.
    """
    match condition:
        case core.Call(
            "not", (core.Call("==", (core.Variable(name=name), core.Constant(value=None))),)
        ):
            found = env.names[name]
            return found if isinstance(found, _Picked) else None
        case _:
            return None
