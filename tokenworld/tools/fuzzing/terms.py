"""Random terms of a wanted kind, well-typed by construction."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.tools.fuzzing.places import Place, wide
from tokenworld.tools.fuzzing.quantities import Quantities
from tokenworld.tools.fuzzing.words import BOOL, Derived, Fact, Kind, number

__all__ = ["Place", "Writer"]


class Writer(Quantities):
    """Writes terms of one vocabulary."""

    def term(self, kind: Kind, place: Place) -> str:
        """A term of a kind (never `none` unless the kind is optional)."""
        match kind.tag:
            case "bool":
                return self.condition(place)
            case "enum":
                return self.enum(kind, place)
            case "object":
                return self.object(kind, place)
            case "number" | "int":
                return self.number(kind, place)
            case "real":
                return self.real(place)
            case _:
                return self.text(kind, place)

    # ---- conditions -------------------------------------------------------------------------

    def condition(self, place: Place) -> str:
        """A truth-valued term."""
        if place.depth <= 0:
            return self._atom(place)
        inner, chance = place.deeper(), self.random.random()
        if chance < 0.1:
            return f"not {self.grouped(self.condition(inner))}"
        if chance < 0.3:
            op = self.one(["and", "or", "and", "or", "implies"])
            left, right = self.condition(inner), self.condition(inner)
            return f"({left}) {op} ({right})"
        if chance < 0.36:
            parts = [self.condition(inner) for _ in range(3)]
            return f"(if {parts[0]} then {parts[1]} else {parts[2]})"
        if chance < 0.5:
            return self._fold(self.one(["any", "all"]), BOOL, place)
        return self._atom(place)

    def grouped(self, term: str) -> str:
        return f"({term})"

    def _atom(self, place: Place) -> str:
        makers = [
            self._truth, self._truth, self._compared, self._compared, self._alike, self._absent,
            self._among, self._typed, self._past,
        ]  # fmt: skip
        for _ in range(8):
            found = self.one(makers)(place)
            if found is not None:
                return found
        return self.one(["true", "tick() mod 2 == 0", "tick() > 3"])

    def _truth(self, place: Place) -> str | None:
        facts = self._readable(place, lambda kind: kind.tag == "bool")
        derives = [one for one in self.words.derives if one.kind.tag == "bool"]
        things: list[Fact | Derived] = [*facts, *derives]
        if not things:
            return None
        one = self.one(things)
        return self._read(one, place) if isinstance(one, Fact) else self._call(one, place)

    def _compared(self, place: Place) -> str:
        inner = place.deeper()
        if self.words.ladders and self.maybe(0.25):
            kind = Kind("enum", self.one(sorted(self.words.ladders)))
            op = self.one(["<", "<=", ">", ">=", "=="])
            left = self._enum_read(kind, inner, optional=self.maybe(0.3))
            return f"{left} {op} {self.enum(kind, inner)}"
        if self.maybe(0.12) and any(one.kind.tag == "real" for one in self.words.facts):
            return f"({self.real(inner)}) {self.one(['<', '>='])} ({self.real(inner)})"
        kind = Kind("number", low=0, high=9, decimals=self.one([0, 0, 1]), unit=self.unit())
        op = self.one(["<", "<=", ">", ">=", "==", "!="])
        facts = [one for one in self._readable(place, wide) if one.kind.unit == kind.unit]
        if facts and self.maybe(0.7) and (fact := self.one(facts)) is not None:
            found, own = self._read(fact, inner), fact.kind
            if found is not None:
                inside = replace(own, low=own.low + 1, high=own.high - 1)
                return f"{found} {op} {self.literal(inside)}"
        if self.maybe(0.12):
            fold = self._fold(self.one(["min", "max"]), replace(kind, high=3), place)
            return f"{fold} {op} {self.times(2, kind)}"
        unit = number(10**kind.decimals, kind)
        open_end = f"tick() * {unit}"
        if self.maybe(0.5):
            turned = f"({open_end} + {self.number(kind, inner)}) mod {self.times(5, kind)}"
        else:
            turned = f"{open_end} - abs({self.number(kind, inner)})"
        return f"({turned}) {op} {self.times(self.one([1, 2, 3]), kind)}"

    def _enum_read(self, kind: Kind, place: Place, *, optional: bool) -> str:
        wanted = replace(kind, optional=optional)
        return self.enum(wanted, place)

    def _alike(self, place: Place) -> str | None:
        inner = place.deeper()
        if self.maybe(0.3):
            kind = Kind("enum", self.one(sorted(self.words.enums)), optional=self.maybe(0.3))
            return f"{self.enum(kind, inner)} {self.one(['==', '!='])} {self.enum(kind, inner)}"
        known = self.thing(inner)
        if known is None:
            return None
        right = self.object(Kind("object", known[1], optional=True), inner)
        if right == "none" and not known[2]:
            return None
        return f"{known[0]} {self.one(['==', '!='])} {right}"

    def thing(self, place: Place) -> tuple[str, str, bool] | None:
        """A term for an object, the type it surely has, and whether it may be `none`."""
        locals_ = [one for one in place.locals if one[1].tag == "object"]
        locals_ = [one for one in locals_ if one[0] not in self._told]  # conditions narrow them
        options = [(name, own.name, own.optional) for name, own in locals_]
        options += [("me", place.me, False)] if place.me else []
        facts = self._readable(place, lambda kind: kind.tag == "object")
        if facts and (not options or self.maybe(0.6)):
            fact = self.one(facts)
            if (found := self._read(fact, place)) is not None:
                return found, fact.kind.name, fact.kind.optional
        if not options:
            return None
        chosen = self.one(options)
        self._told.add(chosen[0])
        self._told.discard("me")
        return chosen

    def _absent(self, place: Place) -> str | None:
        known = self.thing(place)
        if known is None or not known[2]:
            return None
        return f"{known[0]} {self.one(['==', '!='])} none"

    def _among(self, place: Place) -> str | None:
        if self.maybe(0.25):
            kind = Kind("enum", self.one(sorted(self.words.enums)))
            listed = ", ".join(self.enum(kind, replace(place, depth=0)) for _ in range(2))
            return f"{self.enum(kind, place.deeper())} in [{listed}]"
        found = self.collection(place)
        if found is None:
            return None
        item = self.object(Kind("object", found[1], optional=True), place.deeper())
        return None if item == "none" else f"{item} in {found[0]}"

    def _typed(self, place: Place) -> str | None:
        known = self.thing(place.deeper())
        return None if known is None else f"{known[0]} is {self.one(self.words.below[known[1]])}"

    def _past(self, place: Place) -> str | None:
        if not place.me:
            return None
        if place.deeds and self.words.actions and self.maybe(0.5):
            return f"{self.one(['busy', 'did'])}(me, {self.one(sorted(self.words.actions))})"
        return "busy(me)" if place.deeds else None
