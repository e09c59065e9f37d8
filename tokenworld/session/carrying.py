"""A state carried over into changed rules: values that fit stay, the others are reported.

The state is carried as ``tw-state/1`` JSON, and the changed world begins with it as if by a `start`
line. So it is read by the same rules as every recorded state, and a run of it can be replayed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from tokenworld.engine import State
from tokenworld.ground import Json, read_value, value_text
from tokenworld.model import CARRIED, Fluent, ObjectType, Program, StartFile, ValueType, World
from tokenworld.session.loading import Loaded, OpenWorld, compile_world

_Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Carried:
    """A changed world that begins with the state of a game, and the changes of that state.

    ``declared`` is that world with its own start, ``was`` the state as it was, ``start`` the one
    that the changed world begins with. ``kept`` counts the values that stayed. ``notes`` report the
    rest, a sentence for each.
    """

    world: OpenWorld
    declared: OpenWorld
    was: State
    start: State
    kept: int
    notes: tuple[str, ...]


def begun_with(loaded: Loaded, world: World, text: str) -> OpenWorld:
    """A world that begins with a state, as ``tw-state/1`` text, in place of its own start."""
    begun = replace(world, start=StartFile(CARRIED, text, world.span))
    return OpenWorld(loaded, begun, compile_world(loaded.program, begun))


def carry(old: OpenWorld, state: State, new: OpenWorld) -> Carried:
    """``new`` begun with ``state``, which was played in ``old``.

    Types and attributes that both have keep their values; new ones have those that the world
    declares, and so has everything static; removed ones are left out. Raises `Failure` if the
    changed world cannot start, or cannot start from the remaining values.
    """
    fresh = cast("dict[str, Any]", new.engine.json(new.engine.start(state.seed)))
    carrying = _Carrying(old, cast("dict[str, Any]", old.engine.json(state)), new, fresh)
    shown = carrying.shown()
    world = begun_with(new.loaded, new.world, json.dumps(shown, ensure_ascii=False, sort_keys=True))
    start = world.engine.start(state.seed)
    return Carried(world, new, state, start, carrying.kept, tuple(dict.fromkeys(carrying.notes)))


@dataclass(slots=True)
class _Carrying:
    """``was`` is the state as the old world shows it, ``fresh`` the start of the new one."""

    old: OpenWorld
    was: dict[str, Any]
    new: OpenWorld
    fresh: dict[str, Any]
    kept: int = 0
    notes: list[str] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    starts: dict[str, _Object] = field(init=False)

    def __post_init__(self) -> None:
        self.starts = {one["name"]: one["attrs"] for one in self.fresh["objects"]}

    @property
    def program(self) -> Program:
        return self.new.program

    def shown(self) -> dict[str, Json]:
        """The state as the changed world shows it."""
        objects = self._people()
        ordered = [self._attributes(one) for one in objects]
        pointing = self._pointing(ordered)
        for one in ordered:
            self._order(one, pointing)
        size = len(self.new.instance.objects)
        found: dict[str, Json] = {
            "format": "tw-state/1",
            "world": self.new.world.name,
            "tick": self.was["tick"],
            "seed": self.was["seed"],
            "next_id": max((size, *(one["id"] + 1 for one in ordered))),
            "objects": ordered,
            "functions": self._rows("functions"),
            "relations": self._rows("relations"),
        }
        return found | self._progress()

    # ---- who there is ---------------------------------------------------------------------------

    def _people(self) -> list[_Object]:
        """The objects that stay, then those that are new, each with its number and type."""
        before = {one.name for one in self.old.instance.objects}
        now = {one.name: one.of for one in self.new.instance.objects}
        listed: list[_Object] = [
            {**one, "type": now.get(one["name"], one["type"])}
            for one in self.was["objects"]
            if self._stays(one, before, now)
        ]
        known = {one["name"] for one in listed}
        for one in self.fresh["objects"]:
            if one["name"] in now and one["name"] not in before | known:
                self.notes.append(f"`{one['name']}` is new.")
                listed.append({**one, "added": True})
        self._number(listed)
        self.kinds = {one["name"]: one["type"] for one in listed}
        return sorted(listed, key=lambda one: int(one["id"]))

    def _stays(self, one: _Object, before: set[str], now: Mapping[str, str]) -> bool:
        name = one["name"]
        if name in before and name not in now:
            self.notes.append(f"`{name}` is gone: the world has no such object any more.")
            return False
        if name not in now and one["type"] not in self.program.types:
            self.notes.append(f"`{name}` is gone: there is no type `{one['type']}` any more.")
            return False
        if now.get(name, one["type"]) != one["type"]:
            self.notes.append(f"`{name}` is a `{now[name]}` now, no `{one['type']}`.")
        return True

    def _number(self, listed: Sequence[_Object]) -> None:
        """Rules know declared objects by number; a created one keeps its own where it is free."""
        declared = self.new.instance.numbers
        taken, top = set(declared.values()), max(declared.values(), default=-1)
        for one in listed:
            if one["name"] in declared:
                one["id"] = declared[one["name"]]
            elif one["id"] in taken:
                one["id"] = max((top, *taken)) + 1
            taken.add(one["id"])
            self.numbers[one["name"]] = one["id"]

    # ---- values ---------------------------------------------------------------------------------

    def _fits(self, kind: ValueType, value: Json) -> bool:
        try:
            read_value(self.program, self.numbers, kind, value)
        except (ValueError, TypeError):
            return False
        named = isinstance(kind, ObjectType) and value is not None
        return not named or self.program.is_subtype(self.kinds[str(value)], kind.name)  # type: ignore[union-attr]

    def _attributes(self, one: _Object) -> _Object:
        """The object with a value for each attribute of its type that has no default."""
        added = bool(one.pop("added", False))
        start = self.starts.get(one["name"], {})
        had, attrs = dict(one["attrs"]), dict[str, Json]()
        for key in self.program.types[one["type"]].attributes:
            fluent = self.program.fluents[key]
            if self._carries(fluent, had, one["name"], added=added):
                attrs[fluent.name] = had[fluent.name]
                self.kept += not added
            elif fluent.name in start:
                attrs[fluent.name] = start[fluent.name]
            had.pop(fluent.name, None)
        self.notes.extend(f"`{one['type']}` has no attribute `{name}` any more." for name in had)
        return {**one, "attrs": attrs}

    def _carries(self, fluent: Fluent, had: _Object, name: str, *, added: bool) -> bool:
        """Return whether the old value stays; why it does not is noted."""
        if fluent.name not in had:
            self.notes.append(f"`{fluent.id}` is new: it has its declared value.")
            return False
        if fluent.static and not added:
            return False
        if not self._fits(fluent.type, had[fluent.name]):
            value = f"`{name}.{fluent.name}` was {value_text(had[fluent.name])}"
            self.notes.append(f"{value}, which does not fit any more: it has its declared value.")
            return False
        return True

    def _order(self, one: _Object, here: Mapping[tuple[str, str], Mapping[str, None]]) -> None:
        """Keep the order of the objects that point here; new ones come last."""
        listed, orders = one.pop("contents", ()), one.pop("orders", {})
        nests = [x for x in self.program.fluents.values() if x.nested and len(x.params) == 1]
        if len(nests) == 1:
            one["contents"] = _in_order(here.get((nests[0].id, one["name"]), {}), listed)
        kept = {
            key: _in_order(here.get((key, one["name"]), {}), names)
            for key, names in orders.items()
            if key in self.program.fluents and self.program.fluents[key].ordered
        }
        if any(kept.values()):
            one["orders"] = {key: names for key, names in kept.items() if names}

    def _pointing(self, objects: Sequence[_Object]) -> dict[tuple[str, str], dict[str, None]]:
        """The objects that point at each one, by attribute."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        for one in objects:
            for key in self.program.types[one["type"]].attributes:
                fluent = self.program.fluents[key]
                value = one["attrs"].get(fluent.name)
                if isinstance(fluent.type, ObjectType) and isinstance(value, str):
                    found.setdefault((key, value), {})[one["name"]] = None
        return found

    # ---- functions and relations --------------------------------------------------------------

    def _rows(self, part: str) -> dict[str, Json]:
        """The rows of each function or relation of the changed world."""
        found: dict[str, Json] = {}
        for name, rows in self.fresh[part].items():
            fluent, had = self.program.fluents[name], self.was[part].get(name)
            if had is None or fluent.static:
                found[name] = rows
                continue
            stay = [row for row in had if self._row_fits(fluent, row, part)]
            self.kept += len(stay)
            if len(stay) < len(had):
                self.notes.append(f"{len(had) - len(stay)} rows of `{name}` do not fit any more.")
            found[name] = [*stay, *self._of_the_new(rows, part)]
        for name in self.was[part]:
            if name not in found:
                self.notes.append(f"There is no `{name}` any more.")
        return found

    def _row_fits(self, fluent: Fluent, row: Any, part: str) -> bool:
        args, value = (row, True) if part == "relations" else row
        if len(args) != len(fluent.params):
            return False
        fits = all(self._fits(one.type, arg) for one, arg in zip(fluent.params, args, strict=True))
        return fits and self._fits(fluent.type, value)

    def _of_the_new(self, rows: Sequence[Any], part: str) -> Iterator[Any]:
        """The declared rows about objects that were not there before."""
        before = {one["name"] for one in self.was["objects"]}
        before |= {one.name for one in self.old.instance.objects}
        for row in rows:
            args = row if part == "relations" else row[0]
            if any(isinstance(x, str) and x in self.numbers and x not in before for x in args):
                yield row

    # ---- what happened so far -----------------------------------------------------------------

    def _progress(self) -> dict[str, Json]:
        """Endings, awards, watches that spoke and long actions."""
        endings = {one.name for one in self.new.world.endings}
        return {
            "outcomes": [one for one in self.was["outcomes"] if one in endings],
            "awarded": sorted(self._awarded()),
            "fired": [one for one in self.was["fired"] if self._spoke(*one)],
            "long": {who: one for who, one in self.was["long"].items() if self._goes_on(who, one)},
        }

    def _awarded(self) -> Iterator[int]:
        """The places that awards have now: an award is the same if it is written the same."""
        places = {_written(self.new, one.span): n for n, one in enumerate(self.new.world.awards)}
        for place in self.was["awarded"]:
            award = _written(self.old, self.old.world.awards[place].span)
            if award in places:
                yield places[award]
            else:
                self.notes.append(f"The points of `{award}` are lost: the line is not there.")

    def _spoke(self, name: str, args: Sequence[Json]) -> bool:
        watch = self.program.watches.get(name)
        if watch is None or len(args) != len(watch.params):
            return False
        pairs = zip(watch.params, args, strict=True)
        return all(self._fits(one.type, arg) for one, arg in pairs)

    def _goes_on(self, who: str, running: Mapping[str, Any]) -> bool:
        action = self.program.actions.get(running["action"])
        names = () if action is None else tuple(one.name for one in action.params)
        fits = (
            action is not None
            and (not who or who in self.numbers)
            and set(names) == set(running["args"])
            and all(self._fits(one.type, running["args"][one.name]) for one in action.params)
        )
        if not fits:
            self.notes.append(f"`{running['action']}` is broken off: it is another action now.")
        return fits


def _in_order(here: Mapping[str, None], listed: Sequence[str]) -> list[str]:
    known = set(listed)
    return [*(one for one in listed if one in here), *(one for one in here if one not in known)]


def _written(world: OpenWorld, span: Any) -> str:
    """The text of a place in the sources, with single spaces."""
    source = next((one for one in world.loaded.sources if one.name == span.file), None)
    return "" if source is None else " ".join(source.text[span.start : span.end].split())
