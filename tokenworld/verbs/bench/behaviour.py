"""Compare the behaviour of two PDDL domains, on problems that are made for the original.

Where the two do not declare the same types, both are compared without types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from random import Random
from typing import Final

from tokenworld.diagnostics import Failure, Source
from tokenworld.verbs.bench.normal import Tree, normal, read
from tokenworld.verbs.equiv import Side, compare, side_of

# ---- Instances -----------------------------------------------------------------------------------
# Make problems for a PDDL domain, to compare the behaviour of two domains on them.
#
# At the start of problem k of n, the preconditions of the actions k, k + n, k + 2n … hold for drawn
# arguments; other facts and values are random. So each action is possible in one
# of the problems at least, where its precondition can be met by facts alone. Equal arguments give
# equal texts.


_EACH: Final = 2
"""The number of objects of each type that has no types below it."""
_UNTYPED: Final = 4
"""The number of objects of a domain without types."""
_SHARE: Final = 0.35
"""The share of all ground atoms that are true at the start."""
_ATOMS: Final = 60
"""The greatest number of drawn atoms of one predicate, and of drawn values of one function."""
_VALUES: Final = 6

Args = tuple[str, ...]
Atom = tuple[str, Args]


def instances(domain: str, number: int, seed: int = 0) -> list[str]:
    """Return ``number`` problems for a domain; raises `ValueError` if it is not PDDL."""
    return [_Maker(domain, Random(f"{seed} {k}")).problem(k, number) for k in range(number)]


def types_of(domain: str) -> frozenset[str]:
    """Return the names of the declared types."""
    return frozenset(_name(one) for one in _listed(normal(domain)[":types"])) - {"object"}


def without_types(domain: str) -> str:
    """Return the domain with all objects of one type."""
    tree: list[Tree] = [
        one for one in read(domain) if not (isinstance(one, list) and one[:1] == [":types"])
    ]
    return _shown(_erased(tree))


def _erased(tree: Tree) -> Tree:
    if isinstance(tree, str):
        return tree
    words: list[Tree] = []
    rest = iter(tree)
    for word in rest:
        if word == "-":
            next(rest, None)
        elif not (isinstance(word, str) and word[0] == "-" and word[1:2].isalpha()):
            words.append(_erased(word))
    return words


def _shown(tree: Tree) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_shown, tree))})"


def _listed(tree: Tree) -> list[list[Tree]]:
    return [one for one in tree if isinstance(one, list)] if isinstance(tree, list) else []


def _name(tree: Tree) -> str:
    return tree if isinstance(tree, str) else str(tree[0])


class _Maker:
    """Draws one problem."""

    def __init__(self, domain: str, random: Random) -> None:
        found = normal(domain)
        self.random = random
        self.name = str(_listed([found["name"]])[0][1])
        self.parents = {
            _name(one): one[1] if len(one) > 1 else "object" for one in _listed(found[":types"])
        }
        self.constants = {
            _name(one): one[1] if len(one) > 1 else "object" for one in _listed(found[":constants"])
        }
        self.predicates = {
            _name(one): self._kinds(one[1:]) for one in _listed(found[":predicates"])
        }
        self.functions = {
            _name(one[0]): (self._kinds(one[0][1:]), one[1])
            for one in _listed(found[":functions"])
            if isinstance(one[0], list)
        }
        self.actions = _listed(found[":action"])
        self.objects = dict(self._objects())
        self.facts: set[Atom] = set()
        self.barred: set[Atom] = set()

    def _kinds(self, params: Sequence[Tree]) -> list[Tree]:
        return [one[1] if isinstance(one, list) and len(one) > 1 else "object" for one in params]

    def _objects(self) -> Iterator[tuple[str, Tree]]:
        above = {str(one) for one in self.parents.values() if isinstance(one, str)}
        leaves = [one for one in self.parents if one not in above and one != "object"]
        for kind in leaves:
            yield from ((f"{kind}-o{number}", kind) for number in range(1, _EACH + 1))
        if not leaves:
            yield from ((f"o{number}", "object") for number in range(1, _UNTYPED + 1))

    # -- types

    def _below(self, kind: Tree, wanted: Tree) -> bool:
        if isinstance(wanted, list):
            return any(self._below(kind, one) for one in wanted[1:])
        if wanted in ("object", kind):
            return True
        above = self.parents.get(str(kind))
        if isinstance(above, list):
            return any(self._below(one, wanted) for one in above[1:])
        return above is not None and above != kind and self._below(above, wanted)

    def _members(self, kind: Tree) -> list[str]:
        everything = {**self.constants, **self.objects}
        return [name for name, of in everything.items() if self._below(of, kind)]

    def _drawn(self, kinds: Sequence[Tree]) -> Args | None:
        """Return arguments of these types, different ones where there are enough."""
        found: list[str] = []
        for kind in kinds:
            members = self._members(kind)
            fresh = [one for one in members if one not in found] or members
            if not fresh:
                return None
            found.append(self.random.choice(fresh))
        return tuple(found)

    # -- what an action asks for

    def _ask(self, tree: Tree, names: dict[str, str]) -> None:
        """Make a condition true by adding facts, as far as facts can."""
        if not isinstance(tree, list) or not tree:
            return
        head = tree[0]
        if head == "and":
            for part in tree[1:]:
                self._ask(part, names)
        elif head == "or":
            self._ask(self.random.choice(tree[1:]), names)
        elif head == "imply":
            self._ask(tree[2], names)
        elif head == "not":
            inner = tree[1]
            if isinstance(inner, list) and inner and inner[0] in self.predicates:
                self.barred.add(self._atom(inner, names))
        elif head in ("exists", "forall") and isinstance(tree[1], list):
            self._quantified(str(head), tree, names)
        elif isinstance(head, str) and head in self.predicates:
            self.facts.add(self._atom(tree, names))

    def _quantified(self, head: str, tree: list[Tree], names: dict[str, str]) -> None:
        bound = _listed(tree[1])
        kinds = self._kinds([[one[0], *one[1:]] for one in bound])
        variables = [_name(one) for one in bound]
        if head == "exists":
            one = self._drawn(kinds)
            every = [] if one is None else [one]
        else:
            every = list(islice(product(*map(self._members, kinds)), _ATOMS))
        for args in every:
            self._ask(tree[2], {**names, **dict(zip(variables, args, strict=True))})

    def _atom(self, tree: list[Tree], names: dict[str, str]) -> Atom:
        return str(tree[0]), tuple(names.get(str(one), str(one)) for one in tree[1:])

    def _seed(self, action: list[Tree]) -> None:
        params = _listed(action[1])
        args = self._drawn(self._kinds([[one[0], *one[1:]] for one in params]))
        if args is not None:
            self._ask(action[2], dict(zip(map(_name, params), args, strict=True)))

    # -- the text

    def problem(self, k: int, of: int) -> str:
        for action in self.actions[k::of]:
            self._seed(action)
        wanted = set(self.facts)
        for name, kinds in self.predicates.items():
            for args in self._some(kinds):
                if self.random.random() < _SHARE and (name, args) not in self.barred:
                    self.facts.add((name, args))
        init = [f"({' '.join((name, *args))})" for name, args in sorted(self.facts)]
        init += self._values()
        objects = " ".join(f"{name} - {kind}" for name, kind in self.objects.items())
        if not self.parents:
            objects = " ".join(self.objects)
        goal = self.random.choice(sorted(wanted or self.facts or {("and", ())}))
        return (
            f"(define (problem made-{k}) (:domain {self.name})\n  (:objects {objects})\n"
            f"  (:init {' '.join(init)})\n  (:goal ({' '.join((goal[0], *goal[1]))})))\n"
        )

    def _some(self, kinds: Sequence[Tree]) -> list[Args]:
        """Return arguments of these types: all if they are few, else the first after a shuffle."""
        pools = [self._members(kind) for kind in kinds]
        for pool in pools:
            self.random.shuffle(pool)
        return list(islice(product(*pools), _ATOMS))

    def _values(self) -> Iterator[str]:
        for name, (kinds, result) in self.functions.items():
            if name == "total-cost":
                yield "(= (total-cost) 0)"
                continue
            members = self._members(result) if result != "number" else []
            for args in self._some(kinds):
                value = self.random.choice(members) if members else self.random.randrange(_VALUES)
                yield f"(= ({' '.join((name, *args))}) {value})"


# ---- Comparison ----------------------------------------------------------------------------------

_WALKS = 1


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The numbers of problems proved alike, alike as far as explored, different, and unusable.

    ``possible`` of ``actions`` are possible at the start of one of them.
    """

    equivalent: int = 0
    alike: int = 0
    different: int = 0
    unusable: int = 0
    possible: int = 0
    actions: int = 0
    untyped: bool = False

    @property
    def same(self) -> bool:
        """Return whether no problem shows a difference, and at least one was compared."""
        return self.equivalent + self.alike > 0 and self.different == self.unusable == 0

    @property
    def shown(self) -> str:
        if self.different:
            return f"{self.different} different"
        if self.unusable:
            return f"{self.unusable} not comparable"
        proved = f"{self.equivalent} proved" if self.equivalent else ""
        seen = f"{self.alike} no difference" if self.alike else ""
        return ", ".join(one for one in (proved, seen) if one) or "–"

    def to_json(self) -> dict[str, int | bool]:
        return {
            "same": self.same, "equivalent": self.equivalent, "no_difference": self.alike,
            "different": self.different, "unusable": self.unusable,
            "possible_actions": self.possible, "actions": self.actions, "untyped": self.untyped,
        }  # fmt: skip


def behaviour(original: str, text: str, number: int, states: int) -> Behaviour:
    """Compare ``text`` with ``original`` on ``number`` problems, up to ``states`` states each.

    Raises `ValueError` or `Failure` where the original cannot be read.
    """
    one, other, untyped = _alike_typed(original, text)
    counts = dict.fromkeys(("equivalent", "alike", "different", "unusable"), 0)
    possible: set[str] = set()
    actions = 0
    for index, made in enumerate(instances(one, number)):
        problem = Source(f"made-{index}.pddl", None, made)
        left = side_of(Source("original.pddl", None, one), problem)
        actions = len(left.simulator.instance.program.actions)
        possible |= _possible(left)
        try:
            right = side_of(Source("compared.pddl", None, other), problem)
        except Failure:
            counts["unusable"] += 1
            continue
        counts[_ANSWERS[compare(left, right, limit=states, walks=_WALKS).answer]] += 1
    return Behaviour(**counts, possible=len(possible), actions=actions, untyped=untyped)


_ANSWERS = {"equivalent": "equivalent", "no difference found": "alike", "different": "different"}


def _alike_typed(original: str, text: str) -> tuple[str, str, bool]:
    """Return the two domains, without types where they do not have the same ones."""
    try:
        same = types_of(original) == types_of(text)
    except ValueError:
        return original, text, False
    if same:
        return original, text, False
    return without_types(original), without_types(text), True


def _possible(side: Side) -> set[str]:
    """Return the names of the actions that are possible at the start."""
    return {name for name, _ in side.results(side.start())}
