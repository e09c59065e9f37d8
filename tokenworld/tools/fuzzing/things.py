"""Random terms for objects and collections, loop variables and folds."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.tools.fuzzing.places import Place, Reader
from tokenworld.tools.fuzzing.words import BOOL, Kind

__all__ = ["Things"]


class Things(Reader):
    """Writes terms for objects."""

    # ---- objects and collections --------------------------------------------------------------

    def object(self, kind: Kind, place: Place) -> str:
        """An object of a type, or perhaps `none`."""
        words = self.words
        if place.depth > 0 and kind.optional and self.maybe(0.35):
            facts = self._readable(
                place, lambda own: own.tag == "object" and words.is_a(own.name, kind.name)
            )
            if facts and (found := self._read(self.one(facts), place)) is not None:
                return found
        if place.depth > 0 and kind.optional and self.maybe(0.15):
            return self._fold(self.one(["first", "last"]), kind, place)
        if place.depth > 1 and self.maybe(0.08):
            inner = place.deeper()
            parts = self.condition(inner), self.object(kind, inner), self.object(kind, inner)
            if "none" not in parts[1:]:
                return f"(if {parts[0]} then {parts[1]} else {parts[2]})"
        found = self.simple(replace(kind, optional=False), place)
        if found is not None:
            return found
        return "none"

    def collection(self, place: Place) -> tuple[str, str] | None:
        """A collection of objects and their type."""
        options = []
        for fact in self.words.facts:
            if fact.name in place.forbidden:
                continue
            for name in (fact.inverse, fact.closure):
                if name:
                    end = fact.params[0].name if fact.relation else fact.kind.name
                    of = self.simple(Kind("object", end), place)
                    element = fact.params[0].name if fact.relation else fact.owner
                    if of is not None and element:
                        options.append((f"{of}.{name}", element, fact.name))
        if not options:
            return None
        text, element, fact_name = self.one(options)
        place.reads.add(fact_name)
        was = "was " if place.was and self.maybe(0.1) else ""
        return f"{was}{text}", element

    def binder(self, place: Place) -> tuple[str, Place]:
        """A loop variable and the place in which it is known."""
        name = self.words.name("v")
        choice = self.random.random()
        if choice < 0.12:
            enum = self.one(sorted(self.words.enums))
            return f"{name}: {enum}", place.bind(name, Kind("enum", enum))
        if choice < 0.24:
            return f"{name}: 1 to 3", place.bind(name, Kind("number", low=1, high=3))
        if choice < 0.5 and (found := self.collection(place)) is not None:
            text, kind = found
            narrow = self.one(self.words.below[kind])
            if self.maybe(0.3):
                return f"{name}: {narrow} in {text}", place.bind(name, Kind("object", narrow))
            return f"{name} in {text}", place.bind(name, Kind("object", kind))
        kind = self.one(sorted(self.words.below))
        return f"{name}: {kind}", place.bind(name, Kind("object", kind))

    def binders(self, place: Place, most: int = 2) -> tuple[str, Place]:
        """Loop variables with, perhaps, a condition."""
        inner, found = place.deeper(), []
        for _ in range(2 if most > 1 and self.maybe(0.12) else 1):
            text, inner = self.binder(inner)
            found.append(text)
        if self.maybe(0.6):
            found[-1] += f" where {self.condition(replace(inner, depth=min(inner.depth, 1)))}"
        return ", ".join(found), inner

    def _fold(self, fold: str, kind: Kind, place: Place) -> str:
        small = replace(place, depth=min(place.depth, 2))
        if fold in ("first", "last"):
            name = self.words.name("v")
            inner = small.deeper().bind(name, Kind("object", kind.name))
            return f"{fold}({name} for {name}: {kind.name} where {self.condition(inner)})"
        binders, inner = self.binders(small)
        value = self.condition(inner) if kind is BOOL else self.number(kind, inner)
        if fold in ("min", "max"):
            value = f"({value}) - tick() * {self.times(1, kind)}"
        return f"{fold}({value} for {binders})"
