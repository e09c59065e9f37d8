"""Plain worlds as ground tasks at once: facts by number, and operators over them.

A world is plain where nothing happens but what is commanded, and a command asks for facts, makes
facts true and makes facts false. Nothing has to be worked out for each of its ground actions then:
one generated loop for each action looks up the numbers of its facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenworld.core.rules import Ending
from tokenworld.ground import Command, Raw
from tokenworld.planning.grounding.conditions import Conditions
from tokenworld.planning.grounding.context import Context
from tokenworld.planning.grounding.joins import amount_text, tuple_text
from tokenworld.planning.grounding.operators import Bindings, Loop
from tokenworld.planning.grounding.reach import Reached, rows
from tokenworld.planning.grounding.rules import Atom, Const, Literal, Range, Source
from tokenworld.planning.grounding.variables import (
    Fact,
    GroundOperator,
    Kept,
    Numbered,
    Pair,
    groups,
    numbered,
    relevant,
)
from tokenworld.planning.lower.facts import Facts

__all__ = ["GroundOperator", "GroundTask", "Pair", "plain_task"]


@dataclass(frozen=True)
class GroundTask:
    """A plain world from one state, in finite variables. A variable stands for facts of which at
    most one holds: its values are these, in order, and last that none of them does. Only what may
    change is there. ``goal`` has the values that must be and must not be; it is ``None`` where it
    is out of reach even if nothing were ever undone."""

    variables: tuple[tuple[Fact, ...], ...]
    initial: tuple[int, ...]
    goal: tuple[tuple[Pair, ...], tuple[Pair, ...]] | None
    operators: tuple[GroundOperator, ...]

    def commands(self) -> Iterator[Command]:
        """What the operators stand for."""
        return (Command(one[0], one[1]) for one in self.operators)


def plain_task(
    facts: Facts, found: Reached, line: Ending, *, grouped: bool = True, whole: bool = False
) -> GroundTask | None:
    """The task of reaching a goal line; ``None`` where the world is not plain. Without ``grouped``
    every fact has a variable of its own; ``whole``: what does not matter for the goal stays, and
    what changes nothing."""
    goal = _goal(found.relaxed.context, line)
    if goal is None or not all(_plain(facts, one) for one in _actions(found)):
        return None
    try:
        return _Tasking(facts, found, grouped, whole).made(goal)
    except KeyError:  # a price that is nowhere told
        return None


def _actions(found: Reached) -> list[Source]:
    return [one for name, one in found.relaxed.sources.items() if name.startswith("action ")]


def _goal(context: Context, line: Ending) -> list[Atom] | None:
    """The facts of a goal that is a conjunction of facts."""
    context.exact, context.loose = True, []
    ways = Conditions(context).ways(line.condition, {})
    if len(ways) != 1 or not context.exact:
        return None
    atoms = [one for one in ways[0] if isinstance(one, Atom)]
    constant = all(isinstance(arg, Const) for one in atoms for arg in one.args)
    return atoms if constant and len(atoms) == len(ways[0]) else None


def _plain(facts: Facts, source: Source) -> bool:
    """Whether an action is one conjunction over its parameters, and its changes facts."""
    if not source.exact or len(source.ways) != 1 or source.loose:
        return False
    if not all(_over(one, source) for one in source.ways[0]):
        return False
    changed = {atom.relation for atom in (*source.always, *source.gone)}
    fluents = (facts.program.fluents[name] for name in changed)
    return not any(
        one.unique or one.nested or one.acyclic or one.symmetric or one.fluent_kind == "table"
        for one in fluents
    )


def _over(literal: Literal, source: Source) -> bool:
    if isinstance(literal, Range) or (isinstance(literal, Atom) and literal.relation[0] in "#?*!"):
        return False
    args = literal.args if isinstance(literal, Atom) else (literal.left, literal.right)
    return all(isinstance(arg, Const) or arg in source.params for arg in args)


def _lost(bindings: Bindings, atom: Atom) -> set[Any]:
    """The facts of an atom that an action takes away: what it makes true as well stays true."""
    made = [one for one in bindings.source.always if one.relation == atom.relation]
    if not made:
        return bindings.distinct(atom)
    params, every = bindings.projected((atom, *made))
    stays = ", ".join(tuple_text(one.args) for one in made)
    each = f"for {tuple_text(params) if params else '_'} in every"
    text = f"{{{tuple_text(atom.args)} {each} if {tuple_text(atom.args)} not in ({stays},)}}"
    found: set[Any] = eval(text, {"every": every})
    return found


class _Tasking:
    """Finds the variables, then makes the operators of one action after another."""

    def __init__(self, facts: Facts, found: Reached, grouped: bool, whole: bool) -> None:
        self._facts, self._found, self._grouped, self._whole = facts, found, grouped, whole
        every = [Bindings(one, found.bindings(one.name)) for one in _actions(found)]
        self._bindings = [one for one in every if one.every]
        self._actions = [one.source for one in self._bindings]
        changed = [atom.relation for one in _actions(found) for atom in (*one.always, *one.gone)]
        self._changed = dict.fromkeys(changed)
        self._first = {name: dict.fromkeys(rows(facts, name, {})) for name in self._changed}

    def made(self, goal: Sequence[Atom]) -> GroundTask:
        variables = self._variables(self._moving())
        numbers = numbered(variables, self._changed, self._found.known)
        shared = {len(one) for one in variables} != {1}
        made = [one for b in self._bindings for one in self._operators(b, numbers, shared)]
        asked = self._asked(goal, numbers)
        if asked is not None and not self._whole:
            wanted = [number for number, _ in (*asked[0], *asked[1])]
            seen = relevant(wanted, made, len(variables))
            if len(seen) < len(variables):
                kept = Kept({old: new for new, old in enumerate(sorted(seen))})
                variables = [variables[old] for old in kept.new]
                asked = kept.pairs(asked[0]), kept.pairs(asked[1])
                made = kept.operators(made)
        initial = tuple(self._initial(group) for group in variables)
        return GroundTask(tuple(variables), initial, asked, tuple(made))

    def _initial(self, group: tuple[Fact, ...]) -> int:
        held = (place for place, (name, args) in enumerate(group) if args in self._first[name])
        return next(held, len(group))

    def _moving(self) -> dict[str, list[tuple[Raw, ...]]]:
        """The facts that may come to hold and are not there all the time."""
        gone: dict[str, set[Any]] = {name: set() for name in self._changed}
        for bindings in self._bindings:
            for atom in bindings.source.gone:
                gone[atom.relation] |= _lost(bindings, atom)
        return {
            name: [
                one
                for one in self._found.known[name]
                if one in gone[name] or one not in self._first[name]
            ]
            for name in self._changed
        }

    def _variables(self, moving: Mapping[str, list[tuple[Raw, ...]]]) -> list[tuple[Fact, ...]]:
        members = {name: frozenset(one) for name, one in self._facts.instance.members.items()}
        grouped = self._grouped
        found = groups(self._actions, members, moving, self._first) if grouped else []
        taken = {fact for group in found for fact in group}
        rest = ((name, args) for name, every in moving.items() for args in every)
        return [*found, *((fact,) for fact in rest if fact not in taken)]

    # ---- operators ----------------------------------------------------------------------------

    def _operators(
        self, bindings: Bindings, numbers: Mapping[str, Numbered], shared: bool
    ) -> list[GroundOperator]:
        """The operators of an action, one for each binding in which it does something."""
        source = bindings.source
        price = "0" if source.price is None else f"{amount_text(source.price)}[0]"
        complete = frozenset(name for name, one in numbers.items() if one.complete)
        loop = Loop(source, list(numbers), complete, price, shared=shared, idle=self._whole)
        space: dict[str, Any] = {}
        exec(compile(loop.text(), "<operators>", "exec"), space)
        known = self._found.known
        pairs = (
            given
            for name, one in numbers.items()
            for given in (one.pairs, one.pairs.get, known[name])
        )
        made: list[GroundOperator] = space["operators"](bindings.every, self._found.ranges, *pairs)
        return made

    # ---- the goal -----------------------------------------------------------------------------

    def _asked(
        self, goal: Sequence[Atom], numbers: Mapping[str, Numbered]
    ) -> tuple[tuple[Pair, ...], tuple[Pair, ...]] | None:
        """The values of the goal; ``None`` where one of them can never be."""
        held, lacked = list[Pair](), list[Pair]()
        for atom in goal:
            args = tuple(arg.value for arg in atom.args if isinstance(arg, Const))
            known = numbers.get(atom.relation)
            pair = None if known is None else known.pairs.get(args)
            if pair is not None:
                (lacked if atom.absent else held).append(pair)
            elif self._holds(atom.relation, args) == atom.absent:
                return None
        return tuple(dict.fromkeys(held)), tuple(dict.fromkeys(lacked))

    def _holds(self, name: str, args: tuple[Raw, ...]) -> bool:
        """Whether a fact holds that never changes."""
        first = self._first.get(name)
        return args in (dict.fromkeys(rows(self._facts, name, {})) if first is None else first)
