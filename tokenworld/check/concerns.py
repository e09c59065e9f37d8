"""Which bodies may change what a ``conserve`` or ``invariant`` line depends on.

What each body writes is found once; a line then meets only the bodies that touch a fluent it
reads, or that make or end objects it counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenworld.check.intervals import Facts
from tokenworld.check.memo import Memo
from tokenworld.check.outcomes import Work, works
from tokenworld.check.past import fluents_written
from tokenworld.check.relations import can_equal
from tokenworld.check.rulebook import Rulebook
from tokenworld.check.terms import Translator
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    Action,
    Body,
    Conserve,
    Create,
    Destroy,
    Fold,
    Invariant,
    Law,
    ObjectType,
    Term,
    TypeRange,
    effects_in,
    fluents_read,
    subterms,
)

__all__ = ["Concerns"]


@frozen
class _Reach:
    """What a body changes: fluents, and the types of objects that it makes or ends."""

    written: frozenset[str]
    lives: tuple[ObjectType, ...]


@frozen
class _Needs:
    """What a line depends on: fluents, and the types of objects that it goes through."""

    read: frozenset[str]
    counted: tuple[ObjectType, ...]


@frozen
class Concerns:
    """The bodies of a program, found by what they change; ``lives`` are positions and types."""

    book: Rulebook
    memo: Memo
    works: tuple[Work, ...]
    reaches: list[_Reach]
    writers: dict[str, list[int]]
    lives: list[tuple[int, tuple[ObjectType, ...]]]

    @classmethod
    def of(cls, book: Rulebook, memo: Memo) -> Concerns:
        """Look at every body that is not empty."""
        if not book.conserves and not book.invariants:
            return cls(book, memo, (), [], {}, [])
        start = Facts(Translator(book))
        rules: tuple[Action | Law, ...] = (*book.actions.values(), *book.laws.values())
        each = memo.each("works", rules, lambda rule: works(rule, start))
        bodies = tuple([work for some in each for work in some if work.body])
        reaches = memo.each("reach", [work.body for work in bodies], lambda one: _reach(one, book))
        writers, lives = memo.whole("reached", reaches, lambda: _index(reaches))
        return cls(book, memo, bodies, reaches, writers, lives)

    def about(
        self, lines: Sequence[Conserve | Invariant]
    ) -> Iterator[tuple[Conserve | Invariant, tuple[Work, ...]]]:
        """Each line with the bodies that may change what it reads, or who there is to count."""
        needs = self.memo.each("needs", lines, lambda line: _needs(line, self.book))
        parts = (*needs, *self.reaches)
        met = self.memo.whole("met", parts, lambda: [self._met(one) for one in needs])
        for line, positions in zip(lines, met, strict=True):
            yield line, tuple([self.works[position] for position in positions])

    def _met(self, needs: _Needs) -> list[int]:
        """The positions of the bodies that may change what is needed, in order."""
        found = {position for fluent in needs.read for position in self.writers.get(fluent, ())}
        for position, kinds in self.lives:
            if any(
                can_equal(self.book.types, kind, one) for kind in kinds for one in needs.counted
            ):
                found.add(position)
        return sorted(found)


_Lives = list[tuple[int, tuple[ObjectType, ...]]]


def _index(reaches: list[_Reach]) -> tuple[dict[str, list[int]], _Lives]:
    writers: dict[str, list[int]] = {}
    lives: _Lives = []
    for position, reach in enumerate(reaches):
        for fluent in reach.written:
            writers.setdefault(fluent, []).append(position)
        if reach.lives:
            lives.append((position, reach.lives))
    return writers, lives


def _reach(body: Body, book: Rulebook) -> _Reach:
    lives = (_made_or_lost(effect) for effect in effects_in(body))
    written = fluents_written([body], book)
    return _Reach(written, tuple(kind for kind in lives if kind is not None))


def _made_or_lost(effect: object) -> ObjectType | None:
    if isinstance(effect, Create):
        return ObjectType(effect.of)
    if isinstance(effect, Destroy):
        kind = effect.target.type
        return kind if isinstance(kind, ObjectType) else None
    return None


def _needs(line: Conserve | Invariant, book: Rulebook) -> _Needs:
    term, kinds = line.value if isinstance(line, Conserve) else line.condition, list[ObjectType]()
    if isinstance(line, Invariant):
        kinds = [one.type for one in line.params if isinstance(one.type, ObjectType)]
    return _Needs(fluents_read((term,), book.derives), (*kinds, *_folded(term)))


def _folded(term: Term) -> Iterator[ObjectType]:
    for part in subterms(term):
        if isinstance(part, Fold):
            for binder in part.binders:
                if isinstance(binder.domain, TypeRange) and isinstance(binder.type, ObjectType):
                    yield binder.type
