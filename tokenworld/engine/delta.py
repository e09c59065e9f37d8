"""What a body asks for: its changes are collected, to be applied together (language.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tokenworld.engine.births import Maker, Newborn
from tokenworld.engine.growing import sight
from tokenworld.engine.layout import Column, Key, Layout
from tokenworld.engine.luck import NO_DRAWS, Counts, DrawKey, Luck
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
    "weights_of",
]

MOST_BIRTHS = 100
"""How deep births may bring forth births before it counts as endless."""


class Rule(NamedTuple):
    """Who asks: its kind and name (``law grow``) and its raw arguments."""

    title: str
    args: tuple[Raw, ...] = ()


Write = tuple[str, Column, Key, Raw, str]
"""One requested change of a slot: ``=``, ``+`` (by), ``add`` or ``remove``; the column, the key,
the value and the title of the rule. A plain tuple: a tick makes one for each change."""


Keyed = tuple[Json, ...] | Callable[[], tuple[Json, ...]]
"""The arguments of a rule in exchange form, or what makes them."""

_NOBODY = Rule("")

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


class Delta:
    """The changes of one evaluation, on one state, by one or several rules.

    Generated code calls the short methods. ``keyed`` are the arguments that key the draws of the
    rule, or what works them out where there is a draw. ``drawn`` counts the draws of the tick,
    those of this body included.
    """

    __slots__ = (
        "_counts",
        "depth",
        "doomed",
        "drawn",
        "fired",
        "keyed",
        "layout",
        "luck",
        "newborns",
        "rule",
        "seed",
        "sight",
        "tick",
        "writes",
    )

    def __init__(
        self, layout: Layout, luck: Luck, seed: int, tick: int, drawn: Counts = NO_DRAWS
    ) -> None:
        self.layout, self.luck, self.seed, self.tick = layout, luck, seed, tick
        self.drawn = drawn
        self._counts: dict[tuple[str, tuple[Json, ...]], int] | None = None
        self.writes: list[Write] = []
        self.doomed: list[tuple[int, Rule]] = []
        self.fired: list[Rule] = []
        self.newborns: list[Newborn] = []
        self.rule = _NOBODY
        self.depth = 0
        self.keyed: Keyed = ()
        self.sight: State | None = None

    def by(self, title: str, args: tuple[Raw, ...], keyed: Keyed) -> None:
        """The rule that speaks from now on; its draws go on from those it took in this tick."""
        self.rule, self.keyed = Rule(title, args), keyed
        self.fired.append(self.rule)

    # ---- called by generated code ---------------------------------------------------------

    def put(self, index: int, args: tuple[Raw, ...], op: str, value: Raw) -> None:
        """A change of a slot; a slot of `none` is nobody's and is left alone.

        So is a slot that always has a value, if the new one rests on something destroyed.
        """
        column = self.layout.columns[index]
        if None in args or (value is None and op == "=" and column.always):
            return
        key = args[0] if column.by_object else column.key(args)
        self.writes.append((op, column, key, value, self.rule.title))  # type: ignore[arg-type]

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
        columns = map(self.layout.columns.__getitem__, maker.columns)
        filled = tuple(
            [
                (column, bounded(column, column.default if value is None else value, rules))
                if value is None or column.bounded
                else (column, value)
                for column, value in zip(columns, values, strict=True)
            ]
        )
        name = maker.name if maker.named else f"{maker.name}_{number}"
        taken = {one.name for one in self.newborns} if maker.named else ()
        while name in state.numbers or name in taken:
            name += "_"
        born = Newborn(number, name, maker.of, filled, self.rule.title, len(self.writes),
                       maker.columns)  # fmt: skip
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
        rest.writes = [write for write in self.writes if write[4] not in titles]
        rest.doomed = [doom for doom in self.doomed if doom[1].title not in titles]
        rest.newborns = [
            one._replace(void=True) if one.rule in titles else one for one in self.newborns
        ]
        return rest

    def choose(self, probabilities: Sequence[tuple[int, int] | float], site: str) -> int:
        """The branch that happens; one past the last for none of them."""
        return self._choose(weights_of(tuple(probabilities)), site)

    def pick(self, weights: Sequence[int], site: str) -> int:
        """The index of one of the candidates; -1 where none can be chosen."""
        if any(weight < 0 for weight in weights):
            raise Breach("TW1006", "probability", "A weight is negative.")
        return self._choose(weights, site) if any(weights) else -1

    def uniform(self, low: float, high: float) -> float:
        share = self.luck.uniform(self._draw(), self.seed, self.tick)
        return low + (high - low) * share

    def _choose(self, weights: Sequence[int], site: str) -> int:
        return self.luck.choose(self._draw(), self.seed, self.tick, weights, site)

    def _draw(self) -> DrawKey:
        """The key of the rule's next draw."""
        if not isinstance(self.keyed, tuple):
            self.keyed = self.keyed()
        if self._counts is None:
            self.drawn = self._counts = dict(self.drawn)
        whose = (self.rule.title, self.keyed)
        number = self._counts.get(whose, 0)
        self._counts[whose] = number + 1
        return (*whose, number)


@lru_cache(maxsize=4096)
def weights_of(probabilities: tuple[tuple[int, int] | float, ...]) -> tuple[int, ...]:
    """Whole numbers in proportion to probabilities and to what they leave over."""
    from fractions import Fraction

    if any((p[0] if isinstance(p, tuple) else p) is None for p in probabilities):
        raise Breach("TW1006", "undefined", "A probability is `none`.")
    shares = [Fraction(*p) if isinstance(p, tuple) else Fraction(p) for p in probabilities]
    rest = 1 - sum(shares)
    if rest < 0 or any(share < 0 for share in shares):
        raise Breach("TW1006", "probability", "The probabilities leave the range 0 to 1.")
    whole = prod(share.denominator for share in shares)
    return tuple(int(share * whole) for share in (*shares, rest))
