"""Replay a plan in unified-planning's simulator and in the interpreter, and compare.

unified-planning's reader reads the exported pair. After every command its simulator, with all
forced steps done, must be in the state of the interpreter, slot by slot, and both must agree about
the goal. If the pair is lifted and complete, both must also offer the same commands in every state.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from benchmarks.planning_worlds import Opened
from benchmarks.second_opinion import read_pair
from tokenworld.diagnostics import Failure
from tokenworld.engine import State
from tokenworld.ground import Command, Raw
from tokenworld.planning.lower.encode import Encoding
from tokenworld.planning.pddl.export import PddlExport, export_world, ground_pair
from tokenworld.planning.pddl.sanitize import sanitized
from tokenworld.planning.pddl.tree import Expr, PddlPair
from tokenworld.planning.pddl.words import Vocabulary
from tokenworld.planning.task import Task, Variable
from tokenworld.planning.verdict import PlanStep

__all__ = ["NotReadError", "Stepper", "StepsDifferError"]

Atom = tuple[str, ...]
Facts = dict[Atom, Fraction | bool]
_OWN = ("tw-turn", "total-cost")
"""Fluents of the export without a slot of the world."""


class NotReadError(Exception):
    """unified-planning cannot read the pair of the world; the text gives the reason."""

    def __init__(self, form: str, reason: str) -> None:
        super().__init__(f"{form} pair {reason}")
        self.form = form


class StepsDifferError(Exception):
    """unified-planning and the interpreter disagree; the text names the difference."""


class Stepper:
    """One world in unified-planning's simulator. Raises `NotReadError`.

    ``grounded`` selects the grounded pair even if there is a lifted one.
    """

    def __init__(
        self,
        world: Opened,
        goal: str | None,
        encoding: Encoding,
        most: int,
        *,
        grounded: bool = False,
    ) -> None:
        self._world, self._goal = world, goal
        self.export = _grounded(world, encoding) if grounded else _exported(world, goal)
        self.form = self.export.form
        size = len(self.export.domain) + len(self.export.problem)
        if size > most:
            raise NotReadError(self.form, f"longer than {most:,} characters")
        found = sanitized(self.export.pair)
        named = (*found.actions.items(), *found.objects.items())
        self._back = {new.lower(): old for old, new in named}
        self._problem = _problem(self.export)
        self._simulator, self._fluents = _simulator(self._problem)
        self._ground = list(self._grounded())
        self._task = None if self.form == "lifted" else _Grounded(world, encoding.task, self.export)
        program = world.instance.program
        self._all_told = self.form == "lifted" and not (program.invariants or program.conserves)

    # ---- one plan ---------------------------------------------------------------------------

    def walk(self, steps: Sequence[PlanStep]) -> int:
        """Replay a plan that the interpreter accepts, and return the number of compared steps.

        Raises `StepsDifferError` at the first difference, and `NotReadError` if its simulator reads
        a number that the pair does not define: it enumerates all objects of a supertype, also those
        that a condition beside it excludes.
        """
        from unified_planning.exceptions import UPException

        try:
            return self._walked(steps)
        except UPException as error:
            if "does not have a value" in str(error):
                raise NotReadError(self.form, "with numbers of a subtype") from error
            raise StepsDifferError(f"its simulator fails: {error}") from error

    def _walked(self, steps: Sequence[PlanStep]) -> int:
        simulator, state = self._world.simulator, self._world.state
        now = [self._simulator.get_initial_state()]
        self._compared(now, state, "at the start")
        for number, step in enumerate(steps, 1):
            place = f"step {number}, {simulator.show(state, step.command)}"
            self._offers(now, state, place)
            after = self._after(now, step.command)
            if not after:
                raise StepsDifferError(f"{place}: unified-planning cannot apply it")
            (taken,) = (s for s in simulator.successors(state, step.command) if _is(s, step))
            state = taken.state
            now = self._compared(after, state, place)
        return len(steps)

    def _compared(self, states: Sequence[Any], state: State, place: str) -> list[Any]:
        """The states that equal the interpreter's, of which there must be one."""
        wanted = self._slots(state)
        found, nearest = [], ""
        for one in states:
            differing = [atom for atom, value in wanted.items() if self._value(one, atom) != value]
            if not differing:
                found.append(one)
            nearest = " ".join(differing[0]) if differing else nearest
        if not found:
            raise StepsDifferError(f"{place}: the states differ, for one in ({nearest})")
        won = self._world.simulator.won(state, self._goal)
        if won != any(self._simulator.is_goal(one) for one in self._settled(found)):
            said = "is" if won else "is not"
            raise StepsDifferError(f"{place}: the goal {said} reached for the interpreter alone")
        return found

    def _offers(self, states: Sequence[Any], state: State, place: str) -> None:
        """Check that both offer the same commands, if the pair is complete."""
        simulator = self._world.simulator
        if not self._all_told or simulator.won(state, None) or simulator.lost(state):
            return
        theirs = {
            command
            for one in states
            for action, args, command in self._ground
            if command is not None and self._simulator.is_applicable(one, action, args)
        }
        actions = self._world.instance.program.actions
        for command in theirs:
            if not (command.is_pass or command.action in actions):
                raise StepsDifferError(f"before {place}: the pair offers {command.action}")
        # Commands that take no time are left out where nothing else hangs on them.
        tried = dict.fromkeys((*simulator.commands(state), *theirs))
        ours = {command for command in tried if simulator.successors(state, command)}
        if ours != theirs:
            one = sorted(simulator.show(state, command) for command in ours ^ theirs)[0]
            raise StepsDifferError(f"before {place}: only one of the two offers {one}")

    def _slots(self, state: State) -> Facts:
        """The values of the slots of a state, as facts of the pair."""
        if self._task is not None:
            return self._task.slots(state)
        export = _exported(replace(self._world, state=state), self._goal)
        told = _facts(sanitized(export.pair).pair.problem.init)
        zero: dict[Atom, Fraction | bool] = {}
        for atom, expression in self._fluents.items():
            if atom[0] not in _OWN:
                zero[atom] = False if expression.type.is_bool_type() else Fraction(0)
        return {atom: told.get(atom, value) for atom, value in zero.items()}

    # ---- its simulator ----------------------------------------------------------------------

    def _after(self, states: Iterable[Any], command: Command) -> list[Any]:
        """The states after a command and any number of forced steps."""
        found: list[Any] = []
        for one in self._settled(states):
            found += self._applied(one, command)
        return self._settled(found)

    def _settled(self, states: Iterable[Any]) -> list[Any]:
        """The states, and all states that forced steps reach from them."""
        found, seen, waiting = [], set[tuple[Any, ...]](), list(states)
        while waiting:
            one = waiting.pop(0)
            key = tuple(self._value(one, atom) for atom in self._fluents)
            if key in seen:
                continue
            seen.add(key)
            found.append(one)
            waiting += self._applied(one, None)
        return found

    def _applied(self, state: Any, command: Command | None) -> Iterator[Any]:
        """The states after each action of a command (``None``: of forced steps)."""
        for action, args, meant in self._ground:
            if meant == command and self._simulator.is_applicable(state, action, args):
                yield self._simulator.apply(state, action, args)

    def _value(self, state: Any, atom: Atom) -> Fraction | bool:
        value = state.get_value(self._fluents[atom]).constant_value()
        return value if isinstance(value, bool) else Fraction(value)

    def _grounded(self) -> Iterator[tuple[Any, tuple[Any, ...], Command | None]]:
        """All ground actions, and the command of each (``None``: forced).

        Its own list of ground actions fails if one argument is in two static conditions.
        """
        for action in self._problem.actions:
            domains = [list(self._problem.objects(one.type)) for one in action.parameters]
            for objects in product(*domains):
                words = [self._back.get(str(one).lower(), str(one)) for one in objects]
                name = self._back[action.name.lower()]
                yield action, tuple(map(_expression, objects)), self._meant(name, tuple(words))

    def _meant(self, name: str, words: tuple[str, ...]) -> Command | None:
        """The command of an action; an impossible command if an argument is foreign."""
        try:
            return self.export.names.command(name, words)
        except KeyError:  # untyped parameters range over the turns of the tick too
            return Command(f"({' '.join((name, *words))})")


def _is(successor: Any, step: PlanStep) -> bool:
    return bool(successor.draws == step.draws)


def _exported(world: Opened, goal: str | None) -> PddlExport:
    try:
        return export_world(world.simulator, world.state, goal)
    except Failure as failure:
        raise NotReadError("lifted", f"without text: {failure.diagnostics[0].code}") from failure


def _grounded(world: Opened, encoding: Encoding) -> PddlExport:
    words = Vocabulary(world.instance)
    pair = ground_pair(words, encoding.task, ())
    return PddlExport(pair, words.names, "grounded", ())


def _problem(export: PddlExport) -> Any:
    try:
        return read_pair(export)
    except Failure as failure:
        derived = " (derived predicates)" if export.pair.domain.derived else ""
        raise NotReadError(export.form, f"that its reader rejects{derived}") from failure


def _simulator(problem: Any) -> tuple[Any, dict[Atom, Any]]:
    """unified-planning's simulator of a problem, and the ground fluents by name."""
    from unified_planning.engines.sequential_simulator import UPSequentialSimulator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        simulator = UPSequentialSimulator(problem, error_on_failed_checks=False)
    fluents = {}
    for expression in problem.initial_values:
        words = (expression.fluent().name, *(str(one) for one in expression.args))
        fluents[tuple(word.lower() for word in words)] = expression
    return simulator, fluents


def _expression(one: Any) -> Any:
    from unified_planning.shortcuts import ObjectExp

    return ObjectExp(one)


def _facts(init: Iterable[Expr]) -> Facts:
    """The start facts of a problem."""
    found: Facts = {}
    for one in init:
        if one[0] == "=":
            found[_atom(one[1])] = Fraction(str(one[2]))
        else:
            found[_atom(one)] = True
    return found


def _atom(expr: Expr) -> Atom:
    return tuple(str(word).lower() for word in expr)


# ---- the grounded form ---------------------------------------------------------------------------


class _Grounded:
    """The facts of a grounded pair for each value of a slot.

    A value that the encoding merges with another one, or omits, leaves its slot out of the
    comparison.
    """

    def __init__(self, world: Opened, task: Task, export: PddlExport) -> None:
        self._world = world
        places = [(number, one) for number, one in enumerate(task.variables) if one.kind == "slot"]
        self._facts: list[tuple[Variable, list[frozenset[Atom]]]] = []
        for number, variable in places:
            inits = [
                _init(world, task, number, value, export.pair)
                for value in range(len(variable.values))
            ]
            common = frozenset.intersection(*inits)
            self._facts.append((variable, [one - common for one in inits]))

    def slots(self, state: State) -> Facts:
        """The expected facts of each slot in a state."""
        found: Facts = {}
        for variable, facts in self._facts:
            assert variable.fluent is not None
            value = self._world.simulator.read(state, variable.fluent, variable.args)
            position = _position(variable, value)
            if position is not None:
                for atom in frozenset[Atom]().union(*facts):
                    found[atom] = atom in facts[position]
        return found


def _position(variable: Variable, value: Raw) -> int | None:
    known = [(type(one), one) for one in variable.values]
    return known.index((type(value), value)) if (type(value), value) in known else None


def _init(world: Opened, task: Task, number: int, value: int, pair: PddlPair) -> frozenset[Atom]:
    """The start facts if one variable has this value, with the names of `sanitized`."""
    variables = list(task.variables)
    variables[number] = replace(variables[number], initial=value)
    changed = replace(task, variables=tuple(variables), operators=())
    init = ground_pair(Vocabulary(world.instance), changed, ()).problem.init
    renamed = sanitized(replace(pair, problem=replace(pair.problem, init=init)))
    return frozenset(_positive(renamed.pair.problem.init))


def _positive(init: Iterable[Expr]) -> Iterator[Atom]:
    for one in init:
        if one[0] != "=":
            yield _atom(one)
