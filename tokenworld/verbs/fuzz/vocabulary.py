"""A random vocabulary: types with several parents, every kind of fluent, derives."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tokenworld.verbs.fuzz.terms import BOOL, Derived, Fact, Kind, Place, Vocabulary, Writer, number

TYPES = {
    "Holder": "", "Room": "Holder", "Thing": "", "Item": "Thing", "Box": "Holder, Item",
    "Lamp": "Item", "Hero": "Holder, Thing", "Chest": "Box, Lamp",
}  # fmt: skip
"""`Chest` inherits `Thing` on three ways; a `Hero` is in rooms and has things in hand."""

BELOW = {
    "Holder": ["Holder", "Room", "Box", "Hero", "Chest"], "Room": ["Room"],
    "Thing": ["Thing", "Item", "Box", "Lamp", "Hero", "Chest"],
    "Item": ["Item", "Box", "Lamp", "Chest"], "Box": ["Box", "Chest"],
    "Lamp": ["Lamp", "Chest"], "Hero": ["Hero"], "Chest": ["Chest"],
}  # fmt: skip


def random_vocabulary(random: Random, *, grid: bool) -> Vocabulary:
    """Enums and facts; ``grid``: also cells, which a layout makes."""
    enums: dict[str, tuple[str, ...]] = {
        "Lock": ("open", "closed", "locked"),
        "Mood": ("low", "mid", "high"),
    }
    if random.random() < 0.5:
        enums["Hue"] = ("red", "green_blue")
    below = {name: list(kinds) for name, kinds in BELOW.items()}
    words = Vocabulary(random, TYPES, below, enums, {"Mood"})
    words.units = ["l"] if random.random() < 0.6 else []
    words.grid = grid
    _facts(words)
    if grid:
        _grid(words)
    return words


def _grid(words: Vocabulary) -> None:
    """The declarations of `grid.cells`; a `Tile` is a cell that contains objects."""
    words.below.update({"Cell": ["Cell", "Tile"], "Tile": ["Tile"]})
    words.below["Holder"].append("Tile")
    words.enums["Direction"] = ("north", "east", "south", "west")
    cell, place = Kind("object", "Cell"), Kind("number", low=0, high=999)
    words.facts += [
        Fact("x", place, "Cell", static=True),
        Fact("y", place, "Cell", static=True),
        Fact("step", replace(cell, optional=True), params=(cell, Kind("enum", "Direction")),
             static=True, given=True),
        Fact("ground", Kind("enum", "Hue" if "Hue" in words.enums else "Lock"), "Tile"),
    ]  # fmt: skip
    words.derives += [
        Derived("near", BOOL, (cell, cell), frozenset({"step"})),
        Derived("distance", Kind("number", low=0, high=1998), (cell, cell), frozenset({"x", "y"})),
    ]


def _kind(words: Vocabulary) -> Kind:
    """A random value type."""
    random = words.random
    match random.choice(["bool", "bool", "enum", "object", "number", "number", "number",
                         "decimal", "unit", "percent", "int", "real", "text"]):  # fmt: skip
        case "bool":
            return BOOL
        case "enum":
            return Kind("enum", random.choice(sorted(words.enums)), optional=random.random() < 0.3)
        case "object":
            return Kind("object", random.choice(["Thing", "Box", "Room", "Item"]), optional=True)
        case "decimal":
            return Kind("number", low=0, high=random.choice([5, 30, 100]), decimals=1)
        case "unit" if words.units:
            return Kind("number", low=0, high=random.choice([3, 6]), unit=words.units[0])
        case "percent":
            return Kind("number", low=0, high=100, decimals=2, unit="%")
        case "int":
            return Kind("int")
        case "real":
            return Kind("real")
        case "text":
            return Kind("text", optional=random.random() < 0.3)
        case _:
            low = random.choice([0, 0, 0, -2, 1])
            return Kind("number", low=low, high=low + random.choice([2, 3, 5, 9]))


def _facts(words: Vocabulary) -> None:
    random, facts = words.random, words.facts
    facts.append(Fact(
        "at", Kind("object", "Holder", optional=True), "Thing", inverse="contents",
        closure="inside", nested=True,
    ))  # fmt: skip
    facts.append(Fact("weight_of", Kind("number", low=0, high=6), "Thing"))
    for owner in ("Thing", "Thing", "Box", "Lamp", "Hero", "Room", "Item"):
        for _ in range(random.choice([0, 1, 1, 2])):
            facts.append(_attribute(words, owner))
    if random.random() < 0.3:
        facts.append(Fact("home", Kind("object", "Room"), "Hero"))
    if random.random() < 0.4:
        kind = Kind("object", "Thing", optional=True)
        facts.append(Fact("held", kind, "Box", unique=random.random() < 0.5, inverse="holders"))
    facts.append(Fact("linked", BOOL, params=(Kind("object", "Room"),) * 2, relation=True,
                      closure="reach" if random.random() < 0.6 else ""))  # fmt: skip
    if random.random() < 0.7:
        pair = (Kind("object", "Thing"), Kind("object", "Room"))
        facts.append(Fact("likes", BOOL, params=pair, relation=True))
    if random.random() < 0.6:
        facts.append(Fact("lit", BOOL, params=(Kind("object", "Room"),), relation=True))
    facts.append(Fact("count_of", _stored(words), params=()))
    if random.random() < 0.7:
        facts.append(Fact("carried", _stored(words), params=(Kind("object", "Hero"), _key(words))))
    if random.random() < 0.6:
        facts.append(Fact("rank", _stored(words), params=(Kind("object", "Thing"),)))
    if random.random() < 0.5:
        keys = random.choice(
            [(), (Kind("object", "Thing"),), (Kind("object", "Thing"), _key(words))]
        )
        facts.append(Fact("stir", _passing(words), params=keys, scratch=True))
    facts.append(Fact("price", Kind("number", low=0, high=9), params=(Kind("enum", "Lock"),),
                      static=True, table=True))  # fmt: skip
    if random.random() < 0.6:
        keys = (Kind("enum", "Lock"), Kind("enum", "Mood"))
        kind = Kind("enum", "Mood", optional=True)
        facts.append(Fact("needs", kind, params=keys, static=True, table=True))
    if random.random() < 0.5:
        pair = (Kind("enum", "Lock"), Kind("enum", "Mood"))
        facts.append(Fact("fits", BOOL, params=pair, static=True, table=True))


def _stored(words: Vocabulary) -> Kind:
    kind = _kind(words)
    return kind if kind.tag not in ("text",) else Kind("number", low=0, high=5)


def _passing(words: Vocabulary) -> Kind:
    return words.random.choice([
        BOOL, BOOL, Kind("number", low=0, high=4), Kind("enum", "Lock"),
        Kind("object", "Thing", optional=True),
    ])  # fmt: skip


def _key(words: Vocabulary) -> Kind:
    return words.random.choice([
        Kind("enum", "Lock"), Kind("number", low=1, high=3), Kind("object", "Item"),
    ])  # fmt: skip


def _attribute(words: Vocabulary, owner: str) -> Fact:
    random, kind = words.random, _kind(words)
    thing = kind.optional and kind.tag == "object"
    return Fact(
        words.name(random.choice(["size", "glow", "mark", "use_of"])),
        kind,
        owner,
        clamped=kind.tag == "number" and random.random() < 0.5,
        static=random.random() < 0.08,
        unique=thing and random.random() < 0.2,
    )


# ---- text ---------------------------------------------------------------------------------


def declared(words: Vocabulary, *, me: bool, actor: str) -> list[str]:
    """The items of a vocabulary, one text each; ``actor`` is the type that acts, if one does.
    ``me``: derives may ask who acts."""
    random = words.random
    items = ["edition 1"]
    if words.grid:
        items += ["use grid.cells", f"type Tile : Cell, Holder {{\n  ground: {_ground(words)}\n}}"]
    items += [f"unit {unit}" for unit in words.units]
    if words.units and random.random() < 0.5:
        items.append(f"unit dl = 10{words.units[0]}")
    for name, members in words.enums.items():
        if name == "Direction":
            continue
        sign = " < " if name in words.ladders else ", "
        items.append(f"enum {name} {{ {sign.join(members)} }}")
    for name, parents in words.types.items():
        lines = [_attribute_text(words, one) for one in words.facts if one.owner == name]
        lines += _overrides(words, name)
        head = f"type {name}" + (f" : {parents}" if parents else "")
        items.append("\n".join([f"{head} {{", *(f"  {line}" for line in lines), "}"]))
    if actor:
        items.append(f"actor me: {actor}")
    if not words.small:
        items += _params_and_events(words)
    items += [_fact_text(words, one) for one in words.facts if not (one.owner or one.given)]
    return items if words.small else [*items, *_derives(words, me=me)]


def _params_and_events(words: Vocabulary) -> list[str]:
    random = words.random
    words.params["rate"] = Kind("number", low=1, high=3)
    items = [f"param rate: 1 to 3 = {random.randint(1, 3)}{random.choice([' learned', ''])}"]
    if random.random() < 0.5:
        words.params["goal_size"] = Kind("number", low=0, high=9)
        items.append("param goal_size: 0 to 9 = 4")
    words.events.update({"noticed": (Kind("object", "Thing"),), "rang": ()})
    return [*items, "event noticed(x: Thing)", "event rang()"]


def _ground(words: Vocabulary) -> str:
    return next(one for one in words.facts if one.name == "ground").kind.name


def _attribute_text(words: Vocabulary, fact: Fact) -> str:
    random = words.random
    secret = not words.small and random.random() < 0.06
    before = "static " if fact.static else "secret " if secret else ""
    flags = []
    if fact.nested:
        flags.append("nested")
        flags += ["ordered"] if random.random() < 0.6 else []
    flags += ["clamped"] if fact.clamped else []
    flags += ["unique"] if fact.unique else []
    flags += [f"inverse {fact.inverse}"] if fact.inverse else []
    flags += [f"closure {fact.closure}"] if fact.closure and not fact.relation else []
    if fact.name == "weight_of":
        flags.append("= 1")
    elif fact.name != "home" and not fact.kind.optional and random.random() < 0.7:
        flags.append(f"= {constant(words, fact.kind)}")
    random.shuffle(flags)
    return f"{before}{fact.name}: {fact.kind.written()} {' '.join(flags)}".rstrip()


def _overrides(words: Vocabulary, name: str) -> list[str]:
    """Other defaults of a subtype; `Chest` settles what its parents may say."""
    random = words.random
    if name not in ("Lamp", "Chest", "Box"):
        return []
    facts = [one for one in words.attributes("Item") if one.owner in ("Thing", "Item")]
    facts = [one for one in facts if one.name not in ("at", "weight_of")]
    facts = [one for one in facts if not one.kind.optional]
    if name == "Chest":
        return [f"{one.name} = {constant(words, one.kind)}" for one in facts]
    return [f"{one.name} = {constant(words, one.kind)}" for one in facts if random.random() < 0.3]


def constant(words: Vocabulary, kind: Kind) -> str:
    """A constant of a kind."""
    random = words.random
    if kind.optional and random.random() < 0.3:
        return "none"
    match kind.tag:
        case "bool":
            return random.choice(["true", "false"])
        case "enum":
            return random.choice(words.enums[kind.name])
        case "number" | "int":
            low, high = (kind.low, kind.high) if kind.tag == "number" else (0, 5)
            return number(random.randint(low, high), kind)
        case "real":
            return random.choice(["0.5", "1", "2.25"])
        case "text":
            return random.choice(['"plain"', '"a word"'])
        case _:
            return "none"


def _formals(words: Vocabulary, kinds: tuple[Kind, ...]) -> tuple[str, list[tuple[str, Kind]]]:
    names = [(words.name("p"), kind) for kind in kinds]
    return ", ".join(f"{name}: {kind.written()}" for name, kind in names), names


def _fact_text(words: Vocabulary, fact: Fact) -> str:
    random = words.random
    formals, _ = _formals(words, fact.params)
    if fact.table:
        return _table_text(words, fact, formals)
    if fact.relation:
        flags = ""
        if fact.name == "linked":
            flags = random.choice([" symmetric", " acyclic", "", ""])
            flags += f" closure {fact.closure}" if fact.closure else ""
        return f"relation {fact.name}({formals}){flags}"
    value = "" if fact.kind.optional else f" = {constant(words, fact.kind)}"
    if fact.scratch:
        value = {"bool": " = false", "object": " = none"}.get(fact.kind.tag, value)
        return f"scratch {fact.name}({formals}): {fact.kind.written()}{value}"
    clamped = " clamped" if fact.kind.tag == "number" and random.random() < 0.5 else ""
    return f"function {fact.name}({formals}): {fact.kind.written()}{clamped}{value}"


def _table_text(words: Vocabulary, fact: Fact, formals: str) -> str:
    random = words.random
    rows: list[tuple[str, ...]] = [()]
    for kind in fact.params:
        rows = [(*row, member) for row in rows for member in words.enums[kind.name]]
    sparse = fact.kind.optional or fact.kind is BOOL
    kept = [row for row in rows if not sparse or random.random() < 0.6]
    if fact.kind is BOOL:
        text = "\n".join(f"  {', '.join(row)}" for row in kept)
        return f"table {fact.name}({formals}) {{\n{text}\n}}"
    text = "\n".join(f"  {', '.join(row)}: {constant(words, fact.kind)}" for row in kept)
    return f"table {fact.name}({formals}): {fact.kind.written()} {{\n{text}\n}}"


def _named(writer: Writer, place: Place) -> tuple[str, str]:
    """A `let` before the value of a derive, and a condition that uses its name twice."""
    words = writer.words
    name, thing = words.name("n"), Kind("object", "Thing", optional=True)
    kind = words.random.choice([BOOL, Kind("number", low=0, high=9), thing])
    term = writer.term(kind, replace(place, depth=1))
    uses = {"bool": f"{name} and {name}", "number": f"{name} + {name} > 3"}
    told = "true" if term == "none" else f"{name} != none and {name}.weight_of > 1"
    return f"let {name} = {term} then ", uses.get(kind.tag, told)


def _derives(words: Vocabulary, *, me: bool) -> list[str]:
    """Plain derives of several kinds, and a recursive one."""
    random, writer, items = words.random, Writer(words), []
    if random.random() < 0.7:
        text = "linked(a, b) or any(linked(a, c) and way(c, b) for c: Room)"
        items.append(f"derive way(a: Room, b: Room) = {text}")
        pair = (Kind("object", "Room"),) * 2
        words.derives.append(Derived("way", BOOL, pair, frozenset({"linked"})))
    for _ in range(random.choice([1, 2, 3])):
        name = words.name("d")
        kinds = random.choice([(), ("Thing",), ("Thing",), ("Room",), ("Thing", "Thing")])
        given = (Kind(one) for one in random.choice([(), (), ("bool",), ("real",)]))
        formals, names = _formals(words, (*(Kind("object", kind) for kind in kinds), *given))
        reads: set[str] = set()
        place = Place(tuple(names), me="Hero" if me and random.random() < 0.3 else "", reads=reads)
        place = replace(place, depth=2).unread(words.forgotten)
        kind = random.choice([BOOL, BOOL, Kind("int"), Kind("real")])
        wanted = kind if kind.tag != "int" else Kind("number", low=0, high=9)
        value = writer.term(wanted, place)
        if random.random() < 0.4:
            let, used = _named(writer, place)
            value = f"{let}if {used} then {value} else {writer.term(wanted, place)}"
        shown = f": {kind.written()}" if kind.tag in ("int", "real") else ""
        items.append(f"derive {name}({formals}){shown} = {value}")
        params = tuple(own for _, own in names)
        words.derives.append(Derived(name, kind, params, frozenset(reads)))
    return items
