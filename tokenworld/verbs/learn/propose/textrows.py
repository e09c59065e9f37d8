"""Read rows of text games (`records.rows`) as steps: properties are split into fluents.

A property is a value, a list of a fixed length, or a map from the names of objects or from fixed
keys; a list or map that never differs is a constant. `Shape` says which, and `writing.mapping`
writes it down for the reader of records (`records.properties`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tokenworld.verbs.learn.propose.scenes import (
    ANY,
    HOLDER,
    LABEL,
    Args,
    Fluent,
    Scene,
    Step,
    Value,
    Vocabulary,
    bounds,
    contents,
    kind_of,
)
from tokenworld.verbs.records.rows import Recorded, Score, TextRow

NUMBERED: Final = re.compile(r"(.*) \(ID: (\d+)\)")
SCORE: Final = "points"
OVER: Final = "gameOver"
WON: Final = "gameWon"
EMPTY: Final[Mapping[str, Value]] = {"bool": False, "int": 0, "real": 0, "text": ""}
"""The default values of fluents by kind."""
_RESERVED: Final = frozenset((HOLDER, LABEL, SCORE, OVER, WON, "contents", "inside", "id"))


@dataclass(frozen=True, slots=True)
class Shape:
    """The making of one property: ``form`` is value, items, entries, members (a set of keys) or
    constant; ``parts`` are its fluents. ``keys`` are the sort of the keys of a map and ``having``
    says which it has. Without ``present`` the property is missing, without ``filled`` it is
    null."""

    name: str
    form: str
    parts: tuple[str, ...] = ()
    keys: str = ""
    having: str = ""
    listed: bool = False
    unset: bool = False
    """Whether null in a map means an empty list."""
    present: str = ""
    filled: str = ""
    nothing: str | None = None
    constant: Any = None
    owners: tuple[str, ...] = ()


@dataclass(slots=True)
class TextLayout:
    """The layout of the records of one game: everything besides the rules."""

    game: str
    types: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    unnumbered: frozenset[str] = frozenset()
    rootless: bool = False
    parts: dict[str, int] = field(default_factory=dict)


class TextSteps:
    """Reads the rows of one game into scenes; collects their `vocabulary` and `layout`."""

    def __init__(self, rows: Sequence[TextRow]) -> None:
        self.vocabulary, self.layout = Vocabulary(ordered=True), TextLayout(rows[0].game)
        self._scenes: dict[tuple[int, Score], Scene] = {}
        self._keys: dict[str, int] = {}
        states = _states(rows)
        self._find_types(states)
        self._find_shapes(states)
        self._find_scores(rows)
        self.steps = [self._step(row) for row in rows]

    # ---- what there is --------------------------------------------------------------------------

    def _find_types(self, states: Sequence[Recorded]) -> None:
        unnumbered: dict[str, bool] = {}
        names = set()
        for state in states:
            for one in state.objects:
                kind = self.layout.types.setdefault(one["type"], _type_name(one["type"]))
                numbered = NUMBERED.fullmatch(one["name"]) is not None
                unnumbered[kind] = unnumbered.get(kind, True) and not numbered
                names.add(one["name"])
            self._find_tops(state)
        types = frozenset(self.layout.types.values())
        self.vocabulary.types = list(dict.fromkeys(self.layout.types.values()))
        self.layout.unnumbered = frozenset(kind for kind, one in unnumbered.items() if one)
        self.vocabulary.fluents[HOLDER] = Fluent(HOLDER, (ANY,), "object", True, types)
        self.vocabulary.fluents[LABEL] = Fluent(LABEL, (ANY,), "text", False, types)

    def _find_tops(self, state: Recorded) -> None:
        """Note objects that nothing contains: rooms like the first one, or parts of the object
        that they stand after."""
        held = {name for one in state.objects for name in one["contains"]}
        free = [one for one in state.objects[1:] if one["name"] not in held]
        if any(one["type"] == state.objects[0]["type"] for one in free):
            self.layout.rootless = True
        if self.layout.rootless:
            self.layout.parts.clear()
            return
        whole, count = "", dict[str, int]()
        for one in state.objects:
            if one in free:
                count[whole] = count.get(whole, 0) + 1
            else:
                whole = one["type"]
        for kind, number in count.items():
            each = sum(one["type"] == kind for one in state.objects)
            self.layout.parts[kind] = number // max(1, each)

    def _find_shapes(self, states: Sequence[Recorded]) -> None:
        found: dict[str, _Property] = {}
        for state in states:
            names = {one["name"] for one in state.objects}
            for one in state.objects:
                kind = self.layout.types[one["type"]]
                for key, value in one["properties"].items():
                    found.setdefault(key, _Property(key)).add(kind, value, names)
        for state in states:
            for one in state.objects:
                kind = self.layout.types[one["type"]]
                for prop in found.values():
                    if kind in prop.owners and prop.name not in one["properties"]:
                        prop.missing = True
        for prop in found.values():
            shape, fluents = prop.shaped(self.vocabulary.enums)
            self.layout.shapes[prop.name] = shape
            self.vocabulary.fluents.update((one.name, one) for one in fluents)
            if len(shape.parts) > 1:
                gates = [shape.filled] if shape.filled else []
                self.vocabulary.together.append((*shape.parts, *gates))

    def _find_scores(self, rows: Sequence[TextRow]) -> None:
        scores = {one for row in rows for one in (row.score_before, row.score_after)}
        low, high = bounds(one.score for one in scores)
        kind = kind_of(one.score for one in scores)
        digits = kind[2] if kind else 0
        points = Fluent(SCORE, (), "real" if digits else "int", False, frozenset(), "", digits,
                        low, high)  # fmt: skip
        self.vocabulary.fluents[SCORE] = points
        for name in (OVER, WON):
            self.vocabulary.fluents[name] = Fluent(name, (), "bool")

    # ---- states ---------------------------------------------------------------------------------

    def _step(self, row: TextRow) -> Step:
        before = self._scene(row.before, row.score_before)
        acted = self._scene(row.acted, row.score_before)
        ticked = self._scene(row.ticked, row.score_after)
        return Step(row.place, row.action, None, before, acted, ticked, None)

    def _scene(self, recorded: Recorded, score: Score) -> Scene:
        key = (id(recorded), score)
        found = self._scenes.get(key)
        if found is None:
            found = self._scenes[key] = self._read(recorded, score)
            text = json.dumps([recorded.objects, score], sort_keys=True)
            found.key = self._keys.setdefault(text, len(self._keys))
        return found

    def _read(self, recorded: Recorded, score: Score) -> Scene:
        objects = recorded.objects
        numbers: dict[str, int] = {}
        for one in objects:
            numbers.setdefault(one["name"], one["uuid"])
        facts: dict[str, dict[Args, Value]] = {name: {} for name in self.vocabulary.fluents}
        scene = Scene({}, {}, facts)
        for one in objects:
            x: int = one["uuid"]
            scene.kinds[x] = self.layout.types.get(one["type"], _type_name(one["type"]))
            scene.names[x] = one["name"]
            match = NUMBERED.fullmatch(one["name"])
            facts[LABEL][(x,)] = match[1] if match else one["name"]
            for key, value in one["properties"].items():
                if key in self.layout.shapes:
                    self._take(facts, self.layout.shapes[key], x, value, numbers)
            for shape in self.layout.shapes.values():
                if shape.present and shape.name not in one["properties"]:
                    self._absent(facts, shape, x, scene.kinds[x])
        for (thing,), holder in _held(objects, self.layout.parts).items():
            facts[HOLDER][(thing,)] = holder
        facts[SCORE][()], facts[OVER][()], facts[WON][()] = score.score, score.over, score.won
        scene.inside = contents(scene)
        return scene

    def _absent(self, facts: dict[str, dict[Args, Value]], shape: Shape, x: int, kind: str) -> None:
        if kind in self.vocabulary.fluents[shape.present].owners:
            facts[shape.present][(x,)] = False
            for part in shape.parts if shape.form in ("value", "items") else ():
                facts[part][(x,)] = None if self.vocabulary.fluents[part].optional else ""

    def _take(
        self, facts: dict[str, dict[Args, Value]], shape: Shape, x: int, value: Any,
        numbers: Mapping[str, int],
    ) -> None:  # fmt: skip
        """Record the value of a property of an object."""
        if shape.present:
            facts[shape.present][(x,)] = True
        if shape.filled:
            facts[shape.filled][(x,)] = value is not None
        if shape.form == "value":
            facts[shape.parts[0]][(x,)] = self._value(shape.parts[0], value, numbers, shape)
        elif shape.form == "items":
            values = value if isinstance(value, list) else [None] * len(shape.parts)
            for part, one in zip(shape.parts, values, strict=False):
                facts[part][(x,)] = self._value(part, one, numbers, shape)
        elif shape.form == "entries":
            self._entries(facts, shape, x, value, numbers)
        elif shape.form == "members" and isinstance(value, list):
            words = {one: one for one in self.vocabulary.enums.get(shape.keys, ())}
            keys: Mapping[str, int | str] = numbers if shape.keys == ANY else words
            held = facts[shape.parts[0]]
            held.update(((x, key), name in value) for name, key in keys.items() if key != x)

    def _entries(
        self, facts: dict[str, dict[Args, Value]], shape: Shape, x: int, value: Any,
        numbers: Mapping[str, int],
    ) -> None:  # fmt: skip
        keys: Iterable[int | str]
        if shape.keys == ANY:
            keys = [one for one in numbers.values() if one != x]
        else:
            keys = self.vocabulary.enums[shape.keys]
        held = {numbers.get(key, key) if shape.keys == ANY else key: one
                for key, one in value.items()}  # fmt: skip
        for key in keys:
            facts[shape.having][(x, key)] = key in held
            values = held.get(key)
            values = values if shape.listed and isinstance(values, list) else [values]
            for part, one in zip(shape.parts, values, strict=False):
                facts[part][(x, key)] = self._value(part, one, numbers, shape)
            for part in shape.parts[len(values) :]:
                facts[part][(x, key)] = self._value(part, None, numbers, shape)

    def _value(self, part: str, value: Any, numbers: Mapping[str, int], shape: Shape) -> Value:
        fluent = self.vocabulary.fluents[part]
        if fluent.kind == "object":
            return numbers.get(value) if isinstance(value, str) else None
        if value is None and not fluent.optional:
            return EMPTY.get(fluent.kind)
        return value if isinstance(value, (bool, int, float, str)) else None


def _states(rows: Sequence[TextRow]) -> list[Recorded]:
    every = (state for row in rows for state in (row.before, row.acted, row.ticked))
    return list({id(state): state for state in every}.values())


def _held(
    objects: Sequence[Mapping[str, Any]], parts: Mapping[str, int]
) -> dict[tuple[int], int | None]:
    """Return the holder of each object: its parts follow it, then its contents in order."""
    found: dict[tuple[int], int | None] = {}
    position = 0

    def contained(one: Mapping[str, Any]) -> None:
        for name in one["contains"]:
            if position < len(objects) and objects[position]["name"] == name:
                walk(one["uuid"])

    def walk(holder: int | None) -> None:
        nonlocal position
        one = objects[position]
        found[(one["uuid"],)] = holder
        position += 1
        own = objects[position : position + parts.get(one["type"], 0)]
        for part in own:
            found[(part["uuid"],)] = one["uuid"]
        position += len(own)
        for part in own:
            contained(part)
        contained(one)

    while position < len(objects):
        walk(None)
    return found


class _Property:
    """The values that a property was seen to have."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.owners: dict[str, None] = {}
        self.values: dict[str, Any] = {}
        self.references: dict[str, bool] = {}
        self.missing = False

    def add(self, kind: str, value: Any, names: set[str]) -> None:
        self.owners[kind] = None
        key = json.dumps(value, sort_keys=True)
        if key not in self.values or isinstance(value, (str, list, dict)):
            self.values[key] = value
            for text in _texts(value):
                there = text in names and NUMBERED.fullmatch(text) is not None
                self.references[text] = self.references.get(text, True) and there

    def shaped(self, enums: dict[str, list[str]]) -> tuple[Shape, list[Fluent]]:
        """Return the shape of the property and its fluents; adds the enum of its keys."""
        values = list(self.values.values())
        full = [one for one in values if one is not None]
        base = _fluent_name(self.name)
        gates: dict[str, str] = {}
        fluents: list[Fluent] = []
        if self.missing:
            gates["present"] = f"{base}_there"
        if len(full) < len(values) and full and isinstance(full[0], (list, dict)):
            gates["filled"] = f"{base}_made"
        fluents += [self._fluent(name, [True, False]) for name in gates.values()]
        if full and all(isinstance(one, list) for one in full):
            found = self._members(base, full, enums)
            shape, more = self._items(base, full) if found is None else found
        elif full and all(isinstance(one, dict) for one in full):
            shape, more = self._entries(base, full, enums)
        else:
            shape, more = Shape(self.name, "value", (base,)), [self._fluent(base, values)]
            if self.missing and more[0].kind != "bool":
                more = [replace(more[0], optional=True)]
        present, filled = gates.get("present", ""), gates.get("filled", "")
        owners = tuple(self.owners)
        return replace(shape, owners=owners, present=present, filled=filled), fluents + more

    def _members(
        self, base: str, full: list[Any], enums: dict[str, list[str]]
    ) -> tuple[Shape, list[Fluent]] | None:
        """Return lists of several lengths as sets: of objects, or of words; ``None`` if they are
        none."""
        texts = [x for one in full for x in one]
        if (
            len({len(one) for one in full}) < 2
            or not all(isinstance(x, str) for x in texts)
            or any(len(set(one)) < len(one) for one in full)
        ):
            return None
        sort = ANY
        if not all(map(self._refers, texts)):
            sort = _type_name(f"{base}Key")
            enums[sort] = sorted(set(texts))
        fluents = [self._fluent(base, [True, False], sort)]
        return Shape(self.name, "members", (base,), sort), fluents

    def _items(self, base: str, full: list[Any]) -> tuple[Shape, list[Fluent]]:
        length = len(full[0])
        scalar = all(not isinstance(x, (list, dict)) for one in full for x in one)
        if len(full) == 1 and not any(self._refers(x) for x in full[0] if isinstance(x, str)):
            return Shape(self.name, "constant", constant=full[0]), []
        if not scalar or any(len(one) != length for one in full):
            return Shape(self.name, "constant", constant=full[0]), []
        parts = tuple(f"{base}_{number}" for number in range(1, length + 1))
        nothing = self._nothing(full)
        fluents = [
            self._fluent(part, [None if one[at] == nothing else one[at] for one in full] + [None])
            for at, part in enumerate(parts)
        ]
        return Shape(self.name, "items", parts, nothing=nothing), fluents

    def _nothing(self, full: list[Any]) -> str | None:
        """Return the one text among references to objects that refers to none."""
        others = sorted({x for one in full for x in one if isinstance(x, str)
                         and not self._refers(x)})  # fmt: skip
        return others[0] if len(others) == 1 and any(self.references.values()) else None

    def _refers(self, text: str) -> bool:
        return self.references.get(text, False)

    def _entries(
        self, base: str, full: list[Any], enums: dict[str, list[str]]
    ) -> tuple[Shape, list[Fluent]]:
        keys = list(dict.fromkeys(key for one in full for key in one))
        listed = any(isinstance(x, list) for one in full for x in one.values())
        width = max((len(x) for one in full for x in one.values() if isinstance(x, list)),
                    default=1)  # fmt: skip
        rows = [x if isinstance(x, list) else [x] for one in full for x in one.values()]
        sort = ANY if any(NUMBERED.fullmatch(key) for key in keys) else _type_name(f"{base}Key")
        if sort != ANY:
            enums[sort] = keys
        names = [base] if width == 1 else [f"{base}_{number}" for number in range(1, width + 1)]
        if base == self.name and width == 1 and sort == ANY:
            names = [f"{base}_of"]
        having = f"has_{base}"
        fluents = [self._fluent(having, [True, False], sort)]
        for at, name in enumerate(names):
            column = [row[at] if at < len(row) else None for row in rows]
            fluents.append(self._fluent(name, column, sort, enums))
        unset = listed and any(x is None for one in full for x in one.values())
        return Shape(self.name, "entries", tuple(names), sort, having, listed, unset), fluents

    def _fluent(
        self, name: str, values: list[Value], sort: str = "",
        enums: Mapping[str, list[str]] | None = None,
    ) -> Fluent:  # fmt: skip
        kind, optional, digits = kind_of(values) or ("text", True, 0)
        texts = [one for one in values if isinstance(one, str)]
        of = ""
        if kind == "text" and texts and all(map(self._refers, texts)):
            kind, optional = "object", True
        elif kind == "text" and enums and texts:
            of = next((key for key, one in enums.items() if set(texts) <= set(one)), "")
            kind = "enum" if of else kind
        low, high = bounds(values)
        owners = frozenset(self.owners)
        some = tuple(dict.fromkeys(values))
        params = (_common(owners), sort) if sort else (ANY,)
        return Fluent(name, params, kind, optional, owners, of, digits, low, high, some)


def _common(owners: frozenset[str]) -> str:
    return next(iter(owners)) if len(owners) == 1 else ANY


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a value, not the keys of maps."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _type_name(text: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", " ", text).split()
    name = "".join(word[0].upper() + word[1:] for word in words) or "Kind"
    name = name if name[0].isalpha() else f"T{name}"
    return f"{name}Kind" if name in (ANY, "Void") else name


def _fluent_name(text: str) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "property"
    name = name[0].lower() + name[1:] if name[0].isalpha() else f"p_{name}"
    return f"{name}_" if name in _RESERVED else name
