"""The end of a round: the order of the laws, and the invariants tested at every commit.

Sequential phases, invariants and conserved sums are those of language.md §7.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product
from typing import Any

from tokenworld.core import Footprint
from tokenworld.core.nodes import Binder
from tokenworld.core.rules import Conserve, Invariant, Law
from tokenworld.engine.changes import Breach, BreachReport, RawChange
from tokenworld.engine.rows.code.program import Program
from tokenworld.engine.rows.code.quick import sums_written
from tokenworld.engine.rows.commit import commit
from tokenworld.engine.rows.layout import KINDS, LATCHED, NAMES, Slots, Store
from tokenworld.engine.rows.log import Log, Row
from tokenworld.engine.rows.record import Broken
from tokenworld.ground import Raw
from tokenworld.model import ObjectType

Args = tuple[Raw, ...]
Turn = tuple[Law, Callable[..., None]]
Test = Callable[..., Any]
"""A condition as a function of the row, that of the start of the tick, who acts, and an object."""
Group = tuple[Test | None, Raw, list[tuple[Turn, Args]]]
"""Turns that follow each other: none is due if a test of an object is false before the first."""
Domain = Callable[[Row, Binder], Sequence[Any]]
"""The values of a parameter in a row."""


MOST_ORDERS = 256
"""Orders that are kept, each of up to `MOST_TURNS` bindings."""
MOST_TURNS = 2000


class Order:
    """The bindings of the laws of one phase, kept while nobody comes, goes or moves.

    ``turns`` are the laws, each with the function that carries out one binding of it; ``nesting``:
    objects come in the order in which they lie in each other. ``tests``: the conditions of laws, by
    name, that no law of the phase changes; ``firsts``: those that laws have first, about their
    first object.
    """

    def __init__(
        self, turns: Sequence[Turn], domain: Domain, slots: Slots, *, nesting: bool,
        tests: Mapping[str, Test], firsts: Mapping[str, Test],
    ) -> None:  # fmt: skip
        self._turns, self._domain, self.nesting = turns, domain, nesting
        self._tests, self._firsts = tests, firsts
        kinds = [one.type for law, _ in turns for one in law.params]
        names = {one.name for one in kinds if isinstance(one, ObjectType)} & slots.moving
        self._lists = [KINDS] if nesting else [slots.live[one] for one in sorted(names)]
        self._basis: tuple[Any, ...] | None = None
        self._known: list[tuple[Turn, Args]] = []
        self._orders: dict[tuple[Any, ...], list[tuple[Turn, Args]]] = {}
        self._listed = self._known
        self._due: dict[tuple[str, ...], list[Group]] = {}

    def due(self, row: Row, start: list[Any], me: int | None) -> list[Group]:
        """The bindings of all laws but those of which a test is false from the beginning."""
        known, S = self.bindings(row), row.S
        tests = self._tests.items()
        idle = tuple([name for name, test in tests if not may_hold(test, S, start, me)])
        if self._listed is not known or len(self._due) > MOST_ORDERS:
            self._listed, self._due = known, {}
        found = self._due.get(idle)
        if found is None:
            left = (one for one in known if one[0][0].name not in idle)
            found = self._due[idle] = list(self._grouped(left))
        return found

    def _grouped(self, turns: Iterable[tuple[Turn, Args]]) -> Iterator[Group]:
        """Turns that follow each other, by the test that is first for all of them."""
        for (test, x), group in groupby(turns, key=self._first):
            listed = list(group)
            yield (test if len(listed) > 1 else None), x, listed

    def _first(self, one: tuple[Turn, Args]) -> tuple[Test | None, Raw]:
        """The test of a turn that a group shares, and the object that it is about."""
        (law, _), args = one
        test = self._firsts.get(law.name)
        return test, None if test is None else args[0]

    def bindings(self, row: Row) -> list[tuple[Turn, Args]]:
        """Bindings without objects first, by law; then by the place of the first object."""
        S = row.S
        basis = tuple([S[slot] for slot in self._lists])
        if self.nesting:
            basis += tuple(self._places(row))
        if basis != self._basis:
            self._basis, self._known = basis, self._order(row, basis)
        return self._known

    def _order(self, row: Row, basis: tuple[Any, ...]) -> list[tuple[Turn, Args]]:
        """The same, cached by the contents of objects (``basis``), to which rows return."""
        found = self._orders.get(basis)
        if found is None:
            if len(self._orders) >= MOST_ORDERS:
                self._orders.clear()
            found = self._sorted(row)
            if len(found) <= MOST_TURNS:
                self._orders[basis] = found
        return found

    def _places(self, row: Row) -> list[Any]:
        """The values of the slots that define containment."""
        S, stores = row.S, _nested(row)
        return [S[at] for one in stores if one.live for at in one.kids or one.table]

    def _sorted(self, row: Row) -> list[tuple[Turn, Args]]:
        order = _preorder(row) if self.nesting else ()
        place: dict[Any, int] = {number: at for at, number in enumerate(order)}
        found = defaultdict[int, list[tuple[Turn, Args]]](list)
        for turn in self._turns:
            law, domains = turn[0], []
            for binder in law.params:
                values = self._domain(row, binder)
                if isinstance(binder.type, ObjectType) and self.nesting:
                    values = sorted(values, key=lambda one: place[one])
                domains.append(values)
            thing = bool(law.params) and isinstance(law.params[0].type, ObjectType)
            for args in product(*domains):
                first = place.get(args[0], args[0]) if thing else -1
                found[first].append((turn, args))
        return [one for first in sorted(found) for one in found[first]]


def may_hold(test: Test, *given: Any) -> bool:
    """Return whether a condition holds or has no value, which a turn reports."""
    try:
        return bool(test(*given))
    except Breach:
        return True


def are_alive(kinds: Sequence[str | None], law: Law, args: Args) -> bool:
    """Return whether no object among the arguments of a law was destroyed."""
    for binder, arg in zip(law.params, args, strict=True):
        if binder.type.kind == "object" and kinds[arg] is None:  # type: ignore[index]
            return False
    return True


def _nested(row: Row) -> list[Store]:
    """The attributes that hold the container of an object."""
    return [one for one in row.slots.stores if one.column.fluent.nested and one.column.by_object]


def _preorder(row: Row) -> list[int]:
    """Containers before their contents; roots by number."""
    S = row.S
    alive = [at for at, kind in enumerate(S[KINDS]) if kind is not None]
    rows = [(one, S if one.live else row.slots.static) for one in _nested(row)]
    inside: dict[int, list[int]] = {}
    for store, held in rows:
        if store.kids is not None:
            for number in alive:
                inside.setdefault(number, []).extend(held[store.kids[number]] or ())
        else:
            for number in alive:
                if held[store.table[number]] is not None:
                    inside.setdefault(held[store.table[number]], []).append(number)
    found: dict[int, None] = {}
    todo = [x for x in alive[::-1] if all(held[one.table[x]] is None for one, held in rows)]
    while todo:
        number = todo.pop()
        if number not in found:
            found[number] = None
            todo += inside.get(number, ())[::-1]
    return [*found, *(number for number in alive if number not in found)]


# ---- what must hold ------------------------------------------------------------------------------


class Guards:
    """The invariants and conserved sums of one program."""

    def __init__(self, code: Program) -> None:
        self._code = code
        self._invariants, self._conserves = code.rules.invariants, code.rules.conserves
        self.sums_look_back = any(one.footprint.looks_back for one in self._conserves.values())
        self.sums = sums_written(code.rules)
        self._exempt = {
            name: frozenset(f"{kind} {one}" for one in rule.exempt for kind in ("action", "law"))
            for name, rule in self._conserves.items()
        }

    # ---- invariants ---------------------------------------------------------------------------

    def check_invariants(
        self,
        row: Row,
        start: list[Any],
        mark: int | None,
        made: Sequence[RawChange],
        me: int | None,
    ) -> None:
        """Raise `Broken` for the first invariant broken by the writes since a mark; without a mark,
        check all."""
        if not self._invariants:
            return
        touched = None if mark is None else self._touched(row, mark)
        for name, rule in self._invariants.items():
            if touched is not None and not _rests_on(rule.footprint, touched):
                continue
            witness = self._code["invariant", name](row.S, start, me)
            if witness:
                raise Broken(self._invariant(row, rule, witness[0], made), made, row.S[NAMES])

    def broken(self, row: Row, me: int | None) -> Iterator[BreachReport]:
        """Every invariant that a row breaks, each with its first witness."""
        for name, rule in self._invariants.items():
            witness = self._code["invariant", name](row.S, row.S, me)
            if witness:
                yield self._invariant(row, rule, witness[0], ())

    def sums_of(self, row: Row, was: list[Any], me: int | None) -> list[Any]:
        """The conserved sums of a row; ``was`` is that of the start of the tick."""
        return [self._code["conserve", name](row.S, was, me) for name in self._conserves]

    def _touched(self, row: Row, mark: int) -> frozenset[str] | None:
        """The fluents written since a mark; ``None`` if objects were created or destroyed."""
        slots = row.J[mark::2]
        if KINDS in slots:
            return None
        owners = (row.slots.owner[slot] for slot in slots)
        return frozenset(one.column.fluent.id for one in owners if one is not None)

    def _invariant(
        self, row: Row, rule: Invariant, witness: tuple[Any, ...], made: Sequence[RawChange]
    ) -> BreachReport:
        names = row.S[NAMES]
        shown = tuple(
            names[value] if binder.type.kind == "object" else str(value)
            for binder, value in zip(rule.params, witness, strict=True)
        )
        what = f"The invariant `{rule.name}` would be broken: `{rule.source}`."
        return BreachReport(
            "TW1001", "invariant", what, rule.name, str(rule.span), shown, _culprits(made)
        )

    # ---- conserved sums -----------------------------------------------------------------------

    def commit(self, row: Row, log: Log, me: int | None) -> None:
        """Write the changes of a log. Raises `Broken` if that changes a conserved sum."""
        rules = list(self._may_change(log))
        if not rules:
            commit(row, log)
            return
        mark, was = row.mark, row.copy() if self.sums_look_back else row.S
        before = [self._code["conserve", one.name](row.S, was, me) for one in rules]
        commit(row, log)
        for rule, first in zip(rules, before, strict=True):
            last = self._alone(rule, row, log, mark, was, me)
            if first != last:
                made = log.changes or []
                raise Broken(self._conserve(rule, made, first, last), made, row.S[NAMES])

    def _may_change(self, log: Log) -> Iterator[Conserve]:
        """The sums that the rules of a log may change."""
        every = bool(log.births or log.doomed or self.sums_look_back)
        rules = {one[3] for one in log.writes} if self.sums else ()
        for name, writers in self.sums.items():
            if every or not writers.isdisjoint(rules):
                yield self._conserves[name]

    def _alone(
        self, rule: Conserve, row: Row, log: Log, mark: int, was: list[Any], me: int | None
    ) -> Any:
        """The sum after the changes of those rules that may not change it."""
        value, exempt = self._code["conserve", rule.name], self._exempt[rule.name]
        asked = {title for *_, title in log.writes} | {title for _, title in log.doomed}
        asked |= {one.rule for one in log.births}
        if not asked & exempt:
            return value(row.S, was, me)
        again, changes, log.changes = row.redo(mark), log.changes, None
        commit(row, log, exempt)
        found = value(row.S, was, me)
        row.undo(mark)
        again()
        log.changes = changes
        return found

    def _conserve(
        self, rule: Conserve, made: Sequence[RawChange], first: Any, last: Any
    ) -> BreachReport:
        what = f"`{rule.name}` is conserved, and would go from {first} to {last}: `{rule.source}`."
        return BreachReport(
            "TW1002", "conserve", what, rule.name, str(rule.span), (), _culprits(made), first, last
        )


def _rests_on(rule: Footprint, fluents: frozenset[str] | set[str]) -> bool:
    """Return whether a change of these fluents may change the result of a rule."""
    return bool((rule.reads | rule.was) & fluents or rule.asks - {"id"})


def _culprits(made: Sequence[RawChange]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(title for *_, title in made))


# ---- Endings -------------------------------------------------------------------------------------
# The endings that rows have reached, and whether these win or lose (language.md §8, step 11).


class Goals:
    """The endings of one world; ``me`` is their actor."""

    def __init__(self, code: Program, me: int | None) -> None:
        self._code, self._me = code, me
        self._world = code.slots.instance.world
        self._live = self._world.outcomes == "live"
        lines = code.world.endings
        self._names = tuple(one.name for one in lines)
        self._goals = tuple(one.name for one in lines if one.ending == "goal")
        self._losses = tuple(one.name for one in lines if one.ending == "lose")

    def over(self, S: list[Any]) -> bool:
        """Return whether later intents are halted."""
        return bool(S[LATCHED]) and not self._world.endless

    def reached(self, S: list[Any]) -> tuple[str, ...]:
        """The latched endings; with ``outcomes live`` the one that is true now."""
        if not self._live:
            found: tuple[str, ...] = S[LATCHED]
            return found
        self._code.slots.epoch += 1
        for at, name in enumerate(self._names):
            if self._code["ending", str(at)](S, S, self._me):
                return (name,)
        return ()

    def won(self, S: list[Any], goal: str | None) -> bool:
        """Return whether a goal line (this one) is the ending of a row.

        The first ending counts; in an endless world every line latches on its own, and a goal
        counts if no loss came before it.
        """
        goals, reached = self._goals if goal is None else (goal,), self.reached(S)
        if self._world.endless and not self._live:
            return any(name in reached for name in goals) and not self.lost(S)
        return reached[:1] != () and reached[0] in goals

    def lost(self, S: list[Any]) -> bool:
        """Return whether no plan continues from here: after a loss, or an end that is no goal."""
        reached = self.reached(S)
        if self._world.endless or self._live:
            return any(name in reached for name in self._losses)
        return reached != () and reached[0] not in self._goals
