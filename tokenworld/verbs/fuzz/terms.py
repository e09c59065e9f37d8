"""Random terms of a wanted kind, well-typed by construction, and the names they may use.

`Vocabulary` lists the types, fluents and derives of a random world, each with its kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

from tokenworld.model import scaled_text


@dataclass(frozen=True)
class Kind:
    """A value type: ``tag`` is bool, enum, object, number, int, real or text."""

    tag: str
    name: str = ""
    low: int = 0
    high: int = 0
    decimals: int = 0
    unit: str = ""
    optional: bool = False

    def written(self) -> str:
        """As an author writes it."""
        mark = "?" if self.optional else ""
        if self.tag in ("enum", "object"):
            return self.name + mark
        if self.tag == "number":
            return f"{number(self.low, self)} to {number(self.high, self)}"
        return self.tag + mark


BOOL = Kind("bool")
TENTHS = Kind("number", low=0, high=90, decimals=1)

NUMBERS = (
    "($number) $(+|-) ($number)", "($number) $(+|-) ($number)", "($number) * $(2|3|-1|0)",
    "($number) mod $modulus", "-($number)", "abs($number)", "$(min|max)($number, $number)",
    "clamp($number, $one, $seven)", "toward($number, $number, $number)",
    "(if $bool then $same else $same)", "(if $bool then $same else $same)",
)  # fmt: skip
"""Numbers made of others: see `Writer.hole`."""
UNITLESS = (
    "($number) div ($divisor)", "$(sign|floor)($number)", "round($real, $digits)",
    "round($real, $digits)",
)  # fmt: skip
"""Those that take no unit."""
REALS = (
    "sqrt(abs($real))", "$(sin|cos)($real)", "exp(min($real, 2.0))", "($real) mod 2.5", "pi",
    "log($(1.0 + abs|1.0 + abs|1.0 + abs|1.0 + abs|)($real))", "($number) / ($divisor)",
    "pow(clamp($real, -2.0, 2.0), $(0|1|2|3))", "(if $bool then $real else $real)",
    "($real) $(+|-) ($real)", "($real) $(+|-) ($real)", "($real) * 0.5",
)  # fmt: skip
CONDITIONS = (
    *["$atom"] * 25, *["$quantified"] * 7, *["not ($bool)"] * 5,
    *["($bool) $(and|or|and|or|implies) ($bool)"] * 10,
    *["(if $bool then $bool else $bool)"] * 3,
)  # fmt: skip
_HOLE = re.compile(r"\$\(([^)]*)\)|\$([a-z]+)")


def number(value: int, kind: Kind) -> str:
    """A scaled number with its decimals and unit."""
    return scaled_text(value, kind.decimals, kind.unit)


@dataclass(frozen=True)
class Fact:
    """A stored fluent. ``owner`` is its type if it is an attribute, ``params`` else.

    ``inverse`` and ``closure`` name the collections it adds on its other end. ``given``: a
    module declares it.
    """

    name: str
    kind: Kind
    owner: str = ""
    params: tuple[Kind, ...] = ()
    static: bool = False
    table: bool = False
    relation: bool = False
    inverse: str = ""
    closure: str = ""
    nested: bool = False
    clamped: bool = False
    unique: bool = False
    given: bool = False
    scratch: bool = False


@dataclass(frozen=True)
class Derived:
    """A derive and the facts that it reads."""

    name: str
    kind: Kind
    params: tuple[Kind, ...]
    reads: frozenset[str]


@dataclass
class Vocabulary:
    """The names that rules may use. ``below`` maps each object type to itself and its subtypes,
    ``types`` to the parents that it names.

    ``small``: for a world whose states can all be listed, without reals, texts and sums.
    ``clock``: terms may tell the tick.
    """

    random: Random
    types: dict[str, str]
    below: dict[str, list[str]]
    enums: dict[str, tuple[str, ...]]
    ladders: set[str]
    facts: list[Fact] = field(default_factory=list)
    derives: list[Derived] = field(default_factory=list)
    params: dict[str, Kind] = field(default_factory=dict)
    events: dict[str, tuple[Kind, ...]] = field(default_factory=dict)
    actions: dict[str, tuple[Kind, ...]] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    units: list[str] = field(default_factory=list)
    grid: bool = False
    small: bool = False
    clock: bool = True
    fresh: int = 0

    def is_a(self, kind: str, of: str) -> bool:
        """Return whether one object type is another or below it."""
        return of == "Object" or kind in self.below.get(of, ())

    def name(self, prefix: str) -> str:
        """A name that nothing else has."""
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    @property
    def forgotten(self) -> frozenset[str]:
        """The facts that last for a tick."""
        return frozenset(one.name for one in self.facts if one.scratch)

    def attributes(self, kind: str) -> list[Fact]:
        """The attributes of a type, inherited ones included."""
        return [one for one in self.facts if one.owner and self.is_a(kind, one.owner)]

    def has(self, name: str) -> bool:
        """Return whether there is a fact of this name."""
        return any(one.name == name for one in self.facts)


T = TypeVar("T")


def wide(kind: Kind) -> bool:
    """A range with something inside it: a comparison with that may go either way."""
    return kind.tag == "number" and kind.high - kind.low >= 2 and not kind.optional


@dataclass(frozen=True)
class Place:
    """The place of a term: its locals, the objects that may be named, the fluents not to be read.

    ``me`` is the acting type if somebody acts, ``was`` whether the past may be read, ``plain``
    that no draw-like or tick-dependent term is wanted.
    """

    locals: tuple[tuple[str, Kind], ...] = ()
    objects: tuple[tuple[str, str], ...] = ()
    forbidden: frozenset[str] = frozenset()
    me: str = ""
    was: bool = False
    history: bool = False
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

    def fill(self, template: str, kind: Kind, place: Place) -> str:
        """A template of a kind with its holes filled: ``$name`` by `hole`, ``$(a|b)`` by one of
        these texts."""

        def filled(found: re.Match[str]) -> str:
            if found[2] is None:
                return self.one(str(found[1]).split("|"))
            return self.hole(found[2], kind, place)

        return _HOLE.sub(filled, template)

    def hole(self, name: str, kind: Kind, place: Place) -> str:
        """A random term for a hole of a template."""
        raise NotImplementedError

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

    def _through(self, place: Place, wanted: Callable[[Kind], bool]) -> tuple[str, str] | None:
        """Return a path through an optional attribute, and the test that it is present."""
        words = self.words
        options = [
            (step, below, end)
            for step in self._readable(place, lambda own: own.tag == "object" and own.optional)
            for below in words.below[step.kind.name]
            for end in self._readable(place, wanted)
            if end.owner and words.is_a(below, end.owner)
        ]
        if not options:
            return None
        step, below, end = self.one(options)
        base = self._read(step, replace(place, was=False))
        place.reads.add(end.name)
        wide = words.is_a(step.kind.name, end.owner) and self.maybe(0.7)
        guard = f"{base} != none" if wide else f"{base} is {below}"
        return None if base is None else (guard, f"{base}.{end.name}")

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
        """Return a local, literal or name of a kind, as an argument."""
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
        if kind.tag == "real":
            return self.one([*options, "0.5", "2", "1 / 3"])
        return self.one([*options, self.one(["true", "false"])]) if kind.tag == "bool" else None

    def unit(self) -> str:
        return self.one(["", "", *self.words.units])

    def times(self, whole: int, kind: Kind) -> str:
        return number(whole * 10**kind.decimals, kind)


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
        if place.depth > 1 and self.maybe(0.06):
            facts = self._readable(place, lambda own: own == replace(kind, optional=True))
            if facts and (read := self._read(self.one(facts), place)) is not None:
                return f"({read} otherwise {self.object(kind, place.deeper())})"
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


class Quantities(Things):
    """Writes everything that is neither a truth nor an object."""

    # ---- enums, numbers, reals, text ----------------------------------------------------------

    def enum(self, kind: Kind, place: Place, *, read: bool = False) -> str:
        """A member, a read (``read``: where there is one) or a step along a ladder."""
        if read or (place.depth > 0 and self.maybe(0.6)):
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
        makers = [self._number_read] * 4 + [self._otherwise]
        if self.words.small:
            makers += [self._step]
        else:
            makers += [self._composed] * 4 + [self._counted]
        if not kind.unit and not self.words.small:
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

    def _step(self, kind: Kind, place: Place) -> str | None:
        found = self._number_read(kind, place)
        return None if found is None else f"{found} {self.one(['+ 1', '- 1'])}"

    def _composed(self, kind: Kind, place: Place) -> str:
        """An operation or a function of other numbers."""
        return self.fill(self.one(NUMBERS if kind.unit else NUMBERS + UNITLESS), kind, place)

    def _counted(self, kind: Kind, place: Place) -> str | None:
        if kind.unit or self.maybe(0.4):
            free = replace(kind, low=0, high=9 * 10**kind.decimals)
            return self._fold("sum", free, place)
        if self.maybe(0.4) and (found := self.collection(place)) is not None:
            return f"count({found[0]})"
        return self._fold("count", BOOL, place)

    def _otherwise(self, kind: Kind, place: Place) -> str | None:
        def fits(own: Kind) -> bool:
            return own.tag == "number" and own.unit == kind.unit and own.decimals <= kind.decimals

        found, inner = self._through(place, fits), place.deeper()
        if found is None and self.words.small:
            return None
        if found is None or (self.maybe(0.2) and not self.words.small):
            fold = self._fold(self.one(["min", "max"]), replace(kind, high=3), place)
            return f"({fold} otherwise {self.literal(kind)})"
        guard, path = found
        if " is " in guard or self.maybe(0.4):
            other = self.number(kind, inner)
            return f"(if {guard} then {path} + {path} else {other})"
        return f"({path} otherwise {self.number(kind, inner)})"

    def _bare(self, kind: Kind, place: Place) -> str | None:
        if self.maybe(0.4):
            found = self.simple(Kind("object", self.one(sorted(self.words.below))), place)
            return None if found is None else f"{self.one(['id', 'id', 'born'])}({found})"
        return self.one(["tick()", "score"]) if place.history else "tick()"

    def real(self, place: Place) -> str:
        """A double."""
        given = [name for name, own in place.locals if own.tag == "real"]
        if given and self.maybe(0.6):
            return self.one(given)
        facts = self._readable(place, lambda kind: kind.tag == "real" and not kind.optional)
        if facts and self.maybe(0.6) and (found := self._read(self.one(facts), place)) is not None:
            return found
        if place.depth <= 0:
            return f"{self.literal(TENTHS)} / {self.one(['2', '3', '7'])}"
        return self.fill(self.one(REALS), TENTHS, place)

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
        for _ in range(0 if self.words.small else slots):
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


class Writer(Quantities):
    """Writes terms of one vocabulary."""

    def hole(self, name: str, kind: Kind, place: Place) -> str:
        """A random term for a hole; inner terms are less deep."""
        inner, unit = place.deeper(), 10**kind.decimals
        match name:
            case "bool":
                return self.condition(inner)
            case "real":
                return self.real(inner)
            case "same":
                return self.number(kind, inner)
            case "number":
                return self.number(replace(kind, low=0, high=9 * unit), inner)
            case "divisor":
                return self.one(["2", "3", "-2"]) if self.maybe(0.9) else self.number(kind, inner)
            case "modulus":
                return number(self.one([2, 3, 5]) * unit, kind)
            case "one" | "seven":
                return number({"one": 1, "seven": 7}[name] * unit, kind)
            case "digits":
                return str(self.random.randint(0, kind.decimals))
            case "quantified":
                return self._fold(self.one(["any", "all"]), BOOL, place)
            case _:
                return self._atom(place)

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
        return self.fill(self.one(CONDITIONS), BOOL, place)

    def _atom(self, place: Place) -> str:
        makers = [
            self._truth, self._truth, self._compared, self._compared, self._alike, self._absent,
            self._among, self._typed, self._past, self._beyond, self._many,
        ]  # fmt: skip
        for _ in range(8):
            found = self.one(makers)(place)
            if found is not None:
                return found
        return self.one(["true", "tick() mod 2 == 0", "tick() > 3"]) if self.words.clock else "true"

    def _truth(self, place: Place) -> str | None:
        truths = [name for name, own in place.locals if own.tag == "bool"]
        if truths and self.maybe(0.5):
            return self.one(truths)
        facts = self._readable(place, lambda kind: kind.tag == "bool")
        derives = [one for one in self.words.derives if one.kind.tag == "bool"]
        things: list[Fact | Derived] = [*facts, *derives]
        if not things:
            return None
        one = self.one(things)
        return self._read(one, place) if isinstance(one, Fact) else self._call(one, place)

    def _compared(self, place: Place) -> str | None:
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
        if facts and (self.words.small or self.maybe(0.7)):
            fact = self.one(facts)
            found, own = self._read(fact, inner), fact.kind
            if found is not None:
                inside = replace(own, low=own.low + 1, high=own.high - 1)
                return f"{found} {op} {self.literal(inside)}"
        if self.words.small:
            return self._small_compared(op, inner)
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

    def _small_compared(self, op: str, place: Place) -> str | None:
        """Return a comparison of the clock, or of a term with few values."""
        if self.words.clock and self.maybe(0.5):
            return self.one(["tick() mod 2 == 0", "tick() >= 2", "tick() < 3", "tick() == 1"])
        kind = Kind("number", low=0, high=2)
        left = self._number_read(kind, place)
        return None if left is None else f"{left} {op} {self.number(kind, place)}"

    def _many(self, place: Place) -> str | None:
        if place.depth <= 0:
            return None
        return f"{self._fold('count', BOOL, place)} {self.one(['==', '>='])} 1"

    def _enum_read(self, kind: Kind, place: Place, *, optional: bool) -> str:
        wanted = replace(kind, optional=optional)
        return self.enum(wanted, place)

    def _alike(self, place: Place) -> str | None:
        inner = place.deeper()
        if self.maybe(0.3):
            kind = Kind("enum", self.one(sorted(self.words.enums)), optional=self.maybe(0.3))
            left, op = self.enum(kind, inner, read=True), self.one(["==", "!="])
            if self.words.small and left.startswith("E."):
                return None  # a comparison of two constants
            return f"{left} {op} {self.enum(kind, inner)}"
        known = self.thing(inner)
        if known is None:
            return None
        right = self.object(Kind("object", known[1], optional=True), inner)
        if right == known[0] or (right == "none" and not known[2]):
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
            left = self.enum(kind, place.deeper(), read=True)
            return None if self.words.small and left.startswith("E.") else f"{left} in [{listed}]"
        found = self.collection(place)
        if found is None:
            return None
        item = self.object(Kind("object", found[1], optional=True), place.deeper())
        return None if item == "none" else f"{item} in {found[0]}"

    def _beyond(self, place: Place) -> str | None:
        """A number of an object that a condition on the same path shows to be there."""
        found = self._through(place, lambda own: own.tag == "number" and own.unit == "")
        if found is None:
            return None
        guard, path = found
        if guard.endswith("!= none") and self.maybe(0.3):
            return f"({guard.replace('!=', '==')} or {path} - 1 < 2)"
        return f"({guard} and {path} + 1 {self.one(['>', '<='])} {self.one(['2', '4'])})"

    def _typed(self, place: Place) -> str | None:
        known = self.thing(place.deeper())
        if known is None or (self.words.small and not known[2]):
            return None
        return f"{known[0]} is {self.one(self.words.below[known[1]])}"

    def _past(self, place: Place) -> str | None:
        if not place.me:
            return None
        if place.history and self.words.actions and self.maybe(0.5):
            return f"{self.one(['busy', 'did'])}(me, {self.one(sorted(self.words.actions))})"
        return "busy(me)" if place.history else None
