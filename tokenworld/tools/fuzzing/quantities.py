"""Random enums, numbers, reals and prose."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.tools.fuzzing.places import Place
from tokenworld.tools.fuzzing.things import Things
from tokenworld.tools.fuzzing.words import BOOL, Derived, Fact, Kind, number

__all__ = ["Quantities"]


class Quantities(Things):
    """Writes everything that is neither a truth nor an object."""

    # ---- enums, numbers, reals, text ----------------------------------------------------------

    def enum(self, kind: Kind, place: Place) -> str:
        """A member, a read or a step along a ladder."""
        if place.depth > 0 and self.maybe(0.6):
            facts = self._readable(
                place,
                lambda own: own.tag == "enum" and own.name == kind.name
                and (kind.optional or not own.optional),
            )  # fmt: skip
            if facts and (found := self._read(self.one(facts), place)) is not None:
                step = kind.name in self.words.ladders and self.maybe(0.45)
                return f"{self.one(['next', 'prev'])}({found})" if step else found
        if place.depth > 1 and self.maybe(0.1):
            inner, plain = place.deeper(), replace(kind, optional=False)
            parts = self.condition(inner), self.enum(plain, inner), self.enum(plain, inner)
            return f"(if {parts[0]} then {parts[1]} else {parts[2]})"
        return str(self.simple(replace(kind, optional=False), place))

    def literal(self, kind: Kind) -> str:
        """A number inside the range of a kind."""
        low, high = (kind.low, kind.high) if kind.tag == "number" else (0, 9)
        return number(self.random.randint(low, high), kind)

    def number(self, kind: Kind, place: Place) -> str:
        """An exact number with at most the decimals of a kind, in its unit."""
        if place.depth <= 0 or self.maybe(0.15):
            return self.literal(kind)
        makers = [self._number_read] * 4 + [self._operation] * 2
        makers += [self._function, self._counted, self._either]
        if not kind.unit:
            makers += [self._bare]
        for _ in range(6):
            found = self.one(makers)(kind, place)
            if found is not None:
                return found
        return self.literal(kind)

    def _number_read(self, kind: Kind, place: Place) -> str | None:
        def fits(own: Kind) -> bool:
            exact = own.tag in ("number", "int") and not own.optional
            return exact and own.unit == kind.unit and own.decimals <= kind.decimals

        options: list[Fact | Derived | str] = [*self._readable(place, fits)]
        options += [one for one in self.words.derives if fits(one.kind)]
        options += [name for name, own in self.words.params.items() if fits(own)]
        options += [name for name, own in place.locals if fits(own)]
        if not options:
            return None
        one = self.one(options)
        if isinstance(one, str):
            return one
        return self._read(one, place) if isinstance(one, Fact) else self._call(one, place)

    def _operation(self, kind: Kind, place: Place) -> str:
        inner, op = place.deeper(), self.one(["+", "-", "+", "-", "*", "mod", "div"])
        free = replace(kind, low=0, high=9 * 10**kind.decimals)
        left = self.number(free, inner)
        if op == "*":
            factor = self.one(["2", "3", "-1", "0"])
            return f"({left}) * {factor}"
        if op == "mod":
            return f"({left}) mod {number(self.one([2, 3, 5]) * 10**kind.decimals, kind)}"
        if op == "div":
            if kind.unit:
                return f"-({left})"
            divisor = self.one(["2", "3", "-2"]) if self.maybe(0.85) else self.number(free, inner)
            return f"({left}) div ({divisor})"
        return f"({left}) {op} ({self.number(free, inner)})"

    def _function(self, kind: Kind, place: Place) -> str:
        inner = place.deeper()
        free = replace(kind, low=0, high=9 * 10**kind.decimals)
        parts = [self.number(free, inner) for _ in range(3)]
        name = self.one(["abs", "min", "max", "clamp", "toward", "sign", "floor", "round", "round"])
        match name:
            case "abs":
                return f"abs({parts[0]})"
            case "min" | "max":
                return f"{name}({parts[0]}, {parts[1]})"
            case "clamp":
                ends = number(10**kind.decimals, kind), number(7 * 10**kind.decimals, kind)
                return f"clamp({parts[0]}, {', '.join(ends)})"
            case "toward":
                return f"toward({', '.join(parts)})"
            case "sign" | "floor" if not kind.unit:
                return f"{name}({parts[0]})"
            case _ if kind.unit:
                return f"abs({parts[0]})"
            case _:
                small = replace(place, depth=min(place.depth, 2) - 1)
                return f"round({self.real(small)}, {self.random.randint(0, kind.decimals)})"

    def _counted(self, kind: Kind, place: Place) -> str | None:
        if kind.unit or self.maybe(0.4):
            free = replace(kind, low=0, high=9 * 10**kind.decimals)
            return self._fold("sum", free, place)
        if self.maybe(0.4) and (found := self.collection(place)) is not None:
            return f"count({found[0]})"
        return self._fold("count", BOOL, place)

    def _either(self, kind: Kind, place: Place) -> str:
        inner = place.deeper()
        parts = self.condition(inner), self.number(kind, inner), self.number(kind, inner)
        return f"(if {parts[0]} then {parts[1]} else {parts[2]})"

    def _bare(self, kind: Kind, place: Place) -> str | None:
        if self.maybe(0.4):
            found = self.simple(Kind("object", self.one(sorted(self.words.below))), place)
            return None if found is None else f"id({found})"
        return self.one(["tick()", "score"]) if place.deeds else "tick()"

    def real(self, place: Place) -> str:
        """A double."""
        facts = self._readable(place, lambda kind: kind.tag == "real" and not kind.optional)
        if facts and self.maybe(0.6) and (found := self._read(self.one(facts), place)) is not None:
            return found
        exact = Kind("number", low=0, high=90, decimals=1)
        if place.depth <= 0:
            return f"{self.literal(exact)} / {self.one(['2', '3', '7'])}"
        inner = place.deeper()
        one, other = self.real(inner), self.real(inner)
        name = self.one(["sqrt", "sin", "exp", "log", "pow", "+", "*", "-", "mod", "pi", "/", "if"])
        match name:
            case "sqrt":
                return f"sqrt(abs({one}))"
            case "sin":
                return f"{self.one(['sin', 'cos'])}({one})"
            case "exp":
                return f"exp(min({one}, 2.0))"
            case "log":
                return f"log(1.0 + abs({one}))" if self.maybe(0.8) else f"log({one})"
            case "pow":
                return f"pow(clamp({one}, -2.0, 2.0), {self.random.randint(0, 3)})"
            case "mod":
                return f"({one}) mod 2.5"
            case "pi":
                return "pi"
            case "/":
                divisor = self.one(["3", "0.7"]) if self.maybe(0.9) else self.number(exact, inner)
                return f"({self.number(exact, inner)}) / ({divisor})"
            case "if":
                return f"(if {self.condition(inner)} then {one} else {other})"
            case _:
                return f"({one}) {name} ({other})" if name != "*" else f"({one}) * 0.5"

    def text(self, kind: Kind, place: Place) -> str:
        """A text: quoted prose, or a read."""
        facts = self._readable(place, lambda own: own.tag == "text" and not own.optional)
        if facts and self.maybe(0.4) and (found := self._read(self.one(facts), place)) is not None:
            return found
        return f'"{self.prose(replace(place, depth=min(place.depth, 1)), 1)}"'

    # ---- prose ------------------------------------------------------------------------------

    def prose(self, place: Place, slots: int = 2) -> str:
        """A template without its quotes."""
        parts = [self.one(["So it is.", "Look:", "Now", "A \\{brace\\} and"])]
        for _ in range(slots):
            parts.append(self._slot(replace(place, depth=min(place.depth, 1))))
        return " ".join(parts).replace('"', "")

    def _slot(self, place: Place) -> str:
        choice = self.random.random()
        if choice < 0.35:
            kind = Kind("object", self.one(sorted(self.words.below)), optional=True)
            found = self.object(kind, place)
            article = self.one(["", "a ", "A ", "the ", "The "])
            return "nobody" if found == "none" else f"{{{article}{found}}}"
        if choice < 0.5 and (found_ := self.collection(place)) is not None:
            return f"{{{self.one(['list ', 'a list ', 'the list '])}{found_[0]}}}"
        if choice < 0.65:
            return f"{{{self.enum(Kind('enum', self.one(sorted(self.words.enums))), place)}}}"
        if choice < 0.72:
            return f"{{{self.real(replace(place, depth=0))}}}"
        if choice < 0.85:
            unit = self.unit()
            return f"{{{self.number(Kind('number', low=0, high=9, unit=unit), place)}}}"
        return f"{{{self.condition(replace(place, depth=0))}}}"
