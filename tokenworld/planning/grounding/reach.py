"""Relaxed reachability: the rules of a program run from the facts of the start state.

Semi-naive evaluation: each new tuple is joined once with the tuples before it. The result contains
every ground action and law that play can reach, and may contain more: facts are never deleted, so
negative conditions on facts that play changes are ignored, and a number may have any value between
the least and the greatest reached so far.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isnan
from typing import Any

from tokenworld.diagnostics import Span as Place
from tokenworld.ground import Command, Raw, count_bindings, parameter_domains
from tokenworld.model import BoolType, CompareOp, Fluent, NumberType
from tokenworld.planning.grounding.joins import Implied, Written, written
from tokenworld.planning.grounding.program import Relaxed, relaxed
from tokenworld.planning.grounding.rules import Atom, Source, Ungroundable, is_measured, is_numeric
from tokenworld.planning.lower.facts import Facts

# ---- Ranges of numbers --------------------------------------------------------------------------
# A range is a pair ``(low, high)``, both included; minus and plus infinity mean no bound.

Span = tuple[float, float]


def added(left: Span, right: Span) -> Span:
    return left[0] + right[0], left[1] + right[1]


def subtracted(left: Span, right: Span) -> Span:
    return left[0] - right[1], left[1] - right[0]


def multiplied(left: Span, right: Span) -> Span:
    ends = [0 if isnan(one := a * b) else one for a in left for b in right]
    return min(ends), max(ends)


def lesser(left: Span, right: Span) -> Span:
    return min(left[0], right[0]), min(left[1], right[1])


def greater(left: Span, right: Span) -> Span:
    return max(left[0], right[0]), max(left[1], right[1])


def within(span: Span, low: float | None, high: float | None, *, clamped: bool) -> Span | None:
    """The part of a range that a slot with these bounds can store; ``None`` for nothing."""
    bottom, top = -inf if low is None else low, inf if high is None else high
    if clamped:
        return min(max(span[0], bottom), top), max(min(span[1], top), bottom)
    kept = max(span[0], bottom), min(span[1], top)
    return kept if kept[0] <= kept[1] else None


def compares(op: CompareOp, left: Span, right: Span) -> bool:
    """Return whether some number of the one compares so with some number of the other."""
    match op:
        case "<":
            return left[0] < right[1]
        case "<=":
            return left[0] <= right[1]
        case ">":
            return left[1] > right[0]
        case ">=":
            return left[1] >= right[0]
        case "==":
            return left[0] <= right[1] and right[0] <= left[1]
        case "!=":
            return not (left[0] == left[1] == right[0] == right[1])


# ---- The tuples of the start state --------------------------------------------------------------
# What each relation holds before any rule is applied.

_MOST_SLOTS = 2_000_000
"""The largest number of slots whose first values are listed."""
Rows = Iterable[tuple[Raw, ...]]


def rows(facts: Facts, name: str, listed: dict[str, tuple[Raw, ...]]) -> Rows:
    """The tuples of a fluent, or of a type or another list of single values."""
    if name.startswith(":"):
        if name in listed:
            return [(value,) for value in listed[name]]
        return [(number,) for number in facts.objects(name[1:])]
    fluent = facts.program.fluents.get(name)
    return () if fluent is None or is_measured(fluent.type) else _tuples(facts, fluent)


def _tuples(facts: Facts, fluent: Fluent) -> Iterator[tuple[Raw, ...]]:
    _few_enough(facts, fluent)
    for args, value in facts.held(fluent):
        for found in (args, args[::-1]) if fluent.symmetric else (args,):
            yield found if isinstance(fluent.type, BoolType) else (*found, value)


def measured(facts: Facts, fluent: Fluent) -> dict[tuple[Raw, ...], Span]:
    """The ranges of a numeric fluent: from the least value that a slot may hold to the greatest."""
    found: dict[tuple[Raw, ...], Span] = {}
    if not is_numeric(fluent.type):
        return found
    _few_enough(facts, fluent)
    for args, value in facts.held(fluent):
        if isinstance(value, (int, float)):
            for one in (args, args[::-1]) if fluent.symmetric else (args,):
                low, high = found.get(one, (inf, -inf))
                found[one] = min(low, value), max(high, value)
    return found


def _few_enough(facts: Facts, fluent: Fluent) -> None:
    if facts.lists(fluent):
        return
    number = count_bindings(facts.arguments(fluent))
    if number > _MOST_SLOTS:
        raise Ungroundable(f"`{fluent.name}` with {number:,} slots", fluent.span)


# ---- The fixpoint -------------------------------------------------------------------------------

MOST = 5_000_000
"""More ground rules than these are not looked for."""
_MOST_IN_PLANS = 1_000_000
_FEW = 200
"""In a world with fewer bindings than this, testing each one is as fast."""
_PATIENCE = 8
"""So often the range of a slot grows bit by bit; then it is as wide as its type."""
Tuple = tuple[Raw, ...]
Ranges = Mapping[str, Mapping[Tuple, Span]]
"""The range of each slot of the numeric fluents."""


@dataclass(frozen=True)
class Reached:
    """All reachable bindings and facts of the relaxation. ``known`` are the tuples of the relations
    that rules add to, in the order of discovery; ``bindings`` those of each action and law."""

    relaxed: Relaxed
    known: Mapping[str, Mapping[Tuple, None]]
    ranges: Ranges

    def bindings(self, title: str) -> Mapping[Tuple, None]:
        """The arguments with which an action (``action name``) or law can be met."""
        return self.known[f"!{title}"]

    @property
    def loose(self) -> tuple[tuple[str, Place], ...]:
        """The conditions assumed to hold because no join can judge them, each with its place."""
        return self.relaxed.loose

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The ground actions by dense number: in the order of the program, then of arguments."""
        program = self.relaxed.context.program
        return tuple(
            Command(name, args)
            for name in program.actions
            for args in sorted(self.bindings(f"action {name}"), key=rank)
        )

    @cached_property
    def facts(self) -> dict[tuple[str, Tuple], int]:
        """The facts that may become true, by dense number: those of each changing fluent that holds
        tuples, its value last if it is no fact."""
        program = self.relaxed.context.program
        every = (
            (name, one)
            for name in program.fluents
            for one in sorted(self.known.get(name, ()), key=rank)
        )
        return {fact: number for number, fact in enumerate(every)}


def rank(args: Tuple) -> tuple[tuple[bool, Any], ...]:
    """The sort key of arguments in the order of a product of domains: `none` comes last."""
    return tuple((one is None, 0 if one is None else one) for one in args)


def reached(facts: Facts, most: int = MOST) -> Reached:
    """Compute the reachable bindings from a start state; raises `Ungroundable` if they are too
    many, or if a rule creates objects."""
    return _Reaching(facts, relaxed(facts.instance), most).run()


def reach_of(facts: Facts, *, always: bool = False) -> Reached | None:
    """The reachable bindings of a world with many bindings (of any world, with ``always``), cached;
    ``None`` if testing each binding is quicker, or if they are unknown."""
    program = facts.program
    params = [one.params for one in program.actions.values()]
    params += [one.params for one in program.laws.values()]
    domains = (parameter_domains(facts.instance, one) for one in params)
    if not always and sum(map(count_bindings, domains)) < _FEW:
        return None
    if facts.reach is None:
        try:
            facts.reach = (reached(facts, _MOST_IN_PLANS),)
        except Ungroundable:
            facts.reach = (None,)
    found = facts.reach[0]
    assert found is None or isinstance(found, Reached)
    return found


class _Reaching:
    def __init__(self, facts: Facts, program: Relaxed, most: int) -> None:
        self._facts, self._relaxed, self._most = facts, program, most
        self._ranges: dict[str, dict[Tuple, Span]] = {}
        self._growth: dict[tuple[str, Tuple], int] = {}
        self._queue: list[tuple[int, Tuple]] = []
        self._known: dict[int, dict[Tuple, None]] = {}
        self._undone: dict[str, dict[Tuple, None]] = {}

    def run(self) -> Reached:
        sources = list(self._relaxed.sources.values())
        growing = frozenset(self._growing(sources))
        fixed = frozenset(self._fixed(sources, growing))
        implied = Implied(self._relaxed.context)
        made = written(
            [implied.source(one) for one in sources],
            [implied.rule(one) for one in self._relaxed.rules],
            growing,
            fixed,
        )
        space = self._space(made)
        exec(compile(made.text, "<joins>", "exec"), space)
        self._begin(made, space, growing)
        self._until_nothing_is_new(made, space, [f"!{one.name}" for one in sources])
        names = {number: name for name, number in made.joins.numbers.items()}
        known = {names[number]: found for number, found in self._known.items()}
        for one in sources:
            known.setdefault(f"!{one.name}", {})
        known |= self._undone
        return Reached(self._relaxed, known, self._ranges)

    # ---- relations ----------------------------------------------------------------------------

    def _growing(self, sources: list[Source]) -> Iterator[str]:
        """The relations that rules add to."""
        for source in sources:
            yield f"!{source.name}"
            yield from (atom.relation for atom in source.always)
        for rule in self._relaxed.rules:
            head = rule.head
            yield head.relation if isinstance(head, Atom) else f"#{head.fluent}"

    def _fixed(self, sources: list[Source], growing: frozenset[str]) -> Iterator[str]:
        """The relations that never change: types, lists, and the fluents that play leaves alone."""
        changing = self._facts.changing
        for name in self._facts.program.fluents:
            if name not in growing and name not in changing:
                yield from (name, f"#{name}")
        for relation in self._read(sources):
            if relation.startswith(":"):
                yield relation

    def _read(self, sources: list[Source]) -> Iterator[str]:
        ways = [way for source in sources for way in source.ways]
        for body in (*ways, *(rule.body for rule in self._relaxed.rules)):
            yield from (one.relation for one in body if isinstance(one, Atom))

    # ---- running ------------------------------------------------------------------------------

    def _space(self, made: Written) -> dict[str, Any]:
        functions = (added, compares, greater, lesser, multiplied, subtracted)
        space: dict[str, Any] = {one.__name__: one for one in functions}
        space |= {"queue": self._queue.append, "widen": self._widen, "ranges": self._ranges}
        for number in made.joins.numbers.values():
            self._known[number] = {}
            space[f"K{number}"] = self._known[number]
            space[f"R{number}"] = {}  # goes through in the order of filing
            space[f"V{number}"] = set()
            for known in made.joins.indexes.get(number, ()):
                space[f"I{number}_{'_'.join(map(str, known))}"] = defaultdict(list)
        return space

    def _begin(self, made: Written, space: dict[str, Any], growing: frozenset[str]) -> None:
        """Store the tuples that never change; queue the others."""
        program, listed = self._facts.program, self._relaxed.context.ranges
        for fluent in program.fluents.values():
            self._ranges[fluent.id] = measured(self._facts, fluent)
        sizes: dict[str, int] = {}
        for name, number in made.joins.numbers.items():
            held = self._first(name, listed)
            sizes[name] = len(held)
            if name in growing:
                self._known[number].update(held)
                self._queue += [(number, one) for one in held]
            else:
                file = space[f"file{number}"]
                for one in held:
                    file(one)
                del self._known[number]
        self._undone = {
            name: dict.fromkeys(rows(self._facts, name, listed))
            for name in program.fluents
            if name in self._facts.changing
            and (name not in growing or name not in made.joins.numbers)
        }
        self._estimate(made, sizes, growing)

    def _first(self, name: str, listed: dict[str, tuple[Raw, ...]]) -> dict[Tuple, None]:
        if name.startswith("#"):
            return dict.fromkeys(self._ranges[name[1:]])
        if name.startswith("!"):
            return self._under_way(name[1:])
        return dict.fromkeys(rows(self._facts, name, listed))

    def _under_way(self, title: str) -> dict[Tuple, None]:
        """A long action that runs at the start."""
        running = self._facts.running
        if running is None or f"action {running[0].action}" != title:
            return {}
        return {running[0].args: None}

    def _estimate(self, made: Written, sizes: Mapping[str, int], growing: frozenset[str]) -> None:
        """Refuse before anything is made where a rule alone has too many bindings: variables of
        which nothing is said but their types."""
        for _, apart in made.joins.apart:
            number = 1
            for name in apart:
                number *= 1 if name in growing else sizes[name]
            if number > self._most:
                world = self._facts.instance.world
                raise Ungroundable(f"a rule with {number:,} bindings", world.span)

    def _until_nothing_is_new(
        self, made: Written, space: Mapping[str, Any], heads: list[str]
    ) -> None:
        joins, queue = made.joins, self._queue
        waiting: dict[int, list[Callable[[Tuple], None]]] = {
            number: [space[name] for name in joins.waiting.get(number, ())]
            for number in joins.numbers.values()
        }
        filing = {number: space[f"file{number}"] for number in joins.numbers.values()}
        filed: set[tuple[int, Tuple]] = set()
        counted = [self._known[joins.numbers[name]] for name in heads if name in joins.numbers]
        numeric = {number for name, number in joins.numbers.items() if name.startswith("#")}
        for name in joins.begin:
            space[name](())
        place = 0
        while place < len(queue):
            number, one = queue[place]
            place += 1
            if number not in numeric:
                filing[number](one)
            elif (number, one) not in filed:
                filed.add((number, one))
                filing[number](one)
            for function in waiting[number]:
                function(one)
            if not place % 256 and sum(map(len, counted)) > self._most:
                world = self._facts.instance.world
                raise Ungroundable(f"more than {self._most:,} ground rules", world.span)

    def _widen(self, fluent: str, number: int, args: Tuple, amount: Span | None) -> None:
        """A slot may hold these numbers as well."""
        kind = self._facts.program.fluents[fluent].type
        low, high = (kind.low, kind.high) if isinstance(kind, NumberType) else (None, None)
        new = (-inf, inf) if amount is None else amount
        kept = within(new, low, high, clamped=True)
        assert kept is not None
        old = self._ranges[fluent].get(args)
        if old is not None:
            kept = min(old[0], kept[0]), max(old[1], kept[1])
        if kept == old:
            return
        self._growth[fluent, args] = grown = self._growth.get((fluent, args), 0) + 1
        if grown > _PATIENCE:
            kept = self._wide(kept, old, low, high)
        self._ranges[fluent][args] = kept
        self._queue.append((number, args))

    @staticmethod
    def _wide(kept: Span, old: Span | None, low: int | None, high: int | None) -> Span:
        """As wide as the type on the side that grows."""
        bottom, top = -inf if low is None else low, inf if high is None else high
        if old is None:
            return bottom, top
        return bottom if kept[0] < old[0] else kept[0], top if kept[1] > old[1] else kept[1]
