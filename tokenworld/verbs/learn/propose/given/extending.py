"""Given rules extended by a proposal: statements in their actions, new actions, phases and laws."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final, assert_never

from tokenworld import model as m
from tokenworld.diagnostics import Source
from tokenworld.ground import Raw
from tokenworld.model.program import ROOT
from tokenworld.session.loading import OpenWorld, open_text
from tokenworld.syntax import nodes as syn
from tokenworld.syntax import parse_source
from tokenworld.verbs.learn.journal import Journal
from tokenworld.verbs.learn.propose.commands import (
    NUMBER,
    Grammar,
    ObjectNumber,
    Schema,
    Slot,
    called,
)
from tokenworld.verbs.learn.propose.emitting import Emitted, emitted
from tokenworld.verbs.learn.propose.given.played import Played, Read
from tokenworld.verbs.learn.propose.scenes import ANY, Fluent, Kind, Step, Value, Vocabulary
from tokenworld.verbs.learn.propose.stages import Proposal, Say, Stages
from tokenworld.verbs.learn.propose.text.writing import Writer
from tokenworld.verbs.learn.propose.worldrows import (
    Scenes,
    accepted,
    called_in,
    states_of,
)

# ---- Declarations --------------------------------------------------------------------------------
# The vocabulary of a given program, in which rules are proposed that extend it.


_REAL_DIGITS: Final = 6
"""Decimals of values that are no exact numbers."""


def declared(world: OpenWorld) -> Vocabulary:
    """Return the types, enums and fluents of a program.

    Attributes of several types that share a name are one fluent, if their values are of one kind;
    else they are left out, and so are fluents of numbers.
    """
    program = world.program
    found = Vocabulary(types=list(program.types))
    for name in program.types:
        below = frozenset(one for one in program.types if program.is_subtype(one, name))
        if len(below) > 1:
            found.groups[name] = below
    found.enums = {one.name: list(one.members) for one in program.enums.values()}
    clashing: set[str] = set()
    for fluent in program.fluents.values():
        one = _fluent(fluent, program)
        known = None if one is None else found.fluents.get(one.name)
        if one is None or (known is not None and known.kind != one.kind):
            clashing.add(fluent.name)
        elif known is not None:
            one = replace(known, owners=known.owners | one.owners, of=_common(known, one))
        if one is not None:
            found.fluents[one.name] = one
    for name in clashing:
        found.fluents.pop(name, None)
    numbers = world.instance.numbers
    found.constants = {
        numbers[one.name]: one.name
        for one in program.objects.values()
        if one.world is None and one.name in numbers
    }
    return found


def _common(one: Fluent, other: Fluent) -> str:
    return one.of if one.of == other.of else ""


def _fluent(fluent: m.Fluent, program: m.Program) -> Fluent | None:
    """Return a fluent as rules are learned of it; ``None`` for one of numbers."""
    shape = _shape(fluent.type)
    sorts = [_sort(one.type) for one in fluent.params]
    if shape is None or NUMBER in sorts or "" in sorts:
        return None
    kind, of, decimals, values = shape
    owners: frozenset[str] = frozenset()
    if fluent.fluent_kind == "attribute":
        owners = frozenset(one for one in program.types if program.is_subtype(one, sorts[0]))
    if kind == "enum":
        values = tuple(program.enums[of].members)
    params = (ANY,) if owners else tuple(ANY if one == ROOT else one for one in sorts)
    optional = m.is_optional(fluent.type)
    return Fluent(fluent.name, params, kind, optional, owners, of, decimals, 0, 0, values)


def _shape(kind: m.ValueType) -> tuple[Kind, str, int, tuple[Value, ...]] | None:
    """Return the kind of a value, its enum, type or unit, its decimals, and some values."""
    match kind:
        case m.BoolType():
            return "bool", "", 0, (True, False)
        case m.EnumType(name=name):
            return "enum", name, 0, ()
        case m.ObjectType(name=name):
            return "object", "" if name == ROOT else name, 0, ()
        case m.NumberType(decimals=decimals, unit=unit):
            return ("real" if decimals else "int"), unit, decimals, ()
        case m.RealType():
            return "real", "", _REAL_DIGITS, ()
        case m.TextType():
            return "text", "", 0, ()
        case m.NoneType() | m.CollectionType():
            return None
        case _:
            assert_never(kind)


def _sort(kind: m.ValueType) -> str:
    match kind:
        case m.ObjectType(name=name) | m.EnumType(name=name):
            return name
        case m.NumberType():
            return NUMBER
        case m.BoolType() | m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
            return ""
        case _:
            assert_never(kind)


# ---- actions ------------------------------------------------------------------------------------


def schemas(program: m.Program, vocabulary: Vocabulary) -> Iterator[Schema]:
    """Yield the actions of a program that rules can be added to."""
    for action in program.actions.values():
        slots = [_slot(one, vocabulary) for one in action.params]
        if None not in slots:
            yield Schema(action.name, tuple(x for x in slots if x), (), given=True)


def _slot(param: m.Binder, vocabulary: Vocabulary) -> Slot | None:
    match param.type:
        case m.ObjectType(name=name):
            kinds = vocabulary.members(ANY if name == ROOT else name)
            return Slot(param.name, ANY, kinds)
        case m.EnumType(name=name):
            return Slot(param.name, name)
        case m.NumberType(low=low, high=high, decimals=decimals):
            whole = Slot(param.name, NUMBER, frozenset(), low or 0, high or 0)
            return None if decimals else whole
        case m.BoolType() | m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
            return None
        case _:
            assert_never(param.type)


def arguments(
    program: m.Program, action: str, raws: tuple[Raw, ...]
) -> tuple[tuple[str, Value], ...]:
    """Return the arguments of a command as rules are learned of them, by their names."""
    params = program.actions[action].params
    return tuple(
        (one.name, _value(program, one.type, raw)) for one, raw in zip(params, raws, strict=True)
    )


def _value(program: m.Program, kind: m.ValueType, raw: Raw) -> Value:
    if isinstance(kind, m.ObjectType) and isinstance(raw, int):
        return ObjectNumber(raw)
    if isinstance(kind, m.EnumType) and isinstance(raw, int):
        return program.enums[kind.name].members[raw]
    if isinstance(kind, m.NumberType) and isinstance(raw, int) and kind.decimals:
        return float(raw / 10**kind.decimals)
    shown: Value = raw if isinstance(raw, (bool, int, float, str)) else None
    return shown


# ---- Extension -----------------------------------------------------------------------------------

_UNNAMED = "before"
"""The name of the phase for laws without one; the proposed laws run before it."""
_FRESH = "_2"


class Rules:
    """The rules of a given world. Only its own file is changed, not the modules that it uses."""

    def __init__(self, world: OpenWorld) -> None:
        self.world = world
        program = world.program
        self._source = world.loaded.sources[-1]
        for one in world.loaded.sources:
            if one.name == world.world.span.file:
                self._source = one
        self._tree = parse_source(self._source)[0]
        self.names: Collection[str] = {*program.laws, *program.phases, *program.actions}

    @property
    def text(self) -> str:
        """The text of the rules as they were given."""
        return self._source.text

    def source(self, text: str) -> Source:
        """Return a text in the place of the rules, where it finds their modules."""
        return replace(self._source, text=text)

    def opened(self, text: str) -> OpenWorld:
        """Return the world by other rules in the place of the given ones."""
        others = [one for one in self.world.loaded.sources if one is not self._source]
        return open_text((self.source(text), *others), self.world.world.name)

    def extended(self, writer: Writer) -> str:
        """Return the text of the given rules with the additions of a proposal."""
        edits = list(self._added(writer))
        new = writer.rules()
        laws = any(one.startswith("phase ") for one in new)
        edits += self._phased() if laws else []
        text = self.text
        for at, added in sorted(edits, reverse=True):
            text = f"{text[:at]}{_rooted(added, self.world)}{text[at:]}"
        more = "\n".join(_rooted(one, self.world) for one in new)
        return f"{text.rstrip()}\n\n{more}\n" if more else text

    def _actions(self) -> dict[str, syn.ActionDecl]:
        items = (one.item if isinstance(one, syn.QuirkDecl) else one for one in self._tree.items)
        return {one.name.value: one for one in items if isinstance(one, syn.ActionDecl)}

    def extensible(self) -> frozenset[str]:
        """Return the actions of the file itself, to which statements can be added."""
        return frozenset(self._actions())

    def _added(self, writer: Writer) -> Iterator[tuple[int, str]]:
        """Yield the additions to actions with their offsets: requirements first, changes last."""
        declared_ = self._actions()
        for schema, body in writer.bodies():
            if not schema.given or schema.name not in declared_:
                continue
            node, text = declared_[schema.name], self.text
            labels = {one.label for one in self.world.program.actions[schema.name].requires}
            requires, changes = body.added(labels)
            end = len(text[: text.rindex("}", 0, node.span.end)].rstrip())
            first = node.steps[0].span.start if node.steps else end
            if requires:
                yield first, "\n  ".join((*requires, ""))
            if changes:
                yield end, "".join(f"\n  {one}" for one in changes)

    def _phased(self) -> Iterator[tuple[int, str]]:
        """Yield a phase for the laws without one, so that they still run after the proposed
        laws."""
        items = (one.item if isinstance(one, syn.QuirkDecl) else one for one in self._tree.items)
        laws = [one for one in items if isinstance(one, syn.LawDecl) and one.phase is None]
        if not laws:
            return
        name = _UNNAMED
        while name in self.names:
            name += _FRESH
        yield len(self.text.rstrip()), f"\n\nphase {name}"
        for one in laws:
            at = one.name.span.end
            ends = [self.text.index(")", param.span.end) + 1 for param in one.params[-1:]]
            closed = re.match(r"\s*\(\s*\)", self.text[at:])
            at = ends[0] if ends else at + (closed.end() if closed else 0)
            yield at, f" during {name}"


def _rooted(text: str, world: OpenWorld) -> str:
    """Return a text with the root of the given types in place of that of proposed ones."""
    return text if ANY in world.program.types else re.sub(rf"\b{ANY}\b", ROOT, text)


# ---- learning -----------------------------------------------------------------------------------


class Extended:
    """The rows of a given world as steps, with the states that its rules predict."""

    def __init__(self, rules: Rules, read: Read) -> None:
        self.read, self._program = read, rules.world.program
        self.vocabulary: Vocabulary = declared(rules.world)
        self._scenes = Scenes(self.vocabulary)
        self.steps = [self._step(one) for one in read.rows]
        self.grammar: Grammar = called(self.steps, self.vocabulary)
        known = {one.name: one for one in schemas(self._program, self.vocabulary)}
        self.grammar.schemas = [
            replace(known[one.name], uses=one.uses) if one.name in known else one
            for one in self.grammar.schemas
        ]
        closed = {
            at for at, one in enumerate(self.grammar.schemas)
            if one.name in self._program.actions and not self._open(one, rules)
        }  # fmt: skip
        self.grammar.calls = [
            None if call is None or call[0] in closed else call for call in self.grammar.calls
        ]
        if self._program.actor_name != "me" or len({one.actor for one in self.steps}) > 1:
            self.grammar.actor = None

    def _open(self, schema: Schema, rules: Rules) -> bool:
        return schema.given and schema.name in rules.extensible()

    def _step(self, one: Played) -> Step:
        row, scene = one.row, self._scenes.scene
        before, acted, ticked = states_of(row)
        numbers = {name: thing for thing, name in scene(before).names.items()}
        intent, text = row.intent, row.intent.get("text")
        call = None
        if one.refused and not accepted(row):
            call = None  # nothing is to be learned of it
        elif one.command is not None and one.command.action:
            name = one.command.action
            call = name, arguments(self._program, name, one.command.args)
        elif one.command is None:
            call = called_in(intent, numbers)
        return Step(
            row.place, str(text or ""), call, scene(before), scene(acted), scene(ticked),
            numbers.get(str(intent.get("actor"))), accepted(row),
            (scene(one.acted), scene(one.ticked)),
        )  # fmt: skip


def extended(
    rules: Rules,
    read: Read,
    say: Say,
    journal: Journal | None = None,
    *,
    noisy: bool = False,
) -> tuple[Proposal, Emitted]:
    """Return the proposal from rows that the given rules played, and the rules with it."""
    found = Extended(rules, read)
    stages = Stages(found.steps, found.vocabulary, found.grammar, say, noisy=noisy, journal=journal)
    proposal = stages.learn()
    made = emitted(proposal, found.steps, None, rules.world.world.name, rules)
    return proposal, made
