"""Random worlds as text: a vocabulary, rules over it, a world with its endings.

Bodies keep the block rule: nothing is read after it was changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from tokenworld.verbs.fuzz.terms import BOOL, Fact, Kind, Place, Vocabulary, Writer, number
from tokenworld.verbs.fuzz.vocabulary import constant, declared, random_vocabulary


@dataclass(frozen=True)
class Rights:
    """The effects allowed in a body: create, destroy, pay; in setups ``static`` facts too."""

    create: bool = True
    destroy: bool = True
    reward: bool = True
    static: bool = False
    scratch: bool = False
    draws: bool = True
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
        if self.maybe(0.5) and not self.words.small:
            lines += self._output(place, rights)
        if rights.create and self.born and self.maybe(0.25):
            lines += self._creation(place, barred, rights)
        elif rights.destroy and self.mortal and self.maybe(0.12):
            lines += self._ending(
                place.unread(frozenset(one.name for one in self.words.facts)), rights
            )
        return lines

    def _targets(self, rights: Rights) -> list[Fact]:
        return [
            one for one in self.words.facts
            if not one.table and (rights.static or not one.static) and one.name not in rights.spared
            and (rights.scratch or not one.scratch)
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
        choice = self.random.random() if rights.draws else self.random.uniform(0.38, 1)
        if choice < 0.15:
            return f"chance {self.share(place)}", BOOL
        if choice < 0.3:
            binders, inner = self.binders(place, 1)
            by = self._by(inner)
            return f"pick {{ {binders}{by} }}", replace(inner.locals[-1][1], optional=True)
        if choice < 0.38 and not self.words.small:
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

        match self.one(["if", "if", "for"] + ["chance", "pick"] * rights.draws):
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
        """Return whether a slot may be changed so: two values for one slot are an error."""
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
        if kind.tag in ("number", "int") and self.words.small and self.maybe(0.7):
            return f"{slot} {self.one(['+=', '+=', '-='])} {self.one(['1', '1', '2'])}"
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

    def _creation(self, place: Place, barred: frozenset[str], rights: Rights) -> list[str]:
        """A new object, last in a body: nothing may range over its type after it."""
        plain = replace(place.unread(barred | self.born_writes), depth=0)
        wrapping = self.one(["plain", "plain", "if", "for"] + ["chance"] * rights.draws)
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
        if self.words.has("likes") and rooms is not None and self.maybe(0.3):
            lines.append(f"add likes({name}, {rooms})")
        if read and self.words.has("at") and self.maybe(0.3):
            lines.append(f"let {self.words.name('l')} = {name}.at")
        if self.words.has("at") and self.maybe(0.4):
            lines.append(f'say "{{A {name}}} appears in {{{name}.at}}."')
        if self.maybe(0.1):
            lines.append(f"destroy {name}")
        return lines

    def _field(self, kind: Kind, plain: Place) -> str:
        if kind.tag in ("number", "int"):
            return self.literal(kind)
        return self.value(kind, plain)

    def _ending(self, place: Place, rights: Rights) -> list[str]:
        """Destruction comes last: it touches nearly everything."""
        kind = self.one(self.mortal)
        name = self.words.name("v")
        number_of = self.random.randint(0, 9)
        if not rights.draws or self.maybe(0.5):
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


_KINDS = (
    *(Kind("object", one) for one in ("Thing", "Thing", "Item", "Box", "Room", "Holder")),
    Kind("enum", "Lock"), Kind("number", low=1, high=3),
)  # fmt: skip
VERBS = ("touch", "lift", "shake", "open up", "kick", "polish")


@dataclass
class Making:
    """A world in the making: ``kinds`` are those of parameters of rules, ``actor`` is the type that
    acts, empty where nobody does; ``several``: there are several actors."""

    words: Vocabulary
    writer: BodyWriter
    items: list[str]
    kinds: tuple[Kind, ...]
    actor: str
    several: bool
    spared: frozenset[str] = frozenset()
    effects: list[tuple[str, tuple[Kind, ...]]] = field(default_factory=list)


def random_world(seed: int) -> str:
    """The text of a random program with one world ``w``."""
    random = Random(seed)
    actor = random.random() > 0.08
    several = actor and random.random() < 0.3
    words = random_vocabulary(random, grid=random.random() < 0.25)
    who = "Hero" if actor else ""
    items = declared(words, me=actor and not several, actor=who)
    making = Making(words, BodyWriter(words), items, _KINDS, who, several)
    making.writer.mortal = ("Item", "Lamp", "Box") if random.random() < 0.4 else ()
    if random.random() < 0.4:
        making.writer.born = ("Item", "Lamp", "Box", "Chest")
    _top_objects(making)
    _guarded(making)
    phases = declare_phases(making)
    rights = Rights(spared=making.spared)
    _births(making, rights)
    for index in range(random.choice([0, 0, 1, 1, 2])):
        making.items.append(effect(making, index, rights))
    for index in range(random.randint(2, 4)):
        making.items.append(action(making, index, rights))
    for index in range(random.randint(0, 4)):
        making.items.append(law(making, index, phases, rights))
    _speech(making)
    making.items.append(_world_text(making))
    return "\n".join(making.items) + "\n"


def _top_objects(making: Making) -> None:
    random = making.words.random
    if random.random() < 0.5:
        making.items.append("object attic: Room")
        making.words.shared["attic"] = "Room"
    if random.random() < 0.3:
        making.items.append("object `old-thing`: Item")
        making.words.shared["`old-thing`"] = "Item"


def _shared(making: Making) -> tuple[tuple[str, str], ...]:
    return tuple(making.words.shared.items())


def _rule_place(making: Making, names: list[tuple[str, Kind]], *, me: bool) -> Place:
    return Place(tuple(names), _shared(making), me=making.actor if me else "", history=True)


def block(head: str, lines: list[str]) -> str:
    return "\n".join([f"{head} {{", *(f"  {line}" for line in lines), "}"])


# ---- invariants and conserved sums ----------------------------------------------------------


def _guarded(making: Making) -> None:
    """Guarded facts: bounds that play may break, and a sum that only transfers change."""
    random = making.words.random
    if random.random() < 0.3:
        making.items.append("invariant light(x: Thing): x.weight_of < 6")
    if random.random() < 0.15:
        making.items.append("invariant few(): count(x for x: Thing where x.weight_of > 3) <= 2")
    if making.actor and random.random() < 0.25:
        making.items.append("conserve weights: sum(x.weight_of for x: Thing) except mint")
        making.spared = frozenset({"weight_of"})
        making.writer.moved, making.writer.born = "weight_of", ()
        making.items.append('action mint() as "mint" { me.weight_of += 1 }')
        making.items.append('action forge() as "forge" { me.weight_of += tick() mod 2 }')


def declare_phases(making: Making) -> list[str]:
    random, found = making.words.random, [""]
    for name in ("morning", "noon", "night")[: random.randint(0, 3)]:
        kinds = ["", "", " sequentially", " sequentially by nesting"]
        making.items.append(f"phase {name}{random.choice(kinds)}")
        found.append(name)
    return found


def _births(making: Making, rights: Rights) -> None:
    writer, random = making.writer, making.words.random
    if not writer.born:
        return
    if random.random() < 0.6:
        value = random.choice(["1", "2", "rate", "min(tick(), 3)"])
        lines = [f"x.weight_of = {value}", 'say "{The x} is born."']
        making.items.append(block("birth x: Thing", lines[: random.randint(1, 2)]))
        writer.born_writes = frozenset({"weight_of"})
    if random.random() < 0.5:
        lines = ["emit noticed(x)", 'if x.at != none { say "{The x} in {x.at}." }']
        making.items.append(block("birth x: Lamp", lines[random.randint(0, 1) :]))


# ---- effects with a name --------------------------------------------------------------------


def effect(making: Making, index: int, rights: Rights) -> str:
    """An effect, which may call those before it."""
    words, random = making.words, making.words.random
    kinds = [_argument_kind(making) for _ in range(random.randint(1, 3))]
    names = [(words.name("e"), kind) for kind in kinds]
    formals = ", ".join(f"{name}: {kind.written()}" for name, kind in names)
    lines = _changes(making, _rule_place(making, names, me=False), rights)
    making.effects.append((f"effect{index}", tuple(kinds)))
    return block(f"effect effect{index}({formals})", lines)


def _argument_kind(making: Making) -> Kind:
    """The kind of a parameter of an effect: any of those of rules, or what only effects take."""
    random = making.words.random
    kind = random.choice([random.choice(making.kinds), random.choice(making.kinds), BOOL, BOOL])
    if kind.tag in ("object", "enum"):
        return replace(kind, optional=random.random() < 0.3)
    real = kind is BOOL and not making.words.small and random.random() < 0.5
    return Kind("real") if real else kind


def _changes(making: Making, place: Place, rights: Rights) -> list[str]:
    """Return the body of a rule: statements, or a call of an effect with these statements."""
    random, writer = making.words.random, making.writer
    if not making.effects or random.random() < 0.7:
        return writer.body(place, rights)
    name, kinds = random.choice(making.effects)
    lines, place = writer.lets(place, rights)
    small = replace(place, depth=1)
    args = [
        writer.simple(kind, place)
        if kind.tag == "object" and not kind.optional
        else writer.value(kind, small)
        for kind in kinds
    ]
    if None in args:
        return writer.body(place, rights)
    return [*lines, f"{name}({', '.join(str(arg) for arg in args)})"]


# ---- actions --------------------------------------------------------------------------------


def _params(making: Making, most: int) -> tuple[str, list[tuple[str, Kind]]]:
    words, random = making.words, making.words.random
    names: list[tuple[str, Kind]] = []
    for _ in range(random.choice([0, 1, 1, 1, 2][: most + 3])):
        names.append((words.name("x"), random.choice(making.kinds)))
    return ", ".join(f"{name}: {kind.written()}" for name, kind in names), names


def action(making: Making, index: int, rights: Rights) -> str:
    words, random, writer = making.words, making.words.random, making.writer
    formals, names = _params(making, 2)
    name = f"act{index}"
    words.actions[name] = tuple(kind for _, kind in names)
    place = _rule_place(making, names, me=True)
    head = f"action {name}({formals}){_phrases(making, index, names, place)}"
    small = replace(place, depth=1)
    if random.random() < 0.5:
        rate = [one for one in words.params if one == "rate"]
        head += f" takes {random.choice(['0', '0', '0', '2', '2', '3', '4', *rate])}"
        if random.random() < 0.25:
            head += f" until {writer.condition(small)}"
    if random.random() < 0.2:
        head += f" cost {random.choice(['0', '1', '2', *list(words.params)[:1]])}"
    lines: list[str] = []
    if making.actor and not words.small and random.random() < 0.25:
        lines.append("let spot = me.at")
        lines.append('require spot is Room else nowhere "You are nowhere."')
        place = place.bind("spot", Kind("object", "Room"))
    for _ in range(random.choice([0, 0, 1, 1] if words.small else [0, 1, 1, 2])):
        lines.append(_require(making, place))
    lasting = " takes 0" not in head and " takes rate" not in head
    lines += _changes(making, place, replace(rights, scratch=lasting))
    if " takes " in head and " takes 0" not in head and random.random() < 0.75:
        lines.append("cancelled {")
        lines += [f"  {line}" for line in writer.body(place, replace(rights, destroy=False))]
        lines.append("}")
    return random.choice(["", "", "", 'quirk "as drawn" ', "## Drawn.\n"]) + block(head, lines)


def _phrases(making: Making, index: int, names: list[tuple[str, Kind]], place: Place) -> str:
    random, verb = making.words.random, VERBS[index]
    if random.random() < 0.15:
        return ""
    phrase = " with ".join([verb, *(f"{{{name}}}" for name, _ in names)]).replace(" with ", " ", 1)
    things = [(name, kind) for name, kind in names if kind.tag == "object"]
    if things and random.random() < 0.3:
        name, kind = random.choice(things)
        if making.words.is_a(kind.name, "Thing"):
            phrase += random.choice([f" from {{{name}.at}}", f" of {{{name}.weight_of}}"])
    if names and random.random() < 0.15:
        phrase = f"{verb} something"
    other = f' or "again {verb.split()[0]}' + "".join(f" {{{n}}}" for n, _ in names) + '"'
    return f' as "{phrase}"' + (other if random.random() < 0.3 else "")


def _require(making: Making, place: Place) -> str:
    random, writer = making.words.random, making.writer
    text = f"require {writer.condition(replace(place, depth=2))}"
    label = making.words.name("why")
    match random.choice(["both", "both", "label", "text", "none"]):
        case "both":
            return f'{text} else {label} "{writer.prose(place, 1)}"'
        case "label":
            return f"{text} else {label}"
        case "text":
            return f'{text} else "{writer.prose(place, 1)}"'
        case _:
            return text


# ---- laws, watches, prose -------------------------------------------------------------------


def law(making: Making, index: int, phases: list[str], rights: Rights) -> str:
    random, writer = making.words.random, making.writer
    formals, names = _params(making, 1)
    phase = random.choice(phases)
    place = replace(_rule_place(making, names, me=not making.several and random.random() < 0.3))
    head = f"law law{index}({formals})" + (f" during {phase}" if phase else "")
    if random.random() < 0.75:
        head += f" when {writer.condition(replace(place, was=True, depth=2))}"
    return block(head, _changes(making, place, replace(rights, scratch=bool(phase))))


def _speech(making: Making) -> None:
    """Watches, names, scopes and descriptions."""
    random, writer, items = making.words.random, making.writer, making.items
    me = not making.several
    for index in range(random.choice([0, 1, 1, 2])):
        formals, names = _params(making, 1)
        place = replace(_rule_place(making, names, me=me and random.random() < 0.3), was=True)
        place = place.unread(making.words.forgotten)
        once = " once" if random.random() < 0.4 else ""
        when = writer.condition(replace(place, depth=2))
        lines = _said(making, place)
        items.append(block(f"watch watch{index}({formals}){once} when {when}", lines))
    if random.random() < 0.3:
        lines = ['say "{The x} went from {was x.at} to {x.at}."']
        items.append(block("watch moved(x: Thing) when x.at != was x.at", lines))
    if random.random() < 0.5:
        items.append('called x: Item = "{x.weight_of} item" aka "thingy"')
    if random.random() < 0.3:
        items.append('called x: Lamp = if x.weight_of > 1 then "bright lamp" else "lamp"')
    if making.actor and random.random() < 0.3:
        items.append("scope x: Thing = x.at == me.at or x in me.inside")
    elif making.actor and random.random() < 0.3:
        items.append("derive sees(h: Hero, x: Item) = x.at == h.at or x in h.contents")
    for kind in ("Thing", "Room"):
        if random.random() < 0.5:
            place = _rule_place(making, [("x", Kind("object", kind))], me=True)
            items.append(block(f"describe x: {kind}", _said(making, place)))


def _said(making: Making, place: Place) -> list[str]:
    random, writer = making.words.random, making.writer
    lines = [f'say "{writer.prose(place)}"']
    if random.random() < 0.3:
        lines += [f"if {writer.condition(replace(place, depth=1))} {{", f"  {lines[0]}", "}"]
    if random.random() < 0.2:
        binders, inner = writer.binders(place, 1)
        lines += [f"for {binders} {{", f'  say "{writer.prose(inner, 1)}"', "}"]
    return lines


# ---- the world ------------------------------------------------------------------------------


def _world_text(making: Making) -> str:
    random, words, writer = making.words.random, making.words, making.writer
    objects = {"hall": "Room", "cellar": "Room", "hero": "Hero", "crate": "Box", "ball": "Item"}
    if making.several:
        objects["friend"] = "Hero"
    for name, kind in (("torch", "Lamp"), ("trunk", "Chest"), ("coin", "Item")):
        if random.random() < 0.5:
            objects[name] = kind
    lines = [_object(making, name, kind, objects) for name, kind in objects.items()]
    place = Place(
        objects=(*objects.items(), *_shared(making)), me="" if making.several else making.actor
    )
    place = replace(place, depth=2).unread(words.forgotten)
    if random.random() < 0.6:
        rights = Rights(static=True, create=False, destroy=False, reward=False,
                        spared=making.spared)  # fmt: skip
        lines.append(block("setup", writer.body(place, rights)))
    for line, share in (
        ("time passes always", 0.25), ("ambiguous ask", 0.3), ("endless", 0.35),
        ("outcomes live", 0.2), ("spare Item 2", 0.2), ("param rate = 2", 0.3),
    ):  # fmt: skip
        if random.random() < share:
            lines.append(line)
    if making.several:
        lines.append("turns hero, friend")
    if words.grid:
        lines.append(_layout(making, place))
    lines += _endings(making, place)
    random.shuffle(lines)
    return block(f'world w "The {random.choice(["World", "House"])}"', lines)


def _layout(making: Making, place: Place) -> str:
    """Return a small map of tiles, whose legend may create objects on them."""
    random, writer = making.words.random, making.writer
    rights = Rights(static=True, create=False, destroy=False, reward=False, spared=making.spared)
    inner = place.bind("here", Kind("object", "Tile"))
    rows = random.choice([["a.", "bb"], ["ab.", "..b"], ["b", "a", "b"]])
    lines = [" ".join(f'"{row}"' for row in rows)]
    made = ["create lone: Item { at = here }"] if random.random() < 0.6 else []
    lines += block('legend "a"', [*writer.body(inner, rights), *made]).split("\n")
    more = ["create many: Lamp { at = here }"] if random.random() < 0.4 else []
    lines += block('legend "b"', [*writer.body(inner, rights), *more]).split("\n")
    return block("layout Tile", lines)


def _endings(making: Making, place: Place) -> list[str]:
    random, writer, lines = making.words.random, making.writer, []
    for kind, name in (("goal", "done"), ("goal", "rich"), ("lose", "dead"), ("stop", "late")):
        if random.random() < 0.4:
            condition = writer.condition(place)
            if random.random() < 0.7:
                condition = f"tick() > {random.randint(5, 40)} and ({condition})"
            text = f' "{writer.prose(place, 1)}"' if random.random() < 0.6 else ""
            lines.append(f"{kind} {name}: {condition}{text}")
    if random.random() < 0.3:
        lines.append(f"award {random.randint(1, 3)} when {writer.condition(place)}")
    if random.random() < 0.3:
        lines.append(
            f"score = {writer.number(Kind('number', low=0, high=9), replace(place, depth=1))}"
        )
    if random.random() < 0.3:
        lines.append(f"reward {random.choice(['1', '0.5', '-1'])} when {writer.condition(place)}")
    return lines


def _object(making: Making, name: str, kind: str, objects: dict[str, str]) -> str:
    random, words = making.words.random, making.words
    fields: list[str] = []
    for fact in words.attributes(kind):
        if fact.name == "at":
            homes = {"hero": ["hall"], "friend": ["hall", "cellar"], "crate": ["hall", "hero"]}
            usual = ["hall", "cellar", "crate", "hero", "none"]
            usual += ["tile_0_0"] * 3 if words.grid else []
            fields.append(f"at = {random.choice(homes.get(name, usual))}")
        elif fact.name == "home":
            fields.append(f"home = {random.choice(['hall', 'cellar'])}")
        elif fact.name != "weight_of" and not fact.unique and random.random() < 0.25:
            fields.append(f"{fact.name} = {_field(making, fact, objects)}")
    title = f' "{name.title()}"' if random.random() < 0.12 else ""
    aka = f' aka "{random.choice(["stuff", "that"])}"' if random.random() < 0.15 else ""
    return f"object {name}: {kind}{title}{aka} {{ {'  '.join(fields)} }}"


def _field(making: Making, fact: Fact, objects: dict[str, str]) -> str:
    if fact.kind.tag == "object":
        fits = [name for name, kind in objects.items() if making.words.is_a(kind, fact.kind.name)]
        return making.words.random.choice([*fits, "none"])
    return constant(making.words, fact.kind)
