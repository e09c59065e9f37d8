"""States of one world as records show them: read into the engine, and written from it.

A record lists objects in containment pre-order and names contents. Names may repeat, so an object
is found by its position. An object keeps its recorded number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import Engine, State
from tokenworld.engine.rows.stepper import Tick
from tokenworld.engine.state import ALL, Slot, between
from tokenworld.ground import Json
from tokenworld.verbs.records.answers import strict, unequal
from tokenworld.verbs.records.properties import (
    MISSING,
    Codec,
    Context,
    Misread,
    Place,
    RecordMapping,
    RecordWords,
)
from tokenworld.verbs.records.rows import Recorded, Score

Shape = Mapping[str, Any]


class _Misplaced(Exception):
    """A path into the record and a clause that says what does not fit there."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path, self.why = path, why


@dataclass(frozen=True, slots=True)
class Outline:
    """The objects of a record without their values: by position the ``names`` that the world has
    for them and the ``holders`` (positions); the ``contents`` of each holder by its name (``None``:
    in nothing); ``named``: the objects by recorded name, of several with one name the first."""

    names: Sequence[str]
    holders: Sequence[int | None]
    contents: Mapping[str | None, Sequence[str]]
    named: Mapping[str, str]


class Base(NamedTuple):
    """A record and the state that was read from it. ``known`` are its objects by number."""

    state: State
    recorded: Recorded
    known: Mapping[int, Shape]
    outline: Outline


class Adapter:
    """Reads and writes the states of one world as its records have them.

    Records of one walk share most of their objects. A record that differs from a known one in few
    objects is read as a revision of its state, and a state that was played from a known one is
    written anew only where slots were written that the record of an object rests on (`Shown`).
    """

    def __init__(self, engine: Engine, mapping: RecordMapping) -> None:
        self.engine, self.mapping = engine, mapping
        try:
            self.words = RecordWords(engine, mapping)
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

    def read(
        self, recorded: Recorded, score: Score | None = None, place: str = "state", task: str = ""
    ) -> State:
        """Return the state of a record. Raises `Failure` (TW0006) if it does not fit the world.

        Fluents that records do not show have their defaults. ``score`` gives the reached endings,
        ``task`` is the task sentence of the game.
        """
        return self.based(recorded, score, place, task).state

    def based(
        self, recorded: Recorded, score: Score | None = None, place: str = "state", task: str = "",
        near: Base | None = None,
    ) -> Base:  # fmt: skip
        """The same with its record. ``near`` is another record, as it was read."""
        try:
            outline = self._outline(recorded, near)
            state = None if near is None else self._revised(near, recorded, outline, score, task)
            if state is None:
                shape = self._shape(recorded, outline, score, task)
                state = self.engine.restored(shape, source=place)
        except _Misplaced as misplaced:
            raise _unfit(place, misplaced.why, misplaced.path) from None
        except RecursionError:
            raise _unfit(place, "it is nested beyond use", "objects") from None
        self._check_written(state, recorded, place, near)
        return Base(state, recorded, {one["uuid"]: one for one in recorded.objects}, outline)

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

    def _outline(self, recorded: Recorded, near: Base | None) -> Outline:
        objects = recorded.objects
        if near is not None and _alike(objects, near.recorded.objects):
            return near.outline
        holders = _Tree(objects, self.mapping, self.mapping.root is not None).parents
        names = self._identifiers(objects)
        contents: dict[str | None, list[str]] = {}
        for position, holder in enumerate(holders):
            held = contents.setdefault(None if holder is None else names[holder], [])
            held.append(names[position])
        return Outline(names, holders, contents, _named(objects, names))

    def _shape(
        self, recorded: Recorded, outline: Outline, score: Score | None, task: str
    ) -> dict[str, Json]:
        context = Context(outline.named, {}, {})
        self._told(score, task, context)
        shown: list[Json] = [*self._hidden_root(outline.contents)]
        for position in range(len(recorded.objects)):
            shown.append(self._object_shape(recorded, position, outline, context))
        return {
            "objects": shown, "next_id": recorded.next_id, "functions": context.functions,
            "relations": context.relations,
            "outcomes": [] if score is None else self._outcomes(score),
        }  # fmt: skip

    def _object_shape(
        self, recorded: Recorded, position: int, outline: Outline, context: Context
    ) -> dict[str, Any]:
        one, name = recorded.objects[position], outline.names[position]
        holder = outline.holders[position]
        at = self.mapping.root if holder is None else outline.names[holder]
        return {
            "id": one["uuid"], "name": name, "type": self._type(one, position),
            "attrs": self._attributes(one, position, name, at, context),
            "contents": list(outline.contents.get(name, ())),
        }  # fmt: skip

    def _revised(
        self, near: Base, recorded: Recorded, outline: Outline, score: Score | None, task: str
    ) -> State | None:
        """The state of a record as a revision of that of a near one; ``None`` if it differs in
        more than values and places, or if a name may mean another object than there."""
        changed, contents = self._changed(near, recorded), self._moved(near, outline)
        if changed is None or contents is None or score is None:
            return None
        if self.words.refers and outline.named != near.outline.named:
            return None
        context, before = Context(outline.named, {}, {}), Context(near.outline.named, {}, {})
        self._told(score, task, context)
        for truth in self.words.truths:
            before.relations[truth] = [[]]
        shown = [self._object_shape(recorded, one, outline, context) for one in changed]
        for position, one in zip(changed, shown, strict=True):
            self._attributes(near.known[one["id"]], position, one["name"], None, before)
        gone = {
            "functions": _gone(before.functions, context.functions, lambda row: row[0]),
            "relations": _gone(before.relations, context.relations, lambda row: row),
        }
        parts = (context.functions, context.relations, *gone.values())
        if not self._plain(name for part in parts for name in part):
            return None
        found = {
            "objects": shown, "contents": contents, "gone": gone, "functions": context.functions,
            "relations": context.relations, "outcomes": self._outcomes(score),
        }  # fmt: skip
        try:
            return self.engine.revised(near.state, found)
        except Failure:
            return None  # reading the whole record tells why

    def _changed(self, near: Base, recorded: Recorded) -> list[int] | None:
        """The positions of objects that a near record shows otherwise; ``None`` where it has other
        objects."""
        known, found = near.known, []
        if near.recorded.next_id != recorded.next_id or len(known) != len(recorded.objects):
            return None
        for position, one in enumerate(recorded.objects):
            old = known.get(one["uuid"])
            if old is one:
                continue
            if old is None or old["type"] != one["type"]:
                return None
            found.append(position)
        return found

    def _moved(self, near: Base, outline: Outline) -> dict[str, Sequence[str]] | None:
        """The contents of all that holds something else, or in another order, than in a near
        record; ``None`` where something is in nothing that was not."""
        if outline is near.outline:
            return {}
        old, root = near.outline.contents, self.mapping.root
        if root is None and old.get(None) != outline.contents.get(None):
            return None
        return {
            holder or root or "": listed
            for holder, listed in outline.contents.items()
            if old.get(holder) != listed
        }

    def _plain(self, names: Iterable[str]) -> bool:
        """Return whether slots of these fluents that no record shows hold their default alone."""
        by_id = self.engine.layout.by_id
        columns = (by_id[name] for name in names if name in by_id)
        return not any(
            one.fluent.rows or one.fluent.symmetric or one.default is True for one in columns
        )

    def _told(self, score: Score | None, task: str, context: Context) -> None:
        """Set the functions that the score and the task determine."""
        words = self.words
        if score is not None:
            told = ((words.over, score.over), (words.won, score.won), (words.kept, score.score))
            for place, value in told:
                if place is not None:
                    place.read(value, None, None, {}, context)
        try:
            words.read_task(task, context)
        except Misread as misread:
            raise _Misplaced("taskDesc", str(misread)) from None

    def _identifiers(self, objects: Sequence[Shape]) -> list[str]:
        """The name of each object in the world: the declared one where number and type agree."""
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

    def _hidden_root(self, held: Mapping[str | None, Sequence[str]]) -> list[Json]:
        root, instance = self.mapping.root, self.engine.instance
        if root is None:
            return []
        if root not in instance.numbers:
            raise _Misplaced("root", f"the world declares no object `{root}`")
        number = instance.numbers[root]
        of = instance.objects[number].of
        attrs = {self._held.fluent.name: None}
        contents = list(held.get(None, ()))
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
        """The reader and the writer of a recorded property."""
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

    def _check_written(
        self, state: State, recorded: Recorded, place: str, near: Base | None
    ) -> None:
        """Check that derived values, names above all, are shown as they were recorded."""
        found = self.write(state, near)
        if strict(found.objects, found.next_id, recorded.objects, recorded.next_id):
            return
        differences = unequal(found.objects, found.next_id, recorded.objects, recorded.next_id)
        for one in differences:
            why = f"the world makes it {one.found!r}, and the record says {one.wanted!r}"
            raise _unfit(place, why, f"{one.name}: {one.what}" if one.name else one.what)

    # ---- writing --------------------------------------------------------------------------------

    def write(self, state: State, near: Base | None = None) -> Recorded:
        """A state as a record shows it. ``near`` is a record and the state that was read from it:
        objects that did not change since are taken over from there."""
        touched = None if near is None else between(near.state.trail, state.trail)
        again = touched is not None and self.words.timeless
        if near is None or touched is None or not again:
            return self.engine.asked(state, lambda tick: self._written(state, tick))
        if not touched:
            return Recorded(near.recorded.objects, state.next_id)
        return self.engine.asked(
            state, lambda tick: self._written_again(state, tick, near, touched)
        )

    def _written(self, state: State, tick: Tick) -> Recorded:
        found = self._walked(state, tick, _Names(tick, self.words.name_of), {})
        return Recorded(found, state.next_id)

    def _written_again(
        self, state: State, tick: Tick, near: Base, touched: Iterable[Slot]
    ) -> Recorded:
        """The record of a state with the objects of a near one; ``touched`` are the slots in which
        the states may differ."""
        slots: dict[int, set[Any]] = {}
        for column, key in touched:
            slots.setdefault(column, set()).add(key[0] if isinstance(key, tuple) and key else key)
        names = _Names(tick, self.words.name_of)
        again = self._to_write(state, near, slots, names)
        kept = {x: one for x, one in near.known.items() if x not in again}
        if self._held.index in slots:
            return Recorded(self._walked(state, tick, names, kept), state.next_id)
        found = [kept.get(one["uuid"]) or self._object(state, tick, one["uuid"], names)
                 for one in near.recorded.objects]  # fmt: skip
        return Recorded(found, state.next_id)

    def _to_write(
        self, state: State, near: Base, slots: Mapping[int, set[Any]], names: _Names
    ) -> set[int]:
        """The objects whose records may differ; fills in the names of all."""
        kinds, held = near.state.kinds, self._held.index
        shows = {kind: self.words.shown(kind) for kind in {*kinds} if kind is not None}
        again: set[int] = set()
        for column, owners in slots.items():
            whole = ALL in owners
            for x in near.known:
                shown = shows[kinds[x] or ""]
                if column in shown.wide or (column in shown.own and (whole or x in owners)):
                    again.add(x)
        if held in slots:
            before, now = near.state.cols[held], state.cols[held]
            moved = near.known if ALL in slots[held] else slots[held]
            again.update(holder for x in moved for holder in (before[x], now[x])
                         if holder is not None)  # fmt: skip
        if self.words.naming.isdisjoint(slots):
            names.update((x, one["name"]) for x, one in near.known.items())
            return again
        renamed = {x for x, one in near.known.items() if names[x] != one["name"]}
        if renamed:
            holders = state.cols[held]
            again |= renamed | {holders[x] for x in renamed if holders[x] is not None}
            again.update(x for x in near.known if shows[kinds[x] or ""].names)
        return again

    def _walked(
        self, state: State, tick: Tick, names: _Names, kept: Mapping[int, Shape]
    ) -> list[Shape]:
        """All objects in containment pre-order; ``kept`` are records that are taken over."""
        found: list[Shape] = []
        root = self._root(state)
        if self.mapping.root is None:
            if state.kinds[root] is None:
                raise _unfit("the outcome", "the object that contains all others is destroyed", "")
            self._write(state, tick, root, found, names, kept)
        else:
            for child in state.kids[self._held.index][root]:
                self._write(state, tick, child, found, names, kept)
        return found

    def _root(self, state: State) -> int:
        """The root container: named by the mapping, or the outermost one around the actor."""
        if self.mapping.root is not None:
            return state.numbers[self.mapping.root]
        parents, here = state.cols[self._held.index], state.me
        while here is not None and parents[here] is not None:
            here = parents[here]
        return here or 0

    def _write(
        self, state: State, tick: Tick, x: int, found: list[Shape], names: _Names,
        kept: Mapping[int, Shape],
    ) -> None:  # fmt: skip
        children = state.kids[self._held.index]
        inside, parts = children[x], self._parts(state.kinds[x])
        for one in (x, *inside[:parts]):
            found.append(kept.get(one) or self._object(state, tick, one, names))
        for part in inside[:parts]:
            for child in children[part]:
                self._write(state, tick, child, found, names, kept)
        for child in inside[parts:]:
            self._write(state, tick, child, found, names, kept)

    def _parts(self, kind: str | None) -> int:
        """The number of contents of a type that are listed after it, and not as its contents."""
        return self.mapping.parts.get(self._shown_types.get(kind or "", kind or ""), 0)

    def _object(self, state: State, tick: Tick, x: int, names: _Names) -> Shape:
        kind, properties = state.kinds[x] or "", {}
        for key, codec in self.words.codecs(kind).items():
            value = codec.write(tick, x)
            if value is not MISSING:
                properties[key] = value
        inside = state.kids[self._held.index][x][self._parts(kind) :]
        return {
            "name": names[x], "uuid": x, "type": self._shown_types.get(kind, kind),
            "properties": properties, "contains": [names[child] for child in inside],
        }  # fmt: skip

    def score(self, state: State) -> Score:
        """The score of a state as the records count it."""
        endings = self.engine.instance.world.endings
        goals = {one.name for one in endings if one.ending == "goal"}
        over, won = self._told_now(state, self.words.over), self._told_now(state, self.words.won)
        return Score(
            self.engine.score(state),
            bool(state.latched) if over is None else over,
            not goals.isdisjoint(state.latched) if won is None else won,
        )

    def _told_now(self, state: State, place: Place | None) -> bool | None:
        """The value of a Boolean without parameters in a state; ``None`` for no place."""
        return None if place is None else bool(self.engine.asked(state, place.get))


class _Names(dict[int, str]):
    """The recorded names of one state's objects, each computed once."""

    def __init__(self, tick: Tick, name_of: Callable[[Tick, int], str]) -> None:
        super().__init__()
        self._tick, self._name_of = tick, name_of

    def __missing__(self, x: int) -> str:
        found = self[x] = self._name_of(self._tick, x)
        return found


class _Tree:
    """The holder of each object, by position: each is followed by its contents, in their order.

    The contents of a type with parts begin with these: they stand after it one by one, then comes
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
        """Place what an object holds; the position after all of it."""
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


def _alike(objects: Sequence[Shape], others: Sequence[Shape]) -> bool:
    """Return whether two records have the same objects in the same places, under the same names."""
    return len(objects) == len(others) and all(
        one is other or all(one[key] == other[key] for key in ("uuid", "type", "name", "contains"))
        for one, other in zip(objects, others, strict=True)
    )


def _gone(
    before: Mapping[str, Sequence[Json]], now: Mapping[str, Sequence[Json]],
    args: Callable[[Any], Json],
) -> dict[str, list[Json]]:  # fmt: skip
    """The rows of ``before`` whose arguments ``now`` does not list."""
    found = {}
    for name, rows in before.items():
        listed = [args(one) for one in now.get(name, ())]
        found[name] = [row for row in rows if args(row) not in listed]
    return found


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
