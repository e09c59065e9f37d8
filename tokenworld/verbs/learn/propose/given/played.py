"""Rows with the predictions of the given rules: the rest of the differences is to be learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tokenworld.diagnostics import Failure
from tokenworld.engine import State
from tokenworld.ground import FRUITLESS, PASS, Command
from tokenworld.session.loading import OpenWorld, by_other_rules
from tokenworld.session.replaying import Row
from tokenworld.verbs.learn.propose.worldrows import accepted, states_of
from tokenworld.verbs.records.rows import BadRow
from tokenworld.verbs.records.transitions import Transition, fitting

_MOST: Final = 200
"""The greatest number of outcomes among which that is looked for which is nearest to a row."""
Shape = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Played:
    """A row, and the states after its command and after its tick by the given rules: the possible
    states nearest to the observed ones. ``command`` is ``None`` if the rules have no such command;
    ``refused``: they refuse it."""

    row: Row
    command: Command | None
    acted: Shape
    ticked: Shape
    refused: bool = False


@dataclass
class Read:
    """The rows of a given world."""

    rows: list[Played] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)

    @property
    def refused(self) -> list[str]:
        """Return the places of accepted commands that the rules refuse."""
        return [one.row.place for one in self.rows if one.refused and accepted(one.row)]


def played(world: OpenWorld, rows: Iterable[Row | BadRow]) -> Read:
    """Play rows by the rules of their world. A row that does not fit the world is a bad one."""
    found, listed = Read(), list(rows)
    player = _Player(world)
    for row, one in zip(listed, fitting(world, listed), strict=True):
        try:
            if isinstance(one, BadRow) or isinstance(row, BadRow):
                found.bad.append(one if isinstance(one, BadRow) else row)  # type: ignore[arg-type]
            else:
                found.rows.append(player.played(row, one))
        except Failure as failure:
            found.bad.append(BadRow(row.place, failure.diagnostics[0].message.rstrip(".")))
    return found


class _Player:
    """Plays rows. The ``bare`` world has no laws: there a tick is the command alone."""

    def __init__(self, world: OpenWorld) -> None:
        added = {name: law for name, law in world.program.laws.items() if law.added}
        self._world = world
        self._bare = by_other_rules(world, replace(world.program, laws=added))

    def played(self, row: Row, one: Transition) -> Played:
        """Play a row by the given rules."""
        engine = self._world.engine
        before, told, _ = states_of(row)
        acted = engine.restored({"seed": 0, **told}, source=f"{row.place}: action")
        command = one.intent if isinstance(one.intent, Command) else None
        refused = command is not None and engine.halves(one.state, command).done.status in FRUITLESS
        if not accepted(row):  # it changes nothing; time may pass
            after = engine.json(one.seen)
            still = not differences(engine.json(acted), after)
            ticked = after if still else self._ticked(acted, PASS, one.seen)
            return Played(row, command, told, ticked, refused)
        if command is None:
            return Played(row, None, before, self._ticked(acted, PASS, one.seen))
        near = told if refused else self._near(self._bare, one.state, command, engine.json(acted))
        same = not refused and not differences(near, engine.json(acted))
        state, given = (one.state, command) if same else (acted, PASS)
        return Played(row, command, near, self._ticked(state, given, one.seen), refused)

    def _ticked(self, state: State, command: Command, seen: State) -> Shape:
        engine = self._world.engine
        if engine.over(state):
            return engine.json(seen)
        return self._near(self._world, state, command, engine.json(seen))

    def _near(self, world: OpenWorld, state: State, command: Command, seen: Shape) -> Shape:
        """Return the possible outcome that is nearest to an observed state."""
        if world is not self._world:
            state = world.engine.restored(self._world.engine.json(state))
        found = world.engine.distribution(state, command, _MOST).successors
        shapes = (world.engine.json(one.state) for one in found)
        return min(shapes, key=lambda one: sum(1 for _ in differences_of(one, seen)))


# ---- differences --------------------------------------------------------------------------------


def differences(one: Shape, other: Shape) -> list[tuple[str, Any, Any]]:
    """Return the slots in which two states differ, with both values."""
    return list(differences_of(one, other))


def differences_of(one: Shape, other: Shape) -> Iterator[tuple[str, Any, Any]]:
    """Yield the slots in which two states (``tw-state/1``) differ: `cup.full`, old, new."""
    mine, yours = _slots(one), _slots(other)
    for key in dict.fromkeys((*mine, *yours)):
        if mine.get(key) != yours.get(key):
            yield key, mine.get(key), yours.get(key)


def _slots(shape: Shape) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in shape.get("objects", ()):
        found[one["name"]] = one["type"]
        found.update((f"{one['name']}.{key}", value) for key, value in one["attrs"].items())
    for name, rows in shape.get("functions", {}).items():
        found.update((f"{name}({', '.join(map(str, args))})", value) for args, value in rows)
    for name, rows in shape.get("relations", {}).items():
        found.update((f"{name}({', '.join(map(str, args))})", True) for args in rows)
    return found
