"""The finite variables of a ground task: mutex groups of facts, their numbers, and which matter.

A mutex group, of whose facts at most one holds, is found on rules instead of on their ground
instances: `{at(x, ·), in(x, ·)}` is such a family, because every action that makes one of these
facts true for some ``x`` asks for another one of the same ``x`` and takes it away (the monotone
invariants of Helmert, "Concise finite-domain representations for PDDL planning tasks", 2009, for
plain actions).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.planning.grounding.rules import Arg, Atom, Const, Literal, Same, Source

__all__ = [
    "Fact",
    "GroundOperator",
    "Kept",
    "Pair",
    "groups",
    "numbered",
    "relevant",
]

# ---- Mutex groups -------------------------------------------------------------------------------

_MOST_TRIES = 300
"""So many families are looked at."""
Members = Mapping[str, frozenset[int]]
Fact = tuple[str, tuple[Raw, ...]]


@frozen
class _Part:
    """One relation of a family: the places that name the instance, in order. One place more at
    most is counted over."""

    relation: str
    order: tuple[int, ...]

    def key(self, args: Sequence[Arg]) -> tuple[Arg, ...]:
        return tuple(args[place] for place in self.order)


_Family = frozenset[_Part]


def groups(
    sources: Sequence[Source],
    members: Members,
    known: Mapping[str, Sequence[tuple[Raw, ...]]],
    first: Mapping[str, Mapping[tuple[Raw, ...], None]],
) -> list[tuple[Fact, ...]]:
    """Groups of facts of which at most one holds at any time, without common members, large ones
    first. ``members`` are the objects of each type, ``known`` the facts that may hold, ``first``
    those that hold at the start."""
    found: dict[tuple[Fact, ...], None] = {}
    for family in _families(sources, members, known):
        for group in _instances(family, known, first):
            found[group] = None
    chosen, taken = list[tuple[Fact, ...]](), set[Fact]()
    for group in sorted(found, key=lambda one: -len(one)):
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
    waiting = [frozenset((part,)) for name in known for part in _parts(name, known)]
    seen = set(waiting)
    for family in waiting:  # it grows on the way
        broken = _broken(family, sources, members)
        if broken is None:
            yield family
            continue
        for larger in _mended(family, *broken, members, known):
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
    family: _Family, sources: Sequence[Source], members: Members
) -> tuple[Source, Atom | None] | None:
    """An action that may make one more fact of an instance true, and what would have to be
    balanced; ``None`` for that where nothing could mend it."""
    parts = {part.relation: part for part in family}
    for source in sources:
        held = _held(source)
        added = [a for a in source.always if a.relation in parts and a not in held]
        for place, one in enumerate(added):
            key = parts[one.relation].key(one.args)
            for other in added[:place]:
                if not _apart(key, parts[other.relation].key(other.args), source, members):
                    return source, None
            if not any(
                gone.relation in parts and parts[gone.relation].key(gone.args) == key
                for gone in _taken(source, one, members)
            ):
                return source, one
    return None


def _held(source: Source) -> set[Literal]:
    return {one for one in source.ways[0] if isinstance(one, Atom) and not one.absent}


def _taken(source: Source, added: Atom, members: Members) -> Iterator[Atom]:
    """The facts that hold before an action and not after it; if one of them is ``added``, that
    held before. What an action makes true as well is not taken away."""
    held = _held(source)
    for gone in source.gone:
        same = (
            one != added
            and one.relation == gone.relation
            and not _apart(one.args, gone.args, source, members)
            for one in source.always
        )
        if gone in held and not any(same):
            yield gone


def _apart(left: tuple[Arg, ...], right: tuple[Arg, ...], source: Source, members: Members) -> bool:
    """Whether two instances are surely not the same."""
    body = source.ways[0]
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


def _kinds(arg: Arg, body: Sequence[Literal], members: Members) -> list[str]:
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
    members: Members,
    known: Mapping[str, Sequence[tuple[Raw, ...]]],
) -> Iterator[_Family]:
    """The family with one relation more, of which the action takes a fact away."""
    if added is None:
        return
    parts = {part.relation: part for part in family}
    key = parts[added.relation].key(added.args)
    for gone in _taken(source, added, members):
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

Pair = tuple[int, int]
"""A variable and the place of one of its values."""
GroundOperator = tuple[
    str, tuple[Raw, ...], tuple[Pair, ...], tuple[Pair, ...], tuple[Pair, ...], tuple[Pair, ...],
    int,
]  # fmt: skip
"""An action and its arguments; the values that variables must have, and must not; those that they
get; those that they lose, if they have them; what it costs."""


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
        """Values by their new variables: nothing is asked of the others."""
        new = self.new
        return tuple([(new[number], value) for number, value in every if number in new])

    def operators(self, operators: Iterable[GroundOperator]) -> list[GroundOperator]:
        """Those of the operators that change something that is left."""
        new, pairs = self.new, self.pairs
        return [
            (name, args, pairs(held), pairs(lacked), pairs(made), pairs(gone), price)
            for name, args, held, lacked, made, gone, price in operators
            if any(number in new for number, _ in (*made, *gone))
        ]


def relevant(goal: Iterable[int], operators: Iterable[GroundOperator], size: int) -> set[int]:
    """The variables, of ``size``, on which a goal rests: its own, and those of which operators ask
    that change one that counts."""
    changing: list[list[GroundOperator]] = [[] for _ in range(size)]
    for one in operators:
        for number, _ in one[4]:
            changing[number].append(one)
        for number, _ in one[5]:
            changing[number].append(one)
    waiting = list(dict.fromkeys(goal))
    seen = set(waiting)
    while waiting and len(seen) < size:
        for one in changing[waiting.pop()]:
            for number, _ in (*one[2], *one[3]):
                if number not in seen:
                    seen.add(number)
                    waiting.append(number)
    return seen
