"""Proofs that two slots differ, and that a rule visits a slot at most once (language.md §5).

`Knowledge` holds facts about locals and proves that two slots differ. `slots_read` lists the slots
that a term reads. `repeats` tells whether several bindings of a rule lead to one slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import assert_never

from tokenworld import model as m
from tokenworld.check.analysis.substitution import (
    Sorted,
    Vocabulary,
    freshened,
    inlined,
    locals_of,
    renamed,
    sorted_fields,
    substituted,
)
from tokenworld.check.draft import Draft
from tokenworld.check.typing.types import can_equal, is_subtype
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import binders_of, children, effects_in, fluents_read


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
    """Facts known where a slot is read or written; answers whether two slots differ.

    ``apart`` holds pairs of terms (by skeleton) that some condition keeps apart, ``homes`` the
    collection that a loop variable comes from, ``born`` the names of objects that this body
    creates, ``names`` the values that `let` names, ``behind`` variables of loops that are over.
    Where two rounds of a loop are compared,
    ``rounds`` are the variables that surely differ, ``varying`` all that may.
    """

    types: Mapping[str, m.ObjectKind]
    fluents: Mapping[str, m.Fluent]
    apart: frozenset[tuple[object, object]] = frozenset()
    homes: Mapping[str, m.Term] = field(default_factory=dict)
    rounds: frozenset[str] = frozenset()
    varying: frozenset[str] = frozenset()
    born: frozenset[str] = frozenset()
    names: Mapping[str, m.Term] = field(default_factory=dict)
    behind: frozenset[str] = frozenset()

    # ---- learning -------------------------------------------------------------------------

    def given(self, condition: m.Term | None, holds: bool = True) -> Knowledge:
        """The same with the inequalities that follow where a condition holds, or does not."""
        pairs = set(self.apart)
        for left, right in _inequalities(condition, holds):
            one, other = skeleton(self._open(left)), skeleton(self._open(right))
            pairs |= {(one, other), (other, one)}
        return replace(self, apart=frozenset(pairs))

    def bound(self, binders: tuple[m.Binder, ...]) -> Knowledge:
        """The same inside a loop."""
        homes = dict(self.homes)
        for binder in binders:
            if isinstance(binder.domain, m.CollectionRange):
                homes[binder.name] = self._open(binder.domain.collection)
        return replace(self, homes=homes)

    def let(self, effect: m.Let) -> Knowledge:
        """The same with one more name; nothing is known of a drawn value."""
        if isinstance(effect.value, m.Draw):
            return self
        return replace(self, names={**self.names, effect.name: self._open(effect.value)})

    def created(self, *names: str) -> Knowledge:
        """The same with new objects: no term evaluated before the body can equal them."""
        return replace(self, born=self.born | set(names))

    def folded(self, fold: m.Fold) -> Knowledge:
        """The same inside a fold; between rounds its variables may be anything that it admits."""
        inner = self.bound(fold.binders).given(fold.where)
        if not self.rounds and not self.varying:
            return inner
        names = {binder.name for binder in fold.binders}
        return replace(inner, varying=self.varying | names)

    def closed(self, loop: m.For, names: Mapping[str, str]) -> Knowledge:
        """The same after a loop, whose variables go by other names from here on."""
        binders = tuple(
            replace(binder, name=names[binder.name], domain=_domain(binder.domain, names))
            for binder in loop.binders
        )
        where = None if loop.where is None else renamed(loop.where, names)
        inner = self.bound(binders).given(where)
        return replace(inner, behind=self.behind | set(names.values()))

    def between_rounds(
        self, binders: tuple[m.Binder, ...], body: m.Body, outer: Knowledge
    ) -> Knowledge:
        """The same for two rounds of a loop: each binds and creates objects of its own.

        The variable of a loop over one variable surely differs; of several only one may.
        """
        one = {binder.name for binder in binders} if len(binders) == 1 else set[str]()
        created = {effect.name for effect in effects_in(body) if isinstance(effect, m.Create)}
        inner = self
        for effect in effects_in(body):
            inner = inner.bound(binders_of(effect))
        varying = {binder.name for binder in binders} | _bound_in(body)
        varying |= self.behind - outer.behind
        return replace(
            inner,
            rounds=self.rounds | one | created,
            varying=self.varying | varying,
            born=self.born | created,
        )

    def _open(self, term: m.Term) -> m.Term:
        return substituted(term, self.names)

    # ---- telling apart --------------------------------------------------------------------

    def different(self, left: tuple[m.Term, ...], right: tuple[m.Term, ...]) -> bool:
        """Return whether two argument tuples of one fluent are provably not the same slot."""
        pairs = zip(left, right, strict=True)
        return any(self._differs(self._open(one), self._open(other)) for one, other in pairs)

    def _differs(self, left: m.Term, right: m.Term) -> bool:
        if isinstance(left, m.Local) and isinstance(right, m.Local) and left.name == right.name:
            return left.name in self.rounds
        if self._new(left, right) or self._new(right, left):
            return True
        if (skeleton(left), skeleton(right)) in self.apart:
            return not (self._varies(left) and self._varies(right))
        match left, right:
            case m.ObjectLiteral(name=one), m.ObjectLiteral(name=other):
                return one != other
            case m.EnumLiteral(index=one_), m.EnumLiteral(index=other_):
                return one_ != other_
            case m.NumberLiteral(value=one_), m.NumberLiteral(value=other_):
                return one_ != other_
            case _:
                return self._disjoint(left, right) or self._contained(left, right)

    def _varies(self, term: m.Term) -> bool:
        """Return whether a term may have another value in another round."""
        return bool(locals_of(term) & self.varying)

    def _new(self, left: m.Term, right: m.Term) -> bool:
        """A created object and anything that this body did not create."""
        if not isinstance(left, m.Local) or left.name not in self.born:
            return False
        known = isinstance(right, m.Local) and right.name in self.born
        return known or not (locals_of(right) & self.born)

    def _disjoint(self, left: m.Term, right: m.Term) -> bool:
        if not isinstance(left.type, m.ObjectType) or not isinstance(right.type, m.ObjectType):
            return False
        return not can_equal(self.types, left.type, right.type)

    def _contained(self, left: m.Term, right: m.Term) -> bool:
        """Compare a container with its contents, and the contents of two different containers."""
        if self._inside(left, right) or self._inside(right, left):
            return True
        one, other = self._home(left), self._home(right)
        if not isinstance(one, m.InverseOf) or not isinstance(other, m.InverseOf):
            return False
        same = one.fluent == other.fluent and one.was == other.was
        settled = not (self._varies(one.of) and self._varies(other.of))
        return same and settled and self._differs(one.of, other.of)

    def _inside(self, inner: m.Term, outer: m.Term) -> bool:
        """Return whether ``inner`` provably lies in ``outer``, directly or not."""
        if self._varies(outer):
            return False
        return any(skeleton(one) == skeleton(outer) for one in self._holders(inner, outer))

    def _holders(self, inner: m.Term, outer: m.Term) -> list[m.Term]:
        """Containers of a term that follow from loops and from the way the other is written."""
        found, todo = list[m.Term](), [inner]
        chain = _chain(outer, self.fluents)
        while todo:
            term = todo.pop()
            home = self._home(term)
            above = [home.of] if home is not None and self.fluents[home.fluent].nested else []
            above += [read for read in chain if skeleton(read.args[0]) == skeleton(term)]
            todo += [one for one in above if one not in found]
            found += above
        return found

    def _home(self, term: m.Term) -> m.InverseOf | m.ClosureOf | None:
        home = self.homes.get(term.name) if isinstance(term, m.Local) else None
        return home if isinstance(home, (m.InverseOf, m.ClosureOf)) else None


def _domain(domain: m.Domain, names: Mapping[str, str]) -> m.Domain:
    if isinstance(domain, m.CollectionRange):
        return replace(domain, collection=renamed(domain.collection, names))
    return domain


def _bound_in(body: m.Body) -> set[str]:
    """The names that a body binds anywhere."""
    found: set[str] = set()
    for effect in effects_in(body):
        found |= {binder.name for binder in binders_of(effect)}
        if isinstance(effect, (m.Let, m.Create)):
            found.add(effect.name)
    return found


def _chain(term: m.Term, fluents: Mapping[str, m.Fluent]) -> list[m.Read]:
    """List ``x.at.at`` and ``x.at`` for nested attributes."""
    found: list[m.Read] = []
    while isinstance(term, m.Read) and not term.was and fluents[term.fluent].nested:
        found.append(term)
        term = term.args[0]
    return found


def _inequalities(condition: m.Term | None, holds: bool) -> list[tuple[m.Term, m.Term]]:
    match condition:
        case m.Compare(op=op, left=left, right=right) if op == ("!=" if holds else "=="):
            return [(left, right)]
        case m.Not(term=inner):
            return _inequalities(inner, not holds)
        case m.And(terms=terms) if holds:
            return [pair for term in terms for pair in _inequalities(term, holds)]
        case m.Or(terms=terms) if not holds:
            return [pair for term in terms for pair in _inequalities(term, holds)]
        case m.Implies(left=left, right=right) if not holds:
            return [*_inequalities(left, True), *_inequalities(right, False)]
        case (
            m.LeafTerm() | m.StateTerm() | m.And() | m.Or() | m.Implies() | m.TestTerm()
            | m.NumberTerm() | m.CompositeTerm() | None
        ):  # fmt: skip
            return []
        case _:
            assert_never(condition)


SlotRead = tuple[str, tuple[m.Term, ...] | None, Span, Knowledge]
"""A slot that is read: fluent, arguments (``None``: any), place, and the knowledge there."""


def slots_read(term: m.Term, draft: Vocabulary, known: Knowledge) -> Iterator[SlotRead]:
    """The slots a term reads. Conditions count: ``x != y and y.n > 1`` reads ``n`` of another."""
    match term:
        case m.Fold(binders=binders):
            fold = freshened(term, {binder.name for binder in binders})
            inner = known.folded(fold)
            for binder in fold.binders:
                if isinstance(binder.domain, m.CollectionRange):
                    yield from slots_read(binder.domain.collection, draft, known)
            if fold.where is not None:
                yield from slots_read(fold.where, draft, known.folded(replace(fold, where=None)))
            if fold.value is not None:
                yield from slots_read(fold.value, draft, inner)
        case m.And(terms=terms) | m.Or(terms=terms):
            for part in terms:
                yield from slots_read(part, draft, known)
                known = known.given(part, holds=isinstance(term, m.And))
        case m.Implies(left=left, right=right):
            yield from slots_read(left, draft, known)
            yield from slots_read(right, draft, known.given(left))
        case m.Choose(condition=condition, then=then, otherwise=otherwise):
            yield from slots_read(condition, draft, known)
            yield from slots_read(then, draft, known.given(condition))
            yield from slots_read(otherwise, draft, known.given(condition, holds=False))
        case (
            m.LeafTerm() | m.StateTerm() | m.Not() | m.TestTerm() | m.NumberTerm() | m.ListTerm()
            | m.BuiltinCall() | m.TemplateTerm()
        ):  # fmt: skip
            yield from _own(term, draft, known)
            for part in children(term):
                yield from slots_read(part, draft, known)
        case _:
            assert_never(term)


def _own(term: m.Term, draft: Vocabulary, known: Knowledge) -> Iterator[SlotRead]:
    """The slots that a term reads itself, not in its parts."""
    match term:
        case m.Read(fluent=fluent, args=args, was=False):
            yield fluent, args, term.span, known
        case m.InverseOf(fluent=fluent, was=False) | m.ClosureOf(fluent=fluent, was=False):
            yield fluent, None, term.span, known
        case m.DeriveCall(was=False):
            yield from _derived(term, draft, known)
        case (
            m.LeafTerm()
            | m.StateTerm()
            | m.LogicTerm()
            | m.TestTerm()
            | m.NumberTerm()
            | m.CompositeTerm()
        ):
            return
        case _:
            assert_never(term)


def _derived(call: m.DeriveCall, draft: Vocabulary, known: Knowledge) -> Iterator[SlotRead]:
    """The slots that a derive reads, after inlining; a recursive derive may read any slot."""
    opened = inlined(call, draft.derives)
    if opened is not None:
        for fluent, args, _, inner in slots_read(opened, draft, known):
            yield fluent, args, call.span, inner
    else:
        for fluent in sorted(fluents_read((call,), draft.derives)):
            yield fluent, None, call.span, known


@frozen
class Population:
    """The largest number of objects of a type in any world; ``None``: unknown."""

    draft: Draft
    created: frozenset[str]

    @classmethod
    def of(cls, draft: Draft) -> Population:
        """Count nothing yet, but note which types are created by rules, setups and layouts."""
        found = draft.memo.each("made", draft.rules, lambda rule: _made(own_bodies(rule)))
        made = _made(world_bodies(draft)).union(*found)
        made |= {layout.of for world in draft.worlds.values() for layout in world.layouts}
        return cls(draft, frozenset(made))

    @property
    def key(self) -> tuple[object, ...]:
        """The key of the counts, by identity: one name is one object in this table."""
        return tuple(self.draft.types.get(name, name) for name in sorted(self.created))

    def most(self, binder: m.Binder) -> int | None:
        """The largest number of values of a variable."""
        match binder.domain:
            case m.IntervalRange(low=low, high=high):
                return high - low + 1
            case m.TypeRange(of=m.EnumType(name=name)):
                return len(self.draft.enums[name].members)
            case m.TypeRange(of=m.ObjectType(name=name)) | m.CollectionRange(only=str() as name):
                return self._objects(name)
            case m.TypeRange() | m.CollectionRange():
                kind = binder.type
                return self._objects(kind.name) if isinstance(kind, m.ObjectType) else None
            case _:
                assert_never(binder.domain)

    def _objects(self, name: str) -> int | None:
        draft = self.draft
        if not draft.worlds or any(world.start for world in draft.worlds.values()):
            return None
        if any(is_subtype(draft.types, made, name) for made in self.created):
            return None
        counts = [
            sum(
                decl.world in (None, world) and is_subtype(draft.types, decl.of, name)
                for decl in draft.objects.values()
            )
            for world in draft.worlds
        ]
        return max(counts)


def _made(bodies: Iterable[m.Body]) -> frozenset[str]:
    """The types that bodies create objects of."""
    return frozenset(
        effect.of for body in bodies for effect in effects_in(body) if isinstance(effect, m.Create)
    )


def own_bodies(rule: m.Action | m.Law | m.Birth) -> tuple[m.Body, ...]:
    """The body of a rule, and the one that a cancelled action runs."""
    return (rule.body, rule.cancelled) if isinstance(rule, m.Action) else (rule.body,)


def world_bodies(draft: Draft) -> Iterator[m.Body]:
    """The bodies that make start states and new objects: births, setups, legends."""
    yield from (birth.body for birth in draft.births)
    for world in draft.worlds.values():
        yield from world.setups
        for layout in world.layouts:
            yield from (legend.body for legend in layout.legends)


def repeats(
    args: tuple[m.Term, ...],
    binders: Iterable[m.Binder],
    known: tuple[m.Term, ...],
    people: Population,
) -> int | None:
    """The largest number of bindings of ``binders`` that reach one slot with these arguments.

    A variable is settled by an argument that is it, by a ``unique`` attribute of it that is one,
    or by an equation that holds: for ``p.hob == h`` a slot of ``p`` is met with one ``h`` only.
    """
    fixed = {binder.name: binder for binder in binders}
    settled = _settled(args, known, frozenset(fixed), people.draft)
    total = 1
    for name, binder in fixed.items():
        if name not in settled:
            most = people.most(binder)
            if most is None:
                return None
            total *= most
    return total


def _settled(
    args: tuple[m.Term, ...], known: tuple[m.Term, ...], free: frozenset[str], draft: Draft
) -> frozenset[str]:
    found: set[str] = set()
    for arg in args:
        found |= _by(arg, draft)
    equations = _equations(known)
    while True:
        more = {
            name
            for left, right in equations
            if not (locals_of(right) & free - found)
            for name in _by(left, draft)
        }
        if more <= found:
            return frozenset(found)
        found |= more


def _by(term: m.Term, draft: Draft) -> set[str]:
    """The variable that a value settles: itself, or the owner of a ``unique`` attribute."""
    match term:
        case m.Local(name=name):
            return {name}
        case m.Read(fluent=fluent, args=(m.Local(name=name),), was=False):
            return {name} if draft.fluents[fluent].unique else set()
        case (
            m.LeafTerm()
            | m.StateTerm()
            | m.LogicTerm()
            | m.TestTerm()
            | m.NumberTerm()
            | m.CompositeTerm()
        ):
            return set()
        case _:
            assert_never(term)


def _equations(known: Iterable[m.Term]) -> list[tuple[m.Term, m.Term]]:
    found: list[tuple[m.Term, m.Term]] = []
    for term in known:
        if isinstance(term, m.And):
            found += _equations(term.terms)
        elif isinstance(term, m.Compare) and term.op == "==":
            found += [(term.left, term.right), (term.right, term.left)]
    return found
