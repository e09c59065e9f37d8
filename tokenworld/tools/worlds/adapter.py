"""The states of recorded text games as states of a world, in both directions.

A record lists objects in containment pre-order and names contents; names may repeat, so an object
finds its place by position alone. An object keeps its recorded number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import Engine, State
from tokenworld.ground import Json
from tokenworld.tools.worlds.mapping import RecordMapping
from tokenworld.tools.worlds.properties import MISSING, Codec, Context, Misread, Vocabulary
from tokenworld.tools.worlds.rows import Recorded, Score
from tokenworld.tools.worlds.scoring import unequal

__all__ = ["Adapter"]

Shape = Mapping[str, Any]


class _Misplaced(Exception):
    """A path into the record and a clause that says what does not fit there."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


class Adapter:
    """Reads and writes the states of one world as its records have them."""

    def __init__(self, engine: Engine, mapping: RecordMapping) -> None:
        self.engine, self.mapping = engine, mapping
        try:
            self.words = Vocabulary(engine, mapping)
            self.words.check()
        except Misread as misread:
            raise _unfit(mapping.path, str(misread), "the mapping") from None
        nested = [one for one in engine.layout.columns if one.fluent.nested and one.has_children]
        if len(nested) != 1:
            why = "a world of records has one `nested` attribute"
            raise _unfit(mapping.path, why, "the world")
        self._held = nested[0]
        self._shown_types = {name: shown for shown, name in mapping.types.items()}

    # ---- reading ------------------------------------------------------------------------------

    def read(self, recorded: Recorded, score: Score | None = None, place: str = "state") -> State:
        """The state that a record shows; `Failure` (TW0006) where the world has no place for it.

        What no record shows has its default. ``score`` tells which endings are reached.
        """
        try:
            shape = self._shape(recorded, score)
        except _Misplaced as misplaced:
            raise _unfit(place, misplaced.why, misplaced.path) from None
        except RecursionError:
            raise _unfit(place, "it is nested beyond use", "objects") from None
        state = self.engine.restored(shape, source=place)
        self._check_written(state, recorded, place)
        return state

    def check(self, recorded: Recorded, place: str) -> None:
        """`Failure` (TW0006) where a record names types, properties or contents that are unknown:
        such a state can be nobody's right answer. Its values are not looked at."""
        try:
            _Tree(recorded.objects, self.mapping, self.mapping.root is not None)
            for position, one in enumerate(recorded.objects):
                kind = self._type(one, position)
                for key in one["properties"]:
                    self._codec(kind, key, position)
        except _Misplaced as misplaced:
            raise _unfit(place, misplaced.why, misplaced.path) from None
        except RecursionError:
            raise _unfit(place, "it is nested beyond use", "objects") from None

    def _shape(self, recorded: Recorded, score: Score | None) -> dict[str, Json]:
        objects = recorded.objects
        parents = _Tree(objects, self.mapping, self.mapping.root is not None).parents
        names = self._identifiers(objects)
        context = Context(_named(objects, names), {}, {})
        held: dict[int | None, list[str]] = {}
        for position, parent in enumerate(parents):
            held.setdefault(parent, []).append(names[position])
        shown: list[Json] = [*self._hidden_root(held)]
        for position, one in enumerate(objects):
            holder = parents[position]
            at = self.mapping.root if holder is None else names[holder]
            shown.append({
                "id": one["uuid"], "name": names[position], "type": self._type(one, position),
                "attrs": self._attributes(one, position, names[position], at, context),
                "contents": held.get(position, []),
            })  # fmt: skip
        return {
            "objects": shown, "next_id": recorded.next_id, "functions": context.functions,
            "relations": context.relations,
            "outcomes": [] if score is None else self._outcomes(score),
        }  # fmt: skip

    def _identifiers(self, objects: Sequence[Shape]) -> list[str]:
        """What the world calls each object: its declared name where number and type agree."""
        instance = self.engine.instance
        names: list[str] = []
        for position, one in enumerate(objects):
            number, kind = one["uuid"], self._type(one, position)
            known = instance.objects[number] if 0 <= number < len(instance.objects) else None
            declared = known is not None and known.of == kind
            names.append(known.name if known and declared else f"{kind.lower()}_{number}")
        return names

    def _type(self, one: Shape, position: int) -> str:
        kind: str = one["type"]
        kind = self.mapping.types.get(kind, kind)
        if kind not in self.engine.instance.program.types:
            raise _Misplaced(f"objects[{position}].type", f"the world has no type `{kind}`")
        return kind

    def _hidden_root(self, held: Mapping[int | None, list[str]]) -> list[Json]:
        root, instance = self.mapping.root, self.engine.instance
        if root is None:
            return []
        if root not in instance.numbers:
            raise _Misplaced("root", f"the world declares no object `{root}`")
        number = instance.numbers[root]
        of = instance.objects[number].of
        attrs = {self._held.fluent.name: None}
        contents = held.get(None, [])
        return [{"id": number, "name": root, "type": of, "attrs": attrs, "contents": contents}]

    def _attributes(
        self, one: Shape, position: int, name: str, at: str | None, context: Context
    ) -> dict[str, Json]:
        kind = self._type(one, position)
        attrs: dict[str, Json] = {self._held.fluent.name: at}
        label = self.mapping.label
        if label is not None:
            attrs[label] = one["name"].removesuffix(f" (ID: {one['uuid']})")
        for key, value in one["properties"].items():
            codec = self._codec(kind, key, position)
            try:
                codec.read(value, name, attrs, context)
            except Misread as misread:
                path = f"objects[{position}].properties.{key}"
                raise _Misplaced(path, str(misread)) from None
        return attrs

    def _codec(self, kind: str, key: str, position: int) -> Codec:
        """How a recorded property is read and written."""
        codec = self.words.codecs(kind).get(key)
        if codec is None:
            path = f"objects[{position}].properties.{key}"
            raise _Misplaced(path, f"`{kind}` of the world has no property `{key}`")
        return codec

    def _outcomes(self, score: Score) -> list[Json]:
        """The endings that a recorded score tells of: which of several the records do not say."""
        if not score.over:
            return []
        endings = self.engine.instance.world.endings
        fitting = (one.name for one in endings if (one.ending == "goal") == score.won)
        found: list[Json] = [*fitting]
        return found[:1]

    def _check_written(self, state: State, recorded: Recorded, place: str) -> None:
        """What is derived, and names above all, must come out as it was recorded."""
        found = self.write(state)
        differences = unequal(found.objects, found.next_id, recorded.objects, recorded.next_id)
        for one in differences:
            why = f"the world makes it {one.found!r}, and the record says {one.wanted!r}"
            raise _unfit(place, why, f"{one.name}: {one.what}" if one.name else one.what)

    # ---- writing --------------------------------------------------------------------------------

    def write(self, state: State) -> Recorded:
        """A state as a record shows it."""
        children = state.kids[self._held.index]
        found: list[Shape] = []
        names = _Names(state, self.words.name_of)
        root = self._root(state)
        if self.mapping.root is None:
            self._write(state, children, root, found, names)
        else:
            for child in children[root]:
                self._write(state, children, child, found, names)
        return Recorded(found, state.next_id)

    def _root(self, state: State) -> int:
        """What holds everything: the object named by the mapping, or what the actor is within."""
        if self.mapping.root is not None:
            return state.numbers[self.mapping.root]
        parents, here = state.cols[self._held.index], state.me
        while here is not None and parents[here] is not None:
            here = parents[here]
        return here or 0

    def _write(
        self, state: State, children: Sequence[Sequence[int]], x: int, found: list[Shape],
        names: _Names,
    ) -> None:  # fmt: skip
        kind = state.kinds[x] or ""
        inside, parts = children[x], self.mapping.parts.get(self._shown_types.get(kind, kind), 0)
        found.append(self._object(state, x, kind, inside[parts:], names))
        for part in inside[:parts]:
            kind = state.kinds[part] or ""
            found.append(self._object(state, part, kind, children[part], names))
        for part in inside[:parts]:
            for child in children[part]:
                self._write(state, children, child, found, names)
        for child in inside[parts:]:
            self._write(state, children, child, found, names)

    def _object(
        self, state: State, x: int, kind: str, inside: Sequence[int], names: _Names
    ) -> Shape:
        properties = {}
        for key, codec in self.words.codecs(kind).items():
            value = codec.write(state, x)
            if value is not MISSING:
                properties[key] = value
        return {
            "name": names[x], "uuid": x, "type": self._shown_types.get(kind, kind),
            "properties": properties, "contains": [names[child] for child in inside],
        }  # fmt: skip

    def score(self, state: State) -> Score:
        """What the records would tell of the progress of a state."""
        endings = self.engine.stepper.endings
        goals = endings.named("goal")
        won = any(name in goals for name in state.latched)
        return Score(self.engine.score(state), bool(state.latched), won)


class _Names(dict[int, str]):
    """The recorded names of one state's objects, each worked out once."""

    def __init__(self, state: State, name_of: Callable[[State, int], str]) -> None:
        super().__init__()
        self._state, self._name_of = state, name_of

    def __missing__(self, x: int) -> str:
        found = self[x] = self._name_of(self._state, x)
        return found


class _Tree:
    """Which object holds which, by position: each is followed by its contents, in their order.

    The contents of a type with parts begin with these: they stand behind it one by one, then comes
    what each holds.
    """

    def __init__(self, objects: Sequence[Shape], mapping: RecordMapping, rootless: bool) -> None:
        self._objects, self._parts = objects, mapping.parts
        self.parents: list[int | None] = [None] * len(objects)
        end = self._walk(0) if objects else 0
        while rootless and end < len(objects):
            end = self._walk(end)
        if end < len(objects):
            why = f"no object above it contains `{objects[end]['name']}`"
            raise _Misplaced(f"objects[{end}]", why)

    def _walk(self, position: int) -> int:
        """Place what an object holds; the position behind all of it."""
        parts = range(position + 1, position + 1 + self._parts.get(self._type(position), 0))
        end = parts.stop
        if end > len(self._objects):
            raise _Misplaced(f"objects[{position}]", "its parts are missing")
        for part in parts:
            self.parents[part] = position
        for part in parts:
            end = self._fill(part, end)
        return self._fill(position, end)

    def _type(self, position: int) -> str:
        kind: str = self._objects[position]["type"]
        return kind

    def _fill(self, holder: int, end: int) -> int:
        for index, name in enumerate(self._objects[holder]["contains"]):
            if end >= len(self._objects) or self._objects[end]["name"] != name:
                path = f"objects[{holder}].contains[{index}]"
                raise _Misplaced(path, f"`{name}` is not the next object that is listed")
            self.parents[end] = holder
            end = self._walk(end)
        return end


def _named(objects: Sequence[Shape], names: Sequence[str]) -> dict[str, str]:
    """Recorded names to names of the world; of several with one name the first."""
    found: dict[str, str] = {}
    for one, name in zip(objects, names, strict=True):
        found.setdefault(one["name"], name)
    return found


def _unfit(place: str, why: str, path: str) -> Failure:
    message = f"`{place}` does not fit the world at `{path}`: {why}."
    hint = "Correct the record, the mapping file beside the world, or the world."
    return Failure(Diagnostic("TW0006", message, hint=hint))
