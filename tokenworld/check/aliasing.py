"""When two slots are provably different (language.md §5, the aliasing rule)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from tokenworld.check.plain import Sorted, sorted_fields
from tokenworld.check.relations import can_equal
from tokenworld.check.substitution import locals_of, renamed, substituted
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    And,
    Binder,
    Body,
    ClosureOf,
    CollectionRange,
    Compare,
    Create,
    Domain,
    Draw,
    EnumLiteral,
    Fluent,
    Fold,
    For,
    Implies,
    InverseOf,
    Let,
    Local,
    Not,
    NumberLiteral,
    ObjectKind,
    ObjectLiteral,
    ObjectType,
    Or,
    Pick,
    Read,
    Term,
    effects_in,
)

__all__ = ["Knowledge", "skeleton"]


def skeleton(term: object) -> object:
    """A term without its places: two terms with one skeleton are written alike."""
    kind = type(term)
    if kind is tuple:
        return tuple([skeleton(part) for part in term])  # type: ignore[attr-defined]
    parts = _PARTS.get(kind)
    if parts is None:
        parts = _PARTS[kind] = sorted_fields(kind)
    plain, nested = parts
    if not plain and not nested:
        return None if kind is Span else term
    made: list[object] = [kind]
    for name in plain:
        made.append(getattr(term, name))
    for name in nested:
        made.append(skeleton(getattr(term, name)))
    return tuple(made)


_PARTS: dict[type, Sorted] = {}


@frozen
class Knowledge:
    """What is known where a slot is read or written.

    ``apart`` holds pairs of terms (by skeleton) that some condition keeps apart, ``homes`` the
    collection that a loop variable comes from, ``born`` the names of objects that this body
    creates, ``names`` the values that `let` names, ``behind`` variables of loops that are over.
    Where two rounds of a loop are compared,
    ``rounds`` are the variables that surely differ, ``varying`` all that may.
    """

    types: Mapping[str, ObjectKind]
    fluents: Mapping[str, Fluent]
    apart: frozenset[tuple[object, object]] = frozenset()
    homes: Mapping[str, Term] = field(default_factory=dict)
    rounds: frozenset[str] = frozenset()
    varying: frozenset[str] = frozenset()
    born: frozenset[str] = frozenset()
    names: Mapping[str, Term] = field(default_factory=dict)
    behind: frozenset[str] = frozenset()

    # ---- learning -------------------------------------------------------------------------

    def given(self, condition: Term | None, holds: bool = True) -> Knowledge:
        """The same with what a condition tells that holds, or does not."""
        pairs = set(self.apart)
        for left, right in _inequalities(condition, holds):
            one, other = skeleton(self._open(left)), skeleton(self._open(right))
            pairs |= {(one, other), (other, one)}
        return replace(self, apart=frozenset(pairs))

    def bound(self, binders: tuple[Binder, ...]) -> Knowledge:
        """The same inside a loop."""
        homes = dict(self.homes)
        for binder in binders:
            if isinstance(binder.domain, CollectionRange):
                homes[binder.name] = self._open(binder.domain.collection)
        return replace(self, homes=homes)

    def let(self, effect: Let) -> Knowledge:
        """The same with one more name; a drawn value is told apart from nothing."""
        if isinstance(effect.value, Draw):
            return self
        return replace(self, names={**self.names, effect.name: self._open(effect.value)})

    def created(self, *names: str) -> Knowledge:
        """The same with new objects: no term of the state before the body leads to them."""
        return replace(self, born=self.born | set(names))

    def folded(self, fold: Fold) -> Knowledge:
        """The same inside a fold; between rounds its variables may be anything that it admits."""
        inner = self.bound(fold.binders).given(fold.where)
        if not self.rounds and not self.varying:
            return inner
        names = {binder.name for binder in fold.binders}
        return replace(inner, varying=self.varying | names)

    def closed(self, loop: For, names: Mapping[str, str]) -> Knowledge:
        """The same behind a loop, whose variables go by other names from here on."""
        binders = tuple(
            replace(binder, name=names[binder.name], domain=_domain(binder.domain, names))
            for binder in loop.binders
        )
        where = None if loop.where is None else renamed(loop.where, names)
        inner = self.bound(binders).given(where)
        return replace(inner, behind=self.behind | set(names.values()))

    def between_rounds(
        self, binders: tuple[Binder, ...], body: Body, outer: Knowledge
    ) -> Knowledge:
        """The same for two rounds of a loop: each binds and creates objects of its own.

        The variable of a loop over one variable surely differs; of several only one may.
        """
        one = {binder.name for binder in binders} if len(binders) == 1 else set[str]()
        created = {effect.name for effect in effects_in(body) if isinstance(effect, Create)}
        inner = self
        for effect in effects_in(body):
            if isinstance(effect, (For, Pick)):
                inner = inner.bound(effect.binders)
        varying = {binder.name for binder in binders} | _bound_in(body)
        varying |= self.behind - outer.behind
        return replace(
            inner,
            rounds=self.rounds | one | created,
            varying=self.varying | varying,
            born=self.born | created,
        )

    def _open(self, term: Term) -> Term:
        return substituted(term, self.names)

    # ---- telling apart --------------------------------------------------------------------

    def different(self, left: tuple[Term, ...], right: tuple[Term, ...]) -> bool:
        """Whether two argument tuples of one fluent are provably not the same slot."""
        pairs = zip(left, right, strict=True)
        return any(self._differs(self._open(one), self._open(other)) for one, other in pairs)

    def _differs(self, left: Term, right: Term) -> bool:
        if isinstance(left, Local) and isinstance(right, Local) and left.name == right.name:
            return left.name in self.rounds
        if self._new(left, right) or self._new(right, left):
            return True
        if (skeleton(left), skeleton(right)) in self.apart:
            return not (self._varies(left) and self._varies(right))
        match left, right:
            case ObjectLiteral(name=one), ObjectLiteral(name=other):
                return one != other
            case EnumLiteral(index=one_), EnumLiteral(index=other_):
                return one_ != other_
            case NumberLiteral(value=one_), NumberLiteral(value=other_):
                return one_ != other_
            case _:
                return self._disjoint(left, right) or self._contained(left, right)

    def _varies(self, term: Term) -> bool:
        """Whether a term may have another value in another round."""
        return bool(locals_of(term) & self.varying)

    def _new(self, left: Term, right: Term) -> bool:
        """A created object and anything that this body did not create."""
        if not isinstance(left, Local) or left.name not in self.born:
            return False
        known = isinstance(right, Local) and right.name in self.born
        return known or not (locals_of(right) & self.born)

    def _disjoint(self, left: Term, right: Term) -> bool:
        if not isinstance(left.type, ObjectType) or not isinstance(right.type, ObjectType):
            return False
        return not can_equal(self.types, left.type, right.type)

    def _contained(self, left: Term, right: Term) -> bool:
        """A container and what is inside it; the contents of two different holders."""
        if self._inside(left, right) or self._inside(right, left):
            return True
        one, other = self._home(left), self._home(right)
        if not isinstance(one, InverseOf) or not isinstance(other, InverseOf):
            return False
        same = one.fluent == other.fluent and one.was == other.was
        settled = not (self._varies(one.of) and self._varies(other.of))
        return same and settled and self._differs(one.of, other.of)

    def _inside(self, inner: Term, outer: Term) -> bool:
        """Whether ``inner`` provably lies in ``outer``, directly or not."""
        if self._varies(outer):
            return False
        return any(skeleton(one) == skeleton(outer) for one in self._holders(inner, outer))

    def _holders(self, inner: Term, outer: Term) -> list[Term]:
        """Containers of a term that follow from loops and from the way the other is written."""
        found, todo = list[Term](), [inner]
        chain = _chain(outer, self.fluents)
        while todo:
            term = todo.pop()
            home = self._home(term)
            above = [home.of] if home is not None and self.fluents[home.fluent].nested else []
            above += [read for read in chain if skeleton(read.args[0]) == skeleton(term)]
            todo += [one for one in above if one not in found]
            found += above
        return found

    def _home(self, term: Term) -> InverseOf | ClosureOf | None:
        home = self.homes.get(term.name) if isinstance(term, Local) else None
        return home if isinstance(home, (InverseOf, ClosureOf)) else None


def _domain(domain: Domain, names: Mapping[str, str]) -> Domain:
    if isinstance(domain, CollectionRange):
        return replace(domain, collection=renamed(domain.collection, names))
    return domain


def _bound_in(body: Body) -> set[str]:
    """The names that a body binds anywhere."""
    found: set[str] = set()
    for effect in effects_in(body):
        if isinstance(effect, (For, Pick)):
            found |= {binder.name for binder in effect.binders}
        elif isinstance(effect, (Let, Create)):
            found.add(effect.name)
    return found


def _chain(term: Term, fluents: Mapping[str, Fluent]) -> list[Read]:
    """``x.at.at`` and ``x.at``, as far as the attribute holds what is inside."""
    found: list[Read] = []
    while isinstance(term, Read) and not term.was and fluents[term.fluent].nested:
        found.append(term)
        term = term.args[0]
    return found


def _inequalities(condition: Term | None, holds: bool) -> list[tuple[Term, Term]]:
    match condition:
        case Compare(op=op, left=left, right=right) if op == ("!=" if holds else "=="):
            return [(left, right)]
        case Not(term=inner):
            return _inequalities(inner, not holds)
        case And(terms=terms) if holds:
            return [pair for term in terms for pair in _inequalities(term, holds)]
        case Or(terms=terms) if not holds:
            return [pair for term in terms for pair in _inequalities(term, holds)]
        case Implies(left=left, right=right) if not holds:
            return [*_inequalities(left, True), *_inequalities(right, False)]
        case _:
            return []
