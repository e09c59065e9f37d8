"""Random worlds as text: a vocabulary, rules over it, a world with its endings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tokenworld.tools.fuzzing.bodies import BodyWriter, Rights
from tokenworld.tools.fuzzing.terms import Place
from tokenworld.tools.fuzzing.vocabulary import constant, declared, random_vocabulary
from tokenworld.tools.fuzzing.words import Fact, Kind, Vocabulary

__all__ = ["random_world"]

VERBS = ("touch", "lift", "shake", "open up", "kick", "polish")


@dataclass
class _World:
    """A world in the making."""

    words: Vocabulary
    writer: BodyWriter
    items: list[str]
    actor: str
    several: bool
    spared: frozenset[str] = frozenset()


def random_world(seed: int) -> str:
    """The text of a random program with one world ``w``."""
    random = Random(seed)
    actor = random.random() > 0.08
    several = actor and random.random() < 0.2
    words = random_vocabulary(random, grid=random.random() < 0.25)
    items = declared(words, me=actor and not several, actor=actor)
    making = _World(words, BodyWriter(words), items, "Hero" if actor else "", several)
    making.writer.mortal = ("Item", "Lamp", "Box") if random.random() < 0.4 else ()
    if random.random() < 0.4:
        making.writer.born = ("Item", "Lamp", "Box", "Chest")
    _top_objects(making)
    _guarded(making)
    phases = _phases(making)
    rights = Rights(spared=making.spared)
    _births(making, rights)
    for index in range(random.randint(2, 4)):
        making.items.append(_action(making, index, rights))
    for index in range(random.randint(0, 4)):
        making.items.append(_law(making, index, phases, rights))
    _speech(making)
    making.items.append(_world_text(making))
    return "\n".join(making.items) + "\n"


def _top_objects(making: _World) -> None:
    random = making.words.random
    if random.random() < 0.5:
        making.items.append("object attic: Room")
        making.words.shared["attic"] = "Room"
    if random.random() < 0.3:
        making.items.append("object `old-thing`: Item")
        making.words.shared["`old-thing`"] = "Item"


def _shared(making: _World) -> tuple[tuple[str, str], ...]:
    return tuple(making.words.shared.items())


def _rule_place(making: _World, names: list[tuple[str, Kind]], *, me: bool) -> Place:
    return Place(tuple(names), _shared(making), me=making.actor if me else "", deeds=True)


def _block(head: str, lines: list[str]) -> str:
    return "\n".join([f"{head} {{", *(f"  {line}" for line in lines), "}"])


# ---- invariants and conserved sums ----------------------------------------------------------


def _guarded(making: _World) -> None:
    """What must hold: bounds that play may break, and a sum that only transfers move."""
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


def _phases(making: _World) -> list[str]:
    random, found = making.words.random, [""]
    for name in ("morning", "noon", "night")[: random.randint(0, 3)]:
        kinds = ["", "", " sequentially", " sequentially by nesting"]
        making.items.append(f"phase {name}{random.choice(kinds)}")
        found.append(name)
    return found


def _births(making: _World, rights: Rights) -> None:
    writer, random = making.writer, making.words.random
    if not writer.born:
        return
    if random.random() < 0.6:
        value = random.choice(["1", "2", "rate", "min(tick(), 3)"])
        lines = [f"x.weight_of = {value}", 'say "{The x} is born."']
        making.items.append(_block("birth x: Thing", lines[: random.randint(1, 2)]))
        writer.born_writes = frozenset({"weight_of"})
    if random.random() < 0.5:
        lines = ["emit noticed(x)", 'if x.at != none { say "{The x} in {x.at}." }']
        making.items.append(_block("birth x: Lamp", lines[random.randint(0, 1) :]))


# ---- actions --------------------------------------------------------------------------------


def _params(making: _World, most: int) -> tuple[str, list[tuple[str, Kind]]]:
    words, random = making.words, making.words.random
    names: list[tuple[str, Kind]] = []
    for _ in range(random.choice([0, 1, 1, 1, 2][: most + 3])):
        kind = random.choice(["Thing", "Thing", "Item", "Box", "Room", "Holder", "Lock", "range"])
        if kind == "range":
            own = Kind("number", low=1, high=3)
        elif kind == "Lock":
            own = Kind("enum", "Lock")
        else:
            own = Kind("object", kind)
        names.append((words.name("x"), own))
    return ", ".join(f"{name}: {kind.written()}" for name, kind in names), names


def _action(making: _World, index: int, rights: Rights) -> str:
    words, random, writer = making.words, making.words.random, making.writer
    formals, names = _params(making, 2)
    name = f"act{index}"
    words.actions[name] = tuple(kind for _, kind in names)
    place = _rule_place(making, names, me=True)
    head = f"action {name}({formals}){_phrases(making, index, names, place)}"
    small = replace(place, depth=1)
    if random.random() < 0.3:
        head += f" takes {random.choice(['0', '2', '3', '2', 'rate'])}"
        if random.random() < 0.4:
            head += f" until {writer.condition(small)}"
    if random.random() < 0.2:
        head += f" cost {random.choice(['1', '2', 'rate'])}"
    lines: list[str] = []
    if making.actor and random.random() < 0.25:
        lines.append("let spot = me.at")
        lines.append('require spot is Room else nowhere "You are nowhere."')
        place = place.bind("spot", Kind("object", "Room"))
    for _ in range(random.choice([0, 1, 1, 2])):
        lines.append(_require(making, place))
    lines += writer.body(place, rights)
    if " takes " in head and random.random() < 0.6:
        lines.append("cancelled {")
        lines += [f"  {line}" for line in writer.body(place, replace(rights, destroy=False))]
        lines.append("}")
    return random.choice(["", "", "", 'quirk "as drawn" ', "## Drawn.\n"]) + _block(head, lines)


def _phrases(making: _World, index: int, names: list[tuple[str, Kind]], place: Place) -> str:
    random, verb = making.words.random, VERBS[index]
    if random.random() < 0.15:
        return ""
    phrase = " with ".join([verb, *(f"{{{name}}}" for name, _ in names)]).replace(" with ", " ", 1)
    things = [(name, kind) for name, kind in names if kind.tag == "object"]
    if things and random.random() < 0.3:
        name, kind = random.choice(things)
        thing = any(making.words.is_a(kind.name, one) for one in ("Thing",))
        if thing:
            phrase += random.choice([f" from {{{name}.at}}", f" of {{{name}.weight_of}}"])
    if names and random.random() < 0.15:
        phrase = f"{verb} something"
    other = f' or "again {verb.split()[0]}' + "".join(f" {{{n}}}" for n, _ in names) + '"'
    return f' as "{phrase}"' + (other if random.random() < 0.3 else "")


def _require(making: _World, place: Place) -> str:
    random, writer = making.words.random, making.writer
    text = f"require {writer.condition(replace(place, depth=2))}"
    label = making.words.name("why")
    match random.choice(["both", "both", "text", "none"]):
        case "both":
            return f'{text} else {label} "{writer.prose(place, 1)}"'
        case "text":
            return f'{text} else "{writer.prose(place, 1)}"'
        case _:
            return text


# ---- laws, watches, prose -------------------------------------------------------------------


def _law(making: _World, index: int, phases: list[str], rights: Rights) -> str:
    random, writer = making.words.random, making.writer
    formals, names = _params(making, 1)
    phase = random.choice(phases)
    place = replace(_rule_place(making, names, me=not making.several and random.random() < 0.3))
    head = f"law law{index}({formals})" + (f" during {phase}" if phase else "")
    if random.random() < 0.75:
        head += f" when {writer.condition(replace(place, was=True, depth=2))}"
    return _block(head, writer.body(place, rights))


def _speech(making: _World) -> None:
    """Watches, names, scopes and descriptions."""
    random, writer, items = making.words.random, making.writer, making.items
    me = not making.several
    for index in range(random.choice([0, 1, 1, 2])):
        formals, names = _params(making, 1)
        place = replace(_rule_place(making, names, me=me and random.random() < 0.3), was=True)
        once = " once" if random.random() < 0.4 else ""
        when = writer.condition(replace(place, depth=2))
        lines = _said(making, place)
        items.append(_block(f"watch watch{index}({formals}){once} when {when}", lines))
    if random.random() < 0.3:
        lines = ['say "{The x} went from {was x.at} to {x.at}."']
        items.append(_block("watch moved(x: Thing) when x.at != was x.at", lines))
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
            items.append(_block(f"describe x: {kind}", _said(making, place)))


def _said(making: _World, place: Place) -> list[str]:
    random, writer = making.words.random, making.writer
    lines = [f'say "{writer.prose(place)}"']
    if random.random() < 0.3:
        lines += [f"if {writer.condition(replace(place, depth=1))} {{", f"  {lines[0]}", "}"]
    if random.random() < 0.2:
        binders, inner = writer.binders(place, 1)
        lines += [f"for {binders} {{", f'  say "{writer.prose(inner, 1)}"', "}"]
    return lines


# ---- the world ------------------------------------------------------------------------------


def _world_text(making: _World) -> str:
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
    place = replace(place, depth=2)
    if random.random() < 0.6:
        rights = Rights(static=True, create=False, destroy=False, reward=False,
                        spared=making.spared)  # fmt: skip
        lines.append(_block("setup", writer.body(place, rights)))
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
    return _block(f'world w "The {random.choice(["World", "House"])}"', lines)


def _layout(making: _World, place: Place) -> str:
    """A small map; what one character brings forth keeps its name."""
    random, writer = making.words.random, making.writer
    rights = Rights(static=True, create=False, destroy=False, reward=False, spared=making.spared)
    inner = place.bind("here", Kind("object", "Tile"))
    rows = random.choice([["a.", "bb"], ["ab.", "..b"], ["b", "a", "b"]])
    lines = [" ".join(f'"{row}"' for row in rows)]
    made = ["create lone: Item { at = here }"] if random.random() < 0.6 else []
    lines += _block('legend "a"', [*writer.body(inner, rights), *made]).split("\n")
    more = ["create many: Lamp { at = here }"] if random.random() < 0.4 else []
    lines += _block('legend "b"', [*writer.body(inner, rights), *more]).split("\n")
    return _block("layout Tile", lines)


def _endings(making: _World, place: Place) -> list[str]:
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


def _object(making: _World, name: str, kind: str, objects: dict[str, str]) -> str:
    random, words = making.words.random, making.words
    fields: list[str] = []
    for fact in words.attributes(kind):
        if fact.name == "at":
            homes = {"hero": ["hall"], "friend": ["hall", "cellar"], "crate": ["hall", "hero"]}
            usual = ["hall", "cellar", "crate", "hero", "none"]
            fields.append(f"at = {random.choice(homes.get(name, usual))}")
        elif fact.name == "home":
            fields.append(f"home = {random.choice(['hall', 'cellar'])}")
        elif fact.name != "weight_of" and not fact.unique and random.random() < 0.25:
            fields.append(f"{fact.name} = {_field(making, fact, objects)}")
    title = f' "{name.title()}"' if random.random() < 0.12 else ""
    aka = f' aka "{random.choice(["stuff", "that"])}"' if random.random() < 0.15 else ""
    return f"object {name}: {kind}{title}{aka} {{ {'  '.join(fields)} }}"


def _field(making: _World, fact: Fact, objects: dict[str, str]) -> str:
    if fact.kind.tag == "object":
        fits = [name for name, kind in objects.items() if making.words.is_a(kind, fact.kind.name)]
        return making.words.random.choice([*fits, "none"])
    return constant(making.words, fact.kind)
