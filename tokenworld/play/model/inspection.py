"""The present state of a session as a player looks at it: slots, containment, maps.

Secret slots are left out, as everywhere in play.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import groupby
from typing import cast

from tokenworld.engine import Knowledge, State
from tokenworld.ground import Json
from tokenworld.model import Assign, Body, Create, Layout, ObjectType, effects_in
from tokenworld.model.worlds import cell_name
from tokenworld.session.moments import slot_text, slots_of
from tokenworld.session.session import Session
from tokenworld.verbs.output import Line, Piece, Role

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
    """An object with its contents."""

    name: str
    kind: str
    inside: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Map:
    """The present state of a layout: its rows, its signs, the place of the acting object."""

    of: str
    rows: tuple[str, ...]
    signs: tuple[tuple[str, str], ...]
    at: tuple[int, int] | None = None


def _first(middle: int, shown: int, there: int) -> int:
    """The first index of a window around ``middle`` that does not extend beyond the end."""
    return max(0, min(middle - shown // 2, there - shown))


@dataclass(frozen=True)
class Inspection:
    """The present state of a session, computed on demand."""

    session: Session

    @cached_property
    def state(self) -> Mapping[str, Json]:
        """The present state as ``tw-state/1``, without secrets that are hidden."""
        return _shown(self.session.known, self.session.state)

    @cached_property
    def objects(self) -> Mapping[str, _Object]:
        """The objects of the state by their names."""
        return {str(one["name"]): one for one in cast("Sequence[_Object]", self.state["objects"])}

    # ---- slots --------------------------------------------------------------------------------

    @cached_property
    def rows(self) -> tuple[SlotRow, ...]:
        """Return every public slot: those of the present state, then removed ones."""
        session = self.session
        earlier = session.moments[-2].state if len(session.moments) > 1 else session.state
        old, new = slots_of(session.known.json(earlier)), slots_of(self.state)
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
        """Return the objects that are in no other object, each with its contents. Empty cells of a
        map are left out.

        If the world has no nesting, an object is put where its first reference points.
        """
        inside: dict[str, list[str]] = {name: [] for name in self.objects}
        roots: list[str] = []
        for name in self.objects:
            holder = self._holder(name)
            (roots if holder is None else inside[holder]).append(name)
        cells = {one.of for one in self.session.world.world.layouts}
        placed = (self._place(one, inside) for one in roots)
        return tuple(one for one in placed if one.inside or one.kind not in cells)

    def _place(self, name: str, inside: Mapping[str, Sequence[str]]) -> Place:
        kind = str(self.objects[name]["type"])
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
        program, found = self.session.world.program, self.objects[name]
        attributes = cast("Mapping[str, Json]", found["attrs"])
        for key in program.types[str(found["type"])].attributes:
            fluent = program.fluents[key]
            value = attributes.get(fluent.name)
            if isinstance(fluent.type, ObjectType) and value is not None:
                yield fluent.nested, str(value)

    # ---- maps -----------------------------------------------------------------------------------

    @cached_property
    def maps(self) -> tuple[Map, ...]:
        """Return the layouts of the world with the objects that are on them now."""
        return tuple(self._map(one) for one in self.session.world.world.layouts)

    def windows(
        self, width: int, height: int, seen: Container[str] | None = None
    ) -> tuple[Map, ...]:
        """Return windows of the layouts around the acting object, with the ``seen`` objects
        (default: all)."""
        return tuple(
            self._map(one, (width, height), seen) for one in self.session.world.world.layouts
        )

    def _map(
        self,
        layout: Layout,
        size: tuple[int, int] | None = None,
        seen: Container[str] | None = None,
    ) -> Map:
        standing = self._standing(seen)
        at = self._at(layout, standing)
        columns, lines = window(layout.rows, at, size)
        grounds, signs, rows = _grounds(self, layout.of), dict[str, str](), []
        for y in lines:
            shown = ""
            for x in columns[: max(0, len(layout.rows[y]) - columns.start)]:
                name = cell_name(layout.of, x, y)
                if name in standing:
                    sign = self._sign(standing[name][0])
                    signs[sign] = ", ".join(filter(None, (signs.get(sign, ""), *standing[name])))
                else:
                    sign = self._ground(self.look(self.objects.get(name)), grounds)
                shown += sign
            rows.append(shown)
        return Map(layout.of, tuple(rows), tuple(sorted(signs.items())), at)

    def _at(self, layout: Layout, standing: Mapping[str, Sequence[str]]) -> tuple[int, int] | None:
        """The column and the row of the acting object on a layout."""
        cell = next((one for one, names in standing.items() if self.session.actor in names), None)
        places = (
            (x, y)
            for y, row in enumerate(layout.rows)
            for x in range(len(row))
            if cell_name(layout.of, x, y) == cell
        )
        return None if cell is None else next(places, None)

    def _standing(self, seen: Container[str] | None) -> dict[str, list[str]]:
        """The objects on each cell, the acting one first."""
        found: dict[str, list[str]] = {}
        actor, cells = self.session.actor, {one.of for one in self.session.world.world.layouts}
        for name, one in sorted(self.objects.items(), key=lambda pair: pair[0] != actor):
            if one["type"] not in cells and (seen is None or name in seen):
                for _, value in self._references(name):
                    found.setdefault(value, []).append(name)
                    break
        return found

    def _sign(self, name: str) -> str:
        return "@" if name == self.session.actor else name[0].upper()

    def grounds(self, of: str) -> dict[str, str]:
        """The kinds of cells of a layout in words, by the sign that the map shows for each."""
        told = {look: _in_words(look) or of for look in map(self.look, self._cells(of))}
        signs = _grounds(self, of)
        return {self._ground(look, signs): words for look, words in told.items()}

    def _cells(self, of: str) -> Iterator[_Object]:
        return (one for one in self.objects.values() if one["type"] == of)

    @staticmethod
    def _ground(look: tuple[str, ...], signs: Mapping[tuple[str, ...], str]) -> str:
        """The sign of a kind of cell; of one that the start did not have, its last value's."""
        return signs.get(look, look[-1].partition("=")[2][:1] if look else "?")

    def look(self, cell: _Object | None) -> tuple[str, ...]:
        """Return the attributes of cells that legends set."""
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


@lru_cache(maxsize=4)
def _shown(known: Knowledge, state: State) -> Mapping[str, Json]:
    """Return the JSON of a state; cached, because several panes show one state."""
    return known.json(state)


@lru_cache(maxsize=4)
def _first_grounds(session: Session, start: State, of: str) -> Mapping[tuple[str, ...], str]:
    """The sign of each kind of cell, as the layout draws it at the start.

    A sign that also makes an object tells of the object, unless no other draws such a cell.
    """
    inspection = Inspection(session)
    layout = next(one for one in session.world.world.layouts if one.of == of)
    listed = cast("Sequence[_Object]", _shown(session.known, start)["objects"])
    cells = {str(one["name"]): one for one in listed}
    makers = {one.symbol for one in layout.legends if _creates(one.body)}
    found: dict[tuple[str, ...], str] = {}
    for y, row in enumerate(layout.rows):
        for x, symbol in enumerate(row):
            if symbol not in makers:
                found.setdefault(inspection.look(cells.get(cell_name(of, x, y))), symbol)
    return found


def _grounds(inspection: Inspection, of: str) -> Mapping[tuple[str, ...], str]:
    session = inspection.session
    return _first_grounds(session, session.moments[0].state, of)


def window(
    rows: Sequence[str], at: tuple[int, int] | None, size: tuple[int, int] | None
) -> tuple[range, range]:
    """The columns and rows of a window around a place; all of them without a size."""
    widest, (x, y) = max(map(len, rows), default=0), at or (0, 0)
    width, height = size or (widest, len(rows))
    left, top = _first(x, width, widest), _first(y, height, len(rows))
    return range(left, min(left + width, widest)), range(top, min(top + height, len(rows)))


def map_lines(inspection: Inspection, maps: Sequence[Map]) -> Iterator[Line]:
    """Yield maps row by row, with the acting object and other objects in colour; below each the
    legend of objects and kinds of ground."""
    for one in maps:
        signs = dict(one.signs)
        for row in one.rows:
            pieces = groupby(row, partial(_role, signs))
            yield tuple(("".join(found), role) for role, found in pieces)
        seen, words = set("".join(one.rows)), {**inspection.grounds(one.of), **signs}
        told = {sign: word for sign, word in words.items() if sign in seen and sign.strip()}
        yield tuple(_entries(told, signs))


def _role(signs: Mapping[str, str], sign: str) -> Role:
    return "plain" if sign not in signs else "typed" if sign == "@" else "good"


def _entries(told: Mapping[str, str], signs: Mapping[str, str]) -> Iterator[Piece]:
    for sign, words in told.items():
        yield sign, _role(signs, sign)
        yield f" {words.replace('_', ' ')}  ", "dim"


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
