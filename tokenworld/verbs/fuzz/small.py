"""Small random worlds, whose states can all be explored, to test the verdicts of planners.

They have constructs that a search may wrongly ignore: long actions with a `cancelled`, free
actions that draw, rounds of several actors, time that passes always, invariants and ranges that
luck breaks, intents that are refused.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tokenworld.verbs.fuzz.terms import BOOL, Fact, Kind, Place, Vocabulary
from tokenworld.verbs.fuzz.vocabulary import constant, declared
from tokenworld.verbs.fuzz.worlds import (
    BodyWriter,
    Making,
    Rights,
    action,
    block,
    declare_phases,
    effect,
    law,
)

_THING, _HERO = Kind("object", "D"), Kind("object", "H")
_NUMBER = Kind("number", low=0, high=2)


def small_world(seed: int) -> str:
    """The text of a small random program with one world ``w``, which has a goal."""
    random = Random(f"small {seed}")
    heroes = ("ann", "bob")[: random.choice([0, 1, 1, 1, 2, 2])]
    things = ("d0", "d1")[: random.randint(1, 2)]
    objects = dict.fromkeys(things, "D") | dict.fromkeys(heroes, "H")
    words = _vocabulary(random, acts=bool(heroes))
    making = _making(words, heroes)
    lives = random.random() < 0.06
    making.writer.born = making.writer.mortal = ("D",) if lives else ()
    if random.random() < 0.5:
        words.shared = objects
        making.items += [f"object {name}: {kind}" for name, kind in objects.items()]
    making.items += _guards(making)
    phases = declare_phases(making)
    for index in range(random.choice([0, 0, 1])):
        making.items.append(effect(making, index, _rights(random)))
    for index in range(random.randint(2, 3)):
        making.items.append(action(making, index, _rights(random)))
    for index in range(random.choice([0, 0, 1, 1, 2])):
        making.items.append(law(making, index, phases, _rights(random)))
    making.items.append(_world(making, objects, lives=lives))
    return "\n".join(making.items) + "\n"


def _vocabulary(random: Random, *, acts: bool) -> Vocabulary:
    """Things, heroes, and a few facts of them with few values each."""
    words = Vocabulary(
        random, {"D": "", "H": ""}, {"D": ["D"], "H": ["H"]}, {"E": ("a", "b", "c")}, set(),
        small=True, clock=random.random() < 0.15,
    )  # fmt: skip
    for owner in ("D", "D", "D", *("H" * acts), ""):
        if owner == "D" or random.random() < 0.5:
            words.facts.append(_fact(words, owner))
    if random.random() < 0.3:
        words.facts.append(Fact("stir", BOOL, params=(_THING,), scratch=True))
    return words


def _fact(words: Vocabulary, owner: str) -> Fact:
    random, name = words.random, f"f{len(words.facts)}"
    numbers = [Kind("number", low=0, high=random.randint(1, 3))] * 2
    kind = random.choice([BOOL, BOOL, *numbers, Kind("enum", "E"), replace(_THING, optional=True)])
    if random.random() < 0.02:
        kind = Kind("int")
    if kind.tag == "object" and owner == "D" and random.random() < 0.4 and not words.has("at"):
        return Fact("at", kind, owner, inverse="kids", nested=True)
    clamped = kind.tag == "number" and random.random() < 0.6
    return Fact(name, kind, owner, clamped=clamped)


def _making(words: Vocabulary, heroes: tuple[str, ...]) -> Making:
    actor = "H" if heroes else ""
    kinds = (_THING, _THING, _THING, *([_HERO] if heroes else []), Kind("enum", "E"), _NUMBER)
    items = declared(words, me=False, actor=actor)
    return Making(words, BodyWriter(words), items, kinds, actor, len(heroes) > 1)


def _rights(random: Random) -> Rights:
    """Chance may decide something in half of the rules."""
    return Rights(draws=random.random() < 0.55)


def _guards(making: Making) -> list[str]:
    """Invariants; draws and laws may break some of them."""
    random, words = making.words.random, making.words
    place = Place((("y", _THING),), depth=1).unread(words.forgotten)
    numbers = [one.name for one in words.attributes("D") if one.kind.tag == "number"]
    found = []
    for index in range(random.choice([0, 0, 1, 1, 2])):
        kept = making.writer.condition(place)
        if numbers and random.random() < 0.5:
            kept = f"y.{random.choice(numbers)} < {random.randint(1, 3)}"
        found.append(f"invariant kept{index}(y: D): {kept}")
    if numbers and random.random() < 0.1:
        found.append(f"conserve total: sum(y.{numbers[0]} for y: D) except act0")
    return found


def _world(making: Making, objects: dict[str, str], *, lives: bool) -> str:
    random, words, writer = making.words.random, making.words, making.writer
    lines = [] if words.shared else [_object(words, one, objects) for one in objects]
    lines += ["turns ann, bob"] if making.several else []
    for text, share in (
        ("time passes always", 0.3), ("endless", 0.12), ("outcomes live", 0.08),
        ("spare D 2", float(lives)),
    ):  # fmt: skip
        lines += [text] if random.random() < share else []
    place = Place(objects=tuple(objects.items()), depth=0).unread(words.forgotten)
    deeper = replace(place, depth=1)
    if random.random() < 0.2:
        rights = Rights(create=False, destroy=False, draws=random.random() < 0.3)
        lines.append(block("setup", writer.body(deeper, rights)))
    goal = " and ".join(f"({writer.condition(place)})" for _ in range(random.randint(1, 4)))
    lines.append(f"goal done: {goal}")
    for kind, share in (("goal", 0.15), ("lose", 0.2), ("stop", 0.1)):
        if random.random() < share:
            lines.append(f"{kind} by_{kind}: {writer.condition(deeper)}")
    if words.clock and random.random() < 0.7:
        lines.append(f"stop late: tick() >= {random.randint(3, 6)}")
    if random.random() < 0.08:
        lines += [f"award 1 when {writer.condition(deeper)}", "goal rich: score >= 1"]
    return block("world w", lines)


def _object(words: Vocabulary, name: str, objects: dict[str, str]) -> str:
    """An object whose facts differ from their defaults now and then."""
    fields = []
    for fact in words.attributes(objects[name]):
        if not fact.nested and words.random.random() < 0.4:
            others = [one for one, kind in objects.items() if kind == fact.kind.name]
            value = words.random.choice(others) if others else constant(words, fact.kind)
            fields.append(f"{fact.name} = {value}")
    return f"object {name}: {objects[name]} {{ {'  '.join(fields)} }}"
