"""What a body does: its writes, what must hold for it to happen, and its draws (language.md §5).

A body is walked once with every name bound; all reads are of the state before it. Each write
carries the condition under which it happens. Only writes that are asked for are evaluated, so that
what a plan does not need costs nothing and cannot stand in the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Generic, Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.model import (
    AddFact,
    Assign,
    Body,
    Chance,
    Create,
    Destroy,
    Draw,
    Effect,
    For,
    If,
    Let,
    Pick,
    Read,
    RemoveFact,
    Swap,
    Term,
    Transfer,
    effects_in,
    is_draw,
    may_draw,
    terms_of,
)
from tokenworld.planning.lower.algebra import ALIVE, Refused, Slot, V, conj, disj
from tokenworld.planning.lower.diagram import Mark
from tokenworld.planning.lower.draws import Coins, DrawSite, drawn_chance, drawn_let, drawn_pick
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.numbers import arithmetic, compare, may_break
from tokenworld.planning.lower.terms import Env, Later, Terms

__all__ = ["Bodies", "Demand", "Effects", "Wanted", "Write", "WriteOp", "written_fluents"]

WriteOp = Literal["set", "inc", "add", "remove"]
Demand = Literal["range", "error"]
Wanted = Callable[[Slot], bool]


@frozen
class Write(Generic[V]):
    """One change of a slot under a condition; ``inc`` adds to what is there."""

    slot: Slot
    op: WriteOp
    condition: V
    value: V
    span: Span


@dataclass(slots=True)
class Effects(Generic[V]):
    """What a body does.

    Where a demand is not true the body cannot happen: an action is refused (``range``), or the tick
    is an error. ``dooms`` are the objects it destroys, each with the condition under which it does.
    """

    writes: list[Write[V]] = field(default_factory=list)
    dooms: list[tuple[int, V]] = field(default_factory=list)
    demands: list[tuple[Demand, V]] = field(default_factory=list)
    draws: list[DrawSite[V]] = field(default_factory=list)


def written_fluents(body: Body) -> frozenset[str]:
    """The fluents a body may write by name; `*` stands for those a ``destroy`` may touch."""
    found: set[str] = set()
    for effect in effects_in(body):
        match effect:
            case Assign(target=target) | AddFact(target=target) | RemoveFact(target=target):
                found.add(target.fluent)
            case Transfer(source=left, target=right) | Swap(left=left, right=right):
                found.update((left.fluent, right.fluent))
            case Destroy() | Create():
                found.add("*")
            case _:
                pass
    return frozenset(found)


class Bodies(Generic[V]):
    """Walks bodies in one algebra. ``coins`` gives the values of the alternatives of a draw.

    ``newborn`` numbers the objects that stand for all those of a type that play creates; without
    any a ``create`` is refused.
    """

    def __init__(
        self,
        terms: Terms[V],
        coins: Coins[V],
        newborn: Callable[[str], Sequence[int]] = lambda of: (),
    ) -> None:
        self.terms, self.algebra, self.coins = terms, terms.algebra, coins
        self.newborn = newborn
        self._facts: Facts = terms.facts
        self._relevant: dict[int, tuple[frozenset[str], bool]] = {}
        self._breakable: dict[int, bool] = {}

    def run(
        self, body: Body, env: Env[V], condition: V, rule: tuple[Raw, ...], wanted: Wanted
    ) -> Effects[V]:
        """The effects of a body under a condition; ``rule`` names it and its arguments."""
        return _Walk(self, rule, wanted).run(body, env, condition)

    def breakable(self, term: Term) -> bool:
        """Whether the value of a term may be undefined."""
        key = id(term)
        if key not in self._breakable:
            self._breakable[key] = may_break(self._facts.program, term)
        return self._breakable[key]

    def mentions(self, body: Body, fluents: Callable[[str], bool]) -> bool:
        """Whether a body writes a fluent that is asked for, or draws.

        Draws are always met, whatever is asked for, so that their numbers stay the same.
        """
        key = id(body)
        if key not in self._relevant:
            draws = may_draw(body)
            self._relevant[key] = (written_fluents(body), draws)
        written, draws = self._relevant[key]
        return draws or "*" in written or any(fluents(name) for name in written)


class _Walk(Generic[V]):
    """One walk over one body."""

    def __init__(self, bodies: Bodies[V], rule: tuple[Raw, ...], wanted: Wanted) -> None:
        self._terms, self._algebra, self._bodies = bodies.terms, bodies.algebra, bodies
        self._facts = bodies.terms.facts
        self._rule, self._wanted = rule, wanted
        self._effects: Effects[V] = Effects()

    def run(self, body: Body, env: Env[V], condition: V) -> Effects[V]:
        self._walk(body, env, condition)
        return self._effects

    def _walk(self, body: Body, env: Env[V], condition: V) -> None:
        for effect in body:
            if self._algebra.never(condition):
                return
            env = self._effect(effect, env, condition)

    def _effect(self, effect: Effect, env: Env[V], condition: V) -> Env[V]:
        """Note what one change does; the names visible after it."""
        if not is_draw(effect):
            for term in terms_of(effect):
                self._sound(term, env, condition)
        match effect:
            case Let():
                return self._let(effect, env, condition)
            case Assign() | AddFact() | RemoveFact() | Transfer() | Swap():
                self._change(effect, env, condition)
            case If(condition=test, then=then, otherwise=otherwise):
                if self._needed(then) or self._needed(otherwise):
                    held = self._terms.condition(test, env)
                    self._walk(then, env, self._both(condition, held))
                    failed = self._algebra.negate(held)
                    self._walk(otherwise, env, self._both(condition, failed))
            case For(binders=binders, where=where, body=body):
                if self._needed(body):
                    for inner, member in self._terms.bindings(binders, where, env):
                        self._walk(body, inner, self._both(condition, member))
            case Chance() | Pick():
                self._branch(effect, env, condition)
            case Destroy(target=target):
                self._destroy(target, env, condition)
            case Create():
                return self._create(effect, env, condition)
            case _:
                pass  # prose and rewards change nothing
        return env

    def _needed(self, body: Body) -> bool:
        return self._bodies.mentions(body, lambda fluent: self._wanted((fluent, ())))

    def _both(self, left: V, right: V) -> V:
        return conj(self._algebra, left, right)

    # ---- draws ----------------------------------------------------------------------------

    def _let(self, let: Let, env: Env[V], condition: V) -> Env[V]:
        value = let.value
        if not isinstance(value, Draw):
            return env.bind(let.name, Later(partial(self._terms.value, value, env)))
        drawn, site = drawn_let(self._bodies, self._key(), let, env, condition)
        self._note(site)
        return env.bind(let.name, drawn)

    def _branch(self, effect: Chance | Pick, env: Env[V], condition: V) -> None:
        if isinstance(effect, Chance):
            branches, chance = drawn_chance(self._bodies, self._key(), effect, env, condition)
            self._note(chance)
        else:
            branches, pick = drawn_pick(self._bodies, self._key(), effect, env, condition)
            self._note(pick)
        for body, inner, held in branches:
            if self._needed(body):
                self._walk(body, inner, self._both(condition, held))

    def _note(self, site: DrawSite[V] | None) -> None:
        """A draw was met; its odds must be defined wherever it is taken."""
        if site is not None:
            self._effects.draws.append(site)
            self._demand("error", site.taken, self._defined(site.possible(0)))

    def _demand(self, kind: Demand, condition: V, demand: V) -> None:
        idle = self._algebra.negate(condition)
        self._effects.demands.append((kind, disj(self._algebra, idle, demand)))

    def _defined(self, value: V) -> V:
        return self._algebra.lift("defined", lambda one: one is not Mark.BROKEN, value)

    def _sound(self, term: Term, env: Env[V], condition: V) -> None:
        """A term that may be undefined is looked at even where nobody wants its value."""
        if self._bodies.breakable(term):
            self._demand("error", condition, self._defined(self._terms.value(term, env)))

    def _key(self) -> tuple[Raw, ...]:
        return (*self._rule, len(self._effects.draws))

    # ---- writes ---------------------------------------------------------------------------

    def _change(
        self,
        effect: Assign | AddFact | RemoveFact | Transfer | Swap,
        env: Env[V],
        condition: V,
    ) -> None:
        value = self._terms.value
        span = effect.span
        match effect:
            case Assign(target=target, op=op, value=term):
                kind: WriteOp = "set" if op == "=" else "inc"
                self._write(
                    target, kind, env, condition, lambda: self._signed(value(term, env), op), span
                )
            case AddFact(target=target):
                self._write(target, "add", env, condition, lambda: self._terms.true, span)
            case RemoveFact(target=target):
                self._write(target, "remove", env, condition, lambda: self._terms.false, span)
            case Swap(left=left, right=right):
                self._write(left, "set", env, condition, lambda: value(right, env), span)
                self._write(right, "set", env, condition, lambda: value(left, env), span)
            case Transfer(amount=amount, source=source, target=target):
                self._transfer(value(amount, env), source, target, env, condition, span)

    def _signed(self, value: V, op: str) -> V:
        if op != "-=":
            return value
        zero = self._algebra.const(0)
        return self._algebra.lift(("arithmetic", "-"), arithmetic("-"), zero, value)

    def _transfer(
        self, amount: V, source: Read, target: Read, env: Env[V], condition: V, span: Span
    ) -> None:
        self._write(source, "inc", env, condition, lambda: self._signed(amount, "-="), span)
        self._write(target, "inc", env, condition, lambda: amount, span)
        zero = self._algebra.const(0)
        enough = self._algebra.lift(("compare", ">="), compare(">="), amount, zero)
        self._demand("range", condition, enough)

    def _write(
        self,
        target: Read,
        op: WriteOp,
        env: Env[V],
        condition: V,
        value: Callable[[], V],
        span: Span,
    ) -> None:
        if not self._wanted((target.fluent, ())):
            return
        made: Later[V] = Later(value)
        for slot, chosen in self._slots(target, env):
            held = self._both(condition, chosen)
            if self._wanted(slot) and not self._algebra.never(held):
                self._effects.writes.append(Write(slot, op, held, made.value(), span))

    def _slots(self, target: Read, env: Env[V]) -> Iterator[tuple[Slot, V]]:
        """The slots a target can mean, each with the condition under which it does."""
        fluent = self._facts.program.fluents[target.fluent]
        values = [self._terms.value(arg, env) for arg in target.args]
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

    # ---- create and destroy -----------------------------------------------------------------

    def _create(self, create: Create, env: Env[V], condition: V) -> Env[V]:
        """The newborns of the type come to life with these values; `birth` rules are left out."""
        numbers = self._bodies.newborn(create.of)
        if not numbers:
            reason = "objects that do not exist yet are not encoded"
            raise Refused("`create`", create.span, reason)
        values = [(one.fluent, self._terms.value(one.value, env)) for one in create.fields]
        for number in numbers:
            for name, value in ((ALIVE, self._terms.true), *values):
                write = Write((name, (number,)), "set", condition, value, create.span)
                self._effects.writes.append(write)
        return env.bind(create.name, self._algebra.const(numbers[0]))

    def _destroy(self, target: Term, env: Env[V], condition: V) -> None:
        value = self._terms.value(target, env)
        universe = self._terms.universe(target.type)
        for number in self._algebra.possible(value, universe) or ():
            if not isinstance(number, int):
                continue
            same = self._terms.equals(value, self._algebra.const(number))
            held = self._both(self._both(condition, same), self._terms.alive(number))
            if not self._algebra.never(held):
                self._effects.dooms.append((number, held))
