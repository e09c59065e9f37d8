"""What a body asks for: its changes are collected, to be applied together (language.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tokenworld.engine.layout import Column, Key, Layout
from tokenworld.engine.luck import Luck
from tokenworld.ground import Json, Raw

__all__ = [
    "Breach",
    "Delta",
    "RawChange",
    "Rule",
    "Write",
]


@dataclass(frozen=True, slots=True)
class Rule:
    """Who asks: its kind and name (``law grow``) and its raw arguments."""

    title: str
    args: tuple[Raw, ...] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """One requested change of a slot: ``=``, ``+`` (by), ``add`` or ``remove``."""

    op: str
    column: Column
    key: Key
    value: Raw
    rule: Rule


RawChange = tuple[Column, Key, Raw, Raw, str]
"""A committed change: column, key, old value, new value, title of the rule."""


class Breach(Exception):  # a rule of the world was broken; not a defect
    """A change that must not happen: conflict, range, cycle, uniqueness or undefined number."""

    def __init__(self, code: str, kind: str, message: str, rules: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code, self.kind, self.message, self.rules = code, kind, message, rules

    def blamed(self, title: str) -> Breach:
        """The same, told of the rule under evaluation where none is named yet."""
        self.rules = self.rules or (title,)
        return self


@dataclass(slots=True)
class Delta:
    """The changes and output of one evaluation, on one state, by one or several rules.

    Generated code calls the short methods; prose is kept as calls to be rendered on the state
    after the body.
    """

    layout: Layout
    luck: Luck
    seed: int
    tick: int
    writes: list[Write] = field(default_factory=list)
    doomed: list[tuple[int, Rule]] = field(default_factory=list)
    prose: list[tuple[Callable[..., str], tuple[Raw, ...]]] = field(default_factory=list)
    shown: list[tuple[int, ...]] = field(default_factory=list)
    events: list[tuple[str, tuple[Raw, ...]]] = field(default_factory=list)
    rewards: list[tuple[Raw, int]] = field(default_factory=list)
    rule: Rule = field(default_factory=lambda: Rule(""))
    count: int = 0
    keyed: tuple[Json, ...] = ()
    fired: list[Rule] = field(default_factory=list)
    guarded: list[str] = field(default_factory=list)

    def by(self, title: str, args: tuple[Raw, ...], keyed: tuple[Json, ...]) -> None:
        """The rule that speaks from now on; its draws are numbered from 0."""
        self.rule, self.count, self.keyed = Rule(title, args), 0, keyed
        self.fired.append(self.rule)

    # ---- called by generated code ---------------------------------------------------------

    def put(self, index: int, args: tuple[Raw, ...], op: str, value: Raw) -> None:
        """A change of a slot; a slot of `none` is nobody's and is left alone."""
        if None in args:
            return
        column = self.layout.columns[index]
        self.writes.append(Write(op, column, column.key(args), value, self.rule))

    def move(
        self, amount: Raw, source: tuple[int, tuple[Raw, ...]], target: tuple[int, tuple[Raw, ...]]
    ) -> None:
        """``transfer``: the amount leaves one slot and reaches the other."""
        if amount is None:
            return
        assert isinstance(amount, (int, float))
        if amount < 0:
            raise Breach("TW1004", "range", "A negative amount cannot be transferred.")
        self.put(*source, "+", -amount)
        self.put(*target, "+", amount)

    def destroy(self, number: Raw) -> None:
        if isinstance(number, int):
            self.doomed.append((number, self.rule))

    def emit(self, event: str, args: tuple[Raw, ...]) -> None:
        self.events.append((event, args))

    def say(self, words: Callable[..., str], args: tuple[Raw, ...]) -> None:
        self.prose.append((words, args))

    def reward(self, amount: Raw, decimals: int) -> None:
        self.rewards.append((amount, decimals))

    def choose(self, probabilities: Sequence[tuple[int, int] | float]) -> int:
        """The branch that happens; one past the last for none of them."""
        from fractions import Fraction

        shares = [Fraction(*p) if isinstance(p, tuple) else Fraction(p) for p in probabilities]
        rest = 1 - sum(shares)
        if rest < 0 or any(share < 0 for share in shares):
            raise Breach("TW1006", "probability", "The probabilities leave the range 0 to 1.")
        whole = 1
        for share in shares:
            whole = whole * share.denominator
        return self._choose([int(share * whole) for share in (*shares, rest)])

    def pick(self, weights: Sequence[int]) -> int:
        """The index of one of the candidates; -1 where none can be chosen."""
        if any(weight < 0 for weight in weights):
            raise Breach("TW1006", "probability", "A weight is negative.")
        return self._choose(weights) if any(weights) else -1

    def uniform(self, low: float, high: float) -> float:
        share = self.luck.uniform((self.rule.title, self.keyed, self.count), self.seed, self.tick)
        self.count += 1
        return low + (high - low) * share

    def _choose(self, weights: Sequence[int]) -> int:
        key = (self.rule.title, self.keyed, self.count)
        self.count += 1
        return self.luck.choose(key, self.seed, self.tick, weights)
