"""Templates for the new value of a slot: a value, another slot's value, more or less, a table, …"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product

from tokenworld.verbs.learn.propose.scenes import (
    LABEL,
    MISSING,
    Fluent,
    Missing,
    Value,
)
from tokenworld.verbs.learn.propose.terms import Language, Table, Term

EVENTS = ("create", "destroy")
"""Names used in place of a fluent for the creation and destruction of objects."""
_DELTAS = 6
"""The commonest differences of a number that are tried."""
_JOINED = 9
"""Templates of each of several slots that are combined with those of the others."""
_COMBINED = 1_000
"""Combinations of them that are tried."""
_CONSTANTS = 12
"""The commonest new values that are tried."""


@dataclass(frozen=True, slots=True)
class Template:
    """A new value. ``op`` is ``value``, ``term``, ``shift`` (a term and a number), ``plus`` (the
    sum of two terms), ``not``, ``name`` (the recorded name of an object), ``table`` (looked up by
    a term), or ``any`` (drawn from the objects of the type ``value``)."""

    op: str
    term: Term | None = None
    value: Value = None
    other: Term | None = None
    rows: tuple[tuple[Value, Value], ...] = ()
    cost: float = 1.0
    parts: tuple[Template, ...] = ()
    """For ``both``: the templates of several slots that change together."""

    def column(self, table: Table) -> Sequence[Value | Missing]:
        """Return the new value for each instance."""
        if self.op == "value":
            return [self.value] * len(table)
        if self.op == "any":  # it has no single value
            return [MISSING] * len(table)
        if self.op == "both":
            columns = [one.column(table) for one in self.parts]
            return [_row(row) for row in zip(*columns, strict=True)]
        assert self.term is not None
        found = table.column(self.term)
        if self.op == "term":
            return found
        if self.op == "not":
            return [not one if isinstance(one, bool) else MISSING for one in found]
        if self.op == "shift":
            return [_sum(one, self.value) for one in found]
        if self.op == "plus":
            assert self.other is not None
            return [_sum(*pair) for pair in zip(found, table.column(self.other), strict=True)]
        if self.op == "name":
            return [
                scene.names.get(one, MISSING) if isinstance(one, int) else MISSING
                for scene, one in zip(table.scenes, found, strict=True)
            ]
        if self.op == "table":
            known: dict[object, Value] = dict(self.rows)
            return [known.get(one, MISSING) for one in found]
        raise ValueError(self.op)

    def fluents(self) -> frozenset[str]:
        """Return the fluents that it reads."""
        terms = [one for one in (self.term, self.other) if one is not None]
        own = frozenset(name for one in terms for name in one.path)
        return own.union(*(one.fluents() for one in self.parts))

    def variables(self) -> frozenset[str]:
        """Return the variables that it names."""
        terms = [one for one in (self.term, self.other) if one is not None]
        own = frozenset(name for one in terms for name in (one.base, *one.args) if name)
        return own.union(*(one.variables() for one in self.parts))


def _row(row: tuple[Value | Missing, ...]) -> Value | Missing:
    """Return the values of several slots; missing if one is missing."""
    plain = tuple(one for one in row if not isinstance(one, (Missing, tuple)))
    return plain if len(plain) == len(row) else MISSING


def _sum(one: Value | Missing, other: Value | Missing) -> Value | Missing:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return round(one + other, 6)
    return MISSING


def templates(
    fluent: Fluent, slot: Term | None, language: Language, table: Table,
    changes: Sequence[tuple[int, Value]],
) -> list[Template]:  # fmt: skip
    """Return the templates for a fluent. ``slot`` is the term of its old value; ``changes`` are the
    instances that changed with their new values."""
    found = list(dict.fromkeys(_every(fluent, slot, language, table, changes)))
    return found


def _every(
    fluent: Fluent, slot: Term | None, language: Language, table: Table,
    changes: Sequence[tuple[int, Value]],
) -> Iterator[Template]:  # fmt: skip
    news = Counter(new for _, new in changes)
    if fluent.name in EVENTS or fluent.name in language.vocabulary.endings:
        yield Template("value", value=True, cost=1.0)
        return
    if fluent.kind == "object":
        for term in language.objects:
            yield Template("term", term, cost=1.0 + term.cost)
        for term in language.values:
            if term.kind == "object":
                yield Template("term", term, cost=1.5 + term.cost)
        if None in news:
            yield Template("value", value=None, cost=1.0)
        yield from (Template("any", value=one, cost=2.0) for one in _sorts(language))
        for number in language.vocabulary.constants:
            if number in news:
                yield Template("value", value=number, cost=2.5)
        return
    if fluent.kind == "bool":
        yield from (Template("value", value=one, cost=1.0) for one in (True, False) if one in news)
        yield from (Template("term", one, cost=2.0 + one.cost) for one in language.values
                    if one.kind == "bool" and one != slot)  # fmt: skip
        if slot is not None:
            yield Template("not", slot, cost=1.5)
        return
    plain = 1.4 if slot is not None else 1.0
    yield from (
        Template("value", value=one, cost=1.0 if one is None else plain)
        for one, _ in news.most_common(_CONSTANTS)
    )
    same = [one for one in language.values if _alike(one, fluent) and one != slot]
    yield from (Template("term", one, cost=1.5 + one.cost) for one in same)
    if fluent.kind in ("int", "real"):
        yield from _numbers(slot, same, table, changes)
    if fluent.kind == "text" and fluent.name != LABEL:
        yield from (Template("name", one, cost=1.5 + one.cost) for one in language.objects)
    yield from _tables(fluent, language, table, changes)


def _sorts(language: Language) -> Iterator[str]:
    """Yield the types whose objects may be drawn."""
    yield from (*language.vocabulary.types, *language.vocabulary.groups)


def together(
    fluents: Sequence[Fluent], slots: Sequence[Term], language: Language, table: Table,
    changes: Sequence[tuple[int, Value]],
) -> list[Template]:  # fmt: skip
    """Templates for several slots that change together: the most fitting ones of each, combined."""
    columns: list[list[Template]] = []
    for at, (fluent, slot) in enumerate(zip(fluents, slots, strict=True)):
        own: list[tuple[int, Value]] = [
            (where, new[at]) for where, new in changes if isinstance(new, tuple)
        ]
        fitting = []
        for one in templates(fluent, slot, language, table, own):
            values = one.column(table)
            fits = sum(values[where] == new for where, new in own)
            if fits:
                fitting.append((fits - one.cost, one))
        fitting.sort(key=lambda pair: -pair[0])
        columns.append([one for _, one in fitting[:_JOINED]])
    return [
        Template("both", cost=sum(one.cost for one in parts), parts=parts)
        for parts in islice(product(*columns), _COMBINED)
    ]


def _alike(term: Term, fluent: Fluent) -> bool:
    numbers = ("int", "real")
    if fluent.kind in numbers:
        same = term.kind == fluent.kind or (term.kind in numbers and fluent.kind == "real")
        return same and term.of == fluent.of
    return term.kind == fluent.kind and term.of == fluent.of


def _numbers(
    slot: Term | None, same: Iterable[Term], table: Table, changes: Sequence[tuple[int, Value]]
) -> Iterator[Template]:
    """Yield templates for more or less than the old value, or than another one."""
    bases = [slot] if slot is not None else []
    for term in [*bases, *same]:
        column = table.column(term)
        deltas: Counter[float] = Counter()
        for at, new in changes:
            old = column[at]
            if isinstance(old, (int, float)) and isinstance(new, (int, float)):
                deltas[round(new - old, 6)] += 1
        deltas.pop(0, None)
        own = term == slot
        for delta, _ in deltas.most_common(_DELTAS if own else 2):
            step = int(delta) if delta == int(delta) else delta
            yield Template("shift", term, step, cost=_shift(step, own) + term.cost)
    if slot is not None:
        yield from (Template("plus", slot, other=one, cost=2.5 + one.cost) for one in same)


def _shift(step: float, own: bool) -> float:
    """Return the cost of a difference: least for a slot that is counted up or down by one."""
    if not own:
        return 3.0
    return 1.3 if abs(step) == 1 else 1.5


def _tables(
    fluent: Fluent, language: Language, table: Table, changes: Sequence[tuple[int, Value]]
) -> Iterator[Template]:
    """Yield tables from a word or small number to a value, where that is always the same."""
    for term in language.values:
        if term.kind not in ("enum", "text") and not (term.kind == "int" and not term.path):
            continue
        column = table.column(term)
        known: dict[Value, Value] = {}
        fits = True
        for at, new in changes:
            key = column[at]
            if isinstance(key, Missing) or key is None or known.setdefault(key, new) != new:
                fits = False
            if not fits:
                break
        if fits and 1 < len(known) <= 24 and len(set(known.values())) > 1:
            rows = tuple(sorted(known.items(), key=str))
            yield Template("table", term, rows=rows, cost=2.0 + 1.0 * len(rows) + term.cost)
