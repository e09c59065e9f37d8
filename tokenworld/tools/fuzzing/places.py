"""Where a random term stands, and what it may read there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tokenworld.tools.fuzzing.words import Derived, Fact, Kind, Vocabulary, number

__all__ = ["Place", "Reader", "wide"]

T = TypeVar("T")


def wide(kind: Kind) -> bool:
    """A range with something inside it: a comparison with that may go either way."""
    return kind.tag == "number" and kind.high - kind.low >= 2 and not kind.optional


@dataclass(frozen=True)
class Place:
    """Where a term stands: the locals, the objects that may be named, what must not be read.

    ``me`` is the acting type if somebody acts, ``was`` whether the past may be read, ``plain``
    that no draw-like or tick-dependent term is wanted.
    """

    locals: tuple[tuple[str, Kind], ...] = ()
    objects: tuple[tuple[str, str], ...] = ()
    forbidden: frozenset[str] = frozenset()
    me: str = ""
    was: bool = False
    deeds: bool = False
    depth: int = 3
    reads: set[str] = field(default_factory=set, compare=False)

    def bind(self, name: str, kind: Kind) -> Place:
        return replace(self, locals=(*self.locals, (name, kind)))

    def deeper(self) -> Place:
        return replace(self, depth=self.depth - 1)

    def unread(self, names: frozenset[str]) -> Place:
        """The same where more facts must not be read."""
        return replace(self, forbidden=self.forbidden | names)


class Reader:
    """Writes what reads facts and names things; `terms` builds on it."""

    def __init__(self, words: Vocabulary) -> None:
        self.words, self.random = words, words.random
        self._told: set[str] = set()

    def one(self, things: Sequence[T]) -> T:
        return self.random.choice(things)

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def condition(self, place: Place) -> str:
        """A truth-valued term."""
        raise NotImplementedError

    def number(self, kind: Kind, place: Place) -> str:
        """An exact number."""
        raise NotImplementedError

    def _readable(self, place: Place, wanted: Callable[[Kind], bool]) -> list[Fact]:
        return [
            one for one in self.words.facts
            if one.name not in place.forbidden and wanted(one.kind)
        ]  # fmt: skip

    def _read(self, fact: Fact, place: Place) -> str | None:
        """A read that is never `none` where its kind is not; ``None`` if nothing fits."""
        kinds = (Kind("object", fact.owner),) if fact.owner else fact.params
        args = []
        for kind in kinds:
            arg = self.simple(kind, place)
            if arg is None:
                return None
            args.append(arg)
        place.reads.add(fact.name)
        was = "was " if place.was and not fact.static and self.maybe(0.15) else ""
        if fact.owner or (kinds and kinds[0].tag == "object" and self.maybe(0.3)):
            rest = f"({', '.join(args[1:])})" if len(args) > 1 else ""
            return f"{was}{args[0]}.{fact.name}{rest}"
        return f"{was}{fact.name}({', '.join(args)})"

    def _call(self, derive: Derived, place: Place) -> str | None:
        if derive.reads & place.forbidden:
            return None
        args = [self.simple(kind, place) for kind in derive.params]
        if None in args:
            return None
        place.reads.update(derive.reads)
        was = "was " if place.was and self.maybe(0.1) else ""
        return f"{was}{derive.name}({', '.join(str(arg) for arg in args)})"

    def simple(self, kind: Kind, place: Place) -> str | None:
        """A local, literal or name of a kind: what stands as an argument."""
        words, options = self.words, []
        for name, own in place.locals:
            fits = own.tag == kind.tag and not own.optional
            if kind.tag == "object":
                fits = fits and words.is_a(own.name, kind.name)
            elif kind.tag == "enum":
                fits = fits and own.name == kind.name
            elif kind.tag == "number":
                fits = fits and kind.low <= own.low and own.high <= kind.high
            if fits:
                options.append(name)
        if kind.tag == "object":
            if place.me and words.is_a(place.me, kind.name):
                options.append("me")
            if not options or self.maybe(0.2):
                options += [one for one, own in place.objects if words.is_a(own, kind.name)]
            return self.one(options) if options else None
        if kind.tag == "enum":
            return self.one([*options, f"{kind.name}.{self.one(words.enums[kind.name])}"])
        if kind.tag == "number":
            return self.one([*options, number(self.random.randint(kind.low, kind.high), kind)])
        return self.one([*options, self.one(["true", "false"])]) if kind.tag == "bool" else None

    def unit(self) -> str:
        return self.one(["", "", *self.words.units])

    def times(self, whole: int, kind: Kind) -> str:
        return number(whole * 10**kind.decimals, kind)
