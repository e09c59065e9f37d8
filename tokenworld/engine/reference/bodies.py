"""What a body asks for: it reads one state, and its changes are collected (language.md §5, §13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from tokenworld.engine.reference.chance import Drawn, Lot
from tokenworld.engine.reference.env import Env, decimals_of
from tokenworld.engine.reference.values import Fault, Slot, implied, stored
from tokenworld.engine.reference.words import Words
from tokenworld.ground import Json, Raw, show_value
from tokenworld.model import (
    AddFact,
    Assign,
    Binder,
    Body,
    Chance,
    Create,
    DescribeEffect,
    Destroy,
    DrawChance,
    DrawPick,
    DrawUniform,
    Effect,
    Emit,
    Fluent,
    For,
    If,
    Let,
    NumberType,
    ObjectType,
    Pick,
    PickKey,
    Read,
    RemoveFact,
    Reward,
    Say,
    Swap,
    Template,
    Term,
    Transfer,
    is_optional,
)

__all__ = ["Born", "Line", "Teller", "Wants", "Write", "bounded"]

MOST_BIRTHS = 100
"""How deep births may bring forth births before it counts as endless."""


@dataclass(frozen=True)
class Write:
    """One wanted change of a slot, and the rule that wants it."""

    op: Literal["=", "+", "add", "remove"]
    fluent: Fluent
    args: tuple[Raw, ...]
    value: Any
    rule: str


@dataclass(frozen=True)
class Born:
    """One object to be created, with all its attributes; ``after`` so many wanted writes."""

    number: int
    name: str
    kind: str
    values: dict[Slot, Raw]
    rule: str
    after: int


def bounded(value: Raw, fluent: Fluent) -> Raw:
    """A number within its range: `clamped` stops it at the ends, else leaving is a breach."""
    kind = fluent.type
    if not isinstance(kind, NumberType) or not isinstance(value, int):
        return value
    low = kind.low if kind.low is not None else value
    high = kind.high if kind.high is not None else value
    if not low <= value <= high and not fluent.clamped:
        raise Fault("TW1004", "range", f"`{fluent.name}` would leave its range.")
    return min(max(value, low), high)


@dataclass(frozen=True)
class Line:
    """Prose to be rendered on the state after the body: a template, or a thing to describe."""

    what: Template | int | None
    env: Env


@dataclass
class Wants:
    """Everything that one or several rules want, to be applied together."""

    writes: list[Write] = field(default_factory=list)
    births: list[Born] = field(default_factory=list)
    doomed: list[tuple[int, str]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    events: list[tuple[str, list[Json]]] = field(default_factory=list)
    rewards: list[Fraction | float] = field(default_factory=list)
    drawn: list[Drawn] = field(default_factory=list)


class Teller:
    """Runs the bodies of one rule (its ``lot`` numbers the draws) and notes what they want."""

    def __init__(self, words: Words, wants: Wants, lot: Lot) -> None:
        self.words, self.wants, self.lot = words, wants, lot
        self.program, self.depth = words.program, 0

    def run(self, body: Body, env: Env) -> Env:
        """Every effect in written order; the environment behind them."""
        for effect in body:
            env = self._effect(effect, env)
        return env

    def _effect(self, effect: Effect, env: Env) -> Env:
        value = self.words.value
        match effect:
            case Let(name=name):
                return env.bind(name, self._let(effect, env))
            case Create():
                return self._create(effect, env)
            case If(condition=condition, then=then, otherwise=otherwise):
                self.run(then if self.words.holds(condition, env) else otherwise, env)
            case For(binders=binders, where=where, body=body):
                for inner in list(self.words.bindings(binders, where, env)):
                    self.run(body, inner)
            case Chance(branches=branches, otherwise=otherwise):
                shares = [self._share(branch.probability, env) for branch in branches]
                taken = self._branch(shares)
                self.run(branches[taken].body if taken < len(branches) else otherwise, env)
            case Pick(binders=binders, where=where, key=key, weight=weight):
                chosen = self._picked(binders, where, key, weight, env)
                self.run(effect.otherwise, env) if chosen is None else self.run(effect.body, chosen)
            case Destroy(target=target):
                number = value(target, env)
                if number is not None:
                    self.wants.doomed.append((number, self.lot.rule))
            case Emit() | Say() | DescribeEffect() | Reward():
                self._output(effect, env)
            case _:
                self._change(effect, env)
        return env

    # ---- changes ----------------------------------------------------------------------------

    def _write(self, op: Any, target: Read, value: Any, env: Env) -> None:
        args = tuple(self.words.value(arg, env) for arg in target.args)
        fluent = self.program.fluents[target.fluent]
        kind = fluent.type
        always = not is_optional(kind) and kind.kind not in ("bool", "object")
        if op == "=" and value is None and always:
            return  # the new value rests on something destroyed
        if None not in args:  # a slot of `none` is nobody's
            self.wants.writes.append(Write(op, fluent, args, value, self.lot.rule))

    def _change(self, effect: Effect, env: Env) -> None:
        value = self.words.value
        match effect:
            case Assign(target=target, op="=", value=term):
                self._write("=", target, value(term, env), env)
            case Assign(target=target, op=op, value=term):
                by = value(term, env) or 0  # what rests on something destroyed adds nothing
                self._write("+", target, -by if op == "-=" else by, env)
            case AddFact(target=target):
                self._write("add", target, True, env)
            case RemoveFact(target=target):
                self._write("remove", target, False, env)
            case Swap(left=left, right=right):
                self._write("=", left, value(right, env), env)
                self._write("=", right, value(left, env), env)
            case Transfer(amount=amount, source=source, target=target):
                moved = value(amount, env)
                if moved is None:
                    return
                if moved < 0:
                    raise Fault("TW1004", "range", "A negative amount cannot be transferred.")
                self._write("+", source, -moved, env)
                self._write("+", target, moved, env)
            case _:
                raise TypeError(f"no change: {effect.kind}")

    # ---- creation ---------------------------------------------------------------------------

    def _create(self, effect: Create, env: Env) -> Env:
        """A new object: its fields, its defaults, then the births of its types."""
        number = env.state.next_id + len(self.wants.births)
        name = self._free_name(effect, number, env)
        kind = self.program.types[effect.of]
        terms: dict[str, Term] = {one.fluent: one.value for one in kind.defaults}
        terms.update({one.fluent: one.value for one in effect.fields})
        values: dict[Slot, Raw] = {}
        for key in kind.attributes:
            fluent = self.program.fluents[key]
            raw = self.words.value(terms[key], env) if key in terms else None
            raw = implied(fluent.type) if raw is None else raw
            values[key, (number,)] = bounded(stored(fluent.type, raw), fluent)
        self.wants.births.append(
            Born(number, name, effect.of, values, self.lot.rule, len(self.wants.writes))
        )
        inside = replace(
            env.bind(effect.name, number),
            given={**env.given, **values},
            made={**env.made, number: effect.of},
        )
        self.depth += 1
        if self.depth > MOST_BIRTHS:
            raise Fault("TW1006", "undefined", "Births bring forth objects without end.")
        for ancestor in reversed(kind.ancestors):
            for birth in self.program.births:
                if birth.param.type == ObjectType(ancestor):
                    self.run(birth.body, inside.only({birth.param.name: number}))
        self.depth -= 1
        return inside

    def _free_name(self, effect: Create, number: int, env: Env) -> str:
        """The name of its `create` with its number, or alone if that always makes one object."""
        name = effect.name if effect.named else f"{effect.name}_{number}"
        taken = {*env.state.names.values(), *self._new_names().values()}
        while name in taken:
            name += "_"
        return name

    # ---- draws ------------------------------------------------------------------------------

    def _let(self, effect: Let, env: Env) -> Any:
        match effect.value:
            case DrawChance(probability=probability):
                return self._branch([self._share(probability, env)]) == 0
            case DrawPick(binders=binders, where=where, key=key, weight=weight):
                chosen = self._picked(binders, where, key, weight, env)
                return None if chosen is None else chosen.locals[binders[0].name]
            case DrawUniform(low=low, high=high):
                first, last = self.words.value(low, env), self.words.value(high, env)
                return first + (last - first) * self.lot.share()
            case term:
                return self.words.value(term, env)

    def _share(self, term: Term, env: Env) -> Fraction:
        share = Fraction(self.words.value(term, env))
        return share / Fraction(10 ** decimals_of(term))

    def _branch(self, shares: list[Fraction]) -> int:
        """The branch that happens, one past the last for none of them."""
        rest = 1 - sum(shares, Fraction(0))
        if min(*shares, rest) < 0:
            raise Fault("TW1006", "probability", "The probabilities leave the range 0 to 1.")
        return self._drawn([*shares, rest])

    def _drawn(self, weights: Sequence[Fraction]) -> int:
        choice, drawn = self.lot.choose(weights)
        if sum(1 for weight in weights if weight > 0) > 1:
            self.wants.drawn.append(drawn)
        return choice

    def _picked(
        self,
        binders: tuple[Binder, ...],
        where: Term | None,
        key: PickKey,
        weight: Term | None,
        env: Env,
    ) -> Env | None:
        """The environment of the chosen candidate, ``None`` if there is none."""
        candidates = list(self.words.bindings(binders, where, env))
        if weight is None:
            weights: list[Any] = [1] * len(candidates)
        else:
            weights = [self.words.value(weight, inner) for inner in candidates]
        if None in weights:
            text = "What a candidate is chosen by is `none`."
            raise Fault("TW1006", "undefined", text)
        if not candidates:
            return None
        if key in ("least", "most"):
            best = min(weights) if key == "least" else max(weights)
            return candidates[weights.index(best)]
        shares = [Fraction(one) for one in weights]
        if min(shares) < 0:
            raise Fault("TW1006", "probability", "A weight is negative.")
        if sum(shares) == 0:
            return None
        return candidates[self._drawn(shares)]

    # ---- output -----------------------------------------------------------------------------

    def _output(self, effect: Emit | Say | DescribeEffect | Reward, env: Env) -> None:
        match effect:
            case Say(template=template):
                self.wants.lines.append(Line(template, env))
            case DescribeEffect(target=target):
                self.wants.lines.append(Line(self.words.value(target, env), env))
            case Reward(amount=amount):
                paid = self.words.value(amount, env)
                real = isinstance(paid, float)
                self.wants.rewards.append(paid if real else self.words.amount(amount, env))
            case Emit(event=event, args=args):
                names = {**env.state.names, **self._new_names()}
                shown = [
                    show_value(self.program, names, binder.type, self.words.value(arg, env))  # type: ignore[arg-type]
                    for binder, arg in zip(self.program.events[event].params, args, strict=True)
                ]
                self.wants.events.append((event, shown))  # type: ignore[arg-type]

    def _new_names(self) -> dict[int, str]:
        return {born.number: born.name for born in self.wants.births}
