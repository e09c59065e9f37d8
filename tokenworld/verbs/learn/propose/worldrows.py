"""Read rows of worlds (``tw-row/1``) as steps: infer types, attributes, functions and relations
from their values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from tokenworld.ground import FRUITLESS
from tokenworld.model.schema import shaped
from tokenworld.session.replaying import Row
from tokenworld.verbs.learn.propose.commands import ObjectNumber
from tokenworld.verbs.learn.propose.scenes import (
    ANY,
    Args,
    Fluent,
    Kind,
    Scene,
    Step,
    Value,
    Vocabulary,
    bounds,
    kind_of,
)
from tokenworld.verbs.records.rows import BadRow
from tokenworld.verbs.records.transitions import world_rows

_MEMBER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_MOST_MEMBERS = 40
"""Texts with more values than this are no enum."""
_MOST_SLOTS = 2_000
"""The greatest number of slots of a function that are examined in one state."""
Shape = Mapping[str, Any]


def read_world_rows(paths: Iterable[Path]) -> Iterator[Row | BadRow]:
    """Yield the rows of files; raises `Failure` (TW0001) if one cannot be opened."""
    for row in world_rows(paths):
        yield _whole(row) if isinstance(row, Row) else row


def _whole(row: Row) -> Row | BadRow:
    """The row, if it tells whole states."""
    place = row.place
    states = (row.state, row.expected.get("action"), row.expected.get("tick"))
    for one, when in zip(states, ("before", "after the action", "after the tick"), strict=True):
        try:
            state = shaped(_State, one)
        except ValueError as error:
            return BadRow(place, f"the row tells no whole state {when}: {error}")
        ids = {given.id for given in state.objects if type(given.id) is int}
        if len(ids) < len(state.objects):
            return BadRow(place, f"an id is shared, or no whole number, in the state {when}")
    return row


_Constant = bool | int | float | str | None


@dataclass(slots=True)
class _Object:
    """An object of a state (``tw-state/1``)."""

    id: Any
    name: str
    type: str
    attrs: dict[str, _Constant] = field(default_factory=dict)


@dataclass(slots=True)
class _State:
    """The parts of a state that the learner reads."""

    objects: list[_Object]
    functions: dict[str, list[tuple[list[str | int], _Constant]]] = field(default_factory=dict)
    relations: dict[str, list[list[str | int]]] = field(default_factory=dict)
    outcomes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Raw:
    """The values of one fluent as the rows have them."""

    values: list[tuple[Any, frozenset[str]]]
    owners: dict[str, None]
    params: list[dict[str, None]]


class Scenes:
    """Reads states (``tw-state/1``) as scenes, equal ones as the same."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._scenes: dict[str, Scene] = {}

    def scene(self, shape: Shape) -> Scene:
        """Return the scene of a state."""
        parts = ("objects", "functions", "relations", "outcomes")
        kept = {key: shape.get(key) for key in parts}
        key = json.dumps(kept, sort_keys=True)
        if key not in self._scenes:
            self._scenes[key] = self._read(shape)
            self._scenes[key].key = len(self._scenes)
        return self._scenes[key]

    def _read(self, shape: Shape) -> Scene:
        kinds = {one["id"]: one["type"] for one in shape["objects"]}
        names = {one["id"]: one["name"] for one in shape["objects"]}
        numbers = {name: thing for thing, name in names.items()}
        facts: dict[str, dict[Args, Value]] = {name: {} for name in self.vocabulary.fluents}
        scene = Scene(kinds, names, facts)
        for one in shape["objects"]:
            for key, value in one.get("attrs", {}).items():
                if key in facts:
                    facts[key][(one["id"],)] = self._value(key, value, numbers)
        for fluent in self.vocabulary.fluents.values():
            if not fluent.owners:
                facts[fluent.name] = self._entries(fluent, shape, scene, numbers)
        for name, ending in self.vocabulary.endings.items():
            facts[name] = {(): ending in shape.get("outcomes", ())}
        return scene

    def _entries(
        self, fluent: Fluent, shape: Shape, scene: Scene, numbers: Mapping[str, int]
    ) -> dict[Args, Value]:
        """Return the values of a function or relation for all arguments."""
        empty: dict[str, Value] = {"bool": False, "int": 0, "real": 0, "text": ""}
        found: dict[Args, Value] = {}
        domains: list[list[int | str]] = []
        size = 1
        for sort in fluent.params:
            members = self.vocabulary.members(sort)
            domain: list[int | str] = (
                [x for x, kind in scene.kinds.items() if kind in members] if members
                else [*self.vocabulary.enums.get(sort, ())]
            )  # fmt: skip
            domains.append(domain)
            size *= len(domain)
        if size <= _MOST_SLOTS:
            found = dict.fromkeys(product(*domains), empty.get(fluent.kind))
        for args in shape.get("relations", {}).get(fluent.name, ()):
            found[tuple(numbers.get(one, one) for one in args)] = True
        for args, value in shape.get("functions", {}).get(fluent.name, ()):
            key = tuple(numbers.get(one, one) for one in args)
            found[key] = self._value(fluent.name, value, numbers)
        return found

    def _value(self, name: str, value: Any, numbers: Mapping[str, int]) -> Value:
        if self.vocabulary.fluents[name].kind == "object":
            return numbers.get(value) if isinstance(value, str) else None
        return value if isinstance(value, (bool, int, float, str)) else None


class WorldSteps(Scenes):
    """Reads the rows of one world. ``title`` is its name."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(Vocabulary())
        self.title = ""
        self._raw: dict[str, _Raw] = {}
        for row in rows:
            for shape in states_of(row):
                self.title = self.title or str(shape.get("world", "world"))
                self._look(shape)
        for name, raw in self._raw.items():
            self.vocabulary.fluents[name] = self._fluent(name, raw)
        self._endings(rows)
        self.steps = [self._step(row) for row in rows]
        self._constants()

    # ---- what there is --------------------------------------------------------------------------

    def _look(self, shape: Shape) -> None:
        kinds = {one["name"]: one["type"] for one in shape["objects"]}
        names = frozenset(kinds)
        for one in shape["objects"]:
            if one["type"] not in self.vocabulary.types:
                self.vocabulary.types.append(one["type"])
            for key, value in one.get("attrs", {}).items():
                raw = self._raw.setdefault(key, _Raw([], {}, []))
                raw.owners[one["type"]] = None
                raw.values.append((value, names))
        for key, entries in shape.get("functions", {}).items():
            raw = self._raw.setdefault(key, _Raw([], {}, []))
            for args, value in entries:
                self._args(raw, args, kinds)
                raw.values.append((value, names))
        for key, tuples in shape.get("relations", {}).items():
            raw = self._raw.setdefault(key, _Raw([(True, names), (False, names)], {}, []))
            for args in tuples:
                self._args(raw, args, kinds)

    def _args(self, raw: _Raw, args: Sequence[Any], kinds: Mapping[str, str]) -> None:
        for at, one in enumerate(args):
            if at == len(raw.params):
                raw.params.append({})
            raw.params[at][kinds.get(one, f"={one}")] = None

    def _fluent(self, name: str, raw: _Raw) -> Fluent:
        values = list(dict.fromkeys((type(one), one) for one, _ in raw.values))
        plain: list[Value] = [one for _, one in values]
        kind, optional, digits = kind_of(plain) or ("text", True, 0)
        of = ""
        texts = [one for one in plain if isinstance(one, str)]
        if kind == "text" and texts and all(
            one in names for one, names in raw.values if isinstance(one, str)
        ):  # fmt: skip
            kind = "object"
        elif kind == "text" and texts and len(texts) <= _MOST_MEMBERS and all(
            _MEMBER.match(one) for one in texts
        ):  # fmt: skip
            kind, of = "enum", self._enum(name, texts)
        if not raw.owners and kind != "bool" and kind not in ("int", "real"):
            optional = True
        params = tuple(self._sort(name, one) for one in raw.params)
        owners = frozenset(raw.owners)
        low, high = bounds(plain)
        made: Kind = kind
        return Fluent(name, (ANY,) if owners else params, made, optional, owners, of, digits, low,
                      high, tuple(plain))  # fmt: skip

    def _enum(self, name: str, texts: Sequence[str]) -> str:
        """Return the enum of these members: a known one that shares some, or a new one."""
        for enum, members in self.vocabulary.enums.items():
            if set(members) & set(texts):
                members += sorted(set(texts) - set(members))
                return enum
        enum = name[0].upper() + name[1:]
        while enum in self.vocabulary.types:
            enum = f"{enum}Value"
        self.vocabulary.enums[enum] = sorted(texts)
        return enum

    def _sort(self, name: str, kinds: Mapping[str, None]) -> str:
        words = [one[1:] for one in kinds if one.startswith("=")]
        if words:
            return self._enum(f"{name}Key", words)
        return next(iter(kinds)) if len(kinds) == 1 else ANY

    def _endings(self, rows: Sequence[Row]) -> None:
        """Add a truth for each ending that was reached."""
        for row in rows:
            for shape in states_of(row):
                for name in shape.get("outcomes", ()):
                    fluent = f"reached {name}"
                    self.vocabulary.endings[fluent] = str(name)
                    self.vocabulary.fluents[fluent] = Fluent(fluent, (), "bool")

    def _constants(self) -> None:
        """Find the objects that are in every state, by the same name."""
        first = self.steps[0].before
        for thing, name in first.names.items():
            if all(step.before.names.get(thing) == name == step.ticked.names.get(thing)
                   for step in self.steps):  # fmt: skip
                self.vocabulary.constants[thing] = name

    # ---- states ---------------------------------------------------------------------------------

    def _step(self, row: Row) -> Step:
        before, acted, ticked = (self.scene(one) for one in states_of(row))
        numbers = {name: thing for thing, name in before.names.items()}
        intent = row.intent
        text = intent.get("text")
        actor = numbers.get(str(intent.get("actor")))
        return Step(row.place, text if isinstance(text, str) else "", called_in(intent, numbers),
                    before, acted, ticked, actor, accepted(row))  # fmt: skip


def states_of(row: Row) -> tuple[Shape, Shape, Shape]:
    """Return the states before, after the command, and after the tick."""
    before = row.state
    acted, ticked = row.expected["action"], row.expected["tick"]
    assert isinstance(before, Mapping)
    assert isinstance(acted, Mapping)
    assert isinstance(ticked, Mapping)
    return before, {**before, **acted}, {**before, **ticked}


def called_in(
    intent: Mapping[str, Any], numbers: Mapping[str, int]
) -> tuple[str, tuple[tuple[str, Value], ...]] | None:
    """Return the action and the arguments of an intent; ``None`` where it is no call."""
    if not isinstance(intent.get("action"), str):
        return None
    args = intent.get("args")
    found = args.items() if isinstance(args, Mapping) else ()
    return str(intent["action"]), tuple((key, _arg(value, numbers)) for key, value in found)


def accepted(row: Row) -> bool:
    """Return whether the command of a row was accepted."""
    progress = row.expected.get("progress")
    return not (isinstance(progress, Mapping) and progress.get("status") in FRUITLESS)


def _arg(value: Any, numbers: Mapping[str, int]) -> Value:
    if isinstance(value, str):
        return ObjectNumber(numbers[value]) if value in numbers else value
    return value if isinstance(value, (bool, int, float)) else None
