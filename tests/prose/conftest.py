"""A small world: a program built by hand, and a speaker that knows its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from tokenworld.diagnostics import Span
from tokenworld.ground import Command, Instance, Raw, Speaker, instantiate
from tokenworld.model import (
    TEXT,
    Action,
    Binder,
    Enum,
    EnumType,
    IntervalRange,
    Local,
    NumberType,
    ObjectDecl,
    ObjectKind,
    ObjectType,
    Program,
    Read,
    Slot,
    Template,
    TextPart,
    TypeRange,
    Unit,
    ValueType,
    World,
)

SPAN = Span("cellar.tw", 0, 0, 1, 1, 1, 1)
PARENTS = {
    "Thing": (), "Box": ("Thing",), "Chest": ("Box",), "Portable": ("Thing",),
    "Knife": ("Portable",), "Whetstone": ("Thing",), "Door": (), "Cat": ("Thing",), "Hero": (),
}  # fmt: skip
OBJECTS = {
    "hero": "Hero", "lamp": "Portable", "coin_1": "Portable", "coin_2": "Portable",
    "pocket_knife": "Knife", "old_chest": "Chest", "cup": "Box", "cellar_door": "Door",
    "tabby": "Cat", "stone": "Whetstone", "grindstone": "Whetstone", "Odd-One": "Portable",
}  # fmt: skip
WORDS: dict[str, tuple[str, ...]] = {
    "hero": ("yourself",), "coin_1": ("gold coin", "coin"), "coin_2": ("silver coin", "coin"),
    "pocket_knife": ("dull knife", "knife"), "old_chest": ("old chest (ID: 4)", "old chest"),
    "tabby": ("Pip", "cat"),
}  # fmt: skip
SIDES = {"old_chest": "in", "cup": "on top of"}
PLACES = {"coin_1": "old chest", "coin_2": "the cup", "lamp": "shelf"}
COMPASS = ("north", "south", "far_east")


def local(name: str, of: ValueType) -> Local:
    return Local(name, of, SPAN)


def read(fluent: str, name: str, of: ValueType) -> Slot:
    return Slot("", False, Read(fluent, (local(name, ObjectType("Thing")),), of, SPAN))


def phrase(text: str, params: Mapping[str, Binder]) -> Template:
    """``"take {it} from {it.at}"`` as the parser would read it."""
    parts: list[TextPart | Slot] = []
    for number, piece in enumerate(text.replace("}", "{").split("{")):
        if number % 2 == 0:
            parts.append(TextPart(piece))
        elif "." in piece:
            name, fluent = piece.split(".")
            parts.append(read(fluent, name, ObjectType("Thing") if fluent == "at" else TEXT))
        else:
            parts.append(Slot("", False, local(piece, params[piece].type)))
    return Template(tuple(parts), SPAN)


def objects_of(name: str, of: str) -> Binder:
    return Binder(name, TypeRange(ObjectType(of)), ObjectType(of), SPAN)


def numbers(name: str, low: int, high: int, decimals: int = 0, unit: str = "") -> Binder:
    of = NumberType(low, high, decimals, unit)
    return Binder(name, IntervalRange(low, high), of, SPAN)


COMPASS_POINT = Binder("d", TypeRange(EnumType("Compass")), EnumType("Compass"), SPAN)
ACTIONS: dict[str, tuple[tuple[Binder, ...], tuple[str, ...]]] = {
    "look": ((), ("look around", "look")),
    "take": (
        (objects_of("it", "Portable"),),
        ("take {it}", "take {it} from {it.at}", "pick up {it}"),
    ),
    "put": ((objects_of("x", "Portable"), objects_of("c", "Box")), ("Put {x} {c.side} {c}.",)),
    "go": ((COMPASS_POINT,), ("go {d}",)),
    "open_door": ((objects_of("d", "Door"),), ("open {d}",)),
    "lift": ((objects_of("c", "Chest"),), ("open {c}", "lift the lid of {c}")),
    "sharpen": (
        (objects_of("k", "Knife"), objects_of("w", "Whetstone")),
        ("sharpen {k} on {w}", "sharpen {k}"),
    ),
    "fill": ((objects_of("c", "Box"), numbers("n", 0, 50, 1, "l")), ("fill {c} to {n}",)),
    "heat": ((numbers("p", 0, 100, 2, "%"),), ("heat to {p}",)),
    "mark": ((numbers("n", 1, 19),), ("mark {n}",)),
    "swap": (
        (objects_of("a", "Portable"), objects_of("b", "Portable")),
        ("swap {a} and {b}", "double {a} and {a}"),
    ),
    "pick-up": ((objects_of("b", "Portable"),), ()),
    "listen": ((), ()),
}


def build_action(name: str) -> Action:
    params, texts = ACTIONS[name]
    named = {binder.name: binder for binder in params}
    phrases = tuple(phrase(text, named) for text in texts)
    return Action(name, params, phrases, None, None, None, (), (), (), SPAN)


def ancestors(name: str) -> tuple[str, ...]:
    above = tuple(one for parent in PARENTS[name] for one in ancestors(parent)[:-1])
    return (name, *above, "Object")


def build_world() -> World:
    return World(
        "cellar", "", (), (), (), (), None, (), (), (), False, "first", False, "latched", None, SPAN
    )


def build_program() -> Program:
    return Program(
        sources=(),
        units={"ml": Unit("ml", "ml", 1, SPAN), "l": Unit("l", "ml", 1000, SPAN)},
        enums={"Compass": Enum("Compass", COMPASS, False, SPAN)},
        types={name: ObjectKind(name, above, ancestors(name), (), (), SPAN)
               for name, above in PARENTS.items()},
        objects={name: ObjectDecl(name, of, None, (), (), None, SPAN)
                 for name, of in OBJECTS.items()},
        fluents={}, derives={}, params={}, events={}, phases={},
        actions={name: build_action(name) for name in ACTIONS},
        laws={}, births=(), watches={}, invariants={}, conserves={}, called=(), scopes=(),
        describes=(), worlds={"cellar": build_world()}, scenarios=(), actor="Hero",
        actor_name="me", pddl=(),
    )  # fmt: skip


class FakeSpeaker:
    """A state by hand: hidden objects, refusals and names."""

    def __init__(
        self,
        program: Program,
        hidden: Sequence[str] = (),
        refused: Sequence[str] = (),
        words: Mapping[str, tuple[str, ...]] | None = None,
        order: Sequence[str] | None = None,
    ) -> None:
        self._instance = instantiate(program, program.worlds["cellar"], {})
        self.hidden, self.refused = set(hidden), set(refused)
        self.words = {**WORDS, **(words or {})}
        self.order = order if order is not None else self._instance.names
        self.names = self._instance.names
        self.asked: list[int] = []

    @property
    def instance(self) -> Instance:
        return self._instance

    @property
    def numbers(self) -> Mapping[str, int]:
        return self._instance.numbers

    def identifier(self, number: int) -> str:
        return self.names[number]

    def kind(self, number: int) -> str:
        return self._instance.objects[number].of

    def in_scope(self, number: int) -> bool:
        return self.names[number] not in self.hidden

    def words_for(self, number: int) -> tuple[str, ...]:
        self.asked.append(number)
        name = self.names[number]
        return self.words.get(name, (name,))

    def slot_texts(
        self, action: str, phrase: int, slot: int, args: Sequence[Raw]
    ) -> tuple[str, ...]:
        rule = self.instance.program.actions[action]
        slots = [part for part in rule.phrases[phrase].parts if isinstance(part, Slot)]
        term = slots[slot].term
        assert isinstance(term, Read)
        (of,) = term.args
        assert isinstance(of, Local)
        position = [binder.name for binder in rule.params].index(of.name)
        number = args[position]
        assert isinstance(number, int)
        table = PLACES if term.fluent == "at" else SIDES
        return (table.get(self.names[number], ""),)

    def holds_all(self, command: Command) -> bool:
        numbers = (arg for arg in command.args if isinstance(arg, int))
        names = (self.names[one] for one in numbers if one < len(self.names))  # others are values
        return not any(name in self.refused for name in names)

    def candidates(self) -> Sequence[int]:
        return [self.instance.numbers[name] for name in self.order]


@pytest.fixture
def program() -> Program:
    return build_program()


@pytest.fixture
def speaker(program: Program) -> Speaker:
    return FakeSpeaker(program)


@pytest.fixture
def speaker_of(program: Program) -> Callable[..., FakeSpeaker]:
    """A speaker with other settings: ``hidden``, ``refused``, ``words``, ``order``."""

    def make(**circumstances: object) -> FakeSpeaker:
        return FakeSpeaker(program, **circumstances)  # type: ignore[arg-type]

    return make
