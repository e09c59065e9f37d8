"""How often one slot may be hit: the bindings of a rule that lead to the same slot."""

from __future__ import annotations

from collections.abc import Iterable

from tokenworld.check.draft import Draft
from tokenworld.check.relations import is_subtype
from tokenworld.check.substitution import locals_of
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    Action,
    And,
    Binder,
    Body,
    CollectionRange,
    Compare,
    Create,
    EnumType,
    IntervalRange,
    Law,
    Local,
    ObjectType,
    Read,
    Term,
    TypeRange,
    effects_in,
)

__all__ = ["Population", "repeats"]


@frozen
class Population:
    """How many objects of a type there can be in any world; ``None``: unknown."""

    draft: Draft
    created: frozenset[str]

    @classmethod
    def of(cls, draft: Draft) -> Population:
        """Count nothing yet, but note which types are created by rules, setups and layouts."""
        rules: tuple[Action | Law, ...] = (*draft.actions.values(), *draft.laws.values())
        found = draft.memo.each("made", rules, lambda rule: _made(_own(rule)))
        made = _made(_settings(draft)).union(*found)
        made |= {layout.of for world in draft.worlds.values() for layout in world.layouts}
        return cls(draft, frozenset(made))

    @property
    def key(self) -> tuple[object, ...]:
        """What the counts depend on, by identity: one name is one object in this table."""
        return tuple(self.draft.types.get(name, name) for name in sorted(self.created))

    def most(self, binder: Binder) -> int | None:
        """The largest number of values of a variable."""
        match binder.domain:
            case IntervalRange(low=low, high=high):
                return high - low + 1
            case TypeRange(of=EnumType(name=name)):
                return len(self.draft.enums[name].members)
            case TypeRange(of=ObjectType(name=name)) | CollectionRange(only=str() as name):
                return self._objects(name)
            case _:
                kind = binder.type
                return self._objects(kind.name) if isinstance(kind, ObjectType) else None

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


def _made(bodies: Iterable[Body]) -> frozenset[str]:
    """The types that bodies create objects of."""
    return frozenset(
        effect.of for body in bodies for effect in effects_in(body) if isinstance(effect, Create)
    )


def _own(rule: Action | Law) -> tuple[Body, ...]:
    return (rule.body, rule.cancelled) if isinstance(rule, Action) else (rule.body,)


def _settings(draft: Draft) -> Iterable[Body]:
    yield from (birth.body for birth in draft.births)
    for world in draft.worlds.values():
        yield from world.setups
        for layout in world.layouts:
            yield from (legend.body for legend in layout.legends)


def repeats(
    args: tuple[Term, ...],
    binders: Iterable[Binder],
    known: tuple[Term, ...],
    people: Population,
) -> int | None:
    """How many bindings of ``binders`` may lead to one slot with these arguments.

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
    args: tuple[Term, ...], known: tuple[Term, ...], free: frozenset[str], draft: Draft
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


def _by(term: Term, draft: Draft) -> set[str]:
    """The variable that a value settles: itself, or the owner of a ``unique`` attribute."""
    match term:
        case Local(name=name):
            return {name}
        case Read(fluent=fluent, args=(Local(name=name),), was=False):
            return {name} if draft.fluents[fluent].unique else set()
        case _:
            return set()


def _equations(known: Iterable[Term]) -> list[tuple[Term, Term]]:
    found: list[tuple[Term, Term]] = []
    for term in known:
        if isinstance(term, And):
            found += _equations(term.terms)
        elif isinstance(term, Compare) and term.op == "==":
            found += [(term.left, term.right), (term.right, term.left)]
    return found
