"""Plain worlds as ground tasks at once: facts by number, and operators over them.

A world is plain if commands are its only changes, and a command requires facts, adds facts and
deletes facts: each binding of an action is an operator over the numbers of its facts. Where a
command asks for more than a conjunction, each way in which it can be done is an operator; where
facts decide about its changes, these have conditions.

A mutex group is a set of facts of which at most one holds. Groups are found on rules instead of on
their ground instances: `{at(x, ·), in(x, ·)}` is such a family, because every action that adds one
of these facts for some ``x`` requires another one of the same ``x`` and deletes it (the monotone
invariants of Helmert, "Concise finite-domain representations for PDDL planning tasks", 2009, for
plain actions).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, repeat
from typing import Any, assert_never

from tokenworld.core.rules import Ending
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, Raw
from tokenworld.planning.grounding.reach import Ranges, Reached, rows
from tokenworld.planning.grounding.rules import (
    Amount,
    Arg,
    Atom,
    Const,
    Literal,
    Number,
    Operation,
    Range,
    Same,
    Slotted,
    Source,
    Var,
)
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.units import (
    ALWAYS,
    Changes,
    Fact,
    Grounder,
    NotPlain,
    Row,
    Together,
    Ways,
    clash,
    is_free,
)

Pair = tuple[int, int]
"""A variable and the place of one of its values."""
Pairs = tuple[Pair, ...]
Sometimes = tuple[tuple[Pairs, Pairs, Pair, bool], ...]
"""Values that are got (or lost), each if variables have some values and do not have others."""
GroundOperator = tuple[str, Row, Pairs, Pairs, Pairs, Pairs, int, Sometimes]
"""A ground action: its arguments, the values that variables must have and must not have, the values
that they get, those that they lose if they have them, its cost, and its changes with conditions."""
_Grounded = Mapping[str, list[tuple[Row, Ways, Changes]]]
"""The bindings of each action that is more than a conjunction, with conditions and changes."""
Numbers = Mapping[str, Mapping[Row, Pair]]
"""The facts of each relation that are values of variables."""
_WORKED_OUT: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "min": min, "max": max
}  # fmt: skip


@dataclass(frozen=True)
class GroundTask:
    """A plain world from one state, in finite variables.

    A variable represents facts of which at most one holds: its values are these, in order, and last
    that none of them holds. Facts that never change are left out. ``goals`` are the ways to reach
    the goal, each with the required and the forbidden values: none if it is unreachable even
    without deletions.
    """

    variables: tuple[tuple[Fact, ...], ...]
    initial: tuple[int, ...]
    goals: tuple[tuple[Pairs, Pairs], ...]
    operators: tuple[GroundOperator, ...]

    def commands(self) -> Iterator[Command]:
        """The commands of the operators."""
        return (Command(one[0], one[1]) for one in self.operators)


def plain_task(
    facts: Facts, found: Reached, line: Ending, *, grouped: bool = True, whole: bool = False
) -> GroundTask | None:
    """The task of reaching a goal line; ``None`` if the world is not plain. Without ``grouped``
    every fact has a variable of its own; ``whole``: irrelevant facts and operators without effect
    are kept."""
    others = [one for one in _actions(found) if not _plain(facts, one)]
    if whole and others:
        return None
    try:
        goal = Grounder(facts, found).ways(line.condition)
        grounded = {one.name: list(_grounded(facts, found, one)) for one in others}
        made = _Tasking(facts, found, grounded, grouped, whole).made(goal)
    except (NotPlain, KeyError):  # a price that is nowhere stated
        return None
    return made


def _actions(found: Reached) -> list[Source]:
    return [one for name, one in found.relaxed.sources.items() if name.startswith("action ")]


def _grounded(facts: Facts, found: Reached, source: Source) -> Iterator[tuple[Row, Ways, Changes]]:
    """Each binding of an action with the ways in which it can be done, and its changes."""
    action = facts.rules.actions[source.name.removeprefix("action ")]
    ground = Grounder(facts, found, source.params).action(action, source)
    for args in found.bindings(source.name):
        ways, changes = ground(args)
        yield args, ways, changes


def _plain(facts: Facts, source: Source) -> bool:
    """Return whether an action is one conjunction over its parameters, and its changes facts."""
    if not source.exact or len(source.ways) != 1 or source.loose:
        return False
    if not all(_over(one, source) for one in source.ways[0]):
        return False
    changed = {atom.relation for atom in (*source.always, *source.gone)}
    return all(is_free(facts.program.fluents[name]) for name in changed)


def _over(literal: Literal, source: Source) -> bool:
    if isinstance(literal, Range) or (isinstance(literal, Atom) and literal.relation[0] in "#?*!"):
        return False
    args = literal.args if isinstance(literal, Atom) else (literal.left, literal.right)
    return all(isinstance(arg, Const) or arg in source.params for arg in args)


class _Bindings:
    """All bindings of an action in order, and a column of values for each of its parameters.

    Only for atoms over constants and the action's own parameters.
    """

    def __init__(self, source: Source, every: Iterable[Row]) -> None:
        self.source, self.every = source, tuple(every)
        self._columns: dict[Arg, Sequence[Raw]] = dict(
            zip(source.params, zip(*self.every, strict=True), strict=True) if self.every else ()
        )

    def column(self, arg: Arg) -> Iterable[Raw]:
        """The value of an argument in each binding."""
        return self._columns[arg] if isinstance(arg, Var) else repeat(arg.value, len(self.every))

    def facts(self, args: tuple[Arg, ...]) -> Iterable[Row]:
        """The arguments of a fact or slot in each binding."""
        if args == self.source.params:
            return self.every
        if not args:
            return repeat((), len(self.every))
        return zip(*map(self.column, args), strict=True)

    def lost(self, atom: Atom) -> set[Row]:
        """The facts of an atom that is removed: a fact that is added as well stays true."""
        made = [one for one in self.source.always if one.relation == atom.relation]
        if not made:
            return set(self.facts(atom.args))
        rows = zip(*(self.facts(one.args) for one in (atom, *made)), strict=True)
        return {fact for fact, *stay in rows if fact not in stay}

    def prices(self, ranges: Ranges) -> Iterable[Any]:
        """The cost of each binding."""
        price = self.source.price
        return repeat(0) if price is None else self.amounts(price, ranges)

    def amounts(self, amount: Amount, ranges: Ranges) -> Iterable[Any]:
        """An amount that never changes, in each binding; `KeyError` if it is not stated."""
        match amount:
            case Number(arg=arg):
                return self.column(arg)
            case Slotted(fluent=fluent, args=args):
                return (ranges[fluent][one][0] for one in self.facts(args))
            case Operation(name=name, left=left, right=right):
                return map(_WORKED_OUT[name], self.amounts(left, ranges),
                           self.amounts(right, ranges))  # fmt: skip
            case _:
                assert_never(amount)


def _exclude_each_other(held: Iterable[Pair], excluding: Mapping[Pair, set[int]]) -> bool:
    """Return whether two of these facts are in one mutex group."""
    of = [group for pair in set(held) for group in excluding.get(pair, ())]
    return len(set(of)) < len(of)


class _Tasking:
    """Finds the variables, then makes the operators of one action after another."""

    def __init__(
        self, facts: Facts, found: Reached, grounded: _Grounded, grouped: bool, whole: bool
    ) -> None:
        self._facts, self._found, self._grouped, self._whole = facts, found, grouped, whole
        self._grounded = grounded
        every = [_Bindings(one, found.bindings(one.name)) for one in _actions(found)]
        self._bindings = [one for one in every if one.every]
        self._actions = [one.source for one in self._bindings]
        changed = [atom.relation for one in _actions(found) for atom in (*one.always, *one.gone)]
        others = (name for name in facts.program.fluents if name in facts.changing)
        self._changed = dict.fromkeys([*changed, *others])
        self._first = {name: dict.fromkeys(rows(facts, name, {})) for name in self._changed}
        self._excluding: dict[Fact, set[int]] = {}
        """The mutex groups of each fact."""

    def made(self, goal: Ways) -> GroundTask:
        variables = self._variables(self._moving())
        numbers = numbered(variables, self._changed)
        excluding = {numbers[name][args]: of for (name, args), of in self._excluding.items()}
        made = [one for b in self._bindings for one in self._operators(b, numbers, excluding)]
        ways = (self._pairs(way, numbers) for way in goal)
        goals = [one for one in ways if one and not _exclude_each_other(one[0], excluding)]
        if goals and not self._whole:
            wanted = [number for way in goals for pairs in way for number, _ in pairs]
            seen = relevant(wanted, made, len(variables))
            if len(seen) < len(variables):
                kept = Kept({old: new for new, old in enumerate(sorted(seen))})
                variables = [variables[old] for old in kept.new]
                goals = [(kept.pairs(held), kept.pairs(lacked)) for held, lacked in goals]
                made = kept.operators(made)
        initial = tuple(self._initial(group) for group in variables)
        return GroundTask(tuple(variables), initial, tuple(goals), tuple(made))

    def _initial(self, group: tuple[Fact, ...]) -> int:
        held = (place for place, (name, args) in enumerate(group) if args in self._first[name])
        return next(held, len(group))

    def _moving(self) -> dict[str, list[tuple[Raw, ...]]]:
        """The facts that may become true and are not always true."""
        gone: dict[str, set[Any]] = {name: set() for name in self._changed}
        for bindings in self._bindings:
            for atom in () if bindings.source.name in self._grounded else bindings.source.gone:
                gone[atom.relation] |= bindings.lost(atom)
        for every in self._grounded.values():
            for (name, args), added, _ in (one for _, _, made in every for one in made):
                if not added:
                    gone[name].add(args)
        return {
            name: [
                one
                for one in self._found.known[name]
                if one in gone[name] or one not in self._first[name]
            ]
            for name in self._changed
        }

    def _variables(self, moving: Mapping[str, list[tuple[Raw, ...]]]) -> list[tuple[Fact, ...]]:
        members = {name: frozenset(one) for name, one in self._facts.instance.members.items()}
        grouped = self._grouped
        every = groups(self._actions, members, moving, self._first) if grouped else []
        for number, group in enumerate(every):
            for fact in group:
                self._excluding.setdefault(fact, set()).add(number)
        found = _cover(every)
        taken = {fact for group in found for fact in group}
        rest = ((name, args) for name, every in moving.items() for args in every)
        parts = [*found, *((fact,) for fact in rest if fact not in taken)]
        ordered = (tuple(sorted(group, key=self._place)) for group in parts)
        return sorted(ordered, key=lambda group: self._place(group[0]))

    def _place(self, fact: Fact) -> str:
        """The place of a fact: in the alphabet, as Fast Downward's translator orders them."""
        return self._facts.slot_name(fact).lower()

    # ---- operators ----------------------------------------------------------------------------

    def _operators(
        self, bindings: _Bindings, numbers: Numbers, excluding: Mapping[Pair, set[int]]
    ) -> Iterator[GroundOperator]:
        """The operators of an action, one for each binding in which it changes something.

        ``excluding``: the mutex groups of each fact. A fact without a variable never changes. Two
        parameters may be the same object: a fact both added and deleted is added, and a
        precondition with two facts of a group, or a fact and its absence, gives no operator.
        """
        source, every = bindings.source, bindings.every
        if source.name in self._grounded:
            yield from self._branched(bindings, numbers, excluding)
            return
        asked = dict.fromkeys(one for one in source.ways[0]
                              if isinstance(one, Atom) and one.relation in numbers)  # fmt: skip
        added = dict.fromkeys(source.always)
        removed = dict.fromkeys(one for one in source.gone if one not in added)
        action = source.name.removeprefix("action ")

        def pairs(atoms: Iterable[Atom]) -> Iterable[tuple[Pair | None, ...]]:
            columns = [map(numbers[one.relation].get, bindings.facts(one.args)) for one in atoms]
            return zip(*columns, strict=True) if columns else repeat((), len(every))

        rows = zip(
            every,
            pairs(one for one in asked if not one.absent),
            self._lacked(bindings, [one for one in asked if one.absent], numbers),
            pairs(added),
            pairs(removed),
            bindings.prices(self._found.ranges),
            strict=False,
        )
        for args, wanted, unwanted, new, old, price in rows:
            held = tuple([one for one in wanted if one is not None])
            if excluding and _exclude_each_other(held, excluding):
                continue
            if unwanted is None or (unwanted and not set(unwanted).isdisjoint(held)):
                continue
            written = {one[0] for one in new if one is not None}
            made = tuple([one for one in new if one is not None and one not in held])
            gone = tuple([one for one in old if one is not None and one[0] not in written])
            if self._whole or made or gone:
                yield action, args, held, unwanted, made, gone, price, ()

    def _branched(
        self, bindings: _Bindings, numbers: Numbers, excluding: Mapping[Pair, set[int]]
    ) -> Iterator[GroundOperator]:
        """The operators of an action that is more than a conjunction: one for each way in which a
        binding can be done."""
        every, prices = self._grounded[bindings.source.name], bindings.prices(self._found.ranges)
        action = bindings.source.name.removeprefix("action ")
        for (args, ways, changes), price in zip(every, prices, strict=False):
            for way in ways:
                asked = self._pairs(way, numbers)
                if asked is None or _exclude_each_other(asked[0], excluding):
                    continue
                every_change = list(self._changes(way, changes, numbers, excluding, asked[0]))
                sure = [(pair, added) for held, lacked, pair, added in every_change
                        if not held and not lacked]  # fmt: skip
                made = tuple([pair for pair, added in sure if added])
                written = {number for number, _ in made}
                gone = tuple([p for p, added in sure if not added and p[0] not in written])
                some = tuple([one for one in every_change
                              if (one[0] or one[1]) and one[2][0] not in written])  # fmt: skip
                if made or gone or some:
                    yield action, args, *asked, made, gone, price, some

    def _changes(
        self,
        way: Together,
        changes: Changes,
        numbers: Numbers,
        excluding: Mapping[Pair, set[int]],
        held: Pairs,
    ) -> Iterator[tuple[Pairs, Pairs, Pair, bool]]:
        """The changes of an action that is done in one way, where more decides about them too."""
        for fact, added, when in changes:
            pair = numbers[fact[0]].get(fact[1])
            if pair is None or (fact, added) in way:
                continue
            left = [one - way for one in when if (fact, added) not in one and not clash(way, one)]
            for one in ALWAYS if frozenset() in left else dict.fromkeys(left):
                asked = self._pairs(one, numbers)
                if asked is None:
                    continue
                more = asked[0] if added or pair in held else (*asked[0], pair)
                if not more or not _exclude_each_other((*held, *more), excluding):
                    yield *asked, pair, added

    def _pairs(self, way: Together, numbers: Numbers) -> tuple[Pairs, Pairs] | None:
        """The values that variables must have and must not have; ``None`` where a fact that always
        holds is not to hold."""
        found: tuple[list[Pair], list[Pair]] = [], []
        for (name, args), wanted in way:
            pair = numbers[name].get(args) if name in numbers else None
            if pair is not None:
                found[not wanted].append(pair)
            elif not wanted:
                return None
        return tuple(sorted(found[0])), tuple(sorted(found[1]))

    def _lacked(
        self, bindings: _Bindings, atoms: Sequence[Atom], numbers: Numbers
    ) -> Iterable[tuple[Pair, ...] | None]:
        """The values that must not be, in each binding; ``None`` where such a fact always holds."""
        if not atoms:
            return repeat((), len(bindings.every))
        known = [self._found.known[one.relation] for one in atoms]
        of = [numbers[one.relation].get for one in atoms]

        def values(facts: Sequence[Row]) -> tuple[Pair, ...] | None:
            found = [pair(fact) for pair, fact in zip(of, facts, strict=True)]
            always = (one is None and fact in there
                      for one, fact, there in zip(found, facts, known, strict=True))  # fmt: skip
            return None if any(always) else tuple([one for one in found if one is not None])

        return map(values, zip(*(bindings.facts(one.args) for one in atoms), strict=True))


# ---- Mutex groups -------------------------------------------------------------------------------

_MOST_TRIES = 300
"""The largest number of families that are examined."""
Members = Mapping[str, frozenset[int]]


@frozen
class _Part:
    """One relation of a family: the places that name the instance, in order. One place more at
    most is counted over."""

    relation: str
    order: tuple[int, ...]

    def key(self, args: Sequence[Arg]) -> tuple[Arg, ...]:
        return tuple(args[place] for place in self.order)


_Family = frozenset[_Part]
_Taken = Mapping[tuple[str, Atom], tuple[Atom, ...]]
"""The facts that an action takes away, for each that it adds."""


def groups(
    sources: Sequence[Source],
    members: Members,
    known: Mapping[str, Sequence[tuple[Raw, ...]]],
    first: Mapping[str, Mapping[tuple[Raw, ...], None]],
) -> list[tuple[Fact, ...]]:
    """Return the groups of facts of which at most one holds at any time, large ones first.
    ``members`` are the objects of each type, ``known`` the facts that may hold, ``first`` those
    that hold at the start."""
    families = _families(sources, members, known)
    found = (group for family in families for group in _instances(family, known, first))
    return sorted(dict.fromkeys(found), key=lambda one: -len(one))


def _cover(every: Iterable[tuple[Fact, ...]]) -> list[tuple[Fact, ...]]:
    """Return disjoint groups, taken in their order from the first on."""
    chosen, taken = list[tuple[Fact, ...]](), set[Fact]()
    for group in every:
        left = tuple(fact for fact in group if fact not in taken)
        if len(left) > 1:
            chosen.append(left)
            taken.update(left)
    return chosen


def _instances(
    family: _Family,
    known: Mapping[str, Sequence[tuple[Raw, ...]]],
    first: Mapping[str, Mapping[tuple[Raw, ...], None]],
) -> Iterator[tuple[Fact, ...]]:
    """The groups of a family that begin with at most one fact that holds."""
    members: dict[tuple[Raw, ...], list[Fact]] = {}
    held: dict[tuple[Raw, ...], int] = {}
    for part in sorted(family, key=lambda one: one.relation):
        for args in known[part.relation]:
            members.setdefault(_key(part, args), []).append((part.relation, args))
        for args in first[part.relation]:
            key = _key(part, args)
            held[key] = held.get(key, 0) + 1
    for key, group in members.items():
        if held.get(key, 0) <= 1 and len(group) > 1:
            yield tuple(group)


def _key(part: _Part, args: tuple[Raw, ...]) -> tuple[Raw, ...]:
    return tuple(args[place] for place in part.order)


def _families(
    sources: Sequence[Source], members: Members, known: Mapping[str, Sequence[tuple[Raw, ...]]]
) -> Iterator[_Family]:
    """The families that every action keeps."""
    taken: _Taken = {
        (source.name, one): tuple(_taken(source, one, members))
        for source in sources
        for one in source.always
    }
    waiting = [frozenset((part,)) for name in known for part in _parts(name, known)]
    seen = set(waiting)
    for family in waiting:  # it grows on the way
        broken = _broken(family, sources, members, taken)
        if broken is None:
            yield family
            continue
        for larger in _mended(family, *broken, taken, known):
            if larger not in seen and len(seen) < _MOST_TRIES:
                seen.add(larger)
                waiting.append(larger)


def _parts(name: str, known: Mapping[str, Sequence[tuple[Raw, ...]]]) -> Iterator[_Part]:
    size = _size(known[name])
    yield _Part(name, tuple(range(size)))
    for place in range(size):
        yield _Part(name, tuple(one for one in range(size) if one != place))


def _size(rows: Sequence[tuple[Raw, ...]]) -> int:
    return len(rows[0]) if rows else 0


def _broken(
    family: _Family, sources: Sequence[Source], members: Members, taken: _Taken
) -> tuple[Source, Atom | None] | None:
    """Find an action that may make one more fact of an instance true; the second part is the fact
    to balance, ``None`` if no fact can balance it."""
    parts = {part.relation: part for part in family}
    for source in sources:
        if not source.sometimes.isdisjoint(parts):
            return source, None
        held = source.held
        added = [a for a in source.always if a.relation in parts and a not in held]
        for place, one in enumerate(added):
            key = parts[one.relation].key(one.args)
            for other in added[:place]:
                second = parts[other.relation].key(other.args)
                if not _apart(key, second, source, members) and not _held_where_equal(
                    key, second, (one, other), held
                ):
                    return source, None
            if not any(
                gone.relation in parts and parts[gone.relation].key(gone.args) == key
                for gone in taken[source.name, one]
            ):
                return source, one
    return None


def _held_where_equal(
    left: tuple[Arg, ...], right: tuple[Arg, ...], added: tuple[Atom, ...], held: frozenset[Literal]
) -> bool:
    """Return whether an added fact held before, where two lists of arguments are equal."""
    same: dict[Arg, Arg] = {}

    def of(arg: Arg) -> Arg:
        while arg in same:
            arg = same[arg]
        return arg

    for one, other in zip(left, right, strict=True):
        first, second = of(one), of(other)
        if first != second:
            same.update({second: first} if isinstance(second, Var) else {first: second})
    asked = {(one.relation, *map(of, one.args)) for one in held if isinstance(one, Atom)}
    return any((one.relation, *map(of, one.args)) in asked for one in added)


def _taken(source: Source, added: Atom, members: Members) -> Iterator[Atom]:
    """The facts that hold before an action and not after it; if one of them is ``added``, that
    held before. What an action makes true as well is not taken away, unless ``added`` held before
    wherever the two are the same."""
    held = source.held
    for gone in source.gone:
        same = (
            one != added
            and one.relation == gone.relation
            and not _apart(one.args, gone.args, source, members)
            and not _held_where_equal(one.args, gone.args, (added,), held)
            for one in source.always
        )
        if gone in held and not any(same):
            yield gone


def _apart(left: tuple[Arg, ...], right: tuple[Arg, ...], source: Source, members: Members) -> bool:
    """Return whether two instances are surely not the same."""
    body = source.sure
    for one, other in zip(left, right, strict=True):
        if isinstance(one, Const) and isinstance(other, Const) and one != other:
            return True
        if Same("!=", one, other) in body or Same("!=", other, one) in body:
            return True
        if any(
            members[kind].isdisjoint(members[sort])
            for kind in _kinds(one, body, members)
            for sort in _kinds(other, body, members)
        ):
            return True
    return False


def _kinds(arg: Arg, body: Iterable[Literal], members: Members) -> list[str]:
    """The types that something is of."""
    return [
        one.relation[1:]
        for one in body
        if isinstance(one, Atom) and one.relation[1:] in members and one.args == (arg,)
        and one.relation.startswith(":") and not one.absent
    ]  # fmt: skip


def _mended(
    family: _Family,
    source: Source,
    added: Atom | None,
    taken: _Taken,
    known: Mapping[str, Sequence[tuple[Raw, ...]]],
) -> Iterator[_Family]:
    """Yield the family extended by a relation of which the action deletes a fact."""
    if added is None:
        return
    parts = {part.relation: part for part in family}
    key = parts[added.relation].key(added.args)
    for gone in taken[source.name, added]:
        if gone.relation in parts or gone.relation not in known:
            continue
        size = len(gone.args)
        if size - len(key) not in (0, 1):
            continue
        for order in permutations(range(size), len(key)):
            part = _Part(gone.relation, order)
            if part.key(gone.args) == key:
                yield family | {part}


# ---- Facts by number ----------------------------------------------------------------------------


def numbered(
    variables: Sequence[tuple[Fact, ...]], relations: Iterable[str]
) -> dict[str, dict[tuple[Raw, ...], Pair]]:
    """The facts of each relation that are values of variables, by their arguments."""
    pairs: dict[str, dict[tuple[Raw, ...], Pair]] = {name: {} for name in relations}
    for number, group in enumerate(variables):
        for place, (name, args) in enumerate(group):
            pairs[name][args] = number, place
    return pairs


# ---- Variables and operators that matter for a goal ---------------------------------------------


@dataclass(frozen=True)
class Kept:
    """The variables that are left, by old number, with their new ones."""

    new: Mapping[int, int]

    def pairs(self, every: Iterable[Pair]) -> tuple[Pair, ...]:
        """Values by their new variables; the others have no condition."""
        new = self.new
        return tuple([(new[number], value) for number, value in every if number in new])

    def operators(self, operators: Iterable[GroundOperator]) -> list[GroundOperator]:
        """Those of the operators that change something that is left."""
        new, pairs = self.new, self.pairs
        return [
            (name, args, pairs(held), pairs(lacked), pairs(made), pairs(gone), price, tuple(
                (pairs(asked), pairs(not_asked), (new[number], value), added)
                for asked, not_asked, (number, value), added in some if number in new
            ))
            for name, args, held, lacked, made, gone, price, some in operators
            if any(number in new for number, _ in (*made, *gone, *(one[2] for one in some)))
        ]  # fmt: skip


def relevant(goal: Iterable[int], operators: Iterable[GroundOperator], size: int) -> set[int]:
    """Return the variables (of ``size``) on which a goal depends: its own, and those in the
    preconditions of operators that change a relevant variable."""
    changing: list[list[tuple[Pairs, ...]]] = [[] for _ in range(size)]
    for one in operators:
        for number, _ in (*one[4], *one[5]):
            changing[number].append((one[2], one[3]))
        for held, lacked, (number, _), _ in one[7]:
            changing[number].append((one[2], one[3], held, lacked))
    waiting = list(dict.fromkeys(goal))
    seen = set(waiting)
    while waiting and len(seen) < size:
        for asked in changing[waiting.pop()]:
            for number in {number for pairs in asked for number, _ in pairs} - seen:
                seen.add(number)
                waiting.append(number)
    return seen
