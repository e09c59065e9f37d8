"""Bodies to statements of the scalar subset: they ask for changes by `put`, `move` and `doom`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.folds import heads, indented
from tokenworld.engine.rollout.ranges import Env, Var
from tokenworld.engine.rollout.terms import Writer, is_real
from tokenworld.model import (
    AddFact,
    Assign,
    Body,
    Chance,
    CompositeTerm,
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
    LeafTerm,
    Let,
    LogicTerm,
    NumberTerm,
    NumberType,
    Pick,
    Read,
    RemoveFact,
    Reward,
    Say,
    StateTerm,
    Swap,
    Term,
    TestTerm,
    Transfer,
    effects_in,
)

__all__ = ["Statements", "reward_decimals"]

MOST_STEP = 1 << 45
MOST_SHARE = 9
SET, STEP, ADD, REMOVE = 1, 2, 4, 8


def reward_decimals(writer: Writer) -> int:
    """The decimals that rewards are added up with: those of the finest."""
    program, world = writer.plan.program, writer.plan.world
    bodies = [law.body for law in program.laws.values()]
    for action in program.actions.values():
        bodies += [action.body, action.cancelled]
    kinds = [one.amount.type for b in bodies for one in effects_in(b) if isinstance(one, Reward)]
    kinds += [pay.amount.type for pay in world.pays]
    return max((kind.decimals for kind in kinds if isinstance(kind, NumberType)), default=0)


@dataclass
class Statements:
    """The statements of one generated function; ``key`` is the call that makes its draws' key."""

    writer: Writer
    lines: list[str] = field(default_factory=list)
    key: str = ""

    def line(self, depth: int, text: str) -> None:
        self.lines.append(indented(depth, text))

    def drawing(self, key: str, depth: int) -> None:
        """Draws may follow: of a rule whose key is not made before one of them asks for it."""
        self.key = key
        self.line(depth, "key_closed(X)")

    def _keyed(self, depth: int) -> None:
        """A draw may follow at once."""
        self.line(depth, "if X[KEYED] == 0:")
        self.line(depth + 1, self.key)

    def body(self, body: Body, env: Env, depth: int) -> None:
        """All effects of a body; an empty one is ``pass``."""
        inner = dict(env)
        for effect in body:
            self._effect(effect, inner, depth)
        self.line(depth, "pass")

    def _effect(self, effect: Effect, env: dict[str, Var], depth: int) -> None:
        match effect:
            case Let():
                self.let(effect, env, depth)
            case Assign() | AddFact() | RemoveFact() | Transfer() | Swap():
                self._write(effect, env, depth)
            case If() | For() | Chance() | Pick():
                self._control(effect, env, depth)
            case Destroy(target=target):
                self.line(depth, f"doom(X, {self._value(target, env)})")
            case Emit() | Say() | DescribeEffect():
                pass  # output only: what might fail in it was looked at before
            case Reward():
                self._reward(effect, env, depth)
            case Create():
                raise Inexpressible("objects are created in play", effect.span)
            case _:
                assert_never(effect)

    def _value(self, term: Term, env: Env) -> str:
        return self.writer.value(term, env)

    # ---- lets and draws -----------------------------------------------------------------------

    def let(self, effect: Let, env: dict[str, Var], depth: int) -> None:
        """Name a value for the rest of the block."""
        value, low, high = effect.value, 0, 0
        name = self.writer.fresh("r" if is_real(effect.type) else "l")
        match value:
            case DrawChance(probability=probability):
                self._keyed(depth)
                self.line(depth, f"{name} = {self._chance_call(probability, env)}")
            case DrawPick():
                (chosen,) = self._pick(value, env, depth)
                self.line(depth, f"{name} = {chosen.code}")
            case DrawUniform(low=least, high=most):
                ends = f"{self._value(least, env)}, {self._value(most, env)}"
                self._keyed(depth)
                self.line(depth, f"{name} = uniform(X, {ends})")
            case (
                LeafTerm() | StateTerm() | LogicTerm() | TestTerm() | NumberTerm()
                | CompositeTerm()
            ):  # fmt: skip
                self.line(depth, f"{name} = {self.writer.value(value, env, effect.type)}")
                low, high = self.writer.ranges.of(value, env)
            case _:
                assert_never(value)
        env[effect.name] = Var(name, low, high)

    def _chance_call(self, probability: Term, env: Env) -> str:
        value = self._value(probability, env)
        if is_real(probability.type):
            return f"real_chance(X, {value})"
        return f"chance(X, {value}, {10 ** self._share(probability)})"

    def _share(self, probability: Term) -> int:
        """The decimals of a probability."""
        kind = probability.type
        decimals = kind.decimals if isinstance(kind, NumberType) else 0
        if decimals > MOST_SHARE or not isinstance(kind, NumberType):
            raise Inexpressible("a probability of so many digits", probability.span)
        return decimals

    def _pick(self, pick: Pick | DrawPick, env: Env, depth: int) -> list[Var]:
        """Statements that choose one candidate; its variables, all `none` without one."""
        if pick.key in ("least", "most") and pick.weight is not None:
            return self._best(pick, pick.weight, env, depth)
        binders, where, fresh = pick.binders, pick.where, self.writer.fresh
        total, count, reached = fresh(), fresh(), fresh()
        chosen = [Var(fresh(), *self.writer.ranges.binder(one)) for one in binders]
        self.line(depth, f"{total} = 0")
        self.line(depth, f"{count} = 0")
        inner, deep = heads(self.writer, binders, where, env, self.lines, depth)
        weight = fresh()
        self._weight(pick, weight, inner, deep)
        self.line(deep, f"if {weight} < 0:")
        self.line(deep + 1, "fail(X, ERROR)")
        self.line(deep, f"{total} += {weight}")
        self.line(deep, f"{count} += 1 if {weight} > 0 else 0")
        for var in chosen:
            self.line(depth, f"{var.code} = NONE")
        self.line(depth, f"if {total} > 0 and X[ERR] == 0:")
        self.line(depth + 1, f"if {count} > 1:")
        self._keyed(depth + 2)
        self.line(depth + 2, f"lot(X, {total})")
        self.line(depth + 1, "else:")
        self.line(depth + 2, "X[DRAWS] += 1")
        self.line(depth + 1, f"{reached} = 0")
        inner, deep = heads(self.writer, binders, where, env, self.lines, depth + 1)
        self._weight(pick, weight, inner, deep)
        self.line(deep, f"if {weight} > 0 and {chosen[0].code} == NONE:")
        self.line(deep + 1, f"{reached} += {weight}")
        self.line(deep + 1, f"if {count} == 1 or below(X, {reached}, {total}):")
        for var, binder in zip(chosen, binders, strict=True):
            self.line(deep + 2, f"{var.code} = {inner[binder.name].code}")
        return chosen

    def _weight(self, pick: Pick | DrawPick, name: str, env: Env, depth: int) -> None:
        if pick.weight is None:
            self.line(depth, f"{name} = 1")
            return
        if is_real(pick.weight.type):
            raise Inexpressible("a weight that is a real", pick.weight.span)
        self.writer.ranges.of(pick.weight, env)
        self.line(depth, f"{name} = {self._value(pick.weight, env)}")

    def _best(self, pick: Pick | DrawPick, weight: Term, env: Env, depth: int) -> list[Var]:
        """The first candidate with the least or the greatest value."""
        binders, where, fresh = pick.binders, pick.where, self.writer.fresh
        count, best, value = fresh(), fresh(), fresh()
        chosen = [Var(fresh(), *self.writer.ranges.binder(one)) for one in binders]
        real = is_real(weight.type)
        self.line(depth, f"{count} = 0")
        self.line(depth, f"{best} = {'0.0' if real else '0'}")
        for var in chosen:
            self.line(depth, f"{var.code} = NONE")
        inner, deep = heads(self.writer, binders, where, env, self.lines, depth)
        self.line(deep, f"{value} = {self._value(weight, inner)}")
        self.line(deep, f"if {f'isnan({value})' if real else f'{value} == NONE'}:")
        self.line(deep + 1, "fail(X, ERROR)")
        op = "<" if pick.key == "least" else ">"
        self.line(deep, f"if {count} == 0 or {value} {op} {best}:")
        self.line(deep + 1, f"{best} = {value}")
        for var, binder in zip(chosen, binders, strict=True):
            self.line(deep + 1, f"{var.code} = {inner[binder.name].code}")
        self.line(deep, f"{count} += 1")
        return chosen

    # ---- writes -------------------------------------------------------------------------------

    def _slot(self, target: Read, env: Env) -> str:
        cell = self.writer.plan.cell(target.fluent)
        return self.writer.cell_code(cell, [self._value(arg, env) for arg in target.args])

    def _stored(self, target: Read, value: Term, env: Env, *, step: bool = False) -> str:
        """The number that a slot gets of a term."""
        code = self.writer.value(value, env, target.type)
        if self.writer.plan.cell(target.fluent).real:
            if not is_real(value.type) and value.kind != "none_literal":
                code = f"to_real({code}, 1)"
            return f"bits_of({code})"
        if step:
            low, high = self.writer.ranges.of(value, env)
            if max(abs(low), abs(high)) > MOST_STEP:
                raise Inexpressible("a step of more than 45 bits", value.span)
        return code

    def _write(
        self, effect: Assign | AddFact | RemoveFact | Transfer | Swap, env: Env, depth: int
    ) -> None:
        match effect:
            case Assign(target=target, op="=", value=value):
                where, what = self._slot(target, env), self._stored(target, value, env)
                self.line(depth, f"put(X, {where}, {SET}, {what})")
            case Assign(target=target, op=op, value=value):
                self._step(target, value, op == "-=", env, depth)
            case AddFact(target=target):
                self.line(depth, f"put(X, {self._slot(target, env)}, {ADD}, 1)")
            case RemoveFact(target=target):
                self.line(depth, f"put(X, {self._slot(target, env)}, {REMOVE}, 0)")
            case Transfer(amount=amount, source=source, target=target):
                if self.writer.plan.cell(source.fluent).real:
                    raise Inexpressible("a transfer of reals", effect.span)
                what = self._stored(target, amount, env, step=True)
                ends = f"{self._slot(source, env)}, {self._slot(target, env)}"
                self.line(depth, f"move(X, {what}, {ends})")
            case Swap(left=left, right=right):
                one, other = self._stored(left, right, env), self._stored(right, left, env)
                self.line(depth, f"put(X, {self._slot(left, env)}, {SET}, {one})")
                self.line(depth, f"put(X, {self._slot(right, env)}, {SET}, {other})")
            case _:
                assert_never(effect)

    def _step(self, target: Read, value: Term, less: bool, env: Env, depth: int) -> None:
        where, what = self._slot(target, env), self._stored(target, value, env, step=True)
        if less and self.writer.plan.cell(target.fluent).real:
            code = what.removeprefix("bits_of(").removesuffix(")")
            what = f"bits_of(-{code})"
        elif less:
            what = f"times({what}, -1)"
        self.line(depth, f"put(X, {where}, {STEP}, {what})")

    # ---- control ------------------------------------------------------------------------------

    def _control(self, effect: If | For | Chance | Pick, env: Env, depth: int) -> None:
        match effect:
            case If(condition=condition, then=then, otherwise=otherwise):
                self.line(depth, f"if {self.writer.test(condition, env)}:")
                self.body(then, env, depth + 1)
                if otherwise:
                    self.line(depth, "else:")
                    self.body(otherwise, env, depth + 1)
            case For(binders=binders, where=where, body=body):
                inner, deep = heads(self.writer, binders, where, env, self.lines, depth)
                self.body(body, inner, deep)
            case Chance():
                self._chance(effect, env, depth)
            case Pick(binders=binders, body=body, otherwise=otherwise):
                chosen = self._pick(effect, env, depth)
                inner = dict(env)
                inner.update((b.name, v) for b, v in zip(binders, chosen, strict=True))
                self.line(depth, f"if {chosen[0].code} != NONE:")
                self.body(body, inner, depth + 1)
                if otherwise:
                    self.line(depth, "else:")
                    self.body(otherwise, env, depth + 1)
            case _:
                assert_never(effect)

    def _chance(self, effect: Chance, env: Env, depth: int) -> None:
        if len(effect.branches) == 1:
            test = f"{self._chance_call(effect.branches[0].probability, env)} == 1"
            self._keyed(depth)
            self.line(depth, f"if {test}:")
            self.body(effect.branches[0].body, env, depth + 1)
        else:
            self._branches(effect, env, depth)
        if effect.otherwise:
            self.line(depth, "else:")
            self.body(effect.otherwise, env, depth + 1)

    def _branches(self, effect: Chance, env: Env, depth: int) -> None:
        """Several branches share one draw; a share below 0 is an error, as is a sum above 1."""
        digits = max(self._share(branch.probability) for branch in effect.branches)
        reached, whole = "0", 10**digits
        sums = []
        for branch in effect.branches:
            share, name = self.writer.fresh(), self.writer.fresh()
            factor = 10 ** (digits - self._share(branch.probability))
            self.line(depth, f"{share} = {self._value(branch.probability, env)} * {factor}")
            self.line(depth, f"{name} = {reached} + {share}")
            self.line(depth, f"if {share} < 0:")
            self.line(depth + 1, "fail(X, ERROR)")
            reached = name
            sums.append(name)
        self._keyed(depth)
        self.line(depth, f"branches(X, {whole}, {reached})")
        before = "0"
        for index, (branch, name) in enumerate(zip(effect.branches, sums, strict=True)):
            word = "if" if index == 0 else "elif"
            self.line(depth, f"{word} {name} > {before} and below(X, {name}, {whole}):")
            self.body(branch.body, env, depth + 1)
            before = name

    # ---- output -------------------------------------------------------------------------------

    def _reward(self, effect: Reward, env: Env, depth: int) -> None:
        kind = effect.amount.type
        if not isinstance(kind, NumberType):
            raise Inexpressible("a reward that is a real", effect.span)
        factor = 10 ** (reward_decimals(self.writer) - kind.decimals)
        self.line(depth, f"pay(X, {self._value(effect.amount, env)}, {factor})")
