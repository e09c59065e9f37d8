"""Mutex groups: facts of which at most one holds become one variable with many values.

Worlds from PDDL hold everything in boolean facts. A group in which every operator that adds a fact
deletes another one keeps at most one fact, if it begins so: the monotone invariants of Helmert
("Concise finite-domain representations for PDDL planning tasks", 2009), found among ground
operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Task, Variable

__all__ = ["Fused", "apart", "fused"]

_MOST_TRIES = 6
"""Most relations that are added to a group before it is given up."""
Group = frozenset[int]


@frozen
class Fused:
    """A task with fewer variables. ``places[n]`` is the new place of variable n of the old task: a
    variable, and the position at which its fact holds (-1: they are the same variable)."""

    task: Task
    places: tuple[tuple[int, int], ...]

    def position(self, variable: int, position: int) -> int:
        """The position of an old variable, by that of the new one."""
        _, mine = self.places[variable]
        return position if mine < 0 else int(position == mine)

    def literals(self, literals: Iterable[Literal]) -> tuple[Literal, ...] | None:
        """Literals of the new variables; ``None`` where they contradict each other."""
        found: dict[int, frozenset[int]] = {}
        for old, positions in literals:
            variable, mine = self.places[old]
            allowed = frozenset(positions)
            size = len(self.task.variables[variable].values)
            if mine >= 0:
                others = frozenset(range(size)) - {mine}
                allowed = (frozenset((mine,)) if 1 in allowed else frozenset()) | (
                    others if 0 in allowed else frozenset()
                )
            found[variable] = found.get(variable, allowed) & allowed
        if not all(found.values()):
            return None
        return tuple((variable, tuple(sorted(allowed))) for variable, allowed in found.items())


def apart(task: Task) -> Fused:
    """The task as it is."""
    return Fused(task, tuple((number, -1) for number in range(len(task.variables))))


def fused(task: Task) -> Fused:
    """The task with groups of facts as variables; operators that can never be applied are left
    out."""
    finder = _Finder(task)
    variables, places = list[Variable](), dict[int, tuple[int, int]]()
    for number, variable in enumerate(task.variables):
        if variable.kind == "token":  # it stays in the first word
            places[number] = (len(variables), -1)
            variables.append(variable)
    for group in finder.cover():
        members = sorted(group)
        for position, member in enumerate(members):
            places[member] = (len(variables), position)
        held = [at for at, one in enumerate(members) if task.variables[one].initial]
        name = " or ".join(task.variables[one].name for one in members[:2])
        values: tuple[Raw, ...] = tuple(range(len(members) + 1))
        variables.append(Variable(name, "slot", values, held[0] if held else len(members)))
    for number, variable in enumerate(task.variables):
        if number not in places:
            places[number] = (len(variables), -1)
            variables.append(variable)
    found = Fused(
        Task(tuple(variables), (), ()), tuple(places[one] for one in range(len(task.variables)))
    )
    operators = tuple(made for one in task.operators if (made := _operator(found, one)))
    return replace(found, task=replace(found.task, operators=operators))


def _operator(fused: Fused, operator: Operator) -> Operator | None:
    """An operator on the new variables."""
    precondition = fused.literals(operator.precondition)
    if precondition is None:
        return None
    known = {one: positions[0] for one, positions in precondition if len(positions) == 1}
    made = {fused.places[e.variable][0] for e in operator.effects if e.value == 1}
    effects = list[Effect]()
    for effect in operator.effects:
        variable, mine = fused.places[effect.variable]
        conditions = fused.literals(effect.conditions)
        if conditions is None:
            continue
        if mine < 0:
            effects.append(Effect(conditions, variable, effect.value))
        elif effect.value == 1:
            effects.append(Effect((), variable, mine))
        elif variable not in made and known.get(variable, mine) == mine:
            none = len(fused.task.variables[variable].values) - 1
            held = () if variable in known else ((variable, (mine,)),)
            effects.append(Effect(held, variable, none))
    return replace(operator, precondition=precondition, effects=tuple(effects))


class _Finder:
    """Finds groups of facts of which at most one holds in every state."""

    def __init__(self, task: Task) -> None:
        self._task = task
        conditional = {e.variable for o in task.operators for e in o.effects if e.conditions}
        self._facts = {
            number
            for number, one in enumerate(task.variables)
            if one.fluent is not None and one.values == (False, True) and number not in conditional
        }
        self._moves = [self._move(one) for one in task.operators]
        self._adders: dict[int, list[int]] = {}
        for number, (_, added, _) in enumerate(self._moves):
            for fact in added:
                self._adders.setdefault(fact, []).append(number)
        self._families = self._named()

    def _move(self, operator: Operator) -> tuple[Group, Group, Group]:
        """The facts that an operator requires, adds and deletes."""
        asked = {one for one, positions in operator.precondition if positions == (1,)}
        added = {e.variable for e in operator.effects if e.value == 1 and not e.conditions}
        gone = {e.variable for e in operator.effects if e.value == 0 and not e.conditions}
        facts = self._facts
        return frozenset(asked & facts), frozenset(added & facts), frozenset(gone & facts)

    def _named(self) -> Mapping[tuple[str, int, tuple[Raw, ...]], Group]:
        """Facts of one relation that agree in all arguments but one (-1: a fact alone)."""
        found: dict[tuple[str, int, tuple[Raw, ...]], set[int]] = {}
        for number in sorted(self._facts):
            one = self._task.variables[number]
            for place, others in _others(one):
                found.setdefault((str(one.fluent), place, others), set()).add(number)
        return {key: frozenset(group) for key, group in found.items()}

    def cover(self) -> list[Group]:
        """Groups without common members, large ones first."""
        found = {
            group
            for (_, place, others), seed in self._families.items()
            if place >= 0 and len(seed) > 1 and (group := self._balanced(seed, others))
        }
        chosen, rest = list[Group](), set(self._facts)
        for group in sorted(found, key=lambda one: (-len(one), sorted(one))):
            left = group & rest
            if len(left) > 1:
                chosen.append(left)
                rest -= left
        return chosen

    def _balanced(self, seed: Group, others: tuple[Raw, ...]) -> Group | None:
        """The seed with the facts that it takes for at most one of them to hold at any time."""
        group = seed
        for _ in range(_MOST_TRIES):
            broken = self._unbalanced(group)
            if broken is None:
                held = sum(self._task.variables[one].initial for one in group)
                return group if held <= 1 else None
            more = next(self._more(broken, group, others), None)
            if more is None:
                return None
            group |= more
        return None

    def _unbalanced(self, group: Group) -> int | None:
        """An operator that adds a fact of the group without deleting one; -1 where it adds two."""
        for number in sorted({one for fact in group for one in self._adders.get(fact, ())}):
            asked, added, gone = self._moves[number]
            new = (added - asked) & group
            if len(new) > 1:
                return -1
            if new and not (asked & gone & group):
                return number
        return None

    def _more(self, broken: int, group: Group, others: tuple[Raw, ...]) -> Iterator[Group]:
        """Facts that an operator deletes while it adds one of the group."""
        if broken < 0:
            return
        asked, _, gone = self._moves[broken]
        for fact in sorted((asked & gone) - group):
            one = self._task.variables[fact]
            for place, rest in _others(one):
                if sorted(map(repr, rest)) == sorted(map(repr, others)):
                    yield self._families[str(one.fluent), place, rest]


def _others(variable: Variable) -> Sequence[tuple[int, tuple[Raw, ...]]]:
    """Each argument that may be counted over, with the others; -1: none is."""
    args = variable.args
    found = [(place, (*args[:place], *args[place + 1 :])) for place in range(len(args))]
    return [(-1, args), *found]
