"""Plain worlds as ground tasks at once: facts by number, and operators over them.

A world is plain where nothing happens but what is commanded, and a command asks for facts, makes
facts true and makes facts false. Nothing has to be worked out for each of its ground actions then:
one generated loop for each action looks up the numbers of its facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from tokenworld.ground import Command, Raw
from tokenworld.model import Ending
from tokenworld.planning.grounding.conditions import Conditions
from tokenworld.planning.grounding.context import Context
from tokenworld.planning.grounding.emit import amount_text, tuple_text
from tokenworld.planning.grounding.groups import Fact, groups
from tokenworld.planning.grounding.looping import Loop
from tokenworld.planning.grounding.reach import Reached
from tokenworld.planning.grounding.rules import Atom, Const, Literal, Range, Source
from tokenworld.planning.grounding.start import rows
from tokenworld.planning.lower.facts import Facts

__all__ = ["GroundOperator", "GroundTask", "plain_task"]

_VARIABLE = itemgetter(0)
Pair = tuple[int, int]
"""A variable and the place of one of its values."""
GroundOperator = tuple[
    str, tuple[Raw, ...], tuple[Pair, ...], tuple[Pair, ...], tuple[Pair, ...], tuple[Pair, ...],
    int,
]  # fmt: skip
"""An action and its arguments; the values that variables must have, and must not; those that they
get; those that they lose, if they have them; what it costs."""


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


def _lost(source: Source, atom: Atom) -> str:
    """The facts of an atom that an action takes away, as Python: what it makes true as well stays
    true."""
    made = [tuple_text(one.args) for one in source.always if one.relation == atom.relation]
    each = f"for {tuple_text(source.params) if source.params else '_'} in every"
    kept = f" if {tuple_text(atom.args)} not in ({', '.join(made)},)" if made else ""
    return f"{{{tuple_text(atom.args)} {each}{kept}}}"


class _Tasking:
    """Finds the variables, then makes the operators of one action after another."""

    def __init__(self, facts: Facts, found: Reached, grouped: bool, whole: bool) -> None:
        self._facts, self._found, self._grouped, self._whole = facts, found, grouped, whole
        self._actions = [one for one in _actions(found) if found.bindings(one.name)]
        changed = [atom.relation for one in _actions(found) for atom in (*one.always, *one.gone)]
        self._changed = dict.fromkeys(changed)
        self._first = {name: dict.fromkeys(rows(facts, name, {})) for name in self._changed}

    def made(self, goal: Sequence[Atom]) -> GroundTask:
        moving = self._moving()
        variables = self._variables(moving)
        pairs: dict[str, dict[Any, Pair]] = {name: {} for name in self._changed}
        for number, group in enumerate(variables):
            for place, (name, args) in enumerate(group):
                pairs[name][args] = number, place
        operators = list(self._operators(pairs, {len(one) for one in variables} != {1}))
        asked = self._asked(goal, pairs)
        initial = tuple(self._initial(group) for group in variables)
        made = GroundTask(tuple(variables), initial, asked, tuple(operators))
        return made if asked is None or self._whole else _relevant(made)

    def _initial(self, group: tuple[Fact, ...]) -> int:
        held = (place for place, (name, args) in enumerate(group) if args in self._first[name])
        return next(held, len(group))

    def _moving(self) -> dict[str, list[tuple[Raw, ...]]]:
        """The facts that may come to hold and are not there all the time."""
        gone: dict[str, set[Any]] = {name: set() for name in self._changed}
        for one in self._actions:
            every = self._found.bindings(one.name)
            for atom in one.gone:
                gone[atom.relation] |= eval(_lost(one, atom), {"every": every})
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

    def _operators(
        self, pairs: Mapping[str, dict[Any, Pair]], shared: bool
    ) -> Iterator[GroundOperator]:
        complete = frozenset(
            name for name in self._changed if len(pairs[name]) == len(self._found.known[name])
        )
        for source in self._actions:
            price = "0" if source.price is None else f"{amount_text(source.price)}[0]"
            space: dict[str, Any] = {
                "every": self._found.bindings(source.name),
                "ranges": self._found.ranges,
            }
            for place, name in enumerate(pairs):
                space[f"F{place}"], space[f"G{place}"] = pairs[name], pairs[name].get
            loop = Loop(source, list(pairs), complete, price, shared=shared, idle=self._whole)
            exec(compile(loop.text(), "<operators>", "exec"), space)
            yield from space["operators"]

    def _asked(
        self, goal: Sequence[Atom], pairs: Mapping[str, dict[Any, Pair]]
    ) -> tuple[tuple[Pair, ...], tuple[Pair, ...]] | None:
        """The values of the goal; ``None`` where one of them can never be."""
        held, lacked = list[Pair](), list[Pair]()
        for atom in goal:
            args = tuple(arg.value for arg in atom.args if isinstance(arg, Const))
            pair = pairs.get(atom.relation, {}).get(args)
            if pair is not None:
                (lacked if atom.absent else held).append(pair)
            elif self._holds(atom.relation, args) == atom.absent:
                return None
        return tuple(dict.fromkeys(held)), tuple(dict.fromkeys(lacked))

    def _holds(self, name: str, args: tuple[Raw, ...]) -> bool:
        """Whether a fact holds that never changes."""
        first = self._first.get(name)
        return args in (dict.fromkeys(rows(self._facts, name, {})) if first is None else first)


def _relevant(task: GroundTask) -> GroundTask:
    """The task without variables on which the goal does not rest, directly or through others, and
    without the operators that change no other."""
    assert task.goal is not None
    operators = task.operators
    changing: dict[int, list[int]] = {}
    for place, one in enumerate(operators):
        for number, _ in one[4]:
            changing.setdefault(number, []).append(place)
        for number, _ in one[5]:
            changing.setdefault(number, []).append(place)
    waiting = list(dict.fromkeys(number for number, _ in (*task.goal[0], *task.goal[1])))
    seen, kept = set(waiting), set[int]()
    while waiting:
        for place in changing.get(waiting.pop(), ()):
            if place not in kept:
                kept.add(place)
                one = operators[place]
                asked = (*one[2], *one[3]) if one[3] else one[2]
                if seen.issuperset(map(_VARIABLE, asked)):
                    continue
                new = dict.fromkeys(number for number, _ in asked if number not in seen)
                seen.update(new)
                waiting += new
                if len(seen) == len(task.variables):
                    return task
    left = tuple(one for place, one in enumerate(operators) if place in kept)
    if len(seen) == len(task.variables):
        return replace(task, operators=left)
    return _renumbered(replace(task, operators=left), sorted(seen))


def _renumbered(task: GroundTask, kept: Sequence[int]) -> GroundTask:
    """The task with these variables alone: nothing is asked of the others."""
    new = {number: place for place, number in enumerate(kept)}

    def pairs(every: tuple[Pair, ...]) -> tuple[Pair, ...]:
        return tuple((new[number], value) for number, value in every if number in new)

    goal = None if task.goal is None else (pairs(task.goal[0]), pairs(task.goal[1]))
    operators = tuple(
        (name, args, pairs(held), pairs(lacked), pairs(made), pairs(gone), price)
        for name, args, held, lacked, made, gone, price in task.operators
    )
    variables = tuple(task.variables[number] for number in kept)
    return GroundTask(variables, tuple(task.initial[number] for number in kept), goal, operators)
