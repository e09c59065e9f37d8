"""The states of any world in the form of recorded rows, and back.

A world with a mapping beside it has the form of its records (`MappedForm`). Any other has a plain
form: each living object with its attributes, and with the functions and relations whose first
argument it is; everything else belongs to one more object, the world (`PlainForm`). A form shows
secrets too: a predictor needs them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from tokenworld.diagnostics import Failure, usage
from tokenworld.engine import Engine, State
from tokenworld.engine.clock import deciding_terms
from tokenworld.ground import Json
from tokenworld.model import BoolType, Fluent, ObjectType, calls
from tokenworld.session.loading import OpenWorld, split_target
from tokenworld.verbs.records.adapter import Adapter
from tokenworld.verbs.records.properties import MAPPING_FILE, Misread, mapping_beside
from tokenworld.verbs.records.rows import Recorded, Score

WORLD_NUMBER: Final = 999_999
"""The number of the object that represents the world itself."""
_WORLD = "World"


class Form(Protocol):
    """Writes and reads the states of one world."""

    game: str

    def write(self, state: State) -> Recorded: ...

    def score(self, state: State) -> Score: ...

    def task(self, state: State) -> str:
        """The task of the game, and the parts of the state that stand in no object."""

    def read(self, recorded: Recorded, score: Score, task: str) -> State:
        """The state that was written; `Failure` (TW0006) where the world has no place for it."""


def form_of(world: OpenWorld, target: str) -> Form:
    """The form of a world: that of the mapping beside it, where there is one."""
    path = split_target(target)[0]
    if (path.parent / MAPPING_FILE).exists():
        return MappedForm(Adapter(world.engine, mapping_beside(path)))
    return PlainForm(world.engine)


class MappedForm:
    """The form of a game's records."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter, self.game = adapter, adapter.mapping.game
        self.write, self.score = adapter.write, adapter.score

    def task(self, state: State) -> str:
        """The sentence that the mapping's pattern matches, else the goals of the world."""
        try:
            told = self.adapter.engine.asked(state, self.adapter.words.task)
            return told or _goals(self.adapter.engine)
        except Misread as misread:
            raise usage(f"The task of `{self.game}` cannot be told: {misread}.",
                        "Make the set from recorded rows: `--from ROWS`.") from None  # fmt: skip

    def read(self, recorded: Recorded, score: Score, task: str) -> State:
        return self.adapter.read(recorded, score, "the row", task)


class PlainForm:
    """The form of a world without a mapping."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.game = engine, engine.instance.world.name
        program = self.program = engine.instance.program
        nests = [one for one in engine.layout.columns if one.fluent.nested and one.has_children]
        self._nest = nests[0].fluent.name if len(nests) == 1 else None
        terms = deciding_terms(engine.instance)
        self._timed = calls(terms, "born", "tick")
        kept = {
            "long": any(one.may_be_long for one in program.actions.values()),
            "awarded": bool(engine.instance.world.awards),
        }
        self._kept = tuple(key for key, matters in kept.items() if matters)

    def score(self, state: State) -> Score:
        goals = {one.name for one in self.engine.instance.world.goals}
        won = not goals.isdisjoint(state.latched)
        return Score(self.engine.score(state), bool(state.latched), won)

    def task(self, state: State) -> str:
        """The goals, and the clock and whose turn it is where that matters."""
        told = [_goals(self.engine)]
        if self._timed:
            told.append(f"Tick {state.tick}.")
        if len(state.actors) > 1 and state.acting is not None:
            told.append(f"Turn {state.turn}: `{state.names[state.acting]}` acts.")
        return " ".join(told)

    # ---- writing ------------------------------------------------------------------------------

    def write(self, state: State) -> Recorded:
        """Every living object, then the world where something belongs to it alone."""
        shape: Any = self.engine.json(state)
        found = {one["name"]: self._object(one) for one in shape["objects"]}
        world = _named(WORLD_NUMBER, self.game, _WORLD)
        world["properties"] = {key: shape[key] for key in self._kept}
        for name in (*shape["functions"], *shape["relations"]):
            self._facts(name, shape, found, world)
        return Recorded([*found.values(), *([world] if world["properties"] else ())],
                        shape["next_id"])  # fmt: skip

    def _object(self, one: Mapping[str, Any]) -> dict[str, Any]:
        shown = _named(one["id"], one["name"], one["type"])
        shown["properties"] = {k: value for k, value in one["attrs"].items() if k != self._nest}
        for key, listed in one.get("orders", {}).items():
            shown["properties"][f"{_ORDER}{key}"] = listed
        shown["contains"] = one["contents"] if self._nest else []
        return shown

    def _facts(
        self, name: str, shape: Any, found: Mapping[str, Any], world: dict[str, Any]
    ) -> None:
        """Put the rows of a function or relation to the objects that they are about."""
        fluent = self.engine.layout.by_id[name].fluent
        of, truth = _owner(fluent), isinstance(fluent.type, BoolType)
        several = len(fluent.params) > (of is not None)
        owners = [world] if of is None else [
            one for one in found.values() if self.program.is_subtype(one["type"], of)
        ]  # fmt: skip
        key = _key(name, owners)
        if truth or several:
            for one in owners:
                one["properties"][key] = [] if several else False
        for row in shape["relations" if truth else "functions"][name]:
            args, value = (row, True) if truth else row
            owner = world if of is None else found[args[0]]
            rest = args if of is None else args[1:]
            if not several:
                owner["properties"][key] = value
            else:
                owner["properties"][key].append(rest if truth else [*rest, value])

    # ---- reading ------------------------------------------------------------------------------

    def read(self, recorded: Recorded, score: Score, task: str) -> State:
        shape: dict[str, Any] = {
            "objects": [], "functions": {}, "relations": {}, "next_id": recorded.next_id,
            "outcomes": _reached(self.engine, score),
            "tick": int(_said(r"Tick (\d+)", task)), "turn": int(_said(r"Turn (\d+)", task)),
        }  # fmt: skip
        for name, column in self.engine.layout.by_id.items():
            if column.fluent.fluent_kind not in ("attribute", "table"):
                shape[_kind(column.fluent)][name] = []
        inside = {name: one["name"] for one in recorded.objects for name in one["contains"]}
        for one in recorded.objects:
            self._read(one, inside, shape)
        return self.engine.restored(shape, source="the row")

    def _read(self, one: Mapping[str, Any], inside: Mapping[str, str], shape: Any) -> None:
        if one["uuid"] == WORLD_NUMBER:
            for key, value in one["properties"].items():
                if key in self._kept:
                    shape[key] = value
                else:
                    self._read_fact(key, None, value, shape)
            return
        if one["type"] not in self.program.types:
            raise _unfit(f"the world has no type `{one['type']}`")
        attrs, orders = {}, {}
        fluents, kind = self.program.fluents, self.program.types[one["type"]]
        names = {fluents[key].name for key in kind.attributes}
        for key, value in one["properties"].items():
            if key.startswith(_ORDER):
                orders[key.removeprefix(_ORDER)] = value
            elif key in names:
                attrs[key] = value
            else:
                self._read_fact(key.removesuffix("()"), one["name"], value, shape)
        if self._nest in names:
            attrs[self._nest] = inside.get(one["name"])
        shape["objects"].append({
            "id": one["uuid"], "name": one["name"], "type": one["type"], "attrs": attrs,
            "contents": one["contains"], "orders": orders,
        })  # fmt: skip

    def _read_fact(self, name: str, owner: str | None, value: Any, shape: Any) -> None:
        column = self.engine.layout.by_id.get(name)
        if column is None:
            raise _unfit(f"the world has no `{name}`")
        fluent, first = column.fluent, [] if owner is None else [owner]
        rows, truth = shape[_kind(fluent)][name], isinstance(fluent.type, BoolType)
        if len(fluent.params) > len(first):
            rows += [[*first, *one] if truth else [[*first, *one[:-1]], one[-1]] for one in value]
        elif not truth:
            rows.append([first, value])
        elif value:
            rows.append(first)


_ORDER: Final = "order "
"""Prefix of properties with the order of the objects that refer to an object."""


def _named(number: int, name: str, kind: str) -> dict[str, Any]:
    return {"name": name, "uuid": number, "type": kind, "properties": {}, "contains": []}


def _owner(fluent: Fluent) -> str | None:
    """The type of the objects that rows of a fluent belong to; ``None``: to the world."""
    of = fluent.params[0].type if fluent.params else None
    return of.name if isinstance(of, ObjectType) and not of.optional else None


def _key(name: str, owners: Sequence[Mapping[str, Any]]) -> str:
    """The name of a property; another one where an attribute is called so."""
    return f"{name}()" if any(name in one["properties"] for one in owners) else name


def _kind(fluent: Fluent) -> str:
    return "relations" if isinstance(fluent.type, BoolType) else "functions"


def _reached(engine: Engine, score: Score) -> list[Json]:
    """The endings that a score tells of: which of several it does not say."""
    endings = engine.instance.world.endings if score.over else ()
    found: list[Json] = [one.name for one in endings if (one.ending == "goal") == score.won]
    return found[:1]


def _said(pattern: str, task: str) -> str:
    found = re.search(pattern, task)
    return "0" if found is None else found[1]


def _goals(engine: Engine) -> str:
    names = ", ".join(f"`{one.name}`" for one in engine.instance.world.goals)
    return f"Goals: {names}." if names else "There is no goal."


def _unfit(why: str) -> Failure:
    hint = "Name rows of this world, or the world of these rows."
    return usage(f"The row does not fit the world: {why}.", hint)
