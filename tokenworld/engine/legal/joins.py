"""All commands whose requires hold, found by generated nested loops: one function for a world.

For a small world it is quickest to look for what is possible from the facts: each parameter is
bound by what says most about it (a function of what is bound already, the rows of a fact that play
never changes, a relation that holds, a test on each object), and every require is tested as soon as
all that it speaks of is bound. What play never changes is in tables, which are made once. What
several actions look for alike is looked for once in a listing.

A binding is a number (its arguments are the digits), and each command is made the first time that
it is told.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from tokenworld.engine.births import creates_in_play
from tokenworld.engine.compile import Code, Function, extend
from tokenworld.engine.legal.hoists import Hoist, Hoists, JoinText
from tokenworld.engine.legal.indexes import grouped, rows_of
from tokenworld.engine.legal.loops import Loops
from tokenworld.engine.legal.made import NumberedCommands, NumberedRows
from tokenworld.engine.legal.total import bound_in, is_total
from tokenworld.engine.state import State
from tokenworld.model import (
    Action,
    EnumType,
    Let,
    ObjectType,
    Read,
    Term,
    conjuncts,
    is_optional,
    subterms,
)

__all__ = ["Join", "Joins", "can_join", "compile_join"]

MOST_PARAMS = 16
"""Loops in one another that Python takes (20), with some to spare."""

_NAMED = {"me": "me = S.me", "W": "W = S"}
_COLUMN = re.compile(r"\bS\.cols\[(\d+)\]")


class Joins:
    """The joins of some actions (`can_join`), in an order that suits the facts of a state.

    ``columns``: what the tables are made of, besides who lives. ``size``: numbers of objects must
    be below it.
    """

    def __init__(self, code: Code, names: Iterable[str], state: State) -> None:
        self._code, self._space = code, code.space
        parts = {name: _parts(code.actions[name].action) for name in names}
        hoists = Hoists(code.emitter, state, _readers(parts.values()))
        self.size = len(state.kinds)
        if creates_in_play(code.emitter.instance.program):
            self.size = 2 * self.size + 64
        self.joins = {
            name: Loops(hoists, name, code.actions[name].action.params, one, self.size).write()
            for name, one in parts.items()
        }
        self._basis: dict[str, str] = {}
        self._columns: tuple[int, ...] = ()
        self._tables = tuple(hoists.tables.made.values())
        texts = [text for _, text in code.emitter.texts]  # those that requires compare with
        code.emitter.texts.clear()
        builders = [one.text for one in self._tables]
        self._space |= {"rows_of": rows_of, "grouped": grouped, "itemgetter": itemgetter}
        self._commands: dict[str, NumberedCommands | NumberedRows] = {}
        for name, text in self.joins.items():
            last = bool(text.candidates)
            made = NumberedRows(text, self._space) if last else NumberedCommands(text)
            self._commands[name] = made
            self._space |= made.names(text.table)
        extend(code, "\n".join([*texts, *builders]))
        read = dict.fromkeys(int(one) for text in builders for one in _read(text, code))
        self.columns = tuple(read)

    def look(self, state: State) -> None:
        """Make the tables for a state; they are right until a column of `columns` is another one,
        or others live."""
        changed = set()
        for one in self._tables:
            made = self._space[f"build_{one.name}"](state, state, state.me)
            if one.name not in self._space or self._space[one.name] != made:
                self._space[one.name] = made
                changed.add(one.name)
        for name, text in self.joins.items():
            if changed.intersection(text.candidates):
                self._commands[name].clear()

    def rest_on(self, state: State, columns: Sequence[int]) -> None:
        """Note what the tables were made of, for the functions to compare: who lives and acts, and
        these columns. (Two at least: equal tuples of the same things are told at once.)"""
        if not self._basis:
            names = ("live", "actors", "still", "columns")
            self._basis = {one: self._code.emitter.fresh(one) for one in names}
            self._columns = tuple(columns)
        still = itemgetter(*(*columns, *columns)[: max(2, len(columns))]) if columns else None
        known = (state.live, state.actors, still and still(state.cols), still)
        self._space |= dict(zip(self._basis.values(), known, strict=True))

    def function(self, names: Iterable[str], *, cuts: bool = False) -> Function:
        """``(S)``: the commands of these actions, in order; with ``cuts`` also how many there are
        up to the end of each action. ``None`` where the state rests on something else
        (`rest_on`), or somebody may be busy or have a turn of his own."""
        name, basis = self._code.emitter.fresh("every"), self._basis
        differs = f"S.live is not {basis['live']} or S.actors is not {basis['actors']}"
        if self._columns:
            differs += f" or {basis['columns']}(S.cols) != {basis['still']}"
        head = [
            f"def {name}(S):",
            f"    if S.longs or S.round is not None or {differs}:",
            "        return None",
        ]
        return self._loaded(name, head, _text([self.joins[one] for one in names], cuts=cuts))

    def alone(self, action: str) -> Function:
        """``(S, W, me, …)``: the commands of one action; nothing is asked of the state."""
        name = self._code.emitter.fresh("every")
        text = _text([self.joins[action]], cuts=False)
        return self._loaded(name, [f"def {name}(S, W, me, *_):"], text)

    def _loaded(self, name: str, head: list[str], lines: list[str]) -> Function:
        extend(self._code, "\n".join([*head, *lines, ""]))
        return self._space[name]  # type: ignore[no-any-return]


@dataclass(slots=True)
class Join:
    """One action on its own: ``commands(S, W, me, …)`` once its ``tables`` are made for the state;
    they are right until a column of ``columns`` is another one, or others live."""

    commands: Function
    _code: Code
    _name: str
    _joins: Joins

    @property
    def columns(self) -> tuple[int, ...]:
        return self._joins.columns

    def tables(self, state: State) -> tuple[Any, ...]:
        """Make the tables for a state; they stay with the function."""
        if len(state.kinds) > self._joins.size:
            self._joins = Joins(self._code, (self._name,), state)
            self.commands = self._joins.alone(self._name)
        self._joins.look(state)
        return ()


def compile_join(code: Code, action: Action, state: State) -> Join | None:
    """The join of an action, in an order that suits the facts of a state; ``None`` where it cannot
    be joined."""
    if not can_join(action):
        return None
    joins = Joins(code, (action.name,), state)
    return Join(joins.alone(action.name), code, action.name, joins)


def can_join(action: Action) -> bool:
    """Whether the requires of an action are total (`total.is_total`): all about facts, and about
    objects and enums."""
    if any(isinstance(one, Let) for one in action.guards) or len(action.params) > MOST_PARAMS:
        return False
    names = {one.name for one in action.params}
    return all(
        is_total(part) and names.isdisjoint(bound_in(part)) for part in _parts(action)
    ) and all(
        isinstance(one.type, (ObjectType, EnumType)) and not is_optional(one.type)
        for one in action.params
    )


def _parts(action: Action) -> list[Term]:
    return list(conjuncts(require.condition for require in action.requires))


def _readers(parts: Iterable[list[Term]]) -> dict[str, int]:
    """How many parts read each fluent."""
    reads = (term for one in parts for part in one for term in subterms(part))
    return Counter(term.fluent for term in reads if isinstance(term, Read))


def _read(text: str, code: Code) -> list[str]:
    """The columns that a builder reads: by itself, or as rows."""
    rows = re.findall(r"\brows_of\(S, col(\d+),", text)
    return [*_COLUMN.findall(text), *rows]


def _text(joins: list[JoinText], *, cuts: bool) -> list[str]:
    """The body of the function of some actions."""
    users, uses = Counter[Hoist](), Counter[Hoist]()
    for join in joins:
        uses.update(join.hoists)
        users.update(list(dict.fromkeys(join.hoists)))
    inline = frozenset(one for one, count in uses.items() if count == 1)
    shared = [one for one, count in users.items() if count > 1]
    made = frozenset(shared)
    lines = ["    " + line for one in shared for line in one.lines]
    for join in joins:
        lines += join.lines(inline, made)
        lines += ["    cuts.append(len(found))"] if cuts else []
    text = "\n".join(lines)
    columns = dict.fromkeys(_COLUMN.findall(text))
    start = [f"    {one}" for name, one in _NAMED.items() if re.search(rf"\b{name}\b", text)]
    start += ["    cols = S.cols", *(f"    c{one} = cols[{one}]" for one in columns)]
    start += ["    found = []", *(["    cuts = []"] if cuts else [])]
    end = "    return found, cuts" if cuts else "    return found"
    return [*start, _COLUMN.sub(r"c\1", text), end]
