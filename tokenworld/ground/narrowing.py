"""The bindings of a rule that its static conditions leave: a join instead of a product.

`MOVE-DIR(from, to, dir)` over a hundred places has 40,000 bindings and holds for 400 of them. Facts
that play never changes decide that before grounding: joining the facts that hold finds the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product

from tokenworld.core import nodes as core
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground.constants import NotConstant, known_value
from tokenworld.ground.instance import Instance, count_bindings
from tokenworld.ground.values import Raw
from tokenworld.model import BoolLiteral, BoolType, ObjectType

Rows = Callable[["Pattern"], Iterable[tuple[Raw, ...]]]
"""The rows of a pattern's fluent that may match it: its arguments, and its value where that is
asked for."""
_SPARE = 10
"""So many times more bindings than asked for may be looked at on the way."""


@frozen
class Pattern:
    """``fluent`` holds for these arguments; with ``valued`` the last place is its value.

    A place is the number of a parameter, or is in ``known`` with its value, or is left open.
    """

    fluent: str
    places: tuple[int | None, ...]
    known: tuple[tuple[int, Raw], ...]
    valued: bool

    def matches(self, row: Sequence[Raw]) -> bool:
        """Return whether a row agrees with the constants."""
        return all(row[place] == value for place, value in self.known)


def patterns_of(
    instance: Instance,
    params: Iterable[core.Binder],
    parts: Iterable[core.Term],
    changing: frozenset[str],
) -> tuple[Pattern, ...]:
    """The patterns of the parts of a condition that read facts which play does not change."""
    numbers = {binder.name: number for number, binder in enumerate(params)}
    maker = _Maker(instance, numbers, changing)
    return tuple(dict.fromkeys(made for part in parts if (made := maker.made(part)) is not None))


@frozen
class _Maker:
    instance: Instance
    numbers: Mapping[str, int]
    changing: frozenset[str]

    def made(self, part: core.Term) -> Pattern | None:
        """The pattern of one part; ``None`` where it says nothing that a join could use."""
        match part:
            case core.Read(type=BoolType()) if self._static(part):
                return self._pattern(part, part.args, valued=False)
            case core.Call("==", (core.Read() as read, other)) if self._one_object(read):
                return self._pattern(read, (*read.args, other), valued=True)
            case core.Call("==", (other, core.Read() as read)) if self._one_object(read):
                return self._pattern(read, (*read.args, other), valued=True)
            case _:
                return None

    def _static(self, read: core.Read) -> bool:
        fluent = self.instance.program.fluents[read.fluent]
        lacking = isinstance(fluent.default, BoolLiteral) and fluent.default.value
        return not read.was and read.fluent not in self.changing and not lacking

    def _one_object(self, read: core.Read) -> bool:
        """Functions and attributes of one object: each object has a row."""
        fluent = self.instance.program.fluents[read.fluent]
        return (
            not read.was
            and read.fluent not in self.changing
            and len(fluent.params) == 1
            and isinstance(fluent.params[0].type, ObjectType)
        )

    def _pattern(
        self, read: core.Read, terms: tuple[core.Term, ...], *, valued: bool
    ) -> Pattern | None:
        places: list[int | None] = []
        known: list[tuple[int, Raw]] = []
        for place, term in enumerate(terms):
            number = self.numbers.get(term.name) if isinstance(term, core.Variable) else None
            places.append(number)
            if number is None:
                known.extend(self._constant(place, term))
        if all(number is None for number in places):
            return None
        return Pattern(read.fluent, tuple(places), tuple(known), valued)

    def _constant(self, place: int, term: core.Term) -> Iterator[tuple[int, Raw]]:
        try:
            yield place, known_value(term, self.instance.numbers, self.instance.params)
        except (NotConstant, KeyError):  # it depends on the state, or names a cell of a layout
            return


# ---- joining ----------------------------------------------------------------------------------


def joined(
    domains: Sequence[Sequence[Raw]], patterns: Sequence[Pattern], rows: Rows, most: int
) -> list[tuple[Raw, ...]] | None:
    """All bindings for which every pattern has a row, in the order of the product of ``domains``.

    ``None`` where there are more than ``most``, or too many have to be looked at.
    """
    orders = [_Order(domain) for domain in domains]
    tables = [_table(pattern, rows(pattern), orders) for pattern in patterns]
    found: list[tuple[Raw, ...]] = [()]
    bound: tuple[int, ...] = ()
    while tables:
        table = min(tables, key=lambda one: (-one.shared(bound), len(one.rows)))
        tables.remove(table)
        extended = table.extend(found, bound, most * _SPARE)
        if extended is None:
            return None
        found, bound = extended, (*bound, *table.new(bound))
    return _completed(domains, orders, found, bound, most)


class _Order:
    """The position of each value of a domain."""

    def __init__(self, domain: Sequence[Raw]) -> None:
        self._range = domain if isinstance(domain, range) else None
        self._places = {} if self._range is not None else {v: n for n, v in enumerate(domain)}

    def place(self, value: Raw) -> int | None:
        if self._range is None:
            return self._places.get(value)
        if isinstance(value, int) and value in self._range:
            return self._range.index(value)
        return None


@frozen
class _Table:
    """The rows of a pattern as bindings of its ``params``, without duplicates."""

    params: tuple[int, ...]
    rows: tuple[tuple[Raw, ...], ...]

    def shared(self, bound: tuple[int, ...]) -> int:
        return sum(1 for param in self.params if param in bound)

    def new(self, bound: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(param for param in self.params if param not in bound)

    def extend(
        self, found: list[tuple[Raw, ...]], bound: tuple[int, ...], most: int
    ) -> list[tuple[Raw, ...]] | None:
        """Every binding so far with every row that agrees with it; ``None`` for too many."""
        common = [param for param in self.params if param in bound]
        mine = [self.params.index(param) for param in common]
        theirs = [bound.index(param) for param in common]
        rest = [place for place, param in enumerate(self.params) if param not in bound]
        index: dict[tuple[Raw, ...], list[tuple[Raw, ...]]] = {}
        for row in self.rows:
            key = tuple(row[place] for place in mine)
            index.setdefault(key, []).append(tuple(row[place] for place in rest))
        extended: list[tuple[Raw, ...]] = []
        for one in found:
            more = index.get(tuple(one[place] for place in theirs), ())
            if len(extended) + len(more) > most:
                return None
            extended.extend((*one, *values) for values in more)
        return extended


def _table(pattern: Pattern, rows: Iterable[tuple[Raw, ...]], orders: list[_Order]) -> _Table:
    first: dict[int, int] = {}
    same: list[tuple[int, int]] = []
    for place, param in enumerate(pattern.places):
        if param is not None and first.setdefault(param, place) != place:
            same.append((first[param], place))
    kept = dict.fromkeys(
        tuple(row[place] for place in first.values())
        for row in rows
        if pattern.matches(row)
        and all(row[one] == row[other] for one, other in same)
        and all(orders[param].place(row[place]) is not None for param, place in first.items())
    )
    return _Table(tuple(first), tuple(kept))


def _completed(
    domains: Sequence[Sequence[Raw]],
    orders: list[_Order],
    found: list[tuple[Raw, ...]],
    bound: tuple[int, ...],
    most: int,
) -> list[tuple[Raw, ...]] | None:
    """The bindings with all values of the parameters that occur in no pattern, in order."""
    free = [number for number in range(len(domains)) if number not in bound]
    if len(found) * count_bindings(domains[number] for number in free) > most:
        return None
    places = {param: place for place, param in enumerate((*bound, *free))}
    order = [places[number] for number in range(len(domains))]
    rest = list(product(*(domains[number] for number in free)))
    whole = ((*one, *more) for one in found for more in rest)
    made = [tuple(one[place] for place in order) for one in whole]
    made.sort(key=lambda one: [orders[n].place(value) or 0 for n, value in enumerate(one)])
    return made
