"""Terms and predicates over the objects of a transition, and their values for many instances.

A `Table` holds many instances of the same variables, each in a scene of its own, and computes the
values of a term or the truth of a predicate for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tokenworld.verbs.learn.propose.scenes import (
    ANY,
    HOLDER,
    MISSING,
    Missing,
    Scene,
    Value,
    Vocabulary,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Truths = npt.NDArray[np.bool_]

OVER: Final = ("t", "u", "k", "j")
"""The names of variables that a rule runs over: of objects, then of words."""
ME: Final = "me"
"""The name of the acting person in rules."""
_TEXTS: Final = 8
_MEMBERS: Final = 24
"""A text or a word with more values than this is compared with none of them."""


@dataclass(frozen=True, slots=True)
class Var:
    """A variable of a rule: a parameter of its action, or one that the rule runs over."""

    name: str
    sort: str


@dataclass(frozen=True, slots=True)
class Term:
    """A variable, a path of attributes from a variable, or a fluent of variables.

    ``base`` names the variable, ``path`` the attributes. If ``path[-1]`` is a function, ``args``
    are its variables; after a longer path the value of that path is its first argument, as in
    `exit(me.at, d)`. ``kind`` and ``of`` describe the value. If ``counted`` is a type, the term is
    the number of its objects whose attribute ``path[-1]`` equals ``base.path[:-1]``.
    """

    base: str
    path: tuple[str, ...]
    kind: str
    of: str = ""
    args: tuple[str, ...] = ()
    counted: str = ""
    optional: bool = False

    @property
    def unit(self) -> str:
        """Return the unit of a number; empty for none."""
        return self.of if self.kind in ("int", "real") else ""

    @property
    def cost(self) -> float:
        """The complexity of the term."""
        far = 0.5 * max(0, len(self.path) - 1)
        own = 0.3 if self.args and all(one in OVER for one in self.args) else 1.0
        return far + (own if self.args else 0.0) + (1.5 if self.counted else 0.0)


@dataclass(frozen=True, slots=True)
class Exists:
    """An object of a type with a property. ``how`` says how it is related to the term of the
    predicate: an attribute that is the term, ``under`` (inside it), ``over`` (contains it), or
    nothing at all for any object of the world."""

    how: str
    sort: str
    fluent: str = ""
    value: Value = None
    other: str = ""
    """A second attribute, which is the second term of the predicate: the object links two."""
    both: bool = False
    """Whether the two terms may be swapped."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition. ``op`` is one of ``is`` (the type of a term), ``true``, ``==``, ``<`` (of two
    terms), ``=`` (a value), ``>=`` (a number), ``any`` (`Exists`), ``and`` (of a whole guard, that
    of another slot)."""

    op: str
    left: Term | None
    right: Term | Exists | Value | tuple[Predicate, ...]
    positive: bool
    cost: float
    far: Term | None = None
    """The second term of a link."""

    def parts(self) -> tuple[Predicate, ...]:
        """Return the predicates of a borrowed guard."""
        borrowed = self.right if isinstance(self.right, tuple) else ()
        return tuple(one for one in borrowed if isinstance(one, Predicate))

    def variables(self) -> frozenset[str]:
        """Return the variables that it names."""
        terms = [one for one in (self.left, self.right, self.far) if isinstance(one, Term)]
        return frozenset(name for one in terms for name in (one.base, *one.args) if name)

    def fluents(self) -> frozenset[str]:
        """Return the fluents that it reads."""
        terms = [one for one in (self.left, self.right, self.far) if isinstance(one, Term)]
        found = {name for one in terms for name in one.path}
        if isinstance(self.right, Exists):
            found |= {self.right.fluent, HOLDER if self.right.how in ("under", "over") else
                      self.right.how}  # fmt: skip
        return frozenset(one for one in found if one)


@dataclass(slots=True)
class Table:
    """Instances of variables. ``names`` are the variables, ``rows`` their values."""

    vocabulary: Vocabulary
    names: tuple[str, ...]
    scenes: Sequence[Scene]
    rows: Sequence[tuple[Value, ...]]
    _columns: dict[Term, list[Value | Missing]] = field(default_factory=dict)
    _codes: dict[Value | Missing, int] = field(default_factory=dict)
    _coded: dict[Term, npt.NDArray[np.int64]] = field(default_factory=dict)
    _numbers: dict[Term, npt.NDArray[np.int64]] = field(default_factory=dict)
    _numeric: dict[Term, npt.NDArray[np.float64]] = field(default_factory=dict)
    _members: dict[object, Truths] = field(default_factory=dict)
    _places: list[npt.NDArray[np.int64]] = field(default_factory=list)
    _distinct: list[Scene] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, term: Term) -> list[Value | Missing]:
        """Return the value of a term for each instance."""
        found = self._columns.get(term)
        if found is None:
            found = self._columns[term] = self._computed(term)
        return found

    def _computed(self, term: Term) -> list[Value | Missing]:
        if term.args and term.base:
            return self._applied(term)
        if term.args:
            places = [self.names.index(one) for one in term.args]
            return [
                scene.get(term.path[0], tuple(row[at] for at in places))  # type: ignore[misc]
                for scene, row in zip(self.scenes, self.rows, strict=True)
            ]
        if not term.base:
            return [scene.get(term.path[0], ()) for scene in self.scenes]
        if not term.path:
            at = self.names.index(term.base)
            return [row[at] for row in self.rows]
        inner = self.column(Term(term.base, term.path[:-1], "object"))
        name = term.path[-1]
        if term.counted:
            return [
                MISSING if value is MISSING or value is None
                else _count(scene, name, term.counted, value, self.vocabulary)
                for scene, value in zip(self.scenes, inner, strict=True)
            ]  # fmt: skip
        return [
            MISSING if value is MISSING or value is None
            else scene.facts[name].get((value,), MISSING)  # type: ignore[arg-type]
            for scene, value in zip(self.scenes, inner, strict=True)
        ]  # fmt: skip

    def _applied(self, term: Term) -> list[Value | Missing]:
        """Return the values of a function whose first argument is a path and the others
        variables."""
        places = [self.names.index(one) for one in term.args]
        inner = self.column(Term(term.base, term.path[:-1], "object"))
        return [
            MISSING if value is MISSING or value is None
            else scene.get(term.path[-1], (value, *(row[at] for at in places)))  # type: ignore[arg-type]
            for scene, row, value in zip(self.scenes, self.rows, inner, strict=True)
        ]  # fmt: skip

    def coded(self, term: Term) -> npt.NDArray[np.int64]:
        """Return the values of a term as codes, equal where the values are; -1 where missing."""
        found = self._coded.get(term)
        if found is None:
            import numpy as np

            codes, kind = self._codes, term.kind in ("int", "real")
            found = np.fromiter(
                (-1 if one is MISSING else codes.setdefault(float(one) if kind and one is not None  # type: ignore[arg-type]
                                                            else one, len(codes))
                 for one in self.column(term)),
                np.int64, len(self.rows),
            )  # fmt: skip
            self._coded[term] = found
        return found

    def numbers(self, term: Term) -> npt.NDArray[np.float64]:
        """Return the values of a numeric term; NaN where it has none."""
        found = self._numeric.get(term)
        if found is None:
            import numpy as np

            nan = float("nan")
            found = self._numeric[term] = np.fromiter(
                (one if isinstance(one, (int, float)) else nan for one in self.column(term)),
                np.float64, len(self.rows),
            )  # fmt: skip
        return found

    def truth(self, one: Predicate) -> Truths:
        """Return the truth of a predicate for each instance; false if its terms have no values."""
        import numpy as np

        match one.op:
            case "is":
                assert one.left is not None
                assert isinstance(one.right, str)
                return self._typed(one.left, self.vocabulary.members(one.right), one.positive)
            case "true":
                assert one.left is not None
                wanted = self._codes.setdefault(one.positive, len(self._codes))
                return self._same(one.left, wanted)
            case "=":
                assert one.left is not None
                assert not isinstance(one.right, (Term, Exists))
                assert not isinstance(one.right, tuple)
                value = one.right
                if one.left.kind in ("int", "real") and isinstance(value, (int, float)):
                    value = float(value)
                same = self._same(one.left, self._codes.setdefault(value, len(self._codes)))
                return same if one.positive else ~same & (self.coded(one.left) >= 0)
            case "==":
                assert one.left is not None
                assert isinstance(one.right, Term)
                left, right = self.coded(one.left), self.coded(one.right)
                known: Truths = (left >= 0) & (right >= 0) & ((left == right) == one.positive)
                return known
            case ">=" | "<":
                assert one.left is not None
                left_numbers = self.numbers(one.left)
                other = one.right
                bound = self.numbers(other) if isinstance(other, Term) else other
                with np.errstate(invalid="ignore"):
                    above: Truths = left_numbers >= bound  # type: ignore[operator]
                    below: Truths = left_numbers < bound  # type: ignore[operator]
                return above if (one.op == ">=") == one.positive else below
            case "any":
                assert isinstance(one.right, Exists)
                if one.far is not None:
                    assert one.left is not None
                    return self._linked(one.left, one.far, one.right, one.positive)
                return self._exists(one.left, one.right, one.positive)
            case "and":
                every = np.ones(len(self.rows), dtype=np.bool_)
                for part in one.parts():
                    every &= self.truth(part)
                return every
            case _:
                raise ValueError(one.op)

    def _same(self, term: Term, code: int) -> Truths:
        found: Truths = self.coded(term) == code
        return found

    def _typed(self, term: Term, kinds: frozenset[str], positive: bool) -> Truths:
        def of(scene: Scene) -> Iterable[int]:
            return (x for x, kind in scene.kinds.items() if kind in kinds)

        return self._among(term, kinds, of, positive)

    def _among(
        self, term: Term, key: object, of: Callable[[Scene], Iterable[int]], positive: bool
    ) -> Truths:
        """Return whether a term is one of some objects of its scene; false where it is none."""
        scenes, values = self._scene_numbers(), self._things(term)
        inside = self._members.get(key)
        if inside is None:
            inside = self._members[key] = self._filled(of)
        found: Truths = (values >= 0) & (inside[scenes, values] == positive)
        return found

    def _filled(self, of: Callable[[Scene], Iterable[int]]) -> Truths:
        """Return, for each distinct scene and number of an object, whether it is one of some."""
        import numpy as np

        width = 2 + max((x for scene in self._distinct for x in scene.kinds), default=0)
        found = np.zeros((len(self._distinct), width), dtype=np.bool_)
        for at, scene in enumerate(self._distinct):
            found[at, [x for x in of(scene) if x < width - 1]] = True
        return found

    def _scene_numbers(self) -> npt.NDArray[np.int64]:
        """Return the number of each instance's scene among the distinct ones."""
        import numpy as np

        if not self._places:
            numbers: dict[int, int] = {}
            for one in self.scenes:
                if id(one) not in numbers:
                    numbers[id(one)] = len(self._distinct)
                    self._distinct.append(one)
            self._places.append(np.array([numbers[id(one)] for one in self.scenes], dtype=np.int64))
        return self._places[0]

    def _things(self, term: Term) -> npt.NDArray[np.int64]:
        """Return the objects of a term, by number; -1 where it is none that the scene has."""
        import numpy as np

        found = self._numbers.get(term)
        if found is None:
            found = np.fromiter(
                (value if isinstance(value, int) and value in scene.kinds else -1
                 for scene, value in zip(self.scenes, self.column(term), strict=True)),
                np.int64, len(self.rows),
            )  # fmt: skip
            self._numbers[term] = found
        return found

    def _linked(self, left: Term, far: Term, one: Exists, positive: bool) -> Truths:
        import numpy as np

        pairs = zip(self.scenes, self.column(left), self.column(far), strict=True)
        return np.fromiter(
            (isinstance(x, int) and isinstance(y, int)
             and ((x, y) in _links(scene, one, self.vocabulary)) == positive
             for scene, x, y in pairs),
            np.bool_, len(self.rows),
        )  # fmt: skip

    def _exists(self, term: Term | None, one: Exists, positive: bool) -> Truths:
        import numpy as np

        def of(scene: Scene) -> Iterable[int]:
            return _found(scene, one, self.vocabulary)

        if term is not None:
            return self._among(term, one, of, positive)
        scenes = self._scene_numbers()
        some = np.array([bool(of(scene)) for scene in self._distinct], dtype=np.bool_)
        found: Truths = some[scenes] == positive
        return found


def _links(scene: Scene, one: Exists, vocabulary: Vocabulary) -> frozenset[tuple[Value, Value]]:
    """Return the pairs of values that such objects link."""
    key = ("links", one)
    found = scene.cache.get(key)
    if found is None:
        pairs: set[tuple[Value, Value]] = set()
        for thing in _matching(scene, one, vocabulary):
            pair = scene.facts[one.how].get((thing,)), scene.facts[one.other].get((thing,))
            pairs.add(pair)
            if one.both:
                pairs.add(pair[::-1])
        found = scene.cache[key] = frozenset(pairs)
    assert isinstance(found, frozenset)
    return found


def _matching(scene: Scene, one: Exists, vocabulary: Vocabulary) -> Iterator[int]:
    """Yield the objects of the type with the property."""
    kinds = vocabulary.members(one.sort)
    facts = scene.facts.get(one.fluent, {})
    for thing, kind in scene.kinds.items():
        if kind in kinds and (not one.fluent or facts.get((thing,), MISSING) == one.value):
            yield thing


def _found(scene: Scene, one: Exists, vocabulary: Vocabulary) -> frozenset[int]:
    """Return the objects related to such an object; for the whole world the objects themselves.
    Computed once for each scene."""
    found = scene.cache.get(one)
    if found is None:
        related: set[int] = set()
        for thing in _matching(scene, one, vocabulary):
            if not one.how:
                related.add(thing)
            elif one.how == "under":
                related.update(scene.above(thing))
            elif one.how == "over":
                related.update(x for x in scene.kinds if thing in scene.above(x))
            else:
                value = scene.facts[one.how].get((thing,))
                related |= {value} if isinstance(value, int) else set()
        found = scene.cache[one] = frozenset(related)
    assert isinstance(found, frozenset)
    return found


def _count(scene: Scene, name: str, sort: str, value: object, vocabulary: Vocabulary) -> int:
    key = ("count", name, sort)
    found = scene.cache.get(key)
    if found is None:
        counts: dict[Value, int] = {}
        kinds = vocabulary.members(sort)
        for (thing, *_), holder in scene.facts[name].items():
            if isinstance(thing, int) and scene.kinds.get(thing) in kinds:
                counts[holder] = counts.get(holder, 0) + 1
        found = scene.cache[key] = counts
    assert isinstance(found, dict)
    number = found.get(value, 0)
    assert isinstance(number, int)
    return number


# ---- the terms and predicates that there are ----------------------------------------------------


@dataclass(frozen=True)
class Language:
    """The terms and predicates over some variables. ``varying`` are the fluents that are not the
    same for all objects of each of their types."""

    vocabulary: Vocabulary
    variables: tuple[Var, ...]
    varying: frozenset[str]
    actor: bool = False
    hidden: frozenset[str] = frozenset()
    """Fluents that rules do not read."""

    @cached_property
    def objects(self) -> tuple[Term, ...]:
        """Terms that are objects, up to two attributes away."""
        found = [Term(one.name, (), "object") for one in self.variables if self._thing(one)]
        found += [Term(ME, (), "object")] if self.actor else []
        links = [one for one in self.vocabulary.fluents.values()
                 if one.kind == "object" and one.attribute]  # fmt: skip
        near = [Term(one.base, (link.name,), "object", "", (), "", link.optional)
                for one in found for link in links if self._may(one, link.owners)]  # fmt: skip
        far = [Term(one.base, (*one.path, HOLDER), "object", "", (), "", True)
               for one in near if self.vocabulary.ordered and one.path == (HOLDER,)]  # fmt: skip
        return tuple(found + near + far)

    def _thing(self, one: Var) -> bool:
        return bool(self.vocabulary.members(one.sort))

    def _may(self, term: Term, owners: frozenset[str]) -> bool:
        """Return whether the object may be of one of these types."""
        sort = next((one.sort for one in self.variables if one.name == term.base), ANY)
        return bool(term.path) or bool(self.vocabulary.members(sort) & owners) or sort == ANY

    @cached_property
    def values(self) -> tuple[Term, ...]:
        """Return terms that are no objects."""
        found = [
            Term(one.name, (), "int") if one.sort == "int" else Term(one.name, (), "enum", one.sort)
            for one in self.variables if not self._thing(one)
        ]  # fmt: skip
        for fluent in self.vocabulary.fluents.values():
            if fluent.name in self.hidden:
                continue
            if not fluent.params:
                found.append(Term("", (fluent.name,), fluent.kind, fluent.of))
            elif fluent.attribute and fluent.kind != "object" and fluent.name in self.varying:
                found += [
                    Term(one.base, (*one.path, fluent.name), fluent.kind, fluent.of, (), "",
                         fluent.optional)
                    for one in self.objects if self._may(one, fluent.owners)
                ]  # fmt: skip
        return (*found, *self._functions, *self._applied)

    @cached_property
    def _functions(self) -> tuple[Term, ...]:
        """Return fluents of two variables."""
        return tuple(
            Term("", (fluent.name,), fluent.kind, fluent.of, (one.name, other.name), "",
                 fluent.optional)
            for fluent in self.vocabulary.fluents.values() if len(fluent.params) == 2
            for one, other in self._pairs
            if self._fits(one, fluent.params[0]) and self._fits(other, fluent.params[1])
        )  # fmt: skip

    @cached_property
    def _applied(self) -> tuple[Term, ...]:
        """Return fluents of the value of an attribute and of a word: `exit(me.at, d)`."""
        words = [one for one in self.variables if not self._thing(one)]
        return tuple(
            Term(one.base, (*one.path, fluent.name), fluent.kind, fluent.of, (word.name,), "",
                 fluent.optional)
            for fluent in self.vocabulary.fluents.values() if len(fluent.params) == 2
            for word in words if word.sort == fluent.params[1]
            for one in self.objects
            if len(one.path) == 1
            and self._may(one, fluent.owners or self.vocabulary.members(fluent.params[0]))
        )  # fmt: skip

    @cached_property
    def _pairs(self) -> list[tuple[Var, Var]]:
        """Return variables that belong together: those of the slot; a parameter and the next one,
        as in `connect {x} {p} to {y} {q}`; and any two objects."""
        params = [one for one in self.variables if one.name not in OVER]
        over = [one for one in self.variables if one.name in OVER]
        found = [*pairwise(over), *pairwise(params)]
        things = [one for one in self.variables if self._thing(one)]
        found += [(one, other) for one in things for other in things if one != other]
        return list(dict.fromkeys(found))

    def _fits(self, one: Var, sort: str) -> bool:
        mine, other = self.vocabulary.members(one.sort), self.vocabulary.members(sort)
        return bool(mine & other) if mine else one.sort == sort

    def terms(self) -> tuple[Term, ...]:
        """Return all terms."""
        return self.objects + self.values

    # ---- predicates ---------------------------------------------------------------------------

    def predicates(self, table: Table) -> list[Predicate]:
        """Return the predicates that are true of some instances of a table and false of others."""
        every = [*self._types(), *self._truths(), *self._equal(table), *self._known(table),
                 *self._numeric(table), *self._some(), *self._linking()]  # fmt: skip
        return every

    def _types(self) -> Iterator[Predicate]:
        sorts = [*self.vocabulary.types, *self.vocabulary.groups]
        for term in self.objects:
            if len(term.path) < 2:
                for sort in sorts:
                    yield Predicate("is", term, sort, True, 2.0 + term.cost)
                    yield Predicate("is", term, sort, False, 2.7 + term.cost)

    def _truths(self) -> Iterator[Predicate]:
        for term in self.values:
            if term.kind == "bool":
                yield Predicate("true", term, None, True, 1.5 + term.cost)
                yield Predicate("true", term, None, False, 1.7 + term.cost)

    def _equal(self, table: Table) -> Iterator[Predicate]:
        """Yield predicates that two terms of one kind are equal."""
        objects = [*self.objects, *(one for one in self.values if one.kind == "object")]
        for at, one in enumerate(objects):
            for other in objects[:at]:
                if len(one.path) + len(other.path) < 3 and one.base + other.base:
                    cost = (
                        self._near(one, other)
                        + one.cost
                        + other.cost
                        + (0.5 if one.path and other.path else 0.0)
                    )
                    yield Predicate("==", one, other, True, cost)
                    yield Predicate("==", one, other, False, cost + 0.7)
        words = [one for one in self.values if one.kind == "enum"]
        for at, one in enumerate(words):
            for other in words[:at]:
                if one.of == other.of:
                    yield Predicate("==", one, other, True, 1.5 + one.cost + other.cost)
                    yield Predicate("==", one, other, False, 2.0 + one.cost + other.cost)

    def _near(self, one: Term, other: Term) -> float:
        """Return the cost of stating that two objects are the same: least that a slot is that of a
        parameter, so that rules prefer named objects, also where there is no other object."""
        bases = [term.base for term in (one, other) if not term.path]
        over = [base for base in bases if base in OVER]
        return -0.5 if len(bases) == 2 and len(over) == 1 and ME not in bases else 1.0

    def _known(self, table: Table) -> Iterator[Predicate]:
        """Yield predicates that a term has one of its observed values."""
        for term in self.terms():
            if term.kind in ("enum", "text") or term.optional:
                values = set(table.column(term)) - {MISSING}
                texts = sorted(one for one in values if isinstance(one, str))
                most = _MEMBERS if term.kind == "enum" else _TEXTS
                named: list[Value] = [*texts] if len(texts) <= most else []
                if None in values and term.optional:
                    named.append(None)
                for value in named:
                    yield Predicate("=", term, value, True, 2.5 + term.cost)
                    yield Predicate("=", term, value, False, 3.0 + term.cost)
            if term.kind == "object":
                for number in self.vocabulary.constants:
                    yield Predicate("=", term, number, True, 3.0 + term.cost)
                    yield Predicate("=", term, number, False, 3.5 + term.cost)

    def _numeric(self, table: Table) -> Iterator[Predicate]:
        numbers = [one for one in self.values if one.kind in ("int", "real")]
        counts = [
            Term(one.base, (*one.path, link.name), "int", "", (), ANY)
            for one in self.objects if len(one.path) == 0
            for link in self.vocabulary.fluents.values()
            if link.kind == "object" and link.attribute and link.name == HOLDER
        ]  # fmt: skip
        for term in [*numbers, *counts]:
            values = sorted({one for one in table.column(term) if isinstance(one, (int, float))})
            spread = values[1:] if len(values) <= 12 else values[1 :: max(1, len(values) // 12)]
            for value in spread:
                yield Predicate(">=", term, value, True, 2.8 + term.cost)
                yield Predicate(">=", term, value, False, 2.8 + term.cost)
            if term.kind == "int" and 1 < len(values) <= 12:
                for value in values:
                    yield Predicate("=", term, value, True, 3.0 + term.cost)
                    yield Predicate("=", term, value, False, 3.3 + term.cost)
        for at, one in enumerate(numbers):
            for other in numbers[:at]:
                if len(one.path) + len(other.path) < 4 and one.of == other.of:
                    cost = 3.5 + one.cost + other.cost
                    yield Predicate("<", one, other, True, cost)
                    yield Predicate("<", one, other, False, cost)
                    yield Predicate("==", one, other, True, cost)
                    yield Predicate("==", one, other, False, cost)

    def _some(self) -> Iterator[Predicate]:
        """Yield predicates about some other object, of a type and with one property."""
        links = [one.name for one in self.vocabulary.fluents.values()
                 if one.kind == "object" and one.attribute]  # fmt: skip
        hows = [*links, *(("under", "over") if self.vocabulary.ordered else ())]
        for sort, fluent, value, extra in self._properties:
            for term in self.objects:
                for how in hows:
                    if len(term.path) == 0 or (len(term.path) == 1 and how in links):
                        right = Exists(how, sort, fluent, value)
                        cost = 3.0 + extra + term.cost + 0.5 * len(term.path)
                        yield Predicate("any", term, right, True, cost)
                        yield Predicate("any", term, right, False, cost + 0.5)
            right = Exists("", sort, fluent, value)
            yield Predicate("any", None, right, True, 3.5 + extra)
            yield Predicate("any", None, right, False, 4.0 + extra)

    def _linking(self) -> Iterator[Predicate]:
        """Yield predicates about an object that links two others, such as a door of two rooms."""
        near = [one for one in self.objects if len(one.path) < 2]
        for sort, fluent, value, extra in self._properties:
            links = [one.name for one in self.vocabulary.owned(sort)
                     if one.kind == "object" and one.attribute and one.name != HOLDER]  # fmt: skip
            for at, how in enumerate(links):
                for other in links[:at]:
                    for one in near:
                        for far in near:
                            if one != far:
                                yield from self._link(
                                    one, far, how, other, sort, fluent, value, extra
                                )

    def _link(
        self, one: Term, far: Term, how: str, other: str, sort: str, fluent: str, value: Value,
        extra: float,
    ) -> Iterator[Predicate]:  # fmt: skip
        cost = 3.5 + extra + one.cost + far.cost
        straight = Exists(how, sort, fluent, value, other)
        yield Predicate("any", one, straight, True, cost + 0.3, far)
        if (one.base, one.path) < (far.base, far.path):
            either = Exists(how, sort, fluent, value, other, True)
            yield Predicate("any", one, either, True, cost, far)
            yield Predicate("any", one, either, False, cost + 0.5, far)

    @cached_property
    def _properties(self) -> list[tuple[str, str, Value, float]]:
        """Return types, and types with a value of a truth, enum or text that varies among them."""
        found: list[tuple[str, str, Value, float]] = []
        for kind in self.vocabulary.types:
            found.append((kind, "", None, 0.0))
            for fluent in self.vocabulary.owned(kind):
                if fluent.name not in self.varying or fluent.kind not in ("bool", "enum", "text"):
                    continue
                values: Sequence[Value] = fluent.values
                if fluent.kind == "bool":
                    values = (True, False)
                if len(values) <= 8:
                    found += [(kind, fluent.name, one, 1.0) for one in values if one is not None]
        return found


def typed_by(guard: Iterable[Predicate], name: str) -> str:
    """Return the type that a guard says a variable has."""
    for one in guard:
        if one.op == "is" and one.positive and one.left == Term(name, (), "object"):
            return str(one.right)
    return ""
