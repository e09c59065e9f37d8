"""The present state of a session as a player looks at it: slots, containment, maps.

Secret slots are left out, as everywhere in play.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from tokenworld.ground import Json
from tokenworld.model import Assign, Body, Create, Layout, ObjectType, effects_in
from tokenworld.model.worlds import cell_name
from tokenworld.session.moments import slot_text, slots_of
from tokenworld.session.session import Session

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
    """A layout as it stands: its rows, what the signs of objects on it mean, and where the acting
    object is: column and row."""

    of: str
    rows: tuple[str, ...]
    signs: tuple[tuple[str, str], ...]
    at: tuple[int, int] | None = None

    def around(self, width: int, height: int) -> tuple[str, ...]:
        """The rows, cut to so many columns and rows around the acting object."""
        x, y = self.at or (0, 0)
        left = _first(x, width, max(map(len, self.rows), default=0))
        top = _first(y, height, len(self.rows))
        return tuple(row[left : left + width] for row in self.rows[top : top + height])


def _first(middle: int, shown: int, there: int) -> int:
    """The first index of a window around ``middle`` that does not extend beyond the end."""
    return max(0, min(middle - shown // 2, there - shown))


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
        """Every slot that may be known: those of the present state, then those that are gone."""
        session = self.session
        earlier = session.moments[-2].state if len(session.moments) > 1 else session.state
        old, new = slots_of(session.known.json(earlier)), slots_of(self._now)
        rules = self._rules()
        return tuple(
            SlotRow(slot, old.get(slot), new.get(slot), changed, rules.get(slot, ()))
            for slot in dict.fromkeys((*new, *old))
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

    # ---- containment ----------------------------------------------------------------------------

    @cached_property
    def tree(self) -> tuple[Place, ...]:
        """The objects that lie in nothing, each with what is in it. Cells of a map with nothing in
        them are left out.

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
        rows, at = [], None
        for y, row in enumerate(layout.rows):
            shown = ""
            for x in range(len(row)):
                name = cell_name(layout.of, x, y)
                if name in standing:
                    at = (x, y) if self.session.actor in standing[name] else at
                    sign = self._sign(standing[name][0])
                    signs.setdefault(sign, "")
                    signs[sign] = ", ".join(filter(None, (signs[sign], *standing[name])))
                else:
                    look = self._look(self._objects.get(name))
                    sign = self._ground(look, grounds)
                shown += sign
            rows.append(shown)
        return Map(layout.of, tuple(rows), tuple(sorted(signs.items())), at)

    def _standing(self, layout: Layout) -> dict[str, list[str]]:
        """The objects on each cell, the acting one first."""
        found: dict[str, list[str]] = {}
        actor, cells = self.session.actor, {one.of for one in self.session.world.world.layouts}
        for name, one in sorted(self._objects.items(), key=lambda pair: pair[0] != actor):
            if one["type"] not in cells:
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
        start = self.session.known.json(self.session.moments[0].state)
        cells = {str(one["name"]): one for one in cast("Sequence[_Object]", start["objects"])}
        makers = {one.symbol for one in layout.legends if _creates(one.body)}
        found: dict[tuple[str, ...], str] = {}
        for y, row in enumerate(layout.rows):
            for x, symbol in enumerate(row):
                look = self._look(cells.get(cell_name(layout.of, x, y)))
                if symbol not in makers:
                    found.setdefault(look, symbol)
        return found

    def grounds(self, of: str) -> dict[str, str]:
        """The kinds of cells of a layout in words, by the sign that the map shows for each."""
        layout = next(one for one in self.session.world.world.layouts if one.of == of)
        told = {look: _in_words(look) or of for look in map(self._look, self._cells(of))}
        signs = self._grounds(layout)
        return {self._ground(look, signs): words for look, words in told.items()}

    def _cells(self, of: str) -> Iterator[_Object]:
        return (one for one in self._objects.values() if one["type"] == of)

    @staticmethod
    def _ground(look: tuple[str, ...], signs: Mapping[tuple[str, ...], str]) -> str:
        """The sign of a kind of cell; of one that the start did not have, its last value's."""
        return signs.get(look, look[-1].partition("=")[2][:1] if look else "?")

    def _look(self, cell: _Object | None) -> tuple[str, ...]:
        """Return what tells cells apart: the attributes that legends set."""
        if cell is None:
            return ()
        attributes = cast("Mapping[str, Json]", cell["attrs"])
        return tuple(f"{name}={attributes[name]}" for name in self._drawn if name in attributes)

    @cached_property
    def _drawn(self) -> tuple[str, ...]:
        """The attributes that legends set, by their names."""
        legends = (one for layout in self.session.world.world.layouts for one in layout.legends)
        changes = (change for one in legends for change in effects_in(one.body))
        written = (one.target.fluent for one in changes if isinstance(one, Assign))
        fluents = self.session.world.program.fluents
        return tuple(dict.fromkeys(fluents[key].name for key in written))


def _in_words(look: tuple[str, ...]) -> str:
    """``grass``, or ``material grass, light``: the attributes of a cell that are not false."""
    pairs = [one.partition("=")[::2] for one in look]
    if len(pairs) == 1 and pairs[0][1] not in ("True", "False", "None"):
        return pairs[0][1].replace("_", " ")
    told = (
        name if value == "True" else f"{name} {value}"
        for name, value in pairs
        if value not in ("False", "None")
    )
    return ", ".join(told).replace("_", " ")


def _creates(body: Body) -> bool:
    return any(isinstance(one, Create) for one in effects_in(body))
