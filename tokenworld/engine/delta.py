"""What a body asks for: its changes are collected, to be applied together (language.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tokenworld.engine.births import Maker, Newborn, sight
from tokenworld.engine.layout import Column, Key, Layout
from tokenworld.engine.luck import Luck
from tokenworld.ground import Json, Raw
from tokenworld.model import NumberType, RealType

if TYPE_CHECKING:
    from tokenworld.engine.state import State

__all__ = [
    "Breach",
    "Delta",
    "RawChange",
    "Rule",
    "Write",
    "bounded",
]

MOST_BIRTHS = 100
"""How deep births may bring forth births before it counts as endless."""


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


def bounded(column: Column, value: Raw, rules: tuple[str, ...]) -> Raw:
    """What a slot keeps of a value: within its range, a truth or number of its kind.

    Raises `Breach` where the value would leave the range and the fluent is not ``clamped``.
    """
    kind = column.fluent.type
    if not isinstance(kind, NumberType) or not isinstance(value, int):
        if isinstance(kind, RealType) and isinstance(value, int):
            return float(value)
        return False if value is None and kind.kind == "bool" else value
    low, high = kind.low, kind.high
    if (low is None or value >= low) and (high is None or value <= high):
        return value
    if column.fluent.clamped:
        return low if low is not None and value < low else high
    raise Breach("TW1004", "range", f"`{column.fluent.name}` would leave its range.", rules)


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
    newborns: list[Newborn] = field(default_factory=list)
    sight: State | None = None
    depth: int = 0

    def by(self, title: str, args: tuple[Raw, ...], keyed: tuple[Json, ...]) -> None:
        """The rule that speaks from now on; its draws are numbered from 0."""
        self.rule, self.count, self.keyed = Rule(title, args), 0, keyed
        self.fired.append(self.rule)

    # ---- called by generated code ---------------------------------------------------------

    def put(self, index: int, args: tuple[Raw, ...], op: str, value: Raw) -> None:
        """A change of a slot; a slot of `none` is nobody's and is left alone.

        So is a slot that always has a value, if the new one rests on something destroyed.
        """
        column = self.layout.columns[index]
        if None in args or (value is None and op == "=" and column.always):
            return
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

    def create(self, state: State, maker: Maker, values: tuple[Raw, ...]) -> int:
        """Ask for an object; the number it will have. ``values`` fill the columns of the maker."""
        number = state.next_id + len(self.newborns)
        rules = (self.rule.title,)
        filled = tuple(
            (column, bounded(column, column.default if value is None else value, rules))
            for column, value in zip(
                (self.layout.columns[index] for index in maker.columns), values, strict=True
            )
        )
        name = maker.name if maker.named else f"{maker.name}_{number}"
        taken = {one.name for one in self.newborns} if maker.named else ()
        while name in state.numbers or name in taken:
            name += "_"
        born = Newborn(number, name, maker.of, filled, self.rule.title, len(self.writes))
        self.newborns.append(born)
        return number

    def see(self, state: State) -> State:
        """The state as the rest of the body reads it: with the objects asked for so far."""
        if self.newborns:
            self.sight = sight(state, self.sight, self.newborns)
            return self.sight
        return state

    def bear(self, rule: Callable[..., None], state: State, was: State, me: Raw, x: int) -> None:
        """Run a `birth` rule for an object just asked for."""
        self.depth += 1
        if self.depth > MOST_BIRTHS:
            raise Breach("TW1006", "undefined", "Births bring forth objects without end.")
        rule(state, was, me, self, x)
        self.depth -= 1

    def without(self, titles: frozenset[str]) -> Delta:
        """The same changes but for those that rules of these titles asked for.

        Objects that they created are never born, but their numbers are spent all the same.
        """
        rest = Delta(self.layout, self.luck, self.seed, self.tick)
        rest.writes = [write for write in self.writes if write.rule.title not in titles]
        rest.doomed = [doom for doom in self.doomed if doom[1].title not in titles]
        rest.newborns = [
            replace(one, void=True) if one.rule in titles else one for one in self.newborns
        ]
        return rest

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
