"""The requests of the bodies of one unit: writes, births, deaths, output and draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import exp, lcm, prod
from typing import Any

from tokenworld.core.nodes import Binder
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.changes import Breach, RawChange
from tokenworld.engine.columns import Column
from tokenworld.engine.luck import DrawKey, Luck
from tokenworld.engine.rows.layout import (
    DRAWN,
    KINDS,
    NAMES,
    NEXT,
    NOTHING,
    SEED,
    TICK,
    Slots,
    Store,
)
from tokenworld.ground import Json, Raw, implicit_default, show_value
from tokenworld.model import NumberType, RealType

Reward = Fraction | float
_NOTHING = Fraction(0)
MOST_BIRTHS = 100
"""Deepest chain of births that cause births, before it counts as endless."""
Line = tuple[Callable[..., str], list[Any], int | None, tuple[Any, ...]]
"""A text to be rendered after the body: its function, the start of the tick, who acts, values."""


@frozen
class Maker:
    """The objects made by a `create` at one place: ``stores`` are the attributes that it fills."""

    of: str
    name: str
    named: bool
    stores: tuple[Store, ...]


@frozen
class Born:
    """An object asked for, with so many writes ``after`` which it is filed."""

    number: int
    maker: Maker
    rule: str
    after: int


Part = tuple[int, str, tuple[Raw, ...], "Log | None"]
"""The end of a part of the journal, and the title and arguments of the rule that wrote it, or the
log that was committed. A phase ends with `None`."""


class Row:
    """A row under way: the slots, and a journal of (slot, old value) pairs to undo them by.

    ``paid`` are the rewards of the last tick, amounts with their decimals. If one function stepped
    it, ``said`` are its texts, ``lines`` those still to be computed, and ``parts`` the parts of the
    journal by rules, if it reports them.
    """

    __slots__ = ("J", "S", "lines", "paid", "parts", "said", "slots")

    def __init__(self, slots: Slots, S: list[Any]) -> None:
        self.slots, self.S = slots, S
        self.J: list[Any] = []
        self.paid: list[tuple[Any, int]] = []
        self.said: list[str] = []
        self.lines: list[Line] = []
        self.parts: list[Part | None] = []

    def set(self, slot: int, value: Any) -> None:
        """Change one slot."""
        self.slots.epoch += 1
        self.J += (slot, self.S[slot])
        self.S[slot] = value

    @property
    def mark(self) -> int:
        """The present length of the journal."""
        return len(self.J)

    def undo(self, mark: int) -> None:
        """Undo everything since a mark."""
        S, J = self.S, self.J
        self.slots.epoch += 1
        while len(J) > mark:
            old = J.pop()
            S[J.pop()] = old

    def redo(self, mark: int) -> Callable[[], None]:
        """Undo everything since a mark; the result redoes it."""
        S, J = self.S, self.J
        done, slots = J[mark:], J[mark::2]
        now = [(slot, S[slot]) for slot in dict.fromkeys(slots)]
        self.undo(mark)

        def again() -> None:
            self.slots.epoch += 1
            J.extend(done)
            for slot, value in now:
                S[slot] = value

        return again

    def copy(self) -> list[Any]:
        """The slots as they are now, for who looks back at them."""
        self.slots.epoch += 1
        return self.S[:]


class Drawing:
    """The draws of one rule."""

    __slots__ = ("luck", "row")
    luck: Luck
    row: Row

    def branch(self, probabilities: tuple[Any, ...], site: str) -> int:
        """The branch that happens; one past the last for none of them."""
        return self._choose(weights_of(probabilities), site)

    def even(self, count: int, site: str) -> int:
        """The index of one of so many candidates, all alike; -1 where there are none."""
        return self._choose((1,) * count, site) if count else -1

    def pick(self, key: str, weights: list[Any], site: str) -> int:
        """The index of the chosen candidate; -1 where none can be chosen."""
        if key == "log":
            weights = raised(weights)
        if None in weights:
            text = "What a candidate is chosen by is `none`."
            raise Breach("TW1006", "undefined", text)
        if not weights:
            return -1
        if key in ("least", "most"):
            return weights.index(min(weights) if key == "least" else max(weights))
        if min(weights) < 0:
            raise Breach("TW1006", "probability", "A weight is negative.")
        if any(isinstance(one, float) for one in weights):
            shares = [Fraction(one) for one in weights]
            whole = lcm(*(one.denominator for one in shares))
            weights = [int(one * whole) for one in shares]
        if key in ("belief", "log") and not any(weights):
            raise Breach("TW1007", "contradiction", "The beliefs leave no value.")
        return self._choose(weights, site) if any(weights) else -1

    def uniform(self, low: float, high: float) -> float:
        S = self.row.S
        return low + (high - low) * self.luck.uniform(self._key(), S[SEED], S[TICK])

    def _choose(self, weights: Sequence[int], site: str) -> int:
        S = self.row.S
        return self.luck.choose(self._key(), S[SEED], S[TICK], weights, site)

    def _key(self) -> DrawKey:
        """The key of the rule's next draw."""
        raise NotImplementedError


def raised(logs: list[float | None]) -> list[float]:
    """Weights from their logarithms, up to a common factor; `none` is 0."""
    top = max((one for one in logs if one is not None), default=0.0)
    return [0.0 if one is None else exp(one - top) for one in logs]


class Draws(Drawing):
    """The draws of a rule that is carried out once in its tick, and writes the row itself.

    ``shown`` gives the arguments as the keys of its draws have them.
    """

    __slots__ = ("_args", "_number", "_shown", "_title")

    def __init__(
        self, row: Row, luck: Luck, title: str, args: tuple[Raw, ...],
        shown: Callable[[str, tuple[Raw, ...], tuple[str, ...]], tuple[Json, ...]],
    ) -> None:  # fmt: skip
        self.row, self.luck = row, luck
        self._title, self._args, self._shown = title, args, shown
        self._number = 0

    def even(self, count: int, site: str) -> int:
        if count == 1:
            self._number += 1
            return 0
        return super().even(count, site)

    def _key(self) -> DrawKey:
        self._number += 1
        return (
            self._title,
            self._shown(self._title, self._args, self.row.S[NAMES]),
            self._number - 1,
        )


class Log(Drawing):
    """The changes and output of one unit: an action's body, or the laws of a phase.

    ``actor`` is the actor of an action; ``pasts`` are the rows that the tick looks back at, in
    which new objects are noted with their first values. ``changes`` are those of its commit, if
    requested.
    """

    __slots__ = (
        "_counts", "_depth", "_keyed", "_params", "actor", "args", "births", "changes", "doomed",
        "events", "fired", "lines", "pasts", "rewards", "slots", "title", "writes",
    )  # fmt: skip

    def __init__(self, row: Row, luck: Luck, params: dict[str, tuple[Binder, ...]]) -> None:
        self.row, self.luck, self._params = row, luck, params
        self.slots = row.slots
        self.writes: list[tuple[int, str, Any, str]] = []
        self.births: list[Born] = []
        self.doomed: list[tuple[int, str]] = []
        self.lines: list[Line] = []
        self.events: list[tuple[str, tuple[Raw, ...]]] = []
        self.rewards: list[tuple[Any, int]] = []
        self.fired: list[tuple[str, tuple[Raw, ...]]] = []
        self.changes: list[RawChange] | None = None
        self.title, self.args = "", tuple[Raw, ...]()
        self._keyed: tuple[Json, ...] | None = None
        self.actor: int | None = None
        self.pasts: tuple[list[Any], ...] = ()
        self._counts: dict[tuple[str, tuple[Json, ...]], int] | None = None
        self._depth = 0

    def clear(self) -> None:
        """Forget the requests and the output; the numbers of the draws go on."""
        for one in (
            self.writes, self.births, self.doomed, self.lines, self.events, self.rewards,
            self.fired,
        ):  # fmt: skip
            one.clear()

    def by(self, title: str, args: tuple[Raw, ...]) -> None:
        """The rule that asks from now on."""
        self.title, self.args, self._keyed = title, args, None
        self.fired.append((title, args))

    def draws_as(self, title: str, key: tuple[Json, ...]) -> None:
        """The rule that draws with this key from now on, without listing it as fired."""
        self.title, self._keyed = title, key

    # ---- changes ------------------------------------------------------------------------------

    def log(self, slot: int, op: str, value: Any) -> None:
        """A change of a slot."""
        self.writes.append((slot, op, value, self.title))

    def put(self, index: int, args: tuple[Any, ...], op: str, value: Any) -> None:
        """The same by arguments. A slot of `none` has no owner; a slot that is never `none` keeps
        its value if the new one depends on a destroyed object."""
        store = self.slots.stores[index]
        if None in args or (value is None and op == "=" and store.column.always):
            return
        place = self.slots.slot(store, args)
        self.slots.fill(self.row.S)
        if place != NOTHING:
            self.writes.append((place, op, 0 if value is None and op == "+" else value, self.title))

    def destroy(self, number: int | None) -> None:
        if number is not None:
            self.doomed.append((number, self.title))

    # ---- creation -----------------------------------------------------------------------------

    def create(self, W: list[Any], maker: Maker, values: list[Any]) -> int:
        """The number of a new object. The rest of the body reads its attributes; it lives, and is
        in anybody's contents, when the log is committed."""
        row, slots = self.row, self.slots
        S = row.S
        number: int = S[NEXT]
        slots.number(number)
        slots.fill(S)
        name = self._free_name(maker, number)
        row.set(NEXT, number + 1)
        row.set(KINDS, (*S[KINDS], maker.of))
        row.set(NAMES, (*S[NAMES], name))
        for store, value in zip(maker.stores, values, strict=True):
            value = implicit_default(store.column.fluent.type) if value is None else value
            row.set(store.table[number], bounded(store.column, value, (self.title,)))
        for past in {id(one): one for one in (W, *self.pasts) if one is not S}.values():
            self._looked_back(past, maker.of, number)
        self.births.append(Born(number, maker, self.title, len(self.writes)))
        return number

    def _looked_back(self, W: list[Any], of: str, number: int) -> None:
        """Give a new object the values of its creation in the row of the start of the tick."""
        slots, S = self.slots, self.row.S
        slots.fill(W)
        slots.epoch += 1
        W[KINDS] = (*W[KINDS][:number], of)
        W[NAMES] = S[NAMES]
        for store in slots.stores:
            if store.column.by_object and store.live and slots.owns(store, of):
                place, own = store.table[number], store.column.fluent.fluent_kind == "attribute"
                W[place] = S[place] if own else store.column.default

    def _free_name(self, maker: Maker, number: int) -> str:
        """The name of its `create` with its number, or alone if that always makes one object."""
        name = maker.name if maker.named else f"{maker.name}_{number}"
        first, later = self.slots.named, self.row.S[NAMES][len(self.slots.base.names) :]
        while name in first or name in later:
            name += "_"
        return name

    def run_birth(self, birth: Callable[..., None], W: list[Any], me: int | None, x: int) -> None:
        """Run a `birth` rule for an object just asked for."""
        self._depth += 1
        if self._depth > MOST_BIRTHS:
            raise Breach("TW1006", "undefined", "Births bring forth objects without end.")
        birth(self.row.S, W, me, self, x)
        self._depth -= 1

    # ---- output -------------------------------------------------------------------------------

    def say(
        self, words: Callable[..., str], W: list[Any], me: int | None, args: tuple[Any, ...]
    ) -> None:
        self.lines.append((words, W, me, args))

    def emit(self, event: str, args: tuple[Raw, ...]) -> None:
        self.events.append((event, args))

    def reward(self, amount: Any, decimals: int) -> None:
        self.rewards.append((amount, decimals))

    # ---- draws --------------------------------------------------------------------------------

    def _key(self) -> DrawKey:
        """The key of the rule's next draw; the draws that it took in this tick are counted."""
        if self._keyed is None:
            self._keyed = self._shown()
        if self._counts is None:
            self._counts = dict(self.row.S[DRAWN])
            self.row.set(DRAWN, self._counts)
        whose = (self.title, self._keyed)
        number = self._counts.get(whose, 0)
        self._counts[whose] = number + 1
        return (*whose, number)

    def _shown(self) -> tuple[Json, ...]:
        return key_args(
            self.slots, self.row.S[NAMES], self._params, self.title, self.args, self.actor
        )


def key_args(
    slots: Slots, names: tuple[str, ...], params: dict[str, tuple[Binder, ...]], title: str,
    args: tuple[Raw, ...], actor: int | None,
) -> tuple[Json, ...]:  # fmt: skip
    """A rule's arguments as the keys of its draws have them, an action's after the actor (or
    null)."""
    shown = tuple([
        show_value(slots.program, names, binder.type, value)
        for binder, value in zip(params[title], args, strict=True)
    ])  # fmt: skip
    if not title.startswith("action "):
        return shown
    return (None if actor is None else names[actor], *shown)


def rewarded(paid: Sequence[tuple[Any, int]], before: Reward = _NOTHING) -> Reward:
    """A reward with these amounts added, each a scaled number with its decimals or a double."""
    for amount, decimals in paid:
        if isinstance(amount, float):
            before = float(before) + amount
        elif amount is not None:
            before = before + Fraction(amount, 10**decimals)
    return before


def bounded(column: Column, value: Any, rules: tuple[str, ...]) -> Any:
    """Convert a value for its slot: clamp it to its range, or to a truth or number of its kind.

    Raises `Breach` where it would leave the range and the fluent is not `clamped`.
    """
    if column.truth:
        return value is True
    kind = column.fluent.type
    if isinstance(kind, RealType):
        return value if value is None else float(value)
    if not isinstance(kind, NumberType) or not isinstance(value, int):
        return value
    low, high = kind.low, kind.high
    if (low is None or value >= low) and (high is None or value <= high):
        return value
    if column.fluent.clamped:
        return low if low is not None and value < low else high
    raise Breach("TW1004", "range", f"`{column.fluent.name}` would leave its range.", rules)


@lru_cache(maxsize=4096)
def weights_of(probabilities: tuple[tuple[int, int] | float, ...]) -> tuple[int, ...]:
    """Whole numbers in proportion to probabilities and to their remainder."""
    if any((p[0] if isinstance(p, tuple) else p) is None for p in probabilities):
        raise Breach("TW1006", "undefined", "A probability is `none`.")
    shares = [Fraction(*p) if isinstance(p, tuple) else Fraction(p) for p in probabilities]
    rest = 1 - sum(shares)
    if rest < 0 or any(share < 0 for share in shares):
        raise Breach("TW1006", "probability", "The probabilities leave the range 0 to 1.")
    whole = prod(share.denominator for share in shares)
    return tuple(int(share * whole) for share in (*shares, rest))
