"""Random bodies that keep the block rule: nothing is read after it was changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tokenworld.tools.fuzzing.terms import Place, Writer
from tokenworld.tools.fuzzing.words import BOOL, Fact, Kind, Vocabulary, number

__all__ = ["BodyWriter", "Rights"]


@dataclass(frozen=True)
class Rights:
    """What a body may do: draw, create, destroy, pay; ``static`` facts too in a setup."""

    chance: bool = True
    create: bool = True
    destroy: bool = True
    reward: bool = True
    static: bool = False
    spared: frozenset[str] = frozenset()


class BodyWriter(Writer):
    """Writes the statements of a body, one a line."""

    born: tuple[str, ...] = ()
    mortal: tuple[str, ...] = ()
    born_writes: frozenset[str] = frozenset()

    def __init__(self, words: Vocabulary) -> None:
        super().__init__(words)
        self._taken: dict[str, str] = {}

    def body(self, place: Place, rights: Rights) -> list[str]:
        """Statements: lets first, then either one change or several that read nothing changed."""
        self._taken = {}
        lines, place = self.lets(place, rights)
        targets, barred = self._targets(rights), frozenset(one.name for one in self.words.facts)
        if self.maybe(0.3):
            lines += self._statement(place, targets, rights, alone=True)
        else:
            chosen = self.random.sample(targets, min(len(targets), self.random.randint(1, 4)))
            barred = frozenset((*(one.name for one in chosen), self.moved))
            inner = place.unread(barred)
            for _ in range(self.random.randint(1, 3)):
                lines += self._statement(inner, chosen, rights, alone=False, depth=2)
        if self.maybe(0.5):
            lines += self._output(place, rights)
        if rights.create and self.born and self.maybe(0.25):
            lines += self._creation(place, barred)
        elif rights.destroy and self.mortal and self.maybe(0.12):
            lines += self._ending(place.unread(frozenset(one.name for one in self.words.facts)))
        return lines

    def _targets(self, rights: Rights) -> list[Fact]:
        return [
            one for one in self.words.facts
            if not one.table and (rights.static or not one.static) and one.name not in rights.spared
        ]  # fmt: skip

    # ---- lets -------------------------------------------------------------------------------

    def lets(self, place: Place, rights: Rights) -> tuple[list[str], Place]:
        """A few named values and draws."""
        lines: list[str] = []
        for _ in range(self.one([0, 0, 0, 1, 1, 2])):
            name = self.words.name("l")
            text, kind = self._let(place, rights)
            lines.append(f"let {name} = {text}")
            place = place.bind(name, kind)
        return lines, place

    def _let(self, place: Place, rights: Rights) -> tuple[str, Kind]:
        choice = self.random.random() if rights.chance else 0.9
        if choice < 0.15:
            return f"chance {self.share(place)}", BOOL
        if choice < 0.3:
            binders, inner = self.binders(place, 1)
            by = self._by(inner)
            return f"pick {{ {binders}{by} }}", replace(inner.locals[-1][1], optional=True)
        if choice < 0.38:
            return "uniform(-0.5, 1.5)", Kind("real")
        if choice < 0.6:
            known = self.thing(place)
            if known is not None:
                return known[0], Kind("object", known[1], optional=known[2])
        if choice < 0.8:
            kind = Kind("number", low=0, high=9, unit=self.unit())
            return f"abs({self.number(kind, place)})", Kind("int", unit=kind.unit)
        return self.condition(place), BOOL

    def share(self, place: Place) -> str:
        """A probability."""
        tenths = Kind("number", low=0, high=1)
        return self.one([
            "25%", "50%", "0.3", "100%", "0%",
            f"(if {self.condition(replace(place, depth=0))} then 20% else 80%)",
            f"clamp({self.number(tenths, replace(place, depth=1))}, 0, 1)",
            "0.5 / 2",
        ])  # fmt: skip

    def _by(self, inner: Place) -> str:
        key = self.one(["", "", "weight", "least", "most"])
        if not key:
            return ""
        small = replace(inner, depth=1)
        value = self.number(Kind("number", low=0, high=9), small)
        if key == "weight" and self.maybe(0.95):
            value = f"abs({value})"
        return f" by {key} {value}"

    # ---- statements -------------------------------------------------------------------------

    moved: str = ""

    def _statement(
        self, place: Place, targets: list[Fact], rights: Rights, *, alone: bool, depth: int = 1
    ) -> list[str]:
        choice = self.random.random()
        if self.moved and choice < 0.1:
            ends = [self.simple(Kind("object", "Thing"), place) for _ in range(2)]
            if None not in ends and self._take("=", f"{ends[0]}.{ends[1]}"):
                amount = self.one(["1", "2", "tick() mod 2"])
                return [f"transfer {amount} of {ends[0]}.{self.moved} to {ends[1]}.{self.moved}"]
        if not alone and depth > 0 and choice < 0.45:
            return self._control(place, targets, rights, depth - 1)
        if alone and choice < 0.3 and (found := self._swap(place, targets)) is not None:
            return [found]
        if choice > 0.9 and (found := self._transfer(place, targets)) is not None:
            return [found]
        return [self._change(place, targets) or self._say(place)]

    def _control(self, place: Place, targets: list[Fact], rights: Rights, depth: int) -> list[str]:
        def block(inner: Place) -> list[str]:
            lines = self._statement(inner, targets, rights, alone=False, depth=depth)
            return ["  " + line for line in lines]

        kinds = ["if", "if", "for", "chance", "pick"] if rights.chance else ["if", "for"]
        match self.one(kinds):
            case "if":
                head = f"if {self.condition(replace(place, depth=2))} {{"
                lines = [head, *block(place), "}"]
                if self.maybe(0.2):
                    lines += [f"else if {self.condition(replace(place, depth=1))} {{"]
                    lines += [*block(place), "}"]
            case "for":
                binders, inner = self.binders(place, 1)
                return [f"for {binders} {{", *block(inner), "}"]
            case "chance":
                lines = [f"chance {self.share(place)} {{", *block(place), "}"]
                if lines[0] in ("chance 25% {", "chance 0.3 {"):
                    lines += ["or 30% {", *block(place), "}"]
            case _:
                binders, inner = self.binders(place, 1)
                lines = [f"pick {binders}{self._by(inner)} {{", *block(inner), "}"]
        if self.maybe(0.35):
            lines += ["else {", *block(place), "}"]
        return lines

    def target(self, fact: Fact, place: Place) -> str | None:
        """A slot of a fact, as it is written to."""
        kinds = (Kind("object", fact.owner),) if fact.owner else fact.params
        args = [self.simple(kind, place) for kind in kinds]
        if None in args:
            return None
        found = [str(arg) for arg in args]
        return f"{found[0]}.{fact.name}" if fact.owner else f"{fact.name}({', '.join(found)})"

    def _change(self, place: Place, targets: list[Fact]) -> str | None:
        for _ in range(6):
            fact = self.one(targets)
            slot = self.target(fact, place)
            known = fact.kind.tag != "object" or fact.kind.optional
            if slot is not None and (known or self.simple(fact.kind, place) is not None):
                text = self._assigned(fact, slot, place)
                if self._take(text, slot):
                    return text
        return None

    def _take(self, text: str, slot: str) -> bool:
        """Whether a slot may be changed so: two values for one slot are an error."""
        op = "+" if "= " in text and text[len(slot) :].startswith((" +=", " -=")) else "="
        if slot in self._taken and not op == self._taken[slot] == "+":
            return False
        self._taken[slot] = op
        return True

    def _assigned(self, fact: Fact, slot: str, place: Place) -> str:
        kind = fact.kind
        if fact.relation:
            if self.maybe(0.1):
                return f"{slot} = {self.condition(place)}"
            return f"{self.one(['add', 'add', 'remove'])} {slot}"
        if kind.tag in ("number", "int") and self.maybe(0.7):
            small = replace(kind, tag="number", low=0, high=9 * 10**kind.decimals)
            value = self.number(small, replace(place, depth=min(place.depth, 2)))
            ends = number(0, small), number(self.one([1, 2, 10**kind.decimals]), small)
            return f"{slot} {self.one(['+=', '-='])} clamp({value}, {', '.join(ends)})"
        if kind.tag == "real" and self.maybe(0.5):
            return f"{slot} += {self.real(replace(place, depth=1))}"
        return f"{slot} = {self.value(kind, place)}"

    def value(self, kind: Kind, place: Place) -> str:
        """A value to store: numbers stay inside the range more often than not."""
        small = replace(place, depth=min(place.depth, 2))
        if kind.optional and self.maybe(0.15):
            return "none"
        if kind.tag == "number":
            found = self.number(kind, small)
            low, high = number(kind.low, kind), number(kind.high + (self.maybe(0.2)), kind)
            return f"clamp({found}, {low}, {high})"
        return self.term(kind, small)

    def _swap(self, place: Place, targets: list[Fact]) -> str | None:
        fact = self.one(targets)
        slots = [self.target(fact, place) for _ in range(2)]
        if None in slots or fact.relation or slots[0] == slots[1]:
            return None
        return f"swap {slots[0]}, {slots[1]}"

    def _transfer(self, place: Place, targets: list[Fact]) -> str | None:
        numbers = [one for one in targets if one.kind.tag == "number"]
        if not numbers:
            return None
        one = self.one(numbers)
        pair = [
            other for other in numbers
            if (other.kind.unit, other.kind.decimals) == (one.kind.unit, one.kind.decimals)
        ]  # fmt: skip
        slots = self.target(one, place), self.target(self.one(pair), place)
        if None in slots or "=" in (self._taken.get(str(slot)) for slot in slots):
            return None
        self._taken.update({str(slot): "+" for slot in slots})
        amount = Kind("number", low=0, high=2, unit=one.kind.unit)
        value = self.number(amount, replace(place, depth=1))
        ends = number(self.one([0, 0, 0, -1]), amount), number(2, amount)
        return f"transfer clamp({value}, {', '.join(ends)}) of {slots[0]} to {slots[1]}"

    # ---- life -------------------------------------------------------------------------------

    def _creation(self, place: Place, barred: frozenset[str]) -> list[str]:
        """A new object, last in a body: nothing may range over its type behind it."""
        plain = replace(place.unread(barred | self.born_writes), depth=0)
        wrapping = self.one(["plain", "plain", "if", "chance", "for"])
        lines = self._create(plain, read=wrapping != "for")
        match wrapping:
            case "if":
                head = f"if {self.condition(plain)} {{"
            case "chance":
                head = f"chance {self.one(['50%', '0.3'])} {{"
            case "for":
                head = f"for {self.words.name('v')}: 1 to 2 {{"
            case _:
                return lines
        return [head, *(f"  {line}" for line in lines), "}"]

    def _create(self, plain: Place, *, read: bool) -> list[str]:
        name, kind = self.words.name("w"), self.one(self.born)
        facts = [
            one for one in self.words.attributes(kind)
            if not one.unique and one.name not in self.born_writes
        ]  # fmt: skip
        chosen = self.random.sample(facts, min(len(facts), self.random.randint(0, 2)))
        fields = "  ".join(f"{one.name} = {self._field(one.kind, plain)}" for one in chosen)
        lines = [f"create {name}: {kind} {{ {fields} }}"]
        rooms = self.simple(Kind("object", "Room"), plain)
        likes = any(one.name == "likes" for one in self.words.facts)
        if likes and rooms is not None and self.maybe(0.3):
            lines.append(f"add likes({name}, {rooms})")
        if read and self.maybe(0.3):
            lines.append(f"let {self.words.name('l')} = {name}.at")
        if self.maybe(0.4):
            lines.append(f'say "{{A {name}}} appears in {{{name}.at}}."')
        if self.maybe(0.1):
            lines.append(f"destroy {name}")
        return lines

    def _field(self, kind: Kind, plain: Place) -> str:
        if kind.tag in ("number", "int"):
            return self.literal(kind)
        return self.value(kind, plain)

    def _ending(self, place: Place) -> list[str]:
        """Destruction comes last: it touches nearly everything."""
        kind = self.one(self.mortal)
        name = self.words.name("v")
        number_of = self.random.randint(0, 9)
        if self.maybe(0.5):
            where = f"where id({name}) mod 7 == {number_of}"
            return [f"for {name}: {kind} {where} {{", f"  destroy {name}", "}"]
        told = f'  say "{{The {name}}} is gone."'
        return [f"pick {name}: {kind} {{", f"  destroy {name}", told, "}"]

    # ---- output -----------------------------------------------------------------------------

    def _say(self, place: Place) -> str:
        return f'say "{self.prose(replace(place, forbidden=frozenset()))}"'

    def _output(self, place: Place, rights: Rights) -> list[str]:
        if rights.reward and self.maybe(0.15):
            return [f"reward {self.one(['1', '-2', '0.5'])}"]
        if self.words.events and self.maybe(0.35):
            event = self.one(sorted(self.words.events))
            args = [self.simple(kind, place) for kind in self.words.events[event]]
            if None not in args:
                return [f"emit {event}({', '.join(str(arg) for arg in args)})"]
        if self.maybe(0.2):
            thing = self.simple(Kind("object", self.one(sorted(self.words.below))), place)
            if thing is not None:
                return [f"describe {thing}"]
        return [self._say(place)]
