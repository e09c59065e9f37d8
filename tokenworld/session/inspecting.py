"""The state as an operator looks at it: slots before and after the last tick, who is in what, maps.

Secret slots are left out, as they are everywhere in play.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from tokenworld.ground import Json
from tokenworld.model import Layout, ObjectType
from tokenworld.model.cells import cell_name
from tokenworld.session.differing import slot_text, slots_of
from tokenworld.session.session import Session

__all__ = ["Inspection", "Map", "Place", "SlotRow"]

_Object = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot before and after the last tick; ``rules`` changed it, in order."""

    slot: str
    before: Json
    after: Json
    changed: bool
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """An object with what is in it."""

    name: str
    kind: str
    inside: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """A layout as it stands: its rows, and what the signs of objects on it mean."""

    of: str
    rows: tuple[str, ...]
    signs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Inspection:
    """The present state of a session, worked out on demand."""

    session: Session

    @cached_property
    def _now(self) -> Mapping[str, Json]:
        return self.session.state_json()

    @cached_property
    def _objects(self) -> Mapping[str, _Object]:
        return {str(one["name"]): one for one in cast("Sequence[_Object]", self._now["objects"])}

    # ---- slots --------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> tuple[SlotRow, ...]:
        """Every slot that is no secret: those of the present state, then those that are gone."""
        session = self.session
        earlier = session.moments[-2].state if len(session.moments) > 1 else session.state
        old, new = slots_of(session.engine.json(earlier)), slots_of(self._now)
        rules = self._rules()
        return tuple(
            SlotRow(slot, old.get(slot), new.get(slot), changed, rules.get(slot, ()))
            for slot in dict.fromkeys((*new, *old))
            if slot not in self._secret_slots(slot)
            for changed in ((slot in old, old.get(slot)) != (slot in new, new.get(slot)),)
        )

    def _rules(self) -> Mapping[str, tuple[str, ...]]:
        """The rules of the last tick by the slots that they changed."""
        program, found = self.session.world.program, dict[str, tuple[str, ...]]()
        for outcome in self.session.moments[-1].outcomes:
            for change in (*outcome.changes, *outcome.law_changes):
                slot = slot_text(program.fluents[change.fluent], change.args)
                found[slot] = (*found.get(slot, ()), change.rule)
        return found

    @cached_property
    def _secret(self) -> frozenset[str]:
        """The names of secret fluents with the types that have them: ``Box.inside``, ``told``."""
        return frozenset(
            fluent.id for fluent in self.session.world.program.fluents.values() if fluent.secret
        )

    def _secret_slots(self, slot: str) -> tuple[str, ...]:
        """The slot itself if it is one of a secret fluent."""
        if not self._secret:
            return ()
        program = self.session.world.program
        owner, _, attribute = slot.partition(".")
        if attribute and owner in self._objects:
            kind = str(self._objects[owner]["type"])
            keys = (f"{one}.{attribute}" for one in (kind, *program.types[kind].ancestors))
            return (slot,) if any(key in self._secret for key in keys) else ()
        return (slot,) if slot.partition("(")[0] in self._secret else ()

    # ---- containment ----------------------------------------------------------------------------

    @cached_property
    def tree(self) -> tuple[Place, ...]:
        """What lies in nothing, each with what is in it. Cells of a map with nothing in them are
        left out.

        Where the world nests nothing, an object is put where its first reference points.
        """
        inside: dict[str, list[str]] = {name: [] for name in self._objects}
        roots: list[str] = []
        for name in self._objects:
            holder = self._holder(name)
            (roots if holder is None else inside[holder]).append(name)
        cells = {one.of for one in self.session.world.world.layouts}
        placed = (self._place(one, inside) for one in roots)
        return tuple(one for one in placed if one.inside or one.kind not in cells)

    def _place(self, name: str, inside: Mapping[str, Sequence[str]]) -> Place:
        kind = str(self._objects[name]["type"])
        return Place(name, kind, tuple(self._place(one, inside) for one in inside[name]))

    def _holder(self, name: str) -> str | None:
        """The object that one is in, unless that leads back to itself."""
        holder = self._points_to(name)
        seen, at = {name}, holder
        while at is not None:
            if at in seen:
                return None
            seen.add(at)
            at = self._points_to(at)
        return holder

    @cached_property
    def _nests(self) -> bool:
        return any(one.nested for one in self.session.world.program.fluents.values())

    def _points_to(self, name: str) -> str | None:
        for nested, value in self._references(name):
            if nested or not self._nests:
                return value
        return None

    def _references(self, name: str) -> Iterator[tuple[bool, str]]:
        program, found = self.session.world.program, self._objects[name]
        attributes = cast("Mapping[str, Json]", found["attrs"])
        for key in program.types[str(found["type"])].attributes:
            fluent = program.fluents[key]
            value = attributes.get(fluent.name)
            if isinstance(fluent.type, ObjectType) and value is not None:
                yield fluent.nested, str(value)

    # ---- maps -----------------------------------------------------------------------------------

    @cached_property
    def maps(self) -> tuple[Map, ...]:
        """The layouts of the world with what stands on them now."""
        return tuple(self._map(one) for one in self.session.world.world.layouts)

    def _map(self, layout: Layout) -> Map:
        standing = self._standing(layout)
        signs: dict[str, str] = {}
        grounds = self._grounds(layout)
        rows = []
        for y, row in enumerate(layout.rows):
            shown = ""
            for x in range(len(row)):
                name = cell_name(layout.of, x, y)
                if name in standing:
                    sign = self._sign(standing[name][0])
                    signs.setdefault(sign, "")
                    signs[sign] = ", ".join(filter(None, (signs[sign], *standing[name])))
                else:
                    sign = grounds.get(self._look(self._objects.get(name)), "?")
                shown += sign
            rows.append(shown)
        return Map(layout.of, tuple(rows), tuple(sorted(signs.items())))

    def _standing(self, layout: Layout) -> dict[str, list[str]]:
        """The objects on each cell, the acting one first."""
        found: dict[str, list[str]] = {}
        actor = self.session.actor
        for name, one in sorted(self._objects.items(), key=lambda pair: pair[0] != actor):
            if one["type"] != layout.of:
                for _, value in self._references(name):
                    found.setdefault(value, []).append(name)
                    break
        return found

    def _sign(self, name: str) -> str:
        return "@" if name == self.session.actor else name[0].upper()

    def _grounds(self, layout: Layout) -> dict[tuple[str, ...], str]:
        """The sign of each kind of cell, as the layout draws it at the start.

        A sign that also makes an object tells of the object, unless no other draws such a cell.
        """
        start = self.session.engine.json(self.session.moments[0].state)
        cells = {str(one["name"]): one for one in cast("Sequence[_Object]", start["objects"])}
        makers = {one.symbol for one in layout.legends if _creates(one.body)}
        found: dict[tuple[str, ...], str] = {}
        for y, row in enumerate(layout.rows):
            for x, symbol in enumerate(row):
                look = self._look(cells.get(cell_name(layout.of, x, y)))
                if symbol not in makers:
                    found.setdefault(look, symbol)
        return found

    def _look(self, cell: _Object | None) -> tuple[str, ...]:
        """What tells cells apart, their places left out."""
        if cell is None:
            return ()
        program = self.session.world.program
        layouts = self.session.world.world.layouts
        places = {program.fluents[key].name for one in layouts for key in (one.x, one.y) if key}
        attributes = cast("Mapping[str, Json]", cell["attrs"])
        return tuple(f"{name}={value}" for name, value in attributes.items() if name not in places)


def _creates(body: object) -> bool:
    from tokenworld.model import Body, Create, effects_in

    return any(isinstance(one, Create) for one in effects_in(cast("Body", body)))
