"""Run bodies: read one state and collect the changes that they request (language.md §5, §13)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tokenworld.core import StatementVisitor
from tokenworld.core import nodes as core
from tokenworld.diagnostics import Span
from tokenworld.engine.reference.chance import Counts, Drawn, Lot
from tokenworld.engine.reference.terms import fitting
from tokenworld.engine.reference.values import Env, Fault, Slot, decimals_of, implied, stored
from tokenworld.engine.reference.words import Words
from tokenworld.ground import Json, Raw, show_value
from tokenworld.model import Fluent, NumberType, ObjectType, is_optional, written_name

MOST_BIRTHS = 100
"""Deepest chain of births that cause births, before it counts as endless."""


@dataclass(frozen=True)
class Wanted:
    """One wanted change of a slot, and the rule that wants it."""

    op: core.WriteOp
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

    what: core.Template | int | None
    env: Env


@dataclass
class Wants:
    """Everything that one or several rules want, to be applied together. ``counts`` are the draws
    that each rule took in the tick, those of these rules included."""

    writes: list[Wanted] = field(default_factory=list)
    births: list[Born] = field(default_factory=list)
    doomed: list[tuple[int, str]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    events: list[tuple[str, list[Json]]] = field(default_factory=list)
    rewards: list[Fraction | float] = field(default_factory=list)
    drawn: list[Drawn] = field(default_factory=list)
    counts: Counts = field(default_factory=dict)


class Teller(StatementVisitor[Env, Env]):
    """Runs the bodies of one rule (its ``lot`` numbers the draws) and notes their changes.

    A statement makes the environment after it."""

    def __init__(self, words: Words, wants: Wants, lot: Lot) -> None:
        self.words, self.wants, self.lot = words, wants, lot
        self.program, self.depth = words.program, 0

    def run(self, body: core.Body, env: Env) -> Env:
        """Execute the statements in written order; return the environment after the last."""
        for statement in body:
            env = self.statement(statement, env)
        return env

    # ---- control ----------------------------------------------------------------------------

    def choose(self, statement: core.If, env: Env) -> Env:
        taken = self.words.holds(statement.condition, env)
        self.run(statement.then if taken else statement.otherwise, env)
        return env

    def loop(self, statement: core.For, env: Env) -> Env:
        for inner in list(self.words.bindings(statement.binders, statement.where, env)):
            self.run(statement.body, inner)
        return env

    def require(self, statement: core.Require, env: Env) -> Env:
        raise TypeError("a require stands at the head of an action")

    # ---- changes ----------------------------------------------------------------------------

    def write(self, statement: core.Write, env: Env) -> Env:
        value, target = self.words.term(statement.value, env), statement.target
        args = tuple(self.words.term(arg, env) for arg in target.args)
        fluent = self.program.fluents[target.fluent]
        kind = fluent.type
        always = not is_optional(kind) and kind.kind not in ("bool", "object")
        if statement.op == "=" and value is None and always:
            return env  # the new value depends on a destroyed object
        if statement.op == "+":
            value = value or 0  # a step that depends on a destroyed object adds nothing
            value = value if isinstance(value, float) else fitting(value)
        if None not in args:  # a slot of `none` is nobody's
            self.wants.writes.append(Wanted(statement.op, fluent, args, value, self.lot.rule))
        return env

    def destroy(self, statement: core.Destroy, env: Env) -> Env:
        number = self.words.term(statement.target, env)
        if number is not None:
            self.wants.doomed.append((number, self.lot.rule))
        return env

    # ---- creation ---------------------------------------------------------------------------

    def create(self, statement: core.Create, env: Env) -> Env:
        """A new object: its fields, then the births of its types."""
        number = env.state.next_id + len(self.wants.births)
        name = self._free_name(statement, number, env)
        kind = self.program.types[statement.of]
        terms = {one.fluent: one.value for one in statement.fields}
        values: dict[Slot, Raw] = {}
        for key in kind.attributes:
            fluent = self.program.fluents[key]
            raw = self.words.term(terms[key], env) if key in terms else None
            raw = implied(fluent.type) if raw is None else raw
            values[key, (number,)] = bounded(stored(fluent.type, raw), fluent)
        self.wants.births.append(
            Born(number, name, statement.of, values, self.lot.rule, len(self.wants.writes))
        )
        inside = replace(
            env.bind(statement.name, number),
            given={**env.given, **values},
            made={**env.made, number: statement.of},
        )
        self.depth += 1
        if self.depth > MOST_BIRTHS:
            raise Fault("TW1006", "undefined", "Births bring forth objects without end.")
        for ancestor in reversed(kind.ancestors):
            for birth in self.words.rules.births:
                if birth.param.type == ObjectType(ancestor):
                    self.run(birth.body, inside.only({birth.param.name: number}))
        self.depth -= 1
        return inside

    def _free_name(self, statement: core.Create, number: int, env: Env) -> str:
        """The name of its `create` with its number, or alone if that always makes one object."""
        name = written_name(statement.name)
        name = name if statement.named else f"{name}_{number}"
        taken = {*env.state.names.values(), *self._new_names().values()}
        while name in taken:
            name += "_"
        return name

    # ---- draws ------------------------------------------------------------------------------

    def let(self, statement: core.Let, env: Env) -> Env:
        value = statement.value
        if isinstance(value, core.Draw):
            found = self._drawing(value, env)
            return replace(
                env, locals={**env.locals, **dict(zip(statement.names, found, strict=True))}
            )
        return env.bind(statement.names[0], self.words.term(value, env))

    def _drawing(self, draw: core.Draw, env: Env) -> tuple[Any, ...]:
        """The values that a draw names."""
        if isinstance(draw, core.BranchDraw):
            return (self._branch(draw, env),)
        if isinstance(draw, core.PickDraw):
            chosen = self._picked(draw, env)
            names = [binder.name for binder in draw.binders]
            return tuple(None if chosen is None else chosen.locals[name] for name in names)
        first, last = self.words.term(draw.low, env), self.words.term(draw.high, env)
        return (first + (last - first) * self.lot.share(),)

    def _share(self, term: core.Term, env: Env) -> Fraction:
        share = self.words.term(term, env)
        if share is None:
            raise Fault("TW1006", "undefined", "A probability is `none`.")
        return Fraction(share) / Fraction(10 ** decimals_of(term))

    def _branch(self, draw: core.BranchDraw, env: Env) -> int:
        """The branch that happens, one past the last for none of them."""
        shares = [self._share(one, env) for one in draw.probabilities]
        rest = 1 - sum(shares, Fraction(0))
        if min(*shares, rest) < 0:
            raise Fault("TW1006", "probability", "The probabilities leave the range 0 to 1.")
        return self._drawn([*shares, rest], draw.span)

    def _drawn(self, weights: Sequence[Fraction], site: Span) -> int:
        choice, drawn = self.lot.choose(weights, str(site))
        if sum(1 for weight in weights if weight > 0) > 1:
            self.wants.drawn.append(drawn)
        return choice

    def _picked(self, draw: core.PickDraw, env: Env) -> Env | None:
        """The environment of the chosen candidate, ``None`` if there is none."""
        key, weight = draw.key, draw.weight
        candidates = list(self.words.bindings(draw.binders, draw.where, env))
        if weight is None:
            weights: list[Any] = [1] * len(candidates)
        else:
            weights = [self.words.term(weight, inner) for inner in candidates]
        if key == "log":
            top = max((one for one in weights if one is not None), default=0.0)
            weights = [0.0 if one is None else math.exp(one - top) for one in weights]
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
            if key in ("belief", "log"):
                raise Fault("TW1007", "contradiction", "The beliefs leave no value.")
            return None
        return candidates[self._drawn(shares, draw.span)]

    # ---- output -----------------------------------------------------------------------------

    def say(self, statement: core.Say, env: Env) -> Env:
        self.wants.lines.append(Line(statement.template, env))
        return env

    def describe(self, statement: core.Describe, env: Env) -> Env:
        self.wants.lines.append(Line(self.words.term(statement.target, env), env))
        return env

    def reward(self, statement: core.Reward, env: Env) -> Env:
        paid = self.words.term(statement.amount, env)
        real = isinstance(paid, float)
        self.wants.rewards.append(paid if real else self.words.amount(statement.amount, env))
        return env

    def emit(self, statement: core.Emit, env: Env) -> Env:
        names = {**env.state.names, **self._new_names()}
        params = self.program.events[statement.event].params
        shown = [
            show_value(self.program, names, binder.type, self.words.term(arg, env))  # type: ignore[arg-type]
            for binder, arg in zip(params, statement.args, strict=True)
        ]
        self.wants.events.append((statement.event, shown))  # type: ignore[arg-type]
        return env

    def _new_names(self) -> dict[int, str]:
        return {born.number: born.name for born in self.wants.births}
