"""The title row, the world pane and the inventory: what the actor sees, knows and carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from tokenworld.ground import Json
from tokenworld.model import Fluent, NumberType, ObjectType, ValueType
from tokenworld.session import Session
from tokenworld.verbs.output import Glyphs, Line, Piece, line

__all__ = ["View", "title_text"]


_CELLS = 10


def title_text(session: Session, glyphs: Glyphs) -> str:
    """``The Cellar · tick 3 · score 0 · playing``; where several act, ``Mira's turn``."""
    parts = [
        session.world.world.title,
        f"tick {session.tick}",
        f"score {session.engine.score(session.state)}",
        _standing(session, glyphs),
    ]
    if session.moments[-1].scratch:
        parts.insert(1, f"{glyphs.changed} SCRATCH, not recorded")
    return f" {glyphs.dot} ".join(parts)


def _standing(session: Session, glyphs: Glyphs) -> str:
    names = ", ".join(session.latched)
    if session.lost():
        return f"{glyphs.lost} lost: {names}"
    if session.won():
        return f"{glyphs.won} won: {names}"
    if names:
        return f"{glyphs.halted} ended: {names}"
    running = session.simulator().running(session.state)
    if running is None:
        return _turn(session)
    command, done, total = running
    told = f"{glyphs.waiting} {session.text_of(command)}"
    return f"{told} {_bar(done, total, glyphs)} {done} of {total}"


def _turn(session: Session) -> str:
    """Whose turn it is, where several act."""
    state = session.state
    if len(state.actors) < 2 or state.acting is None:
        return "playing"
    return f"{session.known.name(state, state.acting)}'s turn"


def _bar(done: int, total: int, glyphs: Glyphs) -> str:
    """How far a long action is, in at most so many cells."""
    cells = min(total, _CELLS)
    full = done * cells // total
    return glyphs.done * full + glyphs.left * (cells - full)


_MOST = 250
"""So many objects are told one by one, the nearest first; the state inspector has them all."""


@dataclass(frozen=True)
class View:
    """The present state of a session in words. Secret fluents stay secret.

    Only objects in scope are told: those whose names the actor may use.
    """

    session: Session

    @cached_property
    def _objects(self) -> Mapping[str, Mapping[str, Json]]:
        listed = cast("Sequence[Mapping[str, Json]]", self._state["objects"])
        return {str(one["name"]): one for one in listed}

    @cached_property
    def _state(self) -> Mapping[str, Json]:
        return self.session.state_json()

    @cached_property
    def _known(self) -> Mapping[str, None]:
        """The names in scope, in the order of the objects."""
        speaker, numbers = self.session.speaker(), self.session.state.numbers
        return {name: None for name in self._objects if speaker.in_scope(numbers[name])}

    # ---- the place ------------------------------------------------------------------------

    @cached_property
    def place(self) -> str | None:
        """The object that the actor is at: its nested attribute, else its first reference."""
        actor = self.session.actor
        if actor is None or actor not in self._objects:
            return None
        references = [
            (fluent.nested, value)
            for fluent, value in self._attributes(actor)
            if isinstance(fluent.type, ObjectType) and value is not None
        ]
        references.sort(key=lambda one: not one[0])
        return str(references[0][1]) if references else None

    @property
    def title(self) -> str:
        """The name of the place, else that of the world."""
        return self.session.world.world.title if self.place is None else self._name(self.place)

    @property
    def lines(self) -> tuple[Line, ...]:
        """What `describe` says of the place, then every known fact by type."""
        told = tuple(line(one) for one in self._description())
        known = (*self._by_type(), *self._tables())
        return (*told, line(""), *known) if told and known else (*told, *known)

    def _description(self) -> list[str]:
        if self.place is None:
            return []
        number = self.session.state.numbers[self.place]
        return self.session.engine.describe(self.session.state, number).splitlines()

    # ---- facts ----------------------------------------------------------------------------

    def _by_type(self) -> Iterator[Line]:
        groups: dict[str, list[str]] = {}
        nearest = sorted(self._known, key=self._distance)
        for name in nearest[:_MOST]:
            groups.setdefault(str(self._objects[name]["type"]), []).append(name)
        for kind, names in groups.items():
            yield from self._group(kind, names)
        if len(nearest) > _MOST:
            yield line(f"and {len(nearest) - _MOST:,} more: Ctrl+O shows them all", "dim")

    @cached_property
    def _near(self) -> frozenset[str]:
        """The actor and its place."""
        return frozenset(one for one in (self.session.actor, self.place) if one is not None)

    def _distance(self, name: str) -> int:
        """The actor first, then what is with it, then the rest."""
        near = self._near
        if name in near:
            return int(name != self.session.actor)
        attributes = cast("Mapping[str, Json]", self._objects[name]["attrs"])
        if not any(isinstance(value, str) and value in near for value in attributes.values()):
            return 2  # no value is even spelt like one of them
        together = any(
            isinstance(fluent.type, ObjectType) and value in near
            for fluent, value in self._attributes(name)
        )
        return 1 if together else 2

    def _group(self, kind: str, names: list[str]) -> Iterator[Line]:
        """Objects of one type: bare ones in one line, the others in a line each."""
        told = {name: ", ".join(self._told(name)) for name in names}
        bare = [self._name(name) for name in names if not told[name]]
        if bare:
            yield ((", ".join(bare), "plain"), (f" ({kind})", "dim"))
        for name in names:
            if told[name]:
                kind_piece: Piece = (f" ({kind})", "dim")
                yield ((self._name(name), "plain"), kind_piece, (f": {told[name]}", "plain"))

    def _told(self, name: str) -> Iterator[str]:
        for fluent, value in self._attributes(name):
            if fluent.secret or value is None:
                continue
            word = fluent.name.replace("_", " ")
            if isinstance(value, bool):
                yield word if value else f"not {word}"
            else:
                yield f"{word} {self._value(fluent.type, value)}"

    def _attributes(self, name: str) -> Iterator[tuple[Fluent, Json]]:
        found = self._objects[name]
        kind, attributes = str(found["type"]), cast("Mapping[str, Json]", found["attrs"])
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

    def _tables(self) -> Iterator[Line]:
        """Functions and relations, as far as their objects are known."""
        relations = cast("Mapping[str, Sequence[Sequence[Json]]]", self._state["relations"])
        functions = cast("Mapping[str, Sequence[tuple[Sequence[Json], Json]]]",
                         self._state["functions"])  # fmt: skip
        for name, tuples in relations.items():
            rows = [self._arguments(one) for one in tuples if self._tellable(name, one)]
            if rows:
                yield ((f"{name}: ", "plain"), ("; ".join(filter(None, rows)) or "yes", "plain"))
        for name, valued in functions.items():
            kind = self._shared[name].type
            shown = [
                f"{self._arguments(args)} {self._value(kind, value)}".strip()
                for args, value in valued
                if self._tellable(name, args)
            ]
            if shown:
                yield ((f"{name.replace('_', ' ')}: ", "plain"), ("; ".join(shown), "plain"))

    def _tellable(self, fluent: str, args: Sequence[Json]) -> bool:
        if self._shared[fluent].secret:
            return False
        return all(arg in self._known for arg in args if arg in self._objects)

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
            case NumberType(unit=unit):
                return f"{value}{unit}"
            case _:
                return str(value).replace("_", " ")

    # ---- what is carried --------------------------------------------------------------------

    @property
    def carried(self) -> tuple[str, ...] | None:
        """The actor's contents; ``None`` if nobody acts.

        Where the world nests nothing: the objects with an attribute that refers to the actor.
        """
        actor = self.session.actor
        if actor is None or actor not in self._objects:
            return None
        nests = any(fluent.nested for fluent in self.session.world.program.fluents.values())
        contents = cast("Sequence[str]", self._objects[actor]["contents"])
        return tuple(self._name(one) for one in (contents if nests else self._referring(actor)))

    def _referring(self, actor: str) -> Iterator[str]:
        for name in self._objects:
            for fluent, value in self._attributes(name):
                if isinstance(fluent.type, ObjectType) and value == actor and name != actor:
                    yield name
                    break
