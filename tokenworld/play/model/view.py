"""The player's view of the present state: the title row, the place and the things in it, the map,
and the things that the actor carries. The operator's view has every object.

Which objects are shown follows the `scope` of their type, or `sees`. Types without one have a
default by place: an object is shown if it is in the place of the actor, or nowhere in particular.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from tokenworld.engine import EngineSpeaker
from tokenworld.ground import Json
from tokenworld.model import Fluent, NumberType, ObjectType, ValueType
from tokenworld.play.model.inspection import Inspection, Map, map_lines, window
from tokenworld.session import Session
from tokenworld.verbs.output import Glyphs, Line, Piece, line

_CELLS = 10


def title_line(session: Session, glyphs: Glyphs) -> Line:
    """``The Cellar · tick 3 · score 0 · playing``; where several act, whose turn it is."""
    parts = [
        session.world.world.title,
        f"tick {session.tick}",
        f"score {session.engine.score(session.state)}",
    ]
    if session.moments[-1].scratch:
        parts.insert(1, f"{glyphs.changed} SCRATCH, not recorded")
    dot = f" {glyphs.dot} "
    return ((dot.join(parts) + dot, "plain"), _standing(session, glyphs))


def title_text(session: Session, glyphs: Glyphs) -> str:
    """The same without roles."""
    return "".join(text for text, _ in title_line(session, glyphs))


def _standing(session: Session, glyphs: Glyphs) -> Piece:
    names = ", ".join(session.latched)
    if session.lost():
        return f"{glyphs.lost} lost: {names}", "plain"
    if session.won():
        return f"{glyphs.won} won: {names}", "plain"
    if names:
        return f"{glyphs.halted} ended: {names}", "plain"
    running = session.engine.running(session.state)
    if running is None:
        actor = acting(session)
        return ("playing", "plain") if actor is None else (f"{actor}'s turn", "link")
    told = f"{glyphs.waiting} {session.text_of(running.command)}"
    bar = _bar(running.done, running.total, glyphs)
    return f"{told} {bar} {running.done} of {running.total}", "plain"


def acting(session: Session) -> str | None:
    """The name of who acts now, where several act."""
    state = session.state
    if len(state.actors) < 2 or state.acting is None:
        return None
    return session.known.name(state, state.acting)


def _bar(done: int, total: int, glyphs: Glyphs) -> str:
    """Draw how far a long action is, in at most so many cells."""
    cells = min(total, _CELLS)
    full = done * cells // total
    return glyphs.done * full + glyphs.left * (cells - full)


_MOST = 250
"""The largest number of objects in the view, the nearest first; the state inspector has all."""
_PLANE = ("x", "y")
"""The attributes of a cell that say where on its map it is."""


@dataclass(frozen=True)
class View:
    """The present state of a session in words. Secret fluents stay secret.

    With ``whole`` it has every object that the actor may name, not only those in sight.
    ``window``: the columns and rows of a map that are shown.
    """

    session: Session
    whole: bool = False
    window: tuple[int, int] = (61, 31)

    @cached_property
    def _inspection(self) -> Inspection:
        return Inspection(self.session)

    @property
    def _objects(self) -> Mapping[str, Mapping[str, Json]]:
        return self._inspection.objects

    @property
    def _state(self) -> Mapping[str, Json]:
        return self._inspection.state

    # ---- the place ------------------------------------------------------------------------

    @cached_property
    def _where(self) -> tuple[Fluent, str] | None:
        """The attribute that says where the actor is, and the place: nested attributes come first,
        then references to cells of a map, then any other reference."""
        actor = self.session.actor
        if actor is None or actor not in self._objects:
            return None
        references = [
            (fluent, str(value))
            for fluent, value in self._attributes(actor)
            if isinstance(fluent.type, ObjectType) and value is not None
        ]
        references.sort(key=lambda one: (not one[0].nested, not self._is_cell(one[1])))
        return references[0] if references else None

    @property
    def place(self) -> str | None:
        """The object that the actor is at."""
        return None if self._where is None else self._where[1]

    @property
    def title(self) -> str:
        """The name of the place, else that of the world."""
        place = self.place
        if place is None or self._is_cell(place):
            return self.session.world.world.title
        return self._name(place)

    def _is_cell(self, name: str) -> bool:
        return self._kind(name) in self._cells

    @cached_property
    def _cells(self) -> frozenset[str]:
        return frozenset(one.of for one in self.session.world.world.layouts)

    # ---- objects in sight -------------------------------------------------------------------

    @cached_property
    def shown(self) -> Mapping[str, None]:
        """Return the names of the shown objects, in the order of the objects. Of the cells of a map
        only the actor's own is shown."""
        listed = (one for one in self._objects if one == self.place or not self._is_cell(one))
        return {name: None for name in listed if self._is_shown(name)}

    def _is_shown(self, name: str) -> bool:
        if name == self.session.actor or name == self.place:
            return True
        if self.whole or self._is_scoped(self._kind(name)):
            return self._speaker.in_scope(self.session.state.numbers[name])
        return self._is_near(name)

    @cached_property
    def _speaker(self) -> EngineSpeaker:
        return self.session.speaker()

    def _is_scoped(self, kind: str) -> bool:
        """Return whether the world says which objects of a type may be named."""
        return any(self.session.world.program.is_subtype(kind, one) for one in self._ruled)

    @cached_property
    def _ruled(self) -> tuple[str, ...]:
        """The types with a `scope`, and that of a derive ``sees(me, x)``."""
        program = self.session.world.program
        sees = program.derives.get("sees")
        found = [one.param.type for one in program.scopes]
        if sees is not None and len(sees.params) == 2:
            found.append(sees.params[1].type)
        return tuple(one.name for one in found if isinstance(one, ObjectType))

    @cached_property
    def _nearness(self) -> dict[str, bool]:
        """Return a cache of whether objects are near, with the place and the actor as true."""
        return {one: True for one in (self.session.actor, self.place) if one is not None}

    def _is_near(self, name: str) -> bool:
        """Return whether an object is in the place of the actor, or nowhere in particular.

        It is where its nested attributes say; else where its references to places lead; else where
        the other objects are that it refers to. The cells of the actor's map are all near.
        """
        known = self._nearness
        if name not in known:
            known[name] = False  # a circle of references leads nowhere
            known[name] = self._is_around(name) if self._is_cell(name) else self._leads_near(name)
        return known[name]

    def _is_around(self, cell: str) -> bool:
        """Return whether a cell is on the map that the actor is on."""
        return self.place is None or self._kind(cell) == self._kind(self.place)

    def _kind(self, name: str) -> str:
        return str(self._objects[name]["type"])

    def _leads_near(self, name: str) -> bool:
        if self._where is None:
            return True
        references = [
            (fluent, str(value))
            for fluent, value in self._attributes(name)
            if isinstance(fluent.type, ObjectType) and value is not None
        ]
        nested = [value for fluent, value in references if fluent.nested]
        placed = [value for _, value in references if self._is_place(value)]
        leads = nested or placed or [value for _, value in references]
        if leads:
            return any(map(self._is_near, leads))
        return self._kind(name) not in self._placeable and not self._is_place(name)

    def _is_place(self, name: str) -> bool:
        """Return whether an object is of the type of places."""
        assert self._where is not None
        of, program = self._where[0].type, self.session.world.program
        return isinstance(of, ObjectType) and program.is_subtype(self._kind(name), of.name)

    @cached_property
    def _placeable(self) -> frozenset[str]:
        """The types whose attributes refer to places, or to objects that have such attributes."""
        assert self._where is not None
        program, of = self.session.world.program, self._where[0].type
        assert isinstance(of, ObjectType)
        found, before = {one for one in program.types if program.is_subtype(one, of.name)}, 0
        while before != len(found):
            before = len(found)
            found |= {kind for kind in program.types if self._refers(kind) & found}
        return frozenset(found)

    def _refers(self, kind: str) -> set[str]:
        """The types that the attributes of a type refer to."""
        program = self.session.world.program
        types = (program.fluents[one].type for one in program.types[kind].attributes)
        return {one.name for one in types if isinstance(one, ObjectType)}

    # ---- lines ------------------------------------------------------------------------------

    @property
    def lines(self) -> tuple[Line, ...]:
        """Return the `describe` lines of the place, then the actor, the things here, the ways out,
        and functions and relations of several objects."""
        told = tuple(line(one) for one in self._description())
        known = (*self._by_type(), *self._ways(), *self._beyond(), *self._tables())
        return (*told, line(""), *known) if told and known else (*told, *known)

    def _description(self) -> list[str]:
        if self.place is None:
            return []
        number = self.session.state.numbers[self.place]
        return self.session.engine.describe(self.session.state, number).splitlines()

    def _by_type(self) -> Iterator[Line]:
        """The objects shown, without ways out and belongings, the nearest first."""
        if self.session.actor in self.shown:
            yield from self._actor()
        yield from self._groups(sorted(self._things, key=self._distance))

    def _groups(self, names: Sequence[str]) -> Iterator[Line]:
        """So many objects at most, by their types."""
        groups: dict[str, list[str]] = {}
        for name in names[:_MOST]:
            groups.setdefault(self._kind(name), []).append(name)
        for kind, members in groups.items():
            yield from self._group(kind, members)
        if len(names) > _MOST:
            yield line(f"and {len(names) - _MOST:,} more: Ctrl+O shows them all", "dim")

    @property
    def _things(self) -> Iterator[str]:
        """Yield the objects listed among the things of the place."""
        shown = (one for one in self.shown if one not in self._apart)
        return (one for one in shown if self._is_in_window(one) and one not in self._placeless)

    @cached_property
    def _placeless(self) -> Mapping[str, None]:
        """Return the shown objects that can be in no place, such as a faction."""
        if self.whole or self._where is None:
            return {}
        known, shown = self._placeable, (one for one in self.shown if one not in self._apart)
        things = (one for one in shown if not self._is_cell(one))
        return {one: None for one in things if self._kind(one) not in known}

    def _beyond(self) -> Iterator[Line]:
        """Yield the lines of objects that can be in no place; they come last."""
        if self._placeless:
            yield line("In no place:", "dim")
        yield from self._groups([*self._placeless])

    @cached_property
    def _apart(self) -> frozenset[str]:
        """The objects left out of the list of things: the actor, its belongings, ways out."""
        held = () if self.whole else (*self._held, *self._exits)
        return frozenset(one for one in (self.session.actor, *held) if one is not None)

    def _actor(self) -> Iterator[Line]:
        """Yield the line of the actor, in colour, with its values and its place."""
        name = str(self.session.actor)
        told = ", ".join(self._told(name))
        yield (
            (self._name(name), "typed"),
            (" (you)", "dim"),
            (f": {told}" if told else "", "plain"),
        )

    def _distance(self, name: str) -> tuple[int, int]:
        """Return the sort key of an object: the place, things with the actor, others by steps."""
        if name == self.place:
            return 0, 0
        near = {self.place, self.session.actor}
        attributes = [value for fluent, value in self._attributes(name)
                      if isinstance(fluent.type, ObjectType)]  # fmt: skip
        away = self._away(name)
        return 1 if near.intersection(map(str, attributes)) else 2, sum(map(abs, away or ()))

    def _group(self, kind: str, names: list[str]) -> Iterator[Line]:
        """Objects of one type: bare ones in one line, the others in a line each."""
        told = {name: ", ".join(self._told(name)) for name in names}
        bare = [self._name(name) for name in names if not told[name] and self._is_news(name)]
        kind_piece: Piece = (f" ({kind})", "dim")
        if bare:
            yield ((", ".join(bare), "plain"), kind_piece)
        for name in names:
            if told[name]:
                shown = "here" if self._is_cell(name) else self._name(name)
                yield ((shown, "plain"), kind_piece, (f": {told[name]}", "plain"))

    def _is_news(self, name: str) -> bool:
        """The place without values is no news: it is in the title."""
        return self.whole or name != self.place

    # ---- ways out -----------------------------------------------------------------------------

    @cached_property
    def _exits(self) -> Mapping[str, tuple[str, ...]]:
        """The things here that refer to other places too, such as doors, with those places."""
        if self.place is None or self._is_cell(self.place):
            return {}
        found = {}
        for name in self.shown:
            leads = [str(value) for fluent, value in self._attributes(name)
                     if isinstance(fluent.type, ObjectType) and value is not None
                     and not fluent.nested and self._is_place(str(value))]  # fmt: skip
            others = tuple(dict.fromkeys(one for one in leads if one != self.place))
            if others and (name == self.place or self.place in leads):
                found[name] = others
        return found

    def _ways(self) -> Iterator[Line]:
        for name, places in ({} if self.whole else self._exits).items():
            told = ", ".join(self._told(name, without=places))
            by = () if name == self.place else ((" by ", "dim"), (self._name(name), "plain"))
            where = ", ".join(map(self._name, places))
            values = f": {told}" if told and name != self.place else ""
            yield (("to ", "dim"), (where, "head"), *by, (values, "plain"))

    # ---- maps ---------------------------------------------------------------------------------

    @property
    def maps(self) -> tuple[Map, ...]:
        """Return the window of the map that the actor is on, else of each map, with the shown
        objects on it."""
        found = self._inspection.windows(*self.window, None if self.whole else self.shown)
        place = self.place
        if place is None or not self._is_cell(place):
            return found
        return tuple(one for one in found if one.of == self._kind(place))

    @property
    def map_lines(self) -> tuple[Line, ...]:
        """The maps as lines, with a legend."""
        return tuple(map_lines(self._inspection, self.maps))

    def _is_in_window(self, name: str) -> bool:
        """Return whether an object is on the shown part of the map, or on none."""
        cell = self._cell_of(name)
        if cell is None or self.place is None or not self._is_cell(self.place):
            return True
        kind, here, there = self._kind(cell), self._plane(self.place), self._plane(cell)
        layout = next(one for one in self.session.world.world.layouts if one.of == kind)
        columns, rows = window(layout.rows, here, self.window)
        return there is None or (there[0] in columns and there[1] in rows)

    def _cell_of(self, name: str) -> str | None:
        return next((str(value) for fluent, value in self._attributes(name)
                     if isinstance(fluent.type, ObjectType) and value is not None
                     and self._is_cell(str(value))), None)  # fmt: skip

    def _away(self, name: str) -> tuple[int, int] | None:
        """Return the offset of a thing from the actor: columns to the east, rows to the south."""
        cell, place = self._cell_of(name), self.place
        if cell is None or place is None or self._kind(cell) != self._kind(place):
            return None
        here, there = self._plane(place), self._plane(cell)
        if here is None or there is None:
            return None
        return there[0] - here[0], there[1] - here[1]

    def _plane(self, cell: str) -> tuple[int, int] | None:
        attributes = cast("Mapping[str, Json]", self._objects[cell]["attrs"])
        x, y = (attributes.get(one) for one in _PLANE)
        return (x, y) if isinstance(x, int) and isinstance(y, int) else None

    # ---- facts ----------------------------------------------------------------------------

    def _told(self, name: str, without: Sequence[str] = ()) -> Iterator[str]:
        """The values of an object in words: attributes, then functions of it alone."""
        here = (*without, self.place, self.session.actor) if not self.whole else ()
        for fluent, value in self._attributes(name):
            if fluent.secret or value is None or (value in here and not self._is_cell(str(value))):
                continue
            if isinstance(fluent.type, ObjectType):
                yield from self._reference(name, fluent, str(value))
            elif name == self.place and (value is False or fluent.name in _PLANE):
                continue
            else:
                yield self._fact(fluent, value)
        for fluent, value in self._functions.get(name, ()):
            yield self._fact(fluent, value)

    def _reference(self, name: str, fluent: Fluent, value: str) -> Iterator[str]:
        """Yield the object that an attribute refers to, if it is shown; on a map its distance."""
        if self._is_cell(value):
            away = None if name == self.session.actor else self._away(name)
            if away is not None and not self.whole:
                yield _steps(*away)
            elif self.whole:
                yield self._fact(fluent, value)
        elif value in self.shown or (self._where is not None and self._is_place(value)):
            yield self._fact(fluent, value)

    def _fact(self, fluent: Fluent, value: Json) -> str:
        word = fluent.name.replace("_", " ")
        if isinstance(value, bool):
            return word if value else f"not {word}"
        return f"{word} {self._value(fluent.type, value)}"

    def _attributes(self, name: str) -> Iterator[tuple[Fluent, Json]]:
        found = self._objects[name]
        kind, attributes = self._kind(name), cast("Mapping[str, Json]", found["attrs"])
        for attribute, value in attributes.items():
            key = (kind, attribute)
            if key not in self._fluents:
                self._fluents[key] = self._fluent(*key)
            fluent = self._fluents[key]
            if fluent is not None:
                yield fluent, value

    @cached_property
    def _fluents(self) -> dict[tuple[str, str], Fluent | None]:
        """Fluents by type and attribute, as far as they were looked up."""
        return {}

    def _fluent(self, kind: str, attribute: str) -> Fluent | None:
        program = self.session.world.program
        ids = (f"{one}.{attribute}" for one in (kind, *program.types[kind].ancestors))
        return next((program.fluents[one] for one in ids if one in program.fluents), None)

    @cached_property
    def _shared(self) -> dict[str, Fluent]:
        """Functions and relations by the name that the state gives them."""
        fluents = self.session.world.program.fluents.values()
        return {one.name: one for one in fluents if one.fluent_kind != "attribute"}

    def _valued(self) -> Iterator[tuple[Fluent, Sequence[Json], Json]]:
        """Yield every value of a public function; functions of the cells of a map are left out."""
        rows = cast("Mapping[str, Sequence[tuple[Sequence[Json], Json]]]", self._state["functions"])
        for name, valued in rows.items():
            fluent = self._shared[name]
            kinds = {one.type.name for one in fluent.params if isinstance(one.type, ObjectType)}
            if not fluent.secret and not self._over_cells(kinds):
                yield from ((fluent, args, value) for args, value in valued)

    def _over_cells(self, kinds: Iterable[str]) -> bool:
        program = self.session.world.program
        return any(program.is_subtype(cell, kind) for cell in self._cells for kind in kinds)

    @cached_property
    def _functions(self) -> Mapping[str, Sequence[tuple[Fluent, Json]]]:
        """The values of functions of one object, by that object."""
        found: dict[str, list[tuple[Fluent, Json]]] = {}
        for fluent, args, value in self._valued():
            if len(args) == 1 and args[0] in self._objects and value is not None:
                found.setdefault(str(args[0]), []).append((fluent, value))
        return found

    def _tables(self) -> Iterator[Line]:
        """Relations, and the functions of no object or of several, as far as these are shown."""
        relations = cast("Mapping[str, Sequence[Sequence[Json]]]", self._state["relations"])
        for name, tuples in relations.items():
            rows = [self._arguments(one) for one in tuples
                    if not self._shared[name].secret and not self._shared[name].monitor
                    and self._tellable(one)]  # fmt: skip
            if rows:
                yield ((f"{name}: ", "plain"), ("; ".join(filter(None, rows)) or "yes", "plain"))
        shown: dict[str, list[str]] = {}
        for fluent, args, value in self._valued():
            if (len(args) == 1 and args[0] in self._objects) or not self._tellable(args):
                continue
            if len(args) < 2 or value not in (0, None, False) or self.whole:
                told = f"{self._arguments(args)} {self._value(fluent.type, value)}".strip()
                shown.setdefault(fluent.name.replace("_", " "), []).append(told)
        yield from (((f"{name}: ", "plain"), ("; ".join(told), "plain"))
                    for name, told in shown.items())  # fmt: skip

    def _tellable(self, args: Sequence[Json]) -> bool:
        return all(arg in self.shown for arg in args if arg in self._objects)

    def _arguments(self, args: Sequence[Json]) -> str:
        return " ".join(self._name(str(arg)) for arg in args)

    # ---- words ----------------------------------------------------------------------------

    def _name(self, name: str) -> str:
        number = self.session.state.numbers.get(name)
        if number is None:
            return name.replace("_", " ")
        return self.session.known.name(self.session.state, number)

    def _value(self, kind: ValueType, value: Json) -> str:
        match kind:
            case ObjectType():
                return self._name(str(value))
            case NumberType(unit=unit) if value is not None:
                return f"{value}{unit}" if unit in ("", "%") else f"{value} {unit}"
            case _:
                return str(value).replace("_", " ")

    # ---- carried objects --------------------------------------------------------------------

    @property
    def carried(self) -> tuple[str, ...] | None:
        """The actor's contents, those with values in parentheses; ``None`` if nobody acts.

        Where the world nests nothing: the objects with an attribute that refers to the actor.
        """
        actor = self.session.actor
        if actor is None or actor not in self._objects:
            return None
        told = {one: ", ".join(self._told(one, without=(actor,))) for one in self._held}
        return tuple(f"{self._name(one)} ({text})" if text else self._name(one)
                     for one, text in told.items())  # fmt: skip

    @cached_property
    def _held(self) -> tuple[str, ...]:
        actor = self.session.actor
        if actor is None or actor not in self._objects:
            return ()
        nests = any(fluent.nested for fluent in self.session.world.program.fluents.values())
        contents = cast("Sequence[str]", self._objects[actor]["contents"])
        return tuple(contents if nests else self._referring(actor))

    def _referring(self, actor: str) -> Iterator[str]:
        for name in self._objects:
            for fluent, value in self._attributes(name):
                if isinstance(fluent.type, ObjectType) and value == actor and name != actor:
                    yield name
                    break


def _steps(east: int, south: int) -> str:
    """``2 east, 1 north``: a way on a map."""
    parts = [
        f"{abs(number)} {word}"
        for number, word in (
            (east, "east" if east > 0 else "west"),
            (south, "south" if south > 0 else "north"),
        )
        if number
    ]
    return ", ".join(parts) or "here"
